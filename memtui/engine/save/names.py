"""Names given and taken: memories created, removed and renamed, alone or several of a folder together.

Each is as guarded as in `files.py`. Several share the ledger's commits and the folder's syncs: every text and intent is
durable before the first name is touched, and the folder before an end is recorded. A kill leaves intents, which
recovery settles one by one.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.handles import StillWritten, WholeFile
from memtui.engine.disk.paths import Siblings
from memtui.engine.model import Address, Conflict, Saved, Unchanged, is_person
from memtui.engine.save import files
from memtui.engine.save.files import NEWS_STAYS, Job, LockedName, LostRace, NewFile, Site
from memtui.errors import BusyError, ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


class MadeChange(NamedTuple):
    """A change that was made on disk."""

    end: Callable[[], None]
    folders: tuple[int, ...]


Change = Generator[MadeChange | None, bool, Saved | Conflict]
"""Yields None once announced, and a `MadeChange` once made; then receives whether the ledger has recorded it. A failed
sync is thrown into it."""


class TargetFolder:
    """The folder that memories are moved into, opened (and made) when it is first needed.

    Used in a `with` block; when that fails, folders made for it are removed again.
    """

    def __init__(self, site: Site, parts: tuple[str, ...], siblings: Siblings | None = None) -> None:
        self._site = site
        self._parts = parts
        self._siblings = siblings
        self._asked = False
        self._held = contextlib.ExitStack()
        self._folder: int | None = None

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        if self._siblings is not None and self._folder is not None and self._asked:
            if error is None:
                self._siblings.settle(self._folder)
            else:
                self._siblings.forget()
        self._held.__exit__(kind, error, trace)

    def opened(self) -> int:
        """Return its handle."""
        if self._folder is None:
            below = self._site.handle.folder(self._parts, create=bool(self._parts))
            self._folder = self._held.enter_context(below)
        return self._folder

    def refuse_clash(self, name: str, *, besides: str | None) -> None:
        """Refuse a new name that some file system confuses with one in the folder; see `paths.refuse_clash`."""
        folder, handle = self.opened(), self._site.handle
        if self._siblings is None:
            handle.refuse_clash(folder, name, besides=besides)
        elif not handle.root.policy.any_name:
            self._asked = True
            paths.refuse_alike(name, self._siblings.clash(folder, name), besides=besides)


def create(
    site: Site, address: Address, data: bytes, job: Job, *, mode: int | None = None, dated: int | None = None
) -> Saved | Unchanged:
    """Save `data` under a new name (`E_EXISTS`, `E_CLASH`), with a mode (None: private) and a date in nanoseconds."""
    parts = handles.split(address.path)
    sha = sha256(data).hexdigest()
    with TargetFolder(site, parts[:-1], job.siblings) as there:
        folder = there.opened()
        try:
            found = handles.read_in(folder, parts[-1], address, site.handle)
        except NotFoundError:
            pass
        except RefusedError as error:
            # A link keeps its own code: creating through it is what must never happen.
            raise error if error.code == "E_SYMLINK" else taken(address) from None
        else:
            fsio.close(found.handle)
            if found.sha == sha:
                return Unchanged(address, sha)
            raise taken(address, found.sha)
        there.refuse_clash(parts[-1], besides=None)
        seq, temp = files.announce(site, address, job, None, data, sha)
        spot = LockedName(site, folder, parts[-1], address)
        try:
            ours = NewFile(write_new(folder, temp, data, mode, dated), sha)
            site.handle.check()
            fsio.rename_noreplace(folder, temp, folder, parts[-1])
        except (OSError, MemtuiError) as error:
            whole = files.drop_temp(spot, temp, seq, sha, error)
            if isinstance(error, FileExistsError):
                raise taken(address) from None
            raise files.failure(error, f"Creating {address}", whole=whole) from error
        try:
            fsio.fsync_dir(folder)
        except OSError as error:
            raise files.rolled_back(error, f"Creating {address}", lambda: _withdraw(spot, temp, ours)) from error
        files.conclude(site, seq, address.path, sha, job)
        return Saved(address, sha, None, str(job.txn.id))


def write_new(folder: int, temp: str, data: bytes, mode: int | None, dated: int | None) -> int:
    """Durably write a new file, with a mode (None: private) and a date in nanoseconds (None: now); see `write_temp`.

    A folder shared with a group shares the file too.
    """
    handle = fsio.create_file(folder, temp)
    try:
        fsio.write_all(handle, data)
        status = fsio.fstat(handle)
        shared = handles.shared_bits(fsio.fstat(folder)) & 0o664
        if mode is not None or shared:
            fsio.chmod(handle, (0o600 if mode is None else mode & 0o7777) | shared)
        if dated is not None:
            fsio.set_time(handle, dated)
        fsio.fsync(handle)
        return status.st_ino
    finally:
        fsio.close(handle)


def _withdraw(spot: LockedName, temp: str, ours: NewFile) -> None:
    """Remove a new file again, unless somebody else's has its name by now."""
    if fsio.stat_at(spot.folder, spot.name).st_ino != ours.inode:
        return
    fsio.rename_noreplace(spot.folder, spot.name, spot.folder, temp)
    if fsio.stat_at(spot.folder, temp).st_ino == ours.inode:
        files.let_go(spot, temp, (ours.sha,))
    else:
        files.give_back(spot, temp, (ours.sha,))


def remove(
    site: Site, address: Address, expected: str | None, job: Job, *, moved_to: tuple[int, str] | None = None
) -> Saved | Conflict:
    """Remove a name if it still has the version `expected` (None: any); the text stays in the ledger.

    `moved_to`, as (root, path), is where the memory is now when this ends a move to another root. In the result
    `before` and `sha256` are the removed version.
    """
    with files.opened(site, address) as spot:
        result, told = _alone(site, _removing(spot, expected, job, moved_to))
    if told:
        site.handle.prune(handles.split(address.path)[:-1])
    return result


def _removing(spot: LockedName, expected: str | None, job: Job, moved_to: tuple[int, str] | None = None) -> Change:
    """The steps of `remove`, as a generator."""
    site, address, folder = spot.site, spot.address, spot.folder
    found = files.read_calmly(spot, job, lambda content: expected in (None, content.sha))
    fsio.close(found.handle)
    if expected is not None and found.sha != expected:
        return files.refuse(site, address, None, expected, found, job)
    seq, temp = files.announce(site, address, job, found, None, None)
    yield None
    try:
        site.handle.check()
        fsio.rename_noreplace(folder, spot.name, folder, temp)
    except (OSError, MemtuiError) as error:
        raise files.failure(error, f"Deleting {address}", whole=_not_renamed(spot, temp, seq, error)) from error
    displaced = _take_off(spot, temp, found)
    if isinstance(displaced, LostRace):
        return files.lost_race(spot, job, None, found.sha, seq, displaced.theirs)
    try:
        yield MadeChange(lambda: files.finish(site, seq, address.path, None, job, moved_to), (folder,))
    except OSError as error:
        fsio.close(displaced.handle)
        raise files.failure(error, f"Deleting {address}", whole=False) from error
    files.watch(spot, displaced, None, job)
    return Saved(address, found.sha, found.sha, str(job.txn.id))


def _take_off(spot: LockedName, temp: str, found: WholeFile) -> WholeFile | LostRace:
    """Verify what a deletion captured, and remove it; return it, open, if it is the expected version."""
    doing, known = f"Deleting {spot.address}", (found.sha,)
    try:
        displaced = files.take_expected(spot, temp, found.sha)
        if displaced is None:
            files.give_back(spot, temp, ())
            return LostRace(spot.glance())
    except (OSError, MemtuiError) as error:
        raise files.rolled_back(error, doing, lambda: files.give_back(spot, temp, known)) from error
    return displaced


def rename(site: Site, address: Address, new: Address, expected: str | None, job: Job) -> Saved | Conflict:
    """Rename a memory within its root (`E_EXISTS`, `E_CLASH`); its pins, uses and history follow."""
    parts, target = handles.split(address.path), handles.split(new.path)
    siblings = job.siblings if parts[:-1] != target[:-1] else None  # the old name would be taken for one still there
    with site.handle.folder(parts[:-1]) as folder, TargetFolder(site, target[:-1], siblings) as there:
        spot = LockedName(site, folder, parts[-1], address)
        result, told = _alone(site, _renaming(spot, there, new, expected, job))
    if told:
        site.handle.prune(parts[:-1])
    return result


def _renaming(spot: LockedName, there: TargetFolder, new: Address, expected: str | None, job: Job) -> Change:
    """The steps of `rename`, as a generator."""
    site, address, folder = spot.site, spot.address, spot.folder
    found = files.read_calmly(spot, job, lambda content: expected in (None, content.sha))
    fsio.close(found.handle)
    if expected is not None and found.sha != expected:
        return files.refuse(site, address, None, expected, found, job)
    same = address.path.rpartition("/")[0] == new.path.rpartition("/")[0]
    new_folder = there.opened()
    there.refuse_clash(new.name, besides=spot.name if same else None)
    seq, _ = files.announce(site, address, job, found, None, found.sha, to=new.path)
    yield None
    new_spot = LockedName(site, new_folder, new.name, new)
    try:
        site.handle.check()
        fsio.rename_noreplace(folder, spot.name, new_folder, new.name)
    except FileExistsError as error:
        site.ledger.audit.end(seq, "aborted", note=files.cause_of(error))
        raise taken(new) from None
    except (OSError, MemtuiError) as error:
        raise files.failure(error, f"Renaming {address}", whole=_not_renamed(new_spot, new.name, seq, error)) from error

    def back() -> None:
        fsio.rename_noreplace(new_folder, new.name, folder, spot.name)

    try:
        moved = new_spot.glance()
    except (OSError, MemtuiError) as error:
        raise files.rolled_back(error, f"Renaming {address}", back) from error
    sha = found.sha if moved is None or not moved.settled else moved.sha

    def end() -> None:
        if moved is not None and moved.sha == sha != found.sha:
            site.ledger.versions.store(moved.data, sha)
        site.ledger.audit.end(seq, "done", after=sha, note=job.note)
        finish_rename(site, address.path, new.path, sha, job)

    try:
        yield MadeChange(end, (new_folder,) if same else (new_folder, folder))
    except OSError as error:
        raise files.rolled_back(error, f"Renaming {address}", back) from error
    return Saved(new, sha, found.sha, str(job.txn.id))


def _not_renamed(spot: LockedName, temp: str, seq: int, cause: Exception) -> bool:
    """End a change that could not rename its file; where half of it was done the intent stays open for recovery."""
    try:
        whole = not files.exists(spot.folder, temp)
    except OSError:
        return False
    if whole:
        spot.site.ledger.audit.end(seq, "aborted", note=files.cause_of(cause))
    return whole


def finish_rename(site: Site, path: str, new_path: str, sha: str, job: Job) -> None:
    """Move everything the ledger knows of a memory to its new name. Call inside a transaction."""
    ledger = site.ledger
    now = ledger.clock()
    others = ledger.memories.record(site.uid, path) if job.note == NEWS_STAYS else None
    ledger.memories.follow(site.uid, path, site.uid, new_path)
    name = job.actor.name
    # What others did before stays news, with their name and time.
    told = (name, now) if others is None else (others.actor, others.at)
    seen = others is None and is_person(name)
    ledger.versions.set_moved(site.uid, path, new_path, sha, actor=name, at=now, told=told, seen=seen)


def taken(address: Address, sha: str | None = None) -> ConflictError:
    """Return the refusal of a name that is taken, in the version `sha`."""
    return ConflictError(
        f"{address} exists already.",
        code="E_EXISTS",
        unharmed="It was not touched.",
        hint="Choose another name, or save over the version you have read.",
        details={"current_sha256": sha},
    )


def remove_some(
    site: Site, folder: tuple[str, ...], wanted: Mapping[Address, str | None], job: Job
) -> dict[Address, Saved | Conflict | MemtuiError]:
    """Remove several names of one folder together, each with its expected version; see `remove`.

    A hundred of them in a folder of thousands cost one sync and two commits of the ledger. Those that have to be
    removed alone are left out of the answer.
    """
    found = _some(site, folder, wanted, lambda spot: _removing(spot, wanted[spot.address], job))
    site.late_writes.sweep()
    return found


def rename_some(
    site: Site,
    folder: tuple[str, ...],
    there: TargetFolder,
    wanted: Mapping[Address, tuple[Address, str | None]],
    job: Job,
) -> dict[Address, Saved | Conflict | MemtuiError]:
    """Rename several names of one folder into another one, as `remove_some`; see `rename`."""
    return _some(site, folder, wanted, lambda spot: _renaming(spot, there, *wanted[spot.address], job))


def _some(
    site: Site, folder: tuple[str, ...], addresses: Iterable[Address], change: Callable[[LockedName], Change]
) -> dict[Address, Saved | Conflict | MemtuiError]:
    with site.handle.folder(folder) as opened:
        spots = [LockedName(site, opened, address.name, address) for address in addresses]
        results, told = _together(site, [change(spot) for spot in spots])
    if told:
        site.handle.prune(folder)
    return {spot.address: result for spot, result in zip(spots, results, strict=True) if result is not None}


def _alone(site: Site, change: Change) -> tuple[Saved | Conflict, bool]:
    """Make one change in a locked root; return its result, and whether the ledger has recorded it."""
    try:
        next(change)
        happened = next(change)
    except StopIteration as stop:
        return stop.value, False
    assert happened is not None
    failure = _sync([happened])
    told = failure is None and _tell(site, [happened])
    result = _ended(change, told, failure)
    if isinstance(result, MemtuiError):
        raise result from failure
    return result, told


def _together(site: Site, changes: Sequence[Change]) -> tuple[list[Saved | Conflict | MemtuiError | None], bool]:
    """Make several changes in a locked root; return the result of each, and whether the ledger has recorded them.

    None is the result of a change that was not begun and has to be made alone. Folders must stay until they are
    recorded, because recovery looks into them.
    """
    results: list[Saved | Conflict | MemtuiError | None] = [None] * len(changes)
    begun: list[int] = []
    try:
        with site.ledger.transaction():
            for number, change in enumerate(changes):
                try:
                    next(change)
                except StopIteration as stop:
                    results[number] = stop.value
                except (NotFoundError, RefusedError, ConflictError, StillWritten):
                    continue  # alone it waits for its writer, or says why it is refused
                else:
                    begun.append(number)
    except (StorageError, BusyError):
        for change in changes:
            change.close()
        return [None] * len(changes), False
    made: dict[int, MadeChange] = {}
    for number in begun:
        try:
            happened = next(changes[number])
            assert happened is not None
            made[number] = happened
        except StopIteration as stop:
            results[number] = stop.value
        except MemtuiError as error:
            results[number] = error
    failure = _sync(made.values())
    told = failure is None and _tell(site, made.values())
    for number in made:
        results[number] = _ended(changes[number], told, failure)
    return results, told


def _sync(made: Iterable[MadeChange]) -> OSError | None:
    """Make the names of folders durable; return what prevented it."""
    try:
        for folder in dict.fromkeys(folder for one in made for folder in one.folders):
            fsio.fsync_dir(folder)
    except OSError as error:
        return error
    return None


def _tell(site: Site, made: Iterable[MadeChange]) -> bool:
    """Record what happened on disk: when the ledger cannot be written now, recovery does it from the intents."""
    with contextlib.suppress(StorageError, BusyError):
        with site.ledger.transaction(durable=False):
            for one in made:
                one.end()
        return True
    return False


def _ended(change: Change, told: bool, failure: OSError | None) -> Saved | Conflict | MemtuiError:
    try:
        if failure is None:
            change.send(told)
        else:
            change.throw(failure)
    except StopIteration as stop:
        result: Saved | Conflict = stop.value
        return result
    except MemtuiError as error:
        return error
    raise AssertionError("a change goes on after its end")
