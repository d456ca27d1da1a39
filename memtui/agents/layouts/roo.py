"""Roo Code: rules of the user and of a project, general and by mode, and the memory bank where it is Roo Code's.

The folder of rules that every mode reads is `rules`; one named `rules-code` is read in the mode `code` alone.
"""

import os
from collections.abc import Iterator

from memtui.agents.folders import names_in
from memtui.agents.layouts.cline import BANK, is_roos
from memtui.agents.places import BOOKKEEPING, in_project, only, there
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

AGENT = "roo"
POLICY = Policy(index_file="activeContext.md", ignore=BOOKKEEPING, whole=("*",))
"""As Cline's, with a log of decisions."""
RULES = Policy(ignore=BOOKKEEPING, whole=("*",))
WRITES = "Roo Code reads these files when a task begins, and rewrites them while it works."
READS = "Roo Code reads these files when a task begins."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find the user's rules, then the current project's rules and memory bank."""
    if surroundings.home:
        home = os.path.join(surroundings.home, ".roo")
        yield from there(only(_rules("global:instructions", home), *_folders(home)))
    project = surroundings.project
    inside = (f".roo/{name}" for name in _folders(os.path.join(project, ".roo")))
    files = (name for name in names_in(project) if name == ".roorules" or name.startswith(".roorules-"))
    yield from in_project(surroundings, only(_rules("project:instructions", project), *inside, *files))
    if is_roos(project):
        bank = os.path.join(project, BANK)
        yield from in_project(
            surroundings, Root(f"{AGENT}:project", bank, AGENT, "project", "Roo Code memory bank", POLICY, note=WRITES)
        )


def _folders(folder: str) -> tuple[str, ...]:
    return tuple(f"{name}/" for name in names_in(folder) if name == "rules" or name.startswith("rules-"))


def _rules(name: str, path: str) -> Root:
    return Root(f"{AGENT}:{name}", path, AGENT, "global", "Roo Code rules", RULES, note=READS, kind="instructions")
