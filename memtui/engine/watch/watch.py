"""Follows all roots on a thread of its own: hears hints, lets the reconciler look, and hands over what it found.

It doubts its own ears: a cookie it writes for itself has to be heard, scans come whatever was heard, and a source that
fails is restarted, then given up for plain scans with a reason. It takes callbacks, never a widget. When to look where
is worked out so that one save shows within a frame, a burst costs a few looks instead of thousands, and a quiet folder
of any size stays below half a percent of a processor.
"""

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from memtui.engine.disk import fsio
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.look.catalog import Catalog
from memtui.engine.look.reconcile import Reconciler
from memtui.engine.look.root_pass import NOWHERE, Glance
from memtui.engine.look.roots import Roots
from memtui.engine.model import Changes, Health
from memtui.engine.part import Events, Pace
from memtui.engine.watch.hints import (
    COOKIES,
    LIMITS,
    NoSource,
    Opener,
    Place,
    Source,
    Watchfiles,
    reason,
    write_cookie,
)

QUIET_MS, LONGEST_MS = 75, 500
"""A folder is listed again after so much quiet, or at the latest this long after its first hint."""
FOCUSED_MS, AWAY_MS, POLLING_MS = 2_000, 30_000, 2_000
"""How often everything is scanned, whatever was heard."""
_SHARE = 400
"""A scan that took a millisecond comes at most every 400 of them: a quarter of a percent, because the terminal's reader
and the looks at the ledger take as much again."""
_POLLING_SHARE, FEW = 125, 10_000
"""The same where nobody listens, but not below so many memories: then nothing but a scan tells of a change."""
_LIST_SHARE = 20
"""A folder that took a millisecond to list is listed again after 20 of them at the earliest."""
_NAMES_SHARE, _LONGEST_REST_MS = 7, 150
"""A look at names, or at what is undecided, that took a millisecond rests for seven of them, but not for longer than
this: a writer that never stops must not cost more than a part of a core, and a burst is shown soon after its end."""
_MANY = 400
"""More names than this in one folder are found by listing it."""


class Schedule:
    """What is to be looked at, and when. All times are ticks, in milliseconds."""

    def __init__(self, now: int) -> None:
        """Begin with everything to be scanned at once."""
        self.focused = True
        self.polling = False
        self.files = 0
        """How many memories there are."""
        self._scan_at = now
        self._asked = False
        self._scan_ms = self._last_ms = 0
        self._turns = 0
        self._names: dict[str, dict[str, set[str]]] = {}
        self._rest_until = now
        self._folders: dict[tuple[str, str], tuple[int, int]] = {}
        self._no_list_until = now

    def hint(self, root_id: str, folder: str, name: str, now: int) -> None:
        """Something happened to a name in a folder; an empty name means the folder itself."""
        self._names.setdefault(root_id, {}).setdefault(folder, set()).add(name)
        first, _ = self._folders.get((root_id, folder), (now, now))
        self._folders[root_id, folder] = (first, now)

    def scan(self, now: int) -> None:
        """Scan everything next."""
        self._scan_at = min(self._scan_at, now)
        self._asked = True

    def list(self, places: Iterable[tuple[str, str]], now: int) -> None:
        """List folders next: they are watched only from now on."""
        for place in places:
            self._folders[place] = (now - LONGEST_MS, now - QUIET_MS)

    def next(self) -> int:
        """When there is something to do."""
        ends = [self._scan_at]
        if self._names:
            ends.append(self._rest_until)
        ends += [
            max(self._no_list_until, min(last + QUIET_MS, first + LONGEST_MS)) for first, last in self._folders.values()
        ]
        return min(ends)

    def take(self, now: int, root_ids: Iterable[str]) -> Mapping[str, Glance]:
        """What to look at now, by root; nothing when it is too early for all of it."""
        if now >= self._scan_at:
            self._names.clear()
            self._folders.clear()
            self._asked = False
            self.rest(now)
            return {root_id: Glance() for root_id in root_ids}
        folders: dict[str, set[str]] = {}
        for (root_id, folder), (first, last) in list(self._folders.items()):
            if now >= max(self._no_list_until, min(last + QUIET_MS, first + LONGEST_MS)):
                del self._folders[root_id, folder]
                folders.setdefault(root_id, set()).add(folder)
        names: dict[str, dict[str, frozenset[str]]] = {}
        if now >= self._rest_until:
            for root_id, below in self._names.items():
                for folder, some in below.items():
                    if folder in folders.get(root_id, ()):
                        continue
                    if "" in some or len(some) > _MANY:
                        folders.setdefault(root_id, set()).add(folder)
                    else:
                        names.setdefault(root_id, {})[folder] = frozenset(some)
            self._names.clear()
        return {
            root_id: Glance(everything=False, folders=frozenset(folders.get(root_id, ())), names=names.get(root_id, {}))
            for root_id in folders.keys() | names.keys()
        }

    def looked(self, glances: Mapping[str, Glance], started: int, ended: int, *, found: bool) -> None:
        """Learn what a look cost.

        Args:
            glances: where it looked.
            started: when.
            ended: when.
            found: whether there was anything new; recording that is no part of the cost of looking.
        """
        took = ended - started
        if any(glance.everything for glance in glances.values()):
            if not found:
                # One that had to read much again says nothing about the next.
                self._scan_ms, self._last_ms = min(took, self._last_ms), took
            self.rest(ended)
        elif any(glance.folders for glance in glances.values()):
            self._no_list_until = ended + took * _LIST_SHARE
        else:
            self._rest_until = ended + min(took * _NAMES_SHARE, _LONGEST_REST_MS)

    def rested(self, due: int | None) -> int | None:
        """When to look at what is undecided, from when that would be due."""
        return None if due is None else max(due, self._rest_until)

    def rest(self, now: int) -> None:
        """Plan the next scan of everything, unless one is asked for already."""
        if self._asked:
            return
        base = POLLING_MS if self.polling else FOCUSED_MS if self.focused else AWAY_MS
        share = _SHARE if not self.polling else 0 if self.files < FEW else _POLLING_SHARE
        # Processes that started together drift apart, the same way in every run.
        self._turns += 1
        jitter = 0.9 + 0.1 * (self._turns * 0.618 % 1)
        self._scan_at = now + round(max(base, min(AWAY_MS, self._scan_ms * share)) * jitter)


COOKIE_MS, HEARD_MS = 10_000, 2_000
"""How often a cookie is written, and how soon it has to be heard."""
FAILURES = 3
"""So many failures in a row end the source."""
RETRY_MS = 60_000
"""How long scans alone go on before events are tried again."""
SLEPT_MS = 5_000
"""When the wall clock ran so far ahead of the other one, the machine slept: nothing heard before counts."""
RETRY_LEDGER_MS = 1_000
LEDGER_MS = 250
"""How often the ledger is asked whether another process wrote to it: a use or a pin changes no file, so no event tells
of it. The question costs microseconds; an answer that took a millisecond to work in comes at most every ..."""
LEDGER_SHARE = 50
BUSY, BUSY_STEP = 2.0, 0.2
"""Seconds between looks while this process changes many memories, and how soon the end of it is noticed."""
KEEP_MS = 10_000
"""How soon after a change rows are written down for the next start."""
_NOTHING = Changes()


class Watch:
    """A running watch."""

    def __init__(
        self,
        reconciler: Reconciler,
        state_dir: str,
        on_changes: Callable[[Changes], None],
        on_health: Callable[[Health], None],
        *,
        pace: Pace,
        source: Opener = Watchfiles,
    ) -> None:
        """Start watching.

        Args:
            reconciler: looks at the disk and says what is new.
            state_dir: memtui's own folder, for the cookies.
            on_changes: called on the watch's thread with everything one quiet period brought.
            on_health: called on the watch's thread at the start, whenever the state changes, and at the end.
            pace: changes of many memories that run, which it makes way for.
            source: makes the source of hints.
        """
        self._reconciler = reconciler
        self._folder = os.path.join(state_dir, "watch")
        self._on_changes = on_changes
        self._on_health = on_health
        self._clock, self._ticks, self._pace = reconciler.clock, reconciler.ticks, pace
        self._open = source
        self._source: Source = NoSource()
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
        """Say whether somebody is looking: scans come more often then, and one comes at once."""
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
                self._source = NoSource()
            self._report(Health("stopped", why))

    def _look(self) -> None:
        """Look where something is due, and again where folders were watched too late to hear of what was in them."""
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
        """Rest between two looks while this process changes many memories: most of what is heard is its own."""
        rested = 0.0
        while rested < BUSY and not self._stopping and not self._pace.free.wait(BUSY_STEP):
            rested += BUSY_STEP

    def _once(self, changes: Changes) -> Changes:
        """Leave out what was said before: that the ledger cannot take what was found. It is tried again."""
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
        """Notice that another process recorded something."""
        if now < self._ledger_at:
            return
        self._ledger_at = now + LEDGER_MS
        before, self._ledger = self._ledger, self._reconciler.ledger_version()
        self._ledger_moved = before != self._ledger

    def _requests(self) -> None:
        """Take over what other threads asked for."""
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
        """Open a source of hints, or go on without one and say why."""
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
            old, self._source = self._source, NoSource()
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
        """Watch the folders there are now; those that are new have to be listed once more."""
        if self._schedule.polling:
            return
        version = self._reconciler.version()
        if version == self._followed:
            return
        folders: dict[Place, str] = {}
        for root in self._reconciler.roots():
            for folder in self._reconciler.folders(root):
                folders[root.id, folder] = os.path.join(root.path, folder) if folder else root.path
        if self._make_folder():
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
                self._write_cookie(now)
        if self._keep_at is not None and now >= self._keep_at:
            self._keep_at = None
            self._reconciler.keep()

    def _make_folder(self) -> bool:
        try:
            fsio.make_root(self._folder)
        except OSError:
            return False  # a state folder that cannot be written: scans alone stand behind the events
        return True

    def _write_cookie(self, now: int) -> None:
        name = f"cookie-{os.getpid()}-{self._thread.ident}"
        if write_cookie(self._folder, name):
            self._cookie, self._cookie_due = name, now + HEARD_MS

    def _heard_cookie(self, name: str) -> None:
        if name == self._cookie:
            self._cookie, self._cookie_due, self._failures = "", None, 0

    def _report(self, health: Health) -> None:
        if health != self._health:
            self._health = health
            self._on_health(health)


class Watcher:
    """Looks at the disk for what others did."""

    def __init__(self, roots: Roots, ledger: Ledger, catalog: Catalog, events: Events) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._catalog = catalog
        self._events = events
        self.following = False
        """Whether somebody followed along."""

    @cached_property
    def _reconciler(self) -> Reconciler:
        reconciler = Reconciler(self._roots, self._ledger, self._catalog)
        self._events.subscribe(reconciler.published)
        return reconciler

    def reconcile(self, root_ids: Iterable[str] | None = None) -> Changes:
        """Look at the disk, record what others finished, and say what is different."""
        return self._reconciler.reconcile(
            None if root_ids is None else [root.id for root in self._roots.chosen(root_ids)]
        )

    def start(self, on_changes: Callable[[Changes], None], on_health: Callable[[Health], None]) -> Watch:
        """Follow all roots until the watch is stopped; the callbacks come on its own thread."""

        self.following = True
        return Watch(self._reconciler, self._ledger.directory, on_changes, on_health, pace=self._events.pace)
