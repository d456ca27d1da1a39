"""Rows: every memory of a root as a list shows it, cached between looks and never older than the disk.

A row is rebuilt only when its stat, its text or its ledger record changed, and the same `Memory` object is returned
until then: a list of thousands costs a stat each, and a screen can tell by identity what to draw again. Rows are saved
for the next process in one disposable file per root, so that the first paint needs no scan, and unchanged files need
not be hashed again; one that is missing, cut or garbled counts as no file.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from memtui.engine.disk import fsio, state_file
from memtui.engine.disk.paths import Patterns, Selection
from memtui.engine.look.scan import SETTLE_MS, Contents, Delta, Reading, RootTree, ScannedFile, StatKey, Times, read
from memtui.engine.model import BROUGHT, Address, Memory, Problem, Root, is_person

if TYPE_CHECKING:
    from memtui.engine.disk.handles import RootHandle
    from memtui.engine.ledger.ledger import Ledger
    from memtui.engine.ledger.memories import Record

HEAT_STEP_MS = 3_600_000
"""How often decaying heat is recomputed: in this time it loses less than half a percent."""
BEING_WRITTEN = Problem("being-written", "Somebody may still be writing it: its text was not yet seen twice.")
GENERATED = Problem("generated", "The agent regenerates it, so an edit will be overwritten.")
PROTECTED = Problem("protected", "The agent's layout protects it: automatic work leaves it alone.")


class RootCache:
    """Everything cached about one root."""

    def __init__(self, root: Root) -> None:
        self.guard = threading.RLock()
        self.root = root
        self.tree = RootTree(Selection.of(root.policy))
        self.uid = -1
        self.identity = (0, 0)
        self.readings: dict[str, Reading] = {}
        self.rows: dict[str, Memory] = {}
        self.records: dict[str, Record] = {}
        self.shared: dict[str, dict[str | None, Record]] = {}
        """For paths without a record, as `MemoryTable.shared` gives them."""
        self.baselined = False
        self.counter: tuple[int, int] | None = None
        self.written = 0
        """`MemoryTable.rows_written` of the last look."""
        self.trusted: Mapping[str, str] = {}
        """In a checkout, texts that agents may be given unasked: state by SHA-256."""
        self.heat_at = 0
        self.stale: set[str] = set()
        """Paths whose content is unknown, or has to be read again next time."""
        self.news: set[str] = set()
        """Paths that were read, appeared or went since the news was taken."""
        self.rebuilt: set[str] = set()
        """Paths whose row changed since the news was taken."""
        self.writing: frozenset[str] = frozenset()
        """Paths whose content is not settled, as the reconciler says."""
        self.baseline: set[str] = set()
        """Paths of the first look at a root that are not recorded yet, and no news."""
        self.held: dict[str, bool] = {}
        """Paths that are gone but not yet deleted, and whether to show them as missing."""
        self.lost: dict[str, Memory] | None = None
        """The last rows of what went, once a reconciler says what to hold."""
        self.result: Rows | None = None
        self.complete = False
        self.unsaved = False
        self.protected = Patterns(root.policy.protected)
        self.generated = Patterns(root.policy.generated)

    def rename(self, identity: tuple[int, int]) -> None:
        """Forget everything when the root is another folder than before."""
        if self.identity not in ((0, 0), identity):
            self.tree.forget()
            for kept in (self.readings, self.rows, self.stale, self.held, self.baseline):
                kept.clear()
            self.writing, self.result, self.complete = frozenset(), None, False
        self.identity = identity


class Catalog:
    """The rows of every root; safe to share between threads."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        ticks: Callable[[], int] | None = None,
        remembered: Remembered | None = None,
    ) -> None:
        """Start without rows; they are kept between processes in disposable files beside the ledger.

        `ticks` is a monotonic clock in milliseconds, `remembered` what was read of those files already.
        """
        self._remembered = remembered or Remembered(ledger.directory)
        self._ledger = ledger
        self._state_dir = ledger.directory
        self._clock = ledger.clock
        self.ticks = ticks or fsio.monotonic_ms
        self._guard = threading.Lock()
        self._caches: dict[str, RootCache] = {}
        self.orders = itertools.count(1)
        """Numbers for rows taken under the root's guard; see `Changes.order`."""
        self._lifted = False

    # --- for lists

    def lift(self) -> None:
        """List roots of any size from now on."""
        with self._guard:
            self._lifted = True
            for cache in self._caches.values():
                cache.tree.lift()

    def cut(self, root: Root) -> bool:
        """Return whether the last look left something out because of a limit."""
        return self.cache(root).tree.truncated

    def rows(self, handle: RootHandle, uid: int) -> Rows:
        """Return the rows of a root as it is on disk now; nothing is recorded."""
        cache = self.cache(handle.root)
        with cache.guard:
            self.look(cache, handle, uid)
            return self.result(cache)

    def some(self, handle: RootHandle, uid: int, wanted: Iterable[str]) -> dict[str, Memory]:
        """Return the rows of some memories as they are on disk now, by path, without listing the root."""
        cache = self.cache(handle.root)
        chosen = tuple(wanted)
        with cache.guard:
            self.look(cache, handle, uid, names=by_folder(chosen))
            return {path: cache.rows[path] for path in chosen if path in cache.rows}

    def cached(self, root: Root) -> Rows | None:
        """Return the rows of the last look, of this or an earlier process, without touching memory files."""
        cache = self.cache(root)
        with cache.guard:
            if cache.complete:
                return self.result(cache)
            return self._remembered.rows(root)

    def last_identity(self, root: Root) -> tuple[int, int] | None:
        """Return the (device, inode) the root had when its rows were last saved."""
        found = load_rows(self._state_dir, root)
        return None if found is None else found.identity

    def keep(self, *, small: bool = True) -> None:
        """Save changed rows for the next process; those of small roots, which are read as quickly, only if `small`."""
        with self._guard:
            caches = list(self._caches.values())
        for cache in caches:
            with cache.guard:
                if not cache.complete or not (small or len(cache.rows) >= WORTH_LOADING):
                    continue
                found = self.result(cache)
                if cache.unsaved:
                    save_rows(self._state_dir, cache.root, cache.identity, found.items, cache.readings)
                    cache.unsaved = False

    # --- for the reconciler

    def cache(self, root: Root) -> RootCache:
        """Return what is cached about a root. Hold its `guard` while using it."""
        with self._guard:
            found = self._caches.get(root.id)
            if found is None or (found.root is not root and found.root != root):
                found = self._caches[root.id] = RootCache(root)
                if self._lifted:
                    found.tree.lift()
            return found

    def look(
        self,
        cache: RootCache,
        handle: RootHandle,
        uid: int,
        *,
        folders: Iterable[str] | None = None,
        names: Mapping[str, Collection[str]] | None = None,
        contents: Contents | None = None,
    ) -> Delta:
        """Bring the cached rows of a root, whose guard is held, up to date with the disk and the ledger.

        Only these `folders`, or these `names` by folder, are looked at; `contents` receives what is read.
        """
        new_uid = cache.uid != uid
        if new_uid or cache.identity != handle.identity:
            cache.rename(handle.identity)
            cache.uid = uid
        loaded: Mapping[str, Reading] = {}
        remembered: set[str] = set()
        if not cache.complete and names is None and folders is None:
            loaded = self._load(cache, handle)
            remembered.update(cache.rows)
        if names is not None:
            delta = Delta()
            for folder, some in names.items():
                delta.add(cache.tree.look(handle, folder, some))
        else:
            delta = cache.tree.refresh(handle, folders)
            cache.complete |= folders is None
        self._sort(cache, delta, loaded)
        changed = delta.changed | delta.flagged | delta.gone | remembered
        cache.news |= delta.changed | delta.gone
        if cache.stale:
            changed |= self.read(cache, handle, cache.stale, contents).keys()
        records = self._changed_records(cache, force=new_uid)
        cache.news |= records
        self._rebuild(cache, changed | records)
        return delta

    @staticmethod
    def _sort(cache: RootCache, delta: Delta, loaded: Mapping[str, Reading]) -> None:
        """Separate what has to be read from what an earlier process read already, and drop what went."""
        stale = cache.stale
        for path in delta.gone:
            cache.readings.pop(path, None)
            stale.discard(path)
        for path in delta.changed:
            kept = loaded.get(path)
            entry = cache.tree.entry(path)
            if entry is None or not entry.readable:
                cache.readings.pop(path, None)
                stale.discard(path)
            elif kept is not None and kept.trusted and kept.key == entry.key:
                # With the key of the entry, which is the same and is kept anyway.
                cache.readings[path] = tuple.__new__(Reading, (entry.key, *kept[1:]))
            else:
                stale.add(path)

    def follow(self, cache: RootCache) -> None:
        """Bring cached rows up to date with the ledger, if anybody wrote to it."""
        changed = self._changed_records(cache, force=False)
        cache.news |= changed
        self._rebuild(cache, changed)

    def read(
        self, cache: RootCache, handle: RootHandle, wanted: Iterable[str], contents: Contents | None = None
    ) -> dict[str, Reading]:
        """Read memories now, whatever their stats say; rows follow at the next look. See `scan.read`."""
        times = Times(self._clock(), self.ticks())
        found = read(handle, cache.tree, list(wanted), cache.readings, times, contents)
        readings, news, stale = cache.readings, cache.news, cache.stale
        for path, reading in found.items():
            before = readings.get(path)
            if before is None or before.sha256 != reading.sha256 or before.steady is not reading.steady:
                news.add(path)
            readings[path] = reading
            if reading.trusted:
                stale.discard(path)
            else:
                stale.add(path)
        return found

    def show(self, cache: RootCache, *, writing: Collection[str], held: Mapping[str, bool]) -> None:
        """Set which rows are being written (`writing`) and which are gone but not yet deleted (`held`).

        The values of `held` say whether to show the row as missing.
        """
        changed = set(cache.writing.symmetric_difference(writing))
        changed |= {path for path in held.keys() | cache.held.keys() if held.get(path) is not cache.held.get(path)}
        cache.writing, cache.held = frozenset(writing), dict(held)
        self._rebuild(cache, changed)
        cache.lost = {path: row for path, row in (cache.lost or {}).items() if path in held}

    def result(self, cache: RootCache) -> Rows:
        """Return the rows as of the last look."""
        if cache.result is None:
            rows = cache.rows
            items = tuple([rows[path] for path in sorted(rows)])
            total = sum([row.bytes for row in items])
            tree = cache.tree
            cache.result = Rows(items, len(tree), total, tree.truncated, tree.problems())
            cache.unsaved = True
        elif cache.result.truncated is not cache.tree.truncated or cache.result.problems != cache.tree.problems():
            cache.result = cache.result._replace(truncated=cache.tree.truncated, problems=cache.tree.problems())
        return cache.result

    # --- building rows

    def _load(self, cache: RootCache, handle: RootHandle) -> Mapping[str, Reading]:
        """Return readings of an earlier process, if this is the same folder and loading them pays.

        Its rows are kept where they are still true, so that whoever shows them already need not hold both.
        """
        found = self._remembered.take(cache.root)
        if found is None or found.identity != handle.identity:
            return {}
        for row in found.rows:
            cache.rows.setdefault(row.address.path, row)
        return found.readings()

    def _changed_records(self, cache: RootCache, *, force: bool) -> set[str]:
        heat_at = self._clock() // HEAT_STEP_MS * HEAT_STEP_MS
        changed = set()
        if heat_at != cache.heat_at:
            cache.heat_at = heat_at
            changed = {path for path, record in cache.records.items() if record.uses} | cache.shared.keys()
        counter = self._ledger.change_counter()
        if not force and counter == cache.counter:
            return changed
        memories = self._ledger.memories
        written = memories.rows_written()  # before anything is read, so that no row is missed
        own = cache.counter is not None and counter[0] == cache.counter[0] and not force
        some = memories.records_written(cache.uid, cache.written) if own else None
        if some is not None:
            changed |= {path for path, record in some.items() if cache.records.get(path) != record}
            cache.records.update(some)
        else:
            records, cache.records = cache.records, memories.records(cache.uid)
            changed |= _differing(records, cache.records)
        shared, cache.shared = cache.shared, memories.shared(cache.uid)
        changed |= _differing(shared, cache.shared)
        if cache.baselined is not (baselined := self._ledger.roots.baselined(cache.uid)):
            cache.baselined = baselined
            changed |= cache.readings.keys()
        if cache.root.in_checkout:
            trusted, cache.trusted = cache.trusted, self._ledger.reviews.trusted(cache.uid)
            shas = _differing(trusted, cache.trusted)
            changed |= {path for path, reading in cache.readings.items() if reading.sha256 in shas}
        cache.counter, cache.written = counter, written
        return changed

    def _rebuild(self, cache: RootCache, changed: Iterable[str]) -> None:
        rows = cache.rows
        now = self._clock()
        begun: dict[tuple[str, str | None], str] | None = None
        for path in changed:
            entry = cache.tree.entry(path)
            before = rows.get(path)
            row: Memory | None = None
            if entry is not None:
                row = _row(cache, entry, before, now)
                if row is not None and row.unseen and row.actor == "outside":
                    begun = self._ledger.audit.begun(cache.uid) if begun is None else begun
                    if (actor := begun.get((path, row.sha256))) is not None:  # whose process was killed there
                        row = row._replace(actor=actor, unseen=not is_person(actor))
            elif path in cache.held and (last := before or (cache.lost or {}).get(path)) is not None:
                row = last._replace(missing=cache.held[path])
            if row is None:
                if before is None:
                    continue
                del rows[path]
                if cache.lost is not None:
                    cache.lost[path] = before
            elif row != before:
                rows[path] = row
            else:
                continue
            cache.result = None
            cache.rebuilt.add(path)


def _differing(before: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    return {key for key in before.keys() | now.keys() if before.get(key) != now.get(key)}


def by_folder(paths: Iterable[str], names: Mapping[str, frozenset[str]] = {}) -> dict[str, set[str]]:
    """Group the names of paths by folder, together with `names`."""
    found = {folder: set(some) for folder, some in names.items()}
    for path in paths:
        folder, _, name = path.rpartition("/")
        found.setdefault(folder, set()).add(name)
    return found


def _row(cache: RootCache, entry: ScannedFile, before: Memory | None, now: int) -> Memory | None:
    path = entry.path
    root = cache.root
    reading = cache.readings.get(path)
    record = cache.records.get(path)
    problems = entry.problems
    sha = None
    description = ""
    key = entry.key
    if entry.readable:
        if reading is None:
            return None  # it went between listing and reading
        key, sha, description, found = reading[:4]
        problems += found
    known = record is not None and sha is not None and record.sha256 == sha
    modified_at = key.mtime_ns // 1_000_000
    if (flags := cache.tree.flags(path)) or root.policy.protected or root.policy.generated:
        problems += flags
        problems += (PROTECTED,) if cache.protected.match(path) else ()
        problems += (GENERATED,) if cache.generated.match(path) else ()
    if path in cache.writing or (
        not known and reading is not None and not reading.steady and sha is not None and now - modified_at < SETTLE_MS
    ):
        problems += (BEING_WRITTEN,)
    address = before.address if before is not None else tuple.__new__(Address, (root.id, path))
    usage = record
    if (texts := cache.shared.get(path)) is not None:
        usage = texts[sha] if sha in texts else texts.get(None)
    marks: tuple[object, ...] = (False, 0, 0.0, None, None)
    if usage is not None:
        heat = usage.heat_now(cache.heat_at) if usage.heat else 0.0
        marks = (usage.pinned, usage.uses, heat, usage.last_used_at, usage.last_written_at)
    if record is None or not (record.versions or record.sha256):
        # Nothing recorded: news only where the root's content was recorded before.
        unseen = cache.baselined and sha is not None and path not in cache.baseline
        marks += (unseen, "outside", 0)
    else:
        seen = record.seen_sha256 == sha and record.seen_path is None
        unseen = sha is not None and not seen and not (known and is_person(record.actor))
        marks += (unseen, record.actor if known else "outside", record.versions)
    trust = cache.trusted.get(sha, BROUGHT) if root.in_checkout and sha is not None else ""
    # Made without the checks of a call: a first list makes thousands.
    return tuple.__new__(
        Memory,
        (address, root.scope, root.agent, key.size, modified_at, sha, description, *marks, problems, False, trust),
    )


WORTH_LOADING = 200
"""Rows; reading fewer from disk is quicker than loading this file."""
_BYTES_PER_ROW = 150
_LARGEST = 64 * 1024 * 1024
_FORMAT = "memtui rows 6"
_FOLDER = "rows"

Columns = dict[str, list[Any]]


class Rows(NamedTuple):
    """The rows of one root, and what its status says."""

    items: tuple[Memory, ...]
    """Ordered by path."""
    files: int
    bytes: int
    truncated: bool = False
    problems: tuple[Problem, ...] = ()


class Cached(NamedTuple):
    """What an earlier look left."""

    identity: tuple[int, int]
    """The (device, inode) of the root's folder then."""
    rows: tuple[Memory, ...]
    readings: Callable[[], dict[str, Reading]]
    """Builds the readings; costs as much as the rows, so only revalidation asks for it."""


def save_rows(
    state_dir: str,
    root: Root,
    identity: tuple[int, int],
    rows: Sequence[Memory],
    readings: Mapping[str, Reading],
) -> bool:
    """Save the rows of a root. Return False when that was not possible: nothing depends on it."""
    kept = [row for row in rows if not row.missing]
    columns: Columns = {name: [] for name in _COLUMNS}
    for row in kept:
        path = row.address.path
        reading = readings.get(path)
        for name, value in zip(
            _COLUMNS,
            (path, *row[3:15], row.trust, *(reading.key if reading else _NO_KEY), bool(reading and reading.trusted)),
            strict=True,
        ):
            columns[name].append(value)
    for column in columns.values():
        if kept and column.count(column[0]) == len(column):
            del column[1:]  # most are the same in all rows; what is written once is read once
    head = {"root": [root.id, root.path], "identity": identity, "scope": root.scope, "agent": root.agent}
    # Problems of a reading come first, then those that hold for this look only; most rows have neither.
    odd = {
        str(number): [row.problems, reading.problems if (reading := readings.get(row.address.path)) else ()]
        for number, row in enumerate(kept)
        if row.problems
    }
    document = {**head, "columns": columns, "odd": odd}
    try:
        state_file.write_json(os.path.join(state_dir, _FOLDER), _name(root), _FORMAT, document)
    except OSError:
        return False  # a disposable file: the next process looks for itself
    return True


def load_rows(state_dir: str, root: Root, *, at_least: int = 0) -> Cached | None:
    """Load the rows of a root as an earlier look left them; None when there are fewer than `at_least` or any doubt."""
    try:
        folder, least = os.path.join(state_dir, _FOLDER), at_least * _BYTES_PER_ROW
        kept = state_file.read_json(folder, _name(root), _FORMAT, least=least, most=_LARGEST)
        if kept["root"] != [root.id, root.path]:
            return None
        device, inode = kept["identity"]
        columns = _columns(kept["columns"])
        rows = _rows(root, columns, kept["odd"])
        return Cached((int(device), int(inode)), rows, lambda: _readings(columns, kept["odd"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def forget_rows(state_dir: str) -> None:
    """Delete all saved rows: they may hold a description nobody may read any more."""
    state_file.remove(os.path.join(state_dir, _FOLDER))


class Remembered:
    """Saved rows, each file read once: first for the screen, then for the first look at the root."""

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir
        self._found: dict[str, Cached | None] = {}

    def rows(self, root: Root) -> Rows | None:
        """Return the rows of a root without touching a memory file."""
        if root.id not in self._found:
            self._found[root.id] = load_rows(self._state_dir, root)
        found = self._found[root.id]
        return None if found is None else Rows(found.rows, len(found.rows), sum([row.bytes for row in found.rows]))

    def take(self, root: Root) -> Cached | None:
        """Remove and return what is known about a root, unless it was not read yet and is not worth it."""
        if root.id in self._found:
            return self._found.pop(root.id)
        return load_rows(self._state_dir, root, at_least=WORTH_LOADING)


_COLUMNS = (
    "path", "bytes", "modified", "sha", "description",
    "pinned", "uses", "heat", "used", "written", "unseen", "actor", "version", "trust",
    "ino", "size", "mtime", "ctime", "mode", "nlink", "trusted",
)  # fmt: skip
_NO_KEY = (0, 0, 0, 0, 0, 0)


def _columns(kept: Columns) -> Columns:
    """Expand columns to full length, interning texts that the ledger's records hold as well."""
    count = len(kept["path"])  # no two are the same
    columns = {name: kept[name] * count if len(kept[name]) == 1 else kept[name] for name in _COLUMNS}
    columns["path"] = list(map(sys.intern, columns["path"]))
    columns["sha"] = [sha if sha is None else sys.intern(sha) for sha in columns["sha"]]
    if any(len(column) != count for column in columns.values()):
        raise ValueError("not of one length")
    return columns


def _rows(root: Root, columns: Columns, odd: dict[str, list[list[list[str]]]]) -> tuple[Memory, ...]:
    count = len(columns["path"])
    one = [columns[name] for name in _COLUMNS[1:13]]
    addresses = map(tuple.__new__, repeat(Address), zip([root.id] * count, columns["path"], strict=True))
    problems: list[tuple[Problem, ...]] = [()] * count
    for number, (found, _) in odd.items():
        problems[int(number)] = _problems(found)
    scopes, agents, missing = [root.scope] * count, [root.agent] * count, [False] * count
    fields = (addresses, scopes, agents, *one, problems, missing, columns["trust"])
    return tuple(map(tuple.__new__, repeat(Memory), zip(*fields, strict=True)))


def _readings(columns: Columns, odd: dict[str, list[list[list[str]]]]) -> dict[str, Reading]:
    keys = map(tuple.__new__, repeat(StatKey), zip(*[columns[name] for name in _COLUMNS[14:20]], strict=True))
    problems: dict[int, tuple[Problem, ...]] = {int(number): _problems(found) for number, (_, found) in odd.items()}
    return {
        path: Reading(key, sha, description, problems.get(number, ()), trusted, 0, steady=True)
        for number, (path, key, sha, description, trusted) in enumerate(
            zip(columns["path"], keys, columns["sha"], columns["description"], columns["trusted"], strict=True)
        )
        if key.mode
    }


def _problems(found: list[list[str]]) -> tuple[Problem, ...]:
    return tuple(Problem(code, text) for code, text in found)


def _name(root: Root) -> str:
    return state_file.file_name(f"{root.id}\0{root.path}")
