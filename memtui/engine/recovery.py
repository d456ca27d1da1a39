"""Intents without an end: a process died in the middle of a change, and the disk says how far it came.

Runs under the root's lock, where every open intent is a dead process's. Each step may itself be killed and run again.
No file is removed unless its text is in the ledger or is a part of the text that was being written.
"""

import errno

from memtui.engine import files, fsio, paths, wholefile
from memtui.engine.files import Job, Site, Txn
from memtui.engine.ledger import Intent
from memtui.engine.model import Actor, Address
from memtui.engine.wholefile import Content
from memtui.errors import NotFoundError, RefusedError

_STOPPED = "memtui was stopped"


def recover(site: Site) -> int:
    """Finish or roll back every intent of a locked root.

    Returns:
        How many there were.
    """
    intents = site.ledger.open_intents(site.uid)
    for intent in intents:
        parts = paths.split(intent.path)
        try:
            with site.handle.folder(parts[:-1]) as folder:
                if intent.new_path is not None:
                    _rename(site, intent, folder, parts[-1], intent.new_path)
                elif intent.after is None:
                    _remove(site, intent, folder, parts[-1])
                else:
                    _put(site, intent, folder, parts[-1])
        except (NotFoundError, RefusedError) as error:
            # The folder is gone or became something else: nothing of ours can be in it any more.
            files.abort(site, intent.seq, intent.path, intent.after, error.code)
        except OSError as error:
            raise paths.translate(error, f"Tidying up after an interrupted change of {intent.path!r}") from error
    return len(intents)


def _put(site: Site, intent: Intent, folder: int, name: str) -> None:
    """A save or a create."""
    temp = intent.temp or ""
    _restore_spare(site, intent, folder, name, temp)
    after = site.ledger.blob(intent.after or "") or b""
    target = _peek(site, folder, name)
    left = _peek(site, folder, temp)
    swapped = left is not None and intent.before is not None and left.sha == intent.before and left.data != after
    ours = left is None or swapped or after.startswith(left.data)
    if left is None and _exists(folder, temp):
        ours = False  # something that cannot be read as a memory: too big, a link, a folder
    if target is not None and target.sha == intent.after and not ours:
        # The swap displaced a foreign version, and the look at it never came: it gets its name back.
        if left is not None:
            _keep(site, intent, left)
        files.swap(folder, name, temp)
        _discard(folder, temp)
        fsio.fsync_dir(folder)
        site.ledger.note_version(site.uid, intent.path, intent.after, files.REFUSED)
        site.ledger.end(intent.seq, "conflict", note=_STOPPED)
        return
    if left is not None and not ours:
        _keep(site, intent, left)
    _discard(folder, temp)
    fsio.fsync_dir(folder)
    if swapped or (target is not None and target.sha == intent.after):
        files.finish(site, intent.seq, intent.path, intent.after, _job(intent))
    else:
        files.abort(site, intent.seq, intent.path, intent.after, _STOPPED)


def _remove(site: Site, intent: Intent, folder: int, name: str) -> None:
    """A deletion: the file was captured under a temporary name first."""
    temp = intent.temp or ""
    target, left = _peek(site, folder, name), _peek(site, folder, temp)
    if _exists(folder, temp) and (left is None or left.sha != intent.before):
        if left is not None:
            _keep(site, intent, left)
        try:
            fsio.rename_noreplace(folder, temp, folder, name)
        except FileExistsError:
            _discard(folder, temp)
        fsio.fsync_dir(folder)
        site.ledger.end(intent.seq, "conflict", note=_STOPPED)
        return
    happened = left is not None or target is None or target.sha != intent.before
    _discard(folder, temp)
    fsio.fsync_dir(folder)
    if happened:
        files.finish(site, intent.seq, intent.path, None, _job(intent))
    else:
        files.abort(site, intent.seq, intent.path, None, _STOPPED)


def _rename(site: Site, intent: Intent, folder: int, name: str, new_path: str) -> None:
    """A rename within the root."""
    parts = paths.split(new_path)
    try:
        with site.handle.folder(parts[:-1]) as new_folder:
            there = _peek(site, new_folder, parts[-1])
            here = _peek(site, folder, name)
            if here is not None and there is not None and here.status.st_ino == there.status.st_ino:
                # Where renaming takes a link and an unlink, only the unlink is missing.
                fsio.unlink(folder, name)
                here = None
            fsio.fsync_dir(new_folder)
            fsio.fsync_dir(folder)
    except NotFoundError:
        here, there = _peek(site, folder, name), None
    if here is None and there is not None:
        with site.ledger.transaction(durable=False):
            site.ledger.end(intent.seq, "done", after=there.sha)
            site.ledger.store(there.data, there.sha)
            files.finish_rename(site, intent.path, new_path, there.sha, _job(intent))
    else:
        site.ledger.end(intent.seq, "aborted", note=_STOPPED)


def _restore_spare(site: Site, intent: Intent, folder: int, name: str, temp: str) -> None:
    """Undo the first half of a swap that has to be done in several steps."""
    spare = _peek(site, folder, temp + files.SPARE)
    if spare is None:
        return
    if _peek(site, folder, name) is None:
        fsio.rename_noreplace(folder, temp + files.SPARE, folder, name)
        return
    if spare.sha != intent.before:
        _keep(site, intent, spare)
    _discard(folder, temp + files.SPARE)


def _keep(site: Site, intent: Intent, content: Content) -> None:
    site.ledger.keep_text(site.uid, intent.path, content.data, actor="outside", note="found after memtui was stopped")


def _discard(folder: int, name: str) -> None:
    try:
        fsio.unlink(folder, name)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EISDIR):
            raise


def _peek(site: Site, folder: int, name: str) -> Content | None:
    return wholefile.look(folder, name, Address(site.handle.root.id, name), site.handle.identity[0])


def _exists(folder: int, name: str) -> bool:
    try:
        fsio.stat_at(folder, name)
    except FileNotFoundError:
        return False
    return True


def _job(intent: Intent) -> Job:
    return Job(Txn(lambda: intent.txn), Actor(intent.actor), intent.operation)
