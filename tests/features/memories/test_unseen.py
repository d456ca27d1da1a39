"""Folders that look like memories and are no root: which they are, which are not, and where the look ends."""

import os
from pathlib import Path

import pytest

from memtui.agents.discovery import discover
from memtui.features.memories import unseen
from memtui.features.memories.unseen import LEVELS, NAMES, Unseen, look
from tests.agents import homes, homes_more
from tests.agents.machine import Machine, snapshot
from tests.cli.conftest import Cli


@pytest.fixture
def machine(home: Path, tmp_path: Path) -> Machine:
    return Machine(home, tmp_path)


def looked(machine: Machine, cwd: str = "app") -> Unseen:
    around = machine.surroundings(cwd)
    roots = discover(around)
    before = list(snapshot(machine.folder))
    found = look(around, roots)
    assert list(snapshot(machine.folder)) == before, "looking changed the disk"
    return found


@pytest.mark.parametrize(
    ("files", "name", "agent"),
    [
        ({"docs/memory-bank/activeContext.md": "x"}, "docs/memory-bank", "cline"),
        ({"kb/memory/2026/03/01.md": "x"}, "kb/memory", ""),
        ({"web/.serena/memories/a.md": "x"}, "web/.serena/memories", "serena"),
        ({"web/.goose/memory/a.txt": "x"}, "web/.goose/memory", "goose"),
        ({"kb/.claude/agent-memory/x/MEMORY.md": "x"}, "kb/.claude/agent-memory", "claude-code"),
        ({"old/a/b/.codex/memories/MEMORY.md": "x"}, "old/a/b/.codex/memories", "codex"),
        ({"old/.claude/projects/-app/memory/a.md": "x"}, "old/.claude/projects/-app/memory", "claude-code"),
        ({"notes/MEMORY.md": "- [a](a.md)", "notes/a.md": "x", "notes/x.py": ""}, "notes", "claude-code"),
        ({"MEMORY.md": "- [a](a.md)", "a.md": "x"}, "app", "claude-code"),
        ({"claw/MEMORY.md": "x", "claw/SOUL.md": "x", "claw/memory/1.md": "x"}, "claw", "openclaw"),
        ({"bot/system/persona.md": "x", "bot/system/project/a.md": "x"}, "bot", "letta"),
        ({"b/MEMORY.md": "- [a](a.md)", "b/a.md": "x", "b/system/persona.md": "x"}, "b", "letta"),
        ({"~/.newagent/memories/a.md": "x"}, "~/.newagent/memories", ""),
    ],
)
def test_what_looks_like_memories_is_named_once(machine: Machine, files: dict[str, str], name: str, agent: str) -> None:
    for path, text in files.items():
        machine.write(path if path.startswith("~") else f"app/{path}", text)
    found = looked(machine)
    assert [(one.name, one.agent) for one in found.folders] == [(name, agent)]
    assert found.ended == ""
    (one,) = found.folders
    option = one.option.removeprefix("--root ")
    roots = machine.roots("app", option)
    assert roots[option.partition("=")[0]].path == one.path, "the line that is said adds it"
    machine.environ["MEMTUI_X"] = ""
    assert look(machine.surroundings(), roots.values()).folders == (), "and then it is seen"


def test_what_does_not_look_like_memories_is_not_named(machine: Machine) -> None:
    for lay in {**homes.HOMES, **homes_more.HOMES_MORE}.values():
        lay(machine.home, machine.app)
    for name in (
        "src/memory/alloc.c",
        "src/memory/free.c",
        "src/memory/notes.md",
        "lib/memory/README.md",
        "node_modules/x/memory/a.md",
        "empty/memory/data.json",
        "docs/index.md",
        "deep/1/2/3/memory/a.md",
    ):
        machine.write(f"app/{name}")
    machine.write("app/docs/MEMORY.md", "- [gone](gone.md)")
    (machine.app / "link").mkdir()
    machine.write("out/memory/a.md")
    (machine.app / "link/memory").symlink_to(machine.path("out/memory"))
    assert "1/2/3".count("/") + 3 > LEVELS
    assert looked(machine) == Unseen()
    machine.write("app/link/MEMORY.md", "- [a](memory/a.md)")
    (machine.app / "link/MEMORY.md").unlink()
    (machine.app / "link/MEMORY.md").symlink_to(machine.write("out/i.md", "- [a](a.md)"))
    machine.write("app/link/a.md")
    assert looked(machine) == Unseen()


def test_the_look_ends_after_so_many_names_and_seconds(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        machine.write(f"app/a{number:02}/x.txt")
    machine.write("app/z/memory/a.md")
    assert [one.name for one in looked(machine).folders] == ["z/memory"]
    ticks = iter(range(1_000))
    around = machine.surroundings()
    slow = look(around, discover(around), lambda: next(ticks) / 10)
    assert (slow.folders, slow.ended) == ((), "Looking for memories that no root shows ended after 1 s.")
    monkeypatch.setattr(unseen, "NAMES", 40)
    few = looked(machine)
    assert (few.folders, few.ended) == ((), "Looking for memories that no root shows ended after 40 names.")
    assert NAMES == 20_000


def test_a_hostile_index_and_names_end_well(machine: Machine) -> None:
    machine.write("app/x/MEMORY.md", "- [a](a.md\n" * 5_000 + "[" * 60_000)
    machine.write("app/\x1b]0;x\x07/memory/a.md")
    os.mkfifo(machine.app / "x" / "MEMORY.pipe.md")
    (machine.app / "y").mkdir()
    os.mkfifo(machine.app / "y" / "MEMORY.md")
    (one,) = looked(machine).folders
    assert one.root.id.isprintable()


def test_roots_and_doctor_name_it(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "app/docs/memory-bank"
    folder.mkdir(parents=True)
    (tmp_path / "app/.git").mkdir()
    (folder / "activeContext.md").write_text("x")
    monkeypatch.chdir(tmp_path / "app")
    option = f"--root docs-memory-bank={folder},agent=cline"
    told = cli("roots").err
    assert told.count("docs/memory-bank looks like memories") == 1
    assert option in told
    assert cli("roots", "--json").json["in_no_root"] == [{"path": str(folder), "agent": "cline", "option": option}]
    assert cli("--only-root", "roots", "--json").json["in_no_root"] == []
    notes = [one for one in cli("doctor", "--json").items if "memory-bank" in str(one["text"])]
    assert [(one["level"], option in str(one["advice"])) for one in notes] == [("note", True)]
