"""Rows: every memory of a root as a list shows it, kept from one look to the next and never older than the disk.

A row is rebuilt only when its stat, its text or its ledger record changed, and the same `Memory` object is handed out
until then, so that a list of thousands costs a stat each and a screen can tell by identity what to draw again. How each
root is on disk now is told with its rows.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Iterable, Mapping

from memtui.engine.disk import fsio, paths
from memtui.engine.disk.handles import RootHandle
from memtui.engine.disk.paths import Patterns, Selection
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.ledger.memories import Record
from memtui.engine.ledger.roots import Trusted
from memtui.engine.look import row_cache
from memtui.engine.look.readings import SETTLE_MS, Contents, Reading, Times, read
from memtui.engine.look.roots import OpenRoot, Roots
from memtui.engine.look.row_cache import Remembered, Rows, listing
from memtui.engine.look.scan import Delta, RootTree, ScannedFile
from memtui.engine.model import BROUGHT, Address, Listing, Memory, Problem, Root, RootStatus, Vanished, is_person
from memtui.errors import MemtuiError, NotFoundError

HEAT_STEP_MS = 3_600_000
"""How often decaying heat is worked out anew: in this time it loses less than half a percent."""
BEING_WRITTEN = Problem("being-written", "Somebody may still be writing it: its text was not yet seen twice.")
GENERATED = Problem("generated", "The agent regenerates it, so an edit will be overwritten.")
PROTECTED = Problem("protected", "The agent's layout protects it: automatic work leaves it alone.")


class RootRows:
    """Everything kept about one root."""

    def __init__(self, root: Root) -> None:
        """Begin with nothing."""
        self.guard = threading.RLock()
        self.root = root
        self.tree = RootTree(Selection.of(root.policy))
        self.uid = -1
        self.identity = (0, 0)
        self.readings: dict[str, Reading] = {}
        self.rows: dict[str, Memory] = {}
        self.records: dict[str, Record] = {}
        self.shared: dict[str, dict[str | None, Record]] = {}
        """Of paths without a record, as `MemoryTable.shared` gives them."""
        self.baselined = False
        self.counter: tuple[int, int] | None = None
        self.trusted = Trusted({}, 0, ())
        """In a checkout, the texts that agents may be given unasked."""
        self.written = 0
        """As `MemoryTable.rows_written`, of the last look."""
        self.heat_at = 0
        self.stale: set[str] = set()
        """Paths whose content is not known, or not to be believed the next time."""
        self.news: set[str] = set()
        """Paths that were read, appeared or went since somebody took the news."""
        self.rebuilt: set[str] = set()
        """Paths whose row changed since somebody took the news."""
        self.writing: frozenset[str] = frozenset()
        """Paths with content that is not settled, as the reconciler says."""
        self.baseline: set[str] = set()
        """Paths of the first look at a root that are not recorded yet, and no news."""
        self.held: dict[str, bool] = {}
        """Paths that are gone but not believed to be, and whether to show them as missing."""
        self.lost: dict[str, Memory] | None = None
        """The last rows of what went, once a reconciler says what to hold."""
        self.result: Rows | None = None
        self.complete = False
        """Whether the whole root was looked at."""
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
        """Start without rows; nothing is read before it is asked for.

        Args:
            ledger: the ledger; rows are kept between processes in files beside it, which may be deleted at any time.
            ticks: milliseconds that only move forward, for durations; the system's monotonic clock if not given.
            remembered: what was read of such files already.
        """
        self._remembered = remembered or Remembered(ledger.directory)
        self._ledger = ledger
        self._state_dir = ledger.directory
        self._clock = ledger.clock
        self._ticks = ticks or fsio.monotonic_ms
        self._guard = threading.Lock()
        self._shelves: dict[str, RootRows] = {}
        self._orders = itertools.count(1)
        self._lifted = False

    # --- for lists

    def lift(self) -> None:
        """List roots of any size from now on."""
        with self._guard:
            self._lifted = True
            for shelf in self._shelves.values():
                shelf.tree.lift()

    def cut(self, root: Root) -> bool:
        """Whether the last look left something out because of a limit."""
        return self.shelf(root).tree.truncated

    def counter(self) -> tuple[int, int]:
        """What the ledger's records are as new as, for `rows` of many roots: asking costs as much as a small root."""
        return self._ledger.change_counter()

    def rows(self, handle: RootHandle, uid: int, counter: tuple[int, int] | None = None) -> Rows:
        """The rows of a root as it is on disk now; nothing is recorded.

        Args:
            handle: the root's open folder.
            uid: the ledger's id of the root.
            counter: from `counter`, asked a moment ago; None: ask now.

        Raises:
            MemtuiError: the root's folder cannot be listed.
        """
        shelf = self.shelf(handle.root)
        with shelf.guard:
            self.look(shelf, handle, uid, counter=counter)
            return self.result(shelf)

    def some(self, handle: RootHandle, uid: int, wanted: Iterable[str]) -> dict[str, Memory]:
        """The rows of some memories as they are on disk now, by path, without listing the root."""
        shelf = self.shelf(handle.root)
        chosen = tuple(wanted)
        with shelf.guard:
            self.look(shelf, handle, uid, names=by_folder(chosen))
            return {path: shelf.rows[path] for path in chosen if path in shelf.rows}

    def cached(self, root: Root) -> Rows | None:
        """The rows of the last look, this process's or an earlier one's, without touching memory files."""
        shelf = self.shelf(root)
        with shelf.guard:
            if shelf.complete:
                return self.result(shelf)
            return self._remembered.rows(root)

    def last_identity(self, root: Root) -> tuple[int, int] | None:
        """The (device, inode) the root had when its rows were last written down."""
        found = row_cache.load(self._state_dir, root)
        return None if found is None else found.identity

    def next_order(self) -> int:
        """A number for rows that were taken from a shelf under its guard; see `Changes.order`."""
        return next(self._orders)

    def keep(self, *, small: bool = True) -> None:
        """Write changed rows down for the next process.

        Args:
            small: also those of roots so small that reading them anew is quicker; what the first paint needs.
        """
        with self._guard:
            shelves = list(self._shelves.values())
        for shelf in shelves:
            with shelf.guard:
                if not shelf.complete or not (small or len(shelf.rows) >= row_cache.WORTH_LOADING):
                    continue
                found = self.result(shelf)
                if shelf.unsaved:
                    row_cache.save(self._state_dir, shelf.root, shelf.identity, found.items, shelf.readings)
                    shelf.unsaved = False

    # --- for the reconciler

    def shelf(self, root: Root) -> RootRows:
        """What is kept about a root. Hold its `guard` while using it."""
        with self._guard:
            found = self._shelves.get(root.id)
            if found is None or (found.root is not root and found.root != root):
                found = self._shelves[root.id] = RootRows(root)
                if self._lifted:
                    found.tree.lift()
            return found

    def look(
        self,
        shelf: RootRows,
        handle: RootHandle,
        uid: int,
        *,
        folders: Iterable[str] | None = None,
        names: Mapping[str, Collection[str]] | None = None,
        contents: Contents | None = None,
        counter: tuple[int, int] | None = None,
    ) -> Delta:
        """Bring a shelf up to date with the disk and the ledger.

        Args:
            shelf: from `shelf`, its guard held.
            handle: the root.
            uid: the ledger's id of the root.
            folders: only these folders.
            names: only these names, by folder.
            contents: receives what is read.
            counter: see `rows`.

        Raises:
            MemtuiError: the root's folder cannot be listed.
        """
        new_uid = shelf.uid != uid
        if new_uid or shelf.identity != handle.identity:
            shelf.rename(handle.identity)
            shelf.uid = uid
        loaded: Mapping[str, Reading] = {}
        remembered: set[str] = set()
        if not shelf.complete and names is None and folders is None:
            loaded = self._load(shelf, handle)
            remembered.update(shelf.rows)
        if names is not None:
            delta = Delta()
            for folder, some in names.items():
                delta.add(shelf.tree.look(handle, folder, some))
        else:
            delta = shelf.tree.refresh(handle, folders)
            shelf.complete |= folders is None
        self._sort(shelf, delta, loaded)
        changed = delta.changed | delta.flagged | delta.gone | remembered
        shelf.news |= delta.changed | delta.gone
        if shelf.stale:
            changed |= self.read(shelf, handle, shelf.stale, contents).keys()
        records = self._changed_records(shelf, counter, force=new_uid)
        shelf.news |= records
        self._rebuild(shelf, changed | records)
        return delta

    @staticmethod
    def _sort(shelf: RootRows, delta: Delta, loaded: Mapping[str, Reading]) -> None:
        """Tell what has to be read from what an earlier process read already, and from what went."""
        stale = shelf.stale
        for path in delta.gone:
            shelf.readings.pop(path, None)
            stale.discard(path)
        for path in delta.changed:
            kept = loaded.get(path)
            entry = shelf.tree.entry(path)
            if entry is None or not entry.readable:
                shelf.readings.pop(path, None)
                stale.discard(path)
            elif kept is not None and kept.trusted and kept.key == entry.key:
                # With the key of the entry, which is the same and is kept anyway.
                shelf.readings[path] = tuple.__new__(Reading, (entry.key, *kept[1:]))
            else:
                stale.add(path)

    def follow(self, shelf: RootRows) -> None:
        """Bring a shelf up to date with the ledger, if anybody wrote to it."""
        changed = self._changed_records(shelf, None, force=False)
        shelf.news |= changed
        self._rebuild(shelf, changed)

    def adopt(self, shelf: RootRows, records: Mapping[str, Record | None], counter: tuple[int, int]) -> None:
        """Take over records that were just written, so that not all of them need be asked for.

        Args:
            shelf: up to date with the ledger but for these.
            records: by path.
            counter: the ledger's change counter with them.
        """
        for path, record in records.items():
            if record is not None:
                shelf.records[path] = record
                shelf.shared.pop(path, None)
        shelf.counter = counter
        self._rebuild(shelf, records)

    def read(
        self, shelf: RootRows, handle: RootHandle, wanted: Iterable[str], contents: Contents | None = None
    ) -> dict[str, Reading]:
        """Read memories now, whatever their stats say; rows follow at the next look. See `readings.read`."""
        times = Times(self._clock(), self._ticks())
        found = read(handle, shelf.tree, list(wanted), shelf.readings, times, contents)
        readings, news, stale = shelf.readings, shelf.news, shelf.stale
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

    def show(self, shelf: RootRows, *, writing: Collection[str], held: Mapping[str, bool]) -> None:
        """Say which rows are being written, and which are gone without being believed to be.

        Args:
            shelf: from `shelf`, its guard held.
            writing: paths whose content is not settled.
            held: paths that are gone, and whether to show them as missing.
        """
        changed = set(shelf.writing.symmetric_difference(writing))
        changed |= {path for path in held.keys() | shelf.held.keys() if held.get(path) is not shelf.held.get(path)}
        shelf.writing, shelf.held = frozenset(writing), dict(held)
        self._rebuild(shelf, changed)
        shelf.lost = {path: row for path, row in (shelf.lost or {}).items() if path in held}

    def result(self, shelf: RootRows) -> Rows:
        """The rows as of the last look."""
        if shelf.result is None:
            rows = shelf.rows
            items = tuple([rows[path] for path in sorted(rows)])
            total = sum([row.bytes for row in items])
            tree = shelf.tree
            shelf.result = Rows(items, len(tree), total, tree.truncated, tree.problems())
            shelf.unsaved = True
        elif shelf.result.truncated is not shelf.tree.truncated or shelf.result.problems != shelf.tree.problems():
            shelf.result = shelf.result._replace(truncated=shelf.tree.truncated, problems=shelf.tree.problems())
        return shelf.result

    # --- building rows

    def _load(self, shelf: RootRows, handle: RootHandle) -> Mapping[str, Reading]:
        """Readings of an earlier process, if this is the same folder and there are so many that loading them pays.

        Its rows are kept where they are still true, so that whoever shows them already need not hold both.
        """
        found = self._remembered.take(shelf.root)
        if found is None or found.identity != handle.identity:
            return {}
        for row in found.rows:
            shelf.rows.setdefault(row.address.path, row)
        return found.readings()

    def _changed_records(self, shelf: RootRows, counter: tuple[int, int] | None, *, force: bool) -> set[str]:
        heat_at = self._clock() // HEAT_STEP_MS * HEAT_STEP_MS
        changed = set()
        if heat_at != shelf.heat_at:
            shelf.heat_at = heat_at
            changed = {path for path, record in shelf.records.items() if record.uses} | shelf.shared.keys()
        if counter is None:
            counter = self._ledger.change_counter()
        if not force and counter == shelf.counter:
            return changed
        written = self._ledger.memories.rows_written()  # asked before anything is read, so that no row falls in between
        own = shelf.counter is not None and counter[0] == shelf.counter[0] and not force
        some = self._ledger.memories.records_written(shelf.uid, shelf.written) if own else None
        if some is not None:
            changed |= {path for path, record in some.items() if shelf.records.get(path) != record}
            shelf.records.update(some)
        else:
            before, shelf.records = shelf.records, self._ledger.memories.records(shelf.uid)
            changed |= {path for path, record in shelf.records.items() if before.get(path) != record}
            changed |= before.keys() - shelf.records.keys()
        changed |= self._changed_beyond(shelf)
        if shelf.root.in_checkout:
            changed |= self._changed_trust(shelf, whole=some is None)
        shelf.counter, shelf.written = counter, written
        return changed

    def _changed_beyond(self, shelf: RootRows) -> set[str]:
        """Paths about which something else than a record says something else by now."""
        before, shelf.shared = shelf.shared, self._ledger.memories.shared(shelf.uid)
        changed = {path for path in before.keys() | shelf.shared.keys() if before.get(path) != shelf.shared.get(path)}
        if shelf.baselined is not (baselined := self._ledger.roots.baselined(shelf.uid)):
            shelf.baselined = baselined
            changed |= shelf.readings.keys()
        return changed

    def _changed_trust(self, shelf: RootRows, *, whole: bool) -> set[str]:
        """Paths whose version may be given to agents by now, or may no longer; `whole`: others wrote the ledger too."""
        before, now = shelf.trusted.shas, self._ledger.reviews.trusted(shelf.uid, None if whole else shelf.trusted)
        shelf.trusted = now
        if now.shas == before:
            return set()
        shas = {path: reading.sha256 or "" for path, reading in shelf.readings.items()}
        return {path for path, sha in shas.items() if before.get(sha) != now.shas.get(sha)}

    def _rebuild(self, shelf: RootRows, changed: Iterable[str]) -> None:
        rows = shelf.rows
        now = self._clock()
        begun: dict[tuple[str, str | None], str] | None = None
        for path in changed:
            entry = shelf.tree.entry(path)
            before = rows.get(path)
            row: Memory | None = None
            if entry is not None:
                row = _row(shelf, entry, before, now)
                if row is not None and row.unseen and row.actor == "outside":
                    begun = self._ledger.audit.begun(shelf.uid) if begun is None else begun
                    if (actor := begun.get((path, row.sha256))) is not None:  # whose process was killed there
                        row = row._replace(actor=actor, unseen=not is_person(actor))
            elif path in shelf.held and (last := before or (shelf.lost or {}).get(path)) is not None:
                row = last._replace(missing=shelf.held[path])
            if row is None:
                if before is None:
                    continue
                del rows[path]
                if shelf.lost is not None:
                    shelf.lost[path] = before
            elif row != before:
                rows[path] = row
            else:
                continue
            shelf.result = None
            shelf.rebuilt.add(path)


def by_folder(paths: Iterable[str], names: Mapping[str, frozenset[str]] = {}) -> dict[str, set[str]]:
    """Names by folder, with those of some paths."""
    found = {folder: set(some) for folder, some in names.items()}
    for path in paths:
        folder, _, name = path.rpartition("/")
        found.setdefault(folder, set()).add(name)
    return found


def _row(shelf: RootRows, entry: ScannedFile, before: Memory | None, now: int) -> Memory | None:
    path = entry.path
    root = shelf.root
    reading = shelf.readings.get(path)
    record = shelf.records.get(path)
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
    if (flags := shelf.tree.flags(path)) or root.policy.protected or root.policy.generated:
        problems += flags
        problems += (PROTECTED,) if shelf.protected.match(path) else ()
        problems += (GENERATED,) if shelf.generated.match(path) else ()
    if path in shelf.writing or (
        not known and reading is not None and not reading.steady and sha is not None and now - modified_at < SETTLE_MS
    ):
        problems += (BEING_WRITTEN,)
    address = before.address if before is not None else tuple.__new__(Address, (root.id, path))
    usage = record
    if (texts := shelf.shared.get(path)) is not None:
        usage = texts[sha] if sha in texts else texts.get(None)
    marks: tuple[object, ...] = (False, 0, 0.0, None, None)
    if usage is not None:
        heat = usage.heat_now(shelf.heat_at) if usage.heat else 0.0
        marks = (usage.pinned, usage.uses, heat, usage.last_used_at, usage.last_written_at)
    if record is None or not (record.versions or record.sha256):
        # Nothing recorded: news only where the root's content was recorded before.
        unseen = shelf.baselined and sha is not None and path not in shelf.baseline
        marks += (unseen, "outside", 0)
    else:
        seen = record.seen_sha256 == sha and record.seen_path is None
        unseen = sha is not None and not seen and not (known and is_person(record.actor))
        marks += (unseen, record.actor if known else "outside", record.versions)
    trust = shelf.trusted.shas.get(sha, BROUGHT) if root.in_checkout and sha is not None else ""
    # Made without the checks of a call: a first list makes thousands.
    return tuple.__new__(
        Memory,
        (address, root.scope, root.agent, key.size, modified_at, sha, description, *marks, problems, False, trust),
    )


class Library:
    """Gives rows of memories; safe to share between threads."""

    def __init__(self, roots: Roots, ledger: Ledger, catalog: Catalog) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._catalog = catalog

    def list(self, root_ids: Iterable[str] | None = None) -> Listing:
        """The memories of some or all roots as they are now; records nothing."""
        items: list[Memory] = []
        status = []
        chosen = self._roots.chosen(root_ids)
        # Asked before anything is read: what is recorded meanwhile is found by the next list.
        counter = self._catalog.counter() if len(chosen) > 1 else None
        for root in chosen:
            rows, found = self._look(root, counter)
            items += rows.items
            status.append(found)
        return Listing(tuple(items), any(one.truncated for one in status), tuple(status))

    def cached(self) -> Listing | None:
        """The rows of the last list, without touching a memory; None when there are none."""
        return listing((root, self._catalog.cached(root)) for root in self._roots.all())

    def get(self, address: Address) -> Memory:
        """One row; `NotFoundError` when there is no such memory."""
        row = self.some((address,)).get(address)
        if row is None:
            raise NotFoundError(f"There is no memory {address}.", hint="`memtui ls` lists what there is.")
        return row

    def some(self, addresses: Iterable[Address]) -> dict[Address, Memory]:
        """Rows of those of these memories that are there."""
        by_root: dict[str, list[Address]] = {}
        for address in addresses:
            paths.split(address.path)
            by_root.setdefault(address.root, []).append(address)
        found: dict[Address, Memory] = {}
        for root_id, wanted in by_root.items():
            opened = self._roots.open(self._roots.find(root_id))
            if opened.handle is not None:
                rows = self._catalog.some(opened.handle, opened.uid, [address.path for address in wanted])
                found.update((address, rows[address.path]) for address in wanted if address.path in rows)
        return found

    def written_at(self, addresses: Iterable[Address]) -> dict[Address, int]:
        """When files last changed (their ctime, in milliseconds) as of the last look; nothing is read for it."""
        found = {}
        for address in addresses:
            shelf = self._catalog.shelf(self._roots.find(address.root))
            with shelf.guard:
                entry = shelf.tree.entry(address.path)
            if entry is not None:
                found[address] = entry.key.ctime_ns // 1_000_000
        return found

    def status(self) -> tuple[RootStatus, ...]:
        """How each root is on disk now."""
        return tuple(self._look(root)[1] for root in self._roots.all())

    def lift_limits(self) -> None:
        """List and search roots of any size from now on, for an answer that must not leave anything out."""
        self._catalog.lift()

    def vanished(self) -> tuple[Vanished, ...]:
        """Roots whose folder is not there although there were memories in it."""
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

    def _look(self, root: Root, counter: tuple[int, int] | None = None) -> tuple[Rows, RootStatus]:
        problems = list(self._roots.problems.get(root.id, ()))
        rows = Rows((), 0, 0)
        opened: OpenRoot | None = None
        try:
            opened = self._roots.open(root)
            if opened.handle is not None:
                rows = self._catalog.rows(opened.handle, opened.uid, counter)
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
    """What is said of a root in a checkout with so many versions that nobody wrote here or reviewed."""
    what = "1 memory waits" if count == 1 else f"{count:,} memories wait"
    return Problem("unreviewed", f"{what} for your review: a repository may have put {_IT[count > 1]} there.")


_IT = ("it", "them")
