"""Which changes a look at the disk proves about one root: pure decisions, without clock, file or ledger.

A missing file may come back, a text may be half written, and a write may be our own. Everything that keeps memtui from
reporting such a thing wrongly is decided here, so that tests can try any order of events.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

QUIET_MS = 100
"""A difference is reported when nothing else happened for this long ..."""
PATIENCE_MS = 180
"""... or when it is this old: one batch per burst, and no waiting for a writer that never stops."""
RENAME_MS = 200
"""A missing and a new file count as a rename when both stay so for this long: editors shuffle names to save."""
MISSING_MS, DELETED_MS, AT_WORK_MS, EMPTIED_MS = 1_000, 5_000, 60_000, 60_000
"""How long a file is gone before it shows as missing, counts as deleted, counts as deleted while git is at work, and
counts as deleted when everything in the root went with it."""
_STEP_MS = 10
_EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""SHA-256 of an empty file: empty files say nothing about each other."""


class NameView(NamedTuple):
    """What is under a name."""

    sha256: str | None
    """None: something is there that cannot be read."""
    ino: int
    steady: bool
    since: int
    """Ticks of the first read of this content."""


class KnownFile(NamedTuple):
    """What was last reported about a name."""

    sha256: str
    ino: int


class LastReported(NamedTuple):
    """What memtui recorded about a name: its own writes, and versions any memtui saw settle."""

    sha256: str | None
    """None: deleted."""
    actor: str


class Event(NamedTuple):
    """A change to report."""

    kind: str
    """`created`, `modified`, `deleted` or `renamed`."""
    path: str
    before: str | None
    after: str | None
    actor: str | None
    """None: not recorded yet, so the writer is unknown and the version has to be stored."""
    ino: int = 0
    old_path: str | None = None


class Decision(NamedTuple):
    """What to do after a look."""

    events: list[Event]
    """To report, and to record where the actor is None; call `ChangeDetector.accept` for each that was."""
    writing: frozenset[str]
    """Names whose content is not settled."""
    held: dict[str, bool]
    """Names that are gone but not reported yet, and whether to show them as missing."""
    due: int | None
    """Ticks at which to look again even if nothing happens."""
    emptied: bool
    """Everything went at once: more likely the root went away than that somebody deleted all of it."""


class DiskLook(NamedTuple):
    """One look at the disk."""

    now: int
    view: Callable[[str], NameView | None]
    """What is under a name now; None: nothing."""
    told: Callable[[str], LastReported | None]
    ours: Callable[[str], LastReported | None] = lambda _path: None
    """What an unfinished change of a memtui is about to leave there, by its intent in the audit."""
    hold: int = DELETED_MS
    """How long to wait before a missing file counts as deleted."""
    empty: bool = False
    hold_all: int | None = EMPTIED_MS
    """The same when everything is gone; None: never."""
    patient: bool = True
    """Whether another look follows soon. False: report at once what is settled."""
    gone_for: Callable[[str], int] = lambda _path: 0
    """How long a name that was found missing only now is known to have been gone, in milliseconds."""
    saw: Callable[[str], int | None] = lambda _path: None
    """Ticks of the previous look at everything in the name's folder; None: there was none."""


class ChangeDetector:
    """Tells changes made by others from the looks at one root."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self.known = {path: KnownFile(sha, 0) for path, sha in known.items()}
        self.noticed: dict[str, int] = {}
        """Names with unreported content, and since when."""
        self.came: dict[str, int] = {}
        """When each of them was first seen with unreported content."""
        self.gone: dict[str, int] = {}
        """Names that are gone but not reported so, and since when."""
        self.left: dict[str, int] = {}
        """When the last look that still saw each of them was, as far as there was one."""
        self.own: dict[str, set[str | None]] = {}
        """What this process wrote and has reported already."""

    def wrote(self, path: str, sha: str | None) -> None:
        """Remember a change this process made and reported itself; None is a deletion."""
        self.own.setdefault(path, set()).add(sha)

    def step(self, look: DiskLook, paths: Iterable[str]) -> Decision:
        """Decide what a look means for `paths`: names that were looked at or whose record changed.

        Undecided names are added by the detector itself.
        """
        flux = sorted({*paths, *self.noticed, *self.gone})
        self.came = {path: at for path, at in self.came.items() if path in self.noticed}
        self.left = {path: at for path, at in self.left.items() if path in self.gone}
        step = _Step(look)
        for path in flux:
            view = look.view(path)
            if view is None:
                self._absent(step, path)
            else:
                self._present(step, path, view)
        emptied = look.empty and 1 < len(step.leaving) == len(self.known)
        self._leaving(step, emptied=emptied)
        self._arriving(step)
        _pair_told(step.events)
        return Decision(step.events, frozenset(step.writing), step.held, step.due, emptied)

    def accept(self, event: Event) -> None:
        """Take over an event that was reported."""
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
        """Treat a name as unsettled again: another text was found when it was read to be recorded."""
        self.noticed[path] = now

    def _present(self, step: "_Step", path: str, view: NameView) -> None:
        self.gone.pop(path, None)
        if view.sha256 is None:
            self.noticed.pop(path, None)
            return
        known, told = self.known.get(path), step.look.told(path)
        if (ours := step.look.ours(path)) is not None and ours.sha256 == view.sha256:
            told = ours
        is_told = told is not None and told.sha256 == view.sha256
        if is_told and ((known is not None and known.sha256 == view.sha256) or view.sha256 in self.own.get(path, ())):
            self.known[path] = KnownFile(view.sha256, view.ino)
            self.noticed.pop(path, None)
            self.own.pop(path, None)
            return
        noticed = self.noticed.setdefault(path, step.look.now)
        self.came.setdefault(path, step.look.now)
        if not is_told:
            step.writing.add(path)
        if not view.steady:
            step.wait(view.since + QUIET_MS)
        elif is_told and step.look.patient and step.look.now - noticed < QUIET_MS:
            # Whoever recorded it may be this process, about to tell it by itself.
            step.wait(noticed + QUIET_MS)
        else:
            step.arriving[path] = (view, told if is_told else None)

    def _absent(self, step: "_Step", path: str) -> None:
        self.noticed.pop(path, None)
        known, told = self.known.get(path), step.look.told(path)
        if (ours := step.look.ours(path)) is not None and ours.sha256 is None:
            told = ours
        if told is not None and told.sha256 is None and known is not None and None not in self.own.get(path, ()):
            since = self.gone.setdefault(path, step.look.now)
            if step.look.patient and step.look.now - since < QUIET_MS:
                step.wait(since + QUIET_MS)
            else:
                step.events.append(Event("deleted", path, known.sha256, None, told.actor, known.ino))
        elif (told is None or told.sha256 is None) and (known is None or told is not None):
            for kept in (self.known, self.gone, self.own):
                kept.pop(path, None)
        else:
            if known is None:
                assert told is not None
                assert told.sha256 is not None
                self.known[path] = KnownFile(told.sha256, 0)
            if path not in self.gone and (seen := step.look.saw(path)) is not None:
                self.left[path] = seen
            step.leaving[path] = self.gone.setdefault(path, step.look.now - step.look.gone_for(path))

    def _leaving(self, step: "_Step", *, emptied: bool) -> None:
        look = step.look
        hold = look.hold_all if emptied else look.hold
        if emptied and hold is not None:
            hold = max(hold, look.hold)
        for path, since in step.leaving.items():
            age = look.now - since
            if hold is not None and age >= hold:
                known = self.known[path]
                step.removals[path] = Event("deleted", path, known.sha256, None, None, known.ino)
                continue
            if not emptied or age < DELETED_MS:
                step.held[path] = age >= MISSING_MS
            ends = [since + end for end in (MISSING_MS, DELETED_MS, hold) if end is not None and age < end]
            if ends:
                step.wait(min(ends))

    def _arriving(self, step: "_Step") -> None:
        look = step.look
        newest = max(self.noticed.values(), default=look.now)
        oldest = min((self.noticed[path] for path in step.arriving), default=look.now)
        if look.patient and step.arriving and look.now - newest < QUIET_MS and look.now - oldest < PATIENCE_MS:
            # One batch for a burst. What is to go waits as well: it may turn out to be one half of a rename.
            step.wait(min(newest + QUIET_MS, oldest + PATIENCE_MS))
            return
        leaving = step.leaving if step.arriving else {}
        candidates = _RenameCandidates(((path, self.known[path]) for path in leaving), self.left)
        for path, (view, told) in step.arriving.items():
            assert view.sha256 is not None
            noticed = self.noticed[path]
            known, last = self.known.get(path), look.told(path)
            before = known.sha256 if known is not None else None
            if told is None and last is not None and last.sha256 is not None:
                before = last.sha256
            if before is None and told is None and (old := candidates.find(path, view, self.came[path])) is not None:
                step.removals.pop(old, None)
                start = max(noticed, self.gone[old])
                if look.patient and look.now - start < RENAME_MS:
                    step.wait(start + RENAME_MS)
                    continue
                candidates.take(old)
                step.held.pop(old, None)
                was = self.known[old].sha256
                step.events.append(Event("renamed", path, was, view.sha256, None, view.ino, old))
                continue
            kind = "created" if before is None else "modified"
            actor = None if told is None else told.actor
            step.events.append(Event(kind, path, before, view.sha256, actor, view.ino))
        step.events.extend(step.removals.values())


class _RenameCandidates:
    """Names that went without a record, by their content: candidates for renames."""

    def __init__(self, gone: Iterable[tuple[str, KnownFile]], left: Mapping[str, int]) -> None:
        self._left = left
        self._by_sha: dict[str, dict[str, KnownFile]] = {}
        for path, known in gone:
            self._by_sha.setdefault(known.sha256, {})[path] = known

    def find(self, path: str, view: NameView, came: int) -> str | None:
        """Return a new file's old name if that is plain: the same inode, or the only one with this content.

        A file first seen before the last look that still saw the other one is a copy that stood beside it.
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


class _Step:
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
    """Join a recorded deletion and a recorded creation of the same content into the rename they were."""
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
