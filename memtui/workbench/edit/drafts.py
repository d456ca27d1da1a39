"""Drafts: when unsaved text is stored, who stores it, and what is said of a draft found at the start.

Typing is never more than a second ahead of the stored draft, and a dying process can store the last text without the
event loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from textual.screen import Screen

from memtui.engine.model import Address, Draft
from memtui.errors import MemtuiError
from memtui.workbench.bridge import DRAFTS

if TYPE_CHECKING:
    from memtui.workbench.bridge import Bridge, Engine
    from memtui.workbench.edit.editor import MemoryEditor


S = TypeVar("S", bound=Screen[Any])
Source = Callable[[], "Draft | None"]
"""Returns the unsaved text of one editor as a draft; None when nothing is unsaved."""


class DraftKeeper:
    """Registry of unsaved texts and of which are stored; thread-safe."""

    def __init__(self, save: Callable[[Draft], None]) -> None:
        """`save` stores a draft before it returns."""
        self._save = save
        self._sources: dict[object, Source] = {}
        self._stored: dict[object, Draft] = {}
        self._lock = threading.Lock()

    def open(self, owner: object, source: Source, *, stored: Draft | None = None) -> None:
        """Start to keep the text of `owner`; `stored` is its draft that is already on disk."""
        with self._lock:
            self._sources[owner] = source
            if stored is None:
                self._stored.pop(owner, None)
            else:
                self._stored[owner] = stored

    def close(self, owner: object) -> None:
        with self._lock:
            self._sources.pop(owner, None)
            self._stored.pop(owner, None)

    def invalidate(self, owner: object) -> None:
        """Treat the stored draft of `owner` as possibly lost, so that it is due again."""
        with self._lock:
            self._stored.pop(owner, None)

    def has_stored(self, owner: object) -> bool:
        with self._lock:
            return owner in self._stored

    def due(self) -> tuple[tuple[object, Draft], ...]:
        """Return the drafts that differ from what is stored, with their owners."""
        with self._lock:
            sources = list(self._sources.items())
            stored = dict(self._stored)
        found = [(owner, draft) for owner, source in sources if (draft := source()) is not None]
        return tuple((owner, draft) for owner, draft in found if not _same(stored.get(owner), draft))

    def write(self, owner: object, draft: Draft) -> None:
        """Store one draft and note that it is on disk; on an error it stays due."""
        self._save(draft)
        with self._lock:
            if owner in self._sources:
                self._stored[owner] = draft

    def flush(self) -> int:
        """Store everything that is due; return the number of drafts."""
        drafts = self.due()
        for owner, draft in drafts:
            self.write(owner, draft)
        return len(drafts)


class EditorDrafts:
    """Draft of the editor's text: stored soon after typing, and dropped only into history."""

    def __init__(
        self, bridge: Bridge, editor: MemoryEditor, run: Callable[..., None], clock: Callable[[], int]
    ) -> None:
        """`run` runs a job as `EditFlow.run` does."""
        self._bridge, self._editor, self._run, self._clock = bridge, editor, run, clock
        self.keeper = DraftKeeper(bridge.store_draft)
        self.mine: set[Address] = set()
        self.found: dict[Address, tuple[str, ...]] = {}
        """Draft texts found on disk when a memory was opened, by memory: they count as the user's own."""

    def track(self, stored: Draft | None = None) -> None:
        """Keep what is typed from now on; `stored` is the draft that is already on disk."""
        self.keeper.open(self._editor, lambda: self._editor.draft(self._clock()), stored=stored)

    def store_then(self, then: Callable[[], None], *, awaited: bool = False) -> None:
        """Store what is typed, then call `then`; on a failure say so and stay."""
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
        self._editor.say(f"Your draft could not be kept, so the text stays open. {error}")

    def write(self) -> None:
        for owner, draft in self.keeper.due():
            self.mine.add(draft.address)

            def store(_engine: object, owner: object = owner, draft: Draft = draft) -> None:
                self.keeper.write(owner, draft)

            self._run(store, lambda _: self._bridge.refresh_drafts(), what="keep a draft", lane=DRAFTS)

    def flush(self) -> int:
        self.keeper.invalidate(self._editor)  # where it was put when it was typed may be damaged by now
        return self.keeper.flush()

    def drop(self, address: Address, *, saved: str | None = None) -> None:
        """Drop the stored draft but not another window's; its text goes to history unless it is stored elsewhere.

        `saved` is the text that was just saved: its half-typed states leave no trace.
        """
        self.mine.discard(address)
        own = self.found.get(address, ()) if saved is None else (saved, *self.found.get(address, ()))

        def drop(engine: Engine) -> None:
            engine.drafts.drop(address, own=own, trace=saved is None)

        self._run(drop, lambda _: self.after_drop(), what="drop a draft", lane=DRAFTS)

    def after_drop(self) -> None:
        """Refresh the tree's draft marks, and store what was typed meanwhile."""
        self._bridge.refresh_drafts()
        self.write()

    def settle(self) -> None:
        """Store what is typed; once nothing is unsaved, drop the stored draft."""
        editor = self._editor
        if editor.dirty:
            self.write()
        elif editor.subject is not None and self.keeper.has_stored(editor) and not editor.asking:
            self.track()
            self.drop(editor.subject.address)


def store(bridge: Bridge, draft: Draft, then: Callable[[], None], *, awaited: bool = False) -> None:
    """Store a draft, in a thread."""

    def stored(_: None) -> None:
        bridge.refresh_drafts()
        then()

    bridge.run(lambda engine: engine.drafts.save(draft), stored, what="keep a draft", lane=DRAFTS, awaited=awaited)


class DraftFlow(Generic[S]):
    """Base of a screen's flow with a draft of its own, which is stored while the user types."""

    def __init__(self, bridge: Bridge, address: Address) -> None:
        self.bridge = bridge
        self.address = address
        self.screen: S | None = None
        self._kept: Draft | None = None
        """Own draft that is stored, or about to be."""
        self._stored: Draft | None = None

    @property
    def is_open(self) -> bool:
        return self.screen is not None and self.screen.is_running

    @property
    def read_only(self) -> bool:
        return self.bridge.read_only

    def draft(self) -> Draft | None:
        """The unsaved text; None when nothing is typed."""
        raise NotImplementedError

    def save(self, screen: S) -> None:
        raise NotImplementedError

    def leave(self, screen: S) -> None:
        raise NotImplementedError

    def close(self, screen: S) -> None:
        self.screen = None
        screen.dismiss(None)

    def keep(self) -> None:
        """Store what is typed, in a thread."""
        draft = self.draft()

        def stored() -> None:
            self._stored = draft

        if draft is not None:
            self._kept = draft
            store(self.bridge, draft, stored)

    def flush(self) -> int:
        """Store what is typed before this returns; return the number of drafts."""
        draft = self.draft()
        known = self._stored if self._stored is self._kept else None  # one on its way may not be there in time
        if draft is None or (known is not None and known.text == draft.text):
            return 0
        self.bridge.store_draft(draft)
        return 1

    def drop_draft(self) -> None:
        """Drop the own draft; its text goes to history."""
        if self._kept is not None:
            self._kept = None
            address = self.address
            self.bridge.run(
                lambda engine: engine.drafts.drop(address, own=()),
                lambda _: self.bridge.refresh_drafts(),
                what="drop a draft",
                lane=DRAFTS,
            )

    def hand_over(self, draft: Draft | None, go_on: Callable[[], None]) -> None:
        """Store a draft for the editor, then call `go_on`."""
        self._kept = None
        if draft is None:
            self.bridge.refresh_drafts()
            go_on()
        else:
            store(self.bridge, draft, go_on, awaited=True)


def offer_words(drafts: Sequence[Draft]) -> str:
    names = ", ".join(draft.address.name for draft in drafts[:3]) + (", ..." if len(drafts) > 3 else "")
    if len(drafts) == 1:
        return f"A draft was never saved: {names}. Open it to restore or discard it."
    return f"{len(drafts)} drafts were never saved: {names}. Open each to restore or discard it."


def _same(stored: Draft | None, draft: Draft) -> bool:
    """Compare what a restart would restore: text and base, not time or cursor."""
    return stored is not None and (stored.address, stored.base_sha256, stored.text) == (
        draft.address,
        draft.base_sha256,
        draft.text,
    )
