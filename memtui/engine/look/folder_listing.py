"""The content of a folder of memories, straight from its handle: names, kinds, sizes; no file is opened.

A look at one folder costs no look at the whole root and needs no ledger.
"""

from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.handles import RootHandle
from memtui.engine.disk.paths import Selection
from memtui.engine.look.roots import Roots
from memtui.engine.model import Address, Policy
from memtui.errors import MemtuiError

if TYPE_CHECKING:
    import os


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
    found = _Walk(handle, sizes=sizes)
    with handle.folder(parts) as folder:
        entries = found.entries(folder, selected(root.policy, parts), "", depth)
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


class _Walk:
    def __init__(self, handle: RootHandle, *, sizes: bool) -> None:
        self._device = handle.identity[0]
        self._sizes = sizes

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
            size = self._size(folder, entry.name) if self._sizes and depth > 0 else 0
            found.append(FolderItem(path, kind, size, shown, filled or kind != "folder"))
            found += below
        return found

    def _below(
        self, parent: int, name: str, selection: Selection, path: str, depth: int
    ) -> tuple[list[FolderItem], bool]:
        try:
            with fsio.closing(fsio.open_dir(parent, name)) as folder:
                if fsio.fstat(folder).st_dev != self._device:
                    return [], False
                if depth <= -paths.MAX_COMPONENTS:
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


def kind_of(entry: "os.DirEntry[str]") -> str:
    """Return the kind of a name in a folder; see `FolderItem`."""
    try:
        if entry.is_symlink():
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "memory" if entry.is_file(follow_symlinks=False) else "other"
    except OSError:
        return "other"  # it went in this moment


def _order(pair: "tuple[os.DirEntry[str], str]") -> str:
    return pair[0].name + "/" if pair[1] == "folder" else pair[0].name


def selected(policy: Policy, parts: tuple[str, ...]) -> Selection | None:
    """Return the rules of a folder; None when its layout does not descend into it."""
    selection: Selection | None = Selection.of(policy)
    for part in parts:
        selection = selection.folder(part) if selection is not None else None
    return selection
