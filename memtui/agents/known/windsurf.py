"""Windsurf, now also named Devin: memories its agent made, the user's one file of rules, and rules of a project.

Memories belong to the workspace they were made in, but lie in one folder; which workspace that was, only the program
knows. A rule over its limit is cut without a word.
"""

import os
from collections.abc import Iterator

from memtui.agents.agent import KnownAgent
from memtui.agents.layout import BOOKKEEPING, along, existing, new_root, only, project_instructions
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "windsurf"
POLICY = Policy(ignore=BOOKKEEPING)
"""Memories; the files are the program's own and may not be text."""
GLOBAL_RULES = Policy(ignore=BOOKKEEPING, whole=("*",), shown_chars=(("global_rules.md", 6_000),))
RULES = Policy(ignore=BOOKKEEPING, whole=(".windsurfrules",), shown_chars=(("*", 12_000),))
"""`trigger` in front matter says when a rule is loaded: always_on, glob, model_decision or manual."""
IN_PROJECT = (".windsurf/rules/", ".windsurfrules", ".devin/rules/")
WRITES = "Windsurf makes and uses these while it works; each belongs to the workspace it was made in."
READS = "Windsurf reads these files, and writes them when asked to."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the user's rules and memories, the administrators' rules, then the current project's."""
    if surroundings.home:
        folder = os.path.join(surroundings.home, ".codeium", "windsurf", "memories")
        yield from existing(
            # Before the memories: at the same place, the earlier root keeps a file.
            only(_rules("global:instructions", folder, "Windsurf global rules", GLOBAL_RULES), "global_rules.md"),
            new_root(f"{ID}:global", folder, "Windsurf memory", POLICY, note=WRITES),
        )
    for program, name in (("Windsurf", "managed"), ("Devin", "managed-devin")):
        places = (os.path.join(surroundings.system_dir, one, "rules") for one in (program.lower(), program))
        found = next(filter(os.path.isdir, places), None)
        if found is not None:
            managed = _rules(f"global:{name}", found, f"{program} rules, managed", RULES)
            yield managed._replace(read_only=True, note="Set by this machine's administrators.")
    paths = along(surroundings, surroundings.project, IN_PROJECT)
    policy = RULES._replace(include=paths)
    yield from project_instructions(surroundings, ID, "Windsurf rules", surroundings.project, policy, READS)


def _rules(name: str, path: str, label: str, policy: Policy) -> Root:
    return new_root(f"{ID}:{name}", path, label, policy, note=READS, kind="instructions")


AGENT = KnownAgent(ID, "Windsurf", roots, policy=POLICY)
