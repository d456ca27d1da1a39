"""Replit Agent: memories in a checkout, an index of links and one topic a file, as Claude Code's auto memory has it.

Thousands of public repositories hold `.agents/memory/MEMORY.md`, and those that were looked at are Replit's, by their
`.replit`; Replit has no page about it, so what a session loads of it is not known here.
"""

import os
from collections.abc import Iterator

from memtui.agents.agent import KnownAgent
from memtui.agents.layout import BOOKKEEPING, in_project, new_root
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "replit"
POLICY = Policy(
    index_file="MEMORY.md",
    index_format="links",
    ignore=BOOKKEEPING,
    fields=("name", "description"),
    suffix=".md",
    whole=("MEMORY.md",),
)
"""One topic per file; which lines of the index are loaded is not known."""
WRITES = (
    "Replit Agent writes these files while it works; other agents read them where a checkout's instructions say so."
)


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the current project's memories."""
    path = os.path.join(surroundings.project, ".agents", "memory")
    mine = new_root(f"{ID}:project", path, "Replit Agent memory", POLICY, note=WRITES)
    yield from in_project(surroundings, mine)


AGENT = KnownAgent(ID, "Replit Agent", roots, policy=POLICY)
