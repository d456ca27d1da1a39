"""Which lane somebody stands in: the project folder, under a name that two processes make alike.

It is apart because every door names a workspace, and only who works a lane off needs the rest.
"""

import os
from hashlib import sha256
from typing import NamedTuple

from memtui.config.surroundings import Surroundings


class Workspace(NamedTuple):
    """A project folder as a lane."""

    id: str
    """The first 16 hexadecimal digits of the SHA-256 of its real path."""
    name: str
    """For people: the last part of the path."""
    path: str
    """The project folder; absolute, without links."""


def workspace_of(surroundings: Surroundings) -> Workspace:
    """Give the lane of where somebody stands."""
    path = os.path.realpath(surroundings.project)
    return Workspace(sha256(os.fsencode(path)).hexdigest()[:16], os.path.basename(path) or path, path)
