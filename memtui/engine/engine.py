"""The engine: every verb on memories, one line each; the rules and the work are in the rooms it joins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING

from memtui.engine.access import READ_WRITE, Access
from memtui.engine.approval import Approver
from memtui.engine.incoming import Incoming
from memtui.engine.model import (
    Actor,
    Address,
    Changes,
    Conflict,
    Done,
    FieldEdit,
    Finding,
    Health,
    MergeOf,
    PassedOver,
    Restoring,
    Retention,
    Root,
    Saved,
    Unchanged,
    Unerased,
    Version,
)
from memtui.engine.parts import Rooms, made_again

if TYPE_CHECKING:
    from typing import Self

    from memtui.engine.steps import Step
    from memtui.engine.watch.watch import Watch


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class Engine(Incoming):
    """Memory on disk for all fronts. Synchronous; safe to share between threads."""

    def __init__(self, rooms: Rooms, *, clock: Callable[[], int], retention: Retention) -> None:
        """Take what `Engine.open` put together."""
        super().__init__(rooms, clock)
        self._retention = retention

    @classmethod
    def open(
        cls,
        roots: Iterable[Root],
        *,
        state_dir: str,
        clock: Callable[[], int] = now_ms,
        retention: Retention = Retention(),  # noqa: B008
        read_only: bool = False,
        lock_wait: float = 5.0,
        access: Access = READ_WRITE,
        approver: Callable[[], Approver] = Approver,
    ) -> Self:
        """Make an engine; folders and the ledger are opened when they are first needed.

        Args:
            roots: the folders to work on; of two ids for one folder the first is kept.
            state_dir: memtui's own folder, made (0700) when something has to be kept.
            clock: milliseconds since the epoch.
            retention: which old versions `close` keeps.
            read_only: refuse every change with `E_READ_ONLY`.
            lock_wait: seconds to wait for another process that writes to the same root.
            access: what this client may do; a change it may not make is refused with `E_ACCESS`, and a root it may
                not see is none of the engine's.
            approver: tells who approves, when something is; an agent is refused with `E_PERSON`.
        """
        rooms = Rooms(
            roots,
            state_dir=state_dir,
            clock=clock,
            read_only=read_only,
            lock_wait=lock_wait,
            access=access,
            approver=approver,
        )
        return cls(rooms, clock=clock, retention=retention)

    def close(self) -> None:
        """Wait for late writes into files we displaced (two seconds at most), keep house, close everything."""
        used = self._rooms.used
        if used("grace"):
            self._rooms.grace.drain()
        if used("books"):
            self._rooms.books.close()
        if used("ledger"):
            self._rooms.ledger.settle()
            if self._rooms.ledger.written:
                self._rooms.ledger.keep_house(self._retention)
            self._rooms.ledger.close()
        self._roots.close()

    def __enter__(self) -> Self:
        """Return the engine."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the engine."""
        self.close()

    # --- changing

    @made_again
    def review(self, versions: Iterable[tuple[Address, str]], *, actor: Actor) -> int:
        """Remember that a person reviewed exactly these versions, so that agents may be given them unasked.

        No step of undo: what was given to an agent cannot be taken back from it.

        Args:
            versions: memories with the sha-256 of the text that was looked at, whatever is there by now.
            actor: the person; the audit has a record of each version.

        Returns:
            How many were not reviewed before.

        Raises:
            RefusedError: `E_PERSON`: an agent runs this process.
        """
        chosen = tuple(versions)
        self._rooms.approver.require("review what a checkout brought")
        count = self._rooms.marks.review(chosen, actor, self._rooms.approver)
        if count:
            self._rooms.events.publish(Changes(touched=frozenset(address for address, _ in chosen)))
        return count

    @made_again
    def save(
        self,
        address: Address,
        text: str | bytes,
        *,
        expected_sha256: str | None,
        actor: Actor,
        merge: MergeOf | None = None,
        news_since: str | None = None,
    ) -> Saved | Unchanged | Conflict:
        """Replace a memory's text if it still is the version the edit started from.

        Args:
            address: the memory.
            text: the new content; text is stored as UTF-8.
            expected_sha256: the version the edit started from; None when no file is expected.
            actor: who does it.
            merge: what the text was merged from; undo then brings the user's own text back as a draft.
            news_since: the version the user last looked at, when the text takes back a part of what others did since:
                while it still is that one, the rest stays unseen.

        Returns:
            `Saved`; `Unchanged` when the text was already there (even with a stale expectation, so a retry is safe);
            `Conflict` when somebody else was first: both texts are in history and the file is as they left it.

        Raises:
            RefusedError: a rule says no. BusyError: `E_LOCKED`. StorageError: the disk or the ledger failed.
        """
        return self._rooms.changer.save(address, text, expected_sha256, actor, merge, news_since)

    @made_again
    def edit(
        self, address: Address, change: Callable[[bytes], str | bytes], *, actor: Actor
    ) -> Saved | Unchanged | Conflict:
        """Replace a memory's text by what `change` makes of it; no other memtui gets in between.

        Args:
            address: the memory.
            change: from the raw content to the new one. It runs under the root's lock, so it must be quick; what it
                raises is passed on, and nothing has happened then.
            actor: who does it.

        Returns:
            As `save`; `Conflict` only when a program outside memtui was in between, so that the caller may try again.

        Raises:
            NotFoundError: `E_NOT_FOUND`, `E_ROOT_MISSING`; and as `save`.
        """
        return self._rooms.changer.edit(address, change, actor)

    @made_again
    def create(self, address: Address, text: str | bytes, *, actor: Actor) -> Saved | Unchanged:
        """Make a new memory; `ConflictError` (`E_EXISTS`, `E_CLASH`) when the name is taken by another text."""
        return self._rooms.changer.create(address, text, actor)

    @made_again
    def rename(self, address: Address, new: Address, *, actor: Actor, expected_sha256: str | None = None) -> Done:
        """Rename a memory or a folder of memories, within a root or to another one; pins and history follow.

        A folder keeps what is not listed as a memory, and all of its memories are renamed or none.

        Raises:
            MemtuiError: it was not renamed.
        """
        below = self._rooms.shelf.below(address)
        if below is not None:
            return self._rooms.folders.rename(address, new, below, actor)
        return _raise_single(self._rooms.changer.move([(address, new)], actor, expected_sha256))

    @made_again
    def move(self, pairs: Iterable[tuple[Address, Address]], *, actor: Actor) -> Done:
        """Rename many memories as one undo step, with an outcome for each."""
        return self._rooms.changer.move(pairs, actor)

    @made_again
    def copy(self, pairs: Iterable[tuple[Address, Address]], *, actor: Actor) -> Done:
        """Make copies under other names, within a root or in another one, as one undo step; never over a memory.

        Args:
            pairs: what is copied, and under which name.
            actor: who does it.

        Returns:
            An outcome for each; its error where there is no copy.
        """
        return self._rooms.copier.copy(pairs, actor)

    @made_again
    def delete(
        self, addresses: Iterable[Address], *, actor: Actor, expected: Mapping[Address, str | None] | None = None
    ) -> Done:
        """Move memories, or all memories of folders, to the trash as one undo step, with an outcome for each.

        Args:
            addresses: which.
            actor: who does it.
            expected: the versions that are meant; a memory that has another one by now stays, as a `Conflict`.
        """
        return self._rooms.folders.delete(addresses, actor, expected)

    @made_again
    def together(self, steps: Iterable[Step], *, actor: Actor, label: str, joins: str | None = None) -> Done:
        """Write, rename and remove memories, also of several roots, as one undo step: all of it or nothing.

        Args:
            steps: what is done, in this order; each sees what those before it did.
            actor: who does it.
            label: what it is called, for people: `rename a.md to b.md`.
            joins: a transaction it becomes a part of, so that undo takes both back; one that was taken back meanwhile
                is not joined.

        Returns:
            An outcome for each step. When a memory is another version than its step expected, none of them was done:
            that step's outcome is the `Conflict`, and the others have an error that names it.

        Raises:
            MemtuiError: a rule, a taken name or the disk said no, and nothing is changed; `unharmed` says so if what
                was done before could not be taken back.
        """
        return self._rooms.together.do(steps, actor, label, joins)

    @made_again
    def delete_tree(self, address: Address, *, actor: Actor) -> Done:
        """Delete a memory, or a folder with all there is in it, as one undo step; an empty path means the whole root.

        Links in the folder go, and what they lead to stays.
        """
        return self._rooms.trees.delete(address, actor)

    @made_again
    def rename_tree(self, address: Address, new: Address, *, actor: Actor) -> Done:
        """Give a memory, or a folder with all there is in it, a new name in the same root, in one step."""
        return self._rooms.trees.rename(address, new, actor)

    @made_again
    def unlink(self, address: Address, *, actor: Actor) -> None:
        """Remove a link, never what it leads to."""
        self._rooms.trees.unlink(address, actor)

    @made_again
    def make_root(self, root_id: str) -> None:
        """Make the folder of a root if it is missing, and what is missing above it."""
        self._rooms.trees.make_root(root_id)

    @made_again
    def restore(self, address: Address, *, version: str | None = None, actor: Actor) -> Saved | Unchanged | Conflict:
        """Bring a memory back from the trash, or put one of its old versions under its name."""
        return self._rooms.changer.restore(address, version, actor)

    @made_again
    def restore_all(self, wanted: Iterable[Restoring], *, actor: Actor) -> Done:
        """Bring deleted memories back as one undo step, with an outcome for each; never over another memory."""
        return self._rooms.bringback.restore(wanted, actor)

    @made_again
    def set_pinned(self, addresses: Iterable[Address], pinned: bool, *, actor: Actor) -> Done:
        """Pin or unpin memories as one undo step."""
        done = self._rooms.changer.set_pinned(addresses, pinned, actor)
        self._rooms.events.publish(Changes(touched=frozenset(outcome.address for outcome in done.outcomes)))
        return done

    @made_again
    def edit_fields(
        self, address: Address, edits: Iterable[FieldEdit], *, expected_sha256: str, actor: Actor
    ) -> Saved | Unchanged | Conflict:
        """Set and remove front-matter fields as one save and one undo step, changing no other byte.

        Args:
            address: the memory.
            edits: which fields, and what they shall be.
            expected_sha256: the version the edit started from.
            actor: who does it.

        Returns:
            As `save`. A `Conflict` when the memory is another one by now, whatever the fields are there.

        Raises:
            RefusedError: `E_FRONTMATTER`, `E_FRONTMATTER_UNSAFE`, `E_FRONTMATTER_TOO_BIG`; and as `save`.
        """
        return self._rooms.changer.edit_fields(address, edits, expected_sha256, actor)

    def redact(self, address: Address, sha256: str, *, reason: str, actor: Actor, everywhere: bool = False) -> Version:
        """Clear one stored text for good and keep its record; see `redact_all`."""
        (version,) = self.redact_all([(address, sha256)], reason=reason, actor=actor, everywhere=everywhere)
        return version

    @made_again
    def redact_all(
        self, versions: Iterable[tuple[Address, str]], *, reason: str, actor: Actor, everywhere: bool = False
    ) -> tuple[Version, ...]:
        """Clear stored texts for good, in every file memtui keeps, and keep their records; all or none.

        Labels, notes and reasons that quote one are cleared, and so are conflicts it is a side of. `unerased` tells
        afterwards what is left to do.

        Args:
            versions: memories, and which of their versions.
            reason: why, for the record; no part of a text.
            actor: who does it.
            everywhere: also when other memories, drafts or left copies keep a text: it is cleared there, too.

        Raises:
            RefusedError: `E_CURRENT_VERSION`, or `E_SHARED`: something else keeps a text, and nothing is cleared;
                `E_PERSON`: an agent runs this process.
        """
        approver = self._rooms.approver
        approver.require("redact a version")
        return self._rooms.redactor.redact(versions, reason, actor, approver, everywhere=everywhere)

    def unerased(self) -> Unerased:
        """Say what redacted texts may still be in: freed bytes that are still to be overwritten, damaged ledgers."""
        return self._rooms.redactor.unerased()

    def drop_damaged(self, path: str) -> None:
        """Delete a damaged copy of the ledger that `unerased` named."""
        self._rooms.approver.require("delete a damaged ledger")
        self._rooms.redactor.drop_damaged(path)

    @made_again
    def undo(self, *, actor: Actor, txn: str | None = None) -> Done:
        """Take the last operation back; the outcomes tell what is no longer as it was left.

        Args:
            actor: who does it.
            txn: an older operation to take back instead: as an undo step of its own, and only of memories that are
                still as it left them.

        Raises:
            NotFoundError: `E_NOTHING_TO_UNDO`.
        """
        return self._rooms.undoer.undo(actor, txn)

    def next_undo(self) -> str | None:
        """The transaction that `undo` would take back now."""
        return self._rooms.undoer.next_undo()

    def passed_over(self) -> PassedOver | None:
        """Say what `undo` would take back when something newer was done in a folder that is not open here."""
        return self._rooms.undoer.passed_over()

    def beyond(self, kind: str) -> Iterator[tuple[str, ...]]:
        """Name the folders of steps that undo or redo would take next if all of these were open here.

        Args:
            kind: `undo` or `redo`.

        Yields:
            Every folder of a step that reached into several, the newest step first; only steps that are newer than the
            next one within the open folders.
        """
        return self._rooms.undoer.beyond(kind)

    def unopened(self, txn: str) -> tuple[str, ...]:
        """Every folder a step reached into, when one of them is not open here; else nothing."""
        return self._rooms.undoer.unopened(txn)

    @made_again
    def redo(self, *, actor: Actor) -> Done:
        """Take the last undo back; see `undo`."""
        return self._rooms.undoer.redo(actor)

    @made_again
    def record_use(self, address: Address, *, actor: Actor, wrote: bool = False, soon: bool = False) -> None:
        """Count a read or write by an agent; a person's browsing is no use.

        Args:
            address: the memory.
            actor: who used it.
            wrote: whether it was a write.
            soon: within a second is enough, or when the engine is closed; other processes see it then.
        """
        self._rooms.marks.record_use(address, actor, wrote=wrote, soon=soon)

    def keep_place(self, name: str, value: object) -> bool:
        """Keep where the user is, for `place` after the next start; read-only engines keep nothing.

        Args:
            name: what it is found under.
            value: what JSON can hold.

        Returns:
            Whether it was kept.
        """
        return self._rooms.keep_place(name, value)

    # --- telling

    def subscribe(self, callback: Callable[[Changes], None]) -> Callable[[], None]:
        """Be told of this process's own changes and of notices, on the thread they happen; returns how to stop it."""
        return self._rooms.events.subscribe(callback)

    def watch(self, on_changes: Callable[[Changes], None], on_health: Callable[[Health], None]) -> Watch:
        """Follow all roots until the watch is stopped; the callbacks come on its own thread."""
        return self._rooms.books.watch(on_changes, on_health)

    def notices(self) -> tuple[str, ...]:
        """What the user must be told about memtui's own ledger, each once; nothing when it was not used."""
        if not self._rooms.used("ledger"):
            return ()
        found = tuple(self._rooms.ledger.notices)
        self._rooms.ledger.notices.clear()
        return found

    def findings(self) -> tuple[Finding, ...]:
        """What the doctor finds about roots, permissions, the ledger, the clock and the platform's guarantees."""
        from memtui.engine import doctor

        return doctor.findings(self._roots, self._rooms.ledger, self.root_status())

    def salvage(self, file: str | None = None) -> str:
        """Mend a damaged ledger now, or bring back what one that was moved aside still has; says what came of it.

        Args:
            file: the one that was moved aside; None: the newest, once the ledger itself is sound.

        Raises:
            StorageError: nothing can be read of it, or nothing can be written; all is as it was.
        """
        self._rooms.rules.refuse_read_only()
        return self._rooms.ledger.salvage(file)

    def recover(self) -> int:
        """Finish or roll back what dead processes left undone; every change in a root does this for that root as well.

        Returns:
            How many interrupted changes there were.
        """
        return self._roots.recover()


def _raise_single(done: Done) -> Done:
    if len(done.outcomes) == 1 and done.outcomes[0].error is not None:
        raise done.outcomes[0].error
    return done
