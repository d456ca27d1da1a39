"""Which memories sessions opened, were given and wrote: by the agents' own files, each call once, also after a kill."""

import json
import os
import random
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from memtui.engine.ledger.touches import SessionCursor
from memtui.engine.model import Actor, Address
from memtui.features.sessions import read_touches as module
from memtui.transcripts import sessions as session_files
from memtui.transcripts.event import after, resolved
from memtui.transcripts.sessions import prompt_at
from tests.cli.conftest import Cli, cli, config
from tests.features.sessions.world import Record, World, call, claude, memory, said, world
from tests.transcripts import made

__all__ = ["cli", "config", "memory", "world"]


def shell(name: str, key: str, command: object) -> Record:
    """Give a call of Codex' shell."""
    return made.codex(5, "response_item", type="function_call", name=name, call_id=key, arguments=json.dumps(command))


def test_each_agent_s_own_files_say_what_it_did(world: World, memory: Path) -> None:
    a, b, new = f"{memory}/a.md", f"{memory}/b.md", f"{memory}/new.md"
    claude(
        world,
        said(1),
        call(2, "Read", {"file_path": a}),
        call(4, "Grep", {"pattern": "x", "path": b}),
        call(6, "Write", {"file_path": new, "content": "n\n"}, type="create"),
        call(8, "Read", {"file_path": b}, failed=True),
        [{**made.claude(10, 9, "attachment", None), "attachment": {"type": "nested_memory", "path": b}}],
        call(11, "Bash", {"command": f"cd notes && cat c.md | head -3 && rm {b} && echo x >> a.md"}),
        call(13, "Read", {"file_path": f"{memory}/../../other.md"}),
        call(15, "Read", {"file_path": "/etc/notes/a.md"}),
    )
    patch = f"*** Begin Patch\n*** Update File: notes/a.md\n@@\n-x\n+y\n*** Delete File: {b}\n*** End Patch\n"
    made.write(
        world.home / ".codex/sessions/2026/03/04/rollout-k.jsonl",
        [
            made.codex(1, "session_meta", id="k", cwd=world.cwd, source="cli"),
            shell("exec_command", "k1", {"cmd": "sed -n 1,9p notes/a.md"}),
            shell("shell", "k2", {"command": ["bash", "-lc", "rg word notes/c.md"]}),
            made.codex(6, "response_item", type="custom_tool_call", name="apply_patch", call_id="k3", input=patch),
        ],
    )
    qwen = [
        made.qwen(1, None, "user", [{"text": "go"}], provenance="real_user"),
        made.qwen(2, 1, "assistant", [{"functionCall": {"id": "q1", "name": "edit", "args": {"file_path": a}}}]),
        made.qwen(3, 2, "system", [], subtype="at_command", systemPayload={"filesRead": [f"{memory}/c.md"]}),
    ]
    made.write(world.home / ".qwen/projects/-w/chats/q.jsonl", [one | {"cwd": world.cwd} for one in qwen])
    calls = [{"id": "g1", "name": "read_file", "args": {"absolute_path": a}, "status": "success"}]
    made.write(
        world.home / ".gemini/tmp/w/chats/session-g.jsonl",
        [{"sessionId": "g", "projectHash": "p", "kind": "main"}, made.gemini(2, "gemini", "I", toolCalls=calls)],
    )
    world.read()
    did = {(one.agent, use.address.path, use.kind) for one in world.sessions() for use in one.uses}
    assert did == {
        *(("claude-code", "a.md", kind) for kind in ("opened", "wrote")),
        *(("claude-code", "b.md", kind) for kind in ("searched", "loaded", "deleted")),
        *(("claude-code", "new.md", "created"), ("claude-code", "c.md", "opened")),
        *(("codex", "a.md", "opened"), ("codex", "c.md", "searched"), ("codex", "a.md", "wrote")),
        *(("codex", "b.md", "deleted"), ("qwen-code", "a.md", "wrote"), ("qwen-code", "c.md", "opened")),
        ("gemini", "a.md", "opened"),
    }
    assert (world.used("a.md"), world.used("c.md"), world.used("b.md")) == (3, 2, 0)
    counts = world.engine.touches.counts(world.engine.roots.uid(world.root), "b.md")
    assert counts == (1, 0, 4)


def test_a_call_counts_once_in_every_copy_of_its_session_and_not_when_it_is_taken_back(
    world: World, memory: Path
) -> None:
    a, b = ({"file_path": f"{memory}/{name}.md"} for name in "ab")
    parts = [said(1), call(2, "Read", a), call(6, "Read", a), said(8), call(9, "Read", b)]
    file = claude(world, *parts)
    claude(world, *parts, name="fork")
    for _ in range(2):
        world.read()
    assert world.uses() == {("a.md", "opened", 2, ""), ("b.md", "opened", 1, "")}
    other = [record | {"uuid": "u11", "parentUuid": "u7"} for record in said(11, "another way")]
    for name in (file.name, "fork.jsonl"):
        with (file.parent / name).open("ab") as out:
            out.write(made.lines(record | {"cwd": world.cwd} for record in other))
    world.read()
    assert world.uses() == {("a.md", "opened", 2, "")}
    assert (world.used("a.md"), world.used("b.md")) == (2, 1)  # it was read, and counted, when it was


def test_what_a_session_took_in_before_it_wrote_is_named_until_the_next_prompt(world: World, memory: Path) -> None:
    write = [call(at, "Write", {"file_path": f"{memory}/{name}", "content": "x"}) for at, name in
             ((2, "1.md"), (6, "2.md"), (10, "3.md"), (15, "4.md"), (19, "5.md"))]  # fmt: skip
    claude(
        world,
        said(1),
        write[0],
        call(4, "WebFetch", {"url": "https://user:pw@pkgs.example/a?q=1"}),
        write[1],
        call(8, "mcp__my_tickets__get", {}),
        write[2],
        [{**record, "parentUuid": "u11"} for record in said(14)],
        write[3],
        call(17, "Read", {"file_path": "/etc/hosts"}),
        write[4],
    )
    world.read()
    both = "web: pkgs.example, mcp: my_tickets"
    taints = {path: taint for path, _, _, taint in world.uses()}
    assert taints == {"1.md": "", "2.md": "web: pkgs.example", "3.md": both, "4.md": "", "5.md": "file: outside"}


def test_more_sources_than_are_named_are_not_dropped_without_a_word(world: World, memory: Path) -> None:
    fetches = [call(2 * number, "WebFetch", {"url": f"https://{number}.example/"}) for number in range(1, 7)]
    claude(world, said(1), *fetches, call(14, "Write", {"file_path": f"{memory}/1.md", "content": "x"}))
    world.read()
    assert world.uses() == {("1.md", "wrote", 1, "web: 1.example, web: 2.example, web: 3.example, and others")}


def test_a_failure_says_nothing_of_a_call_of_the_same_name_in_another_file(world: World, memory: Path) -> None:
    claude(world, said(1), call(2, "Write", {"file_path": f"{memory}/a.md", "content": "x"}))
    world.read()
    claude(world, said(1), call(2, "Read", {"file_path": f"{memory}/b.md"}, failed=True), name="forged")
    world.read()
    assert world.uses() == {("a.md", "wrote", 1, "")}


def test_two_calls_with_one_id_are_two_writes(world: World, memory: Path) -> None:
    calls = [call(at, "Write", {"file_path": f"{memory}/a.md", "content": f"text {at}"}) for at in (2, 4, 6)]
    for record in (record for one in calls for record in one):
        (part,) = record["message"]["content"]
        part["id" if "id" in part else "tool_use_id"] = "same"
    claude(world, said(1), *calls[:2], name="s1")
    world.read()
    claude(world, said(1), *calls[:2], name="copy")
    assert world.read() > 0
    assert world.uses() == {("a.md", "wrote", 2, "")}
    claude(world, said(1), *calls, name="s1")
    world.read()
    assert world.uses() == {("a.md", "wrote", 3, "")}


def test_a_file_dated_in_the_future_brings_nothing_back_that_was_forgotten(world: World, memory: Path) -> None:
    far = {"timestamp": "2999-01-01T00:00:00Z"}
    parts = [[record | far for record in call(at, "Read", {"file_path": f"{memory}/a.md"})] for at in (2, 4)]
    future = world.clock.now / 1000 + 90_000
    os.utime(claude(world, *parts[:1]), (future,) * 2)
    world.clock.now += 3_600_000
    world.read()
    assert max(one.ended for one in world.sessions()) < world.clock.now
    world.engine.touches.forget()
    world.clock.now += 3_600_000
    os.utime(claude(world, *parts), (future,) * 2)
    world.read()
    assert world.sessions() == ()


def test_of_a_session_kept_as_one_line_each_call_has_its_own_prompt(world: World, memory: Path) -> None:
    messages = []
    for number, name in enumerate("ab"):
        used = [{"id": name, "name": "write_file", "status": "success",
                 "args": {"file_path": f"{memory}/{name}.md", "content": name}}]  # fmt: skip
        messages += [
            made.gemini(2 * number, "user", f"write {name}"),
            made.gemini(2 * number + 1, "gemini", "I", toolCalls=used),
        ]
    made.write(world.home / ".gemini/tmp/w/chats/session-g.json", [{"sessionId": "g", "messages": messages}])
    world.read()
    uid = world.engine.roots.uid(world.root)
    touches = [one for name in ("a.md", "b.md") for one in world.engine.touches.of(uid, name)]
    assert [prompt_at(one.agent, one.prompt) for one in touches] == ["write a", "write b"]


def test_reading_stops_between_two_lines_and_goes_on_there(world: World, memory: Path) -> None:
    claude(world, said(1), *(call(at, "Read", {"file_path": f"{memory}/a.md"}) for at in range(2, 42, 2)))
    looks = 0
    while not world.sessions() or world.uses() != {("a.md", "opened", 20, "")}:
        asked = count()
        world.read(partial(lambda asked: next(asked) >= 6, asked))
        looks += 1
        assert looks < 60
    assert looks > 5


def test_half_of_a_pair_in_a_call_stops_nobody(world: World, memory: Path) -> None:
    half = chr(0xD800)
    claude(world, said(1), call(2, "Write", {"file_path": f"{memory}/a.md", "content": f"a {half} b"}))
    arguments = json.dumps({"file_path": f"{memory}/b{half}.md", "content": half})
    written = made.codex(5, "response_item", type="function_call", name="write", call_id="k", arguments=arguments)
    start = made.codex(1, "session_meta", id="k", cwd=world.cwd, source="cli")
    made.write(world.home / ".codex/sessions/2026/03/04/rollout-k.jsonl", [start, written])
    world.read()
    assert {path for path, *_ in world.uses()} == {"a.md", "b?.md"}


def test_edits_that_make_a_text_too_large_are_not_made() -> None:
    edits = [("a", "a" * 1_000, True)] * 2
    assert after("a", edits) == "a" * 1_000_000
    assert after("a" * 30, edits) is None


def test_a_use_counts_at_its_own_time_and_not_beside_memtui_s_own_door(world: World, memory: Path) -> None:
    now = world.engine.touches.clock()
    claude(world, said(1), call(2, "Read", {"file_path": f"{memory}/a.md"}))
    address = Address(world.root.id, "a.md")
    world.engine.pins.record_use(address, actor=Actor("mcp:claude"))
    before = world.engine.rows.get(address)
    world.read()
    after = world.engine.rows.get(address)
    assert after.uses == before.uses + 1
    assert after.last_used_at == before.last_used_at
    assert before.heat <= after.heat < before.heat + 1  # months ago it was
    later = call(2, "Read", {"file_path": f"{memory}/a.md"})
    later[0]["message"]["content"][0]["id"] = "later"
    stamp = {"timestamp": "2999-01-01T00:00:00Z", "cwd": world.cwd}
    file = made.write(world.home / ".claude/projects/-w/late.jsonl", [record | stamp for record in later])
    os.utime(file, ((now - 1_000) / 1000,) * 2)
    world.read()
    assert world.used("a.md") == after.uses
    assert max(one.ended for one in world.sessions()) <= now  # a time in the future is that of the file


@pytest.mark.parametrize("seed", range(6))
def test_a_kill_while_reading_loses_nothing_and_counts_nothing_twice(
    seed: int, world: World, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SLICE_BYTES", 400)
    monkeypatch.setattr(session_files, "_CHUNK", 400)
    chance = random.Random(seed)
    for name in range(3):
        parts = [call(at, "Read", {"file_path": f"{memory}/{chance.choice('abc')}.md"}) for at in range(2, 42, 2)]
        for part in parts:
            part[0]["message"]["content"][0]["id"] += f"-{name}"
        claude(world, said(1), *parts, name=f"s{name}")
    table = world.engine.touches.cursors
    move = table.move

    class KilledError(Exception):
        pass

    def dies(consumer: str, path: str, cursor: SessionCursor) -> None:
        died = chance.random()
        if died < 0.2:
            raise KilledError
        move(consumer, path, cursor)
        if died < 0.4:
            raise KilledError

    monkeypatch.setattr(table, "move", dies)
    kills, whole = 0, False
    while not whole:
        try:
            world.read()
            whole = True
        except KilledError:
            kills += 1
    assert kills > 3
    assert sum(calls for _, _, calls, _ in world.uses()) == 60
    assert sum(world.used(f"{name}.md") for name in "abc") == 60


def test_forgotten_is_forgotten_and_nothing_is_read_without_a_yes(
    cli: Cli, config: Path, person: Callable[[str], None], home: Path, tmp_path: Path
) -> None:
    memory = home / ".claude" / "CLAUDE.md"
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_text("be brief\n")
    records = [*said(1, "my secret plan"), *call(2, "Read", {"file_path": str(memory)})]
    cwd = str((tmp_path / "work").resolve())
    made.write(home / ".claude/projects/-w/s1.jsonl", [record | {"cwd": cwd} for record in records])
    assert cli("sessions", "read", "--json").json["denied"] == "not_asked"
    config.write_text('[transcripts]\nread = "all"\n')
    assert cli("sessions", "read", "--json").json["touches"] == 1
    (row,) = cli("sessions", "list", "--json").items
    assert (row["agent"], row["session"], row["cwd"]) == ("claude-code", "s1", cwd)
    address = str(row["uses"]).partition("'address': '")[2].partition("'")[0]
    assert cli("sessions", "--address", address, "--json").json["memory"] == {"loaded": 0, "opened": 1, "sessions": 1}
    assert cli("sessions", "list", "--agent", "codex", "--json").items == []
    assert "Claude Code" in cli("sessions", "list").out
    state = b"".join(one.read_bytes() for one in tmp_path.rglob("*.db*"))
    assert b"secret plan" not in state
    person("yes\n")
    assert cli("sessions", "forget", "--json").json == {"forgotten": 1}
    assert "1 uses by sessions were forgotten" in str(cli("log", "--json").items[0]["note"])
    assert cli("sessions", "read", "--json").json["touches"] == 0
    assert cli("sessions", "list", "--json").items == []


@pytest.mark.parametrize(
    ("path", "cwd", "found"),
    [
        ("~/a.md", "", "/home/ann/a.md"),
        ("b.md", "", ""),
        ("../b.md", "/x/y", "/x/b.md"),
        ("b\0.md", "/x", ""),
        ("", "/x", ""),
        ("a" * 5_000, "/x", ""),
    ],
)
def test_a_path_is_resolved_as_text(path: str, cwd: str, found: str) -> None:
    assert resolved(path, cwd, "/home/ann") == found
