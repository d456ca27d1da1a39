"""Drawing tasks: rows, and pages with request, prompts, replies and written text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.hunks import why_not_text
from memtui.engine.model import AuditRecord, is_person
from memtui.engine.task import COMPLETED, FAILED, RUNNING, Run, Task
from memtui.errors import MemtuiError
from memtui.features.actors import who_words
from memtui.features.tasks.shown import describe_task, format_value, quote_request, state_label
from memtui.safe_text import cell_width
from memtui.ui.draw.difference import DiffStyle, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, PageLine, fields_page, text_page, words_page
from memtui.ui.draw.spans import Run as Piece
from memtui.ui.draw.times import RowStyle, both, stamp
from memtui.ui.draw.words import both_ends, fit

if TYPE_CHECKING:
    from memtui.engine import Engine

_STYLES = {RUNNING: "agent", FAILED: "problem", COMPLETED: "good"}
_SAID = (
    *("summary", "changes", "addresses", "filesTouched", "touchedScopes", "outcome"),
    *("turns", "proposed", "applied", "left"),
)
_WIDE = 76


class StandingAct(NamedTuple):
    """What a key does with a row that is no task."""

    label: str
    does: Callable[[Engine], str]
    """Runs in a write job and returns what is so now; may raise a `MemtuiError`."""
    asks: str = ""
    """Confirmation to ask for; the same key again confirms."""


class StandingRow(NamedTuple):
    """A row that is no task: a schedule, a budget, an unreachable destination."""

    group: str
    name: str
    state: str
    style: str
    words: str
    """May hold hostile text; whoever draws it makes it safe."""
    at: int | None
    shows: Callable[[Engine], Iterable[tuple[str, str]]]
    """Fields of its page, read in a thread."""
    acts: Mapping[str, StandingAct] = {}


def standing_runs(one: StandingRow, width: int, clock: RowStyle) -> list[Piece]:
    """Draw a row that is no task."""
    time = fit("" if one.at is None else stamp(one.at, clock.now), 6, right=True)
    name = clock.named(one.name)
    column = max(8, min(cell_width(name), 16))  # as wide as the kind of a task, where the name is no longer
    room = max(width - 10 - column - 2 - len(time) - 2, 4)
    return [
        (fit(one.state, 10), one.style),
        (fit(name, column, plain=clock.ascii) + "  ", "name"),
        (fit(clock.named(one.words), room, plain=clock.ascii), "problem" if one.style == "problem" else "description"),
        ("  " + time, "dim"),
    ]


def task_runs(task: Task, width: int, clock: RowStyle, *, lane: str) -> list[Piece]:
    """Draw a task; one of another `lane` says so."""
    who = "" if is_person(task.client) else who_words(task.client)
    end = [who] if who and width >= _WIDE else []
    end += ["elsewhere"] if task.workspace != lane else []
    tail = "  ".join([*(fit(one, min(cell_width(one), 20), plain=clock.ascii) for one in end), ""])
    time = fit(stamp(task.updated, clock.now), 6, right=True)
    room = max(width - 20 - cell_width(tail) - len(time) - 1, 4)
    words = clock.named(describe_task(task))
    return [
        (fit(state_label(task), 10), "dim" if task.undone else _STYLES.get(task.state, "name")),
        (fit(task.kind, 10), "strong" if task.state == RUNNING else "name"),
        (fit(words, room, plain=clock.ascii), "problem" if task.state == FAILED else "description"),
        (" " + tail, "agent"),
        (time, "dim"),
    ]


def show(engine: Engine, task: Task, now: int, look: DiffStyle) -> Page:
    """Draw everything known of a task."""
    state = f"{state_label(task)}, {both(task.updated, now)}"
    asked = f"by {who_words(task.client)}, {both(task.created, now)}"
    fields = [
        ("State", state),
        ("Asked", asked),
        ("Id", f"{task.seq}  {both_ends(task.id, look.width - 20, plain=look.plain)}"),
    ]
    if task.not_before > now:
        fields.append(("Due", both(task.not_before, now)))
    if task.attempt > 1:
        fields.append(("Attempt", str(task.attempt)))
    if task.error is not None:
        fields.append(("Why", f"{task.error[0]}: {task.error[1]}"))
    fields += _result_fields(task, look)
    page = [*fields_page(fields, look.width)]
    text = task.request.get("content")
    if isinstance(text, str):
        page += _titled("What was asked", text_page(text.encode(), look.width, plain=look.plain))
    elif words := quote_request(task.request):
        page += _titled("What was asked", words_page(words, width=look.width))
    for run in engine.tasks.runs(task=task.id):
        page += _run_page(run, look)
    return tuple(page)


def _result_fields(task: Task, look: DiffStyle) -> Iterator[tuple[str, str]]:
    """Yield result fields that are not in the row or shown otherwise."""
    result = dict(task.result or {})
    if result.get("summary"):
        yield "Result", look.named(str(result["summary"]))
    changes = result.get("changes")
    for one in changes if isinstance(changes, list) else ():
        if isinstance(one, dict):
            yield str(one.get("what", ""))[:10] or "changed", look.named(str(one.get("address", "")))
    for name, value in result.items():
        if name not in _SAID and (words := format_value(value)):
            yield name[:10], look.named(words)


def _run_page(run: Run, look: DiffStyle) -> Iterator[PageLine]:
    counts = format_value(run.counts)
    said = f"Run: {run.outcome}, worker {run.worker}, {(run.ended - run.at) / 1_000:.1f} s"
    yield from _titled(said, words_page(counts, width=look.width) if counts else ())
    for name, text in (("Sent", run.sent), ("Replied", run.reply)):
        data = text.encode("utf-8", "surrogatepass")
        if data:
            yield from _titled(f"{name}: {len(data):,} bytes", text_page(data, look.width, plain=look.plain))


def _titled(title: str, page: Sequence[PageLine]) -> list[PageLine]:
    return [PageLine(()), *words_page(title, style="heading"), *page]


def written(engine: Engine, task: Task, look: DiffStyle) -> tuple[Page, tuple[int, ...]]:
    """Draw the differences a task made, memory by memory; return the lines and where each place begins."""
    page, starts = list[PageLine](), list[int]()
    records = engine.history.audit(txn=task.txn, limit=1_000) if task.txn is not None else ()
    for record in reversed(records):
        if record.state != "done":
            continue
        new = f" to {record.new_address}" if record.new_address is not None else ""
        title = look.named(f"{record.operation} {record.address}{new}")
        page += [PageLine(()), *words_page(title, style="heading", width=look.width)]
        lines, places = _record_page(engine, record, look)
        starts += [len(page) + place for place in places]
        page += lines
    return tuple(page[1:]), tuple(start - 1 for start in starts)


def _record_page(engine: Engine, record: AuditRecord, look: DiffStyle) -> tuple[Page, tuple[int, ...]]:
    try:
        before, after = (
            b"" if sha is None else engine.history.read_audited(record.seq, sha)
            for sha in (record.before, record.after)
        )
    except MemtuiError as error:
        return words_page(error.message, style="problem", width=look.width), ()
    why = why_not_text(before, SHOWN_BYTES) or why_not_text(after, SHOWN_BYTES)
    if why:
        return words_page(f"It cannot be shown line by line: {why}.", width=look.width), ()
    _, page, starts = compare(before, after, look)
    return page, starts
