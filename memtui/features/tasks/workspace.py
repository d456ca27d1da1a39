"""The lane of a project folder, named so that all processes agree.

It is apart because every front names a workspace, and only those that run tasks need the rest.
"""

import os
from hashlib import sha256
from typing import NamedTuple

from memtui.config.surroundings import Surroundings


class Workspace(NamedTuple):
    """A project folder as a lane."""

    id: str
    """First 16 hex digits of the SHA-256 of its real path."""
    name: str
    """Last part of the path, for people."""
    path: str
    """Absolute, without links."""


def workspace_of(surroundings: Surroundings) -> Workspace:
    """Return the lane of the current project."""
    path = os.path.realpath(surroundings.project)
    return Workspace(sha256(os.fsencode(path)).hexdigest()[:16], os.path.basename(path) or path, path)
