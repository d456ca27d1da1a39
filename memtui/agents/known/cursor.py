"""Cursor: rules of a project, one `.mdc` file each, and the single file that older versions used.

Cursor's own memories are kept inside the program, so there are none on disk. Front matter says when a rule is loaded:
`alwaysApply`, `globs`, or `description` for the agent to decide. The user's rules live in the program's settings
(cursor.com/docs/rules); files in `~/.cursor/rules` reach no session, as tried with 3.17.21 in
Alessandro-Pang/harnessmith#153.
"""

import os
from collections.abc import Iterator

from memtui.agents.agent import KnownAgent
from memtui.agents.layout import BOOKKEEPING, along, existing, new_root, project_instructions
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "cursor"
POLICY = Policy(ignore=BOOKKEEPING, whole=(".cursorrules",))
READS = "Cursor reads these files, and writes them when asked to."
UNREAD = (
    "Cursor loads none of these files: your own rules count only in its settings, a project's in .cursor/rules there."
)
LABEL = "Cursor rules"


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the user's rules, then the current project's."""
    if surroundings.home:
        path = os.path.join(surroundings.home, ".cursor", "rules")
        mine = new_root(f"{ID}:global:instructions", path, LABEL, POLICY, note=UNREAD, kind="instructions")
        yield from existing(mine._replace(switched_off="by Cursor itself"))
    paths = along(surroundings, surroundings.project, (".cursor/rules/", ".cursorrules"))
    policy = POLICY._replace(include=paths)
    yield from project_instructions(surroundings, ID, LABEL, surroundings.project, policy, READS)


AGENT = KnownAgent(ID, "Cursor", roots, policy=POLICY, kind="instructions")
