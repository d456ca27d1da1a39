"""Layouts of public repositories, by names alone: each folder of memories in them is a root's, or is named.

Paths are those of the repository at the commit; of many files like each other a few are kept. What stands in the
indexes is made up, and names the files that the real ones name.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.agents.machine import Machine
from tests.features.memories.test_unseen import looked


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
