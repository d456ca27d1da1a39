"""What Claude Code loads when a session starts: CLAUDE.md from the machine down to the folder, rules, its own index.

Source of its settings: code.claude.com, pages memory, settings and env-vars. `claudeMdExcludes` adds up over all files,
and is matched as picomatch does, with hidden names; it leaves out no managed file and no memory.
"""

import os

from memtui.agents.folders import short_path
from memtui.agents.layouts.claude_code import loads_nothing, settings_files, switched_off
from memtui.agents.loads.cutting import Limits
from memtui.agents.loads.importing import Imports
from memtui.agents.loads.loading import (
    ANCESTORS,
    HOME,
    MATCHING,
    ON_DEMAND,
    PROJECT,
    SYSTEM,
    Excluded,
    Options,
    Source,
    Table,
    Verdict,
)
from memtui.agents.loads.settings import TEXTS, problems, read_json, texts
from memtui.config.surroundings import Surroundings

LARGEST = 4_194_304
IMPORTS = Imports(depth=4, markdown=True, approval=True)
INDEX = Limits(lines=200, bytes=25_000)
"""Of the index; what is left out of the count is dropped."""
_AUTO = ("memory index", "memories")


def _rule(found: dict[str, str]) -> Verdict:
    return Verdict(MATCHING, f"paths: {found['paths']}") if found.get("paths") else Verdict()


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read what its settings leave out; those of the project count as well, because they only take away."""
    home = homes[0] if homes else None
    files = tuple(read_json(path, bound) for path, bound in settings_files(surroundings, home))
    excluded = []
    more = []
    for file in files:
        name = short_path(file.path, surroundings.home)
        patterns = file.values.get("claudeMdExcludes")
        if isinstance(patterns, list) and len(patterns) > TEXTS:
            more.append((file.path, f"Only the first {TEXTS} patterns of claudeMdExcludes are followed."))
        for pattern in texts(patterns):
            why = f"Not loaded: claudeMdExcludes in {name} leaves it out: {pattern}"
            excluded += [Excluded(one, why, file=file.path) for one in dict.fromkeys((pattern, _resolved(pattern)))]
    nothing, where = loads_nothing(surroundings), switched_off(surroundings, home)
    labels = {source.label for source in TABLE.sources} - {"subagent index"} if nothing else _AUTO if where else ()
    off = tuple((label, f"Not loaded: switched off {where}.") for label in labels)
    return Options(off=off, excluded=tuple(excluded), problems=(*problems(files), *more))


def _resolved(pattern: str) -> str:
    """Write the beginning of an absolute pattern, up to its first sign, without links, as the paths are."""
    fixed = pattern[: min((at for at in map(pattern.find, "*?[{") if at >= 0), default=len(pattern))]
    folder = os.path.dirname(fixed)
    is_path = folder.startswith("/") and "\0" not in folder
    return os.path.realpath(folder).rstrip("/") + pattern[len(folder.rstrip("/")) :] if is_path else pattern


def _written(label: str, place: str, *names: str) -> Source:
    """CLAUDE.md and its like: whole, without comments, with imports."""
    return Source(label, place, names, largest=LARGEST, imports=IMPORTS, comments=True)


def _rules(label: str, place: str, names: tuple[str, ...]) -> Source:
    return _written(label, place, *names)._replace(front_matter=True, judge=_rule)


TABLE = Table(
    "claude-code",
    "Claude Code",
    (
        _written("managed instructions", SYSTEM, "CLAUDE.md")._replace(
            system=("claude-code", "ClaudeCode"), excludable=False
        ),
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
            excludable=False,
        ),
        Source(
            "memories",
            "claude-code:project",
            ("**/*.md",),
            mark=ON_DEMAND,
            excludable=False,
            why="The agent reads it when the index makes it look.",
        ),
        Source(
            "subagent index",
            HOME,
            ("agent-memory/*/MEMORY.md",),
            mark=ON_DEMAND,
            excludable=False,
            why="It is loaded when this subagent starts.",
        ),
        Source(
            "subagent index",
            PROJECT,
            (".claude/agent-memory/*/MEMORY.md", ".claude/agent-memory-local/*/MEMORY.md"),
            mark=ON_DEMAND,
            excludable=False,
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
