"""Whom git names for the lines of a file: from git's own files, along first parents, as far back as they are looked at.

Anybody can write what a commit says of its author, so this tells less than a session does. Apart from the rest because
git's objects are read only where memtui itself does not know who wrote a line.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtui.diff.lines import split_lines
from memtui.engine.disk.git_history import CheckoutHistory, CommittedChange, blob, history
from memtui.engine.disk.git_objects import GitObjects
from memtui.engine.ledger.origins import inherited

_AUTHOR = re.compile(rb"^author (.{0,200}?) ?<([^>\n]{0,200})>", re.M)


class CommittedLine(NamedTuple):
    """The commit that a line came with; all empty where that was before the commits that are looked at."""

    commit: str = ""
    """In hex."""
    at: int = 0
    """When, in milliseconds."""
    author: str = ""
    """As the commit says it: nobody checked."""


def committed(path: str, lines: Sequence[str]) -> Sequence[CommittedLine | None]:
    """Say with which commit each line of a file came.

    Args:
        path: of the file.
        lines: what is in it now.

    Returns:
        For each line; None: it is not committed, or nobody can say.
    """
    folder, name = os.path.split(os.path.realpath(path))
    found = history(folder)
    if found is None:
        return [None] * len(lines)
    past, objects = found
    own = os.path.relpath(os.path.join(folder, name), past.checkout)
    changes = [*_changes(past, own)]
    old = _lines(objects, changes[-1].old if changes else past.names.get(own))
    first = CommittedLine(past.root, past.since, _author(objects, past.root)) if past.root else CommittedLine()
    known: Sequence[CommittedLine] = [first] * len(old)
    for change in reversed(changes):
        new = _lines(objects, change.new)
        here = CommittedLine(change.commit, change.at, _author(objects, change.commit))
        old, known = new, [one or here for one in inherited(old, known, new)]
    return [one if one is not None and one.commit else None for one in inherited(old, known, lines)]


def _changes(past: CheckoutHistory, path: str) -> Iterator[CommittedChange]:
    """What was done to a file, the newest first, also under the names it had before it was moved as it was."""
    came = {(new, commit): old for (old, commit), new in past.moved.items()}
    waiting = list(past.changes.get(path, ()))
    while waiting:
        change = waiting.pop(0)
        before = came.get((change.path, change.commit)) if change.old is None else None
        if before is None:
            yield change
        else:
            older = [one.commit for one in past.changes[before]].index(change.commit) + 1
            waiting = list(past.changes[before][older:])


def _lines(objects: GitObjects, sha: bytes | None) -> list[str]:
    return split_lines((blob(objects, sha) or b"").decode("utf-8", "surrogateescape"))


def _author(objects: GitObjects, commit: str) -> str:
    found = objects.read(bytes.fromhex(commit))
    named = _AUTHOR.search(found[1].partition(b"\n\n")[0]) if found is not None else None
    return (named[1] or named[2]).decode("utf-8", "replace") if named else ""
