"""The verbs about what others did: looking for it, listing what the user has not seen, marks, and taking it back.

Apart from the rest of the engine because they are about somebody else's changes; they change no memory, except to take
such a change back.
"""

from __future__ import annotations

from collections.abc import Iterable

from memtui.engine.model import Actor, Address, Change, Changes, Done, SeenMark, Usage, Vanished
from memtui.engine.parts import made_again
from memtui.engine.reader import Reader


class News(Reader):
    """What an engine knows of others."""

    def reconcile(self, root_ids: Iterable[str] | None = None) -> Changes:
        """Look at the disk, record what others finished, and say what is different."""
        return self._rooms.books.reconcile(root_ids)

    def changes(self) -> tuple[Change, ...]:
        """What others did since the user last looked, newest first; deletions included."""
        changes = self._rooms.marks.changes()
        if not self._rooms.ledger.read_only:
            return changes
        return self._rooms.marks.with_unrecorded(changes, self.list().items)

    @made_again
    def mark_seen(self, addresses: Iterable[Address] | None, *, looked: bool = False) -> int:
        """Remember that the user has looked at the current versions; None means everything.

        Args:
            addresses: which.
            looked: they only looked, and did not say so: no approval, and nothing where an agent runs the screen.

        Returns:
            How many memories were unseen before.

        Raises:
            RefusedError: `E_PERSON`: an agent runs this process; and as any change.
        """
        chosen = None if addresses is None else tuple(addresses)
        self._rooms.rules.refuse_marks(chosen)
        approver = self._rooms.approver
        if looked:
            marked = [] if approver.agent else self._rooms.marks.mark_seen(chosen)
        else:
            approver.require("mark what others wrote as seen")
            marked = self._rooms.marks.mark_seen(chosen, approver)
        if marked:
            self._rooms.events.publish(Changes(touched=frozenset(marked)))
        return len(marked)

    @made_again
    def take_uses(self, usages: Iterable[Usage]) -> int:
        """Take over how often memories were used by another program's count, where that is higher than ours.

        Returns:
            How many counts rose. No undo step: counts are not what anybody decided.

        Raises:
            RefusedError: `E_READ_ONLY`, `E_ACCESS`.
        """
        chosen = tuple(usages)
        self._rooms.rules.refuse_read_only()
        self._rooms.rules.refuse_marks(usage.address for usage in chosen)
        risen = self._rooms.marks.take_uses(chosen)
        if risen:
            self._rooms.events.publish(Changes(touched=frozenset(risen)))
        return len(risen)

    @made_again
    def mark_changes_seen(self, changes: Iterable[Change]) -> tuple[SeenMark, ...]:
        """Remember that the user has looked at these changes as they were shown; what came later stays unseen.

        Returns:
            The marks before, for `restore_seen`.
        """
        chosen = tuple(changes)
        self._rooms.rules.refuse_marks(tuple(change.address for change in chosen))
        self._rooms.approver.require("mark what others wrote as seen")
        before = self._rooms.marks.mark_changes_seen(chosen, self._rooms.approver)
        self._rooms.events.publish(Changes(touched=frozenset(mark.address for mark in before)))
        return before

    @made_again
    def restore_seen(self, marks: Iterable[SeenMark]) -> None:
        """Take seen marks back."""
        chosen = tuple(marks)
        self._rooms.rules.refuse_marks(tuple(mark.address for mark in chosen))
        self._rooms.marks.restore_seen(chosen)
        self._rooms.events.publish(Changes(touched=frozenset(mark.address for mark in chosen)))

    @made_again
    def take_back(self, changes: Iterable[Change], *, actor: Actor) -> Done:
        """Take whole changes of others back as one undo step, each only if the memory still is as the change left it.

        Args:
            changes: from `changes`; a deletion is restored, a creation goes to the trash, a rename is renamed back.
            actor: who does it.

        Returns:
            An outcome for each; a `Conflict` where the memory is not as it was left any more.
        """
        return self._rooms.takeback.take_back(changes, actor)

    def written_at(self, addresses: Iterable[Address]) -> dict[Address, int]:
        """When files last changed (their ctime, in milliseconds) as of the last look; nothing is read for it."""
        return self._rooms.books.written_at(addresses)

    def vanished(self) -> tuple[Vanished, ...]:
        """Roots whose folder is not there although there were memories in it."""
        return self._rooms.marks.vanished()

    def progress(self) -> tuple[int, int] | None:
        """How far a change of many memories is that runs in this process: done, of how many; from any thread."""
        return self._roots.pace.now()

    def stop_soon(self) -> bool:
        """Have a change of many memories end after the one it is at; what is left has the error `E_STOPPED`.

        Returns:
            Whether one runs.
        """
        return self._roots.pace.stop()

    def make_way(self, seconds: float) -> bool:
        """Wait while a change of many memories runs, for so long at most, so that looking does not hold it up.

        Returns:
            Whether none runs by then.
        """
        return self._roots.pace.make_way(seconds)

    def trusted_version(self, address: Address) -> str | None:
        """The newest version on a memory's history that was written here or reviewed; None when there is none."""
        return self._rooms.marks.trusted_version(address)

    def seen_version(self, address: Address) -> str | None:
        """The version of a memory the user last looked at."""
        return self._rooms.marks.seen_version(address)
