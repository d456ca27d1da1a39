"""The roots of an engine: open folders, ledger ids and locks, and how a text names a memory in them.

What a client may change is a level for each scope, set when the engine is opened, so that it is enforced where memories
are changed, not in a prompt or in each front.
"""

import errno
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memtui.engine.disk import fsio, git, handles, paths
from memtui.engine.disk.handles import RootHandle, RootLock
from memtui.engine.model import Actor, Address, AuditRecord, Problem, Root
from memtui.engine.policy import ROOM
from memtui.errors import MemtuiError, NotFoundError, RefusedError, UsageError

if TYPE_CHECKING:
    from typing import TypeVar

    from memtui.engine.ledger.ledger import Ledger
    from memtui.engine.model import Conflict, Draft, Saved, Snapshot, TrashEntry, Unchanged
    from memtui.engine.save.files import LateWrites, Site

    Entry = TypeVar("Entry", AuditRecord, Draft, TrashEntry)

LEVELS = ("rw", "plan", "ro", "off")
"""Read and write; write all but what lies in a checkout; read only; no access."""


class Access(NamedTuple):
    """What one client may do."""

    label: str
    """One of `LEVELS`; any other word means read-only, with exceptions in `scopes`."""
    scopes: tuple[tuple[str, str], ...] = ()
    """Levels of scopes that differ from the label."""
    room: str = ""
    """The folder of the one chat whose memory it may see; `*`: of all, as a person may."""

    def level(self, root: Root) -> str:
        """Return the level for a root: one of `LEVELS`."""
        if root.kind == ROOM and self.room not in ("*", root.path):
            return "off"
        level = dict(self.scopes).get(root.scope, self.label)
        return level if level in LEVELS else "ro"

    def allows(self, root: Root) -> bool:
        """Return whether memories of this root may be changed."""
        level = self.level(root)
        return level == "rw" or (level == "plan" and not _in_checkout(root))

    def shows(self, root: Root) -> bool:
        """Return whether memories of this root may be read."""
        return self.level(root) != "off"

    def require(self, root: Root) -> None:
        """Refuse (`E_ACCESS`) a change that is not allowed."""
        if not self.allows(root):
            raise RefusedError(
                f"{root.id} may only be read here: this client has the access {self.level(root)!r}.",
                code="E_ACCESS",
                hint="The user can allow it, in the table [access] of config.toml or with --access.",
                details={"access": self.level(root), "root": root.id},
            )


def _in_checkout(root: Root) -> bool:
    """Return whether a root lies in a checkout on disk: memtui's own folder may have been put into one."""
    return root.in_checkout or (root.path != "" and git.checkout_of(root.path) is not None)


READ_WRITE = Access("rw", room="*")
PLAN = Access("plan")
READ_ONLY = Access("ro")
OFF = Access("off")


class RemoteMemories(Protocol):
    """A root on another machine: its memories are read and saved there, with the engine's errors."""

    root: Root

    def read(self, address: Address) -> "Snapshot":
        """Read a memory there; while it is out of reach, return what was read last."""
        ...

    def kept(self, address: Address) -> "Snapshot | None":
        """Return what was read or saved last; None: nothing, or it was gone."""
        ...

    def save(self, address: Address, data: bytes, expected: str | None) -> "Saved | Unchanged | Conflict":
        """Save there, with the same guarantees."""
        ...


class OpenRoot(NamedTuple):
    """A root with its ledger id; `handle` is None while its folder does not exist."""

    root: Root
    handle: RootHandle | None
    uid: int
    fresh: bool
    """Never reconciled before."""


MOST = 100
"""Open folders per process; systems allow a process 256 or 1,024 open files by default."""


class Handles:
    """The open folders of roots, limited in number: one for each of thousands is more than a process may have.

    A folder that is dropped is closed when its last reader is done, and opened again when needed. Not safe to share
    between threads without a guard.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._open: OrderedDict[str, RootHandle] = OrderedDict()

    def get(self, root_id: str) -> RootHandle | None:
        """Return the open folder of a root and mark it as used; None when it is not open."""
        handle = self._open.get(root_id)
        return None if handle is None else self.put(root_id, handle)

    def put(self, root_id: str, handle: RootHandle) -> RootHandle:
        """Keep an open folder, and drop the least recently used when there are too many."""
        self._open[root_id] = handle
        self._open.move_to_end(root_id)
        if len(self._open) > self._most:
            self._open.popitem(last=False)
        return handle

    def close(self) -> None:
        """Close every folder."""
        for handle in self._open.values():
            handle.close()
        self._open.clear()


class Roots:
    """Opens each root once and keeps it open; safe to share between threads."""

    def __init__(
        self,
        roots: Iterable[Root],
        ledger: "Callable[[], Ledger]",
        late_writes: "Callable[[], LateWrites]",
        *,
        wait: float,
        access: Access = READ_WRITE,
        read_only: bool = False,
        on_recovered: Callable[[Root, int], None],
        on_waiting: Callable[[str], None],
    ) -> None:
        """Remember the roots; nothing is opened until it is used, not even the ledger.

        `wait` is in seconds. `on_recovered` is called with a root and the number of interrupted changes tidied up in
        it, `on_waiting` with a sentence when a lock takes long enough to wonder.
        """
        self._open_ledger = ledger
        self._open_late_writes = late_writes
        self._wait = wait
        self.access = access
        self.read_only = read_only
        self._on_recovered = on_recovered
        self._on_waiting = on_waiting
        self._guard = threading.RLock()
        self._roots: dict[str, Root] = {}
        self._handles = Handles()
        self._uids: dict[str, tuple[tuple[int, int] | None, int, bool]] = {}
        self._generation = 0
        self._locks: dict[tuple[str, tuple[int, int]], RootLock] = {}
        """By path and identity of the folder: computing the name again costs a look at every folder above."""
        self.problems: dict[str, list[Problem]] = {}
        self.elsewhere: dict[str, RemoteMemories] = {}
        """Roots on other machines by id, not part of `all`: only their texts, drafts and conflicts are here."""
        self.add(roots)

    @cached_property
    def _ledger(self) -> "Ledger":
        return self._open_ledger()

    @cached_property
    def _late_writes(self) -> "LateWrites":
        return self._open_late_writes()

    def add(self, roots: Iterable[Root]) -> None:
        """Add roots that are not there yet; a folder already there under another id is left out with a problem."""
        with self._guard:
            given = tuple(filter(self.access.shows, roots))
            known = self._roots.values() if any(root.id not in self._roots for root in given) else ()
            folders = {identity: one.id for one in known if (identity := _identity(one))}
            for root in given:
                if root.id in self._roots:
                    self._roots[root.id] = root
                    continue
                identity = _identity(root)
                other = folders.get(identity) if identity else None
                if other is not None and not _disjoint(self._roots[other], root):
                    text = f"{root.id} is the same folder; its memories are shown here only."
                    self.problems.setdefault(other, []).append(Problem("E_SAME_ROOT", text))
                    continue
                if identity:
                    folders.setdefault(identity, root.id)
                self._roots[root.id] = root

    def all(self) -> tuple[Root, ...]:
        """Return every root, in the order given."""
        with self._guard:
            return tuple(self._roots.values())

    def changeable(self) -> tuple[Root, ...]:
        """Return the roots in which this client may change memories."""
        if self.read_only:
            return ()
        return tuple(root for root in self.all() if self.access.allows(root) and not root.read_only)

    def chosen(self, root_ids: Iterable[str] | None) -> tuple[Root, ...]:
        """Return the named roots, or all of them."""
        return self.all() if root_ids is None else tuple(self.find(root_id) for root_id in root_ids)

    def find(self, root_id: str) -> Root:
        """Return a root by id or alias; raises `E_NO_ROOT`."""
        with self._guard:
            found = self._roots.get(root_id)
            if found is None:
                found = next((root for root in self._roots.values() if root_id in root.aliases), None)
        if found is None:
            if root_id in self.elsewhere:
                host = self.elsewhere[root_id].root.host
                raise NotFoundError(
                    f"{root_id} is on {host}: from here its memories are only read, edited and taken back.",
                    code="E_NO_ROOT",
                    hint=f"memtui --on={host} does the rest there.",
                )
            from memtui.matching import meant

            near = meant(root_id, [name for root in self.all() for name in (root.id, *root.aliases)])
            raise NotFoundError(
                f"There is no root {root_id!r}.",
                code="E_NO_ROOT",
                hint=f"Did you mean {near}?" if near else "`memtui roots` lists them.",
            )
        return found

    def open(self, root: Root) -> OpenRoot:
        """Open a root for reading; a folder that was replaced is opened again."""
        with self._guard:
            identity = _identity(root)
            handle = self._known(root, identity)
            if handle is None and identity is not None:
                handle = self._handles.put(root.id, RootHandle(root))
            uid, fresh = self._uid(root, handle.identity if handle else None)
            return OpenRoot(root, handle, uid, fresh)

    def reading(self, root: Root) -> RootHandle:
        """Return the open folder of a root, without asking the ledger; raises `E_ROOT_MISSING`."""
        with self._guard:
            return self._known(root, _identity(root)) or self._handles.put(root.id, RootHandle(root))

    def _known(self, root: Root, identity: tuple[int, int] | None) -> RootHandle | None:
        handle = self._handles.get(root.id)
        return handle if handle is not None and handle.identity == identity else None

    def uid(self, root: Root) -> int:
        """Return the ledger's id of a root."""
        return self.open(root).uid

    def brought(self, root: Root, sha: str) -> bool:
        """Return whether a repository may have brought a text: nobody wrote it here or reviewed it."""
        from memtui.engine.save.files import CARRIED

        uid, reviews = self.uid(root), self._ledger.reviews
        return not reviews.trusts(uid, sha) if root.in_checkout else reviews.was_noted(uid, sha, CARRIED)

    def names(self) -> dict[int, str]:
        """Return root ids by ledger id."""
        found: dict[int, str] = {}
        for root in (*self.all(), *(remote.root for remote in tuple(self.elsewhere.values()))):
            try:
                found[self.uid(root)] = root.id
            except MemtuiError:
                continue  # a folder that cannot be opened has no memories to name; `status` tells why
        return found

    def rightful(self, address: Address) -> Address:
        """Return the address of the same file under the root that owns it: roots sharing a folder share its records."""
        root = self._roots.get(address.root)
        if root is None or included(root, address.path):
            return address
        here = _identity(root)
        for other in self.all():
            same = other.path == root.path or (here is not None and _identity(other) == here)
            if same and included(other, address.path):
                return Address(other.id, address.path)
        return address

    def placed(self, entry: "Entry") -> "Entry":
        """Move a ledger entry to the root that owns its file."""
        return entry._replace(address=self.rightful(entry.address))

    def placed_record(self, record: AuditRecord) -> AuditRecord:
        """Like `placed`, including where a memory went."""
        new = record.new_address
        return self.placed(record)._replace(new_address=new and self.rightful(new))

    @contextmanager
    def site(self, root: Root, actor: Actor, *, create: bool = False) -> "Iterator[Site]":
        """Lock a root for a change by `actor`, after tidying up what a dead process left.

        With `create`, a missing folder is made, and removed again when the block fails.

        Raises:
            BusyError: `E_LOCKED`.
            RefusedError: `E_ROOT_REPLACED`.
            NotFoundError: `E_ROOT_MISSING`.
        """
        from memtui.engine.save.files import Site

        made = 0
        with self._guard:
            handle = self._handles.get(root.id)
            if create and _identity(root) is None:
                made = _missing_folders(root)
                try:
                    make_root(root)
                except MemtuiError:
                    _unmake_root(root, made)
                    raise
                handle = None
            if handle is None:
                handle = self._handles.put(root.id, RootHandle(root))
            uid, _ = self._uid(root, handle.identity)
            if uid <= 0:  # nothing could be registered when the ledger was asked
                self._ledger.reopen()
                uid, _ = self._uid(root, handle.identity)
            # Named after the folder, not after a row of the ledger: whoever has another ledger has the same lock.
            lock = self._locks.get((root.path, handle.identity))
            if lock is None:
                name = f"root-{sha256(os.fsencode(os.path.realpath(root.path))).hexdigest()[:16]}.lock"
                lock = self._locks[root.path, handle.identity] = self._lock_named(name)
        with lock.held(wait=self._wait, who=actor.name, say=self._on_waiting):
            handle.check()
            site = Site(handle, uid, self._ledger, self._late_writes)
            _remember_folders(site, made)
            if site.ledger.audit.open_intents(uid):
                from memtui.engine.save import recovery

                self._on_recovered(root, recovery.recover(site))
            try:
                yield site
            except BaseException:
                if made:
                    unmake(site, made)
                raise

    def _lock_named(self, name: str) -> RootLock:
        """Return the one lock of this name: two paths may lead to one folder."""
        known = next((lock for lock in self._locks.values() if lock.name == name), None)
        return known or RootLock(os.path.join(self._ledger.directory, "locks"), name)

    def recover(self) -> int:
        """Finish or roll back changes that dead processes left undone; return how many there were."""
        waiting = set(self._ledger.audit.roots_with_intents())
        if not waiting:
            return 0
        count = 0
        for root in self.all():
            opened = self.open(root)
            if opened.uid in waiting and opened.handle is not None:
                count += len(self._ledger.audit.open_intents(opened.uid))
                with self.site(root, Actor("recovery")):
                    pass  # taking the lock tidies up
        return count

    def _uid(self, root: Root, identity: tuple[int, int] | None) -> tuple[int, bool]:
        known = self._uids.get(root.id)
        generation = self._ledger.generation()
        if generation != self._generation:
            self._uids.clear()
            self._generation, known = generation, None
        if known is None or known[0] != identity or known[1] <= 0:
            uid, fresh = self._ledger.roots.root_uid(root, identity)
            if identity is not None and (repository := git.repository_of(root.path)) is not None:
                self._ledger.repositories.bind(uid, repository)
            known = self._uids[root.id] = (identity, uid, fresh)
        return known[1], known[2]

    def baselined(self, root: Root) -> None:
        """Record that a root is no longer fresh."""
        with self._guard:
            identity, uid, _ = self._uids[root.id]
            self._uids[root.id] = (identity, uid, False)

    def close(self) -> None:
        """Close every folder and lock."""
        with self._guard:
            self._handles.close()
            for lock in set(self._locks.values()):
                lock.close()
            self._locks.clear()

    # --- names

    def resolve(self, text: str) -> Address:
        """Resolve an address: `<root id or alias>/<path>`, `/memories/<scope>/<path>`, or a file-system path."""
        if text.startswith("/memories/"):
            scope, slash, path = text[len("/memories/") :].partition("/")
            if slash and path and not os.path.lexists(text):
                return self._checked(Address(self.find(f"memtui:{scope}").id, path))
        if not text.startswith(("/", "./", "../")):
            root_id, slash, path = text.partition("/")
            if slash and path:
                try:
                    return self._checked(Address(self.find(root_id).id, path))
                except NotFoundError:
                    found = self._from_file(text)
                    if found is not None:
                        return found
                    raise
        found = self._from_file(text)
        if found is not None:
            return found
        if text.startswith(("/", "./", "../")):
            raise NotFoundError(
                f"{text!r} lies in no known root.",
                code="E_NO_ROOT",
                hint="`memtui roots` lists them; --root NAME=DIR adds one.",
            )
        raise UsageError(
            f"{text!r} is not an address.", hint="Write <root id>/<path>, such as memtui:global/preferences.md."
        )

    def file_path(self, address: Address) -> str:
        """Return the absolute path of a memory, for people and editors; never used to open it here."""
        return "/".join((self.find(address.root).path.rstrip("/"), address.path))

    def virtual_path(self, address: Address) -> str | None:
        """Return the path agents use, `/memories/<scope>/<path>`; None when the root is no scope of memtui's own."""
        root = self.find(address.root)
        named = root.id == f"memtui:{root.scope}" or f"memtui:{root.scope}" in root.aliases
        return f"/memories/{root.scope}/{address.path}" if named else None

    def _checked(self, address: Address) -> Address:
        handles.split(address.path)
        root = self.find(address.root)
        if root.policy.elsewhere and not included(root, address.path):
            return self._from_file(f"{root.path}/{address.path}") or address
        return address

    def _from_file(self, text: str) -> Address | None:
        path = os.path.abspath(text)
        candidates = (path, os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)))
        best: tuple[int, Address] | None = None
        for root in self.all():
            for base in {root.path, os.path.realpath(root.path)}:
                for candidate in candidates:
                    inside = candidate[len(base) :].lstrip("/") if candidate.startswith(base.rstrip("/") + "/") else ""
                    if inside and included(root, inside) and (best is None or len(base) > best[0]):
                        best = (len(base), Address(root.id, inside))
        return self._checked(best[1]) if best else None


def any_root(roots: Roots, root_id: str) -> Root:
    """Return a root by id, including those of other machines; see `Roots.find`."""
    there = roots.elsewhere.get(root_id)
    return there.root if there is not None else roots.find(root_id)


def included(root: Root, path: str) -> bool:
    """Return whether a path belongs to a root, which may hold only some files of its folder."""
    include = root.policy.include
    return (include is None or _named(path, include)) and not _named(path, root.policy.elsewhere)


def _named(path: str, patterns: tuple[str, ...]) -> bool:
    return any(path == pattern or (pattern.endswith("/") and path.startswith(pattern)) for pattern in patterns)


def _identity(root: Root) -> tuple[int, int] | None:
    try:
        status = fsio.stat_path(root.path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino)


def _disjoint(first: Root, second: Root) -> bool:
    """Return whether two roots may share a folder because each takes its own files from it."""
    one, two = first.policy.include, second.policy.include
    if one is not None and two is not None:
        return not set(one) & set(two)
    return _leaves(first, two) or _leaves(second, one)


def _leaves(root: Root, paths: tuple[str, ...] | None) -> bool:
    return paths is not None and all(_named(path, root.policy.elsewhere) for path in paths)


def make_root(root: Root) -> None:
    """Make the folder of a root, and what is missing above it."""
    brought = handles.brought_parts(root)
    try:
        if brought and root.project:
            fsio.close(handles.make_below(fsio.open_root(root.project), brought, root, []))
        else:
            fsio.make_root(root.path, 0o777 if root.in_checkout else 0o700)
    except OSError as error:
        if brought and error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise handles.brought_link(root) from None
        raise paths.translate(error, f"Making the folder of {root.id}") from error


def _missing_folders(root: Root) -> int:
    """Return how many folders `make_root` would make."""
    path, count = root.path.rstrip("/"), 0
    while path and not fsio.is_dir(path):
        path, count = os.path.dirname(path), count + 1
    return count


def _unmake_root(root: Root, count: int) -> None:
    """Remove the `count` folders that `make_root` made, as far as they are empty."""
    parts = tuple(part for part in root.path.split("/") if part)
    brought = len(handles.brought_parts(root))
    with suppress(OSError):  # something is in one of them by now: it stays, and so does what is above it
        for depth in range(len(parts), len(parts) - count, -1):
            # Above what a repository could have brought, links are the user's own choice.
            below = parts[len(parts) - brought : depth - 1] if depth > len(parts) - brought else ()
            with fsio.closing(fsio.open_root("/" + "/".join(parts[: depth - 1 - len(below)]))) as base:
                if below:
                    with fsio.closing(fsio.open_beneath(base, below)) as above:
                        fsio.remove_dir(above, parts[depth - 1])
                else:
                    fsio.remove_dir(base, parts[depth - 1])


def unmake(site: "Site", made: int) -> None:
    """Remove the folders memtui made for a root, as far as they are empty."""
    root = site.handle.root
    _unmake_root(root, made)
    if _identity(root) is None:
        with suppress(MemtuiError):  # it is asked again when there is such a folder again
            site.ledger.roots.note_made(site.uid, 0)


def _remember_folders(site: "Site", made: int) -> None:
    """Record how many folders were made for a root, and from now on the modes of folders removed in it.

    Without that record, undo leaves the folders in place, or brings them back private.
    """
    if made:
        with suppress(MemtuiError):
            site.ledger.roots.note_made(site.uid, made)

    def note(path: str, mode: int) -> None:
        with suppress(MemtuiError):
            site.ledger.roots.note_folder(site.uid, path, mode)

    def known(path: str) -> int | None:
        with suppress(MemtuiError):
            return site.ledger.roots.folder_mode(site.uid, path)
        return None

    site.handle.modes = handles.Modes(note, known)
