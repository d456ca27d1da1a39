"""The rows of Activity and the text beside each: audit records grouped into steps, drawn, and what the engine is asked.

New records are added to the groups, which are never built again: an audit may have a hundred thousand. It is read a
page at a time, in a thread, also under a filter, so that a long one opens as fast as a short one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.differences import line_counts, why_not_text
from memtui.engine.model import (
    APPROVALS,
    MARKS,
    SETTING,
    Actor,
    Address,
    AuditRecord,
    Change,
    Done,
    Operation,
    Root,
    is_person,
)
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.actors import KINDS, VERBS, by, common_place, origin_words, origins, session_words, who_words
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.draw.difference import DiffStyle, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, PageLine, text_page, words_page
from memtui.ui.draw.text import SHORT, RowStyle, Run, ago, both, both_ends, count_words, fit, full, stamp
from memtui.ui.list_view import ListRows

if TYPE_CHECKING:
    from memtui.engine import Engine

TOGETHER_MS = 2_000
"""Longest pause between changes of one outside writer that are one step."""
WIDE = 84
LEAST_NAME = 8
"""Least cells for a memory's name, and for the words at the end of a row."""
KINDS_OUTSIDE = frozenset(KINDS)
APPROVAL = "approve"

STRIP = 3
"""Steps shown at the foot of the main screen."""

_SHA = re.compile(r"\b[0-9a-f]{64}\b")
"""A full version, which is shortened to twelve digits."""


class UndoStep(NamedTuple):
    """One operation, or one stroke of an outside writer."""

    records: tuple[AuditRecord, ...]
    """Newest first; never empty."""

    @property
    def key(self) -> tuple[str, int]:
        """Identity while it grows: its operation, or its newest record."""
        first = self.records[0]
        return ("txn", int(first.txn)) if first.txn else ("seq", first.seq)

    @property
    def txn(self) -> str:
        """The operation; empty for an outside writer."""
        return self.records[0].txn

    @property
    def at(self) -> int:
        """Time of its newest record."""
        return self.records[0].at


class ActivityItem(NamedTuple):
    """One row: a step, or one record of an open step."""

    step: UndoStep
    record: AuditRecord | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Identity across reloads."""
        return self.step.key if self.record is None else ("record", self.record.seq)

    @property
    def single(self) -> AuditRecord | None:
        """The only record; None for a row that opens."""
        return self.record or (self.step.records[0] if len(self.step.records) == 1 else None)

    @property
    def records(self) -> tuple[AuditRecord, ...]:
        """The records it is about."""
        return self.step.records if self.record is None else (self.record,)


class Steps(ListRows[ActivityItem]):
    """The loaded part of the audit, as rows."""

    def __init__(self) -> None:
        super().__init__(lambda item: item.key)
        self.steps: list[UndoStep] = []
        self.shown: list[ActivityItem] = []
        self.operations: dict[str, Operation] = {}
        self.counts: dict[int, tuple[int, int]] = {}
        """Lines added and removed, by record."""
        self.next_undo: str | None = None
        """The operation that `u` takes back."""
        self.reached: int | None = None
        """Oldest record that was looked at."""
        self.complete = False
        self._open: set[tuple[str, int]] = set()
        self._places: dict[str, int] = {}
        """Index in `steps` by operation."""
        self._starts: list[int] = []
        """Index in `shown` of each step's row."""

    def clear(self) -> None:
        """Remove all rows; what is open stays open."""
        self.steps, self.shown, self._places, self._starts = [], [], {}, []
        self.reached, self.complete = None, False

    def extend(self, records: Iterable[AuditRecord]) -> None:
        """Add older records."""
        first = len(self.steps)
        for record in records:
            first = min(first, self._add(record))
        self._rebuild(first)

    def renew(self, records: Sequence[AuditRecord], reached: int | None) -> bool:
        """Replace the newest records, down to `reached`; return whether the older ones could be kept."""
        old = self.steps
        keeps = reached is not None and bool(old) and old[0].records[0].seq >= reached
        before, complete = self.reached, self.complete
        self.clear()
        self.extend(records)
        if not keeps:
            return False
        for step in old:
            rest = tuple(record for record in step.records if reached is not None and record.seq < reached)
            if rest == step.records and step.txn not in self._places:
                self.steps.append(step)
                if step.txn:
                    self._places[step.txn] = len(self.steps) - 1
            else:
                for record in rest:
                    self._add(record)
        self._rebuild(0)
        self.reached, self.complete = before, complete
        return True

    def _add(self, record: AuditRecord) -> int:
        place = self._places.get(record.txn, -1) if record.txn else self._outside_place(record)
        if place >= 0:
            self.steps[place] = UndoStep((*self.steps[place].records, record))
            return place
        self.steps.append(UndoStep((record,)))
        if record.txn:
            self._places[record.txn] = len(self.steps) - 1
        return len(self.steps) - 1

    def _outside_place(self, record: AuditRecord) -> int:
        last = self.steps[-1].records[-1] if self.steps else None
        if last is None or last.txn or writer(last) != writer(record) or last.at - record.at > TOGETHER_MS:
            return -1
        return len(self.steps) - 1

    def _rebuild(self, first: int) -> None:
        """Rebuild the rows from a step on."""
        if first < len(self._starts):
            del self.shown[self._starts[first] :]
            del self._starts[first:]
        for step in self.steps[len(self._starts) :]:
            self._starts.append(len(self.shown))
            self.shown.append(ActivityItem(step))
            if step.key in self._open and len(step.records) > 1:
                self.shown += [ActivityItem(step, record) for record in step.records]

    def is_open(self, step: UndoStep) -> bool:
        """Whether a step's records are shown."""
        return step.key in self._open

    def set_open(self, step: UndoStep, *, wide: bool) -> None:
        """Open or close a step."""
        (self._open.add if wide else self._open.discard)(step.key)
        self._rebuild(next((place for place, one in enumerate(self.steps) if one.key == step.key), 0))

    def operation(self, step: UndoStep) -> Operation | None:
        """Return the operation of a step."""
        return self.operations.get(step.txn)


def matches(record: AuditRecord, words: Sequence[str], operation: Operation | None = None) -> bool:
    """Whether a record has all these words, in any case: who, what, where, how it ended."""
    if not words:
        return True
    verb = verb_words(record, operation)
    if operation is not None:
        verb = f"{verb} {operation.label} {'undone' if operation.undone else ''}"
    text = f"{writer(record)} {record.actor} {verb} {record.operation} {record.address}"
    text = f"{text} {record.new_address or ''} {state_words(record)} {record.note}".casefold()
    return all(word in text for word in words)


def state_words(record: AuditRecord) -> str:
    """Say how a record ended, unless it is done."""
    return {"done": "", "intent": "running"}.get(record.state, record.state)


def change_of(record: AuditRecord) -> Change:
    """Convert a record to a change, which has a difference and can be taken back."""
    if record.operation in MARKS:
        return Change(record.address, record.operation, record.actor, None, None, record.at)
    kind = record.operation if record.operation in KINDS_OUTSIDE else "modified"
    if record.new_address is not None:
        return Change(
            record.new_address, "renamed", record.actor, record.before, record.after, record.at, record.address
        )
    if record.before is None:
        kind = "created"
    elif record.after is None:
        kind = "deleted"
    return Change(record.address, kind, record.actor, record.before, record.after, record.at)


def has_texts(record: AuditRecord) -> bool:
    """Whether a record changed a text."""
    return record.before != record.after


def place_words(record: AuditRecord) -> str:
    """Say where it happened; of an approval, what was approved."""
    if record.operation == SETTING:
        return record.note
    if record.operation in APPROVALS:
        return f"{record.operation}: {str(record.address).removesuffix('/')}"
    if record.new_address is None:
        return str(record.address)
    new = record.new_address
    return f"{record.address} -> {new.path if new.root == record.address.root else new}"


def step_words(step: UndoStep, operation: Operation | None) -> str:
    """Say what a step with several records did."""
    if operation is not None:
        return operation.label if operation.kind == "do" else f"{operation.kind}: {operation.label}"
    kinds = Counter(change_of(record).kind for record in step.records)
    words = {**KINDS, **{kind: kind for kind in MARKS}}
    said = ", ".join(f"{kinds[kind]:,} {word}" for kind, word in words.items() if kinds[kind])
    said = f"{APPROVAL}: {said}" if step.records[0].operation in APPROVALS else said
    place = common_place([record.address for record in step.records])
    return f"{said}  in {visible(place)}"


def step_state(item: ActivityItem, operation: Operation | None) -> str:
    """Say how a row ended, unless it is done."""
    if operation is not None and operation.undone:
        return "undone"
    states = Counter(state_words(record) for record in item.records)
    if len(item.records) == 1:
        return state_words(item.records[0])
    return ", ".join(f"{states[state]} {state}" for state in ("running", "conflict", "aborted") if states[state])


def verb_words(record: AuditRecord, operation: Operation | None) -> str:
    """Say what was done."""
    if record.operation in MARKS:
        return "set" if record.operation == SETTING else APPROVAL
    if operation is not None and operation.kind != "do":
        return operation.kind
    return VERBS.get(record.operation, record.operation)


def step_counts(item: ActivityItem, counts: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
    """Return the lines added and removed by a row; zero while one record is not counted."""
    known = [counts.get(record.seq) for record in item.records if record.state != "intent"]
    lines = [count for count in known if count is not None]
    if len(lines) < len(known):
        return 0, 0
    return sum(came for came, _ in lines), sum(went for _, went in lines)


def writer(record: AuditRecord) -> str:
    """Name the writer of a record."""
    return record.who or who_words(record.actor, record.address.root)


def item_runs(item: ActivityItem, steps: Steps, width: int, look: RowStyle) -> list[Run]:
    """Draw a row, without the cursor."""
    record = item.single
    operation = steps.operation(item.step)
    if item.record is not None:
        lead: list[Run] = [("      ", "dim"), (fit(verb_words(item.record, None), 9), "name")]
    else:
        lead = _lead(item, steps, look, wide=width >= WIDE)
        if record is not None:
            lead.append((fit(verb_words(record, operation), 9, plain=look.ascii), "name"))
    return _row(lead, item, steps, width, look, "name" if record is None else "description")


def _row(lead: list[Run], item: ActivityItem, steps: Steps, width: int, look: RowStyle, style: str) -> list[Run]:
    left = width - sum(cell_width(text) for text, _ in lead)
    tail = _tail(item, steps, left - LEAST_NAME)
    room = max(left - sum(cell_width(text) for text, _ in tail), LEAST_NAME)
    if item.single is None:
        words = look.named(step_words(item.step, steps.operation(item.step)))
        shown = one_line(words, room, ascii_tokens=look.ascii)
    else:
        shown = both_ends(look.named(place_words(item.single)), room, plain=look.ascii)
    return [*lead, (shown + " " * (room - cell_width(shown)), style), *tail]


def _lead(item: ActivityItem, steps: Steps, look: RowStyle, *, wide: bool) -> list[Run]:
    arrow = "  "
    if item.single is None:
        opened = steps.is_open(item.step)
        arrow = ("v " if opened else "> ") if look.ascii else ("▾ " if opened else "▸ ")
    step = item.step
    actor = step.records[0].actor
    when = full(step.at) if wide else stamp(step.at, look.now)
    return [
        (arrow, "dim"),
        *([(f"{ago(step.at, look.now):>4} ", "dim")] if wide else []),
        (f"{when:>{16 if wide else SHORT}} ", "dim"),
        (fit(writer(step.records[0]), 16 if wide else 14, plain=look.ascii) + " ", _style(actor)),
    ]


def _style(actor: str) -> str:
    return "name" if is_person(actor) else "agent"


def _tail(item: ActivityItem, steps: Steps, room: int) -> list[Run]:
    """Draw the right end of a row: lines, how it ended, whether `u` takes it back."""
    came, went = step_counts(item, steps.counts)
    undoes = item.record is None and bool(steps.next_undo) and steps.next_undo == item.step.txn
    lines: list[Run] = [(f"  +{came}", "add"), (f" -{went}", "del")] if came or went else []
    keys: list[Run] = [("  u", "key"), (" undo", "dim")] if undoes else []
    state = step_state(item, steps.operation(item.step))
    if not state:
        return [*lines, *keys]
    room -= sum(cell_width(text) for text, _ in (*lines, *keys)) + 2
    words = one_line(state, max(room, LEAST_NAME))
    return [*lines, (f"  {words}", "dim" if state == "undone" else "warning"), *keys]


def strip_records(records: Sequence[AuditRecord]) -> list[AuditRecord]:
    """Return the records whose lines the strip shows: the newest steps, unless they are large."""
    steps = Steps()
    steps.extend(records)
    shown = [step for step in steps.steps[:STRIP] if len(step.records) <= 20]
    return [record for step in shown for record in step.records if record.state != "intent"]


def strip(
    records: Sequence[AuditRecord],
    operations: Iterable[Operation],
    counts: Mapping[int, tuple[int, int]],
    next_undo: str | None,
    look: RowStyle,
    width: int,
) -> list[list[Run]]:
    """Draw the newest steps for the foot of the main screen."""
    steps = Steps()
    steps.operations, steps.counts, steps.next_undo = {one.txn: one for one in operations}, dict(counts), next_undo
    steps.extend(records)
    lines = []
    for step in steps.steps[:STRIP]:
        item = ActivityItem(step)
        lead: list[Run] = [
            (f" {stamp(step.at, look.now):>{SHORT}}  ", "dim"),
            (fit(writer(step.records[0]), 16, plain=look.ascii) + " ", _style(step.records[0].actor)),
        ]
        if item.single is not None:
            lead.append((fit(verb_words(item.single, steps.operation(step)), 8, plain=look.ascii) + " ", "name"))
        lines.append(_row(lead, item, steps, width - 1, look, "description"))
    return lines


def heading(item: ActivityItem, operation: Operation | None, now: int) -> list[str]:
    """Say beside a row what it is, how it ended, and what it is part of."""
    first = item.records[0]
    what = step_words(item.step, operation) if item.single is None else place_words(first)
    if item.single is not None:
        what = f"{verb_words(first, operation)} {what}"
    who = by(writer(first))
    lines = [f"{visible(what)}", f"{who[0].upper()}{who[1:]}, {both(first.at, now)}."]
    if item.record is not None and operation is not None:
        lines.append(f"Part of: {operation.label}, {count_words(operation.records, 'record')}.")
    state = step_state(item, operation)
    said = {
        "running": "It has not ended yet.",
        "aborted": "It did not happen.",
        "conflict": "It was refused: somebody else was first. Both texts are in the history (H).",
        "undone": "It was taken back.",
    }.get(state, f"Not all of it was done: {state}." if state else "")
    lines += [said] if said else []
    note = _SHA.sub(lambda sha: sha.group()[:12], visible(first.note))
    lines += [f"Note: {note}"] if first.note and item.single is not None else []
    return lines


def closed_folders(records: Iterable[AuditRecord]) -> tuple[str, ...]:
    """Return the folders of records whose root is not open here."""
    named = (one.root for record in records for one in (record.address, record.new_address) if one is not None)
    return tuple(dict.fromkeys(root for root in named if root.startswith("/")))


def where(record: AuditRecord) -> Address:
    """Return the address of a record's memory after it."""
    return record.new_address or record.address


PAGE = 200
BATCH = 2_000
"""Records read at once under a filter, or on the way to the end."""
COUNTED_BYTES = 262_144
"""Largest text whose changed lines are counted for the list."""
LISTED = 300

Drawn = tuple[Page, tuple[int, ...]]
"""A text, and the lines at which its hunks begin."""


class PageFilter(NamedTuple):
    """Which records are shown."""

    words: tuple[str, ...] = ()
    who: str = ""


class ActivityPage(NamedTuple):
    """A page of the audit."""

    only: PageFilter
    before: int | None
    """Older than this record; None for the newest page."""
    reached: int | None
    """Oldest record that was looked at."""
    records: tuple[AuditRecord, ...]
    operations: tuple[Operation, ...]
    complete: bool
    next_undo: str | None


def load(
    engine: Engine, only: PageFilter, before: int | None, *, limit: int = PAGE, stop: Callable[[], bool] = lambda: False
) -> ActivityPage:
    """Read at least `limit` records that pass a filter, older than `before`; `stop` is asked between batches."""
    found: list[AuditRecord] = []
    operations: dict[str, Operation] = {}
    batch = BATCH if only != PageFilter() else limit
    at, complete = before, False
    while len(found) < limit and not stop():
        records = engine.history.audit(limit=batch, before=at)
        operations |= _operations(engine, records)
        found += [
            record
            for record in records
            if only.who in ("", writer(record)) and matches(record, only.words, operations.get(record.txn))
        ]
        complete = len(records) < batch
        at = records[-1].seq if records else at
        if complete:
            break
    wanted = {record.txn for record in found}
    known = tuple(operation for txn, operation in operations.items() if txn in wanted)
    return ActivityPage(only, before, at, tuple(found), known, complete, engine.undo.next())


def _operations(engine: Engine, records: Sequence[AuditRecord]) -> dict[str, Operation]:
    txns = [int(record.txn) for record in records if record.txn]
    return {one.txn: one for one in engine.history.operations(str(min(txns)), str(max(txns)))} if txns else {}


def text(engine: Engine, record: AuditRecord, sha256: str | None) -> bytes | MemtuiError | None:
    """Read one side of a record; None where there was no text, an error where it cannot be read."""
    if sha256 is None:
        return None
    try:
        return engine.history.read_audited(record.seq, sha256)
    except NotFoundError as error:
        try:
            now = engine.read(where(record))
        except MemtuiError:
            return error
        return now.bytes if now.sha256 == sha256 else error
    except MemtuiError as error:
        return error


def show(
    engine: Engine, item: ActivityItem, operation: Operation | None, how: str, now: int, look: DiffStyle, away: str = ""
) -> Drawn:
    """Draw what a row did; `how` says how it is taken back, `away` why its texts cannot be read."""
    record = item.single
    who = session_words(engine, where(record), record.after) if record is not None and not away else []
    if record is not None:
        who += origin_words(origins(engine, [record]).get(record.seq, ()))
    lines = map(look.named, [*heading(item, operation, now), *who, *([how] if how else [])])
    top = words_page(*lines, style="description", width=look.width)
    closed = words_page(away, style="warning", width=look.width) if away and (record is not None or not how) else ()
    if record is None:
        return (*top, *closed, PageLine(()), *_members(item, look)), ()
    if away:
        return (*top, PageLine(()), *closed), ()
    page, starts = _difference(engine, record, look)
    return (*top, *page), tuple(start + len(top) for start in starts)


def _difference(engine: Engine, record: AuditRecord, look: DiffStyle) -> Drawn:
    if not has_texts(record):
        said = "Only the name changed." if record.new_address is not None else "No text was changed."
        said = "An approval, which only a person makes. No text was changed." if record.operation in APPROVALS else said
        said = "A setting. No text was changed." if record.operation == SETTING else said
        return (PageLine(()), *words_page(said, style="name", width=look.width)), ()
    sides = [text(engine, record, sha) for sha in (record.before, record.after)]
    if error := next((side for side in sides if isinstance(side, MemtuiError)), None):
        return (PageLine(()), *words_page(error.message, style="problem", width=look.width)), ()
    before, after = (side if isinstance(side, bytes) else None for side in sides)
    if reason := why_not_text(before, SHOWN_BYTES) or why_not_text(after, SHOWN_BYTES):
        return (PageLine(()), *words_page(f"It cannot be shown line by line: {reason}.", width=look.width)), ()
    if before is None or after is None:
        word = "It held:" if after is None else "It was new:"
        whole = text_page(before or after or b"", look.width, plain=look.plain)
        return (PageLine(()), *words_page(word, style="heading", width=look.width), *whole), ()
    _, page, starts = compare(before, after, look)
    return page, starts


def _members(item: ActivityItem, look: DiffStyle) -> Page:
    lines: list[PageLine] = []
    for record in item.records[:LISTED]:
        state = f"  ({record.state})" if record.state != "done" else ""
        word = KINDS[change_of(record).kind] if has_texts(record) or record.new_address else verb_words(record, None)
        lines += words_page(f"{word:<8} {look.named(place_words(record))}{state}", style="name", width=look.width)
    if len(item.records) > LISTED:
        lines += words_page(f"... and {len(item.records) - LISTED:,} more", width=look.width)
    return tuple(lines)


def count(engine: Engine, records: Iterable[AuditRecord]) -> dict[int, tuple[int, int]]:
    """Count the lines added and removed by each record; zero for what is no text."""
    found = {}
    for record in records:
        sides = [text(engine, record, sha) or b"" for sha in (record.before, record.after)]
        before, after = (side if isinstance(side, bytes) else None for side in sides)
        known = before is not None and after is not None and has_texts(record)
        found[record.seq] = line_counts(before or b"", after or b"", COUNTED_BYTES) if known else (0, 0)
    return found


def take_back(engine: Engine, item: ActivityItem, actor: Actor, roots: Callable[[], Iterable[Root]] = tuple) -> Done:
    """Take one row back and nothing done since; `roots` finds those of other projects for a step between two."""
    if item.step.txn:
        if folders := engine.undo.unopened(item.step.txn):
            from memtui.features.moved_projects.moves import parted

            engine.roots.add(parted(roots(), folders))
        return engine.undo.undo(actor=actor, txn=item.step.txn)
    done = [change_of(record) for record in item.records if record.state == "done"]
    return engine.undo.take_back(done, actor=actor)


def restoring_key(done: Done) -> str:
    """Name the key that restores what was taken back."""
    alone = done.operation != "undo" or done.label.startswith(("undo ", "do again "))
    return "u brings it back" if alone else "U does it again"


def outcome_lines(done: Done) -> Sequence[str]:
    """Say why each memory could not be taken back."""
    failed = [outcome for outcome in done.outcomes if not outcome.ok]
    good = len(done.outcomes) - len(failed)
    lines = [f"Taken back: {count_words(good, 'memory')}." if good else "Nothing was taken back.", ""]
    lines.append(f"Left as they are: {count_words(len(failed), 'memory')}.")
    for outcome in failed:
        why = outcome.error.message if outcome.error is not None else f"{outcome.address} was changed since."
        lines.append(f"- {why}")
    return lines


def step_name(item: ActivityItem, operation: Operation | None) -> str:
    """Name what would be taken back."""
    if item.step.txn or item.single is None:
        return operation.label if operation is not None else step_words(item.step, None)
    record = item.records[0]
    return f"{record.operation} {place_words(record)}"
