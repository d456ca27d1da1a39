"""The only writer: compare, keep both texts, announce, commit in one step, verify what was displaced.

Every function here runs under its root's lock and writes one audit record that ends as done, aborted or conflict. The
order of the steps is the promise: a text is in the ledger before the disk is touched, an intent is durable before a
temporary file exists, and a displaced version is looked at before it is let go.
"""

import contextlib
import errno
import os
from collections.abc import Callable

from memtui.engine import fsio, paths, wholefile
from memtui.engine.grace import Displaced, Grace
from memtui.engine.ledger import Ledger
from memtui.engine.model import Actor, Address, Conflict, Saved, Unchanged, is_person
from memtui.engine.paths import RootHandle
from memtui.engine.wholefile import Content
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError
from memtui.values import NamedTuple

REFUSED = "refused: somebody else was first"
SPARE = "-old"
"""Added to a temporary name where a swap has to be done in several steps."""


class Site(NamedTuple):
    """A root that is open and locked, and everything a change in it needs."""

    handle: RootHandle
    uid: int
    ledger: Ledger
    grace: Grace


class Txn:
    """A transaction that is written to the ledger together with its first record, so that nothing is logged in vain."""

    __slots__ = ("_begin", "_id")

    def __init__(self, begin: Callable[[], int]) -> None:
        """Take what begins it; called once, when its number is first needed."""
        self._begin = begin
        self._id: int | None = None

    @property
    def id(self) -> int:
        """Its number."""
        if self._id is None:
            self._id = self._begin()
        return self._id


def transaction(
    ledger: Ledger, operation: str, actor: Actor, label: str, *, kind: str = "do", reverses: int | None = None
) -> Txn:
    """A new transaction; see `Ledger.begin`."""
    return Txn(lambda: ledger.begin(operation, actor=actor.name, label=label, kind=kind, reverses=reverses))


class Job(NamedTuple):
    """What one change belongs to."""

    txn: Txn
    actor: Actor
    operation: str
    """`created`, `modified`, `deleted`, `renamed` or `restored`: the word history shows."""


class Lost(NamedTuple):
    """A commit that found a foreign version where the expected one should have been."""

    theirs: Content | None
    """What has the name now; None when nothing (or nothing plain) has."""


def replace(site: Site, address: Address, data: bytes, expected: str | None, job: Job) -> Saved | Unchanged | Conflict:
    """Put `data` under an existing name if that name still has the expected version.

    Args:
        site: the locked root.
        address: the memory.
        data: its new content.
        expected: the sha-256 the edit started from.
        job: what the change belongs to.

    Raises:
        MemtuiError: a refusal or a failure; the name has its old version, or recovery will give it back.
    """
    parts = paths.split(address.path)
    sha = wholefile.digest(data)
    with site.handle.folder(parts[:-1]) as folder:
        try:
            found = wholefile.read_in(folder, parts[-1], address, site.handle.identity[0])
        except NotFoundError:
            return refuse(site, address, data, expected, None, job)
        kept = False
        try:
            if found.sha == sha:
                return Unchanged(address, sha)
            if found.sha != expected:
                return refuse(site, address, data, expected, found, job)
            if found.status.st_nlink > 1:
                raise _hard_link(address)
            seq, temp = _announce(site, address, job, found, data, sha)
            lost = _commit_replace(site, folder, parts[-1], temp, found, data, seq, address)
            if lost is not None:
                return _lost_race(site, address, job, sha, expected, seq, lost.theirs)
            finish(site, seq, address.path, sha, job)
            site.grace.take(Displaced(found.handle, address, site.uid, address.path, found.sha, sha, job.actor.name))
            kept = True
            return Saved(address, sha, found.sha, str(job.txn.id))
        finally:
            if not kept:
                fsio.close(found.handle)


def create(site: Site, address: Address, data: bytes, job: Job, *, mode: int | None = None) -> Saved | Unchanged:
    """Put `data` under a new name.

    Args:
        site: the locked root.
        address: the memory.
        data: its content.
        job: what the change belongs to.
        mode: permission bits to give it; None for private.

    Raises:
        ConflictError: `E_EXISTS`, `E_CLASH`.
        MemtuiError: a refusal or a failure; nothing has the name.
    """
    parts = paths.split(address.path)
    sha = wholefile.digest(data)
    with site.handle.folder(parts[:-1], create=len(parts) > 1) as folder:
        try:
            found = wholefile.read_in(folder, parts[-1], address, site.handle.identity[0])
        except NotFoundError:
            pass
        except RefusedError as error:
            # A link keeps its own code: creating through it is what must never happen.
            raise error if error.code == "E_SYMLINK" else _exists(address) from None
        else:
            fsio.close(found.handle)
            if found.sha == sha:
                return Unchanged(address, sha)
            raise _exists(address, found.sha)
        try:
            other = paths.clash(folder, parts[-1])
        except OSError as error:
            raise paths.translate(error, f"Looking for names like {address}") from error
        if other is not None:
            raise ConflictError(
                f"{address} differs from {other!r} only by case or Unicode form.",
                code="E_CLASH",
                hint="Choose another name, or edit the one that exists.",
            )
        seq, temp = _announce(site, address, job, None, data, sha)
        try:
            _write_temp(folder, temp, data, None, mode)
            site.handle.check()
            fsio.rename_noreplace(folder, temp, folder, parts[-1])
        except (OSError, MemtuiError) as error:
            _drop_temp(site, folder, temp, seq, address.path, sha, error)
            if isinstance(error, FileExistsError):
                raise _exists(address) from None
            raise _failure(error, f"Creating {address}") from error
        try:
            fsio.fsync_dir(folder)
        except OSError as error:
            raise _undurable(error, address, lambda: fsio.unlink(folder, parts[-1])) from error
        finish(site, seq, address.path, sha, job)
        return Saved(address, sha, None, str(job.txn.id))


def remove(site: Site, address: Address, expected: str | None, job: Job) -> Saved | Conflict:
    """Take a name away if it still has the expected version; the text stays in the ledger.

    Args:
        site: the locked root.
        address: the memory.
        expected: the sha-256 it must have; None for whatever it has now.
        job: what the change belongs to.

    Returns:
        `Saved` whose `before` is the removed version and whose `sha256` repeats it.
    """
    parts = paths.split(address.path)
    with site.handle.folder(parts[:-1]) as folder:
        found = wholefile.read_in(folder, parts[-1], address, site.handle.identity[0])
        kept = False
        try:
            if expected is not None and found.sha != expected:
                return refuse(site, address, None, expected, found, job)
            seq, temp = _announce(site, address, job, found, None, None)
            try:
                site.handle.check()
                fsio.rename_noreplace(folder, parts[-1], folder, temp)
            except (OSError, MemtuiError) as error:
                site.ledger.end(seq, "aborted", note=_short(error))
                raise _failure(error, f"Deleting {address}") from error
            displaced = wholefile.look(folder, temp, address, site.handle.identity[0])
            if displaced is None or displaced.sha != found.sha:
                # A foreign version landed in between: it gets its name back.
                _give_back(site, folder, parts[-1], temp, address, displaced)
                site.ledger.end(seq, "conflict", note="a foreign version landed first")
                sha = displaced.sha if displaced else None
                return Conflict(address, sha, found.sha, None, str(job.txn.id))
            try:
                fsio.unlink(folder, temp)
                fsio.fsync_dir(folder)
            except OSError as error:
                raise _failure(error, f"Deleting {address}") from error
            finish(site, seq, address.path, None, job)
            site.grace.take(Displaced(found.handle, address, site.uid, address.path, found.sha, None, job.actor.name))
            kept = True
            return Saved(address, found.sha, found.sha, str(job.txn.id))
        finally:
            if not kept:
                fsio.close(found.handle)


def rename(site: Site, address: Address, new: Address, expected: str | None, job: Job) -> Saved | Conflict:
    """Give a memory a new name in the same root; its pins, uses and history follow.

    Raises:
        ConflictError: `E_EXISTS`, `E_CLASH`; both are intact.
    """
    parts, target = paths.split(address.path), paths.split(new.path)
    with site.handle.folder(parts[:-1]) as folder:
        found = wholefile.read_in(folder, parts[-1], address, site.handle.identity[0])
        try:
            if expected is not None and found.sha != expected:
                return refuse(site, address, None, expected, found, job)
            with site.handle.folder(target[:-1], create=len(target) > 1) as new_folder:
                other = paths.clash(new_folder, target[-1])
                same_folder = parts[:-1] == target[:-1]
                if other is not None and not (same_folder and other == parts[-1]):
                    raise ConflictError(
                        f"{new} differs from {other!r} only by case or Unicode form.",
                        code="E_CLASH",
                        hint="Choose another name.",
                    )
                with site.ledger.transaction():
                    _keep_before(site, address, found)
                    seq = site.ledger.intend(
                        job.txn.id,
                        site.uid,
                        address.path,
                        actor=job.actor.name,
                        operation=job.operation,
                        before=found.sha,
                        after=found.sha,
                        target=(site.uid, new.path),
                    )
                try:
                    site.handle.check()
                    fsio.rename_noreplace(folder, parts[-1], new_folder, target[-1])
                except (OSError, MemtuiError) as error:
                    site.ledger.end(seq, "aborted", note=_short(error))
                    if isinstance(error, FileExistsError):
                        raise _exists(new) from None
                    raise _failure(error, f"Renaming {address}") from error
                try:
                    fsio.fsync_dir(new_folder)
                    fsio.fsync_dir(folder)
                except OSError as error:
                    raise _undurable(
                        error,
                        address,
                        lambda: fsio.rename_noreplace(new_folder, target[-1], folder, parts[-1]),
                    ) from error
                moved = wholefile.look(new_folder, target[-1], new, site.handle.identity[0])
            sha = moved.sha if moved is not None else found.sha
            with site.ledger.transaction(durable=False):
                site.ledger.end(seq, "done", after=sha)
                finish_rename(site, address.path, new.path, sha, job)
            return Saved(new, sha, found.sha, str(job.txn.id))
        finally:
            fsio.close(found.handle)


def refuse(
    site: Site, address: Address, data: bytes | None, expected: str | None, found: Content | None, job: Job
) -> Conflict:
    """Keep both texts and record the conflict; the disk is not touched."""
    with site.ledger.transaction():
        yours = None
        if data is not None:
            yours = site.ledger.keep_text(site.uid, address.path, data, actor=job.actor.name, note=REFUSED)
        if found is not None and fsio.has_writer(found.handle) is not True:
            # Half of a version that is still being written is no version; it stays on disk, where its author ends it.
            _keep_before(site, address, found)
        current = found.sha if found else None
        site.ledger.intend(
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


def finish(site: Site, seq: int, path: str, sha: str | None, job: Job) -> None:
    """Give a change its end in the ledger: audit, history, current version, seen mark."""
    name = job.actor.name
    site.ledger.conclude(seq, job.txn.id, site.uid, path, sha, actor=name, seen=is_person(name))


def abort(site: Site, seq: int, path: str, sha: str | None, why: str) -> None:
    """End a change that did not happen; its text stays in history, saying so."""
    with site.ledger.transaction(durable=False):
        site.ledger.end(seq, "aborted", note=why)
        if sha is not None:
            site.ledger.note_version(site.uid, path, sha, f"not saved: {why}")


def finish_rename(site: Site, path: str, new_path: str, sha: str, job: Job) -> None:
    """Let everything the ledger knows of a memory follow its new name. Call inside a transaction."""
    ledger = site.ledger
    now = ledger.clock()
    ledger.follow(site.uid, path, site.uid, new_path)
    ledger.add_version(
        site.uid, new_path, ledger.blob_id(sha), actor=job.actor.name, at=now, operation=job.operation, note=path
    )
    ledger.set_current(site.uid, new_path, sha, actor=job.actor.name, at=now)
    ledger.set_current(site.uid, path, None, actor=job.actor.name, at=now)
    if is_person(job.actor.name):
        ledger.mark_seen([(site.uid, path, None), (site.uid, new_path, sha)])


def _announce(
    site: Site, address: Address, job: Job, found: Content | None, data: bytes | None, sha: str | None
) -> tuple[int, str]:
    """Store both texts and the intent in one durable commit; from here on nothing can be lost."""
    temp = paths.TEMP_PREFIX + os.urandom(8).hex()
    with site.ledger.transaction():
        if found is not None:
            _keep_before(site, address, found)
        if data is not None and sha is not None:
            site.ledger.add_version(
                site.uid,
                address.path,
                site.ledger.store(data, sha),
                actor=job.actor.name,
                at=site.ledger.clock(),
                operation=job.operation,
            )
        seq = site.ledger.intend(
            job.txn.id,
            site.uid,
            address.path,
            actor=job.actor.name,
            operation=job.operation,
            before=found.sha if found else None,
            after=sha,
            temp=temp,
        )
    return seq, temp


def _keep_before(site: Site, address: Address, found: Content) -> None:
    """Put the version that is about to be displaced on the memory's history, unless it is its newest already."""
    ledger = site.ledger
    record = ledger.record(site.uid, address.path)
    if record is not None and record.sha256 == found.sha:
        return  # recorded as the current version, so its text is stored
    blob = ledger.store(found.data, found.sha)
    kind = "modified" if record is not None and record.versions else "created"
    at = found.status.st_mtime_ns // 1_000_000
    ledger.add_version(site.uid, address.path, blob, actor="outside", at=at, operation=kind)
    ledger.set_current(site.uid, address.path, found.sha, actor="outside", at=at)


def _commit_replace(
    site: Site, folder: int, name: str, temp: str, found: Content, data: bytes, seq: int, address: Address
) -> Lost | None:
    """Write the temporary file, swap it in and verify what came out.

    Returns:
        None when the expected version was displaced.
    """
    doing = f"Saving {address}"
    try:
        inode = _write_temp(folder, temp, data, found.status, None)
        site.handle.check()
        swap(folder, name, temp)
    except (OSError, MemtuiError) as error:
        _drop_temp(site, folder, temp, seq, address.path, wholefile.digest(data), error)
        if isinstance(error, (FileNotFoundError, FileExistsError)):
            return Lost(wholefile.look(folder, name, address, site.handle.identity[0]))
        raise _failure(error, doing) from error
    try:
        fsio.fsync_dir(folder)
    except OSError as error:
        raise _undurable(error, address, lambda: _swap_back(folder, name, temp, inode)) from error
    displaced = wholefile.look(folder, temp, address, site.handle.identity[0])
    if displaced is not None and displaced.sha == found.sha:
        try:
            fsio.unlink(folder, temp)
        except OSError as error:
            raise _failure(error, doing) from error
        return None
    try:
        _swap_back(folder, name, temp, inode)
        return _settle_race(site, folder, name, temp, inode, address)
    except OSError as error:
        raise _failure(error, doing) from error


def _settle_race(site: Site, folder: int, name: str, temp: str, inode: int, address: Address) -> Lost:
    """Make sure that after a lost race the newest foreign version has the name and every other one is kept.

    Under `temp` there is our own new file now, or what a foreign writer renamed over it in the moment of the swap.
    """
    for _ in range(8):
        try:
            came_off = fsio.stat_at(folder, temp).st_ino
        except FileNotFoundError:
            break
        if came_off == inode:
            fsio.unlink(folder, temp)
            break
        # Foreign, and newer than what we put back: it belongs under the name.
        put_back = fsio.stat_at(folder, name).st_ino
        swap(folder, name, temp)
        older = wholefile.look(folder, temp, address, site.handle.identity[0])
        if older is not None and older.status.st_ino == put_back:
            site.ledger.keep_text(
                site.uid, address.path, older.data, actor="outside", note="overwritten by its own author"
            )
            fsio.unlink(folder, temp)
            break
    fsio.fsync_dir(folder)
    return Lost(wholefile.look(folder, name, address, site.handle.identity[0]))


def _lost_race(
    site: Site, address: Address, job: Job, yours: str, expected: str | None, seq: int, theirs: Content | None
) -> Conflict:
    with site.ledger.transaction():
        if theirs is not None and theirs.settled:
            _keep_before(site, address, theirs)
        site.ledger.note_version(site.uid, address.path, yours, REFUSED)
        site.ledger.end(seq, "conflict", note="a foreign version landed first")
    return Conflict(address, theirs.sha if theirs else None, expected, yours, str(job.txn.id))


def swap(folder: int, name: str, temp: str) -> None:
    """Exchange two names of a folder, in one step where the system can.

    Elsewhere the name is captured under a spare name first, so for a moment nothing has it.

    Raises:
        FileExistsError: somebody took the name in that moment; both other files are as they were.
    """
    try:
        return fsio.exchange(folder, name, temp)
    except OSError as error:
        if not fsio.unsupported(error):
            raise
    spare = temp + SPARE
    fsio.rename_noreplace(folder, name, folder, spare)
    try:
        fsio.rename_noreplace(folder, temp, folder, name)
    except FileExistsError:
        # A foreign version took the name; what we captured was replaced by it, and is in the ledger.
        fsio.unlink(folder, spare)
        raise
    except OSError:
        fsio.rename_noreplace(folder, spare, folder, name)
        raise
    fsio.rename_noreplace(folder, spare, folder, temp)
    return None


def _swap_back(folder: int, name: str, temp: str, inode: int) -> None:
    """Undo a swap, unless something newer than our file has the name by now."""
    try:
        if fsio.stat_at(folder, name).st_ino != inode:
            return
    except FileNotFoundError:
        # The name was removed meanwhile: nobody may find our text there, and theirs must not vanish.
        fsio.rename_noreplace(folder, temp, folder, name)
        return
    swap(folder, name, temp)


def _give_back(site: Site, folder: int, name: str, temp: str, address: Address, displaced: "Content | None") -> None:
    """Give a captured foreign version its name back, or keep its text when the name is taken again."""
    try:
        fsio.rename_noreplace(folder, temp, folder, name)
        fsio.fsync_dir(folder)
    except FileExistsError:
        if displaced is not None:
            site.ledger.keep_text(
                site.uid, address.path, displaced.data, actor="outside", note="overwritten by its own author"
            )
        fsio.unlink(folder, temp)
    if displaced is not None:
        with site.ledger.transaction():
            _keep_before(site, address, displaced)


def _write_temp(folder: int, temp: str, data: bytes, like: os.stat_result | None, mode: int | None) -> int:
    """Write a new file durably; returns its inode. A failed fsync is final: the file is never used."""
    handle = fsio.create_file(folder, temp)
    try:
        fsio.write_all(handle, data)
        status = fsio.fstat(handle)
        if like is not None:
            fsio.chmod(handle, like.st_mode & 0o7777)
            if (like.st_uid, like.st_gid) != (status.st_uid, status.st_gid):
                with contextlib.suppress(PermissionError):
                    fsio.chown(handle, like.st_uid, like.st_gid)
                    # A change of owner clears set-id bits; ours are never wanted, the plain bits are.
                    fsio.chmod(handle, like.st_mode & 0o7777)
        elif mode is not None:
            fsio.chmod(handle, mode & 0o7777)
        fsio.fsync(handle)
        return status.st_ino
    finally:
        fsio.close(handle)


def _drop_temp(site: Site, folder: int, temp: str, seq: int, path: str, sha: str, cause: Exception) -> None:
    """Remove a temporary file that was not used; where that fails the intent stays open and recovery does it."""
    try:
        fsio.unlink(folder, temp)
    except FileNotFoundError:
        pass
    except OSError:
        return
    abort(site, seq, path, sha, _short(cause))


def _undurable(error: OSError, address: Address, roll_back: Callable[[], None]) -> MemtuiError:
    """A folder that cannot be made durable: what was done is taken back, now or by recovery."""
    with contextlib.suppress(OSError):
        # The intent stays open on purpose: recovery looks at the disk, whatever this left, and tidies up.
        roll_back()
    return _failure(error, f"Making {address} durable")


def _failure(error: Exception, doing: str) -> MemtuiError:
    if isinstance(error, MemtuiError):
        return error
    if isinstance(error, OSError):
        return paths.translate(error, doing)
    raise error


def _short(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno:
        return errno.errorcode.get(error.errno, str(error.errno))
    return getattr(error, "code", type(error).__name__)


def _exists(address: Address, sha: str | None = None) -> ConflictError:
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
