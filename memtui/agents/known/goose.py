"""Goose: one text file for each category, each holding many entries, for the user and for a project; and its hints.

An entry may begin with a line of tags, and a blank line ends it. The user's entries are given to the agent at the start
of a session, so every one of them costs; of those with the same tags in one file, only the last is.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent, layout
from memtui.agents.loaded_text import hidden_entries
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "goose"
OWN = agent.AgentHome(in_config=("goose",))
POLICY = Policy(ignore=layout.BOOKKEEPING, whole=("*",), entries=(("*.txt", "goose"),), suffix=".txt")
"""Goose reads `.txt` files right below the folder and nothing else."""
HINTS = Policy(ignore=layout.BOOKKEEPING, whole=("*",))
WRITES = "Goose adds entries to these files and removes them while it works, after asking."
LABEL = "Goose hints"
READS = "Goose reads these files at the start of a session."

_LOOKS = "The agent reads it when it looks for it."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the user's memories and hints, then the current project's."""
    config = surroundings.config_home()
    if config is not None:
        home = os.path.join(config, "goose")
        hints = layout.new_root(f"{ID}:global:instructions", home, LABEL, HINTS, note=READS)
        yield from layout.existing(
            layout.new_root(f"{ID}:global", os.path.join(home, "memory"), "Goose memory", POLICY, note=WRITES),
            layout.only(hints._replace(kind="instructions"), ".goosehints"),
        )
    project = surroundings.project
    mine = layout.new_root(f"{ID}:project", project, "Goose memory", POLICY, note=WRITES)
    yield from layout.on_the_way(surroundings, mine, os.path.join(".goose", "memory"))
    paths = layout.along(surroundings, project, (".goosehints", ".goosehints.local"))
    yield from layout.project_instructions(surroundings, ID, LABEL, project, HINTS._replace(include=paths), READS)


LOADS = agent.Loads(
    (
        agent.LoadSource("user hints", agent.HOME, (".goosehints", "AGENTS.md")),
        agent.LoadSource("project hints", agent.CHAIN, (".goosehints", ".goosehints.local", "AGENTS.md")),
        agent.LoadSource("user memories", agent.HOME, ("memory/*.txt",), hidden=hidden_entries),
        agent.on_demand("project memories", agent.CHAIN, ".goose/memory/*.txt", why=_LOOKS),
    ),
    in_project=(".goose", ".goosehints"),
    note=agent.ON_TOP,
)
AGENT = agent.KnownAgent(ID, "Goose", roots, policy=POLICY, home=OWN, loads=LOADS)
