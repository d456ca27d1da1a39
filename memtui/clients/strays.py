"""What a memtui that was killed left beside an agent's configuration: found, named and removed.

Such a file holds the agent's settings, keys included, and would lie there for ever. Its text is kept in memtui's own
folder first, unless it is there already, so that not even a kill in the middle of somebody else's save loses one.
"""

import json
import os
from collections.abc import Iterable
from hashlib import sha256

from memtui.clients import disk


def own_folder(state_dir: str) -> str:
    """Return where memtui keeps what it knows of agents' configurations."""
    return os.path.join(state_dir, "clients")


def found(folders: Iterable[str]) -> list[str]:
    """List what killed processes left in folders.

    Raises:
        StorageError: the disk reported an error.
    """
    return [path for folder in dict.fromkeys(folders) for path in disk.strays(folder)]


def sweep(folders: Iterable[str], state_dir: str) -> list[str]:
    """Remove what killed processes left in folders.

    Args:
        folders: memtui's own, and those of configurations.
        state_dir: where memtui keeps its own files.

    Returns:
        What was removed.
    """
    paths = found(folders)
    if not paths:
        return []
    own = own_folder(state_dir)
    known = _known(own)
    for path in paths:
        data = disk.peek(path)
        digest = sha256(data).hexdigest()
        if data and digest not in known and os.path.dirname(path) != own:
            disk.keep(os.path.join(own, f"stray-{digest[:16]}.backup"), data)
        disk.forget(path)
    return paths


def _known(own: str) -> set[str]:
    """Give the sha-256 of every text that is kept already, or that memtui made itself."""
    digests: set[str] = set()
    for name in disk.names_in(own):
        if name.endswith((".backup", ".before")):
            digests.add(sha256(disk.peek(os.path.join(own, name))).hexdigest())
        elif name.endswith(".json"):
            digests |= _made(disk.peek(os.path.join(own, name)))
    return digests


def _made(record: bytes) -> set[str]:
    try:
        return set(map(str, json.loads(record)["after"]))
    except (ValueError, KeyError, TypeError):
        return set()
