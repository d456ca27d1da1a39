"""Activity: who did what, where and when, and how it ended; each step with its difference, and undone alone.

The audit is loaded a page at a time, as the cursor comes near the end.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.timer import Timer

from memtui.engine.model import MARKS, AuditRecord, Done
from memtui.features.activity import view_rows
from memtui.features.activity.view_rows import (
    BATCH,
    PAGE,
    ActivityItem,
    ActivityPage,
    PageFilter,
    Steps,
    closed_folders,
    item_runs,
    where,
    writer,
)
from memtui.features.actors import by
from memtui.features.host import WRITE
from memtui.safe_text import visible
from memtui.ui.action import PANES, Action
from memtui.ui.draw.difference import DiffStyle
from memtui.ui.draw.pages import words_page
from memtui.ui.draw.text import Line, RowStyle, Run, partly_done
from memtui.ui.list_view import ListView
from memtui.ui.widgets.prompts import Question

if TYPE_CHECKING:
    from memtui.features.host import Host
    from memtui.ui.view_screen import ViewFilter

NEAR = 60
SOUGHT = 10_000
"""Steps among which the row of the last run is looked for."""
COUNT_REST = 0.15
COUNTED_RECORDS = 20
"""Largest step whose changed lines are counted."""


def _is_between(item: ActivityItem) -> bool:
    """Whether the step moved memories between folders; the other folder is opened for its undo."""
    ends = (one.root for record in item.step.records for one in (record.address, record.new_address) if one is not None)
    return bool(item.step.txn) and len(set(ends)) > 1


class StepUndo:
    """Undo of the step under the cursor."""

    def __init__(self, screen: ActivityView) -> None:
        self._screen = screen
        self._told: tuple[Hashable, Sequence[str]] = (None, ())
        """A row, and what went wrong when it was taken back."""

    def failure_lines(self, item: ActivityItem) -> Sequence[str]:
        """Return what went wrong when this row was taken back."""
        return self._told[1] if self._told[0] == item.key else ()

    def forget(self) -> None:
        """Forget what went wrong."""
        self._told = (None, ())

    def why_not(self, item: ActivityItem) -> str:
        """Return why a row cannot be taken back by itself."""
        if all(record.state != "done" for record in item.records):
            return "It did not happen, so there is nothing to take back."
        if item.records[0].operation == "redacted":
            return "A redaction cannot be taken back: the text is gone for good."
        if item.records[0].operation in MARKS:
            return "It only marks something and changes no memory: there is nothing to take back."
        return "" if _is_between(item) else self.closed_reason(item)

    def closed_reason(self, item: ActivityItem) -> str:
        """Return why the texts of a row cannot be read here."""
        folders = closed_folders(item.records)
        if not folders:
            return ""
        if folders[0] in self._screen.host.projects.unread:
            return "It belongs to another project, which was not read: A in the memories (1) reads it."
        return f"It is of {visible(folders[0])}, which is not open here: --root NAME=DIR opens it."

    def how(self, item: ActivityItem) -> str:
        """Say how a row is taken back."""
        operation = self._screen.rows.operation(item.step)
        if self.why_not(item) or (operation is not None and operation.undone):
            return ""
        if self._screen.rows.next_undo and self._screen.rows.next_undo == item.step.txn:
            return "u takes it back: it is the newest."
        what = "the whole operation" if item.record is not None and operation is not None else "this step alone"
        return f"d s takes {what} back, where memories still are as it left them."

    def question(self, key: str) -> Line | None:
        """Say what `d` would take back with the next key."""
        screen, item = self._screen, self._screen.item
        if item is None or screen.jobs.read_only or self.why_not(item):
            return None
        name = visible(view_rows.step_name(item, screen.rows.operation(item.step)))
        return [(" ", "dim"), (key, "key"), (f" takes back: {name}", "strong"), ("; any other key cancels", "dim")]

    def undo(self) -> None:
        """Take the row under the cursor back."""
        screen, item = self._screen, self._screen.item
        if item is None:
            return
        chosen, bridge, roots = item, screen.jobs, screen.host.projects.more_roots
        name = view_rows.step_name(chosen, screen.rows.operation(chosen.step))

        def done(result: Done) -> None:
            screen.host.operations.touched(result.addresses)
            failed = [outcome for outcome in result.outcomes if not outcome.ok]
            if failed:
                lines = view_rows.outcome_lines(result)
                self._told = (chosen.key, lines)
                count, why = len(result.outcomes), lines[3].removeprefix("- ")
                words = partly_done("took back", count - len(failed), count, str(failed[0].address), why)
                screen.host.say(words, "warning")
                screen.read_row()
            else:
                screen.host.say(f"Took back: {name}. {view_rows.restoring_key(result)}.", "good")
            screen.load()

        bridge.run(
            lambda engine: view_rows.take_back(engine, chosen, bridge.actor, roots),
            done,
            what=f"take back {name}",
            lane=WRITE,
        )


class ActivityView(ListView[ActivityItem]):
    """The view of everything that was done."""

    ID: ClassVar[str] = "activity"
    rows: Steps
    HELP = """Everything that was done, by anybody, newest first: who, what, where, lines that came and went, and how it
ended if it did not simply succeed. An operation on several memories is one row that opens with enter; on a single one
enter goes to the memory, or to its history when it is gone. w gives the difference the whole screen. u takes back the
newest operation, as everywhere; d s takes back the step under the cursor and nothing else, where its memories still are
as it left them. / looks for words, a shows one writer only."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, Steps())
        self.host, self.jobs = host, host.jobs
        self.only = PageFilter()
        self._loading = False
        self._to_end = False
        self._count_rest: Timer | None = None
        self.step_undo = StepUndo(self)
        self.does |= {
            "step_open": self._open,
            "step_diff": lambda: self._read_alone(alone=not self.has_class("-reading")),
            "undo_step": self.step_undo.undo,
            "only_actor": self._only_actor,
            "versions": lambda: self.host.places.history(where(self._single())),
            "blame": lambda: self.host.places.blame(where(self._single())),
            "by_session": lambda: self.host.places.lay_over("sessions"),
            "show_in_tree": lambda: self.host.places.tree(where(self._single())),
            "filter": self._filter,
            "left": lambda: self._fold(wide=False),
            "right": lambda: self._fold(wide=True),
        }

    def _asks_at_once(self, first: str) -> Line | None:
        after = [key for key, action in self.sequences.choices(first) if action.id == "undo_step"]
        return self.step_undo.question(after[0]) if after else None

    # What is known

    def entered(self, within: ViewFilter | None) -> None:
        """Start at the newest."""
        del within
        self.prompt.close()
        self.step_undo.forget()
        self.load()

    def _read_rows(self, *, awaited: bool) -> None:
        self._ask(None, awaited=awaited)

    def _ask(self, before: int | None, limit: int = PAGE, *, awaited: bool = False) -> None:
        """Load the page before this record; None: the newest."""
        only = self.only
        self._loading = True
        self.jobs.stream(
            lambda engine, stop, _: view_rows.load(engine, only, before, limit=limit, stop=stop),
            self._take,
            what="read the activity",
            group="activity",
            awaited=awaited,
        )

    def _take(self, loaded: ActivityPage) -> None:
        self._loading = False
        if loaded.only != self.only:
            return
        self.loaded, self.rows.next_undo = True, loaded.next_undo
        self.rows.operations |= {one.txn: one for one in loaded.operations}

        def change() -> None:
            if loaded.before is None:
                if self.rows.renew(loaded.records, loaded.reached):
                    return
            else:
                self.rows.extend(loaded.records)
            self.rows.reached, self.rows.complete = loaded.reached, loaded.complete

        self.list.change_rows(change)
        if self._to_end and self.rows.complete:
            self._to_end = False
            self.list.go(self.list.count() - 1)
        self._rows_changed()
        self._count_soon()
        self._more()

    def _more(self) -> None:
        """Load older records when the cursor is near the end."""
        if self._loading or not self.loaded:
            return
        if self.shell.row_left(self.ID) and (self.rows.complete or len(self.rows.steps) >= SOUGHT):
            self.shell.forget_row()
        if self.rows.complete:
            return
        far = self._to_end or bool(self.shell.row_left(self.ID))
        if far or self.list.cursor + NEAR >= self.list.count():
            self._ask(self.rows.reached, BATCH if far else PAGE)

    # The list

    def _row_name(self, index: int) -> str:
        """Return the step of a row: which steps were open is not stored."""
        return str(self.rows.shown[index].step.key) if index >= 0 else ""

    def _draw_row(self, item: ActivityItem, width: int) -> Sequence[Run]:
        return item_runs(item, self.rows, width, RowStyle(self.host.now(), self.ascii, self.shell.named))

    def _empty_lines(self) -> Sequence[Sequence[Run]]:
        if not self.loaded or self._loading:
            return [[("  reading...", "dim")]]
        if self.only != PageFilter():
            return [[("  Nothing that was done matches; ", "name"), ("esc", "key"), (" shows all", "name")]]
        return [[("  Nothing was done yet.", "strong")], [("  Every change, by anybody, appears here.", "name")]]

    def _list_words(self) -> tuple[str, Line]:
        notes: Line = [(f"{len(self.rows.steps):,}{'' if self.rows.complete else '+'}", "title")]
        if self._to_end:
            notes.append((" | reading to the end", "warning"))
        if self.only.who:
            notes.append((f" | {visible(self.only.who)} only", "agent"))
        if self.only.words:
            notes.append((f" | /{visible(' '.join(self.only.words))}", "agent"))
        return "Activity", notes

    def _row_moved(self) -> None:
        self.step_undo.forget()
        self._more()
        self._count_soon()

    def _count_soon(self) -> None:
        if self._count_rest is not None:
            self._count_rest.stop()
        self._count_rest = self.set_timer(COUNT_REST, self._count) if self.is_mounted else None

    def _count(self) -> None:
        rows = self.rows.shown[self.list.top : self.list.top + self.list.size.height]
        small = [row for row in rows if len(row.records) <= COUNTED_RECORDS]
        wanted = [
            one for row in small for one in row.records if one.seq not in self.rows.counts and one.state != "intent"
        ]
        if not wanted:
            return

        def counted(found: dict[int, tuple[int, int]]) -> None:
            self.rows.counts.update(found)
            self.list.repaint()

        self.jobs.run(
            lambda engine: view_rows.count(engine, wanted),
            counted,
            what="count changed lines",
            latest="activity-counts",
        )

    # The text

    def _read_text(self, item: ActivityItem) -> None:
        told = self.step_undo.failure_lines(item)
        if told:
            self.page.show(words_page(*told, style="warning", width=self.page.text_width))
            return
        look = DiffStyle(self.page.text_width, plain=self.ascii, named=self.shell.named)
        now, operation, how = self.host.now(), self.rows.operation(item.step), self.step_undo.how(item)
        away = self.step_undo.closed_reason(item)
        self.jobs.run(
            lambda engine: view_rows.show(engine, item, operation, how, now, look, away),
            lambda drawn: self._show_text(item, *drawn),
            what="read what was done",
            latest="activity-page",
        )

    def _page_words(self) -> tuple[str, Line]:
        return "What it did", self.page.places()

    # Keys

    def _off(self, action: Action) -> str:
        item = self.item
        if action.id in ("filter", "by_session", *PANES):
            return ""
        if item is None:
            return "There is no row here."
        if action.id in ("versions", "show_in_tree", "blame") and item.single is None:
            return f"{action.label}: put the cursor on one memory; enter opens this row."
        if action.id in ("versions", "show_in_tree", "blame") and (away := self.step_undo.closed_reason(item)):
            return away
        if action.id in ("next_hunk", "previous_hunk") and not self.page.starts:
            return "There is no other place."
        return self.step_undo.why_not(item) if action.id == "undo_step" else ""

    def perform(self, action: Action) -> None:
        """Run an action; the end of the list may have to be loaded first."""
        if action.id == "bottom" and not self._in_page and not self.rows.complete:
            self.show_hint(None)
            self._to_end = True
            self._more()
            self.update("#listed-title")
            return
        super().perform(action)

    def _step_back(self) -> bool:
        """Go from the text to the list, then drop the filter, then leave."""
        if super()._step_back():
            return True
        if self.only == PageFilter():
            return False
        self._set_filter(PageFilter())
        return True

    def _single(self) -> AuditRecord:
        item = self.item
        assert item is not None
        assert item.single is not None
        return item.single

    def _open(self) -> None:
        item = self.item
        if item is not None and item.single is None:
            self._fold(wide=not self.rows.is_open(item.step))
            return
        if item is not None and (away := self.step_undo.closed_reason(item)):
            self.say(away, "warning")
            return
        address = where(self._single())
        if self.host.has_row(address) and self.host.places.reveal(address):
            self.host.places.back()
        else:
            self.host.places.history(address)

    def _fold(self, *, wide: bool) -> None:
        item = self.item
        if item is None:
            return
        if len(item.step.records) > 1 and self.rows.is_open(item.step) != wide:
            while not wide and self.item is not None and self.item.record is not None:
                self.list.move(-1)
            step = item.step
            self.list.change_rows(lambda: self.rows.set_open(step, wide=wide))
            self._rows_changed()
            self._count_soon()
        elif wide != self._in_page:
            self._other_pane()

    # Which are shown

    def _set_filter(self, only: PageFilter) -> None:
        self.only = only
        self._to_end = False
        self.rows.clear()
        self.list.go(0)
        self.load()
        self._rows_changed()

    def _only_actor(self) -> None:
        item = self.item
        if self.only.who or item is None:
            self._set_filter(self.only._replace(who=""))
        else:
            who = writer(item.records[0])
            self.say(f"Only what was done {by(who)}; a shows everybody again.")
            self._set_filter(self.only._replace(who=who))

    def _filter(self) -> None:
        def typed(text: str) -> None:
            self._set_filter(self.only._replace(words=tuple(text.casefold().split())))

        def cancelled() -> None:
            self.prompt.close()
            self._set_filter(self.only._replace(words=()))

        start = " ".join(self.only.words)
        hint: Line = [("who, what, where, how it ended", "dim")]
        question = Question("/", start, lambda _: self.prompt.close(), cancelled, changed=typed, hint=lambda _: hint)
        self.prompt.ask(question._replace(over=True))
