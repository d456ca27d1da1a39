"""AGENTS.md: the file of instructions that many agents read, where no agent that is in use here claims it; and its kin.

It stands last in the table of agents, so a file that Codex, Qwen Code or Mux shows among its own is not shown again.
Sources: docs.warp.dev, page rules (`WARP.md` counts beside AGENTS.md, and before it); jetbrains.com/help/junie, page
about guidelines; the repository github/spec-kit.
"""

import os
from collections.abc import Iterator

from memtui.agents import layout
from memtui.agents.agent import KnownAgent
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Policy, Root

ID = "agents-md"
POLICY = Policy(ignore=layout.BOOKKEEPING, whole=("*",))
READS = "Many agents read this file; people write it."
NAMES = ("AGENTS.md", "AGENTS.local.md", "AGENT.md", "WARP.md")
READERS = (("opencode", "OpenCode"), ("amp", "Amp"))
"""Agents without memories of their own, by the name of their settings folder."""
KIN = (
    ("junie", "Junie guidelines", "Junie reads", (".junie/guidelines.md", ".junie/AGENTS.md")),
    ("spec-kit", "Spec Kit constitution", "Spec Kit's commands read", (".specify/memory/constitution.md",)),
)
"""Similar files of single programs: the name in the id, a label, who reads them, and their paths."""


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Yield the user's files for agents that keep nothing else, then the current project's."""
    config = surroundings.config_home()
    moved = surroundings.variable("OPENCODE_CONFIG_DIR")
    for name, title in READERS if config is not None else ():
        label = f"AGENTS.md of {title}"
        path = surroundings.folder(moved) if moved and name == "opencode" else os.path.join(config or "", name)
        root = layout.new_root(f"{ID}:global:{name}", path, label, POLICY, note=READS, kind="instructions")
        for found in layout.existing(layout.only(root, "AGENTS.md")):
            yield from layout.linked(surroundings, found, ("AGENTS.md",), name)
    project = surroundings.project
    # Only what is there: of a file that another agent has already, nothing must be left here.
    paths = tuple(path for path in layout.along(surroundings, project, NAMES) if layout.has_any(project, (path,)))
    policy = POLICY._replace(include=paths)
    yield from layout.project_instructions(surroundings, ID, "AGENTS.md", project, policy, READS)
    for name, label, who, names in KIN:
        note = f"{who} this file; people write it."
        root = layout.new_root(f"{ID}:project:{name}-instructions", project, label, POLICY, note=note)
        yield from layout.in_project(surroundings, layout.only(root._replace(kind="instructions"), *names))


AGENT = KnownAgent(ID, "AGENTS.md", roots, policy=POLICY, kind="instructions")
