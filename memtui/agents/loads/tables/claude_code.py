"""What Claude Code loads when a session starts: CLAUDE.md from the machine down to the folder, rules, its own index."""

import os

from memtui.agents.loads.cutting import Limits
from memtui.agents.loads.importing import Imports
from memtui.agents.loads.loading import (
    ANCESTORS,
    HOME,
    MATCHING,
    ON_DEMAND,
    PROJECT,
    SYSTEM,
    Options,
    Source,
    Table,
    Verdict,
)
from memtui.agents.loads.settings import read_json, texts
from memtui.config.surroundings import Surroundings

LARGEST = 4_194_304
IMPORTS = Imports(depth=4, markdown=True, approval=True)
INDEX = Limits(lines=200, bytes=25_000)
"""Of the index; what is left out of the count is dropped."""


def _rule(found: dict[str, str]) -> Verdict:
    return Verdict(MATCHING, f"paths: {found['paths']}") if found.get("paths") else Verdict()


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read what its settings leave out; those of the project count as well, because they only take away."""
    inside = os.path.join(surroundings.project, ".claude")
    found = [read_json(os.path.join(home, "settings.json")) for home in homes]
    found += [
        read_json(os.path.join(inside, name), surroundings.checkout or surroundings.project)
        for name in ("settings.json", "settings.local.json")
    ]
    excludes: list[str] = []
    enabled: object = True
    for settings in found:
        excludes += texts(settings.get("claudeMdExcludes"))
        enabled = settings.get("autoMemoryEnabled", enabled)
    off: tuple[tuple[str, str], ...] = ()
    if enabled is False or surroundings.variable("CLAUDE_CODE_DISABLE_AUTO_MEMORY") in ("1", "true"):
        off = (("memory index", "Auto memory is switched off."), ("memories", "Auto memory is switched off."))
    return Options(off=off, excludes=tuple(excludes))


def _written(label: str, place: str, *names: str) -> Source:
    """CLAUDE.md and its like: whole, without comments, with imports."""
    return Source(label, place, names, largest=LARGEST, imports=IMPORTS, comments=True)


def _rules(label: str, place: str, names: tuple[str, ...]) -> Source:
    return _written(label, place, *names)._replace(front_matter=True, judge=_rule)


TABLE = Table(
    "claude-code",
    "Claude Code",
    (
        _written("managed instructions", SYSTEM, "CLAUDE.md")._replace(system=("claude-code", "ClaudeCode")),
        _written("user instructions", HOME, "CLAUDE.md"),
        _rules("user rule", HOME, ("rules/**/*.md",)),
        _written(
            "instructions", ANCESTORS, "CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/**/*.md", "CLAUDE.local.md"
        )._replace(front_matter=True, judge=_rule, rules_in=f"{os.sep}rules{os.sep}"),
        Source(
            "memory index",
            "claude-code:project",
            ("MEMORY.md",),
            limits=INDEX,
            comments=True,
            front_matter=True,
        ),
        Source(
            "memories",
            "claude-code:project",
            ("**/*.md",),
            mark=ON_DEMAND,
            why="The agent reads it when the index makes it look.",
        ),
        Source(
            "subagent index",
            HOME,
            ("agent-memory/*/MEMORY.md",),
            mark=ON_DEMAND,
            why="It is loaded when this subagent starts.",
        ),
        Source(
            "subagent index",
            PROJECT,
            (".claude/agent-memory/*/MEMORY.md", ".claude/agent-memory-local/*/MEMORY.md"),
            mark=ON_DEMAND,
            why="It is loaded when this subagent starts.",
        ),
        Source(
            "folder instructions",
            PROJECT,
            ("*/CLAUDE.md", "*/*/CLAUDE.md"),
            mark=ON_DEMAND,
            why="It is loaded when the agent reads a file in its folder.",
        ),
    ),
    variables=("CLAUDE_CONFIG_DIR",),
    at_home=(".claude",),
    in_project=("CLAUDE.md", "CLAUDE.local.md", ".claude"),
    options=_options,
    note="Its own system prompt, tools, skills, hooks and MCP servers come on top.",
)
