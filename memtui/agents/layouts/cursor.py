"""Cursor: rules of a project, one `.mdc` file each, and the single file that older versions used.

Cursor's own memories are kept inside the program, so there are none on disk. Front matter says when a rule is loaded:
`alwaysApply`, `globs`, or `description` for the agent to decide.
"""

import os
from collections.abc import Iterator

from memtui.agents import instructions
from memtui.agents.places import BOOKKEEPING, there
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

AGENT = "cursor"
POLICY = Policy(ignore=BOOKKEEPING, whole=(".cursorrules",))
READS = "Cursor reads these files, and writes them when asked to."
LABEL = "Cursor rules"


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find the user's rules, then the current project's."""
    if surroundings.home:
        path = os.path.join(surroundings.home, ".cursor", "rules")
        yield from there(
            Root(f"{AGENT}:global:instructions", path, AGENT, "global", LABEL, POLICY, note=READS, kind="instructions")
        )
    paths = instructions.along(surroundings, surroundings.project, (".cursor/rules/", ".cursorrules"))
    policy = POLICY._replace(include=paths)
    yield from instructions.here(surroundings, AGENT, LABEL, surroundings.project, policy, READS)
