"""Roo Code: rules of the user and of a project, general and by mode, and the memory bank where it is Roo Code's.

The folder of rules that every mode reads is `rules`; one named `rules-code` is read in the mode `code` alone. The
program ended on 15 May 2026 (github/spec-kit#3167); what it left is still found, and those that follow it read it.
"""

import os
from collections.abc import Iterator

from memtui.agents import agent
from memtui.agents.known.cline import BANK, BANK_READ, is_roos
from memtui.agents.layout import BOOKKEEPING, existing, in_project, names_in, new_root, only
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "roo"
OWN = agent.AgentHome(at_home=(".roo",))
POLICY = Policy(index_file="activeContext.md", ignore=BOOKKEEPING, whole=("*",))
"""As Cline's, with a log of decisions."""
RULES = Policy(ignore=BOOKKEEPING, whole=("*",))
ENDED = "Roo Code ended on 15 May 2026; a program that follows it may read these files."
WRITES = f"Roo Code read these files when a task began, and rewrote them while it worked. {ENDED}"
READS = f"Roo Code read these files when a task began. {ENDED}"


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the user's rules, then the current project's rules and memory bank."""
    if surroundings.home:
        home = os.path.join(surroundings.home, ".roo")
        yield from existing(only(_rules("global:instructions", home), *_folders(home)))
    project = surroundings.project
    inside = (f".roo/{name}" for name in _folders(os.path.join(project, ".roo")))
    files = (name for name in names_in(project) if name == ".roorules" or name.startswith(".roorules-"))
    yield from in_project(surroundings, only(_rules("project:instructions", project), *inside, *files))
    if is_roos(project):
        bank = os.path.join(project, BANK)
        yield from in_project(
            surroundings, new_root(f"{ID}:project", bank, "Roo Code memory bank", POLICY, note=WRITES)
        )


def _folders(folder: str) -> tuple[str, ...]:
    return tuple(f"{name}/" for name in names_in(folder) if name == "rules" or name.startswith("rules-"))


def _rules(name: str, path: str) -> Root:
    return new_root(f"{ID}:{name}", path, "Roo Code rules", RULES, note=READS, kind="instructions")


LOADS = agent.Loads(
    (
        agent.LoadSource("user rule", agent.HOME, ("rules/**/*.md", "rules/**/*.txt")),
        agent.LoadSource("rule", agent.PROJECT, (".roo/rules/**/*.md", ".roo/rules/**/*.txt", ".roorules")),
        agent.LoadSource("project instructions", agent.PROJECT, ("AGENTS.md",)),
        agent.on_demand(
            "rule of a mode",
            agent.PROJECT,
            ".roo/rules-*/**/*.md",
            why="It is loaded when a session starts in this mode.",
        ),
        agent.on_demand("memory bank", agent.PROJECT, "memory-bank/**/*.md", why=BANK_READ),
    ),
    in_project=(".roo", ".roorules"),
    note=f"{ENDED} {agent.ON_TOP}",
)
AGENT = agent.KnownAgent(ID, "Roo Code", roots, policy=POLICY, home=OWN, loads=LOADS, also=("roo-code",))
