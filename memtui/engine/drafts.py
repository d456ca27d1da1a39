"""Unsaved text: drafts of the editor, and conflicts being resolved.

Nothing here changes a memory. It is apart so that only a command that uses it loads it.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from memtui.engine.disk import fsio, paths, unsaved
from memtui.engine.disk.unsaved import Unsaved
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.look.roots import Roots, any_root
from memtui.engine.model import Address, Changes, Draft, Notice, OpenConflict, Root
from memtui.engine.part import EnginePart, Events, Rules, retry_after_repair
from memtui.errors import BusyError, NotFoundError, StorageError


class Drafts(EnginePart):
    """Keeps unsaved texts."""

    def __init__(self, roots: Roots, ledger: Ledger, rules: Rules, events: Events) -> None:
        super().__init__(roots, ledger, rules, events)
        self._drafted: dict[Address, str] = {}
        """The unsaved texts this engine stored last."""
        self._open: dict[Address, Draft] = {}
        self._apart = False
        """Whether drafts are also kept in files, because the ledger may not outlive them."""
        self._writer = os.urandom(4).hex()
        self._unread = False
        """Whether the user was told that the ledger's drafts cannot be read."""
        self._decided: dict[Address, bytes] = {}
        """The texts of this engine in the conflicts it stored last."""
        self._shared: set[Address] = set()
        """Memories reported as having unsaved text in another memtui as well."""

    def save(self, draft: Draft) -> None:
        """Keep the editor's unsaved text, and its base, so that a merge stays possible.

        A draft the ledger cannot take goes into a file of its own.
        """
        root = any_root(self._roots, draft.address.root)
        written = self._apart and self._write(root, draft)
        try:
            self._record(root, draft)
        except (StorageError, BusyError):
            if self._ledger.read_only or not (written or self._write(root, draft)):
                raise
        else:
            if not self._apart:
                self._gather(draft)
        self.take(draft)

    def take(self, draft: Draft) -> None:
        """Adopt a draft that was found: its text is this engine's own from now on, not another window's."""
        self._drafted[draft.address] = draft.text
        self._open[draft.address] = draft

    def keep_apart(self) -> bool:
        """From now on also keep this engine's unsaved texts in files; return whether all of them are."""
        self._apart = True
        drafts = tuple(self._open.values())
        return not [draft for draft in drafts if not self._write(any_root(self._roots, draft.address.root), draft)]

    def _write(self, root: Root, draft: Draft) -> bool:
        try:
            unsaved.keep(self._ledger.directory, self._writer, fsio.real_path(root.path), draft)
        except OSError:
            return False
        return True

    @retry_after_repair
    def _record(self, root: Root, draft: Draft) -> None:
        uid = self._roots.uid(root)
        if draft.base is not None and draft.base_sha256 is not None:
            try:
                self._ledger.versions.find_version(uid, draft.address.path, draft.base_sha256)
            except NotFoundError:
                self._ledger.versions.keep_text(
                    uid, draft.address.path, draft.base, actor="outside", note="what a draft started from"
                )
        self._keep_other_draft(uid, draft)
        self._ledger.drafts.save(uid, draft)

    def _gather(self, draft: Draft) -> None:
        """Remove files about a memory whose draft is in the ledger; no text of theirs is lost."""
        for found, other in self._files(draft.address):
            if other.text not in (draft.text, self._drafted.get(draft.address)):
                self._ledger.drafts.keep_once(self._uid(draft.address), draft.address.path, found.data)
            self._remove(found)

    def _files(self, address: Address | None = None) -> list[tuple[Unsaved, Draft]]:
        """Return the texts in files that can be offered here, oldest first; of one memory, or all."""
        try:
            waiting = [one for one in unsaved.everything(self._ledger.directory) if one.of and one.text is not None]
        except OSError as error:
            raise paths.translate(error, "Reading the drafts") from error
        known = (*self._roots.all(), *(one.root for one in self._roots.elsewhere.values()))
        roots = {fsio.real_path(root.path): root for root in known} if waiting else {}
        found = []
        for one in waiting:
            assert one.of is not None
            root = roots.get(one.of.folder)
            if root is not None:
                where = Address(root.id, one.of.path)
                draft = Draft(where, one.of.base_sha256, one.text or "", one.cursor, one.at, one.of.base)
                found.append((one, self._roots.placed(draft)))
        return [pair for pair in found if address in (None, pair[1].address)]

    def _remove(self, found: Unsaved) -> None:
        try:
            unsaved.remove(found)
        except OSError as error:
            raise paths.translate(error, "Removing a draft") from error

    def _uid(self, address: Address) -> int:
        return self._roots.uid(any_root(self._roots, address.root))

    def _keep_other_draft(self, uid: int, draft: Draft) -> None:
        """Add the unsaved text of another memtui to the history before this one replaces it."""
        root = any_root(self._roots, draft.address.root)
        for other in self._ledger.drafts.all({uid: root.id}):
            known = (draft.text, self._drafted.get(draft.address), *self._ledger.drafts.given)
            if other.address.path == draft.address.path and other.text not in known:
                data = other.text.encode("utf-8", "surrogatepass")
                self._ledger.versions.keep_text(
                    uid, other.address.path, data, actor="tui", note="draft of another memtui"
                )
                self._tell_of_other(draft.address)

    def _tell_of_other(self, address: Address) -> None:
        """Report once per memory that two windows have unsaved text in it, and where the other one's is."""
        if address in self._shared:
            return
        self._shared.add(address)
        text = (
            f"Another window of memtui has unsaved text in {address} too. Only yours is offered after a restart; "
            "both texts are in its history (H)."
        )
        self._events.publish(Changes(notices=(Notice("draft", text, address, at=self._ledger.clock()),)))

    def all(self) -> tuple[Draft, ...]:
        """Return all unsaved texts, the newest of each memory, oldest first."""
        apart = [draft for _, draft in self._files()]
        try:
            stored = list(map(self._roots.placed, self._ledger.drafts.all(self._roots.names())))
        except StorageError as error:
            if not apart:
                raise
            stored = []  # the texts in files are offered all the same
            if not self._unread:
                self._unread = True
                self._ledger.notices.append(f"Drafts in the ledger cannot be read: {error.message}")
        # A text that the ledger has under another name is of a memory that was renamed since.
        known = {(draft.address.root, draft.text) for draft in stored}
        apart = [draft for draft in apart if (draft.address.root, draft.text) not in known]
        newest = {draft.address: draft for draft in sorted((*stored, *apart), key=lambda draft: draft.at)}
        return tuple(sorted(newest.values(), key=lambda draft: draft.at))

    @retry_after_repair
    def drop(self, address: Address, *, own: Collection[str] | None = None, trace: bool = True) -> None:
        """Forget a draft and its conflict; a text that is nowhere else goes into the memory's history first.

        `own` are the user's texts beside those stored here: what another memtui has unsaved stays; None drops all.
        `trace` is False for a text that was saved meanwhile: its half-typed state is not worth a version.
        """
        texts: set[bytes] | None = None
        if own is not None:
            stored = self._drafted.get(address)
            texts = {text.encode("utf-8", "surrogatepass") for text in (*own, *([] if stored is None else [stored]))}
            if address in self._decided:
                texts.add(self._decided[address])
        uid = self._uid(address)
        self._ledger.drafts.drop(uid, address.path, own=texts, trace=trace)
        self._open.pop(address, None)
        for found, draft in self._files():
            same = draft.address == address if texts is None else found.data in texts
            if same and draft.address.root == address.root:
                if trace:
                    self._ledger.drafts.keep_once(uid, address.path, found.data)
                self._remove(found)

    @retry_after_repair
    def save_conflict(self, found: OpenConflict) -> None:
        """Keep the decisions about a conflict; its texts are in the memory's history from here on."""
        self._ledger.drafts.save_conflict(self._uid(found.address), found)
        self._decided[found.address] = found.yours

    def conflict(self, address: Address) -> OpenConflict | None:
        """Return the conflict of a memory being resolved; None when there is none, or a text of it was redacted."""
        return self._ledger.drafts.conflict(self._uid(address), address)
