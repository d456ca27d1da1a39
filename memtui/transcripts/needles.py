"""Whether what is new in a session file can be about memories at all, found by words in it before a line is parsed.

Files of which nothing is about memories are most of them (`follow.skim`). It is apart because only this knows what a
root is called in a session.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from memtui.engine.model import Root
from memtui.transcripts.follow import Needle


def needles(roots: Iterable[Root]) -> tuple[Needle, ...]:
    """Give words of which at least one stands in each line that names a memory, each once.

    A path may be relative to any folder, so it is the last part of a root's path with a slash behind it or at its end,
    or the name of a file in roots of which only some files count; as JSON has them.
    """
    found: dict[bytes, tuple[bytes, ...]] = {}
    for root in roots:
        include = root.policy.include
        names = [name.rstrip("/").rpartition("/")[2] for name in include or ()]
        if include is None or any(name.endswith("/") for name in include):
            last = os.path.basename(root.path.rstrip("/"))
            found |= {one: (one + b"/", b"/" + one + b'"') for one in _as_json(last)}
        found |= {one: (one,) for name in names for one in _as_json(name)}
    return tuple(sorted(found.items()))


def _as_json(name: str) -> set[bytes]:
    """A name as it stands in JSON, with and without escapes."""
    forms = (json.dumps(name, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
    return {form.encode("utf-8", "surrogateescape") for form in forms}
