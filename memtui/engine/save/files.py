"""The only writer: compare, keep both texts, announce, commit in one step, verify what was displaced.

Every function runs under its root's lock and writes one audit record that ends as done, aborted or conflict. The order
of the steps is the guarantee: a text is in the ledger before the disk is touched, an intent is durable before a
temporary file exists, and a displaced version is checked before it is released.
"""

import contextlib
import errno
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.handles import StillWritten, WholeFile
from memtui.engine.model import Address, Conflict, Saved, Unchanged, is_person
from memtui.engine.save import commit
from memtui.engine.save.commit import (
    CARRIED,
    NEWS_STAYS,
    Displaced,
    Job,
    LockedName,
    MadeChange,
    NewFile,
    Site,
    TargetFolder,
)
from memtui.errors import BusyError, ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError

REFUSED = "refused: somebody else was first"
WRITTEN = ("created", "modified")
"""Operations whose text was written here; `restored` may bring back one that was not."""


class LostRace(NamedTuple):
    """A commit that found a foreign version (`theirs`) where the expected one should have been."""

    theirs: WholeFile | None


def replace(site: Site, address: Address, data: bytes, expected: str | None, job: Job) -> Saved | Unchanged | Conflict:
    """Save `data` under an existing name if it still has the version `expected` (SHA-256).

    After a failure the name has its old version, or recovery restores it.
    """
    parts = handles.split(address.path)
    sha = sha256(data).hexdigest()
    with site.handle.folder(parts[:-1]) as folder:
        spot = LockedName(site, folder, parts[-1], address)
        try:
            found = _read(spot, job, lambda content: content.sha == expected != sha)
        except NotFoundError:
            return refuse(site, address, data, expected, None, job)
        try:
            if found.sha == sha:
                return Unchanged(address, sha)
            if found.sha != expected:
                return refuse(site, address, data, expected, found, job)
            return _put_over(spot, found, data, sha, job)
        finally:
            fsio.close(found.handle)


def edit(site: Site, address: Address, change: Callable[[bytes], bytes], job: Job) -> Saved | Unchanged | Conflict:
    """Replace the content of an existing name by the result of `change`, read and written under one lock.

    What `change` raises is passed on, and nothing has happened then. Raises as `replace`.
    """
    parts = handles.split(address.path)
    with site.handle.folder(parts[:-1]) as folder:
        spot = LockedName(site, folder, parts[-1], address)
        found = _read(spot, job, lambda _: True)
        try:
            data = change(found.data)
            sha = sha256(data).hexdigest()
            return Unchanged(address, sha) if sha == found.sha else _put_over(spot, found, data, sha, job)
        finally:
            fsio.close(found.handle)


def _put_over(spot: LockedName, found: WholeFile, data: bytes, sha: str, job: Job) -> Saved | Conflict:
    site, address = spot.site, spot.address
    if found.status.st_nlink > 1:
        raise _hard_link(address)
    seq, temp = _announce(site, address, job, found, data, sha)
    displaced = _swap_in(spot, temp, found, data, sha, seq)
    if isinstance(displaced, LostRace):
        return _lost_race(site, address, job, sha, found.sha, seq, displaced.theirs)
    _conclude(site, seq, address.path, sha, job)
    _watch(spot, displaced, sha, job)
    return Saved(address, sha, found.sha, str(job.txn.id))


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
        seq, temp = _announce(site, address, job, None, data, sha)
        spot = LockedName(site, folder, parts[-1], address)
        try:
            ours = NewFile(commit.write_new(folder, temp, data, mode, dated), sha)
            site.handle.check()
            fsio.rename_noreplace(folder, temp, folder, parts[-1])
        except (OSError, MemtuiError) as error:
            whole = _drop_temp(spot, temp, seq, sha, error)
            if isinstance(error, FileExistsError):
                raise taken(address) from None
            raise _failure(error, f"Creating {address}", whole=whole) from error
        try:
            fsio.fsync_dir(folder)
        except OSError as error:
            raise _rolled_back(error, f"Creating {address}", lambda: _withdraw(spot, temp, ours)) from error
        _conclude(site, seq, address.path, sha, job)
        return Saved(address, sha, None, str(job.txn.id))


def remove(
    site: Site, address: Address, expected: str | None, job: Job, *, moved_to: tuple[int, str] | None = None
) -> Saved | Conflict:
    """Remove a name if it still has the version `expected` (None: any); the text stays in the ledger.

    `moved_to`, as (root, path), is where the memory is now when this ends a move to another root. In the result
    `before` and `sha256` are the removed version.
    """
    parts = handles.split(address.path)
    with site.handle.folder(parts[:-1]) as folder:
        spot = LockedName(site, folder, parts[-1], address)
        result, told = commit.alone(site, removing(spot, expected, job, moved_to))
    if told:
        site.handle.prune(parts[:-1])
    return result


def removing(
    spot: LockedName, expected: str | None, job: Job, moved_to: tuple[int, str] | None = None
) -> commit.Change:
    """The steps of `remove`, as a generator."""
    site, address, folder = spot.site, spot.address, spot.folder
    found = _read(spot, job, lambda content: expected in (None, content.sha))
    fsio.close(found.handle)
    if expected is not None and found.sha != expected:
        return refuse(site, address, None, expected, found, job)
    seq, temp = _announce(site, address, job, found, None, None)
    yield None
    try:
        site.handle.check()
        fsio.rename_noreplace(folder, spot.name, folder, temp)
    except (OSError, MemtuiError) as error:
        raise _failure(error, f"Deleting {address}", whole=_not_renamed(spot, temp, seq, error)) from error
    displaced = _take_off(spot, temp, found)
    if isinstance(displaced, LostRace):
        return _lost_race(site, address, job, None, found.sha, seq, displaced.theirs)
    try:
        yield MadeChange(lambda: finish(site, seq, address.path, None, job, moved_to), (folder,))
    except OSError as error:
        fsio.close(displaced.handle)
        raise _failure(error, f"Deleting {address}", whole=False) from error
    _watch(spot, displaced, None, job)
    return Saved(address, found.sha, found.sha, str(job.txn.id))


def rename(site: Site, address: Address, new: Address, expected: str | None, job: Job) -> Saved | Conflict:
    """Rename a memory within its root (`E_EXISTS`, `E_CLASH`); its pins, uses and history follow."""
    parts, target = handles.split(address.path), handles.split(new.path)
    siblings = job.siblings if parts[:-1] != target[:-1] else None  # the old name would be taken for one still there
    with site.handle.folder(parts[:-1]) as folder, TargetFolder(site, target[:-1], siblings) as there:
        spot = LockedName(site, folder, parts[-1], address)
        result, told = commit.alone(site, renaming(spot, there, new, expected, job))
    if told:
        site.handle.prune(parts[:-1])
    return result


def renaming(spot: LockedName, there: TargetFolder, new: Address, expected: str | None, job: Job) -> commit.Change:
    """The steps of `rename`, as a generator."""
    site, address, folder = spot.site, spot.address, spot.folder
    found = _read(spot, job, lambda content: expected in (None, content.sha))
    fsio.close(found.handle)
    if expected is not None and found.sha != expected:
        return refuse(site, address, None, expected, found, job)
    same = address.path.rpartition("/")[0] == new.path.rpartition("/")[0]
    new_folder = there.opened()
    there.refuse_clash(new.name, besides=spot.name if same else None)
    seq, _ = _announce(site, address, job, found, None, found.sha, to=new.path)
    yield None
    new_spot = LockedName(site, new_folder, new.name, new)
    try:
        site.handle.check()
        fsio.rename_noreplace(folder, spot.name, new_folder, new.name)
    except FileExistsError as error:
        site.ledger.audit.end(seq, "aborted", note=_short(error))
        raise taken(new) from None
    except (OSError, MemtuiError) as error:
        raise _failure(error, f"Renaming {address}", whole=_not_renamed(new_spot, new.name, seq, error)) from error

    def back() -> None:
        fsio.rename_noreplace(new_folder, new.name, folder, spot.name)

    try:
        moved = new_spot.glance()
    except (OSError, MemtuiError) as error:
        raise _rolled_back(error, f"Renaming {address}", back) from error
    sha = found.sha if moved is None or not moved.settled else moved.sha

    def end() -> None:
        if moved is not None and moved.sha == sha != found.sha:
            site.ledger.versions.store(moved.data, sha)
        site.ledger.audit.end(seq, "done", after=sha, note=job.note)
        finish_rename(site, address.path, new.path, sha, job)

    try:
        yield MadeChange(end, (new_folder,) if same else (new_folder, folder))
    except OSError as error:
        raise _rolled_back(error, f"Renaming {address}", back) from error
    return Saved(new, sha, found.sha, str(job.txn.id))


def refuse(
    site: Site, address: Address, data: bytes | None, expected: str | None, found: WholeFile | None, job: Job
) -> Conflict:
    """Keep both texts and record the conflict; the disk is not touched."""
    with site.ledger.transaction():
        yours = None
        if data is not None:
            yours = site.ledger.versions.keep_text(site.uid, address.path, data, actor=job.actor.name, note=REFUSED)
        if found is not None and found.settled:
            # Half of a version that is still being written is no version; it stays on disk, where its author ends it.
            keep_before(site, address, found)
        current = found.sha if found else None
        site.ledger.audit.intend(
            job.txn.id,
            site.uid,
            address.path,
            actor=job.actor.name,
            operation=job.operation,
            before=current,
            after=yours,
            state="conflict",
        )
    return Conflict(address, current, expected, yours, str(job.txn.id))


def finish(site: Site, seq: int, path: str, sha: str | None, job: Job, moved_to: tuple[int, str] | None = None) -> None:
    """Complete a change in the ledger, with the version under the name now: audit, history, seen mark.

    Pins, uses and history go to `moved_to`, (root, path), after a move to another root.
    """
    name, ledger = job.actor.name, site.ledger
    with ledger.transaction(durable=False):
        if moved_to is not None:
            ledger.memories.follow(site.uid, path, *moved_to)
        local = sha is not None and job.operation in WRITTEN and job.note != CARRIED
        seen = None if job.note == NEWS_STAYS else is_person(name)
        ledger.audit.conclude(seq, job.txn.id, site.uid, path, sha, actor=name, seen=seen, local=local)


def _conclude(site: Site, seq: int, path: str, sha: str, job: Job) -> None:
    """Like `finish`, for what is on disk: when the ledger cannot be written now, recovery does it from the intent."""
    with contextlib.suppress(StorageError, BusyError):
        finish(site, seq, path, sha, job)


def abort(site: Site, seq: int, path: str, sha: str | None, why: str) -> None:
    """End a change that did not happen; its text stays in history with a note."""
    with site.ledger.transaction(durable=False):
        site.ledger.audit.end(seq, "aborted", note=why)
        if sha is not None:
            site.ledger.versions.note_version(site.uid, path, sha, f"not saved: {why}")


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


def _announce(
    site: Site, address: Address, job: Job, found: WholeFile | None, data: bytes | None, sha: str | None, to: str = ""
) -> tuple[int, str]:
    """Store both texts and the intent in one commit; from here on nothing can be lost. `to`: its path after a rename.

    It is durable when it stores a text. An intent alone has to survive a kill: after a power cut that took it along,
    the disk shows what happened, and every text is in history already.
    """
    temp = paths.TEMP_PREFIX + os.urandom(8).hex()
    kept = found is None or site.ledger.versions.is_kept(site.uid, address.path, found.data, found.sha)
    with site.ledger.transaction(durable=data is not None or not kept):
        if found is not None and not kept:
            keep_before(site, address, found)
        if data is not None and sha is not None:
            site.ledger.versions.add_version(
                site.uid,
                address.path,
                site.ledger.versions.store(data, sha),
                actor=job.actor.name,
                at=site.ledger.clock(),
                operation=job.operation,
            )
        seq = site.ledger.audit.intend(
            job.txn.id,
            site.uid,
            address.path,
            actor=job.actor.name,
            operation=job.operation,
            before=found.sha if found else None,
            after=sha,
            temp=None if to else temp,
            target=(site.uid, to) if to else None,
            note=job.note,
            dated=found.status.st_mtime_ns if found is not None and data is None and not to else None,
        )
    return seq, temp


def keep_before(site: Site, address: Address, found: WholeFile) -> None:
    """Add the version about to be displaced to the memory's history, unless it is the newest there already."""
    at = found.status.st_mtime_ns // 1_000_000
    site.ledger.versions.keep_found(site.uid, address.path, found.data, found.sha, at=at)


def _read(spot: LockedName, job: Job, matters: Callable[[WholeFile], bool]) -> WholeFile:
    """Read a memory that is about to change; raises `StillWritten` when it may be half of a version that matters."""
    found = handles.read_in(spot.folder, spot.name, spot.address, spot.site.handle, calm=True)
    if job.patient and not found.settled and matters(found):
        fsio.close(found.handle)
        raise StillWritten
    return found


def _swap_in(spot: LockedName, temp: str, found: WholeFile, data: bytes, sha: str, seq: int) -> WholeFile | LostRace:
    """Swap the new file in and verify what came out; return the displaced file, open, if it is the expected version."""
    doing, known = f"Saving {spot.address}", (found.sha,)
    try:
        ours = NewFile(commit.write_temp(spot.folder, temp, data, found), sha)
        spot.site.handle.check()
        commit.swap(spot, temp, known)
    except (OSError, MemtuiError) as error:
        whole = _drop_temp(spot, temp, seq, sha, error)
        if whole and isinstance(error, (FileNotFoundError, FileExistsError)):
            return LostRace(spot.glance())
        raise _failure(error, doing, whole=whole) from error
    try:
        fsio.fsync_dir(spot.folder)
        if displaced := _take_expected(spot, temp, found.sha):
            return displaced
    except (OSError, MemtuiError) as error:
        raise _rolled_back(error, doing, lambda: commit.take_back(spot, temp, ours, known)) from error
    try:
        commit.take_back(spot, temp, ours, known)
        return LostRace(spot.glance())
    except (OSError, MemtuiError) as error:
        raise _failure(error, doing, whole=False) from error


def _take_off(spot: LockedName, temp: str, found: WholeFile) -> WholeFile | LostRace:
    """Verify what a deletion captured, and remove it; return it, open, if it is the expected version."""
    doing, known = f"Deleting {spot.address}", (found.sha,)
    try:
        displaced = _take_expected(spot, temp, found.sha)
        if displaced is None:
            commit.give_back(spot, temp, ())
            return LostRace(spot.glance())
    except (OSError, MemtuiError) as error:
        raise _rolled_back(error, doing, lambda: commit.give_back(spot, temp, known)) from error
    return displaced


def _take_expected(spot: LockedName, temp: str, expected: str) -> WholeFile | None:
    """Remove the displaced file if it is the expected version; else return None and do nothing."""
    displaced = spot.look(temp)
    if displaced is None:
        return None
    taken = False
    try:
        if displaced.sha == expected:
            fsio.unlink(spot.folder, temp)
            taken = True
        return displaced if taken else None
    finally:
        if not taken:
            fsio.close(displaced.handle)


def _withdraw(spot: LockedName, temp: str, ours: NewFile) -> None:
    """Remove a new file again, unless somebody else's has its name by now."""
    if fsio.stat_at(spot.folder, spot.name).st_ino != ours.inode:
        return
    fsio.rename_noreplace(spot.folder, spot.name, spot.folder, temp)
    if fsio.stat_at(spot.folder, temp).st_ino == ours.inode:
        commit.let_go(spot, temp, (ours.sha,))
    else:
        commit.give_back(spot, temp, (ours.sha,))


def _watch(spot: LockedName, displaced: WholeFile, ours: str | None, job: Job) -> None:
    """Watch the displaced file as long as somebody may still write it."""
    site, address = spot.site, spot.address
    site.late_writes.take(
        Displaced(displaced.handle, address, site.uid, address.path, displaced.sha, ours, job.actor.name)
    )


def _lost_race(
    site: Site,
    address: Address,
    job: Job,
    yours: str | None,
    expected: str | None,
    seq: int,
    theirs: WholeFile | None,
) -> Conflict:
    with site.ledger.transaction():
        if theirs is not None and theirs.settled:
            keep_before(site, address, theirs)
        if yours is not None:
            site.ledger.versions.note_version(site.uid, address.path, yours, REFUSED)
        site.ledger.audit.end(seq, "conflict", note="a foreign version landed first")
    return Conflict(address, theirs.sha if theirs else None, expected, yours, str(job.txn.id))


def _drop_temp(spot: LockedName, temp: str, seq: int, sha: str, cause: Exception) -> bool:
    """Remove an unused temporary file; where that fails the intent stays open for recovery."""
    try:
        whole = commit.drop_temp(spot.folder, temp)
    except OSError:
        return False
    if whole:
        abort(spot.site, seq, spot.address.path, sha, _short(cause))
    return whole


def _not_renamed(spot: LockedName, temp: str, seq: int, cause: Exception) -> bool:
    """End a change that could not rename its file; where half of it was done the intent stays open for recovery."""
    try:
        whole = not commit.exists(spot.folder, temp)
    except OSError:
        return False
    if whole:
        spot.site.ledger.audit.end(seq, "aborted", note=_short(cause))
    return whole


def _rolled_back(error: OSError | MemtuiError, doing: str, roll_back: Callable[[], object]) -> MemtuiError:
    """Undo what was done before a failure. The intent stays open, so recovery checks what is left."""
    with contextlib.suppress(OSError, MemtuiError):
        roll_back()
        return _failure(error, doing)
    return _failure(error, doing, whole=False)


def _failure(error: OSError | MemtuiError, doing: str, *, whole: bool = True) -> MemtuiError:
    found = paths.translate(error, doing) if isinstance(error, OSError) else error
    if not whole:
        found.unharmed = "All texts are in history; the next change in this root finishes this one or takes it back."
    return found


def _short(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno:
        return errno.errorcode.get(error.errno, str(error.errno))
    return getattr(error, "code", type(error).__name__)


def taken(address: Address, sha: str | None = None) -> ConflictError:
    """Return the refusal of a name that is taken, in the version `sha`."""
    return ConflictError(
        f"{address} exists already.",
        code="E_EXISTS",
        unharmed="It was not touched.",
        hint="Choose another name, or save over the version you have read.",
        details={"current_sha256": sha},
    )


def _hard_link(address: Address) -> RefusedError:
    return RefusedError(
        f"{address} has a second name elsewhere; replacing it here would leave the other one behind.",
        code="E_HARDLINK",
        hint="Edit it in place with another program, or break the link first (cp file copy; mv copy file).",
    )


def remove_some(
    site: Site, folder: tuple[str, ...], wanted: Mapping[Address, str | None], job: Job
) -> dict[Address, Saved | Conflict | MemtuiError]:
    """Remove several names of one folder together, each with its expected version; see `remove`.

    A hundred of them in a folder of thousands cost one sync and two commits of the ledger. Those that have to be
    removed alone are left out of the answer.
    """
    with site.handle.folder(folder) as opened:
        spots = [LockedName(site, opened, address.name, address) for address in wanted]
        changes = [removing(spot, wanted[spot.address], job) for spot in spots]
        ended = commit.together(site, changes)
    if ended.told:
        site.handle.prune(folder)
    site.late_writes.sweep()
    return {address: result for address, result in zip(wanted, ended.results, strict=True) if result is not None}


def rename_some(
    site: Site,
    folder: tuple[str, ...],
    there: TargetFolder,
    wanted: Mapping[Address, tuple[Address, str | None]],
    job: Job,
) -> dict[Address, Saved | Conflict | MemtuiError]:
    """Rename several names of one folder into another one, as `remove_some`; see `rename`."""
    with site.handle.folder(folder) as opened:
        spots = [LockedName(site, opened, address.name, address) for address in wanted]
        ended = commit.together(site, [renaming(spot, there, *wanted[spot.address], job) for spot in spots])
    if ended.told:
        site.handle.prune(folder)
    return {address: result for address, result in zip(wanted, ended.results, strict=True) if result is not None}
