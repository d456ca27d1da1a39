"""memtui's own roots: global, project and workspace, the only ones that may not exist yet.

Their folders are memtui's to create, so an empty machine has exactly these three. They are apart from
discovery because each agent has one file.
"""

import os
from collections.abc import Iterator

from memtui.config.surroundings import Surroundings, folder_id
from memtui.engine.model import TYPES, Policy, Root

ID = "memtui"
POLICY = Policy(write_bytes=102_400, max_files=1_000, ignore=(".DS_Store", ".git"), types=TYPES)
"""The limits of the memory tool, with their own errors."""


def roots(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    """Give memtui's own roots, and what an earlier setting of `project_memory` left behind."""
    memory = os.path.join(surroundings.data_dir, "memory")
    yield Root(f"{ID}:global", os.path.join(memory, "global"), ID, "global", "memtui", POLICY)
    yield from _project(surroundings, os.path.join(memory, "project"))
    workspaces = os.path.join(memory, "workspace")
    yield Root(
        f"{ID}:workspace",
        os.path.join(workspaces, surroundings.workspace),
        ID,
        "workspace",
        "memtui",
        POLICY,
        project=surroundings.project,
    )
    notes = notes_root(surroundings)
    if os.path.isdir(notes.path):
        yield notes
    if all_projects:
        yield from _others(os.path.join(memory, "project"), "project", folder_id(surroundings.project))
        yield from _others(workspaces, "workspace", surroundings.workspace)


def notes_root(surroundings: Surroundings) -> Root:
    """Give the folder of what `memtui observe` keeps of a project; of no kind that agents are given unasked."""
    project = surroundings.project
    return Root(
        f"{ID}:notes",
        os.path.join(surroundings.data_dir, "notes", folder_id(project)),
        ID,
        "project",
        "memtui, notes",
        POLICY._replace(entries=(("*.md", "notes"),)),
        project=project,
        kind="notes",
    )


def _project(surroundings: Surroundings, hosted: str) -> Iterator[Root]:
    project = surroundings.project
    places = {
        "checkout": Root(
            f"{ID}:project:checkout",
            os.path.join(project, ".memtui", "memory"),
            ID,
            "project",
            "memtui, in the checkout",
            POLICY,
            in_checkout=surroundings.checkout is not None,
            project=project,
        ),
        "host": Root(
            f"{ID}:project:host",
            os.path.join(hosted, folder_id(project)),
            ID,
            "project",
            "memtui, on this host",
            POLICY,
            project=project,
        ),
    }
    chosen = places.pop(surroundings.project_memory)
    yield chosen._replace(id=f"{ID}:project", label="memtui", aliases=(chosen.id,))
    for other in places.values():
        if os.path.isdir(other.path):
            yield other._replace(note="From before project_memory was changed.")


def _others(folder: str, scope: str, current: str) -> Iterator[Root]:
    from memtui.agents.layout import names_in

    for name in names_in(folder):
        path = os.path.join(folder, name)
        if name != current and os.path.isdir(path):
            yield Root(f"{ID}:{scope}:{name}", path, ID, scope, f"memtui, {name}", POLICY)
