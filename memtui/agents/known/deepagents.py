"""Deep Agents: an AGENTS.md for each agent that it may edit itself, memories beside it, and a project's AGENTS.md.

The lines between two `deepagents:onboarding-name` comments are the program's own: it puts them back when the agent
changes them, so an edit there by hand is lost as well. Source of what is loaded: the repository
langchain-ai/deepagents, `project_utils.py`: both files of a project, and nothing right in the user's folder.
"""

import os
from collections.abc import Iterator

from memtui.agents.agent import HOME, ON_TOP, PROJECT, AgentHome, KnownAgent, Loads, LoadSource, on_demand
from memtui.agents.layout import BOOKKEEPING, existing, id_part, in_project, names_in, new_root, only
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "deepagents"
OWN = AgentHome(at_home=(".deepagents",))
POLICY = Policy(ignore=BOOKKEEPING, whole=("*",))
"""Everything is loaded whole, without its comments."""
UNREAD = "Deep Agents does not load this file: each of its agents has one in a folder of its own."
WRITES = "Deep Agents edits these files while it works; lines between its onboarding-name comments are put back."


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the memories of each of the user's agents, then the current project's."""
    if surroundings.home:
        home = os.path.join(surroundings.home, ".deepagents")
        for name in names_in(home):
            if name.startswith("."):
                continue
            path = os.path.join(home, name)
            label = f"Deep Agents memory, {name}"
            agent = new_root(f"{ID}:global:{id_part(name)}", path, label, POLICY, note=WRITES)
            yield from existing(only(agent, "AGENTS.md", "memories/"))
        shared = new_root(f"{ID}:global", home, "Deep Agents memory", POLICY, note=UNREAD)
        shared = shared._replace(switched_off="by Deep Agents itself")
        yield from existing(only(shared, "AGENTS.md"))
    path = os.path.join(surroundings.project, ".deepagents")
    mine = new_root(f"{ID}:project", path, "Deep Agents memory", POLICY, note=WRITES)
    yield from in_project(surroundings, only(mine, "AGENTS.md"))


LOADS = Loads(
    (
        LoadSource("user memory", HOME, ("agent/AGENTS.md",), comments=True),
        LoadSource("project memory", PROJECT, (".deepagents/AGENTS.md", "AGENTS.md"), comments=True),
        on_demand("other agents", HOME, "*/AGENTS.md", why="Another agent of yours loads it."),
    ),
    in_project=(".deepagents",),
    note=ON_TOP,
)
AGENT = KnownAgent(ID, "Deep Agents", roots, policy=POLICY, home=OWN, loads=LOADS)
