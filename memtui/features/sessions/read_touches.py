"""Reading of agents' session files for uses of memories: newest files first, as far as the user allowed.

Only the new part of a file is read, and parsed only where it names a memory. Results and the read position are stored
in one transaction, so that a kill loses nothing and counts nothing twice.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.engine.disk.paths import Selection
from memtui.engine.ledger.touches import PromptPlace, SessionFile, Touch
from memtui.engine.ledger.turns import ReadTurn
from memtui.engine.model import Address, Root
from memtui.errors import MemtuiError
from memtui.features.attribution.chat import keep_rooms, speaker
from memtui.transcripts.event import TOOL, WRITES, FileTouch, SessionEvent, after, is_changed_by_user, taint, touched
from memtui.transcripts.readers import READERS
from memtui.transcripts.sessions import (
    Consent,
    Slice,
    allowed_files,
    compressed_files,
    consent,
    digest,
    follow,
    home_of,
    line_at,
    needles,
    skim,
)
from memtui.wire.session import Session

MAX_AGE_MS = 90 * 86_400_000
"""Maximum age of sessions that were never read."""
DAY_MS = 86_400_000
TIME_LIMIT_MS = 5_000
"""Time limit when reading beside other work."""
SLICE_BYTES = 4 * 1_048_576
"""Bytes parsed at once."""
_MAX_TAINTS = 3
"""Sources named at most."""
_MORE = "and others"


class SessionsRead(NamedTuple):
    """The result of a run."""

    files: int = 0
    """Files that were read."""
    touches: int = 0
    skipped: Mapping[str, int] = {}
    """Skipped files and lines, by reason."""
    stopped: bool = False
    """Whether something is left."""
    denied: str = ""
    """Why nothing was read."""


class _Places:
    """Finder of the memory that a path belongs to, by its text alone."""

    def __init__(self, engine: Engine, roots: Iterable[Root]) -> None:
        self._roots: list[tuple[str, Root, int, Selection]] = []
        for root in roots:
            try:
                uid = engine.roots.uid(root)
            except MemtuiError:
                continue  # a folder that cannot be opened; `status` tells why
            for path in {os.path.normpath(root.path), os.path.realpath(root.path)} if uid > 0 else ():
                self._roots.append((path.rstrip("/") + "/", root, uid, Selection.of(root.policy)))
        self._roots.sort(key=lambda one: -len(one[0]))

    def find(self, path: str) -> tuple[int, Address] | None:
        """Return the ledger's id of the root, and the address; None for other paths."""
        for folder, root, uid, selection in self._roots:
            if path.startswith(folder) and selection.covers(path[len(folder) :]):
                return uid, Address(root.id, path[len(folder) :])
        return None

    def inside(self, path: str) -> bool:
        """Return whether a path lies in a folder of memories."""
        return any(path.startswith(folder) for folder, *_ in self._roots)


def read_touches(
    engine: Engine, settings: Settings, place: Surroundings, *, since: int = 0, stop: Callable[[], bool] = lambda: False
) -> SessionsRead:
    """Read what is new in the sessions of all agents, as far as the user allowed.

    Only files written after `since` (milliseconds) are read; `stop` is polled between parts.
    """
    allowed = consent(settings, place)
    if allowed.skipped or engine.roots.read_only:
        return SessionsRead(denied=allowed.skipped or "read_only")
    named = keep_rooms(engine, place)
    roots = engine.roots.all()
    since = max(since, engine.touches.clock() - MAX_AGE_MS)
    files = sorted(
        ((_written(path), agent, path) for agent, path in allowed_files(settings, place, since=since)), reverse=True
    )
    reading = _Reading(engine, place, allowed, roots, named)
    reading.skipped["compressed"] = compressed_files(place, since=since)
    for at, (_, agent, path) in enumerate(files):
        if stop():
            return reading.said(at, stopped=True)
        if not reading.file(agent, path, stop):
            return reading.said(at + 1, stopped=True)
    return reading.said(len(files))


def _written(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0  # it went since it was listed


class _Reading:
    """One run over files."""

    def __init__(
        self, engine: Engine, place: Surroundings, allowed: Consent, roots: Sequence[Root], rooms: Container[str]
    ) -> None:
        self._rooms = rooms
        self._engine, self._allowed, self._home = engine, allowed, place.home or ""
        self._project = os.path.realpath(place.project)
        self._places, self._words = _Places(engine, roots), needles(roots)
        named = "\n".join(sorted(f"{root.id}\0{root.path}" for root in roots))
        self._consumer = sha256(os.fsencode(named)).hexdigest()[:16]  # other roots: other memories in the same files
        self._touches = 0
        self.skipped: Counter[str] = Counter()

    def said(self, files: int, *, stopped: bool = False) -> SessionsRead:
        return SessionsRead(files, self._touches, dict(+self.skipped), stopped)

    def file(self, agent: str, path: str, stop: Callable[[], bool]) -> bool:
        """Read the rest of a file; return whether its end was reached."""
        table, reader = self._engine.touches, READERS[agent]
        consumer, skimmed = f"touches:{self._consumer}", f"skim:{self._consumer}"
        cursor = table.cursors.get(consumer, path)
        if cursor is None and os.path.basename(path).partition(".")[0] not in self._rooms:
            before = table.cursors.get(skimmed, path)
            found, here = skim(path, self._words, reader, before, stop)
            if not found:
                if here is not None and here != before:
                    table.cursors.move(skimmed, path, here)
                return not stop()
        while True:
            part = follow(path, reader, cursor, most=SLICE_BYTES, calls=True, now=table.clock(), stop=stop)
            if part.skipped:
                self.skipped[part.skipped] += 1
                return True
            if part.cursor is None or part.cursor == cursor:
                return not stop()
            self.skipped["broken_lines"] += part.broken
            used = self._keep(agent, path, part, consumer)
            self._engine.events.touched(used)
            cursor = part.cursor
            if stop():
                return False

    def _keep(self, agent: str, path: str, part: Slice, consumer: str) -> list[Address]:
        table = self._engine.touches
        file = None if part.whole else table.file(path)
        if file is None:
            first = part.events[0] if part.events else None
            at = first.at if first else table.clock()
            file = SessionFile(path, agent, first.session if first else path, first.cwd if first else "", at, at)
        home = home_of(agent, path, [self._project])
        turn = _Turn(file, self._home, self._places)
        touches: list[Touch] = []
        failed: list[str] = []
        named: dict[tuple[int, str], Address] = {}
        for each in part.events:
            event = each._replace(cwd=each.cwd or home or "")
            turn.take(event)
            if event.role != TOOL or not self._allowed.covers(event.cwd):
                continue
            if event.failed:
                failed.append(event.uuid)
            for one in touched(event, self._home):
                if (met := self._places.find(one.path)) is not None:
                    uid, address = met
                    named[uid, address.path] = address
                    touches.append(self._touch(event, one, uid, address, turn))
            turn.after(event)
        assert part.cursor is not None
        if turn.asked and self._engine.turns.read_session(turn.file.session) is not None:
            self._engine.turns.keep_read(turn.asked)
        used = table.keep(turn.file, touches, failed, (consumer, part.cursor), whole=part.whole)
        self._touches += len(touches)
        return [named[key] for key in used if key in named]

    def _touch(self, event: SessionEvent, one: FileTouch, uid: int, address: Address, turn: _Turn) -> Touch:
        sha = _sha(one.text) if one.text is not None else None
        if sha is None and one.edits:
            sha = self._rebuilt(address, one, event.at)
        writes = one.kind in WRITES
        # What it asked is part of a write's name: an agent may give two calls of a session one id.
        call = f"{event.uuid}#{_sha(repr(event.asked))[:8]}" if writes else event.uuid
        return Touch(
            *(call, one.kind, uid, address.path, event.at, sha),
            added=self._engine.touches.digests(one.added) if writes else b"",
            taint=turn.file.taint if writes else "",
            exact=not is_changed_by_user(event),
            prompt=turn.file.prompt,
        )

    def _rebuilt(self, address: Address, one: FileTouch, at: int) -> str | None:
        """Find the version that an edit made from the one before it, among versions of that day."""
        try:
            versions = self._engine.history.of(address)
            for newer, older in pairwise(versions):
                if abs(newer.at - at) > DAY_MS or newer.redacted or older.redacted:
                    continue
                text = self._engine.history.read(address, older.sha256).decode("utf-8", "surrogateescape")
                made = after(text, one.edits)
                if made is not None and _sha(made) == newer.sha256:
                    return newer.sha256
        except MemtuiError:
            return None  # a version that cannot be read proves nothing
        return None


def _sha(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


class _Turn:
    """The current turn: its prompt, and the sources read since."""

    def __init__(self, file: SessionFile, home: str, places: _Places) -> None:
        self.file, self._home, self._places = file, home, places
        self.asked: list[ReadTurn] = []

    def take(self, event: SessionEvent) -> None:
        """Advance to an event; text typed by a person begins a turn."""
        file = self.file._replace(ended=max(self.file.ended, event.at), cwd=event.cwd or self.file.cwd)
        if event.typed:
            line = line_at(event.file, event.offset, event.length)
            prompt = PromptPlace(event.file, event.offset, event.length, digest(line, event.text))
            file = file._replace(prompt=prompt, taint="")
            self.asked.append(ReadTurn(event.session, *speaker(event.text), event.at, prompt.sha))
        self.file = file

    def after(self, event: SessionEvent) -> None:
        """Record what a call read, for later calls."""
        found = taint(event, self._home, self._places.inside).replace(",", "")
        known = [one for one in self.file.taint.split(", ") if one]
        if found and found not in known and len(known) <= _MAX_TAINTS:
            self.file = self.file._replace(taint=", ".join([*known, found if len(known) < _MAX_TAINTS else _MORE]))


def begin(session: Session, settings: Settings) -> None:
    """Read new parts for a limited time, for processes without a workbench."""
    if not settings.worker:
        clock = session.engine.touches.clock
        end = clock() + TIME_LIMIT_MS
        read_touches(session.engine, settings, session.surroundings, stop=lambda: clock() > end)
