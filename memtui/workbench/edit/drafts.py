"""When an unsaved text must be on disk, and what is said about one that was found there.

Typing is never more than a second ahead of the stored draft, and the last words of a dying process can be written
without asking the event loop anything. Nothing here draws or reaches the engine: it is given what to call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memtui.engine.model import Draft

WRITE_AFTER = 0.6
"""Seconds from the first unsaved key to the moment its draft is written; the promise is one second."""

Source = Callable[[], "Draft | None"]
"""Gives the unsaved text of one editor as it is now; None when there is none."""


class DraftKeeper:
    """Knows which unsaved texts exist and which of them are not on disk yet; safe to ask from any thread."""

    def __init__(self, save: Callable[[Draft], None]) -> None:
        """Take the one call that stores a draft.

        Args:
            save: stores a draft before it returns; called by whoever calls `write` or `flush`.
        """
        self._save = save
        self._sources: dict[object, Source] = {}
        self._stored: dict[object, Draft] = {}
        self._lock = threading.Lock()

    def open(self, owner: object, source: Source, *, stored: Draft | None = None) -> None:
        """Start to look after the text of `owner`; `stored` is its draft that is on disk already."""
        with self._lock:
            self._sources[owner] = source
            if stored is None:
                self._stored.pop(owner, None)
            else:
                self._stored[owner] = stored

    def close(self, owner: object) -> None:
        """Stop looking after the text of `owner`."""
        with self._lock:
            self._sources.pop(owner, None)
            self._stored.pop(owner, None)

    def doubt(self, owner: object) -> None:
        """Take the draft of `owner` for one that may no longer be on disk; it is due then."""
        with self._lock:
            self._stored.pop(owner, None)

    def has_stored(self, owner: object) -> bool:
        """Whether a draft of `owner` is on disk."""
        with self._lock:
            return owner in self._stored

    def due(self) -> tuple[tuple[object, Draft], ...]:
        """Return the drafts that differ from what is on disk, with their owners."""
        with self._lock:
            sources = list(self._sources.items())
            stored = dict(self._stored)
        found = [(owner, draft) for owner, source in sources if (draft := source()) is not None]
        return tuple((owner, draft) for owner, draft in found if not _same(stored.get(owner), draft))

    def write(self, owner: object, draft: Draft) -> None:
        """Store one draft and remember that it is on disk.

        Raises:
            MemtuiError: what the store said; the draft stays due.
        """
        self._save(draft)
        with self._lock:
            if owner in self._sources:
                self._stored[owner] = draft

    def flush(self) -> int:
        """Store everything that is due, and return how many drafts that were."""
        drafts = self.due()
        for owner, draft in drafts:
            self.write(owner, draft)
        return len(drafts)


def offer_words(drafts: Sequence[Draft]) -> str:
    """Say at the start what an earlier run left unsaved."""
    names = ", ".join(draft.address.name for draft in drafts[:3]) + (", ..." if len(drafts) > 3 else "")
    if len(drafts) == 1:
        return f"A draft was never saved: {names}. Open it to restore or discard it."
    return f"{len(drafts)} drafts were never saved: {names}. Open each to restore or discard it."


class Question(NamedTuple):
    """What the user is asked about a draft that was found when its memory is opened."""

    draft: Draft
    stale: bool
    """Whether the memory changed on disk since the draft was started."""
    lines: int
    """How many lines of the draft are not in the text on disk."""
    gone: bool = False
    """Whether the memory it was begun in is deleted."""

    def words(self, when: str) -> str:
        """Say it in one line; `when` is the draft's time in words."""
        size = f"{self.lines} line{'' if self.lines == 1 else 's'} of yours"
        since = f", and the memory {'was deleted' if self.gone else 'changed'} since" if self.stale else ""
        return f"A draft from {when} was never saved: {size}{since}. The history keeps it either way."


def question_for(draft: Draft, disk_text: str, disk_sha256: str | None) -> Question | None:
    """Decide whether a stored draft is worth a question.

    Args:
        draft: what was found.
        disk_text: the text on disk, decoded as the editor would show it, or the last one there was.
        disk_sha256: its version; None when there is no file.

    Returns:
        None when the draft says nothing the disk does not say.
    """
    if disk_sha256 is not None and draft.text == disk_text:
        return None
    known = set(disk_text.splitlines())
    lines = sum(1 for line in draft.text.splitlines() if line not in known)
    gone = disk_sha256 is None and draft.base_sha256 is not None
    return Question(draft, stale=draft.base_sha256 != disk_sha256, lines=lines, gone=gone)


def _same(stored: Draft | None, draft: Draft) -> bool:
    """Compare what a restart would bring back: text and base, not the moment or the cursor."""
    return stored is not None and (stored.address, stored.base_sha256, stored.text) == (
        draft.address,
        draft.base_sha256,
        draft.text,
    )
