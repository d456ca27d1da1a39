"""The draft of a memory that is typed elsewhere than in the editor: in the form of its front matter, or in one entry.

It is stored while the screen is typed in, taken away when that was dropped, and handed to the editor as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.engine.model import Address, Draft
from memtui.workbench.edit.opening import DRAFTS

if TYPE_CHECKING:
    from memtui.workbench.bridge import Bridge


class OwnDraft:
    """What such a flow does with its draft."""

    def __init__(self, bridge: Bridge, address: Address) -> None:
        """Nothing is typed yet."""
        self.bridge = bridge
        self.address = address
        self._kept: Draft | None = None
        """The draft that was stored last; None: there is none of this flow's own."""

    def draft(self) -> Draft | None:
        """What must not be lost; None when nothing is typed."""
        raise NotImplementedError

    def keep(self) -> None:
        """Bring what is typed to disk, in a thread."""
        draft = self.draft()
        if draft is not None:
            self._kept = draft
            self.bridge.run(
                lambda engine: engine.drafts.save(draft),
                lambda _: self.bridge.refresh_drafts(),
                what="keep a draft",
                lane=DRAFTS,
            )

    def flush(self) -> int:
        """Bring what is typed to disk before this returns; returns how many drafts that were."""
        draft = self.draft()
        if draft is None or (self._kept is not None and self._kept.text == draft.text):
            return 0
        self.bridge.store_draft(draft)
        return 1

    def drop_draft(self) -> None:
        """Take its own draft away again; its text goes to history."""
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
        """Leave a draft to the editor, and go on there once it is stored."""
        self._kept = None

        def stored(_: None = None) -> None:
            self.bridge.refresh_drafts()
            go_on()

        if draft is None:
            stored()
            return
        self.bridge.run(
            lambda engine: engine.drafts.save(draft),
            stored,
            what="keep a draft",
            lane=DRAFTS,
            awaited=True,
        )
