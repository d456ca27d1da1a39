"""Folders that look like memories and are no root: which they are, which are not, and where the look ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

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


class Layout(NamedTuple):
    """What one repository holds, and where it is seen."""

    repo: str
    """Owner, name, and the beginning of the commit."""
    paths: str
    """Below the checkout, with blanks between them; behind an index and `:` the files beside it that it names."""
    roots: tuple[str, ...] = ()
    """The roots that show memories or instructions of it."""
    named: tuple[tuple[str, str], ...] = ()
    """Folders that are named, each with the agent whose layout it follows."""


_BANK = "activeContext.md productContext.md progress.md systemPatterns.md techContext.md"


def _below(folder: str, names: str) -> str:
    return " ".join(f"{folder}/{name}" for name in names.split())


CLAUDE = "claude-code:project:"
LAYOUTS = (
    Layout(
        "4444J99/portfolio@514dd401",
        ".claude/memory/MEMORY.md:feedback_bento_grid.md:user_design_philosophy.md",
        (f"{CLAUDE}memory",),
    ),
    Layout(
        "DEFRA/nrf-solution@b67b8d9f",
        ".claude/agent-memory/code-reviewer/MEMORY.md:patterns_gtm_pr.md",
        (f"{CLAUDE}agent-memory",),
    ),
    Layout(
        "0xSiddhant/sonorus@8dcd3a5b",
        ".agents/memory/MEMORY.md:project_sonorus.md:selection_filter.md .agents/rules/git.md",
        ("replit:project",),
    ),
    Layout("camflan/dotfiles@23ef7424", ".goose/memory/development.txt", ("goose:project",)),
    Layout(
        "AMairesse/Nova@917494d2",
        _below(".kilocode/rules", "environment.md restricted_files.md memory-bank/brief.md memory-bank/context.md"),
        ("kilo:project:bank", "kilo:project:instructions"),
    ),
    Layout(
        "sampleXbro/agentsbridge@6e2e5889",
        ".deepagents/AGENTS.md .deepagents/skills/lessons/SKILL.md",
        ("deepagents:project",),
    ),
    Layout(
        "0xlucian/ccops@0a707da3",
        "CLAUDE.md README.md docs/deployment.md memory/MEMORY.md .claude/skills/init/SKILL.md",
        (f"{CLAUDE}instructions",),
        (("memory", ""),),
    ),
    Layout(
        "1000ssam/claude-config@671a2f5c",
        "CLAUDE.md commands/sync-pull.md knowledge/ios-input-zoom.md"
        " memory/MEMORY.md:feedback_check-platform-compat.md:project_ai-club.md",
        (f"{CLAUDE}instructions",),
        (("memory", "claude-code"),),
    ),
    Layout(
        "717986230/openclaw-workspace@cedd9029",
        "AGENTS.md CLAUDE.md MEMORY.md SOUL.md IDENTITY.md USER.md HEARTBEAT.md memory/state.json memory/beliefs.json",
        (f"{CLAUDE}instructions", "agents-md:project:instructions"),
        (("app", "openclaw"),),
    ),
    Layout(
        "2umish8/hermes-setup@e40d2164",
        "memory/MEMORY.md memory/USER.md cron/output/a/1.md",
        (),
        (("memory", "hermes"),),
    ),
    Layout(
        "AppleLamps/nanobot@a0b1a5f1",
        _below("workspace", "AGENTS.md SOUL.md TOOLS.md USER.md memory/MEMORY.md"),
        (),
        (("workspace/memory", ""),),
    ),
    Layout(
        "panda3d/panda3d@0bdd6c8b",
        _below("docs/memory-bank", "activeContext.md progress.md"),
        (),
        (("docs/memory-bank", "cline"),),
    ),
    Layout(
        "eyaltoledano/claude-task-master@91b78cb1",
        ".github/memory-bank/activeContext.md",
        (),
        ((".github/memory-bank", "cline"),),
    ),
    Layout(
        "crosspoint-reader/crosspoint-reader@e4e3818a",
        ".memory/MEMORY.md:user_context.md:feedback_memory_updates.md .memory/memory/feedback_spec_phase.md",
        (),
        ((".memory", "claude-code"),),
    ),
    Layout(
        "SamuelAsherRivello/bevy-project-template@db867dc0",
        ".codex/README.md .codex/memories/MEMORY.md .codex/skills/README.md",
        (),
        ((".codex/memories", "codex"),),
    ),
    Layout(
        "CoreSaint/memory-protocol@55b0d500",
        "AGENTS.md DREAM.md system/persona.md system/human/overview.md",
        ("agents-md:project:instructions",),
        (("app", "letta"),),
    ),
    Layout(
        "golaunchmate/memories@4a707ea5",
        _below("agents/agent-300f6e26", "agent.json human.md memfs/system/persona.md memfs/reference/club/members.md"),
        (),
        (("agents/agent-300f6e26/memfs", "letta"),),
    ),
)


@pytest.mark.parametrize("layout", LAYOUTS, ids=[one.repo for one in LAYOUTS])
def test_each_folder_of_memories_is_shown_or_named(home: Path, tmp_path: Path, layout: Layout) -> None:
    machine = Machine(home, tmp_path)
    for word in layout.paths.split():
        path, *beside = word.split(":")
        machine.write(f"app/{path}", "".join(f"- [x]({name}) - y\n" for name in beside) or "x\n")
        for name in beside:
            machine.write(f"app/{path.rpartition('/')[0]}/{name}")
    shown = [root.id for root in machine.roots().values() if root.agent != "memtui"]
    assert tuple(sorted(shown)) == tuple(sorted(layout.roots))
    assert tuple((one.name, one.agent) for one in looked(machine).folders) == layout.named
