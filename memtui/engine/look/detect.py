"""What is believed of one root, and what a look at the disk changes about it: only decisions, no clock, file or ledger.

A file that is gone may come back, a text that is there may be half written, and a write may be our own. Everything that
keeps memtui from telling the user such a thing wrongly is decided here, so that it can be tried in any order of events.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

QUIET_MS = 100
"""A difference is told when nothing else happened for so long ..."""
PATIENCE_MS = 180
"""... or when it is this old: one batch for a burst, and nobody waits for a writer that never stops."""
RENAME_MS = 200
"""A file that went and one that came are a rename when both stay so for this long: editors shuffle names to save."""
MISSING_MS, DELETED_MS, AT_WORK_MS, EMPTIED_MS = 1_000, 5_000, 60_000, 60_000
"""How long a file is gone before it shows as missing, counts as deleted, does so while git is at work, and does so when
everything in the root went with it."""
_STEP_MS = 10
"""The shortest time to the next look."""
_EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""Files without content say nothing about each other."""


class NameView(NamedTuple):
    """What is under a name."""

    sha256: str | None
    """None: something is there that cannot be read."""
    ino: int
    steady: bool
    since: int
    """Ticks of the first read of this content."""


class KnownFile(NamedTuple):
    """What was last told about a name."""

    sha256: str
    ino: int


class LastReported(NamedTuple):
    """What memtui itself recorded about a name: its writes, and what any memtui saw settle before."""

    sha256: str | None
    """None: deleted."""
    actor: str


class Event(NamedTuple):
    """Something to tell."""

    kind: str
    """`created`, `modified`, `deleted` or `renamed`."""
    path: str
    before: str | None
    after: str | None
    actor: str | None
    """None: not recorded yet, so the writer is unknown and the version is to be kept."""
    ino: int = 0
    old_path: str | None = None


class Decision(NamedTuple):
    """What to do after a look."""

    events: list[Event]
    """To be told, and recorded where the actor is None; `ChangeDetector.accept` each that was."""
    writing: frozenset[str]
    """Names whose content is not settled."""
    held: dict[str, bool]
    """Names that are gone and not believed to be, and whether to show them as missing."""
    due: int | None
    """Ticks at which to look again even if nothing happens."""
    emptied: bool
    """Everything went at once: more likely the root went away than that somebody deleted all of it."""


class DiskLook(NamedTuple):
    """One look at the disk."""

    now: int
    """Ticks, in milliseconds."""
    view: Callable[[str], NameView | None]
    """What is under a name now; None: nothing."""
    told: Callable[[str], LastReported | None]
    """What the ledger says."""
    ours: Callable[[str], LastReported | None] = lambda _path: None
    """What a memtui is about to have written there, as its audit says before it is done."""
    hold: int = DELETED_MS
    """How long to wait before a file that is gone counts as deleted."""
    empty: bool = False
    """Whether there is nothing at all in the root."""
    hold_all: int | None = EMPTIED_MS
    """The same when everything is gone; None: never."""
    patient: bool = True
    """Whether there will be a next look soon. False: tell what is settled at once."""
    gone_for: Callable[[str], int] = lambda _path: 0
    """How long a name that was found gone only now is known to have been gone, in milliseconds."""
    saw: Callable[[str], int | None] = lambda _path: None
    """Ticks of the look before this one at everything in the name's folder; None: there was none."""


class ChangeDetector:
    """The state of belief about one root."""

    def __init__(self, known: Mapping[str, str]) -> None:
        """Begin with what an earlier process recorded: sha-256 by path."""
        self.known = {path: KnownFile(sha, 0) for path, sha in known.items()}
        self.noticed: dict[str, int] = {}
        """Names with content that was not told yet, and since when."""
        self.came: dict[str, int] = {}
        """When each of them was first seen with content that was not told."""
        self.gone: dict[str, int] = {}
        """Names that are gone without having been told so, and since when."""
        self.left: dict[str, int] = {}
        """When the last look was that still saw each of them, as far as there was one."""
        self.own: dict[str, set[str | None]] = {}
        """What this process wrote and has told already."""

    def wrote(self, path: str, sha: str | None) -> None:
        """Remember a change this process made and told by itself; None is a deletion."""
        self.own.setdefault(path, set()).add(sha)

    def step(self, look: DiskLook, paths: Iterable[str]) -> Decision:
        """Decide what a look at some names means.

        Args:
            look: what was seen.
            paths: the names that were looked at, or whose ledger record changed. Undecided ones come by themselves.
        """
        flux = sorted({*paths, *self.noticed, *self.gone})
        self.came = {path: at for path, at in self.came.items() if path in self.noticed}
        self.left = {path: at for path, at in self.left.items() if path in self.gone}
        work = _Work(look)
        for path in flux:
            view = look.view(path)
            if view is None:
                self._absent(work, path)
            else:
                self._present(work, path, view)
        emptied = look.empty and 1 < len(work.leaving) == len(self.known)
        self._leaving(work, emptied=emptied)
        self._arriving(work)
        _pair_told(work.events)
        return Decision(work.events, frozenset(work.writing), work.held, work.due, emptied)

    def accept(self, event: Event) -> None:
        """Believe an event that was told."""
        gone = event.path if event.kind == "deleted" else event.old_path
        if gone is not None:
            self.known.pop(gone, None)
            self.gone.pop(gone, None)
            self.own.pop(gone, None)
        if event.after is not None:
            self.known[event.path] = KnownFile(event.after, event.ino)
            self.noticed.pop(event.path, None)
            self.own.pop(event.path, None)

    def put_off(self, path: str, now: int) -> None:
        """Take back that a name is settled: another text was found when it was read to be recorded."""
        self.noticed[path] = now

    def _present(self, work: "_Work", path: str, view: NameView) -> None:
        self.gone.pop(path, None)
        if view.sha256 is None:
            self.noticed.pop(path, None)
            return
        known, told = self.known.get(path), work.look.told(path)
        if (ours := work.look.ours(path)) is not None and ours.sha256 == view.sha256:
            told = ours
        is_told = told is not None and told.sha256 == view.sha256
        if is_told and ((known is not None and known.sha256 == view.sha256) or view.sha256 in self.own.get(path, ())):
            self.known[path] = KnownFile(view.sha256, view.ino)
            self.noticed.pop(path, None)
            self.own.pop(path, None)
            return
        noticed = self.noticed.setdefault(path, work.look.now)
        self.came.setdefault(path, work.look.now)
        if not is_told:
            work.writing.add(path)
        if not view.steady:
            work.wait(view.since + QUIET_MS)
        elif is_told and work.look.patient and work.look.now - noticed < QUIET_MS:
            # Whoever recorded it may be this process, about to tell it by itself.
            work.wait(noticed + QUIET_MS)
        else:
            work.arriving[path] = (view, told if is_told else None)

    def _absent(self, work: "_Work", path: str) -> None:
        self.noticed.pop(path, None)
        known, told = self.known.get(path), work.look.told(path)
        if (ours := work.look.ours(path)) is not None and ours.sha256 is None:
            told = ours
        if told is not None and told.sha256 is None and known is not None and None not in self.own.get(path, ()):
            since = self.gone.setdefault(path, work.look.now)
            if work.look.patient and work.look.now - since < QUIET_MS:
                work.wait(since + QUIET_MS)
            else:
                work.events.append(Event("deleted", path, known.sha256, None, told.actor, known.ino))
        elif (told is None or told.sha256 is None) and (known is None or told is not None):
            for kept in (self.known, self.gone, self.own):
                kept.pop(path, None)
        else:
            if known is None:
                assert told is not None
                assert told.sha256 is not None
                self.known[path] = KnownFile(told.sha256, 0)
            if path not in self.gone and (seen := work.look.saw(path)) is not None:
                self.left[path] = seen
            work.leaving[path] = self.gone.setdefault(path, work.look.now - work.look.gone_for(path))

    def _leaving(self, work: "_Work", *, emptied: bool) -> None:
        look = work.look
        hold = look.hold_all if emptied else look.hold
        if emptied and hold is not None:
            hold = max(hold, look.hold)
        for path, since in work.leaving.items():
            age = look.now - since
            if hold is not None and age >= hold:
                known = self.known[path]
                work.removals[path] = Event("deleted", path, known.sha256, None, None, known.ino)
                continue
            if not emptied or age < DELETED_MS:
                work.held[path] = age >= MISSING_MS
            ends = [since + end for end in (MISSING_MS, DELETED_MS, hold) if end is not None and age < end]
            if ends:
                work.wait(min(ends))

    def _arriving(self, work: "_Work") -> None:
        look = work.look
        newest = max(self.noticed.values(), default=look.now)
        oldest = min((self.noticed[path] for path in work.arriving), default=look.now)
        if look.patient and work.arriving and look.now - newest < QUIET_MS and look.now - oldest < PATIENCE_MS:
            # One batch for a burst. What is to go waits as well: it may turn out to be one half of a rename.
            work.wait(min(newest + QUIET_MS, oldest + PATIENCE_MS))
            return
        leaving = work.leaving if work.arriving else {}
        partners = _Partners(((path, self.known[path]) for path in leaving), self.left)
        for path, (view, told) in work.arriving.items():
            assert view.sha256 is not None
            noticed = self.noticed[path]
            known, last = self.known.get(path), look.told(path)
            before = known.sha256 if known is not None else None
            if told is None and last is not None and last.sha256 is not None:
                before = last.sha256
            if before is None and told is None and (old := partners.find(path, view, self.came[path])) is not None:
                work.removals.pop(old, None)
                start = max(noticed, self.gone[old])
                if look.patient and look.now - start < RENAME_MS:
                    work.wait(start + RENAME_MS)
                    continue
                partners.take(old)
                work.held.pop(old, None)
                was = self.known[old].sha256
                work.events.append(Event("renamed", path, was, view.sha256, None, view.ino, old))
                continue
            kind = "created" if before is None else "modified"
            actor = None if told is None else told.actor
            work.events.append(Event(kind, path, before, view.sha256, actor, view.ino))
        work.events.extend(work.removals.values())


class _Partners:
    """Names that went without anybody having said so, by what they held."""

    def __init__(self, gone: Iterable[tuple[str, KnownFile]], left: Mapping[str, int]) -> None:
        self._left = left
        self._by_sha: dict[str, dict[str, KnownFile]] = {}
        for path, known in gone:
            self._by_sha.setdefault(known.sha256, {})[path] = known

    def find(self, path: str, view: NameView, came: int) -> str | None:
        """The name a new file had before, if that is plain: the same file, or the only one with this content.

        A file that was first seen before the last look that still saw the other one is a copy that stood beside it.
        """
        same = self._by_sha.get(view.sha256 or "", {})
        found = [old for old, known in same.items() if known.ino == view.ino]
        if not found and view.sha256 != _EMPTY:
            name = path.rpartition("/")[2]
            gone_since = [old for old in same if came >= self._left.get(old, came)]
            found = [old for old in gone_since if old.rpartition("/")[2] == name] or gone_since
        return found[0] if len(found) == 1 else None

    def take(self, path: str) -> None:
        for same in self._by_sha.values():
            same.pop(path, None)


class _Work:
    """What one step gathers."""

    def __init__(self, look: DiskLook) -> None:
        self.look = look
        self.events: list[Event] = []
        self.writing: set[str] = set()
        self.held: dict[str, bool] = {}
        self.leaving: dict[str, int] = {}
        self.removals: dict[str, Event] = {}
        self.arriving: dict[str, tuple[NameView, LastReported | None]] = {}
        self.due: int | None = None

    def wait(self, until: int) -> None:
        until = max(until, self.look.now + _STEP_MS)
        self.due = until if self.due is None else min(self.due, until)


def _pair_told(events: list[Event]) -> None:
    """Turn a recorded deletion and a recorded creation of the same content into the rename they were."""
    went: dict[str | None, list[Event]] = {}
    for event in events:
        if event.kind == "deleted" and event.actor is not None:
            went.setdefault(event.before, []).append(event)
    for position, new in enumerate(events):
        old = went.get(new.after, []) if new.kind == "created" and new.actor is not None else []
        if len(old) == 1:
            events[position] = new._replace(kind="renamed", before=new.after, old_path=old.pop().path)
    told = {event.old_path for event in events if event.kind == "renamed"}
    events[:] = [event for event in events if event.kind != "deleted" or event.path not in told]
