"""Whether what is new in a session file can be about memories at all, found by words in it before a line is parsed.

Files of which nothing is about memories are most of them (`follow.skim`). It is apart because only this knows what a
root is called in a session.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from memtui.engine.model import Root
from memtui.transcripts.follow import ENDING, Needle


def needles(roots: Iterable[Root]) -> tuple[Needle, ...]:
    """Give words of which at least one stands in each line that names a memory, each once.

    A path may be relative to any folder, so it is the last part of a folder's path with a slash behind it or at its
    end, or the name of a file in roots of which only some files count; as JSON has them.
    """
    found: dict[bytes, tuple[bytes, ...]] = {}
    files: set[bytes] = set()
    for root in roots:
        for name in (root.path.rstrip("/") + "/",) if root.policy.include is None else root.policy.include:
            last = _as_json(os.path.basename(name.rstrip("/")))
            if name.endswith("/"):
                found |= {one: (one + b"/", b"/" + one + b'"') for one in last}
            else:
                files |= last
    found |= {one: (one,) for one in files if not one.endswith(ENDING)}
    ended = tuple(sorted(one for one in files if one.endswith(ENDING)))
    return (*sorted(found.items()), *(((ENDING, ended),) if ended else ()))


def _as_json(name: str) -> set[bytes]:
    """A name as it stands in JSON, with and without escapes."""
    forms = (json.dumps(name, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
    return {form.encode("utf-8", "surrogateescape") for form in forms}
