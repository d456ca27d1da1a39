"""Changes made by others: found on disk, recorded in the ledger and reported once; and a thread that follows all roots.

Hints only say where to look first; `look/detect.py` decides from scans and reads. A watch distrusts its events: a
cookie it writes must be heard, scans run anyway, and a failing source is restarted, then given up for plain scans with
a reason.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from memtui.engine.disk import fsio
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.look.catalog import Catalog
from memtui.engine.look.detect import QUIET_MS, ChangeDetector
from memtui.engine.look.root_pass import NOWHERE, Glance, PassResult, RootPass, RootState, Tools
from memtui.engine.look.roots import OpenRoot, Roots
from memtui.engine.model import Change, Changes, Health, Notice, Root
from memtui.engine.part import Events, Pace
from memtui.engine.watch.hints import (
    COOKIES,
    LIMITS,
    Opener,
    Place,
    Schedule,
    Source,
    Watchfiles,
    reason,
    write_cookie,
)
from memtui.errors import MemtuiError

COOKIE_MS, HEARD_MS = 10_000, 2_000
"""How often a cookie is written, and how soon it has to be heard."""
FAILURES = 3
RETRY_MS = 60_000
"""How long the watch only scans before it tries events again."""
SLEPT_MS = 5_000
"""A wall clock this far ahead of the monotonic one means that the machine slept, so events may be missing."""
RETRY_LEDGER_MS = 1_000
"""When to retry what the ledger could not take."""
LEDGER_MS = 250
"""How often the ledger is checked for writes by other processes: a use or a pin changes no file. The check costs
microseconds; when working in the result took a millisecond, the next check waits at least ..."""
LEDGER_SHARE = 50
BUSY, BUSY_STEP = 2.0, 0.2
"""Seconds between looks while this process changes many memories, and how soon the end of it is noticed."""
KEEP_MS = 10_000
"""How soon after a change rows are saved for the next start."""
_ROUNDS = 4
"""How often a single call looks again for files that were changed a moment ago."""
_LEDGER_TROUBLE = ("E_STORE", "E_STORE_DAMAGED", "E_LOCKED", "E_DISK_FULL")
_NOTHING = Changes()


class Reconciler:
    """Finds what others changed on disk, records it and reports it. Safe to share between threads."""

    def __init__(
        self,
        roots: Roots,
        ledger: Ledger,
        catalog: Catalog,
        events: Events,
        *,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._roots = roots
        self._catalog = catalog
        self._tools = Tools(roots, ledger, catalog, ledger.clock, catalog.ticks)
        self.clock, self.ticks = ledger.clock, catalog.ticks
        """Milliseconds since the epoch, and milliseconds that only move forward."""
        self.pace = events.pace
        self.following = False
        self._wait = wait or threading.Event().wait
        self._guard = threading.RLock()
        self._states: dict[str, RootState] = {}
        self._own: deque[Change] = deque()
        events.subscribe(lambda changes: self._own.extend(changes.changes))  # reported already; must never wait

    def reconcile(self, root_ids: Iterable[str] | None = None) -> Changes:
        """Look at whole roots once, record what others finished and report it.

        Waits a few tenths of a second at most for files that were changed a moment ago. A missing file is reported as
        deleted only once it has been gone long enough.

        Raises:
            StorageError, BusyError: the ledger cannot take anything of what was found; it is found again.
        """
        result = PassResult()
        with self._guard:
            roots = {root.id: Glance() for root in self._roots.chosen(root_ids)}
            for _ in range(_ROUNDS):
                self._pass(roots, result, patient=False)
                roots = {root_id: NOWHERE for root_id in roots if self._settling(root_id)}
                if not roots:
                    break
                self._wait(QUIET_MS / 1000)
        if result.trouble is not None and not result.changes:
            raise result.trouble
        return self._told(result)

    def start(self, on_changes: Callable[[Changes], None], on_health: Callable[[Health], None]) -> "Watch":
        """Follow all roots until the watch is stopped; the callbacks run on its own thread."""
        self.following = True
        return Watch(self, self._tools.ledger.directory, on_changes, on_health)

    def look(self, glances: Mapping[str, Glance]) -> Changes:
        """Make one pass for a watch: look at `glances` and at everything undecided that is due. Never waits."""
        result = PassResult()
        with self._guard:
            now = self._tools.ticks()
            wanted = dict(glances)
            for root_id, state in self._states.items():
                if state.due is not None and state.due <= now:
                    wanted.setdefault(root_id, NOWHERE)
            self._pass(wanted, result, patient=True)
        return self._told(result)

    def due(self) -> int | None:
        """Return when to call `look` again although nothing happens, in ticks; None: no need."""
        with self._guard:
            return min((state.due for state in self._states.values() if state.due is not None), default=None)

    def roots(self) -> tuple[Root, ...]:
        """Return the watched roots."""
        return self._roots.all()

    def folders(self, root: Root) -> tuple[str, ...]:
        """Return the folders of a root as of the last pass, relative to it; none when it is missing."""
        state = self._states.get(root.id)
        if state is None or not state.here:
            return ()
        cache = self._catalog.cache(root)
        with cache.guard:
            return tuple(cache.tree.folders)

    def files(self) -> int:
        """Return the number of memories as of the last pass."""
        return sum(len(self._catalog.cache(root).rows) for root in self._roots.all())

    def version(self) -> object:
        """Return a value that changes whenever folders come or go."""
        found = []
        for root in self._roots.all():
            state = self._states.get(root.id)
            found.append((root.id, root.path, state and state.here, self._catalog.cache(root).tree.version))
        return found

    def ledger_version(self) -> int | None:
        """Return a number that changes when another process writes to the ledger; None while unknown."""
        try:
            return self._tools.ledger.change_counter()[0]
        except MemtuiError:
            return None

    def wants(self, root_id: str, folder: str, name: str) -> bool:
        """Return whether this name in a folder could matter. Never waits."""
        state = self._states.get(root_id)
        tree = state.tree if state is not None else None
        found = tree.folders.get(folder) if tree is not None else None
        return found is None or found.selection.file(name) or found.selection.folder(name) is not None

    def keep(self) -> None:
        """Save rows for the next process's first paint."""
        self._catalog.keep()

    # --- one pass

    def _told(self, result: PassResult) -> Changes:
        if result.trouble is not None:
            result.notices.append(Notice("ledger", str(result.trouble), at=self._tools.clock()))
        return result.changed()

    def _settling(self, root_id: str) -> bool:
        state = self._states.get(root_id)
        if state is None or state.detector is None or state.due is None:
            return False
        return bool(state.detector.noticed) and state.due - self._tools.ticks() <= 2 * QUIET_MS

    def _pass(self, glances: Mapping[str, Glance], result: PassResult, *, patient: bool) -> None:
        own = [self._own.popleft() for _ in range(len(self._own))]
        opened: dict[str, OpenRoot] = {}
        # All are opened before the first is looked at: of roots that share a folder, none is to find it seen before.
        for root in self._roots.all():
            state = self._states.setdefault(root.id, RootState())
            if state.detector is not None:
                _note_own(state.detector, root, own)
            if root.id in glances:
                try:
                    # The folder itself is let go again: thousands of them cannot be open at a time.
                    opened[root.id] = self._roots.open(root)._replace(handle=None)
                except MemtuiError as error:
                    self._failed(root, state, error, result)
        for root_id, first in opened.items():
            root, state = first.root, self._states[root_id]
            cache = self._catalog.cache(root)
            try:
                found = self._roots.open(root)
                if found.handle is None:
                    self._away(root, state, result)
                    continue
                if found.uid == first.uid:
                    found = found._replace(fresh=first.fresh)
                RootPass(self._tools, root, state, cache, found, result, patient=patient).run(glances[root_id])
            except MemtuiError as error:
                self._failed(root, state, error, result)

    def _failed(self, root: Root, state: RootState, error: MemtuiError, result: PassResult) -> None:
        if error.code not in _LEDGER_TROUBLE:
            self._away(root, state, result)
            return
        # What was told so far must not be lost with the rest, which is tried again.
        state.due = self._tools.ticks() + RETRY_LEDGER_MS
        result.trouble = error

    def _away(self, root: Root, state: RootState, result: PassResult) -> None:
        """Mark a root as missing: it counts as empty, and its memories are not deleted."""
        if state.here:
            result.roots.add(root.id)
        state.here, state.due = False, None
        if state.detector is not None:
            state.detector.gone.clear()
            state.detector.noticed.clear()


def _note_own(detector: ChangeDetector, root: Root, own: Iterable[Change]) -> None:
    for change in own:
        if change.address.root == root.id:
            detector.wrote(change.address.path, change.after)
        if change.old_address is not None and change.old_address.root == root.id:
            detector.wrote(change.old_address.path, None)


class Watch:
    """A running watch."""

    def __init__(
        self,
        reconciler: Reconciler,
        state_dir: str,
        on_changes: Callable[[Changes], None],
        on_health: Callable[[Health], None],
        *,
        pace: Pace | None = None,
        source: Opener = Watchfiles,
    ) -> None:
        """Start watching; cookies go into `state_dir`. The callbacks run on the watch's thread.

        `on_changes` receives everything one quiet period brought; `on_health` is called at the start, whenever the
        state changes, and at the end.
        """
        self._reconciler = reconciler
        self._folder = os.path.join(state_dir, "watch")
        self._on_changes = on_changes
        self._on_health = on_health
        self._clock, self._ticks, self._pace = reconciler.clock, reconciler.ticks, pace or reconciler.pace
        self._open = source
        self._source: Source = Source()
        self._guard = threading.Lock()
        self._stopping = False
        self._wanted_focus: bool | None = None
        self._health: Health | None = None
        now = self._ticks()
        self._drift = self._clock() - now
        self._schedule = Schedule(now)
        self._failures = 0
        self._cookie = ""
        self._cookie_at = now + COOKIE_MS
        self._cookie_due: int | None = None
        self._retry_at: int | None = None
        self._keep_at: int | None = None
        self._followed: object = None
        self._ledger: int | None = None
        self._ledger_at = now
        self._ledger_moved = False
        self._said: set[str] = set()
        self._thread = threading.Thread(target=self._run, name="memtui-watch", daemon=True)
        self._thread.start()

    # --- for any thread

    def focus(self, focused: bool) -> None:
        """Tell whether somebody is looking: scans become more frequent then, and one starts at once."""
        with self._guard:
            self._wanted_focus = focused
            self._source.wake()

    def stop(self) -> None:
        """End the watch and wait for its thread."""
        with self._guard:
            self._stopping = True
            self._source.wake()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    # --- the thread

    def _run(self) -> None:
        why = "The watch ended by a fault in memtui."
        try:
            self._listen()
            while not self._stopping:
                self._look()
                if not self._schedule.polling and self._source.hears:
                    # Said only now: whoever waits for it may count on everything that happens from here on.
                    self._report(Health("watching"))
                self._hear()
            why = ""
        finally:
            with self._guard:
                self._source.close()
                self._source = Source()
            self._report(Health("stopped", why))

    def _look(self) -> None:
        """Look where something is due, and again in folders that were watched too late to hear of their content."""
        while True:
            self._make_way()
            self._requests()
            now = self._ticks()
            due = self._schedule.rested(self._reconciler.due())
            roots = self._reconciler.roots()
            glances = dict(self._schedule.take(now, [root.id for root in roots]))
            moved, self._ledger_moved = self._ledger_moved, False
            if moved:
                for root in roots:
                    glances.setdefault(root.id, NOWHERE)
            if not glances and (due is None or due > now):
                return
            changes = self._once(self._reconciler.look(glances))
            ended = self._ticks()
            self._schedule.files = self._reconciler.files()
            self._schedule.looked(glances, now, ended, found=changes != _NOTHING)
            if moved:
                self._ledger_at = ended + max(LEDGER_MS, (ended - now) * LEDGER_SHARE)
            self._follow()
            if changes != _NOTHING:
                self._on_changes(changes)
                if self._keep_at is None:
                    self._keep_at = self._ticks() + KEEP_MS
            if self._stopping:
                return

    def _make_way(self) -> None:
        """Pause while this process changes many memories: most events are its own."""
        rested = 0.0
        while rested < BUSY and not self._stopping and not self._pace.free.wait(BUSY_STEP):
            rested += BUSY_STEP

    def _once(self, changes: Changes) -> Changes:
        """Remove notices that were already reported: the ledger cannot take what was found. It is retried."""
        said = {notice.text for notice in changes.notices if notice.kind == "ledger"}
        notices = tuple(notice for notice in changes.notices if notice.text not in self._said)
        if said:
            self._schedule.scan(self._ticks() + RETRY_LEDGER_MS)
        self._said = said
        return changes._replace(notices=notices)

    def _hear(self) -> None:
        now = self._ticks()
        ends = [self._schedule.next(), self._cookie_at, self._ledger_at]
        ends += [
            at
            for at in (self._schedule.rested(self._reconciler.due()), self._cookie_due, self._retry_at, self._keep_at)
            if at is not None
        ]
        batch = self._source.wait(max(0, min(ends) - now) / 1000)
        now = self._ticks()
        drift = self._clock() - now
        if batch.lost or abs(drift - self._drift) > SLEPT_MS:
            self._schedule.scan(now)
            self._cookie_due = None  # it may be lost with the rest
        self._schedule.list(batch.new - {COOKIES}, now)
        self._drift = drift
        for (root_id, folder), name in batch.hints:
            if not root_id:
                self._heard_cookie(name)
            elif not name or self._reconciler.wants(root_id, folder, name):
                self._schedule.hint(root_id, folder, name, now)
                if not name:
                    self._followed = None
        if batch.broken is not None:
            self._failed(batch.broken)
        self._upkeep(now)
        self._ask_ledger(now)

    def _ask_ledger(self, now: int) -> None:
        if now < self._ledger_at:
            return
        self._ledger_at = now + LEDGER_MS
        before, self._ledger = self._ledger, self._reconciler.ledger_version()
        self._ledger_moved = before != self._ledger

    def _requests(self) -> None:
        with self._guard:
            focused, self._wanted_focus = self._wanted_focus, None
        now = self._ticks()
        if focused is not None and focused is not self._schedule.focused:
            self._schedule.focused = focused
            self._schedule.rest(now)
        if focused:
            self._schedule.scan(now)

    # --- doubt

    def _listen(self) -> None:
        """Open a source of hints, or go on without one and report why."""
        self._close_source()
        self._cookie, self._cookie_due, self._followed = "", None, None
        now = self._ticks()
        with self._guard:
            self._source = self._open()
        self._schedule.polling, self._retry_at = False, None
        self._cookie_at = now + COOKIE_MS
        self._schedule.scan(now)

    def _give_up(self, why: str) -> None:
        self._close_source()
        now = self._ticks()
        self._schedule.polling = True
        self._schedule.scan(now)
        self._retry_at = now + RETRY_MS
        self._report(Health("polling", why))

    def _close_source(self) -> None:
        with self._guard:
            old, self._source = self._source, Source()
        old.close()

    def _failed(self, why: OSError) -> None:
        self._failures += 1
        if why.errno in LIMITS:
            self._give_up(reason(why))
        elif self._failures >= FAILURES:
            self._give_up(reason(OSError(0, f"the watcher failed three times in a row: {why.strerror}")))
        else:
            self._listen()

    def _follow(self) -> None:
        """Watch the current folders; new ones have to be listed once more."""
        if self._schedule.polling:
            return
        version = self._reconciler.version()
        if version == self._followed:
            return
        folders: dict[Place, str] = {}
        for root in self._reconciler.roots():
            for folder in self._reconciler.folders(root):
                folders[root.id, folder] = os.path.join(root.path, folder) if folder else root.path
        # A state folder that cannot be written has no cookies: scans alone stand behind the events.
        with suppress(OSError):
            fsio.make_root(self._folder)
            folders[COOKIES] = self._folder
        self._source.follow(folders)
        self._followed = version

    def _upkeep(self, now: int) -> None:
        if self._retry_at is not None and now >= self._retry_at:
            self._failures = 0
            self._listen()
        if self._cookie_due is not None and now >= self._cookie_due:
            self._failed(OSError(0, "its own cookie was not heard"))
        if now >= self._cookie_at:
            self._cookie_at = now + COOKIE_MS
            if not self._schedule.polling and self._followed is not None:
                name = f"cookie-{os.getpid()}-{self._thread.ident}"
                if write_cookie(self._folder, name):
                    self._cookie, self._cookie_due = name, now + HEARD_MS
        if self._keep_at is not None and now >= self._keep_at:
            self._keep_at = None
            self._reconciler.keep()

    def _heard_cookie(self, name: str) -> None:
        if name == self._cookie:
            self._cookie, self._cookie_due, self._failures = "", None, 0

    def _report(self, health: Health) -> None:
        if health != self._health:
            self._health = health
            self._on_health(health)
