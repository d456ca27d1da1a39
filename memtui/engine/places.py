"""Where the user was, for the next start: one small file per place memtui was started in, in the state folder.

Whoever keeps a place says what is in it; a file that is cut, garbled or of another kind is no place, and that is said.
"""

import binascii
import os
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.disk import state_file

_FORMAT = "memtui place 1"
_FOLDER = "places"
_LARGEST = 4 * 1024 * 1024


class Place(NamedTuple):
    """What was found."""

    value: object
    """As it was kept: what JSON can hold; None when there is nothing."""
    damaged: bool = False
    """Something is there that is not what memtui writes."""


NOWHERE = Place(None)


class KeptPlaces:
    """The places in one state folder."""

    def __init__(self, state_dir: str, *, read_only: bool = False) -> None:
        """Take the folder, and whether nothing may be written there."""
        self._folder = os.path.join(state_dir, _FOLDER)
        self._read_only = read_only

    def load(self, name: str) -> Place:
        """Read what was kept under a name, whatever anybody may have put there; touches no memory."""
        try:
            data = state_file.read(self._folder, _file_of(name), most=_LARGEST)
        except FileNotFoundError:
            return NOWHERE
        except (OSError, ValueError):
            return Place(None, damaged=True)
        head, _, body = data.partition(b"\n")
        if head != _head(body):
            return Place(None, damaged=True)
        import json

        try:
            return Place(json.loads(body))
        except (ValueError, RecursionError):
            return Place(None, damaged=True)

    def keep(self, name: str, value: object) -> bool:
        """Keep where the user is, for `load` after the next start.

        Args:
            name: what it is found under.
            value: what JSON can hold.

        Returns:
            Whether it was kept; if not, what was kept before still is.
        """
        if self._read_only:
            return False
        import json

        body = json.dumps(value, separators=(",", ":")).encode()
        try:
            state_file.write(self._folder, _file_of(name), _head(body) + b"\n" + body)
        except OSError:
            return False  # it is only a place: the next change tries again
        return True


def forget(state_dir: str, holds: Callable[[str], bool]) -> None:
    """Delete the places of which `holds` says so, such as one with a certain word in its filter."""

    def garbled_or_held(data: bytes) -> bool:
        import json

        try:
            return holds(json.dumps(json.loads(data.partition(b"\n")[2]), ensure_ascii=False))
        except (ValueError, RecursionError):
            return True

    state_file.remove(os.path.join(state_dir, _FOLDER), garbled_or_held)


def _head(body: bytes) -> bytes:
    return f"{_FORMAT} {binascii.crc32(body):08x}".encode()


def _file_of(name: str) -> str:
    return sha256(os.fsencode(name)).hexdigest()[:32]
