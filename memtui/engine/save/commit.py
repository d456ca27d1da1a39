"""The steps of a change on disk: write a new file aside, swap it in, check what came out, release it or go back.

A file that loses its name to us may hold a version nobody has stored, and somebody may still be writing it: nothing is
removed unchecked (`let_go`), and `LateWrites` checks again until its writer closed it. Several files of a folder share
the ledger's commits and the folder's syncs: every text and intent is durable before the first name is touched, and the
folder before an end is recorded. A kill leaves intents, which recovery settles one by one.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.handles import RootHandle, StillWritten, WholeFile
from memtui.engine.ledger.audit import Txn
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.model import Actor, Address, Conflict, Saved
from memtui.errors import BusyError, ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

SPARE = "-old"
"""Suffix of the temporary name where a swap takes several steps."""
NEWS_STAYS = "took back what others did; what is left of it is still news"
"""Audit note of a change after which the user has not seen the rest; undo, redo and recovery rely on it."""
CARRIED = "carried from a text that nobody reviewed"
"""Audit note of a text memtui wrote although nobody wrote it here; recovery relies on it."""
OVERTAKEN = "overwritten by its own author"
_ROUNDS = 16
_LINKS = ("E_SYMLINK", "E_NOT_REGULAR")


FIRST_LOOK = 0.25
LAST_LOOK = 2.0
"""Seconds after the commit. An ending process waits for the last look only when it knows of a writer."""
_STEP = 0.02
IDLE = 5.0
"""Seconds without work after which the thread ends."""


class Displaced(NamedTuple):
    """A file that lost its name to our commit."""

    handle: int
    address: Address
    uid: int
    path: str
    before: str
    """The SHA-256 it had when it was displaced."""
    ours: str | None
    """The SHA-256 that replaced it; None after a deletion."""
    actor: str


class LateWrites:
    """Watches displaced files on a thread of its own, so that a save does not wait for it."""

    def __init__(self, on_late: Callable[[Displaced, bytes | None], None]) -> None:
        """`on_late` must not raise.

        It is called, on the watching thread or by `drain`, with the displaced file and its final content, or None when
        that could not be read.
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


class Siblings:
    """The names in a folder by folded form, listed again only when somebody else changed the folder.

    Without it, each of thousands of new names in one folder would list all of those before.
    """

    def __init__(self) -> None:
        self._stamp: tuple[int, int, int] | None = None
        self._names: dict[str, set[str]] = {}

    def clash(self, parent: int, name: str) -> str | None:
        """Return a name that clashes with this one; a name asked for counts as one of the folder from then on."""
        if self._stamp is None or self._stamp != _stamp(parent):
            self._names.clear()
            for other in paths.names_in(parent):
                self._names.setdefault(paths.fold(other), set()).add(other)
            self._stamp = _stamp(parent)
        alike = self._names.setdefault(paths.fold(name), set())
        found = next((other for other in alike if other != name), None)
        alike.add(name)
        return found

    def settle(self, parent: int) -> None:
        """Treat the folder as known: what changed in it was asked for."""
        self.forget()
        with contextlib.suppress(MemtuiError):
            self._stamp = _stamp(parent)

    def forget(self) -> None:
        """List the folder again next time: what was asked for was not put there."""
        self._stamp = None


def _stamp(folder: int) -> tuple[int, int, int]:
    try:
        status = fsio.fstat(folder)
    except OSError as error:
        raise paths.translate(error, "Looking at a folder") from error
    return status.st_dev, status.st_ino, status.st_mtime_ns


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


def drop_temp(folder: int, temp: str) -> bool:
    """Remove an unused temporary file; return whether nothing of the change is left in the folder."""
    with contextlib.suppress(FileNotFoundError):
        fsio.unlink(folder, temp)
    return not exists(folder, temp + SPARE)


def exists(folder: int, name: str) -> bool:
    """Return whether anything has the name."""
    try:
        fsio.stat_at(folder, name)
    except FileNotFoundError:
        return False
    return True


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
    """Return whether the file under the name is a foreign one, or ours as we wrote it."""
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
        if error.code not in _LINKS:
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
            site.ledger.versions.keep_text(site.uid, address.path, content.data, actor="outside", note=OVERTAKEN)
            stored = True
        fsio.unlink(spot.folder, name)
        before = content.sha if stored else ""  # what its writer leaves in it is stored whatever it is
        site.late_writes.take(Displaced(content.handle, address, site.uid, address.path, before, None, "outside"))
        watched = True
    finally:
        if not watched:
            fsio.close(content.handle)


class MadeChange(NamedTuple):
    """A change that was made on disk."""

    end: Callable[[], None]
    folders: tuple[int, ...]


Change = Generator[MadeChange | None, bool, Saved | Conflict]
"""Yields None once announced, and a `MadeChange` once made; then receives whether the ledger has recorded it. A failed
sync is thrown into it."""


class BatchResult(NamedTuple):
    """Results of changes that were made together."""

    results: list[Saved | Conflict | MemtuiError | None]
    """In order; None for a change that was not begun and has to be made alone."""
    told: bool
    """Whether the ledger has recorded them; until then folders must stay, because recovery looks into them."""


def alone(site: Site, change: Change) -> tuple[Saved | Conflict, bool]:
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


def together(site: Site, changes: Sequence[Change]) -> BatchResult:
    """Make several changes in a locked root."""
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
        return BatchResult([None] * len(changes), told=False)
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
    return BatchResult(results, told)


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
