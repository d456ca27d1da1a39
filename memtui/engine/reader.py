"""The verbs that only look: roots and names, memories and their versions, what was done, what there is to find.

They are the half of the engine that touches nothing, so that whoever reads a verb here knows it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from memtui.engine.access import Access
from memtui.engine.disk import fsio, paths, whole_file
from memtui.engine.model import (
    Address,
    AuditRecord,
    Found,
    Hit,
    Listing,
    Memory,
    Operation,
    Root,
    RootStatus,
    Snapshot,
    TrashEntry,
    Tree,
    Version,
    Wanted,
)
from memtui.engine.parts import Rooms
from memtui.errors import NotFoundError

if TYPE_CHECKING:
    from memtui.engine.look.folder_listing import FolderItems
    from memtui.engine.places import Place

SETTLED_MS = 2_000
"""A file whose last change is older than this is not being written any more."""


class Reader:
    """What an engine finds without changing anything."""

    def __init__(self, rooms: Rooms, clock: Callable[[], int]) -> None:
        """Take the rooms to look in, and milliseconds since the epoch."""
        self._rooms = rooms
        self._roots = rooms.roots
        self._clock = clock

    # --- roots and names

    @property
    def access(self) -> Access:
        """What this client may do."""
        return self._rooms.access

    @property
    def roots(self) -> tuple[Root, ...]:
        """Every root, in the order given."""
        return self._roots.all()

    def changeable(self) -> tuple[Root, ...]:
        """The roots in which this client may change memories."""
        return self._rooms.rules.changeable()

    def add_roots(self, roots: Iterable[Root]) -> None:
        """Add roots that are not there yet."""
        self._roots.add(filter(self.access.shows, roots))

    def root_status(self) -> tuple[RootStatus, ...]:
        """How each root is on disk now."""
        return self._rooms.books.status()

    def find_root(self, root_id: str) -> Root:
        """A root by id or alias; `NotFoundError` (`E_NO_ROOT`) when there is none."""
        return self._roots.find(root_id)

    def resolve(self, text: str) -> Address:
        """The address a person's text means: an address, `/memories/<scope>/<path>`, or a path in a known root."""
        return self._roots.resolve(text)

    def file_path(self, address: Address) -> str:
        """The absolute path of a memory, for people and editors; never used to open it here."""
        return "/".join((self._roots.find(address.root).path.rstrip("/"), address.path))

    def virtual_path(self, address: Address) -> str | None:
        """How agents name a memory, `/memories/<scope>/<path>`; None when they cannot."""
        return self._roots.virtual(address)

    # --- reading

    def folder(
        self, root_id: str, path: str = "", *, depth: int = 1, limit: int = 20_000, sizes: bool = False
    ) -> FolderItems:
        """What is in a folder, straight from its handle; nothing is read or recorded.

        Args:
            root_id: the root, by id or alias.
            path: the folder, relative to the root; empty for the root itself.
            depth: how many levels to list.
            limit: how many names to return at most.
            sizes: whether to ask for them.

        Raises:
            NotFoundError: `E_NOT_FOUND`, also for a memory, `E_NO_ROOT`, `E_ROOT_MISSING`.
            RefusedError: `E_SYMLINK`, `E_OTHER_DEVICE`, ...
        """
        return self._rooms.shelf.look(root_id, path, depth, limit, sizes=sizes)

    def list(self, root_ids: Iterable[str] | None = None) -> Listing:
        """The memories of some or all roots as they are now; records nothing."""
        return self._rooms.books.list(root_ids)

    def lift_limits(self) -> None:
        """List and search roots of any size from now on, for an answer that must not leave anything out."""
        self._rooms.books.lift_limits()

    def cached(self) -> Listing | None:
        """The rows of the last list, without touching a memory; None when there are none."""
        return self._rooms.cached()

    def place(self, name: str) -> Place:
        """What `keep_place` kept under a name; touches no memory."""
        return self._rooms.place(name)

    def memory(self, address: Address) -> Memory:
        """One row; `NotFoundError` when there is no such memory."""
        return self._rooms.books.memory(address)

    def memories(self, addresses: Iterable[Address]) -> dict[Address, Memory]:
        """Rows of those of these memories that are there."""
        return self._rooms.books.memories(addresses)

    def read(self, address: Address) -> Snapshot:
        """Read a memory whole.

        Raises:
            NotFoundError: `E_NOT_FOUND`, `E_NO_ROOT`, `E_ROOT_MISSING`.
            RefusedError: `E_SYMLINK`, `E_NOT_REGULAR`, `E_TOO_BIG`, `E_PERMISSION`, ...
        """
        handle = self._roots.reading(self._roots.find(address.root))
        found = whole_file.read(handle, paths.split(address.path), address)
        fsio.close(found.handle)
        modified = found.status.st_mtime_ns // 1_000_000
        return Snapshot(address, found.data, found.sha, modified, self._clock() - modified > SETTLED_MS)

    def tree(self, address: Address, depth: int) -> Tree:
        """What a folder holds, memory or not; links are followed as far as they stay inside the root.

        Args:
            address: the folder; an empty path for the root itself.
            depth: how many levels: 1 is the folder's own names.

        Raises:
            MemtuiError: `E_NOT_FOUND`, `E_ROOT_MISSING`, `E_NOT_REGULAR`, `E_SYMLINK`, ...
        """
        return self._rooms.trees.look(address, depth)

    def kind(self, address: Address) -> str:
        """What has a name: `file`, `folder`, `link` or `other`; empty when nothing has."""
        return self._rooms.trees.kind(address)

    def follow(self, address: Address) -> Address:
        """The address without links that a path with links means; nothing needs to be there.

        Raises:
            RefusedError: `E_SYMLINK`, when a link leads out of the root.
        """
        return self._rooms.trees.follow(address)

    def read_bytes(self, address: Address) -> bytes:
        """Read a memory whole, without working out its digest; see `read`."""
        handle = self._roots.reading(self._roots.find(address.root))
        return whole_file.read_bytes(handle, paths.split(address.path), address)

    def read_version(self, address: Address, sha256: str) -> bytes:
        """The raw bytes of a version of a memory.

        Args:
            address: the memory.
            sha256: the version, or at least six hex digits of it.

        Raises:
            NotFoundError: no version, or several, begin like this.
            RefusedError: `E_REDACTED`.
            StorageError: `E_STORE_DAMAGED`.
        """
        root = self._roots.find(address.root)
        data = self._rooms.ledger.version_text(self._roots.uid(root), address.path, sha256)
        if data is None:
            raise NotFoundError(f"Version {sha256[:12]} of {address} is no longer stored.")
        return data

    def history(self, address: Address) -> tuple[Version, ...]:
        """The versions of a memory, newest first."""
        return self._rooms.ledger.history(self._roots.uid(self._roots.find(address.root)), address.path)

    def trash(self, *, taken: bool = False) -> tuple[TrashEntry, ...]:
        """Deleted memories that can be restored, newest first.

        Args:
            taken: also those whose name another memory has by now.
        """
        ledger, names = self._rooms.ledger, self._roots.names()
        return tuple(map(self._roots.placed, ledger.deleted(names) if taken else ledger.trash(names)))

    def audit(
        self,
        *,
        actor: str | None = None,
        since: int | None = None,
        address: Address | None = None,
        limit: int = 200,
        before: int | None = None,
        txn: str | None = None,
    ) -> tuple[AuditRecord, ...]:
        """Audit records, newest first; times in milliseconds; `before` is the number of one: only older ones."""
        memory = None if address is None else (self._roots.uid(self._roots.find(address.root)), address.path)
        names = self._roots.names()
        ledger = self._rooms.ledger
        number = None if txn is None else int(txn)
        records = ledger.audit_records(
            names, actor=actor, since=since, memory=memory, limit=limit, before=before, txn=number
        )
        return tuple(map(self._roots.placed_record, records))

    def read_audited(self, seq: int, sha256: str) -> bytes:
        """The raw bytes of the text before or after an audited change, whatever the memory is called by now.

        Args:
            seq: the number of the audit record.
            sha256: its `before` or its `after`.

        Raises:
            NotFoundError, RefusedError, StorageError: as `read_version`.
        """
        known = self._rooms.ledger.audited(seq, sha256, self._roots.names())
        data = self._rooms.ledger.blob(sha256) if known else None
        if data is None:
            raise NotFoundError(f"The text {sha256[:12]} of this step is no longer stored.")
        return data

    def actors(self) -> tuple[str, ...]:
        """Everybody the audit knows, who did something last first."""
        return self._rooms.ledger.actors()

    def operations(self, first: str, last: str) -> tuple[Operation, ...]:
        """The operations with these numbers (the `txn` of audit records) and between, oldest first."""
        return self._rooms.ledger.operations(int(first), int(last))

    def search(
        self,
        query: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        limit: int = 50,
        versions: bool = False,
    ) -> tuple[tuple[Hit, ...], bool]:
        """Memories that hold the query, best first, and whether there may be more.

        Args:
            query: words that must all occur; `"quoted"` ones together, `-excluded` ones not at all.
            scope, agent: only these.
            limit: at most so many.
            versions: also look in texts that memories had, and in those of deleted memories.

        Raises:
            UsageError: `E_QUERY`, when there is nothing to look for.
        """
        return self._rooms.books.search(Wanted(query, scope, agent, versions=versions, limit=limit))

    def find(
        self,
        wanted: Wanted,
        *,
        stop: Callable[[], bool] = lambda: False,
        tell: Callable[[Found], object] | None = None,
    ) -> Found:
        """Search, telling what is found so far; texts come from the index as far as it has them, the others from files.

        Args:
            wanted: what for, and where; a query with nothing in it finds nothing.
            stop: asked again and again whether nobody wants the answer any more.
            tell: called with what was found so far, on this thread.
        """
        return self._rooms.books.finder.find(wanted, stop=stop, tell=tell)

    def forget_texts(self) -> None:
        """Give back the memory that searching took; what is on disk stays."""
        if self._rooms.used("books"):
            self._rooms.books.finder.forget()
