"""Session files are found, followed and read by readers of each agent, and say what their calls did."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.table import agent_of
from memtui.engine.ledger.touches import SessionCursor
from memtui.engine.policy import Policy, Root
from memtui.transcripts import sessions as module
from memtui.transcripts.event import AGENT, TOOL, USER, Log, SessionEvent, taint, touched
from memtui.transcripts.readers import READERS
from memtui.transcripts.sessions import (
    FOREIGN,
    GONE,
    LARGE,
    LINK,
    REFUSED,
    SPECIAL,
    follow,
    needles,
    session_files,
    skim,
)
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


CLAUDE = READERS["claude-code"]
LINES = [made.lines([record]) for _, make in made.SESSIONS.values() for record in make()]


def prompt(number: int, text: str = "") -> made.Record:
    """Give a turn that grows from the one before."""
    return made.claude(number, number - 1 or None, "user", text or f"turn {number}")


def texts(file: Path, cursor: SessionCursor | None = None) -> tuple[list[str], SessionCursor]:
    """Read on, and give what was said."""
    found = follow(str(file), CLAUDE, cursor)
    assert found.cursor is not None
    return [event.text for event in found.events], found.cursor


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A session of three turns."""
    return made.write(tmp_path / "s.jsonl", map(prompt, (1, 2, 3)))


def test_only_what_is_new_is_read(file: Path) -> None:
    said, cursor = texts(file)
    assert said == ["turn 1", "turn 2", "turn 3"]
    assert cursor.offset == file.stat().st_size
    assert texts(file, cursor) == ([], cursor)
    with file.open("ab") as out:
        out.write(made.lines([prompt(4)]))
    said, cursor = texts(file, cursor)
    assert said == ["turn 4"]


def test_half_a_line_waits_for_its_rest(file: Path) -> None:
    _, cursor = texts(file)
    line = made.lines([prompt(4, "ä" * 10)])
    for cut in (1, len(line) // 2, len(line) - 1):
        with file.open("r+b") as out:
            out.seek(cursor.offset)
            out.write(line[:cut])
        assert texts(file, cursor) == ([], cursor)
    file.write_bytes(file.read_bytes() + b"\n")
    assert texts(file, cursor)[0] == ["ä" * 10]


def rewritten(file: Path) -> None:
    """Write it anew with other turns, in the same file."""
    file.write_bytes(file.read_bytes().replace(b"turn 1", b"Turn 1"))


def changed_behind_the_head(file: Path) -> None:
    """Change the end of what was read."""
    file.write_bytes(file.read_bytes().replace(b"turn 3", b"Turn 3"))


def truncated(file: Path) -> None:
    """Cut it."""
    file.write_bytes(made.lines([prompt(1)]))


def rotated(file: Path) -> None:
    """Put another file in its place, with the same beginning."""
    data = file.read_bytes()
    file.rename(file.with_suffix(".old"))
    file.write_bytes(data)


@pytest.mark.parametrize("change", [rewritten, changed_behind_the_head, truncated, rotated])
def test_another_file_is_read_from_its_beginning(file: Path, change: object) -> None:
    assert callable(change)
    _, cursor = texts(file)
    change(file)
    found = follow(str(file), CLAUDE, cursor)
    assert found.whole
    assert [event.text for event in found.events] == texts(file)[0]
    assert follow(str(file), CLAUDE._replace(version=2), found.cursor).whole


def test_a_turn_that_was_rolled_back_after_it_was_read_makes_all_be_read_again(file: Path) -> None:
    _, cursor = texts(file)
    with file.open("ab") as out:
        out.write(made.lines([made.claude(4, 2, "user", "in place of turn 3")]))
    found = follow(str(file), CLAUDE, cursor)
    assert found.whole
    assert [event.text for event in found.events] == ["turn 1", "turn 2", "in place of turn 3"]


def test_a_long_file_is_read_in_slices(tmp_path: Path) -> None:
    file = made.write(tmp_path / "s.jsonl", (prompt(number, "x" * 5000) for number in range(1, 700)))
    count, looks, cursor = 0, 0, None
    while cursor is None or cursor.offset < file.stat().st_size:
        found = follow(str(file), CLAUDE, cursor, most=1_000_000)
        assert found.whole == (cursor is None)
        count, looks, cursor = count + len(found.events), looks + 1, found.cursor
    assert count == 699
    assert looks > 2


def test_a_line_of_50_mb_is_passed_over_in_bounded_memory(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    with file.open("wb") as out:
        out.write(made.lines([prompt(1)]))
        for _ in range(50):
            out.write(b"x" * 1_048_576)
        out.write(b"\n" + made.lines([prompt(2)]))
    tracemalloc.start()
    found = follow(str(file), CLAUDE, most=1)
    rest = follow(str(file), CLAUDE, found.cursor)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * module.MAX_LINE
    assert [event.text for event in (*found.events, *rest.events)] == ["turn 1", "turn 2"]
    assert (found.broken + rest.broken, rest.cursor and rest.cursor.offset) == (1, file.stat().st_size)


def test_lines_that_are_no_records_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    bad = [b"\xff\xfe", b"[1]", b"{", b"nul", b"[" * 100_000, b'{"type": ' + b"9" * 5_000 + b"}", b"\x00", b'"x"']
    lone = json.dumps(prompt(1, "a \ud800 b")).encode()
    fine = [lone, b"", b"\xef\xbb\xbf" + lone, b'{"type": "never seen"}', b'{"type": NaN}', lone.replace(b"u1", b"u2")]
    file.write_bytes(b"\n".join([*bad, *fine]) + b"\n")
    found = follow(str(file), CLAUDE)
    assert [event.text for event in found.events] == ["a ? b"] * len(found.events)
    assert found.events
    assert (found.unknown, found.broken) == (2, len(bad) + 1)


@pytest.mark.parametrize("agent", READERS)
@given(parts=st.lists(st.binary(max_size=30) | st.sampled_from(LINES), max_size=12), most=st.integers(1, 3_000))
def test_any_bytes_are_read_to_their_last_line_feed(
    agent: str, parts: list[bytes], most: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("any") / "s.jsonl"
    data = b"".join(parts)
    file.write_bytes(data)
    cursor: SessionCursor | None = None
    for _ in range(len(parts) + 2):
        found = follow(str(file), READERS[agent], cursor, most=most)
        assert found.cursor is not None
        assert all(0 <= event.offset < event.offset + event.length <= found.cursor.offset for event in found.events)
        cursor = found.cursor
    assert cursor is not None
    assert cursor.offset == data.rfind(b"\n") + 1
    assert follow(str(file), READERS[agent], cursor).events == ()


def test_what_is_no_plain_file_of_ours_is_left_alone(tmp_path: Path, file: Path) -> None:
    cursor = follow(str(file), CLAUDE).cursor
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(file)
    with (tmp_path / "large").open("wb") as out:
        out.truncate(2**31)
    made.write(tmp_path / "closed", []).chmod(0)
    expected = {"fifo": SPECIAL, "link": LINK, "large": LARGE, "missing": GONE, ".": SPECIAL, "s.jsonl/x": GONE}
    if os.getuid():
        expected["closed"] = REFUSED
    for name, why in expected.items():
        found = follow(str(tmp_path / name), CLAUDE, cursor)
        assert (found.skipped, found.events, found.cursor) == (why, (), cursor), name
    if not os.getuid():
        os.chown(file, 12345, -1)
        assert follow(str(file), CLAUDE, cursor).skipped == FOREIGN


def test_a_file_is_skimmed_across_chunks_in_constant_memory_and_from_where_the_last_look_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = needles([Root("a", "/h/.claude/mem ö"), Root("b", "/w", policy=Policy(include=("AGENTS.md", "rules/")))])
    assert {form for _, forms in words for form in forms} >= {
        b"mem \\u00f6/",
        '/mem ö"'.encode(),
        b"AGENTS.md",
        b"rules/",
    }
    file = tmp_path / "s.jsonl"
    size = 64 * 1_048_576
    with file.open("wb") as out:
        for _ in range(size // 1_048_576):
            out.write((b'{"a": "nothing here"}' + b" " * 78 + b"\n") * 10_485 + b"\n" * 76)
    tracemalloc.start()
    found, cursor = skim(str(file), words, CLAUDE)
    assert tracemalloc.get_traced_memory()[1] < 8 * 1_048_576
    tracemalloc.stop()
    assert not found
    assert cursor is not None
    assert cursor.offset == file.stat().st_size
    monkeypatch.setattr(module, "_CHUNK", 16)
    with file.open("ab") as out:
        out.write(b"1234567 see AGENTS.md of it")
    assert skim(str(file), words, CLAUDE, cursor) == (True, cursor)
    os.truncate(file, 5)
    assert skim(str(file), words, CLAUDE, cursor)[0] is False
    file.unlink()
    assert skim(str(file), words, CLAUDE, cursor) == (False, cursor)
