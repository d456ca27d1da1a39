"""Goose: one text file for each category, each holding many entries, for the user and for a project; and its hints.

An entry may begin with a line of tags, and a blank line ends it. All the user's entries are given to the agent at the
start of a session, so every one of them costs.
"""

import os
from collections.abc import Iterator

from memtui.agents import instructions
from memtui.agents.places import BOOKKEEPING, on_the_way, only, there
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

AGENT = "goose"
POLICY = Policy(ignore=BOOKKEEPING, whole=("*",), entries=(("*.txt", "goose"),), suffix=".txt")
"""Goose reads `.txt` files right below the folder and nothing else."""
HINTS = Policy(ignore=BOOKKEEPING, whole=("*",))
WRITES = "Goose adds entries to these files and removes them while it works, after asking."
LABEL = "Goose hints"
READS = "Goose reads these files at the start of a session."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find the user's memories and hints, then the current project's."""
    config = surroundings.config_home()
    if config is not None:
        home = os.path.join(config, "goose")
        hints = Root(f"{AGENT}:global:instructions", home, AGENT, "global", LABEL, HINTS, note=READS)
        yield from there(
            Root(f"{AGENT}:global", os.path.join(home, "memory"), AGENT, "global", "Goose memory", POLICY, note=WRITES),
            only(hints._replace(kind="instructions"), ".goosehints"),
        )
    project = surroundings.project
    mine = Root(f"{AGENT}:project", project, AGENT, "project", "Goose memory", POLICY, note=WRITES)
    yield from on_the_way(surroundings, mine, os.path.join(".goose", "memory"))
    paths = instructions.along(surroundings, project, (".goosehints", ".goosehints.local"))
    yield from instructions.here(surroundings, AGENT, LABEL, project, HINTS._replace(include=paths), READS)
