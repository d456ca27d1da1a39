"""Rows: every memory of a root as a list shows it, cached between looks and never older than the disk.

A row is rebuilt only when its stat, its text or its ledger record changed, and the same `Memory` object is returned
until then: a list of thousands costs a stat each, and a screen can tell by identity what to draw again.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Iterable, Mapping

from memtui.engine.disk import fsio, handles
from memtui.engine.disk.handles import RootHandle
from memtui.engine.disk.paths import Patterns, Selection
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.ledger.memories import Record
from memtui.engine.look import row_cache
from memtui.engine.look.roots import OpenRoot, Roots
from memtui.engine.look.row_cache import Remembered, Rows, listing
from memtui.engine.look.scan import SETTLE_MS, Contents, Delta, Reading, RootTree, ScannedFile, Times, read
from memtui.engine.model import BROUGHT, Address, Listing, Memory, Problem, Root, RootStatus, Vanished, is_person
from memtui.errors import MemtuiError, NotFoundError

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
        found = row_cache.load(self._state_dir, root)
        return None if found is None else found.identity

    def keep(self, *, small: bool = True) -> None:
        """Save changed rows for the next process; those of small roots, which are read as quickly, only if `small`."""
        with self._guard:
            caches = list(self._caches.values())
        for cache in caches:
            with cache.guard:
                if not cache.complete or not (small or len(cache.rows) >= row_cache.WORTH_LOADING):
                    continue
                found = self.result(cache)
                if cache.unsaved:
                    row_cache.save(self._state_dir, cache.root, cache.identity, found.items, cache.readings)
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
    """Keys whose value is another one, or is there only before or only now."""
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


class Library:
    """The list of memories for fronts; safe to share between threads."""

    def __init__(self, roots: Roots, ledger: Ledger, catalog: Catalog) -> None:
        self._roots = roots
        self._ledger = ledger
        self._catalog = catalog

    def list(self, root_ids: Iterable[str] | None = None) -> Listing:
        """List the memories of some or all roots as they are now; records nothing."""
        items: list[Memory] = []
        status = []
        chosen = self._roots.chosen(root_ids)
        for root in chosen:
            rows, found = self._look(root)
            items += rows.items
            status.append(found)
        return Listing(tuple(items), any(one.truncated for one in status), tuple(status))

    def cached(self) -> Listing | None:
        """Return the rows of the last list, without touching a memory; None when there are none."""
        return listing((root, self._catalog.cached(root)) for root in self._roots.all())

    def get(self, address: Address) -> Memory:
        """Return one row; raises `NotFoundError` when there is no such memory."""
        row = self.some((address,)).get(address)
        if row is None:
            raise NotFoundError(f"There is no memory {address}.", hint="`memtui ls` lists what there is.")
        return row

    def some(self, addresses: Iterable[Address]) -> dict[Address, Memory]:
        """Return the rows of those of these memories that exist."""
        by_root: dict[str, list[Address]] = {}
        for address in addresses:
            handles.split(address.path)
            by_root.setdefault(address.root, []).append(address)
        found: dict[Address, Memory] = {}
        for root_id, wanted in by_root.items():
            opened = self._roots.open(self._roots.find(root_id))
            if opened.handle is not None:
                rows = self._catalog.some(opened.handle, opened.uid, [address.path for address in wanted])
                found.update((address, rows[address.path]) for address in wanted if address.path in rows)
        return found

    def written_at(self, addresses: Iterable[Address]) -> dict[Address, int]:
        """Return when files last changed (ctime, in milliseconds) as of the last look; nothing is read for it."""
        found = {}
        for address in addresses:
            cache = self._catalog.cache(self._roots.find(address.root))
            with cache.guard:
                entry = cache.tree.entry(address.path)
            if entry is not None:
                found[address] = entry.key.ctime_ns // 1_000_000
        return found

    def status(self) -> tuple[RootStatus, ...]:
        """Return how each root is on disk now."""
        return tuple(self._look(root)[1] for root in self._roots.all())

    def lift_limits(self) -> None:
        """List and search roots of any size from now on, for an answer that must be complete."""
        self._catalog.lift()

    def vanished(self) -> tuple[Vanished, ...]:
        """Return roots whose folder is missing although it held memories."""
        found = []
        for root in self._roots.all():
            try:
                opened = self._roots.open(root)
            except MemtuiError:
                continue  # a folder that cannot be opened shows its reason in the list of roots
            if opened.handle is None and not opened.fresh:
                memories, at = self._ledger.memories.held(opened.uid)
                if memories:
                    found.append(Vanished(root, memories, at))
        return tuple(found)

    def _look(self, root: Root) -> tuple[Rows, RootStatus]:
        problems = list(self._roots.problems.get(root.id, ()))
        rows = Rows((), 0, 0)
        opened: OpenRoot | None = None
        try:
            opened = self._roots.open(root)
            if opened.handle is not None:
                rows = self._catalog.rows(opened.handle, opened.uid)
        except MemtuiError as error:
            problems.append(Problem(error.code, error.message))
        waiting = sum([row.trust == BROUGHT for row in rows.items])
        if waiting:
            problems.append(unreviewed(waiting))
        exists = opened is None or opened.handle is not None
        status = RootStatus(
            root,
            exists,
            not root.read_only and (not exists or fsio.may_write(root.path)),
            not waiting,
            rows.files,
            rows.bytes,
            rows.truncated,
            (*problems, *rows.problems),
        )
        return rows, status


def unreviewed(count: int) -> Problem:
    """Return the problem of a root in a checkout with this many versions that wait for a review."""
    what = "1 memory waits" if count == 1 else f"{count:,} memories wait"
    return Problem("unreviewed", f"{what} for your review: a repository may have put {_IT[count > 1]} there.")


_IT = ("it", "them")
