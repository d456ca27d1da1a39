"""What Codex loads when a session starts: one AGENTS.md a folder within 32 KiB, and the summary of its memories.

Sources: the repository openai/codex (`features/src/lib.rs` and `legacy.rs`, `MemoriesConfig`, pull request 12997) and
developers.openai.com/codex, pages memories and config-reference. A repository's own settings count once the user's
trust the folder, and only where they switch memories off.
"""

import os

from memtui.agents.folders import short_path
from memtui.agents.layouts.codex import NAMES, SWITCHES
from memtui.agents.loads.cutting import Limits
from memtui.agents.loads.loading import CHAIN, FOLDER, HOME, ON_DEMAND, Options, Source, Table
from memtui.agents.loads.settings import File, below, file_names, last, problems, read_toml
from memtui.config.surroundings import Surroundings

BUDGET = 32_768
"""Bytes for all instruction files of a project."""
SUMMARY = 10_000
"""Bytes: 2,500 tokens as Codex counts them, four bytes each; what is longer loses its middle."""


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read how much it takes, where and as what it looks for instructions, and whether it has memories at all."""
    files = tuple(read_toml(os.path.join(home, "config.toml")) for home in (_system(surroundings), *homes))
    more = file_names(last(files, "project_doc_fallback_filenames")[0])
    budget = last(files, "project_doc_max_bytes")[0]
    known = isinstance(budget, int) and not isinstance(budget, bool) and budget >= 0
    brought = _brought(surroundings, files)
    why = _why_off(surroundings, files, brought)
    alone = last(files, "project_root_markers")[0] == []
    return Options(
        names=(("project instructions", (*NAMES, *more)),),
        off=(("memory summary", why), ("memories", why)) if why else (),
        places=(("project instructions", FOLDER),) if alone else (),
        budgets=(("project", budget),) if known and isinstance(budget, int) else (),
        problems=problems((*files, *brought)),
    )


def _system(surroundings: Surroundings) -> str:
    return os.path.join(surroundings.system_dir, "codex")


def _brought(surroundings: Surroundings, files: tuple[File, ...]) -> tuple[File, ...]:
    """Read the project's own settings, which Codex does once the user trusts the folder."""
    bound = surroundings.checkout or surroundings.project
    for folder in dict.fromkeys((surroundings.project, bound)):
        if last(files, "projects", folder, "trust_level")[0] == "trusted":
            return (read_toml(os.path.join(surroundings.project, ".codex", "config.toml"), bound),)
    return ()


def _why_off(surroundings: Surroundings, files: tuple[File, ...], brought: tuple[File, ...]) -> str:
    """Say why memories are not loaded; empty when they are."""
    profile = last(files, "profile")[0]
    tables = (("profiles", profile, "features"), ("features",)) if isinstance(profile, str) else (("features",),)
    found = [last(files, *table, name) for table in tables for name in SWITCHES]
    value, where = next((one for one in found if isinstance(one[0], bool)), (None, ""))
    if value is None:
        where = files[-1].path
        return f"Not loaded: not switched on in {short_path(where, surroundings.home)} (features.memories)."
    switches = [(value, where, "features.memories")]
    switches += [(*last((*files, *brought), "memories", "use_memories"), "memories.use_memories")]
    switches += [
        (below(file.values, "features").get(name), file.path, f"features.{name}")
        for file in brought
        for name in SWITCHES
    ]
    for value, where, name in switches:
        if value is False:
            return f"Not loaded: switched off in {short_path(where, surroundings.home)} ({name})."
    return ""


TABLE = Table(
    "codex",
    "Codex",
    (
        Source("user instructions", HOME, NAMES, first=True, blank=False),
        Source("project instructions", CHAIN, NAMES, first=True, budget="project"),
        Source("memory summary", HOME, ("memories/memory_summary.md",), limits=Limits(middle=SUMMARY), blank=False),
        Source(
            "memories",
            HOME,
            ("memories/MEMORY.md", "memories/**/*.md"),
            mark=ON_DEMAND,
            why="The agent searches it when the summary makes it look.",
        ),
    ),
    variables=("CODEX_HOME",),
    at_home=(".codex",),
    in_project=(".codex",),
    budgets=(("project", BUDGET),),
    options=_options,
    note="Its own system prompt, the instructions about memories, skills and MCP servers come on top.",
)
