"""Recovery of intents without an end: a process died in the middle of a change, and the disk shows how far it came.

Runs under the root's lock, where every open intent is a dead process's. Each step may itself be killed and run again.
No file is removed unless its text is in the ledger or is a part of the text that was being written.
"""

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.ledger.audit import AuditStep, Txn
from memtui.engine.model import Actor, Address
from memtui.engine.save import files, names
from memtui.engine.save.files import Job, LockedName, NewFile, Site
from memtui.errors import MemtuiError, NotFoundError, RefusedError

_STOPPED = "memtui was stopped"
_NO_TEMP = paths.TEMP_PREFIX + "none"
"""A name nothing has, for an intent that names no temporary file."""
_NO_FOLDER = ("E_NOT_FOUND", "E_SYMLINK", "E_NOT_REGULAR", "E_OTHER_DEVICE")


def recover(site: Site) -> int:
    """Finish or roll back every intent of a locked root; return how many there were."""
    intents = site.ledger.audit.open_intents(site.uid)
    for intent in intents:
        try:
            with files.opened(site, Address(site.handle.root.id, intent.path)) as spot:
                _settle(spot, intent)
        except (NotFoundError, RefusedError) as error:
            if error.code not in _NO_FOLDER:
                raise
            # The folder is gone or became something else: nothing of ours can be in it any more.
            files.abort(site, intent.seq, intent.path, intent.after, error.code)
        except OSError as error:
            raise paths.translate(error, f"Tidying up after an interrupted change of {intent.path!r}") from error
    # Only now: the other intents of a folder look into it.
    for path in dict.fromkeys(path.rpartition("/")[0] for one in intents for path in (one.path, one.new_path or "")):
        site.handle.prune(handles.split(path) if path else ())
    return len(intents)


def _settle(spot: LockedName, intent: AuditStep) -> None:
    if intent.new_path is not None:
        _rename(spot, intent, intent.new_path)
    elif intent.after is None:
        _remove(spot, intent, intent.temp or _NO_TEMP)
    else:
        _put(spot, intent, intent.temp or _NO_TEMP, intent.after)


def _put(spot: LockedName, intent: AuditStep, temp: str, after: str) -> None:
    _restore_spare(spot, intent, temp)
    target, left = spot.glance(), spot.glance(temp)
    there = left is not None or files.exists(spot.folder, temp)
    saved = target is not None and target.sha == after
    swapped = left is not None and left.sha == intent.before and not (target and target.sha == intent.before)
    ours = left is not None and not swapped and (left.sha == after or _begins(spot, after, left.data))
    if there and not swapped and not ours:
        # A foreign version was displaced, and the look at it never came.
        if target is not None and saved:
            files.take_back(spot, temp, NewFile(target.status.st_ino, after), ())
        else:
            files.let_go(spot, temp, ())
        spot.site.ledger.versions.note_version(spot.site.uid, intent.path, after, files.REFUSED)
        spot.site.ledger.audit.end(intent.seq, "conflict", note=_STOPPED)
        return
    if ours:
        fsio.unlink(spot.folder, temp)
    elif there:
        files.let_go(spot, temp, (intent.before or "",))
    fsio.fsync_dir(spot.folder)
    if swapped or saved:
        files.finish(spot.site, intent.seq, intent.path, after, _job(intent))
    else:
        files.abort(spot.site, intent.seq, intent.path, after, _STOPPED)


def _begins(spot: LockedName, sha: str, data: bytes) -> bool:
    """Return whether data is a prefix of a stored text, as in a temporary file whose writing was interrupted."""
    try:
        whole = spot.site.ledger.versions.blob(sha)
    except MemtuiError:
        return False  # damaged or redacted: what was left is kept like a stranger's
    return whole is not None and whole.startswith(data)


def _remove(spot: LockedName, intent: AuditStep, temp: str) -> None:
    target, left = spot.glance(), spot.glance(temp)
    if target is not None and left is not None and target.status.st_ino == left.status.st_ino:
        # Where renaming takes a link and an unlink, only the link was made.
        fsio.unlink(spot.folder, temp)
        left = None
    elif files.exists(spot.folder, temp) and (left is None or left.sha != intent.before):
        files.give_back(spot, temp, ())
        spot.site.ledger.audit.end(intent.seq, "conflict", note=_STOPPED)
        return
    happened = left is not None or target is None
    if left is not None:
        files.let_go(spot, temp, (left.sha,))
    fsio.fsync_dir(spot.folder)
    if happened:
        moved_to = spot.site.ledger.audit.moved_to(intent)
        files.finish(spot.site, intent.seq, intent.path, None, _job(intent), moved_to)
    else:
        files.abort(spot.site, intent.seq, intent.path, None, _STOPPED)


def _rename(spot: LockedName, intent: AuditStep, new_path: str) -> None:
    site, folder, name = spot.site, spot.folder, spot.name
    parts = handles.split(new_path)
    try:
        with site.handle.folder(parts[:-1]) as new_folder:
            there = LockedName(site, new_folder, parts[-1], spot.address).glance()
            here = spot.glance()
            same = here is not None and there is not None and here.status.st_ino == there.status.st_ino
            if same and here is not None and here.status.st_nlink > 1:
                # Where renaming takes a link and an unlink, only the unlink is missing.
                fsio.unlink(folder, name)
                here = None
            fsio.fsync_dir(new_folder)
            fsio.fsync_dir(folder)
    except NotFoundError:
        here, there = spot.glance(), None
    if there is not None and (here is None or here.sha != intent.before == there.sha):
        with site.ledger.transaction(durable=False):
            site.ledger.audit.end(intent.seq, "done", after=there.sha, note=intent.note)
            site.ledger.versions.store(there.data, there.sha)
            names.finish_rename(site, intent.path, new_path, there.sha, _job(intent))
    else:
        site.ledger.audit.end(intent.seq, "aborted", note=_STOPPED)


def _restore_spare(spot: LockedName, intent: AuditStep, temp: str) -> None:
    """Bring a swap in several steps back to its start, or to its end."""
    spare, folder = temp + files.SPARE, spot.folder
    if not files.exists(folder, spare):
        return
    for name in (spot.name, temp):  # the name was only captured, or only the last step is missing
        if not files.exists(folder, name):
            fsio.rename_noreplace(folder, spare, folder, name)
            return
    files.let_go(spot, spare, (intent.before or "",))


def _job(intent: AuditStep) -> Job:
    return Job(Txn(intent.txn), Actor(intent.actor), intent.operation, note=intent.note)
