"""Cline: the memory bank of a project, a handful of files with fixed names, and rules of the user and of a project.

The bank is a convention, not a feature of the program, and Roo Code's users have it too: where Roo Code is the one in
use, the bank is Roo Code's.
"""

import os
from collections.abc import Iterator

from memtui.agents.folders import has_any
from memtui.agents.places import BOOKKEEPING, in_project, only, there
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

AGENT = "cline"
BANK = "memory-bank"
POLICY = Policy(index_file="activeContext.md", ignore=BOOKKEEPING, whole=("*",))
"""activeContext.md is read first and says what matters now; it is no list of the other files."""
RULES = Policy(ignore=BOOKKEEPING, whole=(".clinerules",))
WRITES = "Cline reads all of these files when a task begins, and rewrites them when told to update the memory bank."
READS = "Cline reads these files when a task begins, and writes them when asked to."
ROO = (".roo", ".roomodes", ".roorules", "memory-bank/decisionLog.md")
CLINE = (".clinerules", "memory-bank/.clinerules", "memory-bank/projectbrief.md")


def is_roos(project: str) -> bool:
    """Whether a project's memory bank is rather Roo Code's than Cline's."""
    return has_any(project, ROO) and not has_any(project, CLINE)


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find the user's rules, then the current project's memory bank and rules."""
    if surroundings.home:
        for name, folder in (("", "Documents/Cline/Rules"), ("-home", "Cline/Rules")):
            yield from there(_rules(f"global:instructions{name}", os.path.join(surroundings.home, folder)))
    project = surroundings.project
    bank = os.path.join(project, BANK)
    yield from in_project(surroundings, only(_rules("project:instructions", project), ".clinerules", ".clinerules/"))
    if not is_roos(project):
        yield from in_project(
            surroundings,
            only(_rules("project:bank-instructions", bank), ".clinerules"),
            Root(f"{AGENT}:project", bank, AGENT, "project", "Cline memory bank", POLICY, note=WRITES),
        )


def _rules(name: str, path: str) -> Root:
    return Root(f"{AGENT}:{name}", path, AGENT, "global", "Cline rules", RULES, note=READS, kind="instructions")
