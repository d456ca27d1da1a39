"""Whole folders: listing one, deleting one with everything in it, and renaming one in a single step.

A folder holds more than memories (hidden files, links), and a program that was told it is gone or renamed must not find
half of it. Texts go to history first; a link is removed, never its target. It is apart so that only a command that uses
it loads it.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.handles import RootHandle
from memtui.engine.disk.paths import Selection
from memtui.engine.look.library import FolderItems, kind_of, look
from memtui.engine.look.roots import make_root
from memtui.engine.model import Actor, Address, Change, Conflict, Done, Outcome, Root, Saved, Tree, TreeEntry
from memtui.engine.part import EnginePart, batched, retry_after_repair, transaction
from memtui.engine.save import files, names
from memtui.engine.save.files import Job, Site
from memtui.errors import BusyError, ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError

MAX_FILES = 20_000
_TRIES = 3


class FolderContents(NamedTuple):
    """Everything below a folder, as paths relative to the root."""

    memories: list[str]
    others: list[str]
    """Links, FIFOs, sockets, devices: nothing that holds a text."""
    folders: list[str]
    """The folder itself first, parents before children."""


class Folders(EnginePart):
    """Lists, deletes and renames folders."""

    def follow(self, address: Address) -> Address:
        """Return the link-free address of a path that need not exist; raises `E_SYMLINK` if it leaves the root."""
        root = self._roots.find(address.root)
        try:
            base = fsio.real_path(root.path)
            target = fsio.real_path(f"{base}/{address.path}")
        except OSError as error:
            raise paths.translate(error, f"Following {address}") from error
        if target != base and not target.startswith(base.rstrip("/") + "/"):
            raise RefusedError(
                f"{address} leads out of its root.", code="E_SYMLINK", hint="Use an address inside the root."
            )
        return Address(root.id, target[len(base) :].strip("/"))

    def items(self, root_id: str, path: str = "", *, depth: int = 1, sizes: bool = False) -> FolderItems:
        """List a folder (empty path: the root) `depth` levels deep; nothing is read or recorded."""
        return look(self._roots, root_id, path, depth, MAX_FILES, sizes=sizes)

    def tree(self, address: Address, depth: int) -> Tree:
        """List a folder `depth` levels deep, following links that stay inside the root."""
        root = self._roots.find(address.root)
        handle = self._roots.reading(root)
        parts = handles.split(address.path) if address.path else ()
        with handle.folder(parts) as folder:
            try:
                size = fsio.fstat(folder).st_size
                return Tree(size, tuple(self._entries(handle, folder, parts, "", depth)))
            except OSError as error:
                raise paths.translate(error, f"Listing {address}") from error

    def _entries(
        self, handle: RootHandle, folder: int, parts: tuple[str, ...], prefix: str, depth: int
    ) -> Iterator[TreeEntry]:
        for entry in sorted(fsio.list_dir(folder), key=lambda entry: entry.name):
            name = entry.name
            if name[0] == ".":
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # it went since it was listed, or nobody may look at it
            below: tuple[str, ...] = (*parts, name)
            if stat.S_ISLNK(status.st_mode):
                target = self._target(handle, below)
                if target is None:
                    continue
                status, below = target
            if stat.S_ISREG(status.st_mode):
                yield TreeEntry(prefix + name, status.st_size)
            elif stat.S_ISDIR(status.st_mode):
                yield TreeEntry(f"{prefix}{name}/", status.st_size)
                if depth > 1:
                    with suppress(MemtuiError, OSError), handle.folder(below) as inner:
                        yield from self._entries(handle, inner, below, f"{prefix}{name}/", depth - 1)

    def _target(self, handle: RootHandle, parts: tuple[str, ...]) -> "tuple[os.stat_result, tuple[str, ...]] | None":
        try:
            real = self.follow(Address(handle.root.id, "/".join(parts)))
            if not real.path:
                return fsio.fstat(handle.fd), ()
            below = handles.split(real.path)
            with handle.folder(below[:-1]) as folder:
                return fsio.stat_at(folder, below[-1]), below
        except (MemtuiError, OSError):
            return None

    def kind(self, address: Address) -> str:
        """Return what has a name: `file`, `folder`, `link`, `other`, or empty for nothing."""
        handle = self._roots.reading(self._roots.find(address.root))
        try:
            if not address.path:
                return "folder"
            parts = handles.split(address.path)
            with handle.folder(parts[:-1]) as folder:
                return _kind(fsio.stat_at(folder, parts[-1]))
        except (FileNotFoundError, NotFoundError, RefusedError):
            return ""
        except OSError as error:
            raise paths.translate(error, f"Looking at {address}") from error

    @retry_after_repair
    def make_root(self, root_id: str) -> None:
        """Create a root's folder and its missing parents."""
        root = self._roots.find(root_id)
        try:
            there = fsio.is_dir(root.path)
        except OSError as error:
            raise paths.translate(error, f"Looking at the folder of {root.id}") from error
        if not there:
            self._rules.refuse_read_only()
            make_root(self._rules.allowed(root_id))

    @retry_after_repair
    def unlink(self, address: Address, *, actor: Actor) -> None:
        """Remove a link, never its target."""
        root = self._rules.writable(address, actor)
        with self._roots.site(root, actor) as site:
            _unlink(site, address)

    @retry_after_repair
    def delete(self, address: Address, *, actor: Actor) -> Done:
        """Delete a memory, or a folder with everything in it, as one undo step; an empty path means the whole root.

        Links in the folder are removed, their targets stay.
        """
        root = self._rules.writable(address, actor)
        label = f"delete {address}" if address.path else f"delete everything in {root.id}"
        txn = transaction(self._ledger, "delete", actor, label)
        outcomes: list[Outcome] = []

        def remove(site: Site, job: Job) -> bool:
            if outcomes and not self.kind(address):
                return True  # the rest of it went since we looked
            if address.path:
                try:
                    outcomes.append(self._remove(site, address, job))
                except RefusedError as error:
                    if error.code != "E_NOT_REGULAR" or self.kind(address) != "folder":
                        raise
                else:
                    return True
            calm = job._replace(patient=False)  # many memories are one change: none of them is waited for
            return self._remove_all(site, root, address, calm, outcomes)

        job = Job(txn, actor, "deleted")
        if not any(self._change(root, job, remove) for _ in range(_TRIES)):
            raise ConflictError(
                f"Somebody keeps writing below {address}.",
                code="E_CONFLICT",
                unharmed="What was deleted is in the trash.",
                hint="Delete it again in a moment.",
            )
        return Done(str(txn.id), "delete", tuple(outcomes), label)

    def _remove_all(self, site: Site, root: Root, address: Address, job: Job, outcomes: list[Outcome]) -> bool:
        """Delete everything in a folder, and the folder; return whether nobody put something there meanwhile."""
        parts = handles.split(address.path) if address.path else ()
        found = self._everything(site, root, parts, job.actor)
        memories = [Address(root.id, path) for path in found.memories]
        for batch in batched(memories, lambda address: address.path.rpartition("/")[0]):
            outcomes += self._remove_some(site, batch, job)
        for path in found.others:
            _unlink(site, Address(root.id, path))
        return _remove_folders(site, found.folders)

    def _remove_some(self, site: Site, batch: list[Address], job: Job) -> list[Outcome]:
        """Delete several memories of one folder; those that cannot go together go one by one."""
        folder, now = handles.split(batch[0].path)[:-1], self._ledger.clock()
        done = names.remove_some(site, folder, dict.fromkeys(batch), job) if len(batch) > 1 else {}
        gone = [(address, result) for address, result in done.items() if isinstance(result, Saved)]
        self._events.changed(Change(one, "deleted", job.actor.name, saved.before, None, now) for one, saved in gone)
        outcomes = []
        for address in batch:
            result = done.get(address)
            if isinstance(result, MemtuiError):
                raise result
            if result is None:
                outcomes.append(self._remove(site, address, job))
            else:
                outcomes.append(Outcome(address, result if isinstance(result, Conflict) else None))
        return outcomes

    def _remove(self, site: Site, address: Address, job: Job) -> Outcome:
        result = names.remove(site, address, None, job)
        if isinstance(result, Conflict):
            return Outcome(address, result)
        self._tell(address, "deleted", job.actor, result.before, None)
        return Outcome(address, None)

    @retry_after_repair
    def rename(self, address: Address, new: Address, *, actor: Actor) -> Done:
        """Rename a memory, or a folder with everything in it, within its root, in one step."""
        rules = self._rules
        root = rules.writable(address, actor)
        rules.writable(new, actor)
        rules.check_new(root, new)
        label = f"rename {address} to {new}"
        txn = transaction(self._ledger, "rename", actor, label)

        def rename(site: Site, job: Job) -> list[tuple[Address, Address, Saved | Conflict]]:
            if address == new:
                raise names.taken(new)
            try:
                return [(address, new, names.rename(site, address, new, None, job))]
            except RefusedError as error:
                if error.code != "E_NOT_REGULAR" or self.kind(address) != "folder":
                    raise
            return self._rename_all(site, root, address, new, job)

        outcomes, changes, now = [], [], self._ledger.clock()
        for old, moved, result in self._change(root, Job(txn, actor, "renamed"), rename):
            outcomes.append(Outcome(old, result, new_address=moved))
            if isinstance(result, Saved):
                changes.append(Change(moved, "renamed", actor.name, result.before, result.sha256, now, old))
        self._events.changed(changes)
        return Done(str(txn.id), "rename", tuple(outcomes), label)

    def _rename_all(
        self, site: Site, root: Root, address: Address, new: Address, job: Job
    ) -> list[tuple[Address, Address, Saved | Conflict]]:
        source, target = handles.split(address.path), handles.split(new.path)
        if target[: len(source)] == source:
            raise RefusedError(
                f"{address} cannot be moved inside itself.", code="E_NAME", hint="Choose a name outside the folder."
            )
        found = self._everything(site, root, source, job.actor)
        pairs = [(path, new.path + path[len(address.path) :]) for path in found.memories]
        for _, path in pairs:
            self._rules.writable(Address(root.id, path), job.actor)
            handles.split(path)
        shas = _rename(site, address, new, pairs, job)
        txn = str(job.txn.id)
        return [
            (Address(root.id, path), Address(root.id, moved), Saved(Address(root.id, moved), sha, sha, txn))
            for (path, moved), sha in zip(pairs, shas, strict=True)
        ]

    def _everything(self, site: Site, root: Root, parts: tuple[str, ...], actor: Actor) -> FolderContents:
        """Walk a folder; raise before anything is touched when something in it may not be changed."""
        found = FolderContents([], [], [])
        with site.handle.folder(parts) as folder:
            try:
                _walk(folder, parts, site.handle.identity[0], found, root.policy.read_bytes)
            except OSError as error:
                raise paths.translate(error, f"Looking into {'/'.join(parts)!r} of {root.id}") from error
        for path in found.memories:
            self._rules.writable(Address(root.id, path), actor)
        return found


def _walk(folder: int, parts: tuple[str, ...], device: int, found: FolderContents, limit: int) -> None:
    if parts:
        found.folders.append("/".join(parts))
    if len(found.memories) + len(found.others) + len(found.folders) > MAX_FILES:
        raise RefusedError(
            f"It holds more than {MAX_FILES:,} files.", code="E_TOO_MANY", hint="Take its folders one by one."
        )
    for entry in sorted(fsio.list_dir(folder), key=lambda entry: entry.name):
        below = (*parts, entry.name)
        path = "/".join(below)
        status = fsio.stat_at(folder, entry.name)
        kind = _kind(status)
        if kind == "folder":
            if status.st_dev != device:
                raise RefusedError(
                    f"{path!r} lies on another file system mounted inside the root.",
                    code="E_OTHER_DEVICE",
                    hint="Unmount it first.",
                )
            handles.split(path)
            with fsio.closing(fsio.open_dir(folder, entry.name)) as inner:
                _walk(inner, below, device, found, limit)
        elif kind == "file":
            if status.st_size > limit:
                raise RefusedError(
                    f"{path!r} has {status.st_size:,} bytes; memtui keeps texts up to {limit:,}.",
                    code="E_TOO_BIG",
                    hint="Take it away with another program first.",
                    details={"limit": limit, "bytes": status.st_size},
                )
            found.memories.append(path)
        else:
            found.others.append(path)


def _kind(status: os.stat_result) -> str:
    if stat.S_ISREG(status.st_mode):
        return "file"
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    return "link" if stat.S_ISLNK(status.st_mode) else "other"


def _rename(site: Site, address: Address, new: Address, pairs: list[tuple[str, str]], job: Job) -> list[str]:
    """Rename a folder in one step, recording every memory in it; return their versions in order."""
    source, target = handles.split(address.path), handles.split(new.path)
    with site.handle.folder(source[:-1]) as folder, site.handle.folder(target[:-1], create=True) as new_folder:
        seqs, shas = _announce(site, pairs, job)
        try:
            site.handle.check()
            fsio.rename_noreplace(folder, source[-1], new_folder, target[-1])
        except (OSError, MemtuiError) as error:
            for seq in seqs:
                site.ledger.audit.end(seq, "aborted", note=getattr(error, "code", type(error).__name__))
            if isinstance(error, FileExistsError):
                raise names.taken(new) from None
            raise error if isinstance(error, MemtuiError) else paths.translate(error, f"Renaming {address}") from error
        try:
            fsio.fsync_dir(new_folder)
            fsio.fsync_dir(folder)
        except OSError as error:
            with suppress(OSError):
                fsio.rename_noreplace(new_folder, target[-1], folder, source[-1])
            raise paths.translate(error, f"Renaming {address}") from error  # recovery looks at what this left
    with suppress(StorageError, BusyError), site.ledger.transaction(durable=False):
        # The renaming happened; when the ledger cannot be told, recovery does it from the intents.
        for (path, moved), seq, sha in zip(pairs, seqs, shas, strict=True):
            site.ledger.audit.end(seq, "done", after=sha)
            names.finish_rename(site, path, moved, sha, job)
    return shas


def _announce(site: Site, pairs: list[tuple[str, str]], job: Job) -> tuple[list[int], list[str]]:
    """Record the intents of a folder's renaming, with every text in it on history first."""
    seqs, shas = [], []
    with site.ledger.transaction():
        for path, moved in pairs:
            address = Address(site.handle.root.id, path)
            found = handles.read(site.handle, address, calm=True)
            files.keep_before(site, address, found)
            shas.append(found.sha)
            target = site.uid, moved
            seqs.append(files.intend(site, address, job, before=found.sha, after=found.sha, target=target))
    return seqs, shas


def _unlink(site: Site, address: Address) -> None:
    parts = handles.split(address.path)
    try:
        with site.handle.folder(parts[:-1]) as folder:
            status = fsio.stat_at(folder, parts[-1])
            if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                raise ConflictError(f"{address} became something else meanwhile.", hint="Look at it again.")
            site.handle.check()
            fsio.unlink(folder, parts[-1])
            fsio.fsync_dir(folder)
    except FileNotFoundError:
        pass  # somebody was first
    except OSError as error:
        raise paths.translate(error, f"Removing {address}") from error


def _remove_folders(site: Site, folders: Iterable[str]) -> bool:
    """Remove emptied folders, innermost first; return whether all are gone."""
    for path in reversed(list(folders)):
        parts = handles.split(path)
        try:
            with site.handle.folder(parts[:-1]) as parent:
                fsio.remove_dir(parent, parts[-1])
                fsio.fsync_dir(parent)
        except (FileNotFoundError, NotFoundError):
            continue  # it went with the last thing in it
        except OSError as error:
            if paths.translate(error, "").code == "E_EXISTS":
                return False  # somebody put something there meanwhile
            raise paths.translate(error, f"Removing the folder {path!r}") from error
    return True


class _Level(NamedTuple):
    name: str
    identity: tuple[int, int]
    rest: list[tuple[str, Selection]]


def clear_below(folder: int, selection: Selection | None) -> None:
    """Remove the empty folders in a folder, innermost first; those a layout does not show are left alone.

    Iterative, with one open handle: thousands of folders may be nested.
    """
    if selection is None:
        return
    handle = fsio.open_dir(folder, ".")
    try:
        levels = [_level("", handle, selection)]
        while True:
            level = levels[-1]
            if level.rest:
                name, inside = level.rest.pop()
                with suppress(OSError):  # it may not be looked into, or went: nothing is lost when it stays
                    handle = _step_to(handle, name)
                    levels.append(_level(name, handle, inside))
                continue
            levels.pop()
            if not levels:
                return
            handle = _step_to(handle, "..")
            if _identity(handle) != levels[-1].identity:
                return  # somebody moved it meanwhile: what is around it now is none of ours
            with suppress(OSError):  # something is in it, or it may not be removed
                fsio.remove_dir(handle, level.name)
    except OSError:
        return  # nothing is lost when the rest of the empty folders stays
    finally:
        fsio.close(handle)


def _step_to(handle: int, name: str) -> int:
    """Open a folder relative to a handle, which is closed."""
    found = fsio.open_dir(handle, name)
    fsio.close(handle)
    return found


def _level(name: str, handle: int, selection: Selection) -> _Level:
    identity = _identity(handle)
    try:
        entries = fsio.list_dir(handle)
    except OSError:
        entries = []  # it may not be listed: nothing is lost when it stays
    inside = ((entry.name, selection.folder(entry.name)) for entry in entries if kind_of(entry) == "folder")
    return _Level(name, identity, [(below, some) for below, some in inside if some is not None])


def _identity(handle: int) -> tuple[int, int]:
    status = fsio.fstat(handle)
    return status.st_dev, status.st_ino
