"""What each agent's reader makes of a session, whole or in parts; and of anything else."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.table import agent_of
from memtui.transcripts.calls import taint, touched
from memtui.transcripts.event import AGENT, TOOL, USER, Log, SessionEvent
from memtui.transcripts.follow import follow
from memtui.transcripts.readers import READERS
from memtui.transcripts.sessions import session_files
from tests.agents.machine import Machine
from tests.transcripts import made

SAID = [(USER, "Read a.md"), (AGENT, "I will."), (AGENT, "It is not there."), (USER, "Remember that we use pnpm")]
"""What every session that is made holds, besides calls."""


@pytest.mark.parametrize("name", made.SESSIONS)
def test_a_session_is_read_without_what_was_taken_back(name: str, tmp_path: Path) -> None:
    agent, session = made.SESSIONS[name]
    file = made.write(tmp_path / "s.jsonl", session())
    found = follow(str(file), READERS[agent])
    assert (found.unknown, found.broken, found.whole) == (0, 0, True)
    plain = [event for event in found.events if not event.meta and not event.sidechain]
    assert [(event.role, event.text) for event in plain if event.role != TOOL and event.text != "and the tests"] == SAID
    assert any(event.text == "and the tests" for event in plain) == (agent == "claude-code")
    (call,) = [event for event in plain if event.failed]
    assert call.tool
    assert call.target.endswith(f"{made.CWD}/a.md")
    assert "No file" in call.text
    assert {event.session for event in plain} == {"s1"}
    assert {event.cwd for event in plain} == {"" if agent == "gemini" else made.CWD}
    assert [event.at for event in plain] == sorted(event.at for event in plain)
    assert len({event.uuid for event in found.events}) == len(found.events)
    data = file.read_bytes()
    for event in plain:
        line = data[event.offset : event.offset + event.length]
        assert event.file == str(file)
        assert line.endswith(b"\n")
        assert isinstance(json.loads(line), dict)
        assert event.role == TOOL or event.text.encode() in line


@pytest.mark.parametrize("name", made.SESSIONS)
def test_a_session_that_is_read_line_by_line_gives_the_same_in_the_end(name: str, tmp_path: Path) -> None:
    agent, session = made.SESSIONS[name]
    seen: dict[str, SessionEvent] = {}
    file, cursor = tmp_path / "s.jsonl", None
    whole = follow(str(made.write(tmp_path / "whole.jsonl", session())), READERS[agent]).events
    for number, _ in enumerate(session(), start=1):
        file.write_bytes(made.lines(session()[:number]))
        found = follow(str(file), READERS[agent], cursor)
        cursor = found.cursor
        seen = {} if found.whole else seen
        for event in found.events:
            known = seen.get(event.uuid)
            result_only = known is not None and event.role == TOOL and not event.tool
            seen[event.uuid] = known._replace(failed=True, text=event.text) if known and result_only else event
    final = {event.uuid: (event.role, event.text, event.tool, event.failed) for event in whole}
    assert {uuid: (event.role, event.text, event.tool, event.failed) for uuid, event in seen.items()} == final


def test_a_compacted_session_of_claude_code_keeps_what_was_before(tmp_path: Path) -> None:
    session = [
        made.claude(1, None, "user", "first"),
        {**made.claude(2, None, "system", None), "subtype": "compact_boundary", "logicalParentUuid": "u1"},
        made.claude(3, 2, "user", "This session is continued ...", isCompactSummary=True),
        made.claude(4, 3, "user", "second"),
        made.claude(5, 2, "user", "third, in place of the second"),
    ]
    found = follow(str(made.write(tmp_path / "s.jsonl", session)), READERS["claude-code"])
    assert [event.text for event in found.events if not event.meta] == ["first", "third, in place of the second"]


@pytest.mark.parametrize("agent", ["claude-code", "qwen-code"])
def test_lines_that_cannot_be_read_roll_nothing_back(agent: str, tmp_path: Path) -> None:
    def said(number: int, parent: int) -> made.Record:
        record = made.qwen(number, parent or None, "user", [{"text": f"turn {number}"}])
        return {**record, "message": {**record["message"], "content": f"turn {number}"}}

    session = made.lines([said(1, 0), {**said(2, 1), "type": "never seen"}, said(3, 2)])
    file = tmp_path / "s.jsonl"
    file.write_bytes(session + b"{broken, u4\n" + made.lines([said(5, 4), said(6, 5)]))
    found = follow(str(file), READERS[agent])
    assert [event.text for event in found.events] == ["turn 1", "turn 3", "turn 5", "turn 6"]
    assert (found.unknown, found.broken) == (1, 1)


def test_the_oldest_sessions_of_codex_have_what_the_user_typed_as_the_model_got_it(tmp_path: Path) -> None:
    records = [record for record in made.codex_session() if record["payload"].get("type") != "user_message"]
    found = follow(str(made.write(tmp_path / "s.jsonl", records[:4])), READERS["codex"])
    assert [(event.role, event.text) for event in found.events] == SAID[:2]


def test_an_older_session_of_gemini_is_one_object(tmp_path: Path) -> None:
    head, *messages = made.gemini_session()
    file = tmp_path / "session-1.json"
    cursor = None
    for count in (1, 4):
        session = {**head, "messages": [one for one in messages if "id" in one][:count]}
        file.write_text(json.dumps(session, indent=2))
        cursor = follow(str(file), READERS["gemini"], cursor).cursor
    found = follow(str(file), READERS["gemini"])
    assert found.cursor == cursor
    assert [event.text for event in found.events if event.role != TOOL] == ["Read a.md", "I will.", "It is not there."]
    assert not follow(str(file), READERS["gemini"], found.cursor).events


WORDS = sorted({key for _, make in made.SESSIONS.values() for one in make() for key in (*one, *one.get("payload", {}))})
VALUES = st.sampled_from(
    [value for _, make in made.SESSIONS.values() for one in make() for value in (one, *one.values())]
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("agent", READERS)
@given(records=st.lists(st.dictionaries(st.sampled_from(WORDS), ANY | VALUES, max_size=8), max_size=12))
def test_no_record_makes_a_reader_fail(agent: str, records: list[dict[str, object]]) -> None:
    for whole in (True, False):
        log = Log("f", whole=whole, latest=10**12, calls=True)
        for number, record in enumerate(records):
            log.record(number, 1, record.get("timestamp"))
            READERS[agent].read(log, record)
        for event in log.events():
            assert event.text.encode() is not None
            assert 0 <= event.at <= 10**12
            assert all(os.path.isabs(one.path) for one in touched(event, "/h"))
            assert isinstance(taint(event, "/h", bool), str)


def test_sessions_lie_where_the_agents_file_says(tmp_path: Path) -> None:
    machine, home = Machine(tmp_path / "ann", tmp_path), tmp_path / "ann"
    places = {
        "claude-code": [".claude/projects/-home-ann/a.jsonl", ".claude/projects/-home-ann/a/subagents/agent-1.jsonl"],
        "codex": [".codex/sessions/2026/03/04/rollout-1.jsonl"],
        "gemini": [".gemini/tmp/app/chats/session-1.jsonl", ".gemini/tmp/app/chats/session-0.json"],
        "qwen-code": [".qwen/projects/-home-ann/chats/a.jsonl"],
    }
    for agent, names in places.items():
        assert agent in READERS
        for age, name in enumerate(names):
            os.utime(made.write(home / name, []), (1_000_000 - age, 1_000_000 - age))
        (home / names[0]).with_name("session-link.jsonl").symlink_to(home / names[0])
        listed = session_files(agent_of(agent), machine.surroundings())
        assert listed == [str(home / name) for name in names]
        assert session_files(agent_of(agent), machine.surroundings(), since=999_999_500) == listed[:1]
    assert session_files(agent_of("mux"), machine.surroundings()) == []
