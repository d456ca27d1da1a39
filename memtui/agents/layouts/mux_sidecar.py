"""What Mux knows of its memories beside the files: pins and counts of uses, from the one file it keeps them in.

Mux names a memory by scope, project and path; here that becomes the root memtui shows it in. The file is read as data:
whatever in it does not look as expected is left out, and it is never written.
"""

import os
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.folders import is_path
from memtui.agents.layouts.mux import homes, project_folder, root_id
from memtui.config.smallfile import read_small
from memtui.config.surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIMIT = 33_554_432
"""Bytes of the file that are still read."""
_MOST = 1_000_000_000
"""No count is believed beyond this."""
_LATEST = 253_402_300_799_000
"""The end of the year 9999, in milliseconds: no time is believed beyond this."""


class Kept(NamedTuple):
    """What Mux keeps of one memory."""

    root: str
    """The id under which Mux's own module finds the root."""
    path: str
    """Relative to the root. As it is in the file, so it can be anything."""
    pinned: bool
    uses: int
    last_used_at: int | None
    last_written_at: int | None


def kept(surroundings: Surroundings) -> "Iterator[Kept]":
    """Give what Mux keeps of each memory, whether the memory is still there or not."""
    for home in homes(surroundings):
        for key, entry in _entries(os.path.join(home.path, "memory-meta.json")):
            scope, _, rest = key.partition(":")
            owner, colon, path = rest.rpartition(":")
            if not is_path(key) or not path or bool(colon) is not (scope != "global"):
                continue
            if scope == "global":
                root = root_id(home, scope)
            elif scope == "project":
                root = root_id(home, scope, project_folder(_plain(owner)))
            elif scope == "workspace":
                root = root_id(home, scope, _plain(owner))
            else:
                continue
            yield Kept(
                root,
                _plain(path),
                entry.get("pinned") is True,
                _number(entry.get("accessCount"), _MOST) or 0,
                _number(entry.get("lastAccessedAt"), _LATEST),
                _number(entry.get("lastWriteAt"), _LATEST),
            )


def _entries(path: str) -> "Iterator[tuple[str, dict[str, object]]]":
    try:
        data = read_small(path, _LIMIT)
    except OSError:
        return
    if data is None:
        return
    import json

    try:
        table: object = json.loads(data)
    except (ValueError, RecursionError):
        return
    entries: object = table.get("entries") if isinstance(table, dict) else None
    for key, entry in entries.items() if isinstance(entries, dict) else ():
        if isinstance(entry, dict):
            yield key, entry


def _plain(text: str) -> str:
    """Take back how Mux writes a colon, a slash and a percent sign inside a part of a name."""
    for written, meant in (("%3A", ":"), ("%2F", "/"), ("%25", "%")):
        text = text.replace(written, meant)
    return text


def _number(value: object, most: int) -> int | None:
    """Read a number above zero; what is too large, or none at all, is None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= most:
        return None
    return int(value)
