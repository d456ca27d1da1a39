"""Deriving cards from memories, file by file, within a time limit; a rebuild fills the next generation's file."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import cached_property
from hashlib import sha256
from itertools import product
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.ledger.observations import remove_files
from memtui.engine.model import BROUGHT, Memory
from memtui.errors import MemtuiError
from memtui.features.entries.model import format_of
from memtui.features.observations import rules
from memtui.features.observations.model import (
    SESSION,
    Card,
    CardDecisions,
    CardSource,
    DerivedCard,
    SessionScope,
    adapted,
    decided_turn,
    entry_keys,
    keyed_hash,
    new_card,
    states_of,
)
from memtui.features.observations.progress import (
    KINDS,
    UNLIMITED,
    DeriveLimits,
    ObservedMemory,
    ObserveProgress,
    SourcePlace,
    list_sources,
    outdated,
)
from memtui.features.observations.store import generations
from memtui.features.observations.store.card_file import CardWriter
from memtui.given.reach import LostMemory, lost_matcher, lost_memories
from memtui.safe_text import visible

BATCH_CARDS, BATCH_BYTES = 500, 1_048_576
_VERSIONS = 50
_FIRST, _DAY = 978_307_200_000, 86_400_000
"""Earliest time that is believed (2001), and how far in the future one may lie."""


def derive_pending(engine: Engine, limits: DeriveLimits, sessions: SessionScope | None) -> ObserveProgress:
    """Apply decisions and derive what is behind; the caller holds the `alone` lock."""
    with closing(generations.writer(engine.observations)) as writer:
        apply_decisions(engine, writer)
        done = _DeriveRun(engine, writer).work(limits)
        if sessions is not None and sessions.allowed:
            from memtui.features.observations.sessions import prune

            done = _with_sessions(done, engine, writer, sessions, limits)
            prune(engine, writer, sessions.settings)
        return done


def replace_damaged(engine: Engine) -> None:
    """Replace a damaged file by a new one, keeping the cards that cannot be derived again."""
    table = engine.observations
    remove_files(table.directory, lambda number: number > table.generation())
    with closing(generations.writer(table)) as old, closing(generations.building(table)) as writer:
        _copy_horizon(old, writer)
        _copy_underivable(old, writer, _DeriveRun(engine, writer), derived=set())
    generations.put_in_use(table)


def _copy_horizon(old: CardWriter, writer: CardWriter) -> None:
    with suppress(*generations.DAMAGE):
        writer.set_meta("horizon", int(str(old.meta("horizon") or 0)))


def _copy_underivable(old: CardWriter, writer: CardWriter, run: _DeriveRun, *, derived: set[SourcePlace]) -> int:
    """Copy cards of roots that are not open and of sessions not among those `derived`; return how many."""
    copied = 0
    try:
        elsewhere = sorted(place for place in old.sources() if place[0] not in run.uids and place not in derived)
    except generations.DAMAGE:
        return 0
    for place in elsewhere:
        with suppress(*generations.DAMAGE):  # of a damaged file, all that is left
            copied += writer.copy_source(old, place, lambda cards: _with_decisions(run.decided, cards))
    return copied


def _with_sessions(
    done: ObserveProgress, engine: Engine, writer: CardWriter, sessions: SessionScope, limits: DeriveLimits
) -> ObserveProgress:
    from memtui.features.observations.sessions import SessionFiles  # most keep no cards of sessions

    files = SessionFiles(engine, writer, sessions)
    left = files.work(limits)
    error = done.error or next(iter(files.failed.values()), "")
    return ObserveProgress(done.total + files.total, done.pending + left, done.failed + len(files.failed), error)


def rebuild(
    engine: Engine, limits: DeriveLimits = UNLIMITED, sessions: SessionScope | None = None
) -> tuple[ObserveProgress, int]:
    """Derive all cards into a new file and switch to it when it is complete.

    Returns the progress and the number of cards copied because their memories cannot be read. When cancelled, the old
    file stays in use and the next rebuild continues.
    """
    table = engine.observations
    with generations.alone(table, wait=True), generations.translated():
        try:
            done, copied = _rebuilt(engine, limits, sessions)
        except generations.DAMAGE:  # what a dead process had begun
            remove_files(table.directory, lambda number: number > table.generation())
            done, copied = _rebuilt(engine, limits, sessions)
        if not done.pending:
            generations.put_in_use(table)
        return done, copied


def _rebuilt(engine: Engine, limits: DeriveLimits, sessions: SessionScope | None) -> tuple[ObserveProgress, int]:
    table = engine.observations
    with closing(generations.writer(table)) as old, closing(generations.building(table)) as writer:
        run = _DeriveRun(engine, writer)
        done = run.work(limits)
        if not done.pending and sessions is not None and sessions.allowed:
            _copy_horizon(old, writer)
            done = _with_sessions(done, engine, writer, sessions, limits)
        if done.pending:
            return done, 0
        copied = _copy_underivable(old, writer, run, derived={(0, path) for path in writer.session_progress()})
        apply_decisions(engine, writer)
        if wrong := writer.check():
            raise MemtuiError(f"The rebuilt cards failed their check: {wrong}", code="E_INTERNAL")
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
        places = {(mark.root, mark.path) for mark in marks}
        keys += writer.keys_of(decided_names)
        writer.apply_decisions(upto, places, keys, lambda cards: _with_decisions(decided, cards))
    if writer.meta("scrub_due"):
        writer.erase()


def _with_decisions(decided: CardDecisions, cards: Sequence[Card]) -> list[Card]:
    if not cards:
        return []
    if cards[0].kind == SESSION:
        return [decided_turn(decided, card) for card in cards]
    entries = [(card.anchor, card.text_key) for card in cards]
    states = states_of(decided, cards[0].root, cards[0].path, entries)
    return [adapted(card, state) for card, state in zip(cards, states, strict=True)]


class _DerivedFile(NamedTuple):
    source: CardSource
    kind: str
    project: str
    cards: list[Card]


class _DeriveRun:
    def __init__(self, engine: Engine, writer: CardWriter) -> None:
        self._engine = engine
        self._writer = writer
        self._table = engine.observations
        self._seq = self._table.newest()
        if writer.meta("marks_seq") is None:
            writer.set_meta("marks_seq", self._seq)
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

    def work(self, limits: DeriveLimits) -> ObserveProgress:
        if self._todo or self._gone:
            self._follow_renames()
        if self._gone:
            with self._writer.batch():
                for place in self._gone:
                    self._writer.drop(*place)
        todo, left = iter(self._todo), len(self._todo)
        while left and not limits.reached():
            limits.progress(f"{len(self._rows) - left:,} of {len(self._rows):,} memories")
            left -= self._batch(todo, limits)
        if self._todo or self._gone:
            self._writer.set_meta("last_run_at", self._engine.tasks.clock())
        error = next(iter(self._failed.values()), "")
        pending = {one.place for one in self._todo[len(self._todo) - left :]}
        failed = sum(place not in pending for place in self._failed)
        return ObserveProgress(len(self._rows), left, failed, error if failed else "")

    def _follow_renames(self) -> None:
        """Keep withheld what was renamed outside memtui and changed before it was seen.

        If several files may be the one, each gets a lost decision, which withholds all of it until a person looks.
        """
        marks = [mark for found in self.decided.by_place.values() for mark in found]
        names_of = {uid: root.id for uid, root in self.uids.items() if uid in self._whole}
        lost = lost_memories(self._engine, marks, names_of, lambda place, _: place in self._there)
        ask = lost_matcher(self._engine, lost, marks)
        candidates = defaultdict[SourcePlace, list[ObservedMemory]](list)
        for place, one in self._there.items() if lost else ():
            for was in ask(place, one.row.address, one.row.sha256):
                candidates[was.place].append(one)
        for was in lost:
            self._follow(was, candidates[was.place])
        self.__dict__.pop("decided", None)

    def _follow(self, was: LostMemory, candidates: Sequence[ObservedMemory]) -> None:
        (uid, path), sole = was.place, len(candidates) == 1
        if sole:
            self._engine.changes.observed.follow(uid, path, *candidates[0].place)
        for mark, one in product(() if sole else was.marks, candidates):
            other = one.row.address.path
            name = keyed_hash(self.decided.secret, b"may be", mark.name, os.fsencode(f"{one.uid} {other}"))
            if self._table.mark(name) is None:
                lost = mark._replace(name=name, seq=0, root=one.uid, path=other, anchor=name, text_key=name)
                lost = lost._replace(beside=b"", patch="")
                self._table.put(lost, actor="memtui", reason=f"it may be {visible(path)} under another name")
        self._todo += [one for one in candidates if one not in self._todo]

    def _batch(self, todo: Iterator[ObservedMemory], limits: DeriveLimits) -> int:
        done = count = size = 0
        files: list[_DerivedFile] = []
        for one in todo:
            file = self._derive_file(one)
            if file is not None:
                files.append(file)
                count += len(file.cards)
            size, done = size + one.row.bytes, done + 1
            if count >= BATCH_CARDS or size >= BATCH_BYTES or limits.expired():
                break
        with self._writer.batch():
            # A decision made from here on waits for this transaction, and is then applied to what this writes.
            before = self._seq
            self._seq = self._table.newest()
            if self._seq != before:
                self.__dict__.pop("decided", None)
            for source, kind, project, cards in files:
                placed = cards if self._seq == before else _with_decisions(self.decided, cards)
                self._writer.replace(source, kind, project, placed)
        return done

    def _derive_file(self, one: ObservedMemory) -> _DerivedFile | None:
        """Derive the cards of a memory; None when it was written since it was listed."""
        row, shown = one.row, visible(str(one.row.address))
        assert row.sha256 is not None
        source = CardSource(*one.place, bytes.fromhex(row.sha256), row.trust == BROUGHT)
        self._failed.pop(one.place, None)
        cards: list[Card] = []
        try:
            data = self._engine.read_bytes(row.address)
            if sha256(data).hexdigest() != row.sha256:
                return None
            derived = rules.derive(data, format_of(one.root, row.address.path))
            cards = self._cards(one, source, derived.items, data)
            if derived.more:
                source = source._replace(failed=f"{shown} has {derived.more} more entries than are observed.")
        except MemtuiError as error:
            source = source._replace(failed=f"{shown}: {error.message}")
        if source.failed:
            self._failed[one.place] = source.failed
        return _DerivedFile(source, KINDS[one.root.kind], one.root.project or "", cards)

    def _cards(
        self, one: ObservedMemory, source: CardSource, derived: Sequence[DerivedCard], data: bytes
    ) -> list[Card]:
        keys = entry_keys(self.decided.secret, [(each.first, each.text) for each in derived])
        states = states_of(self.decided, source.root, source.path, keys)
        address, kind = visible(rules.clean(str(one.row.address))), KINDS[one.root.kind]
        times = _first_seen(self._engine, one.row, [data[slice(*each.span)] for each in derived])
        latest = self._engine.tasks.clock() + _DAY
        cards = []
        for each, keyed, state, since in zip(derived, keys, states, times, strict=True):
            when = since if each.at is None else min(max(each.at, _FIRST), latest)
            card = new_card(each, state.name, *keyed, kind, one.place, address, one.root.agent, when)
            cards.append(adapted(card._replace(brought=source.brought), state))
        return cards


def _first_seen(engine: Engine, row: Memory, texts: Sequence[bytes]) -> list[int]:
    """Return since when each part has been in the memory: its oldest consecutive version, else the file's time."""
    now = engine.tasks.clock()
    times = [min(max(row.modified_at, _FIRST), now + _DAY)] * len(texts)
    if not row.version:
        return times
    present = set(range(len(texts)))
    with suppress(MemtuiError):  # a version that is redacted or not kept: what came before is not known
        for version in engine.history.of(row.address)[:_VERSIONS]:
            if version.note or not present:
                continue
            data = engine.history.read(row.address, version.sha256) if version.sha256 != row.sha256 else None
            present = {number for number in present if data is None or texts[number] in data}
            for number in present:
                times[number] = min(times[number], max(version.at, _FIRST))
    return times
