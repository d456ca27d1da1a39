"""AGENTS.md: the file of instructions that many agents read, where no agent that is in use here claims it; and its kin.

It stands last in the table of agents, so a file that Codex, Qwen Code or Mux shows among its own is not shown again.
Sources: docs.warp.dev, page rules (`WARP.md` counts beside AGENTS.md, and before it); jetbrains.com/help/junie, page
about guidelines; the repository github/spec-kit.
"""

import os
from collections.abc import Iterator

from memtui.agents.agent import KnownAgent
from memtui.agents.layout import BOOKKEEPING, along, has_any, here, in_project, linked, only, there
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "agents-md"
POLICY = Policy(ignore=BOOKKEEPING, whole=("*",))
READS = "Many agents read this file; people write it."
NAMES = ("AGENTS.md", "AGENTS.local.md", "AGENT.md", "WARP.md")
READERS = (("opencode", "OpenCode"), ("amp", "Amp"))
"""Agents without memories of their own, by the name of their folder of settings."""
KIN = (
    ("junie", "Junie guidelines", "Junie reads", (".junie/guidelines.md", ".junie/AGENTS.md")),
    ("spec-kit", "Spec Kit constitution", "Spec Kit's commands read", (".specify/memory/constitution.md",)),
)
"""Files of a project like it, each of one program: its name in the id, a label, who reads, and their paths."""


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Find the user's files for agents that keep nothing else, then the current project's."""
    config = surroundings.config_home()
    moved = surroundings.variable("OPENCODE_CONFIG_DIR")
    for name, title in READERS if config is not None else ():
        label = f"AGENTS.md of {title}"
        path = surroundings.folder(moved) if moved and name == "opencode" else os.path.join(config or "", name)
        root = Root(f"{ID}:global:{name}", path, ID, "global", label, POLICY, note=READS, kind="instructions")
        for found in there(only(root, "AGENTS.md")):
            yield from linked(surroundings, found, ("AGENTS.md",), name)
    project = surroundings.project
    # Only what is there: of a file that another agent has already, nothing must be left here.
    paths = tuple(path for path in along(surroundings, project, NAMES) if has_any(project, (path,)))
    policy = POLICY._replace(include=paths)
    yield from here(surroundings, ID, "AGENTS.md", project, policy, READS)
    for name, label, who, names in KIN:
        note = f"{who} this file; people write it."
        root = Root(f"{ID}:project:{name}-instructions", project, ID, "project", label, POLICY, note=note)
        yield from in_project(surroundings, only(root._replace(kind="instructions"), *names))


AGENT = KnownAgent(ID, "AGENTS.md", roots, policy=POLICY, kind="instructions")
