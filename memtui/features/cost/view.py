"""The start cost view: agents in use here, and the files each loads at a session start, in order.

While it is open, it checks every two seconds whether the agent on screen would load something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.timer import Timer
from textual.widget import Widget

from memtui.features.cost import view_rows
from memtui.features.cost.start_cost import Cost, short
from memtui.features.cost.view_rows import (
    AGENT,
    CUT,
    CostRow,
    Worked,
    agents_words,
    item_rows,
    row_runs,
    summary_lines,
)
from memtui.ui.action import Action, shown_keys
from memtui.ui.draw.pages import Page, words_page
from memtui.ui.draw.text import Line, Run, count_words
from memtui.ui.list_view import ListRows, ListView
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.scroller import RowList

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Address
    from memtui.errors import MemtuiError
    from memtui.features.host import Host

CHECK_INTERVAL = 2.0
"""Seconds between two checks."""
LINES_ABOVE_CUT = 3
GROUP, BESIDE, LOOKING = "cost", "cost-page", "cost-look"
"""Job groups: costs, the page of a row, and the checks."""
WHAT = "work out what agents load"
NOWHERE = "memtui cannot tell here where sessions start."


class CostView(ListView[CostRow]):
    """Start costs of agents."""

    ID = "cost"
    QUIET = 0.6
    DEFAULT_CSS = "CostView #cost-summary { height: 2; }"
    HELP = """What each agent loads when a session starts in this project: first the agents, then, with enter, one
agent's files in order of loading, with bytes, tokens and their share. -- marks a file not loaded at the start, and
says when or why not. A cut line shows where the agent's limits end: x marks the lines below it in the text, - those the
agent drops on purpose. Looking here does not count as a use. Imports from outside the project are not followed."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, ListRows(lambda row: row.key))
        self.host, self.jobs = host, host.jobs
        self.found: tuple[Cost, ...] | None = None
        self._seen: dict[str, int] = {}
        """Hashes of what each agent loads."""
        self.opened = host.shell.row_left(self.ID).partition("\n")[0]
        """The agent whose files are shown; empty: the list of agents."""
        self._agents_key = shown_keys(next(one for one in self.table if one.id == "cost_agent"))
        self._texts_of = ""
        """The agent whose texts are loaded, which follows `opened` after a moment."""
        self.failed = ""
        """Why the last attempt failed; empty otherwise."""
        self._looks: Timer | None = None
        self._looking = False
        """Whether a check, or the reload it caused, is running."""
        self.does |= {
            "cost_go": self._go,
            "cost_agent": self._next_agent,
            "cost_cut": self._cut,
            "left": self._close,
            "right": self._right,
            "edit": lambda: self._at_memory(host.places.edit),
            "versions": lambda: self._at_memory(host.places.history),
            "copy_path": self._copy_path,
            "copy_contents": self._copy,
        }

    # Parts

    def _body(self) -> Iterable[Widget]:
        yield Lines(self._summary, id="cost-summary")
        yield from super()._body()

    def _off(self, action: Action) -> str:
        row = self.item
        item = row.item if row is not None else None
        if action.id in ("edit", "versions") and (item is None or item.address is None):
            return f"{action.label}: put the cursor on a file that is a memory first."
        if action.id == "copy_path" and (item is None or item.loaded.made):
            return "Put the cursor on a file first."
        if action.id == "copy_contents" and (row is None or not view_rows.copied(self.rows.shown, row)):
            return "Nothing is loaded for this row."
        if action.id == "cost_cut" and not self.page.starts and (item is None or not item.below):
            loaded = item.loaded if item is not None else None
            if loaded is not None and not loaded.at_start:
                return f"It is not loaded at the start, so nothing of it is cut. {loaded.why}".strip()
            return "Nothing of this text is cut off."
        if action.id == "cost_agent" and not self.found:
            return "No agent is in use here."
        return ""

    # What is known

    @property
    def cost(self) -> Cost | None:
        """The agent that is open."""
        return next((one for one in self.found or () if one.agent == self.opened), None)

    # Coming, and news

    def on_mount(self) -> None:
        """Start the checks."""
        self._looks = self.set_interval(CHECK_INTERVAL, self._look, pause=not self.is_current)

    def on_screen_resume(self) -> None:
        """Resume the checks."""
        self._looking = False
        if self._looks is not None:
            self._looks.resume()

    def on_screen_suspend(self) -> None:
        """Pause the checks."""
        if self._looks is not None:
            self._looks.pause()

    def _look(self) -> None:
        row, around = self.item, self.host.surroundings
        if row is None or around is None or self.due is not None or self._looking:
            return
        self._looking = True
        agent, seen = row.cost.agent, self._seen.get(row.cost.agent, 0)

        def told(differs: bool) -> None:
            self._looking = differs
            if differs:
                self.load()

        def failed(error: MemtuiError) -> None:
            self._looking = False
            self.host.show_error("look for changes", error)

        def job(engine: Engine) -> bool:
            return view_rows.changed(engine, around, agent, seen)

        self.jobs.run(job, told, what="look for changes", otherwise=failed, latest=LOOKING)

    def _read_rows(self, *, awaited: bool) -> None:
        around, opened = self.host.surroundings, self.opened
        if around is None:
            self._loaded(Worked((), ()))
            return

        self.jobs.run(
            lambda engine: view_rows.load(engine, around, opened),
            self._loaded,
            what=WHAT,
            otherwise=self._could_not,
            lane=GROUP,
            latest=GROUP,
            awaited=awaited,
        )

    def _could_not(self, error: MemtuiError) -> None:
        self._looking = False
        self.failed = f"{error.message} {error.hint}".strip()
        self.host.show_error(WHAT, error)
        self.change(lambda: self._take(self.found or ()))

    def _loaded(self, worked: Worked) -> None:
        found, self._looking = worked.costs, False
        self._seen = dict(zip((one.agent for one in found), worked.seen, strict=True))
        if found == self.found and worked.texts_of == self._texts_of and not self.failed:
            return
        self.failed = ""
        self._texts_of = worked.texts_of
        self.change(lambda: self._take(found))

    def _take(self, found: tuple[Cost, ...]) -> None:
        self.found, self.loaded = found, True
        opened = self.cost
        self.opened = opened.agent if opened is not None else ""
        self.rows.load(item_rows(opened) if opened is not None else [CostRow(AGENT, cost) for cost in found])

    def _rows_changed(self) -> None:
        self.update("#cost-summary")
        super()._rows_changed()

    # Agents

    def _open(self, agent: str) -> None:
        """Show one agent's files or the agents; the cursor goes to the top, or to the agent that was left."""
        left, self.opened = self.opened, agent
        self._take(self.found or ())
        rows = enumerate(self.rows.shown)
        at = next((number for number, row in rows if row.kind == AGENT and row.cost.agent == left), 0)
        self.list.go(at)
        self._rows_changed()
        if agent:
            self.load()

    def _next_agent(self) -> None:
        names = [one.agent for one in self.found or ()]
        at = names.index(self.opened) + 1 if self.opened in names else 0
        self._open(names[at % len(names)])

    def _close(self) -> None:
        if self.opened and not self._in_page:
            self._open("")
        elif self._in_page:
            self._other_pane()

    def _right(self) -> None:
        if self.item is not None and self.item.kind == AGENT:
            self._open(self.item.cost.agent)
        elif not self._in_page:
            self._other_pane()

    def _step_back(self) -> bool:
        if super()._step_back():
            return True
        if not self.opened:
            return False
        self._open("")
        return True

    # The list

    def _row_name(self, index: int) -> str:
        return f"{self.opened}\n{super()._row_name(index)}"

    def _draw_row(self, item: CostRow, width: int) -> Sequence[Run]:
        around = self.host.surroundings
        assert around is not None
        most = max((one.tokens for one in self.found or ()), default=0)
        return row_runs(item, most, width, around, plain=self.ascii)

    def _empty_lines(self) -> Sequence[Sequence[Run]]:
        if self.found is None:
            return [[("  reading...", "dim")]]
        words = NOWHERE if self.host.surroundings is None else "No agent has been used here."
        words = self.failed or words
        return [[], [(f"  {words}", "warning")]]

    def _list_words(self) -> tuple[str, Line]:
        cost = self.cost
        if cost is None:
            return "Agents", [(agents_words(self.found), "title")] if self.found is not None else []
        notes: Line = [(f"{count_words(cost.files, 'file')}, {cost.tokens:,} tokens", "title")]
        if cost.below:
            notes.append((" | cut", "warning"))
        return cost.title, notes

    def _page_words(self) -> tuple[str, Line]:
        row = self.item
        if row is None:
            return "Text", []
        if row.item is None:
            return row.cost.title, [("at the start", "title")]
        mark, around = row.item.loaded.mark, self.host.surroundings
        path = row.item.loaded.path if around is None else short(row.item.loaded.path, around)
        return path, [(mark or "loaded", "warning" if mark else "title")]

    def _summary(self, width: int) -> list[Line]:
        if not self.found:
            return [[], []]
        return summary_lines(self.found, self.cost, width, self._agents_key, plain=self.ascii)

    def _read_text(self, item: CostRow) -> None:
        around, width, plain = self.host.surroundings, self.page.text_width, self.ascii
        assert around is not None
        if item.item is not None and item.cost.agent != self._texts_of:
            self.jobs.drop(BESIDE)
            words, style = (self.failed, "problem") if self.failed else ("reading...", "dim")
            self.page.show(words_page(words, style=style, width=width))
            return

        def show(found: tuple[Page, tuple[int, ...]]) -> None:
            page, cuts = found
            self._show_text(item, page, tuple(max(cut - LINES_ABOVE_CUT, 0) for cut in cuts))

        self.jobs.run(
            lambda engine: view_rows.page(engine, item, around, width, plain=plain),
            show,
            what="draw a text",
            otherwise=lambda error: self.page.show(words_page(error.message, style="problem", width=width)),
            latest=BESIDE,
        )

    # What the keys do

    @on(RowList.Opened)
    def _go(self) -> None:
        row = self.item
        if row is None:
            return
        if row.kind == AGENT:
            self._open(row.cost.agent)
        elif row.item is None or row.item.address is None or row.kind == CUT:
            self._other_pane()
        else:
            self.host.places.tree(row.item.address, "esc")

    def _cut(self) -> None:
        if self.page.starts:
            self.page.go_to_place(1)

    def _at_memory(self, do: Callable[[Address], None]) -> None:
        row = self.item
        if row is not None and row.item is not None and row.item.address is not None:
            do(row.item.address)

    def _copy_path(self) -> None:
        if self.item is not None and self.item.item is not None:
            self.host.copy(self.item.item.loaded.path, "the path")

    def _copy(self) -> None:
        if self.item is not None:
            self.host.copy(view_rows.copied(self.rows.shown, self.item), "what is loaded")
