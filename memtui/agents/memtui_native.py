"""memtui's own roots: global, project and workspace, the only ones that may not exist yet.

Their folders are memtui's to create, so an empty machine has exactly these three.
"""

import os

from memtui.config.surroundings import Surroundings, folder_id
from memtui.engine.model import Policy, Root

POLICY = Policy(write_bytes=102_400, max_files=1_000)
"""The limits of the memory tool, with their own errors."""


def roots(surroundings: Surroundings, *, all_projects: bool) -> tuple[Root, ...]:
    """Give memtui's own roots."""
    memory = os.path.join(surroundings.data_dir, "memory")
    project = surroundings.project
    in_checkout = os.path.join(project, ".memtui", "memory")
    on_host = os.path.join(memory, "project", folder_id(project))
    return (
        Root("memtui:global", os.path.join(memory, "global"), "memtui", "global", "memtui", POLICY),
        Root(
            "memtui:project",
            in_checkout if surroundings.project_memory == "checkout" else on_host,
            "memtui",
            "project",
            "memtui",
            POLICY,
            in_checkout=surroundings.project_memory == "checkout" and surroundings.checkout is not None,
            project=project,
        ),
        Root(
            "memtui:workspace",
            os.path.join(memory, "workspace", surroundings.workspace),
            "memtui",
            "workspace",
            "memtui",
            POLICY,
            project=project,
        ),
    )
