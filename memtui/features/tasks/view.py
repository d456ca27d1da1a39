"""The Tasks view: what runs, waits and ended in the background, with everything sent and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from memtui.config.read import reread
from memtui.config.settings import Settings
from memtui.diff.differences import why_not_text
from memtui.engine import Engine
from memtui.engine.model import AuditRecord, Done, is_person
from memtui.engine.task import CANCELLED, COMPLETED, ENDED, FAILED, OPEN, QUEUED, RUNNING, Task
from memtui.engine.task import Run as WorkerRun
from memtui.errors import MemtuiError, RefusedError
from memtui.features.actors import who_words
from memtui.features.feature import parts
from memtui.features.host import WRITE, Host
from memtui.features.tasks.lanes import refuse_off
from memtui.features.tasks.shown import (
    WHILE_YOU_WORK,
    describe_task,
    format_value,
    is_held,
    may_be_delivered,
    quote_request,
    state_label,
)
from memtui.features.tasks.work import StandingAct, StandingRow, workspace_of
from memtui.safe_text import cell_width
from memtui.ui.action import Action
from memtui.ui.draw.difference import DiffStyle, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, PageLine, fields_page, text_page, words_page
from memtui.ui.draw.text import Line, RowStyle, Run, both, both_ends, fit, partly_done, stamp
from memtui.ui.list_view import ListRows, ListView
from memtui.ui.view_screen import ViewFilter
from memtui.ui.widgets.prompts import yes_no

MAX_ROWS = 500
Row = Task | StandingRow | str
"""A task, another row, or the heading of a group."""
DREAM = "dream"


class TasksView(ListView[Row]):
    """Background tasks, and rows that other features add."""

    ID: ClassVar[str] = "tasks"
    HELP = """What memtui does in the background: first what runs and what waits, then what ended, newest first; tasks
of other projects are marked elsewhere. Beside a row stands what was asked, what a worker was sent and replied, and
what came of it, to the byte; enter goes there. x cancels: what waits at once, what runs when it is pressed twice; r
tries again what failed or was cancelled. D begins a dream, once you agree who looks. w shows the difference of what a
task wrote, and u takes that back, where nothing changed since. Where the settings have schedules, budgets or
deliveries, they stand there as well: x pauses a schedule or has it run again, r runs it now."""
    NO_MATCH = "No task matches"
    EMPTY = ("There are no tasks.", "m makes one, D a dream, and so do requests over HTTP.")

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, ListRows(_row_key, _words_of))
        self.list.passes = lambda index: isinstance(self.rows.shown[index], str)
        self.host, self.jobs = host, host.jobs
        self._difference = False
        """Whether the page shows what a task wrote instead of what it is about."""
        self._asked = ("", "")
        """Action and row whose confirmation was asked for."""
        self._told_of = ""
        """Id of the task to move the cursor to once it is listed."""
        self.does |= {
            "dream": self._ask_to_dream,
            "task_cancel": self._cancel,
            "task_retry": self._retry,
            "task_diff": self._show_difference,
        }

    def entered(self, within: ViewFilter | None) -> None:
        """Reload when the view is entered."""
        del within
        self.prompt.close()
        self._difference = False
        self.load()

    def _read_rows(self, *, awaited: bool) -> None:
        settings, lane = self.host.settings, self._lane

        def read(engine: Engine) -> tuple[Row, ...]:
            return _grouped(listed(engine), _standing(engine, settings, lane))

        def take(rows: tuple[Row, ...]) -> None:
            self.take(rows)
            told = [at for at, row in enumerate(self.rows.shown) if _row_key(row) == self._told_of]
            self._told_of = "" if told else self._told_of
            self.list.go(told[0] if told else self.list.cursor)  # from a heading to what is below it

        self.jobs.run(read, take, what="read the tasks", latest="tasks", awaited=awaited)

    @property
    def _lane(self) -> str:
        where = self.host.surroundings
        return workspace_of(where).id if where else ""

    @property
    def chosen(self) -> Task | None:
        """The task under the cursor."""
        return self.item if isinstance(self.item, Task) else None

    def _list_words(self) -> tuple[str, Line]:
        words, notes = super()._list_words()
        shown, count = (sum(not isinstance(one, str) for one in rows) for rows in (self.rows.shown, self.rows.all))
        return words, [(f"{shown:,} of {count:,}" if self.rows.words else f"{count:,}", "title"), *notes[1:]]

    def _draw_row(self, item: Row, width: int) -> Sequence[Run]:
        """Draw a row."""
        if isinstance(item, str):
            return [(item, "heading")]
        clock = RowStyle(self.host.now(), self.ascii, self.shell.named)
        if isinstance(item, StandingRow):
            return _standing_runs(item, width, clock)
        return _task_runs(item, width, clock, lane=self._lane or item.workspace)

    def _read_text(self, item: Row) -> None:
        look = DiffStyle(self.page.text_width, plain=self.ascii, named=self.shell.named)
        now, difference = self.host.now(), self._difference and isinstance(item, Task) and item.txn is not None

        def draw(engine: Engine) -> tuple[Page, tuple[int, ...]]:
            if not isinstance(item, Task):
                fields = () if isinstance(item, str) else item.shows(engine)
                return fields_page(((name, look.named(words)) for name, words in fields), look.width), ()
            if difference:
                return written(engine, item, look)
            return show(engine, item, now, look), ()

        self.jobs.run(draw, lambda found: self._show_text(item, *found), what="read a task", latest="tasks-page")

    def _page_words(self) -> tuple[str, Line]:
        return ("What it wrote", self.page.places()) if self._difference else ("What it is about", [])

    def _off(self, action: Action) -> str:
        item = self.item
        if action.id in ("next_hunk", "previous_hunk"):
            return "" if self.page.starts else "There is no other place."
        if not action.id.startswith("task_") and action.id != "read_text":
            return ""
        if item is None:
            return "There is no row here."
        if not isinstance(item, Task):
            known = isinstance(item, StandingRow) and action.id in item.acts
            return "" if known or action.id == "read_text" else "That cannot be done with this row."
        state = state_label(item)
        if action.id == "task_cancel" and (item.state not in OPEN or item.plan is not None):
            return f"It is {state} already." if item.state in ENDED else "It is being written, and will be done."
        if action.id == "task_retry" and item.state not in (FAILED, CANCELLED):
            return f"It is {state}; only what failed or was cancelled is tried again."
        return "It wrote nothing." if action.id == "task_diff" and item.txn is None else ""

    def perform(self, action: Action) -> None:
        """Run an action; another action cancels a pending confirmation, and undo is of the current task."""
        if action.id != self._asked[0]:
            self._asked = ("", "")
        item = self.item
        if isinstance(item, StandingRow) and action.id in item.acts:
            self._act(item, action.id, item.acts[action.id])
        elif action.id == "undo" and isinstance(item, Task) and item.txn is not None:
            self._undo(item, item.txn)
        else:
            super().perform(action)

    def _label(self, action: Action) -> str:
        acts = self.item.acts if isinstance(self.item, StandingRow) else {}
        return acts[action.id].label if action.id in acts else super()._label(action)

    # What keys do

    def _means_it(self, action: str, row: Row, asks: str) -> bool:
        """Whether a key needs no confirmation or was pressed again; otherwise ask."""
        means = not asks or self._asked == (action, _row_key(row))
        self._asked = ("", "") if means else (action, _row_key(row))
        if not means:
            self.host.say(asks, "warning")
        return means

    def _act(self, item: StandingRow, action: str, act: StandingAct) -> None:
        who = self.jobs.actor.name

        def done(said: str) -> None:
            self.host.say(said, "good")
            self.load()

        def allowed(engine: Engine) -> str:
            if not is_person(who):
                raise RefusedError(f"Only a person may {act.label} {item.name} here.", code="E_PERSON")
            return act.does(engine)

        if self._means_it(action, item, act.asks):
            self.jobs.run(allowed, done, what=f"{act.label} {item.name}", lane=WRITE)

    def _cancel(self) -> None:
        def words(task: Task) -> tuple[str, str]:
            what = "ends soon" if task.stopping else f"is {state_label(task)}"
            return f"{task.kind} {what}.", "good" if task.state == CANCELLED else "name"

        asks = "{} runs: x again cancels it, and nothing of it is written."
        self._change("cancel", lambda item: asks.format(item.kind) if item.state == RUNNING else "", words)

    def _retry(self) -> None:
        asks = "It may have come already: look there first. r again sends it."
        self._change(
            "retry",
            lambda item: asks if may_be_delivered(item) else "",
            lambda task: (f"{task.kind} waits to be tried again.", "good"),
        )

    def _change(self, act: str, asks: Callable[[Task], str], words: Callable[[Task], tuple[str, str]]) -> None:
        """Cancel or retry the current task, after a second key press where `asks` returns a question."""
        item, who = self.chosen, self.jobs.actor.name
        if item is None or not self._means_it(f"task_{act}", item, asks(item)):
            return

        def change(engine: Engine) -> Task:
            item.refuse_anothers(who, act)
            return engine.tasks.cancel(item.id) if act == "cancel" else engine.tasks.retry(item.id)

        def done(task: Task) -> None:
            self.host.say(*words(task))
            self.load()

        self.jobs.run(change, done, what=f"{act} {item.kind}", lane=WRITE)

    def _ask_to_dream(self) -> None:
        host, lane = self.host, self._lane
        if not lane:
            host.say("memtui knows of no project here.", "warning")
            return

        def who(engine: Engine) -> str | Task:
            settings = reread(host.settings)
            refuse_off(settings, DREAM)
            worker = settings.lifecycle_worker
            said = "rules alone" if worker == "none" else f"rules and {who_words(worker)}, which gets memories"
            return next((task for task in engine.tasks.all(lane, OPEN) if task.kind == DREAM), said)

        def asked(who: str | Task) -> None:
            if isinstance(who, Task):
                told(who, f"A dream is {state_label(who)} already: task {who.seq}.", "warning")
                return
            self.prompt.ask(yes_no(f"Dream by {who}? ", agreed, self.prompt.close))

        def agreed() -> None:
            client = self.jobs.actor.name
            self.jobs.run(
                lambda engine: engine.tasks.enqueue(DREAM, lane, client, {}, trigger="manual"),
                told,
                what=DREAM,
                lane=WRITE,
            )

        def told(
            task: Task, words: str = f"It dreams {WHILE_YOU_WORK}; 3 shows what it proposes.", level: str = "good"
        ) -> None:
            host.say(words, level)
            self._told_of = task.id
            self.load()

        self.jobs.run(who, asked, what=DREAM, awaited=True)

    def _show_difference(self) -> None:
        self._difference = not self._difference
        self._read_alone(alone=self._difference)

    def _step_back(self) -> bool:
        was, self._difference = self._difference, False
        return super()._step_back() or was

    def _undo(self, item: Task, txn: str) -> None:
        name = f"{item.kind}: {self.shell.named(describe_task(item))}"

        def done(result: Done) -> None:
            self.host.operations.touched(result.addresses)
            failed = [outcome for outcome in result.outcomes if not outcome.ok]
            if failed:
                count, error = len(result.outcomes), failed[0].error
                why = error.message if isinstance(error, MemtuiError) else "It was changed since."
                words = partly_done("took back", count - len(failed), count, str(failed[0].address), why)
                self.host.say(words, "warning")
            else:
                self.host.say(f"Took back: {name}. U does it again.", "good")
            self.load()

        self.jobs.run(
            lambda engine: engine.undo.undo(actor=self.jobs.actor, txn=txn), done, what=f"take back {name}", lane=WRITE
        )


def _row_key(row: Row) -> str:
    return row.id if isinstance(row, Task) else row if isinstance(row, str) else f"{row.group} {row.name}"


def _grouped(tasks: Sequence[Task], stands: Sequence[StandingRow]) -> tuple[Row, ...]:
    """Order rows: open tasks, other rows by group, ended tasks; without other rows there are no headings."""
    if not stands:
        return tuple(tasks)
    groups: dict[str, list[Row]] = {"Running": [task for task in tasks if task.state in OPEN]}
    for one in stands:
        groups.setdefault(one.group, []).append(one)
    groups["Done"] = [task for task in tasks if task.state in ENDED]
    return tuple(row for name, rows in groups.items() if rows for row in (name, *rows))


def _standing(engine: Engine, settings: Settings, lane: str) -> tuple[StandingRow, ...]:
    return tuple(row for stands in parts("stands").values() for row in stands(engine, settings, lane))


def _words_of(task: Row) -> str:
    if isinstance(task, StandingRow):
        return f"{task.group} {task.name} {task.state} {task.words}"
    return "" if isinstance(task, str) else f"{state_label(task)} {task.kind} {describe_task(task)} {task.client}"


def listed(engine: Engine) -> tuple[Task, ...]:
    """Return the tasks of all lanes: running, queued in order, then ended."""
    found = engine.tasks.all(limit=MAX_ROWS)
    held = {task.workspace: is_held(engine.tasks, task.workspace) for task in found if task.state == RUNNING}
    found = tuple(
        task if held.get(task.workspace, True) or task.state != RUNNING else task._replace(progress="interrupted")
        for task in found
    )
    running, queued = ([task for task in reversed(found) if task.state == state] for state in (RUNNING, QUEUED))
    ended = sorted((task for task in found if task.state in ENDED), key=lambda task: -task.updated)
    return (*running, *queued, *ended)


# --- rows and pages

_STYLES = {RUNNING: "agent", FAILED: "problem", COMPLETED: "good"}
_SAID = (
    *("summary", "changes", "addresses", "filesTouched", "touchedScopes", "outcome"),
    *("turns", "proposed", "applied", "left"),
)
_WIDE = 76


def _standing_runs(one: StandingRow, width: int, clock: RowStyle) -> list[Run]:
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


def _task_runs(task: Task, width: int, clock: RowStyle, *, lane: str) -> list[Run]:
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


def _run_page(run: WorkerRun, look: DiffStyle) -> Iterator[PageLine]:
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
