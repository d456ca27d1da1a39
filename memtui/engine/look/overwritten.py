"""The notice that somebody's version took back what an edit made through memtui had just changed.

An agent that writes from a stale base undoes an edit without knowing it; nothing on disk tells, so the ledger is asked.
"""

from memtui.engine.ledger import Ledger
from memtui.engine.model import Address, Notice
from memtui.engine.save.overwrites import lost_lines
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
