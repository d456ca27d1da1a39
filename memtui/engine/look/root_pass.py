"""One pass over one root: look, decide, record, tell.

`detect.py` decides and this carries it out. It exists so that what is told was read twice, is in the ledger first, and
was still so when the ledger took it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from memtui.engine.disk import git
from memtui.engine.disk.paths import split
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.ledger.versions import Observation
from memtui.engine.look.catalog import Catalog, RootRows, by_folder
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
from memtui.engine.look.overwritten import overwritten
from memtui.engine.look.readings import Contents
from memtui.engine.look.roots import OpenRoot, Roots
from memtui.engine.look.scan import RootTree, is_still, is_there
from memtui.engine.model import OUTSIDE, Address, Change, Changes, Memory, Notice, Root
from memtui.errors import MemtuiError

BATCH_FILES, BATCH_BYTES = 500, 8 * 1024 * 1024
"""So much is recorded in one transaction."""
RETELL_MS = 1_000
"""A memory that never comes to rest is told to be drawn again only this often."""
_UNREADABLE = NameView(None, 0, steady=False, since=0)
"""Something is there, and nothing more can be said of it."""


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
    """Folders to list again."""
    names: Mapping[str, frozenset[str]] = {}
    """Names to look at, by folder."""


NOWHERE = Glance(everything=False)
"""Look only at what is undecided."""


class RootState:
    """What is remembered of one root from one pass to the next."""

    def __init__(self) -> None:
        """Begin with a root that was never looked at."""
        self.beliefs: ChangeDetector | None = None
        self.uid = -1
        self.identity: tuple[int, int] | None = None
        self.here: bool | None = None
        """Whether its folder was there; None before the first look."""
        self.moved = False
        """Whether it is another folder than the one whose content is believed."""
        self.emptied = False
        self.baseline: dict[str, str] = {}
        """Content at the first sight of the root, which is no news."""
        self.heard: dict[str, LastReported] = {}
        """What was told although the ledger cannot be written."""
        self.told: dict[str, int] = {}
        """When a name that is being written was last told to be drawn again."""
        self.hidden: set[str] = set()
        """Names that are believed and not listed, and yet something is there: asked for again by every scan."""
        self.looked: dict[str, int] = {}
        """When each folder was last looked at whole, in ticks."""
        self.due: int | None = None
        self.tree: RootTree | None = None
        """What is in it, for a quick question without its guard."""


class Gathered:
    """What one pass brings together."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.changes: list[Change] = []
        self.touched: set[Address] = set()
        self.roots: set[str] = set()
        self.notices: list[Notice] = []
        self.trouble: MemtuiError | None = None
        """Why the ledger could not take everything."""
        self.rows: dict[Address, Memory | None] = {}
        self.order = 0

    def changed(self) -> Changes:
        """The pass as one value."""
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
        shelf: RootRows,
        opened: OpenRoot,
        gathered: Gathered,
        *,
        patient: bool,
    ) -> None:
        """Take what the pass is about; see `Reconciler.look` for `patient`."""
        assert opened.handle is not None
        self._tools = tools
        self._root = root
        self._state = state
        self._shelf = shelf
        self._opened = opened
        self._handle = opened.handle
        self._gathered = gathered
        self._patient = patient
        self._contents = Contents()
        self._named: set[str] = set()
        """What this pass tells of."""
        self._counter: tuple[int, int] | None = None
        """The ledger's change counter when this pass decided, or recorded last."""
        self._decided_on: dict[str | None, str | None] = {}
        """What the ledger took for the current versions when this pass decided."""
        self._first = state.beliefs is None or state.uid != opened.uid
        self._fresh = self._first and opened.fresh and state.here is not False
        """First sight of a root that was there when we came: its content is no news."""

    def run(self, glance: Glance) -> None:
        """Make the pass.

        Raises:
            MemtuiError: the root cannot be listed, or the ledger cannot take what was found; nothing is lost by that.
        """
        beliefs, glance = self._begin(glance)
        with self._shelf.guard:
            step = self._decide(beliefs, glance)
        ledger = self._tools.ledger
        if ledger.mode == "normal" and not ledger.read_only:
            self._record(step.events, beliefs)
            if self._first and self._opened.fresh:
                ledger.roots.mark_baseline(self._opened.uid)
                self._tools.roots.baselined(self._root)
        else:
            self._only_tell(step.events, beliefs)
        with self._shelf.guard:
            self._show(beliefs, step)

    def _decide(self, beliefs: ChangeDetector, glance: Glance) -> Decision:
        state, shelf = self._state, self._shelf
        state.tree = shelf.tree
        self._look(glance, beliefs)
        looked = set(shelf.news)
        if glance.everything:
            looked |= state.hidden
            state.hidden.clear()
        if self._first:
            looked |= beliefs.known.keys() | shelf.readings.keys()
            shelf.rebuilt.clear()
        if self._fresh:
            found = {path: reading.sha256 for path, reading in shelf.readings.items() if reading.sha256}
            # What memtui wrote before anybody looked here, and others changed since, is news.
            state.baseline = {path: sha for path, sha in found.items() if path not in beliefs.known}
            shelf.baseline = set(state.baseline)
        # Roots that share a folder share its records: what another one takes is none of this one's business.
        covers = self._shelf.tree.selection.covers
        mine = [path for path in looked if shelf.tree.entry(path) is not None or covers(path)]
        look = self._sight(beliefs, mine)
        step = beliefs.step(look, mine)
        whole = shelf.tree.folders if glance.everything else glance.folders & shelf.tree.folders.keys()
        state.looked |= dict.fromkeys(whole, look.now)
        shelf.news -= looked
        state.due = step.due
        self._counter = shelf.counter
        for event in step.events:
            for path in (event.path, event.old_path):
                record = None if path is None else shelf.records.get(path)
                self._decided_on[path] = None if record is None else record.sha256
        return step

    def _show(self, beliefs: ChangeDetector, step: Decision) -> None:
        state, shelf, catalog = self._state, self._shelf, self._tools.catalog
        catalog.follow(shelf)
        catalog.show(shelf, writing=step.writing & beliefs.noticed.keys(), held=step.held)
        if step.emptied and not state.emptied:
            self._gathered.roots.add(self._root.id)
        state.emptied = step.emptied
        if state.moved and len(beliefs.gone) < len(beliefs.known):
            state.moved = False
        self._touch(beliefs)
        if self._named:
            self._gathered.rows |= {self._address(path): shelf.rows.get(path) for path in self._named}
            self._gathered.order = catalog.next_order()

    # --- looking

    def _begin(self, glance: Glance) -> tuple[ChangeDetector, Glance]:
        """Notice that the root came back, or is another folder than before."""
        state, identity = self._state, self._handle.identity
        beliefs = state.beliefs
        if beliefs is None or state.uid != self._opened.uid:
            beliefs = ChangeDetector(self._last_versions())
            state.looked.clear()
        elif state.identity != identity or not state.here:
            beliefs.gone.clear()
            self._gathered.roots.add(self._root.id)
            state.moved |= state.identity != identity
            glance = Glance()
        if state.here is False:
            self._gathered.roots.add(self._root.id)
        state.beliefs, state.uid, state.identity, state.here = beliefs, self._opened.uid, identity, True
        return beliefs, Glance() if self._first else glance

    def _last_versions(self) -> Mapping[str, str]:
        """The current version of each memory, from what the shelf holds if that is up to date."""
        ledger, uid, shelf = self._tools.ledger, self._opened.uid, self._shelf
        if shelf.uid != uid or shelf.counter != ledger.change_counter():
            return ledger.memories.contents(uid)
        return {path: record.sha256 for path, record in shelf.records.items() if record.sha256}

    def _look(self, glance: Glance, beliefs: ChangeDetector) -> None:
        catalog, shelf, handle, uid = self._tools.catalog, self._shelf, self._handle, self._opened.uid
        before = shelf.counter
        if glance.everything:
            catalog.look(shelf, handle, uid, contents=self._contents)
        else:
            if glance.folders:
                catalog.look(shelf, handle, uid, folders=glance.folders, contents=self._contents)
            paths = [path for path in (*beliefs.noticed, *beliefs.gone) if _folder(path) not in glance.folders]
            catalog.look(shelf, handle, uid, names=by_folder(paths, glance.names), contents=self._contents)
        if shelf.counter != before:
            self._look_again()

    def _look_again(self) -> None:
        """Look once more where the ledger says something else than was read: it was asked last, so it may know more."""
        shelf = self._shelf
        differ = []
        for path in shelf.news:
            record, reading = shelf.records.get(path), shelf.readings.get(path)
            if record is not None and (reading is None or reading.sha256 != record.sha256):
                differ.append(path)
        if differ:
            names = by_folder(differ)
            self._tools.catalog.look(shelf, self._handle, self._opened.uid, names=names, contents=self._contents)

    def _sight(self, beliefs: ChangeDetector, looked: Iterable[str]) -> DiskLook:
        """What this look saw, for deciding."""
        state = self._state
        hold = DELETED_MS
        empty = not len(self._shelf.tree)
        if beliefs.gone or any(self._shelf.tree.entry(path) is None for path in looked):
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
        entry, reading = self._shelf.tree.entry(path), self._shelf.readings.get(path)
        if entry is None:
            # Not listed is not gone: a limit, a folder without permission or a changed layout may hide it, or it came
            # back since it was looked for.
            try:
                there = is_there(self._handle, split(path))
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
        record = self._shelf.records.get(path)
        return None if record is None else LastReported(record.sha256, record.actor)

    def _intended(self) -> dict[str, LastReported]:
        """What memtui's own unfinished changes are about to leave under each name."""
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
        """How long the nearest folder that is still there has not changed: the name is gone since then at least."""
        folder = path.rpartition("/")[0]
        while folder not in self._shelf.tree.folders:
            folder = folder.rpartition("/")[0]
        return max(0, self._tools.clock() - self._shelf.tree.folders[folder].mtime_ns // 1_000_000)

    # --- recording and telling

    def _record(self, events: Sequence[Event], beliefs: ChangeDetector) -> None:
        for start in range(0, len(events), BATCH_FILES):
            some = events[start : start + BATCH_FILES]
            with self._shelf.guard:
                self._fetch([event.path for event in some if event.actor is None and event.after is not None])
            batch: list[tuple[Event, Observation]] = []
            size = 0
            for event in some:
                if event.actor is not None:
                    self._tell(event, beliefs)
                    continue
                data = None
                if event.after is not None:
                    data = self._settled(event, beliefs)
                    if data is None:
                        continue
                    size += len(data)
                batch.append((event, self._observation(event, data)))
                if size >= BATCH_BYTES:
                    self._flush(batch, beliefs)
                    batch, size = [], 0
            self._flush(batch, beliefs)

    def _fetch(self, wanted: Iterable[str]) -> None:
        """Read again, a folder at a time, what this look had no reason to read."""
        missing = [path for path in wanted if not self._contents.has(path)]
        if missing:
            self._tools.catalog.read(self._shelf, self._handle, missing, self._contents)

    def _observation(self, event: Event, data: bytes | None) -> Observation:
        return Observation(event.path, event.kind, event.after, data, OUTSIDE.name, self._tools.clock(), event.old_path)

    def _settled(self, event: Event, beliefs: ChangeDetector) -> bytes | None:
        """The bytes of a version that is to be recorded; None when another text is there by now."""
        data = self._contents.take(event.path)
        with self._shelf.guard:
            if data is None:
                self._tools.catalog.read(self._shelf, self._handle, [event.path], self._contents)
                data = self._contents.take(event.path)
            reading = self._shelf.readings.get(event.path)
            recorded = event.path in self._shelf.records
        if data is not None and reading is not None and reading.sha256 == event.after:
            # It was read before the ledger was asked: what another memtui did in between must not count as undone.
            same = not recorded or is_still(self._handle, split(event.path), reading.key)
            if same:
                return data
        now = self._tools.ticks()
        beliefs.put_off(event.path, now)
        self._state.due = min(self._state.due or now + QUIET_MS, now + QUIET_MS)
        return None

    def _flush(self, batch: list[tuple[Event, Observation]], beliefs: ChangeDetector) -> None:
        if not batch:
            return
        ledger, uid, shelf = self._tools.ledger, self._opened.uid, self._shelf
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
            written = {path for event, _ in (*old, *news) for path in (event.path, event.old_path) if path}
            # Asking for some records is quicker than for all of them, up to a point.
            records = (
                {path: ledger.memories.record(uid, path) for path in written} if len(batch) < BATCH_FILES else None
            )
            before, self._counter = self._counter, ledger.change_counter()
        with shelf.guard:
            if same and records is not None and shelf.counter == before:
                self._tools.catalog.adopt(shelf, records, self._counter)
            shelf.baseline -= {event.path for event, _ in old}
        for event, _ in old:
            self._state.baseline.pop(event.path, None)
            beliefs.accept(event)
        for event, observation in news:
            self._state.baseline.pop(event.path, None)
            self._tell(event, beliefs)
            if event.kind == "modified" and event.after is not None and observation.data is not None:
                address, now = self._address(event.path), self._tools.clock()
                notice = overwritten(ledger, uid, address, event.before, event.after, observation.data, now)
                if notice is not None:
                    self._gathered.notices.append(notice)

    def _as_found(self, observation: Observation) -> Observation:
        """What was there before memtui came is as old as its file says, but not from the future."""
        reading = self._shelf.readings.get(observation.path)
        if reading is None:
            return observation
        return observation._replace(at=min(observation.at, max(reading.key.mtime_ns, 0) // 1_000_000))

    def _still(self, event: Event) -> bool:
        """Whether the ledger knows of the names what it did when this was decided."""
        for path in (event.path, event.old_path):
            record = None if path is None else self._tools.ledger.memories.record(self._opened.uid, path)
            if (record.sha256 if record else None) != self._decided_on[path]:
                return False
        return True

    def _only_tell(self, events: Iterable[Event], beliefs: ChangeDetector) -> None:
        """Tell what cannot be recorded because the ledger is only read."""
        for event in events:
            if self._state.baseline.pop(event.path, None) == event.after and event.after is not None:
                beliefs.accept(event)
            else:
                self._tell(event, beliefs)
            self._state.heard[event.path] = LastReported(event.after, event.actor or OUTSIDE.name)
            if event.old_path is not None:
                self._state.heard[event.old_path] = LastReported(None, OUTSIDE.name)

    def _tell(self, event: Event, beliefs: ChangeDetector) -> None:
        beliefs.accept(event)
        self._named |= {path for path in (event.path, event.old_path) if path is not None}
        self._gathered.changes.append(
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

    def _touch(self, beliefs: ChangeDetector) -> None:
        state, now = self._state, self._tools.ticks()
        state.told = {path: at for path, at in state.told.items() if path in beliefs.noticed}
        for path in self._shelf.rebuilt:
            if path in beliefs.noticed:
                if now - state.told.get(path, now - RETELL_MS) < RETELL_MS:
                    continue
                state.told[path] = now
            self._gathered.touched.add(self._address(path))
            self._named.add(path)
        self._shelf.rebuilt.clear()

    def _address(self, path: str) -> Address:
        return Address(self._root.id, path)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
