"""Keeping cards up to date with session files: newest first, whole turns only, continuing at the last cursor.

Cards and cursor are one transaction, so a kill repeats nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.projects import main_checkout
from memtui.config.surroundings import find_checkout
from memtui.engine.observation import NORMAL
from memtui.features.observations import names, rules
from memtui.features.observations.answers import adapted
from memtui.features.observations.model import SESSION, Card, SessionProgress, SessionScope, new_card
from memtui.features.observations.names import CardDecisions
from memtui.safe_text import visible
from memtui.transcripts.follow import GONE, Slice, back, follow
from memtui.transcripts.readers import READERS
from memtui.transcripts.sessions import Consent, allowed_files, consent, home_of

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.engine import Engine
    from memtui.features.observations.progress import DeriveLimits
    from memtui.features.observations.sessions.turns import SessionTurn, TurnCard, TurnRules
    from memtui.features.observations.store.cards import CardWriter

IDLE_MS = 600_000
"""Idle time after which the last turn counts as finished."""
READ_BYTES, MAX_TURN_BYTES = 4 * 1_048_576, 64 * 1_048_576
"""Bytes per read, and the most for one turn, which is divided when longer."""
TEMPORARY: tuple[str, ...] = ("/tmp", "/var/tmp", "/private/tmp", "/private/var", "/var/folders", "/dev/shm")
"""Folders for temporary files, which belong to no project."""
DAY_MS = 86_400_000
_FIRST = 978_307_200_000
_NOWHERE = 1 << 62


class _File(NamedTuple):
    agent: str
    path: str
    size: int
    written: int


class SessionFiles:
    """One comparison of session files with a file of cards."""

    def __init__(self, engine: Engine, writer: CardWriter, reach: SessionScope) -> None:
        self._writer, self._reach = writer, reach
        self._table = engine.observations
        self._seq = self._table.newest()
        self._decided = CardDecisions.of(self._table.secret(), self._table.marks())
        self._now = engine.tasks.clock()
        self._since = max(self._now - reach.settings.observe_days * DAY_MS, int(str(writer.meta("horizon") or 0)))
        self._consent = consent(reach.settings, reach.place)
        self._known = writer.session_progress()
        roots = engine.roots.all()
        self._homes = list(dict.fromkeys([reach.place.project, *(one.project for one in roots if one.project)]))
        self._projects: dict[str, str | None] = {}
        listed = allowed_files(reach.settings, reach.place, since=self._since)
        files = [one for one in (_file(agent, path) for agent, path in listed) if one is not None]
        self.total = len(files)
        self.todo = sorted(filter(self._is_behind, files), key=lambda one: (-one.written, one.path))
        self.failed: dict[str, str] = {}

    def work(self, limits: DeriveLimits) -> int:
        """Derive what is behind, and return how many files are left."""
        for number, one in enumerate(self.todo):
            limits.progress(f"{self.total - len(self.todo) + number:,} of {self.total:,} sessions")
            if limits.reached() or not self._file(one, limits):
                return len(self.todo) - number
        return 0

    def _is_behind(self, one: _File) -> bool:
        known = self._known.get(one.path)
        if known is None or (known.size, known.written) != (one.size, one.written):
            return True
        rested = not known.settled and self._rests(one)
        return rested or (bool(known.covers) and self._consent.project not in known.covers)

    def _rests(self, one: _File) -> bool:
        return self._now - one.written // 1_000_000 > IDLE_MS

    def _file(self, one: _File, limits: DeriveLimits) -> bool:
        """Derive the new turns of a file; return whether it was finished."""
        from memtui.features.observations.sessions.turns import TurnRules, turns

        known = self._known.get(one.path) or SessionProgress(one.agent)
        project = self._consent.project
        covers = tuple(sorted({*known.covers, project})) if project else ()
        at = known.cursor if known.covers == covers and not known.whole else None
        home = home_of(one.agent, one.path, self._homes)
        if home is None:
            return True  # its project is unknown
        going = TurnRules(self._reach.place.home or "", interrupted=known.interrupted)
        began, most = known.began if at is not None else 0, READ_BYTES
        while True:
            cursor = None if one.path.endswith(".json") else at
            part = follow(
                one.path, READERS[one.agent], cursor, most=most, calls=True, now=self._now, stop=limits.cancelled
            )
            if limits.cancelled():
                return False
            if part.skipped or part.cursor is None:
                self._note_failure(one, covers, part)
                return True
            if part.whole:
                going, began = TurnRules(self._reach.place.home or ""), part.events[0].at if part.events else 0
            start = 0 if part.whole else cursor.offset if cursor is not None else 0
            ended = not part.lines or part.cursor.offset >= one.size
            found = turns([event if event.cwd else event._replace(cwd=home) for event in part.events])
            if not ended and _typed(found) < 2 and most < MAX_TURN_BYTES:
                most *= 4
                continue
            read, made = self._derived(one, part, found, going, SessionProgress(one.agent, covers, began), ended=ended)
            at, most = read.cursor, READ_BYTES
            if ended:
                read = read._replace(size=one.size, written=one.written)
            cards = [card for card in (self._card(one, part, card, covers) for card in made) if card]
            self._write(one, read, cards, start)
            if ended or limits.reached():
                return ended

    def _derived(
        self,
        one: _File,
        part: Slice,
        found: Sequence[SessionTurn],
        going: TurnRules,
        read: SessionProgress,
        *,
        ended: bool,
    ) -> tuple[SessionProgress, list[TurnCard]]:
        waits = found[-1] if found and (ended or _typed(found) > 1) else None
        made: list[TurnCard] = []
        typed = 0 if part.whole else 1
        for turn, after in zip(found, [*found, None][1:], strict=True):
            if turn is waits:
                read = read._replace(interrupted=going.interrupted, settled=ended and self._rests(one))
                if not read.settled:
                    break
            made += going.cards(turn, after, first=turn.asked is not None and not typed)
            typed += turn.asked is not None
        cursor = part.cursor
        if waits is not None and cursor is not None:
            first = part.whole and not _typed(found[:-1])
            cursor = None if first else back(one.path, cursor, waits.start, part.leaves.get(waits.start, ""))
        whole = bool(going.private) or going.unkept
        return read._replace(cursor=cursor, whole=whole, settled=read.settled or (ended and waits is None)), made

    def _card(self, one: _File, part: Slice, made: TurnCard, covers: Sequence[str]) -> tuple[Card, int, str] | None:
        """Return a card with time and project, or None where none is allowed."""
        derived, cwd, secret = made.derived, made.cwd, self._decided.secret
        if cwd not in self._projects:
            self._projects[cwd] = project_of(cwd, self._reach)
        project = self._projects[cwd]
        when = min(max(derived.at or 0, _FIRST), self._now + DAY_MS)
        if project is None or when <= self._since or (covers and not any(Consent("", at).covers(cwd) for at in covers)):
            return None
        parts = (SESSION, one.agent, made.uuid, made.part)
        name = names.key(secret, *(word.encode("utf-8", "replace") for word in parts))
        text_key = names.key(secret, b"text", derived.text.encode("utf-8", "surrogatepass"))
        address = rules.clean(f"session {part.events[0].session[:12]}")
        card = new_card(derived, name, b"", text_key, SESSION, (0, one.path), address, one.agent, when)
        return card, when, project

    def _write(self, one: _File, read: SessionProgress, cards: Iterable[tuple[Card, int, str]], start: int) -> None:
        with self._writer.batch():
            # A decision made from here on waits for this transaction, and is then applied to what this writes.
            seq, newer = self._table.decided_after(self._seq)
            if newer:
                self._seq, self._decided = seq, CardDecisions.of(self._decided.secret, self._table.marks())
            placed = [
                (adapted(card, names.place_turn(self._decided, card.name, card.text_key, card.cut)), at, project)
                for card, at, project in cards
            ]
            self._writer.replace_session(one.path, read, placed, start=start)

    def _note_failure(self, one: _File, covers: tuple[str, ...], part: Slice) -> None:
        if part.skipped == GONE:
            return
        self.failed[one.path] = said = f"{visible(one.path)}: it cannot be read ({part.skipped})."
        read = self._known.get(one.path) or SessionProgress(one.agent, covers, settled=True)
        read = read._replace(size=one.size, written=one.written, cursor=None)
        with self._writer.batch():
            self._writer.replace_session(one.path, read, (), start=_NOWHERE, failed=said)


def project_of(cwd: str, reach: SessionScope) -> str | None:
    """Return the project of a working directory, joining worktrees; None for temporary and memtui's own folders."""
    if not os.path.isabs(cwd) or "\0" in cwd:
        return None
    here = os.path.normpath(cwd)
    home = f"{os.path.realpath(reach.place.home)}/" if reach.place.home else ""
    outside = (*(one for one in TEMPORARY if not home.startswith(f"{one}/")), reach.settings.state_dir)
    if any(f"{here}/".startswith(folder.rstrip("/") + "/") for folder in outside):
        return None
    checkout = find_checkout(here)
    return os.path.realpath(main_checkout(checkout)) if checkout is not None else os.path.realpath(here)


def _typed(found: Sequence[SessionTurn]) -> int:
    return sum(turn.asked is not None for turn in found)


def _file(agent: str, path: str) -> _File | None:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None  # it went since it was listed
    return _File(agent, path, found.st_size, found.st_mtime_ns)


def prune(engine: Engine, writer: CardWriter, settings: Settings) -> None:
    """Remove old or excess session cards, once a day."""
    now, most = engine.tasks.clock(), settings.observe_megabytes * 1_048_576
    last = writer.meta("pruned_at")
    if isinstance(last, int) and now - last < DAY_MS:
        return
    kept = {mark.name for mark in engine.observations.marks() if mark.withholds or mark.patch or mark.state != NORMAL}
    with writer.batch():
        writer.prune(now - settings.observe_days * DAY_MS, kept, most)
        writer.set_meta("pruned_at", now)
    if writer.meta("scrub_due"):
        writer.erase()
