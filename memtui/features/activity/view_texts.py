"""What Activity asks the engine, in a thread: pages of the audit, texts of a step, and taking a step back.

The audit is read a page at a time, also under a filter, so that a long one opens as fast as a short one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.differences import line_counts, why_not_text
from memtui.engine.model import APPROVALS, SETTING, Actor, AuditRecord, Done, Operation, Root
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.activity.view_rows import (
    ActivityItem,
    change_of,
    has_texts,
    heading,
    matches,
    place_words,
    step_words,
    verb_words,
    where,
    writer,
)
from memtui.features.actors import KINDS, origin_words, origins, session_words
from memtui.ui.draw.difference import DiffStyle, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, PageLine, text_page, words_page
from memtui.ui.draw.text import count_words

if TYPE_CHECKING:
    from memtui.engine import Engine

PAGE = 200
BATCH = 2_000
"""Records read at once under a filter, or on the way to the end."""
COUNTED_BYTES = 262_144
"""Largest text whose changed lines are counted for the list."""
LISTED = 300


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
    """Return the operations of records by number."""
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


class DrawnStep(NamedTuple):
    """A row's text."""

    item: ActivityItem
    page: Page
    starts: tuple[int, ...] = ()


def show(
    engine: Engine, item: ActivityItem, operation: Operation | None, how: str, now: int, look: DiffStyle, away: str = ""
) -> DrawnStep:
    """Draw what a row did; `how` says how it is taken back, `away` why its texts cannot be read."""
    record = item.single
    who = session_words(engine, where(record), record.after) if record is not None and not away else []
    if record is not None:
        who += origin_words(origins(engine, [record]).get(record.seq, ()))
    lines = map(look.named, [*heading(item, operation, now), *who, *([how] if how else [])])
    top = words_page(*lines, style="description", width=look.width)
    closed = words_page(away, style="warning", width=look.width) if away and (record is not None or not how) else ()
    if record is None:
        return DrawnStep(item, (*top, *closed, PageLine(()), *_members(item, look)))
    if away:
        return DrawnStep(item, (*top, PageLine(()), *closed))
    page, starts = _difference(engine, record, look)
    return DrawnStep(item, (*top, *page), tuple(start + len(top) for start in starts))


def _difference(engine: Engine, record: AuditRecord, look: DiffStyle) -> tuple[Page, tuple[int, ...]]:
    """Draw what a record did to a text, and return the lines at which its hunks begin."""
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
