"""One pass over one root: look, decide, record, report.

`detect.py` decides and this carries it out: what is reported was read twice, is in the ledger first, and was still true
when the ledger took it.
"""

import errno
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from memtui.engine.disk import fsio, git, handles, paths
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.ledger.versions import Observation
from memtui.engine.look.catalog import Catalog, RootCache, by_folder
from memtui.engine.look.detect import (
    AT_WORK_MS,
    DELETED_MS,
    EMPTIED_MS,
    QUIET_MS,
    ChangeDetector,
    Decision,
    DiskLook,
    Event,
    LastReported,
    NameView,
)
from memtui.engine.look.roots import OpenRoot, Roots
from memtui.engine.look.scan import Contents, RootTree, StatKey
from memtui.engine.model import OUTSIDE, Address, Change, Changes, Memory, Notice, Root
from memtui.errors import MemtuiError, NotFoundError

BATCH_FILES, BATCH_BYTES = 500, 8 * 1024 * 1024
"""Limits of what is recorded in one transaction."""
RECENT_MS = 600_000
"""An edit older than this is no longer reported as overwritten."""
RETELL_MS = 1_000
"""How often a memory that never settles is reported for redrawing."""
_UNREADABLE = NameView(None, 0, steady=False, since=0)
"""View of a file that exists and cannot be read."""


class Tools(NamedTuple):
    """What a pass works with."""

    roots: Roots
    ledger: Ledger
    catalog: Catalog
    clock: Callable[[], int]
    ticks: Callable[[], int]


class Glance(NamedTuple):
    """Where to look in one root."""

    everything: bool = True
    folders: frozenset[str] = frozenset()
    names: Mapping[str, frozenset[str]] = {}


NOWHERE = Glance(everything=False)
"""Look only at what is undecided."""


class RootState:
    """What is remembered of a root from one pass to the next."""

    def __init__(self) -> None:
        self.detector: ChangeDetector | None = None
        self.uid = -1
        self.identity: tuple[int, int] | None = None
        self.here: bool | None = None
        """Whether its folder was there; None before the first look."""
        self.moved = False
        """Whether it is another folder than the one whose content is known."""
        self.emptied = False
        self.baseline: dict[str, str] = {}
        """Content at the first sight of the root, which is no news."""
        self.heard: dict[str, LastReported] = {}
        """What was reported although the ledger cannot be written."""
        self.told: dict[str, int] = {}
        """When a name that is being written was last reported for redrawing."""
        self.hidden: set[str] = set()
        """Known names that are not listed although a file is there; every full scan checks them again."""
        self.looked: dict[str, int] = {}
        """When each folder was last listed whole, in ticks."""
        self.due: int | None = None
        self.tree: RootTree | None = None
        """The root's tree, for a quick question without its guard."""


class PassResult:
    """Results of one pass."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.touched: set[Address] = set()
        self.roots: set[str] = set()
        self.notices: list[Notice] = []
        self.trouble: MemtuiError | None = None
        """Why the ledger could not take everything."""
        self.rows: dict[Address, Memory | None] = {}
        self.order = 0

    def changed(self) -> Changes:
        """Return the results as one `Changes`."""
        touched = self.touched - {change.address for change in self.changes}
        return Changes(
            tuple(self.changes),
            frozenset(touched),
            frozenset(self.roots),
            tuple(self.notices),
            rows=self.rows,
            order=self.order,
        )


class RootPass:
    """One pass over one root. Lists wait for its looks, not for its records."""

    def __init__(
        self,
        tools: Tools,
        root: Root,
        state: RootState,
        cache: RootCache,
        opened: OpenRoot,
        result: PassResult,
        *,
        patient: bool,
    ) -> None:
        assert opened.handle is not None
        self._tools = tools
        self._root = root
        self._state = state
        self._cache = cache
        self._opened = opened
        self._handle = opened.handle
        self._result = result
        self._patient = patient
        self._contents = Contents()
        self._named: set[str] = set()
        self._counter: tuple[int, int] | None = None
        """The ledger's change counter when this pass decided, or recorded last."""
        self._decided_on: dict[str | None, str | None] = {}
        """Current versions, according to the ledger, when this pass decided."""
        self._first = state.detector is None or state.uid != opened.uid
        self._fresh = self._first and opened.fresh and state.here is not False
        """First sight of a root that was there when memtui started: its content is no news."""

    def run(self, glance: Glance) -> None:
        """Make the pass."""
        detector, glance = self._begin(glance)
        with self._cache.guard:
            step = self._decide(detector, glance)
        ledger = self._tools.ledger
        if ledger.mode == "normal" and not ledger.read_only:
            self._record(step.events, detector)
            if self._first and self._opened.fresh:
                ledger.roots.mark_baseline(self._opened.uid)
                self._tools.roots.baselined(self._root)
        else:
            self._only_tell(step.events, detector)
        with self._cache.guard:
            self._show(detector, step)

    def _decide(self, detector: ChangeDetector, glance: Glance) -> Decision:
        state, cache = self._state, self._cache
        state.tree = cache.tree
        self._look(glance, detector)
        looked = set(cache.news)
        if glance.everything:
            looked |= state.hidden
            state.hidden.clear()
        if self._first:
            looked |= detector.known.keys() | cache.readings.keys()
            cache.rebuilt.clear()
        if self._fresh:
            found = {path: reading.sha256 for path, reading in cache.readings.items() if reading.sha256}
            # What memtui wrote before anybody looked here, and others changed since, is news.
            state.baseline = {path: sha for path, sha in found.items() if path not in detector.known}
            cache.baseline = set(state.baseline)
        # Roots that share a folder share its records: what another one takes is none of this one's business.
        covers = self._cache.tree.selection.covers
        mine = [path for path in looked if cache.tree.entry(path) is not None or covers(path)]
        look = self._disk_look(detector, mine)
        step = detector.step(look, mine)
        whole = cache.tree.folders if glance.everything else glance.folders & cache.tree.folders.keys()
        state.looked |= dict.fromkeys(whole, look.now)
        cache.news -= looked
        state.due = step.due
        self._counter = cache.counter
        for event in step.events:
            for path in (event.path, event.old_path):
                record = None if path is None else cache.records.get(path)
                self._decided_on[path] = None if record is None else record.sha256
        return step

    def _show(self, detector: ChangeDetector, step: Decision) -> None:
        state, cache, catalog = self._state, self._cache, self._tools.catalog
        catalog.follow(cache)
        catalog.show(cache, writing=step.writing & detector.noticed.keys(), held=step.held)
        if step.emptied and not state.emptied:
            self._result.roots.add(self._root.id)
        state.emptied = step.emptied
        if state.moved and len(detector.gone) < len(detector.known):
            state.moved = False
        self._touch(detector)
        if self._named:
            self._result.rows |= {self._address(path): cache.rows.get(path) for path in self._named}
            self._result.order = next(catalog.orders)

    # --- looking

    def _begin(self, glance: Glance) -> tuple[ChangeDetector, Glance]:
        """Notice that the root came back, or is another folder than before."""
        state, identity = self._state, self._handle.identity
        detector = state.detector
        if detector is None or state.uid != self._opened.uid:
            detector = ChangeDetector(self._last_versions())
            state.looked.clear()
        elif state.identity != identity or not state.here:
            detector.gone.clear()
            self._result.roots.add(self._root.id)
            state.moved |= state.identity != identity
            glance = Glance()
        if state.here is False:
            self._result.roots.add(self._root.id)
        state.detector, state.uid, state.identity, state.here = detector, self._opened.uid, identity, True
        return detector, Glance() if self._first else glance

    def _last_versions(self) -> Mapping[str, str]:
        """Return the current version of each memory, from the cached records when they are up to date."""
        ledger, uid, cache = self._tools.ledger, self._opened.uid, self._cache
        if cache.uid != uid or cache.counter != ledger.change_counter():
            return ledger.memories.contents(uid)
        return {path: record.sha256 for path, record in cache.records.items() if record.sha256}

    def _look(self, glance: Glance, detector: ChangeDetector) -> None:
        catalog, cache, handle, uid = self._tools.catalog, self._cache, self._handle, self._opened.uid
        before = cache.counter
        if glance.everything:
            catalog.look(cache, handle, uid, contents=self._contents)
        else:
            if glance.folders:
                catalog.look(cache, handle, uid, folders=glance.folders, contents=self._contents)
            paths = [path for path in (*detector.noticed, *detector.gone) if _folder(path) not in glance.folders]
            catalog.look(cache, handle, uid, names=by_folder(paths, glance.names), contents=self._contents)
        if cache.counter != before:
            self._look_again()

    def _look_again(self) -> None:
        """Look again where the ledger differs from what was read: it was asked last, so it may know more."""
        cache = self._cache
        differ = []
        for path in cache.news:
            record, reading = cache.records.get(path), cache.readings.get(path)
            if record is not None and (reading is None or reading.sha256 != record.sha256):
                differ.append(path)
        if differ:
            names = by_folder(differ)
            self._tools.catalog.look(cache, self._handle, self._opened.uid, names=names, contents=self._contents)

    def _disk_look(self, detector: ChangeDetector, looked: Iterable[str]) -> DiskLook:
        state = self._state
        hold = DELETED_MS
        empty = not len(self._cache.tree)
        if detector.gone or any(self._cache.tree.entry(path) is None for path in looked):
            if git.at_work(self._root.path, self._tools.clock()):
                hold = AT_WORK_MS
            if self._first and empty:
                last = self._tools.catalog.last_identity(self._root)
                state.moved = last is not None and last != self._handle.identity
        ours = self._intended()
        return DiskLook(
            now=self._tools.ticks(),
            view=self._view,
            told=self._told,
            ours=ours.get,
            hold=hold,
            empty=empty,
            hold_all=None if state.moved else EMPTIED_MS,
            patient=self._patient,
            gone_for=self._gone_for if self._first else lambda _path: 0,
            saw=lambda path: state.looked.get(_folder(path)),
        )

    def _view(self, path: str) -> NameView | None:
        entry, reading = self._cache.tree.entry(path), self._cache.readings.get(path)
        if entry is None:
            # Not listed is not gone: a limit, a folder without permission or a changed layout may hide it, or it came
            # back since it was looked for.
            try:
                there = _is_there(self._handle, handles.split(path))
            except MemtuiError:
                there = True  # nobody can tell
            if there:
                self._state.hidden.add(path)
            return _UNREADABLE if there else None
        if reading is None or reading.sha256 is None:
            return _UNREADABLE
        return NameView(reading.sha256, reading.key.ino, reading.steady, reading.since)

    def _told(self, path: str) -> LastReported | None:
        if (heard := self._state.heard.get(path)) is not None:
            return heard
        record = self._cache.records.get(path)
        return None if record is None else LastReported(record.sha256, record.actor)

    def _intended(self) -> dict[str, LastReported]:
        """Return what memtui's own unfinished changes are about to leave under each name."""
        found: dict[str, LastReported] = {}
        for intent in self._tools.ledger.audit.open_intents(self._opened.uid):
            if intent.new_path is not None:
                found[intent.path] = LastReported(None, intent.actor)
                if intent.new_uid in (None, self._opened.uid):
                    found[intent.new_path] = LastReported(intent.after or intent.before, intent.actor)
            else:
                found[intent.path] = LastReported(intent.after, intent.actor)
        return found

    def _gone_for(self, path: str) -> int:
        """Return how long the nearest existing folder has not changed: the name is gone at least that long."""
        folder = path.rpartition("/")[0]
        while folder not in self._cache.tree.folders:
            folder = folder.rpartition("/")[0]
        return max(0, self._tools.clock() - self._cache.tree.folders[folder].mtime_ns // 1_000_000)

    # --- recording and telling

    def _record(self, events: Sequence[Event], detector: ChangeDetector) -> None:
        for start in range(0, len(events), BATCH_FILES):
            some = events[start : start + BATCH_FILES]
            with self._cache.guard:
                self._fetch([event.path for event in some if event.actor is None and event.after is not None])
            batch: list[tuple[Event, Observation]] = []
            size = 0
            for event in some:
                if event.actor is not None:
                    self._tell(event, detector)
                    continue
                data = None
                if event.after is not None:
                    data = self._settled(event, detector)
                    if data is None:
                        continue
                    size += len(data)
                kind, at = event.kind, self._tools.clock()
                observation = Observation(event.path, kind, event.after, data, OUTSIDE.name, at, event.old_path)
                batch.append((event, observation))
                if size >= BATCH_BYTES:
                    self._flush(batch, detector)
                    batch, size = [], 0
            self._flush(batch, detector)

    def _fetch(self, wanted: Iterable[str]) -> None:
        missing = [path for path in wanted if not self._contents.has(path)]
        if missing:
            self._tools.catalog.read(self._cache, self._handle, missing, self._contents)

    def _settled(self, event: Event, detector: ChangeDetector) -> bytes | None:
        """Return the bytes of a version to record; None when another text is there by now."""
        data = self._contents.take(event.path)
        with self._cache.guard:
            if data is None:
                self._tools.catalog.read(self._cache, self._handle, [event.path], self._contents)
                data = self._contents.take(event.path)
            reading = self._cache.readings.get(event.path)
            recorded = event.path in self._cache.records
        if data is not None and reading is not None and reading.sha256 == event.after:
            # It was read before the ledger was asked: what another memtui did in between must not count as undone.
            same = not recorded or _is_still(self._handle, handles.split(event.path), reading.key)
            if same:
                return data
        now = self._tools.ticks()
        detector.put_off(event.path, now)
        self._state.due = min(self._state.due or now + QUIET_MS, now + QUIET_MS)
        return None

    def _flush(self, batch: list[tuple[Event, Observation]], detector: ChangeDetector) -> None:
        if not batch:
            return
        ledger, uid, cache = self._tools.ledger, self._opened.uid, self._cache
        old: list[tuple[Event, Observation]] = []
        news: list[tuple[Event, Observation]] = []
        with ledger.transaction():
            same = ledger.change_counter() == self._counter
            for event, observation in batch:
                if not same and not self._still(event):
                    continue  # memtui wrote it meanwhile, here or elsewhere: the next pass sees that
                known = self._state.baseline.get(event.path) == event.after or event.before == event.after
                (old if known and event.kind in ("created", "modified") else news).append((event, observation))
            if old:
                ledger.versions.observe(uid, [self._as_found(observation) for _, observation in old], baseline=True)
            if news:
                ledger.versions.observe(uid, [observation for _, observation in news])
            self._counter = ledger.change_counter()
        with cache.guard:
            cache.baseline -= {event.path for event, _ in old}
        for event, _ in old:
            self._state.baseline.pop(event.path, None)
            detector.accept(event)
        for event, observation in news:
            self._state.baseline.pop(event.path, None)
            self._tell(event, detector)
            if event.kind == "modified" and event.after is not None and observation.data is not None:
                address, now = self._address(event.path), self._tools.clock()
                notice = _overwritten(ledger, uid, address, event.before, event.after, observation.data, now)
                if notice is not None:
                    self._result.notices.append(notice)

    def _as_found(self, observation: Observation) -> Observation:
        """Date a file that was there before memtui by its own time, but never in the future."""
        reading = self._cache.readings.get(observation.path)
        if reading is None:
            return observation
        return observation._replace(at=min(observation.at, max(reading.key.mtime_ns, 0) // 1_000_000))

    def _still(self, event: Event) -> bool:
        """Return whether the ledger still has the versions this was decided on."""
        for path in (event.path, event.old_path):
            record = None if path is None else self._tools.ledger.memories.record(self._opened.uid, path)
            if (record.sha256 if record else None) != self._decided_on[path]:
                return False
        return True

    def _only_tell(self, events: Iterable[Event], detector: ChangeDetector) -> None:
        """Report what cannot be recorded because the ledger is read-only."""
        for event in events:
            if self._state.baseline.pop(event.path, None) == event.after and event.after is not None:
                detector.accept(event)
            else:
                self._tell(event, detector)
            self._state.heard[event.path] = LastReported(event.after, event.actor or OUTSIDE.name)
            if event.old_path is not None:
                self._state.heard[event.old_path] = LastReported(None, OUTSIDE.name)

    def _tell(self, event: Event, detector: ChangeDetector) -> None:
        detector.accept(event)
        self._named |= {path for path in (event.path, event.old_path) if path is not None}
        self._result.changes.append(
            Change(
                self._address(event.path),
                event.kind,
                event.actor or OUTSIDE.name,
                event.before,
                event.after,
                self._tools.clock(),
                None if event.old_path is None else self._address(event.old_path),
            )
        )

    def _touch(self, detector: ChangeDetector) -> None:
        state, now = self._state, self._tools.ticks()
        state.told = {path: at for path, at in state.told.items() if path in detector.noticed}
        for path in self._cache.rebuilt:
            if path in detector.noticed:
                if now - state.told.get(path, now - RETELL_MS) < RETELL_MS:
                    continue
                state.told[path] = now
            self._result.touched.add(self._address(path))
            self._named.add(path)
        self._cache.rebuilt.clear()

    def _address(self, path: str) -> Address:
        return Address(self._root.id, path)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _is_there(handle: handles.RootHandle, parts: tuple[str, ...]) -> bool:
    """Return whether anything but a folder has a name, listed or not; raises when that cannot be told."""
    try:
        with handle.folder(parts[:-1]) as opened:
            return not stat.S_ISDIR(fsio.stat_at(opened, parts[-1]).st_mode)
    except NotFoundError:
        return False
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return False
        raise paths.translate(error, f"Looking for {'/'.join(parts)!r}") from error


def _is_still(handle: handles.RootHandle, parts: tuple[str, ...], key: StatKey) -> bool:
    """Return whether the very file that was looked at is still under a name, unchanged."""
    try:
        with handle.folder(parts[:-1]) as opened:
            status = fsio.stat_at(opened, parts[-1])
    except (MemtuiError, OSError):
        return False  # it went, or cannot be looked at any more
    return (status.st_ino, status.st_size, status.st_ctime_ns) == (key.ino, key.size, key.ctime_ns)


def _overwritten(
    ledger: Ledger, uid: int, address: Address, before: str | None, theirs: str, data: bytes, now: int
) -> Notice | None:
    """Return a notice when a version found on disk takes back lines of the last recent edit made through memtui."""
    last = ledger.audit.latest_own(uid, address.path)
    if last is None:
        return None
    after, _, at, base = last
    if after is None or now - at > RECENT_MS:
        return None
    yours = _text(ledger, after)
    if yours is None:
        return None
    start = (_text(ledger, base) if base is not None else None) or ""
    found = lost_lines(start, yours, data.decode("utf-8", "replace"))
    if not found:
        return None
    previous = None if before == after else _text(ledger, before)
    if previous is not None and lost_lines(start, yours, previous):
        return None
    lines = len(found.lost) + len(found.returned)
    count = "a line" if lines == 1 else f"{lines} lines"
    return Notice(
        "overwritten",
        f"Your edit of {address} was overwritten: another program took back {count} of it. Both texts are in history.",
        address,
        base=base,
        yours=after,
        theirs=theirs,
        at=now,
    )


def _text(ledger: Ledger, sha: str | None) -> str | None:
    if sha is None:
        return None
    try:
        data = ledger.versions.blob(sha)
    except MemtuiError:
        return None  # redacted or damaged: without the text there is nothing to compare
    return None if data is None else data.decode("utf-8", "replace")


class TakenBack(NamedTuple):
    """Lines of an edit that were undone; both empty when the edit still stands."""

    lost: tuple[str, ...]
    """Lines the edit had added or changed, now gone."""
    returned: tuple[str, ...]
    """Lines the edit had removed or replaced, now back."""

    def __bool__(self) -> bool:
        return bool(self.lost or self.returned)


def lost_lines(before: str, after: str, later: str) -> TakenBack:
    """Compare an edit (`before`, `after`) with the version written over it.

    Lines are counted, not aligned: moved text is not lost. Blank lines and line ends never count.
    """
    old, new, now = _lines(before), _lines(after), _lines(later)
    counts = {text: Counter(text) for text in (old, new, now)}
    return TakenBack(
        _picked(new, counts[new] - counts[old], counts[new] - counts[now]),
        _picked(now, counts[old] - counts[new], counts[now] - counts[new]),
    )


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in (raw.rstrip("\r") for raw in text.split("\n")) if line.strip())


def _picked(text: tuple[str, ...], changed: Counter[str], undone: Counter[str]) -> tuple[str, ...]:
    """Return the lines of a text that are in both counts, as often as in both; the last of several equal lines."""
    wanted = changed & undone
    picked: list[str] = []
    for line in reversed(text):
        if wanted[line] > 0:
            wanted[line] -= 1
            picked.append(line)
    return tuple(reversed(picked))
