"""Versions of memories, the audit of changes, and reviewed texts.

It is apart so that only a command that uses it loads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from memtui.diff.differences import byte_lines
from memtui.engine.approval import Approver
from memtui.engine.disk import handles
from memtui.engine.look.roots import any_root
from memtui.engine.model import OUTSIDE, Actor, Address, AuditRecord, Operation, Version
from memtui.engine.part import EnginePart, retry_after_repair
from memtui.errors import MemtuiError, NotFoundError, StorageError

OPERATIONS = ("created", "modified", "deleted", "renamed", "restored")
_NOTE = "imported"
_VERSIONS = 50
"""Versions of a memory that are searched for the origin of a line."""


class History(EnginePart):
    """Reads versions and the audit, and imports versions from elsewhere."""

    def of(self, address: Address) -> tuple[Version, ...]:
        """Return the versions of a memory, newest first."""
        return self._ledger.versions.history(*self._place(address))

    def read(self, address: Address, sha256: str) -> bytes:
        """Return the raw bytes of a version, named by at least six hex digits of its SHA-256.

        Raises:
            NotFoundError: no version, or several, begin like this.
            RefusedError: `E_REDACTED`.
            StorageError: `E_STORE_DAMAGED`.
        """
        data = self._ledger.versions.version_text(*self._place(address), sha256)
        if data is None:
            raise NotFoundError(f"Version {sha256[:12]} of {address} is no longer stored.")
        return data

    def line_times(
        self, address: Address, lines: Iterable[bytes], *, whole: bool = True
    ) -> dict[bytes, tuple[int, bool]]:
        """Return when lines (with line ends) came into a memory; `whole=False` for parts of lines.

        Gives for each line of the newest version a time in milliseconds, and whether it came then: a version without it
        is kept, or memtui saw the memory made with it. Else it was there by then.
        """
        wanted = set(lines)
        found: dict[bytes, tuple[int, bool]] = {}
        after = back = 0
        versions = [one for one in self.of(address)[:_VERSIONS] if not one.note]  # a note: never under the name
        made_at = next((at for at, one in enumerate(versions) if one.operation == "created"), len(versions))
        first = {version.sha256: at for at, version in enumerate(versions[: made_at + 1])}
        for at, version in enumerate(versions):
            if at >= back:
                back = first[version.sha256]
            if at < back:
                continue  # a text that is back has the lines it had, with their times
            try:
                data = self.read(address, version.sha256)
            except MemtuiError:
                break  # redacted, or not kept: what came before is not known
            present = set(byte_lines(data)) if whole else {part for part in wanted if part in data}
            if after:
                found.update(dict.fromkeys(wanted - present, (after, True)))
            wanted &= present
            after = version.at
            found.update(dict.fromkeys(wanted, (after, False)))
            if version.operation == "created":
                made = self.audit(address=address)  # what was there at the first look has no record
                if any(one.operation == "created" and one.after == version.sha256 for one in made):
                    found.update(dict.fromkeys(wanted, (after, True)))
                break
        return found

    @retry_after_repair
    def keep(self, address: Address, versions: Iterable[tuple[Version, bytes]], *, actor: Actor) -> int:
        """Import versions a memory had elsewhere, oldest first, before it is written here; return how many are new.

        They stay older than whatever the memory becomes here, and keep their actor and time. A text that does not match
        its version raises `E_STORE_DAMAGED`, and nothing is kept.
        """
        root = self._rules.writable(address, actor)
        handles.split(address.path)
        uid = self._roots.uid(root)
        known = {(one.sha256, one.at) for one in self._ledger.versions.history(uid, address.path)}
        count = 0
        with self._ledger.transaction():
            for version, data in versions:
                if sha256(data).hexdigest() != version.sha256:
                    raise StorageError(f"A version of {address} does not match its checksum.", code="E_STORE_DAMAGED")
                if (version.sha256, version.at) in known:
                    continue
                self._ledger.versions.add_version(
                    uid,
                    address.path,
                    self._ledger.versions.store(data, version.sha256),
                    actor=version.actor,
                    at=version.at,
                    operation=version.operation if version.operation in OPERATIONS else "modified",
                    note=version.note or _NOTE,
                )
                count += 1
        return count

    # --- what was done

    def audit(
        self,
        *,
        actor: str | None = None,
        since: int | None = None,
        address: Address | None = None,
        limit: int = 200,
        before: int | None = None,
        txn: str | None = None,
        but: str | None = None,
    ) -> tuple[AuditRecord, ...]:
        """Return audit records, newest first, without those of the operation `but`; times in milliseconds.

        Only those older than the record number `before`.
        """
        records = self._ledger.activity.audit_records(
            self._roots.names(),
            actor=actor,
            since=since,
            memory=None if address is None else self._place(address),
            limit=limit,
            before=before,
            txn=None if txn is None else int(txn),
            but=but,
        )
        turns = self._ledger.turns.of_records(one.seq for one in records)
        named = (one._replace(who=turns[one.seq].words) if one.seq in turns else one for one in records)
        return tuple(map(self._roots.placed_record, named))

    def since(self, seq: int, limit: int) -> tuple[tuple[AuditRecord, ...], int]:
        """Return changes after an audit record, and the number to go on from; see `ActivityTable.changes_after`."""
        records, last = self._ledger.activity.changes_after(self._roots.names(), seq, limit)
        return tuple(map(self._roots.placed_record, records)), last

    def last(self) -> int:
        """Return the number of the newest audit record; 0 for none."""
        return self._ledger.activity.last()

    def read_audited(self, seq: int, sha256: str) -> bytes:
        """Return the raw bytes before or after an audited change, whatever the memory is called by now."""
        known = self._ledger.activity.audited(seq, sha256, self._roots.names())
        data = self._ledger.versions.blob(sha256) if known else None
        if data is None:
            raise NotFoundError(f"The text {sha256[:12]} of this step is no longer stored.")
        return data

    def actors(self) -> tuple[str, ...]:
        """Return all actors in the audit, the most recent first."""
        return self._ledger.activity.actors()

    def operations(self, first: str, last: str) -> tuple[Operation, ...]:
        """Return the operations with these numbers (`txn` of audit records) and between, oldest first."""
        return self._ledger.activity.operations(int(first), int(last))

    # --- what was reviewed

    @retry_after_repair
    def review(self, versions: Iterable[tuple[Address, str]], *, actor: Actor) -> int:
        """Record that a person reviewed exactly these versions (SHA-256), so that agents may be given them unasked.

        This is no undo step: what was given to an agent cannot be taken back. Returns how many were not reviewed
        before.
        """
        asked = tuple(versions)
        approver = self._rules.approver
        approver.require("review what a checkout brought")
        self._rules.refuse_read_only()
        chosen = []
        for address, sha in asked:
            handles.split(address.path)
            self._rules.check_storable(address)
            chosen.append((self._roots.uid(self._rules.allowed(address.root)), address.path, sha))
        count = self._ledger.reviews.review(chosen, actor=actor.name, note=approver.note())
        if count:
            self._events.touched(address for address, _ in asked)
        return count

    def check_settable(self) -> None:
        """Refuse an agent's change of a setting (`E_PERSON`), or any in read-only mode."""
        self._rules.refuse_read_only()
        self._rules.approver.require("change this setting")

    @retry_after_repair
    def record_setting(self, root_id: str, said: str, *, known: bool = True) -> None:
        """Record a new value of a setting that only the user may choose, under memtui's own root.

        `known` is False when somebody edited the file by hand.
        """
        if known:
            self.check_settable()
        approver = self._rules.approver if known else Approver(OUTSIDE.name)
        uid = self._roots.uid(self._roots.find(root_id))
        self._ledger.audit.approve("setting", [(uid, "", None)], approver, said=said)

    def trusted_version(self, address: Address) -> str | None:
        """Return a memory's newest version that was written here or reviewed; None when there is none."""
        uid, path = self._place(address)
        kept = (one.sha256 for one in self._ledger.versions.history(uid, path) if not one.redacted)
        return next((sha for sha in kept if self._ledger.reviews.trusts(uid, sha)), None)

    def _place(self, address: Address) -> tuple[int, str]:
        return self._roots.uid(any_root(self._roots, address.root)), address.path
