"""Lists for fronts: the memories of roots, and what a folder holds.

A folder is listed straight from its handle, names, kinds and sizes, without a ledger or a look at the whole root; no
file is opened.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.paths import Selection
from memtui.engine.look.catalog import Catalog, Rows
from memtui.engine.look.roots import OpenRoot, Roots
from memtui.engine.model import BROUGHT, Address, Listing, Memory, Policy, Problem, Root, RootStatus, Vanished
from memtui.errors import MemtuiError, NotFoundError

if TYPE_CHECKING:
    import os

    from memtui.engine.ledger.ledger import Ledger


class Library:
    """The list of memories for fronts; safe to share between threads."""

    def __init__(self, roots: Roots, ledger: Ledger, catalog: Catalog) -> None:
        self._roots = roots
        self._ledger = ledger
        self._catalog = catalog

    def list(self, root_ids: Iterable[str] | None = None) -> Listing:
        """List the memories of some or all roots as they are now; records nothing."""
        items: list[Memory] = []
        status = []
        chosen = self._roots.chosen(root_ids)
        for root in chosen:
            rows, found = self._look(root)
            items += rows.items
            status.append(found)
        return Listing(tuple(items), any(one.truncated for one in status), tuple(status))

    def cached(self) -> Listing | None:
        """Return the rows of the last list, without touching a memory; None when there are none."""
        return listing((root, self._catalog.cached(root)) for root in self._roots.all())

    def get(self, address: Address) -> Memory:
        """Return one row; raises `NotFoundError` when there is no such memory."""
        row = self.some((address,)).get(address)
        if row is None:
            raise NotFoundError(f"There is no memory {address}.", hint="`memtui ls` lists what there is.")
        return row

    def some(self, addresses: Iterable[Address]) -> dict[Address, Memory]:
        """Return the rows of those of these memories that exist."""
        by_root: dict[str, list[Address]] = {}
        for address in addresses:
            handles.split(address.path)
            by_root.setdefault(address.root, []).append(address)
        found: dict[Address, Memory] = {}
        for root_id, wanted in by_root.items():
            opened = self._roots.open(self._roots.find(root_id))
            if opened.handle is not None:
                rows = self._catalog.some(opened.handle, opened.uid, [address.path for address in wanted])
                found.update((address, rows[address.path]) for address in wanted if address.path in rows)
        return found

    def written_at(self, addresses: Iterable[Address]) -> dict[Address, int]:
        """Return when files last changed (ctime, in milliseconds) as of the last look; nothing is read for it."""
        found = {}
        for address in addresses:
            cache = self._catalog.cache(self._roots.find(address.root))
            with cache.guard:
                entry = cache.tree.entry(address.path)
            if entry is not None:
                found[address] = entry.key.ctime_ns // 1_000_000
        return found

    def status(self) -> tuple[RootStatus, ...]:
        """Return how each root is on disk now."""
        return tuple(self._look(root)[1] for root in self._roots.all())

    def lift_limits(self) -> None:
        """List and search roots of any size from now on, for an answer that must be complete."""
        self._catalog.lift()

    def vanished(self) -> tuple[Vanished, ...]:
        """Return roots whose folder is missing although it held memories."""
        found = []
        for root in self._roots.all():
            try:
                opened = self._roots.open(root)
            except MemtuiError:
                continue  # a folder that cannot be opened shows its reason in the list of roots
            if opened.handle is None and not opened.fresh:
                memories, at = self._ledger.memories.held(opened.uid)
                if memories:
                    found.append(Vanished(root, memories, at))
        return tuple(found)

    def _look(self, root: Root) -> tuple[Rows, RootStatus]:
        problems = list(self._roots.problems.get(root.id, ()))
        rows = Rows((), 0, 0)
        opened: OpenRoot | None = None
        try:
            opened = self._roots.open(root)
            if opened.handle is not None:
                rows = self._catalog.rows(opened.handle, opened.uid)
        except MemtuiError as error:
            problems.append(Problem(error.code, error.message))
        waiting = sum([row.trust == BROUGHT for row in rows.items])
        if waiting:
            problems.append(unreviewed(waiting))
        exists = opened is None or opened.handle is not None
        status = RootStatus(
            root,
            exists,
            not root.read_only and (not exists or fsio.may_write(root.path)),
            not waiting,
            rows.files,
            rows.bytes,
            rows.truncated,
            (*problems, *rows.problems),
        )
        return rows, status


def unreviewed(count: int) -> Problem:
    """Return the problem of a root in a checkout with this many versions that wait for a review."""
    what = "1 memory waits" if count == 1 else f"{count:,} memories wait"
    return Problem("unreviewed", f"{what} for your review: a repository may have put {_IT[count > 1]} there.")


_IT = ("it", "them")


def listing(found: Iterable[tuple[Root, Rows | None]]) -> Listing | None:
    """Join the rows of roots into one list; None when no root has any."""
    known = [(root, rows) for root, rows in found if rows is not None]
    if not known:
        return None
    status = [
        RootStatus(
            root,
            exists=True,
            writable=not root.read_only,
            accepted=True,
            files=rows.files,
            bytes=rows.bytes,
            truncated=rows.truncated,
            problems=rows.problems,
        )
        for root, rows in known
    ]
    items = tuple([item for _, rows in known for item in rows.items])
    return Listing(items, any(one.truncated for one in status), tuple(status))


class FolderItem(NamedTuple):
    """A name in a folder or below it."""

    path: str
    """Relative to the folder that was listed."""
    kind: str
    """`memory`, `folder`, `link` or `other` (a FIFO, a socket, a device)."""
    bytes: int
    """As the system reports them; 0 when sizes were not requested."""
    shown: bool
    """False for hidden names and those the layout never lists; such a folder is not descended into."""
    filled: bool
    """For a folder: whether it holds a memory, however deep; True for everything else."""


class FolderItems(NamedTuple):
    """The content of a folder: names in order, each folder followed by its own content."""

    items: tuple[FolderItem, ...]
    left_out: int


def look(roots: Roots, root_id: str, path: str, depth: int, limit: int, *, sizes: bool) -> FolderItems:
    """List a folder; see `Folders.items`."""
    root = roots.find(root_id)
    parts = handles.split(path) if path else ()
    handle = roots.reading(root)
    walk = _Walk(handle.identity[0], sizes)
    with handle.folder(parts) as folder:
        entries = walk.entries(folder, selected(root.policy, parts), "", depth)
    return FolderItems(tuple(entries[:limit]), max(0, len(entries) - limit))


def below(roots: Roots, address: Address) -> tuple[Address, ...] | None:
    """Return every memory listed in a folder, however deep; None when the address is no folder."""
    try:
        view = look(roots, address.root, address.path, paths.MAX_COMPONENTS, 1 << 30, sizes=False)
    except MemtuiError:
        return None  # no folder that could be descended into: whoever asked reports what it is
    root = roots.find(address.root).id
    names = [entry.path for entry in view.items if entry.shown and entry.kind != "folder"]
    return tuple(Address(root, f"{address.path}/{name}") for name in names)


class _Walk(NamedTuple):
    device: int
    sizes: bool

    def entries(self, folder: int, selection: Selection | None, above: str, depth: int) -> list[FolderItem]:
        """List a folder in order, each subfolder followed by its content."""
        try:
            names = fsio.list_dir(folder)
        except OSError as error:
            raise paths.translate(error, f"Listing the folder {above.rstrip('/')!r}") from error
        found = []
        for entry, kind in sorted(((e, kind_of(e)) for e in names), key=_order):
            if entry.name.startswith(paths.TEMP_PREFIX):
                continue
            inside = selection.folder(entry.name) if selection is not None and kind == "folder" else None
            shown = inside is not None if kind == "folder" else selection is not None and selection.file(entry.name)
            path = above + entry.name
            below, filled = self._below(folder, entry.name, inside, path, depth) if inside is not None else ([], False)
            size = self._size(folder, entry.name) if self.sizes and depth > 0 else 0
            found.append(FolderItem(path, kind, size, shown, filled or kind != "folder"))
            found += below
        return found

    def _below(
        self, parent: int, name: str, selection: Selection, path: str, depth: int
    ) -> tuple[list[FolderItem], bool]:
        try:
            with fsio.closing(fsio.open_dir(parent, name)) as folder:
                if fsio.fstat(folder).st_dev != self.device or depth <= -paths.MAX_COMPONENTS:
                    return [], False
                below = self.entries(folder, selection, path + "/", depth - 1)
        except (OSError, MemtuiError):
            return [], False  # it may not be looked into, or changed meanwhile: it counts as empty
        filled = any(e.filled and e.shown and e.kind in ("memory", "folder") for e in below)
        return below if depth > 1 else [], filled

    @staticmethod
    def _size(folder: int, name: str) -> int:
        try:
            return fsio.stat_at(folder, name).st_size
        except OSError:
            return 0  # it went in this moment


def kind_of(entry: os.DirEntry[str]) -> str:
    """Return the kind of a name in a folder; see `FolderItem`."""
    try:
        if entry.is_symlink():
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "memory" if entry.is_file(follow_symlinks=False) else "other"
    except OSError:
        return "other"  # it went in this moment


def _order(pair: tuple[os.DirEntry[str], str]) -> str:
    return pair[0].name + "/" if pair[1] == "folder" else pair[0].name


def selected(policy: Policy, parts: tuple[str, ...]) -> Selection | None:
    """Return the rules of a folder; None when its layout does not descend into it."""
    selection: Selection | None = Selection.of(policy)
    for part in parts:
        selection = selection.folder(part) if selection is not None else None
    return selection
