"""What people decide about observations, as steps of undo: several cards at once are one step.

It is apart so that only what decides about observations loads it. Nothing of a card's text is in the audit.
"""

from collections.abc import Sequence
from contextlib import suppress

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.handles import WholeFile
from memtui.engine.model import Actor, Address
from memtui.engine.observation import OBSERVED, ObservationMark
from memtui.engine.part import EnginePart, retry_after_repair, transaction
from memtui.errors import MemtuiError


class ObservedMarks(EnginePart):
    """Decides about observations, and takes that back."""

    @retry_after_repair
    def put(
        self, marks: Sequence[ObservationMark], *, actor: Actor, label: str, reason: str = ""
    ) -> tuple[ObservationMark, ...]:
        """Write down decisions, all of them or none, as one undo step.

        Args:
            marks: each with the `seq` of the decision it starts from.
            actor: who decides.
            label: what it is called, for people, without a word of a card.
            reason: why.

        Raises:
            RefusedError: `E_PERSON`, an agent runs this process; `E_READ_ONLY`; `E_REDACTED`, one is redacted.
            ConflictError: somebody decided otherwise meanwhile.
        """
        self._rules.approver.require("decide about observations")
        self._rules.refuse_read_only()
        done = []
        places = {(mark.root, mark.path) for mark in marks if mark.root and mark.withholds}
        found = {place: self._there(*place) for place in places}
        with self._ledger.transaction():
            for (uid, path), whole in found.items():
                if whole is not None:  # a copy of it under another name is known by its text
                    at = whole.status.st_mtime_ns // 1_000_000
                    self._ledger.versions.keep_found(uid, path, whole.data, whole.sha, at=at)
            txn = transaction(self._ledger, OBSERVED, actor, label)
            for mark in marks:
                # One about a session has no root: it is taken back where it was decided.
                place = (mark.root, mark.path) if mark.root else (min(self._roots.names()), "session")
                step = self._recorded(txn.id, *place, actor)
                done.append(self._ledger.observations.put(mark, actor=actor.name, reason=reason, step=step))
        names = self._roots.names()
        self._events.touched(Address(names[mark.root], mark.path) for mark in done if mark.root in names)
        return tuple(done)

    def _there(self, uid: int, path: str) -> WholeFile | None:
        """The memory of a card as it is now; None: it went, or cannot be read."""
        with suppress(MemtuiError, KeyError):  # a root that is not open here
            address = Address(self._roots.names()[uid], path)
            found = handles.read(self._roots.reading(self._roots.find(address.root)), paths.split(path), address)
            fsio.close(found.handle)
            return found
        return None

    def follow(self, uid: int, path: str, new_uid: int, new_path: str) -> None:
        """Let the decisions about a memory, its history and its pin go on under the name it has by now, in any root.

        For a memory that was renamed outside memtui, and changed before anybody looked, so that no text tells.
        """
        self._rules.refuse_read_only()
        with self._ledger.transaction():
            self._ledger.memories.follow(uid, path, new_uid, new_path)

    def take_back(self, txn: int, uid: int, path: str, step: int, actor: Actor) -> None:
        """Take back what one audit record stands for, as a part of a transaction; see `ObservationTable.take_back`."""
        self._rules.approver.require("decide about observations")
        with self._ledger.transaction():
            self._ledger.observations.take_back(step, self._recorded(txn, uid, path, actor), actor=actor.name)

    def _recorded(self, txn: int, uid: int, path: str, actor: Actor) -> int:
        return self._ledger.audit.intend(
            txn, uid, path, actor=actor.name, operation=OBSERVED, before=None, after=None, state="done"
        )
