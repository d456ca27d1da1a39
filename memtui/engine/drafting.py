"""The verbs about unsaved text: drafts of the editor, and conflicts that are being decided.

Apart from the rest of the engine because they change no memory; what they keep is on the memory's history before
anything takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from memtui.engine.model import Address, Changes, Draft, Notice, OpenConflict
from memtui.engine.news import News
from memtui.engine.rooms import Rooms, made_again
from memtui.errors import NotFoundError


class Drafting(News):
    """What an engine keeps of texts nobody has saved."""

    def __init__(self, rooms: Rooms, clock: Callable[[], int]) -> None:
        """Take what `Engine.open` put together."""
        super().__init__(rooms, clock)
        self._drafted: dict[Address, str] = {}
        """The unsaved texts this engine stored last."""
        self._decided: dict[Address, bytes] = {}
        """The texts of this engine in the conflicts it stored last."""
        self._shared: set[Address] = set()
        """Memories of which was said that another memtui has unsaved text in them too."""

    @made_again
    def save_draft(self, draft: Draft) -> None:
        """Keep the editor's unsaved text, and what it started from, so that a merge stays possible."""
        uid = self._roots.uid(self._roots.find(draft.address.root))
        if draft.base is not None and draft.base_sha256 is not None:
            try:
                self._rooms.ledger.find_version(uid, draft.address.path, draft.base_sha256)
            except NotFoundError:
                self._rooms.ledger.keep_text(
                    uid, draft.address.path, draft.base, actor="outside", note="what a draft started from"
                )
        self._keep_other_draft(uid, draft)
        self._rooms.ledger.save_draft(uid, draft)
        self._drafted[draft.address] = draft.text

    def _keep_other_draft(self, uid: int, draft: Draft) -> None:
        """Put the unsaved text of another memtui on the memory's history before this one takes its place."""
        root = self._roots.find(draft.address.root)
        for other in self._rooms.ledger.drafts({uid: root.id}):
            known = (draft.text, self._drafted.get(draft.address))
            if other.address.path == draft.address.path and other.text not in known:
                data = other.text.encode("utf-8", "surrogatepass")
                self._rooms.ledger.keep_text(uid, other.address.path, data, actor="tui", note="draft of another memtui")
                self._tell_of_other(draft.address)

    def _tell_of_other(self, address: Address) -> None:
        """Say once for each memory that two windows have unsaved text in it, and where the other one's is."""
        if address in self._shared:
            return
        self._shared.add(address)
        text = (
            f"Another memtui has unsaved text in {address} too. It gave way to yours as the stored draft; "
            "both texts are in its history (H)."
        )
        self._rooms.events.publish(Changes(notices=(Notice("draft", text, address, at=self._rooms.clock()),)))

    def drafts(self) -> tuple[Draft, ...]:
        """All unsaved texts, oldest first."""
        return tuple(map(self._roots.placed, self._rooms.ledger.drafts(self._roots.names())))

    @made_again
    def drop_draft(self, address: Address, *, own: Collection[str] | None = None, trace: bool = True) -> None:
        """Forget a draft and its conflict; a text that is nowhere else goes on the memory's history first.

        Args:
            address: the memory.
            own: the user's own texts, beside those stored here: what another memtui has unsaved stays as it is.
                None: drop it whoever typed it.
            trace: False for a text that was saved meanwhile: its half-typed state is not worth a version.
        """
        texts: set[bytes] | None = None
        if own is not None:
            stored = self._drafted.get(address)
            texts = {text.encode("utf-8", "surrogatepass") for text in (*own, *([] if stored is None else [stored]))}
            if address in self._decided:
                texts.add(self._decided[address])
        uid = self._roots.uid(self._roots.find(address.root))
        self._rooms.ledger.drop_draft(uid, address.path, own=texts, trace=trace)

    @made_again
    def save_conflict(self, found: OpenConflict) -> None:
        """Keep the decisions about a conflict; its texts are on the memory's history from here on."""
        self._rooms.ledger.save_conflict(self._roots.uid(self._roots.find(found.address.root)), found)
        self._decided[found.address] = found.yours

    def open_conflict(self, address: Address) -> OpenConflict | None:
        """The conflict of a memory that is being decided; None when there is none, or a text of it was redacted."""
        return self._rooms.ledger.open_conflict(self._roots.uid(self._roots.find(address.root)), address)
