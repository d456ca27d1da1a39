"""What Codex loads when a session starts: one AGENTS.md a folder within 32 KiB, and the summary of its memories."""

import os

from memtui.agents.loads.cutting import Limits
from memtui.agents.loads.loading import CHAIN, HOME, ON_DEMAND, Options, Source, Table
from memtui.agents.loads.settings import below, file_names, read_toml
from memtui.config.surroundings import Surroundings

BUDGET = 32_768
"""Bytes for all instruction files of a project."""
SUMMARY = 10_000
"""Bytes: 2,500 tokens as Codex counts them, four bytes each; what is longer loses its middle."""
NAMES = ("AGENTS.override.md", "AGENTS.md")


def _options(surroundings: Surroundings, homes: tuple[str, ...]) -> Options:
    """Read how much it takes, what else instruction files are called, and whether it has memories at all."""
    del surroundings
    settings: dict[str, object] = {}
    for home in homes:
        settings = read_toml(os.path.join(home, "config.toml"))
    more = file_names(settings.get("project_doc_fallback_filenames"))
    budget = settings.get("project_doc_max_bytes")
    known = isinstance(budget, int) and not isinstance(budget, bool) and budget >= 0
    on = below(settings, "features").get("memories") is True
    why = "Memories are switched off: features.memories in config.toml."
    return Options(
        names=(("project instructions", (*NAMES, *more)),),
        off=() if on else (("memory summary", why), ("memories", why)),
        budgets=(("project", budget),) if known and isinstance(budget, int) else (),
    )


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
