"""Kiro: steering files of the user and of a project, which people write and Kiro can draft.

Front matter says when a file is loaded: `inclusion` is always, fileMatch (with `fileMatchPattern`), manual or auto.
"""

import os
from collections.abc import Iterator

from memtui.agents.agent import KnownAgent
from memtui.agents.layout import BOOKKEEPING, existing, in_project, new_root
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "kiro"
POLICY = Policy(ignore=BOOKKEEPING)
READS = "Kiro reads these files, and writes them when asked to."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the user's steering files, then the current project's."""
    if surroundings.home:
        yield from existing(_steering(surroundings.home, "global"))
    yield from in_project(surroundings, _steering(surroundings.project, "project"))


def _steering(folder: str, scope: str) -> Root:
    path = os.path.join(folder, ".kiro", "steering")
    name = f"{ID}:{scope}:instructions"
    return new_root(name, path, "Kiro steering", POLICY, note=READS, kind="instructions")


AGENT = KnownAgent(ID, "Kiro", roots, policy=POLICY, kind="instructions")
