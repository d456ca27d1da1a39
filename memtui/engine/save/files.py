"""Saving a text over another: compare, keep both texts, announce, swap in one step, verify what was displaced.

Every function runs under its root's lock and writes one audit record that ends as done, aborted or conflict. The order
of the steps is the guarantee: a text is in the ledger before the disk is touched, an intent is durable before a
temporary file exists, and a displaced version is checked before it is released: nobody may have stored it, and somebody
may still be writing it, so `let_go` removes nothing unchecked, and `LateWrites` checks until its writer closed it.
"""

import contextlib
import errno
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.handles import RootHandle, StillWritten, WholeFile
from memtui.engine.disk.paths import Siblings
from memtui.engine.ledger.audit import Txn
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.model import Actor, Address, Conflict, Saved, Unchanged, is_person
from memtui.errors import BusyError, MemtuiError, NotFoundError, RefusedError, StorageError

SPARE = "-old"
"""Suffix of the temporary name where a swap takes several steps."""
NEWS_STAYS = "took back what others did; what is left of it is still news"
"""Audit note of a change after which the user has not seen the rest; undo, redo and recovery rely on it."""
CARRIED = "carried from a text that nobody reviewed"
"""Audit note of a text memtui wrote although nobody wrote it here; recovery relies on it."""
REFUSED = "refused: somebody else was first"
WRITTEN = ("created", "modified")
"""Operations whose text was written here; `restored` may bring back one that was not."""
FIRST_LOOK, LAST_LOOK = 0.25, 2.0
"""Seconds after the commit. An ending process waits for the last look only when it knows of a writer."""
IDLE = 5.0
"""Seconds without work after which the thread ends."""
_STEP = 0.02
_ROUNDS = 16
_OVERTAKEN = "overwritten by its own author"


class Displaced(NamedTuple):
    """A file that lost its name to our commit."""

    handle: int
    address: Address
    uid: int
    before: str
    """The SHA-256 it had when it was displaced."""
    ours: str | None
    """The SHA-256 that replaced it; None after a deletion."""
    actor: str


class LateWrites:
    """Watches displaced files on a thread of its own, so that a save does not wait for it."""

    def __init__(self, on_late: Callable[[Displaced, bytes | None], None]) -> None:
        """Take what is called with a displaced file and its late content, None if unreadable; it must not raise.

        It is called on the watching thread, or by `drain`.
        """
        self._on_late = on_late
        self._guard = threading.Condition()
        self._looking = threading.Lock()
        self._waiting: list[tuple[float, Displaced]] = []
        self._thread: threading.Thread | None = None

    def take(self, displaced: Displaced) -> None:
        """Take over the handle of a displaced, unlinked file."""
        with self._guard:
            self._waiting.append((time.monotonic(), displaced))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="memtui-late-writes", daemon=True)
                self._thread.start()
            else:
                self._guard.notify_all()

    def drain(self) -> None:
        """Wait until no displaced file handed over by now is watched any more.

        At most two seconds after the last commit, and a quarter of one where the system cannot tell whether there is a
        writer.
        """
        self.sweep()
        with self._looking:
            ours = {id(entry): entry for entry in list(self._waiting)}
            known = any(fsio.has_writer(displaced.handle) is not None for _, displaced in ours.values())
        with self._guard:
            self._guard.wait_for(
                lambda: not any(id(entry) in ours for entry in self._waiting),
                timeout=LAST_LOOK + 1.0 if known else FIRST_LOOK,
            )
        with self._looking:
            with self._guard:
                rest = [entry for entry in self._waiting if id(entry) in ours]
                self._waiting = [entry for entry in self._waiting if id(entry) not in ours]
            for _, displaced in rest:
                self._finish(displaced)

    def _run(self) -> None:
        while True:
            with self._guard:
                if not self._guard.wait_for(lambda: self._waiting, timeout=IDLE):
                    self._thread = None
                    return
            # Not at once: whoever saved is still at it, and most of the time the last look is the first.
            time.sleep(_STEP)
            self.sweep()

    def sweep(self) -> None:
        """Release the files nobody writes any more."""
        with self._looking:
            finished = {id(entry): entry for entry in list(self._waiting) if self._is_final(*entry)}
            for _, displaced in finished.values():
                self._finish(displaced)
            with self._guard:
                self._waiting = [entry for entry in self._waiting if id(entry) not in finished]
                self._guard.notify_all()

    @staticmethod
    def _is_final(taken: float, displaced: Displaced) -> bool:
        return fsio.has_writer(displaced.handle) is False or time.monotonic() - taken >= LAST_LOOK

    def _finish(self, displaced: Displaced) -> None:
        try:
            try:
                data = fsio.read_all(displaced.handle, fsio.fstat(displaced.handle).st_size)
            finally:
                fsio.close(displaced.handle)
        except OSError:
            self._on_late(displaced, None)
            return
        if sha256(data).hexdigest() != displaced.before:
            self._on_late(displaced, data)


class Site(NamedTuple):
    """An open, locked root, and everything a change in it needs."""

    handle: RootHandle
    uid: int
    ledger: Ledger
    late_writes: LateWrites


class LockedName(NamedTuple):
    """A name in an open folder of a locked root."""

    site: Site
    folder: int
    name: str
    address: Address

    def look(self, name: str | None = None) -> WholeFile | None:
        """Read the plain file that has the name (or another one in the folder), or None.

        The caller closes its handle.
        """
        try:
            return handles.read_in(self.folder, name or self.name, self.address, self.site.handle, calm=True)
        except NotFoundError:
            return None
        except RefusedError as error:
            if error.code in handles.NO_MEMORY:
                return None
            raise  # it may well be a plain file

    def glance(self, name: str | None = None) -> WholeFile | None:
        """Like `look`, with the handle closed."""
        found = self.look(name)
        if found is not None:
            fsio.close(found.handle)
        return found


@contextlib.contextmanager
def opened(site: Site, address: Address) -> Iterator[LockedName]:
    """Open the folder of a memory in a locked root for the block."""
    *above, name = handles.split(address.path)
    with site.handle.folder(tuple(above)) as folder:
        yield LockedName(site, folder, name, address)


class Job(NamedTuple):
    """The context of one change."""

    txn: Txn
    actor: Actor
    operation: str
    """`created`, `modified`, `deleted`, `renamed` or `restored`, as shown in history."""
    patient: bool = False
    """Raise `StillWritten` rather than change a memory that somebody has open for writing."""
    note: str = ""
    siblings: Siblings | None = None
    """Known names in the folder that many memories are put into one by one."""


class NewFile(NamedTuple):
    """The file a change put under a name."""

    inode: int
    sha: str


class LostRace(NamedTuple):
    """A commit that found a foreign version (`theirs`) where the expected one should have been."""

    theirs: WholeFile | None


def replace(site: Site, address: Address, data: bytes, expected: str | None, job: Job) -> Saved | Unchanged | Conflict:
    """Save `data` under an existing name if it still has the version `expected` (SHA-256).

    After a failure the name has its old version, or recovery restores it.
    """
    sha = sha256(data).hexdigest()
    with opened(site, address) as spot:
        try:
            found = read_calmly(spot, job, lambda content: content.sha == expected != sha)
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
    with opened(site, address) as spot:
        found = read_calmly(spot, job, lambda _: True)
        try:
            data = change(found.data)
            sha = sha256(data).hexdigest()
            return Unchanged(address, sha) if sha == found.sha else _put_over(spot, found, data, sha, job)
        finally:
            fsio.close(found.handle)


def _put_over(spot: LockedName, found: WholeFile, data: bytes, sha: str, job: Job) -> Saved | Conflict:
    site, address = spot.site, spot.address
    if found.status.st_nlink > 1:
        raise RefusedError(
            f"{address} has a second name elsewhere; replacing it here would leave the other one behind.",
            code="E_HARDLINK",
            hint="Edit it in place with another program, or break the link first (cp file copy; mv copy file).",
        )
    seq, temp = announce(site, address, job, found, data, sha)
    displaced = _swap_in(spot, temp, found, data, sha, seq)
    if isinstance(displaced, LostRace):
        return lost_race(spot, job, sha, found.sha, seq, displaced.theirs)
    conclude(site, seq, address.path, sha, job)
    watch(spot, displaced, sha, job)
    return Saved(address, sha, found.sha, str(job.txn.id))


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
        intend(site, address, job, before=current, after=yours, state="conflict")
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


def conclude(site: Site, seq: int, path: str, sha: str, job: Job) -> None:
    """Like `finish`, for what is on disk: when the ledger cannot be written now, recovery does it from the intent."""
    with contextlib.suppress(StorageError, BusyError):
        finish(site, seq, path, sha, job)


def abort(site: Site, seq: int, path: str, sha: str | None, why: str) -> None:
    """End a change that did not happen; its text stays in history with a note."""
    with site.ledger.transaction(durable=False):
        site.ledger.audit.end(seq, "aborted", note=why)
        if sha is not None:
            site.ledger.versions.note_version(site.uid, path, sha, f"not saved: {why}")


def announce(
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
        seq = intend(
            site,
            address,
            job,
            before=found.sha if found else None,
            after=sha,
            temp=None if to else temp,
            target=(site.uid, to) if to else None,
            note=job.note,
            dated=found.status.st_mtime_ns if found is not None and data is None and not to else None,
        )
    return seq, temp


def intend(site: Site, address: Address, job: Job, **record: Any) -> int:
    """Write the audit record of one memory's change; see `AuditTable.intend`."""
    record |= {"actor": job.actor.name, "operation": job.operation}
    return site.ledger.audit.intend(job.txn.id, site.uid, address.path, **record)


def keep_before(site: Site, address: Address, found: WholeFile) -> None:
    """Add the version about to be displaced to the memory's history, unless it is the newest there already."""
    at = found.status.st_mtime_ns // 1_000_000
    site.ledger.versions.keep_found(site.uid, address.path, found.data, found.sha, at=at)


def read_calmly(spot: LockedName, job: Job, matters: Callable[[WholeFile], bool]) -> WholeFile:
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
        ours = NewFile(write_temp(spot.folder, temp, data, found), sha)
        spot.site.handle.check()
        swap(spot, temp, known)
    except (OSError, MemtuiError) as error:
        whole = drop_temp(spot, temp, seq, sha, error)
        if whole and isinstance(error, (FileNotFoundError, FileExistsError)):
            return LostRace(spot.glance())
        raise failure(error, doing, whole=whole) from error
    try:
        fsio.fsync_dir(spot.folder)
        if displaced := take_expected(spot, temp, found.sha):
            return displaced
    except (OSError, MemtuiError) as error:
        raise rolled_back(error, doing, lambda: take_back(spot, temp, ours, known)) from error
    try:
        take_back(spot, temp, ours, known)
        return LostRace(spot.glance())
    except (OSError, MemtuiError) as error:
        raise failure(error, doing, whole=False) from error


def write_temp(folder: int, temp: str, data: bytes, like: WholeFile) -> int:
    """Durably write a file that is to replace another one; return its inode.

    A failed fsync is final: the file is never used.
    """
    handle = fsio.create_file(folder, temp)
    try:
        fsio.write_all(handle, data)
        status, old = fsio.fstat(handle), like.status
        fsio.chmod(handle, old.st_mode & 0o7777)
        if (old.st_uid, old.st_gid) != (status.st_uid, status.st_gid):
            with contextlib.suppress(PermissionError):
                fsio.chown(handle, old.st_uid, old.st_gid)
                # A change of owner clears set-id bits; ours are never wanted, the plain bits are.
                fsio.chmod(handle, old.st_mode & 0o7777)
        fsio.set_attributes(handle, fsio.attributes(like.handle))
        fsio.fsync(handle)
        return status.st_ino
    finally:
        fsio.close(handle)


def swap(spot: LockedName, temp: str, known: Collection[str]) -> None:
    """Exchange two names of a folder, in one step where the system can.

    Elsewhere the name is captured under a spare name first, so for a moment nothing has it; `FileExistsError` means
    that somebody took it then. Versions in `known` (SHA-256) need not be stored again.
    """
    folder = spot.folder
    try:
        return fsio.exchange(folder, spot.name, temp)
    except OSError as error:
        if not fsio.unsupported(error):
            raise
    spare = temp + SPARE
    fsio.rename_noreplace(folder, spot.name, folder, spare)
    try:
        fsio.rename_noreplace(folder, temp, folder, spot.name)
    except FileExistsError:
        let_go(spot, spare, known)
        raise
    except OSError:
        fsio.rename_noreplace(folder, spare, folder, spot.name)
        raise
    fsio.rename_noreplace(folder, spare, folder, temp)
    return None


def take_expected(spot: LockedName, temp: str, expected: str) -> WholeFile | None:
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


def watch(spot: LockedName, displaced: WholeFile, ours: str | None, job: Job) -> None:
    """Watch the displaced file as long as somebody may still write it."""
    site, address = spot.site, spot.address
    site.late_writes.take(Displaced(displaced.handle, address, site.uid, displaced.sha, ours, job.actor.name))


def take_back(spot: LockedName, temp: str, ours: NewFile, known: Collection[str]) -> None:
    """Undo a swap: the newest foreign version gets the name, and every other one is kept.

    `ours` is our new file under the name, `temp` the name of what it displaced; versions in `known` need not be stored
    again.
    """
    older = ours.inode
    for _ in range(_ROUNDS):
        # Here `temp` is newer than the file `older`, which should still have the name.
        try:
            if fsio.stat_at(spot.folder, spot.name).st_ino != older or not _untouched(spot, ours):
                break  # somebody wrote there meanwhile, and that is newer still
            newer = fsio.stat_at(spot.folder, temp).st_ino
            swap(spot, temp, known)
            if fsio.stat_at(spot.folder, temp).st_ino == older:
                break
            older = newer  # a file came off that was put there in between: it goes back, over the one we just put there
        except FileExistsError:
            continue
        except FileNotFoundError:
            if give_back(spot, temp, known):
                return
    let_go(spot, temp, {*known, ours.sha})
    fsio.fsync_dir(spot.folder)


def _untouched(spot: LockedName, ours: NewFile) -> bool:
    status = fsio.stat_at(spot.folder, spot.name)
    if status.st_ino != ours.inode:
        return True
    found = spot.glance()
    return found is not None and found.settled and found.sha == ours.sha


def give_back(spot: LockedName, temp: str, known: Collection[str]) -> bool:
    """Give a captured file its name back, or keep its text when the name is taken; return whether it has its name."""
    try:
        fsio.rename_noreplace(spot.folder, temp, spot.folder, spot.name)
    except FileExistsError:
        let_go(spot, temp, known)
        return False
    except FileNotFoundError:
        return False
    fsio.fsync_dir(spot.folder)
    return True


def let_go(spot: LockedName, name: str, known: Collection[str]) -> None:
    """Remove the last name of a file; its text is stored first unless in `known`, and its writer is watched."""
    site, address = spot.site, spot.address
    try:
        content = handles.read_in(spot.folder, name, address, site.handle, calm=True)
    except NotFoundError:
        return
    except RefusedError as error:
        if error.code not in ("E_SYMLINK", "E_NOT_REGULAR"):
            raise
        fsio.unlink(spot.folder, name)  # a link or a FIFO holds no text; a folder refuses
        return
    watched = False
    try:
        if content.status.st_nlink > 1:
            fsio.unlink(spot.folder, name)  # its text stays under its other name
            return
        stored = content.sha in known
        if not stored and content.settled:
            site.ledger.versions.keep_text(site.uid, address.path, content.data, actor="outside", note=_OVERTAKEN)
            stored = True
        fsio.unlink(spot.folder, name)
        before = content.sha if stored else ""  # what its writer leaves in it is stored whatever it is
        site.late_writes.take(Displaced(content.handle, address, site.uid, before, None, "outside"))
        watched = True
    finally:
        if not watched:
            fsio.close(content.handle)


def exists(folder: int, name: str) -> bool:
    """Return whether anything has the name."""
    try:
        fsio.stat_at(folder, name)
    except FileNotFoundError:
        return False
    return True


def lost_race(
    spot: LockedName, job: Job, yours: str | None, expected: str, seq: int, theirs: WholeFile | None
) -> Conflict:
    """Keep both texts of a change that met a foreign version in its commit, and record the conflict."""
    site, address = spot.site, spot.address
    with site.ledger.transaction():
        if theirs is not None and theirs.settled:
            keep_before(site, address, theirs)
        if yours is not None:
            site.ledger.versions.note_version(site.uid, address.path, yours, REFUSED)
        site.ledger.audit.end(seq, "conflict", note="a foreign version landed first")
    return Conflict(address, theirs.sha if theirs else None, expected, yours, str(job.txn.id))


def drop_temp(spot: LockedName, temp: str, seq: int, sha: str, cause: Exception) -> bool:
    """Remove an unused temporary file; where that fails the intent stays open for recovery."""
    try:
        with contextlib.suppress(FileNotFoundError):
            fsio.unlink(spot.folder, temp)
        whole = not exists(spot.folder, temp + SPARE)
    except OSError:
        return False
    if whole:
        abort(spot.site, seq, spot.address.path, sha, cause_of(cause))
    return whole


def rolled_back(error: OSError | MemtuiError, doing: str, roll_back: Callable[[], object]) -> MemtuiError:
    """Undo what was done before a failure. The intent stays open, so recovery checks what is left."""
    with contextlib.suppress(OSError, MemtuiError):
        roll_back()
        return failure(error, doing)
    return failure(error, doing, whole=False)


def failure(error: OSError | MemtuiError, doing: str, *, whole: bool = True) -> MemtuiError:
    """Return the error of a change; `whole` is False where the intent stays open, for recovery."""
    failed = paths.translate(error, doing) if isinstance(error, OSError) else error
    if not whole:
        failed.unharmed = "All texts are in history; the next change in this root finishes this one or takes it back."
    return failed


def cause_of(error: Exception) -> str:
    """Return the cause of a failure for the audit: a code."""
    if isinstance(error, OSError) and error.errno:
        return errno.errorcode.get(error.errno, str(error.errno))
    return getattr(error, "code", type(error).__name__)
