"""Deriving cards from memories, file by file, within a time limit.

The same loop fills the next generation's file on a rebuild. The order of events comes from versions, never from when
memtui read them.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cached_property
from hashlib import sha256
from itertools import product

from memtui.engine import Engine
from memtui.engine.ledger.observations import remove_files
from memtui.engine.model import BROUGHT, Memory
from memtui.errors import MemtuiError
from memtui.features.entries.guarded import format_of
from memtui.features.observations import names, rules
from memtui.features.observations.answers import adapted
from memtui.features.observations.model import SESSION, Card, CardSource, DerivedCard, SessionScope
from memtui.features.observations.names import CardDecisions
from memtui.features.observations.progress import (
    KINDS,
    ObservedMemory,
    ObserveProgress,
    SourcePlace,
    list_sources,
    outdated,
)
from memtui.features.observations.sessions.files import SessionFiles, prune
from memtui.features.observations.store import generations
from memtui.features.observations.store.cards import CardWriter
from memtui.given import renamed
from memtui.safe_text import visible

BATCH_CARDS, BATCH_BYTES = 500, 1_048_576
"""Cards, and bytes of memories, per transaction (at least one file)."""
_VERSIONS = 50
_FIRST, _DAY = 978_307_200_000, 86_400_000
"""Earliest time that is believed (2001), and how far in the future one may lie."""


def derive_pending(
    engine: Engine,
    end: float | None,
    cancelled: Callable[[], bool],
    progress: Callable[[str], object],
    sessions: SessionScope | None,
) -> ObserveProgress:
    """Apply decisions and derive what is behind; the caller holds the `alone` lock."""
    with closing(generations.writer(engine.observations)) as writer:
        apply_decisions(engine, writer)
        done = _DeriveRun(engine, writer).work(end, cancelled, progress)
        if sessions is not None and sessions.allowed:
            done = _with_sessions(done, SessionFiles(engine, writer, sessions), end, cancelled, progress)
            prune(engine, writer, sessions.settings)
        return done


def replace_damaged(engine: Engine) -> None:
    """Replace a damaged file by a new one, keeping the cards that cannot be derived again."""
    table = engine.observations
    remove_files(table.directory, lambda number: number > table.generation())
    with closing(generations.writer(table)) as old, closing(generations.building(table)) as writer:
        _copy_horizon(old, writer)
        _copy_underivable(old, writer, _DeriveRun(engine, writer), only=False)
    generations.put_in_use(table)


def _copy_horizon(old: CardWriter, writer: CardWriter) -> None:
    """Copy the pruning horizon, as far as the old file can be read, so that pruned cards stay away."""
    with suppress(*generations.DAMAGE):
        writer.note("horizon", int(str(old.meta("horizon") or 0)))


def _copy_underivable(old: CardWriter, writer: CardWriter, run: _DeriveRun, *, only: bool = True) -> int:
    """Copy cards whose sources cannot be read from here, and return how many.

    Of sessions, those not just read; with `only=False`, all of them.
    """
    made = {(0, path) for path in writer.reads()} if only else set()
    copied = 0
    try:
        elsewhere = sorted(place for place in old.sources() if place[0] not in run.uids and place not in made)
    except generations.DAMAGE:
        return 0
    for place in elsewhere:
        with suppress(*generations.DAMAGE):  # of a damaged file, all that is left
            copied += writer.copy_sources(old, [place], lambda cards: _with_decisions(run.decided, cards))
    return copied


def _with_sessions(
    done: ObserveProgress,
    files: SessionFiles,
    end: float | None,
    cancelled: Callable[[], bool],
    progress: Callable[[str], object],
) -> ObserveProgress:
    left = files.work(end, cancelled, progress)
    error = done.error or next(iter(files.failed.values()), "")
    return ObserveProgress(done.total + files.total, done.pending + left, done.failed + len(files.failed), error)


def rebuild(
    engine: Engine,
    *,
    cancelled: Callable[[], bool] = bool,
    progress: Callable[[str], object] = str,
    sessions: SessionScope | None = None,
) -> tuple[ObserveProgress, int]:
    """Derive all cards into a new file and switch to it when it is complete.

    Returns the progress and the number of cards copied because their memories cannot be read. When cancelled, the old
    file stays in use and the next rebuild continues.
    """
    table = engine.observations
    with generations.alone(table, wait=True), generations.translated():
        try:
            found = _rebuilt(engine, cancelled, progress, sessions)
        except generations.DAMAGE:  # what a dead process had begun
            remove_files(table.directory, lambda number: number > table.generation())
            found = _rebuilt(engine, cancelled, progress, sessions)
        if not found[0].pending:
            generations.put_in_use(table)
        return found


def _rebuilt(
    engine: Engine,
    cancelled: Callable[[], bool],
    progress: Callable[[str], object],
    sessions: SessionScope | None,
) -> tuple[ObserveProgress, int]:
    table = engine.observations
    with closing(generations.writer(table)) as old, closing(generations.building(table)) as writer:
        run = _DeriveRun(engine, writer)
        done = run.work(None, cancelled, progress)
        if not done.pending and sessions is not None and sessions.allowed:
            _copy_horizon(old, writer)
            done = _with_sessions(done, SessionFiles(engine, writer, sessions), None, cancelled, progress)
        if done.pending:
            return done, 0
        copied = _copy_underivable(old, writer, run)
        apply_decisions(engine, writer)
        wrong = writer.check()
        if wrong:
            raise MemtuiError(f"The cards that were made do not check: {wrong}", code="E_INTERNAL")
        return done, copied


def apply_decisions(engine: Engine, writer: CardWriter) -> None:
    """Apply the decisions newer than the file, and overwrite the bytes of redacted text."""
    table = engine.observations
    since = writer.meta("marks_seq")
    upto, decided_names = table.decided_after(since if isinstance(since, int) else 0)
    if decided_names:
        marks = [mark for mark in table.marks() if mark.name in decided_names]
        decided = CardDecisions.of(table.secret(), table.marks())
        keys = [(mark.name, mark.text_key) for mark in marks] + [(name, name) for name in decided_names]
        known = writer.keys_of(decided_names)
        writer.settle(
            upto,
            {(mark.root, mark.path) for mark in marks},
            keys + known,
            lambda cards: _with_decisions(decided, cards),
        )
    if writer.meta("scrub_due"):
        writer.erase()


def _with_decisions(decided: CardDecisions, cards: Sequence[Card]) -> list[Card]:
    """Return the cards of one source with the decisions about them applied."""
    if not cards:
        return []
    if cards[0].kind == SESSION:
        return [adapted(one, names.place_turn(decided, one.name, one.text_key, one.cut)) for one in cards]
    entries = [(card.anchor, card.text_key) for card in cards]
    found = names.place(decided, cards[0].root, cards[0].path, entries)
    return [adapted(card, at) for card, at in zip(cards, found, strict=True)]


class _DeriveRun:
    """One comparison of an engine's memories with a file of cards."""

    def __init__(self, engine: Engine, writer: CardWriter) -> None:
        self._engine = engine
        self._writer = writer
        self._table = engine.observations
        self._seq = self._table.newest()
        if writer.meta("marks_seq") is None:
            writer.note("marks_seq", self._seq)
        self.uids, self._rows, self._whole = list_sources(engine)
        self._there = {place: one for place, one in self._rows.items() if not one.row.missing}
        known = writer.sources()
        self._gone = [place for place in known if place[0] in self._whole and place not in self._rows]
        self._todo = sorted(outdated(self._rows, known), key=lambda one: (-one.row.modified_at, one.row.address))
        self._failed = {place: one.failed for place, one in known.items() if one.failed and place in self._rows}

    @cached_property
    def decided(self) -> CardDecisions:
        """All decisions, read on first use: an up-to-date check needs none."""
        return CardDecisions.of(self._table.secret(), self._table.marks())

    def work(
        self, end: float | None, cancelled: Callable[[], bool], progress: Callable[[str], object]
    ) -> ObserveProgress:
        if self._todo or self._gone:
            self._follow_renames()
        if self._gone:
            with self._writer.batch():
                for place in self._gone:
                    self._writer.drop(*place)
        todo = iter(self._todo)
        left = len(self._todo)
        while left and not cancelled() and (end is None or time.monotonic() < end):
            progress(f"{len(self._rows) - left:,} of {len(self._rows):,} memories")
            left -= self._batch(todo, end)
        if self._todo or self._gone:
            self._writer.note("last_run_at", self._engine.tasks.clock())
        error = next(iter(self._failed.values()), "")
        pending = {(one.uid, one.row.address.path) for one in self._todo[len(self._todo) - left :]}
        failed = [place for place in self._failed if place not in pending]
        return ObserveProgress(len(self._rows), left, len(failed), error if failed else "")

    def _follow_renames(self) -> None:
        """Keep withheld what was renamed outside memtui and changed before it was seen.

        If several files may be the one, each gets a lost decision, which withholds all of it until a person looks. See
        `memtui.given.renamed` for what counts as a candidate.
        """
        marks = [mark for found in self.decided.here.values() for mark in found]
        names_of = {uid: root.id for uid, root in self.uids.items() if uid in self._whole}
        lost = renamed.gone(self._engine, marks, names_of, lambda place, _: place in self._there)
        ask, found = renamed.may_be(self._engine, lost, marks), defaultdict[SourcePlace, list[ObservedMemory]](list)
        for place, one in self._there.items() if lost else ():
            for was in ask(place, one.row.address, one.row.sha256):
                found[was.place].append(one)
        for was in lost:
            self._follow_one(was, found[was.place])
        self.__dict__.pop("decided", None)

    def _follow_one(self, was: renamed.LostMemory, found: Sequence[ObservedMemory]) -> None:
        (uid, path), sole = was.place, len(found) == 1
        if sole:
            self._engine.changes.observed.follow(uid, path, found[0].uid, found[0].row.address.path)
        for mark, one in product(() if sole else was.marks, found):
            other = one.row.address.path
            name = names.key(self.decided.secret, b"may be", mark.name, os.fsencode(f"{one.uid} {other}"))
            if self._table.mark(name) is None:
                lost = mark._replace(name=name, seq=0, root=one.uid, path=other, anchor=name, text_key=name)
                lost = lost._replace(beside=b"", patch="")
                self._table.put(lost, actor="memtui", reason=f"it may be {visible(path)} under another name")
        self._todo += [one for one in found if one not in self._todo]

    def _batch(self, todo: Iterator[ObservedMemory], end: float | None) -> int:
        """Write as many files as one transaction takes, and return how many."""
        done = rows = size = 0
        prepared = []
        for one in todo:
            found = self._derive_file(one)
            if found is not None:
                prepared.append(found)
                rows += len(found[3])
            size, done = size + one.row.bytes, done + 1
            if rows >= BATCH_CARDS or size >= BATCH_BYTES or (end is not None and time.monotonic() >= end):
                break
        with self._writer.batch():
            # Whoever decides from here on waits for this transaction, and then applies it to what this writes.
            before = self._seq
            self._seq = self._table.newest()
            if self._seq != before:
                self.__dict__.pop("decided", None)
            for source, kind, project, made in prepared:
                cards = [card for card, _ in made]
                if self._seq != before:
                    cards = _with_decisions(self.decided, cards)
                self._writer.replace(source, kind, project, zip(cards, (at for _, at in made), strict=True))
        return done

    def _derive_file(self, one: ObservedMemory) -> tuple[CardSource, str, str, list[tuple[Card, int]]] | None:
        row, place = one.row, (one.uid, one.row.address.path)
        shown = visible(str(row.address))
        assert row.sha256 is not None
        source = CardSource(*place, bytes.fromhex(row.sha256), row.trust == BROUGHT)
        self._failed.pop(place, None)
        cards: list[tuple[Card, int]] = []
        try:
            data = self._engine.read_bytes(row.address)
            if sha256(data).hexdigest() != row.sha256:  # written since it was list_sources: the next time
                return None
            found = rules.derive(data, format_of(one.root, row.address.path))
            cards = self._cards(one, source, found.items, data)
            if found.more:
                source = source._replace(failed=f"{shown} has {found.more} more entries than are observed.")
        except MemtuiError as error:
            source = source._replace(failed=f"{shown}: {error.message}")
        if source.failed:
            self._failed[place] = source.failed
        return source, KINDS[one.root.kind], one.root.project or "", cards

    def _cards(
        self, one: ObservedMemory, source: CardSource, derived: Sequence[DerivedCard], data: bytes
    ) -> list[tuple[Card, int]]:
        keys = names.entry_keys(self.decided.secret, [(each.first, each.text) for each in derived])
        places = names.place(self.decided, source.root, source.path, keys)
        address, agent = visible(rules.clean(str(one.row.address))), one.root.agent
        times = _first_seen(self._engine, one.row, [data[slice(*each.span)] for each in derived])
        made = []
        latest = self._engine.tasks.clock() + _DAY
        for each, (anchor, text_key), at, since in zip(derived, keys, places, times, strict=True):
            when = since if each.at is None else min(max(each.at, _FIRST), latest)
            span = f"{each.span[0]}-{each.span[1]}"
            card = Card(
                *(
                    0,
                    at.name,
                    0,
                    KINDS[one.root.kind],
                    source.root,
                    source.path,
                    address,
                    agent,
                    span,
                    anchor,
                    text_key,
                ),
                *(each.type, each.title, each.narrative, each.facts, each.concepts, each.files, ""),
                *(0, each.masked, each.cut, source.brought),
            )
            # The day is a part of what is shown, so that it costs what the card will cost.
            dated = adapted(card._replace(id=when // 1_000 << 12), at)
            made.append((dated, when))
        return made


def _first_seen(engine: Engine, row: Memory, texts: Sequence[bytes]) -> list[int]:
    """Return since when each part has been in the memory: its oldest consecutive version, else the file's time."""
    now = engine.tasks.clock()
    latest = min(max(row.modified_at, _FIRST), now + _DAY)
    found = [latest] * len(texts)
    if not row.version:
        return found
    wanted = set(range(len(texts)))
    try:
        versions = engine.history.of(row.address)[:_VERSIONS]
    except MemtuiError:
        return found
    for version in versions:
        if version.note or not wanted:
            continue
        try:
            data = engine.history.read(row.address, version.sha256) if version.sha256 != row.sha256 else None
        except MemtuiError:
            break  # redacted, or not kept any more: what came before is not known
        wanted = {number for number in wanted if data is None or texts[number] in data}
        for number in wanted:
            found[number] = min(found[number], max(version.at, _FIRST))
    return found
