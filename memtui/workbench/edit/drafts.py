"""Unsaved texts: when each must be on disk, who writes it there, and what is said about one that was found there.

Typing is never more than a second ahead of the stored draft, and the last words of a dying process can be written
without asking the event loop anything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memtui.engine.model import Address, Draft
from memtui.errors import MemtuiError
from memtui.workbench.bridge import DRAFTS

if TYPE_CHECKING:
    from memtui.workbench.bridge import Bridge, Engine
    from memtui.workbench.edit.editor import MemoryEditor


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


class EditorDrafts:
    """The unsaved text of the editor: on disk soon after it is typed, and dropped only into history."""

    def __init__(
        self, bridge: Bridge, editor: MemoryEditor, run: Callable[..., None], clock: Callable[[], int]
    ) -> None:
        """Join the parts.

        Args:
            bridge: stores drafts.
            editor: is typed in.
            run: runs a job, as `Editing.run` does.
            clock: milliseconds since the epoch.
        """
        self._bridge, self._editor, self._run, self._clock = bridge, editor, run, clock
        self.keeper = DraftKeeper(bridge.store_draft)
        self.mine: set[Address] = set()
        """Memories whose drafts were made in this session."""
        self.found: dict[Address, tuple[str, ...]] = {}
        """The unsaved texts that were on disk when their memories were opened, by memory: the user's own too."""

    def look_after(self, stored: Draft | None = None) -> None:
        """Have what is typed from now on kept; `stored` is the draft that is on disk already."""
        self.keeper.open(self._editor, lambda: self._editor.draft(self._clock()), stored=stored)

    def keep_then(self, then: Callable[[], None], *, awaited: bool = False) -> None:
        """Bring what is typed to disk and go on; when that fails, say so and stay."""
        drafts = self.keeper.due()
        self.mine.update(draft.address for _, draft in drafts)
        if not drafts:
            then()
            return

        def store(_engine: object) -> None:
            for owner, draft in drafts:
                self.keeper.write(owner, draft)

        def stored(_: None) -> None:
            self._bridge.refresh_drafts()
            then()

        self._run(store, stored, what="keep a draft", otherwise=self.not_kept, lane=DRAFTS, awaited=awaited)

    def not_kept(self, error: MemtuiError) -> None:
        """Say that what is typed is not on disk."""
        self._editor.say(f"Your draft could not be kept, so the text stays open. {error}")

    def write(self) -> None:
        """Bring what is typed to disk, in a thread."""
        for owner, draft in self.keeper.due():
            self.mine.add(draft.address)

            def store(_engine: object, owner: object = owner, draft: Draft = draft) -> None:
                self.keeper.write(owner, draft)

            self._run(store, lambda _: self._bridge.refresh_drafts(), what="keep a draft", lane=DRAFTS)

    def flush(self) -> int:
        """Bring what is typed to disk before this returns, and return how many drafts that were."""
        self.keeper.doubt(self._editor)  # where it was put when it was typed may be damaged by now
        return self.keeper.flush()

    def drop(self, address: Address, *, saved: str | None = None) -> None:
        """Take a stored draft away, not another window's; its text goes to history when it is nowhere else.

        Args:
            address: the memory.
            saved: the text that was saved just now: its half-typed states leave no trace.
        """
        self.mine.discard(address)
        own = self.found.get(address, ()) if saved is None else (saved, *self.found.get(address, ()))

        def drop(engine: Engine) -> None:
            engine.drafts.drop(address, own=own, trace=saved is None)

        self._run(drop, lambda _: self.dropped(), what="drop a draft", lane=DRAFTS)

    def dropped(self) -> None:
        """A stored draft is gone; what was typed since then needs a new one."""
        self._bridge.refresh_drafts()
        self.write()

    def settle(self) -> None:
        """Bring what is typed to disk; when nothing is unsaved any more, take the stored draft away."""
        editor = self._editor
        if editor.dirty:
            self.write()
        elif editor.subject is not None and self.keeper.has_stored(editor) and not editor.asking:
            self.look_after()
            self.drop(editor.subject.address)


def offer_words(drafts: Sequence[Draft]) -> str:
    """Say at the start what an earlier run left unsaved."""
    names = ", ".join(draft.address.name for draft in drafts[:3]) + (", ..." if len(drafts) > 3 else "")
    if len(drafts) == 1:
        return f"A draft was never saved: {names}. Open it to restore or discard it."
    return f"{len(drafts)} drafts were never saved: {names}. Open each to restore or discard it."


def _same(stored: Draft | None, draft: Draft) -> bool:
    """Compare what a restart would bring back: text and base, not the moment or the cursor."""
    return stored is not None and (stored.address, stored.base_sha256, stored.text) == (
        draft.address,
        draft.base_sha256,
        draft.text,
    )
