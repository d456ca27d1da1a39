"""The notice that somebody's version took back what an edit made through memtui had just changed.

An agent that writes from a stale base undoes an edit without knowing it; nothing on disk tells, so the ledger is asked.
Lines are counted, not aligned: text that was only moved is not lost, and the answer costs one pass whatever the texts
are. It is apart so that two texts are compared without a disk.
"""

from collections import Counter
from typing import NamedTuple

from memtui.engine.ledger.ledger import Ledger
from memtui.engine.model import Address, Notice
from memtui.errors import MemtuiError

RECENT_MS = 600_000
"""An edit older than this is no longer what somebody overwrites by accident."""


def overwritten(
    ledger: Ledger, uid: int, address: Address, before: str | None, theirs: str, data: bytes, now: int
) -> Notice | None:
    """Compare a version found on disk with the last edit made through memtui.

    Args:
        ledger: the ledger.
        uid: its id of the root.
        address: the memory.
        before: the version that was there until now.
        theirs: the version that is there now, recorded already.
        data: its content.
        now: milliseconds since the epoch.

    Returns:
        The notice, or None when nothing of a recent edit was lost, or was lost before.
    """
    last = ledger.audit.latest_own(uid, address.path)
    if last is None:
        return None
    after, _, at, base = last
    if after is None or now - at > RECENT_MS:
        return None
    yours = _text(ledger, after)
    if yours is None:
        return None
    start = (_text(ledger, base) if base is not None else None) or ""
    found = lost_lines(start, yours, data.decode("utf-8", "replace"))
    if not found:
        return None
    previous = None if before == after else _text(ledger, before)
    if previous is not None and lost_lines(start, yours, previous):
        return None
    lines = len(found.lost) + len(found.returned)
    count = "a line" if lines == 1 else f"{lines} lines"
    return Notice(
        "overwritten",
        f"Your edit of {address} was overwritten: another program took back {count} of it. Both texts are in history.",
        address,
        base=base,
        yours=after,
        theirs=theirs,
        at=now,
    )


def _text(ledger: Ledger, sha: str | None) -> str | None:
    if sha is None:
        return None
    try:
        data = ledger.versions.blob(sha)
    except MemtuiError:
        return None  # redacted or damaged: without the text there is nothing to compare
    return None if data is None else data.decode("utf-8", "replace")


class TakenBack(NamedTuple):
    """What of an edit is no longer so; both empty when all of it still stands."""

    lost: tuple[str, ...]
    """Lines the edit had added or changed, that are gone."""
    returned: tuple[str, ...]
    """Lines the edit had removed or replaced, that are there again."""

    def __bool__(self) -> bool:
        return bool(self.lost or self.returned)


def lost_lines(before: str, after: str, later: str) -> TakenBack:
    """Compare an edit with the version somebody else wrote over it.

    Args:
        before: what the edit started from.
        after: what the edit wrote.
        later: what is there now.

    Returns:
        Whole lines without their line ends, in the order of the texts, as often as they are concerned. Blank lines and
        differences of line ends never count.
    """
    old, new, now = _lines(before), _lines(after), _lines(later)
    counts = {text: Counter(text) for text in (old, new, now)}
    return TakenBack(
        _picked(new, counts[new] - counts[old], counts[new] - counts[now]),
        _picked(now, counts[old] - counts[new], counts[now] - counts[new]),
    )


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in (raw.rstrip("\r") for raw in text.split("\n")) if line.strip())


def _picked(text: tuple[str, ...], changed: Counter[str], undone: Counter[str]) -> tuple[str, ...]:
    """The lines of a text that are in both counts, as often as they are in both; the last of several equal lines."""
    wanted = changed & undone
    picked: list[str] = []
    for line in reversed(text):
        if wanted[line] > 0:
            wanted[line] -= 1
            picked.append(line)
    return tuple(reversed(picked))
