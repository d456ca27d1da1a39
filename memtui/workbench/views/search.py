"""The search over everything: one line to type in, what was found as it is typed, and each hit's text beside it.

Letters always go to the line until `tab` leaves it; the cursor in the list moves meanwhile. Leaving gives back the main
screen untouched, and the words are there the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Container, Vertical
from textual.geometry import Offset
from textual.widget import Widget

from memtui.engine.model import Found, Hit, Wanted
from memtui.errors import MemtuiError
from memtui.matching import Query
from memtui.ui.action import MOVES, Action, beside_text
from memtui.ui.draw import bars
from memtui.ui.draw.spans import Line
from memtui.ui.draw.times import Look
from memtui.ui.view_screen import ViewScreen
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.page_view import PageView
from memtui.ui.widgets.rowlist import RowList
from memtui.workbench.views import search_reading
from memtui.workbench.views.search_line import SearchLine
from memtui.workbench.views.search_rows import HitList, Item, More, items_of, label_of
from memtui.workbench.views.search_words import (
    Sources,
    count_line,
    empty_lines,
    nothing_lines,
    page_title,
    state_line,
)

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.workbench.bridge import Engine
    from memtui.workbench.views.host import WorkbenchHost
    from memtui.workbench.views.search_reading import Beside

REST = 0.08
"""Seconds after the last letter before it is looked for."""
NEWS_AFTER = 0.5
"""Seconds after the last change on disk before the search is done again."""
FORGET_AFTER = 60.0
"""Seconds without this view after which the texts that were read for it are given back."""
FIRST = 200
"""Hits that are shown at first."""
LOOKING: list[Line] = [[], [("  Searching...", "dim")]]
GROUP, BESIDE = "search", "search-text"
"""Groups of jobs: the search, and the text of the row under the cursor."""


class SearchScreen(ViewScreen):
    """The search."""

    ID = "search"
    HORIZONTAL_BREAKPOINTS = [(0, "-one"), (100, "-two")]  # noqa: RUF012 - Textual's own shape
    CSS_PATH = "search.tcss"
    HELP = """Search in everything. Every word must occur somewhere in a memory: in its name, its description or its
text. Words in "quotes" stand together; -word must be nowhere. Names come first, then descriptions, then texts."""

    def __init__(self, host: WorkbenchHost) -> None:
        super().__init__(host.shell)
        self.host, self.jobs = host, host.jobs
        words, _, self._row = host.shell.row_left(self.ID).partition("\n")
        self.line = SearchLine(self._typed, self._count, words)
        self.hits = HitList(lambda: Look(self.host.now(), self.ascii), self._row_moved)
        self.page = PageView(id="search-page")
        self.sources = Sources()
        self._in_line = True
        self._found: Found | None = None
        self._searching = False
        self._limit = FIRST
        self._due: Timer | None = None
        self._idle: Timer | None = None
        self._kept: Item | None = None
        """The row the user moved to, which stays under the cursor when more is found."""
        self._beside: Beside | None = None

    def body(self) -> Iterable[Widget]:
        """The line, what is looked in, the hits, and the text of one."""
        yield Lines(self._line, id="search-line")
        yield Lines(self._state, id="search-state")
        with_title = Vertical(Lines(self._page_title, id="search-page-title"), self.page, id="search-right")
        yield Container(Vertical(self.hits, id="search-left"), with_title, id="search-body")

    def does(self) -> Mapping[str, Callable[[], object]]:
        """What the keys do here."""
        moves = {move: lambda move=move: self._move(move) for move in MOVES}
        return {
            **moves,
            "search_open": self._open,
            "search_all": self.type_words,
            "search_type": self.type_words,
            "search_texts": lambda: self._toggle("bodies"),
            "search_versions": lambda: self._toggle("versions"),
            "search_projects": self._toggle_projects,
            "search_next": lambda: self._step(1),
            "search_previous": lambda: self._step(-1),
            "next_pane": lambda: self._pane(1),
            "previous_pane": lambda: self._pane(-1),
            "preview_down": lambda: self.page.scroll_rows(3),
            "preview_up": lambda: self.page.scroll_rows(-3),
        }

    def off(self, action: Action) -> str:
        """Say why an action is off."""
        if action.id == "search_open" and self.hits.current is None:
            return "There is nothing to open."
        if action.id == "search_projects" and self.host.screen.facts.demo:
            return "The demo has one project."
        return ""

    def _footer(self, width: int) -> list[Line]:
        """Leave out the keys that are letters while letters are text."""
        if self._said or self.shell.progress or not self._in_line:
            return super()._footer(width)
        by_id = {action.id: beside_text(action) for action in self.actions}
        able = [by_id[id_]._replace(footer=rank) for rank, id_ in enumerate(("search_open", "next_pane"), 1)]
        return [bars.footer(able, width, end=[by_id["back"], by_id["help"]])]

    @property
    def row_now(self) -> str:
        """The words and the hit under the cursor, or the one that is still looked for."""
        return self.shell.row_left(self.ID) or f"{self.line.text}\n{self.hits.name}".strip("\n")

    # Coming and going

    def on_mount(self) -> None:
        """Type at once."""
        self.hits.focus()
        self._say_empty()

    def on_screen_resume(self) -> None:
        """Begin in the line, with the words of the last time."""
        if self._idle is not None:
            self._idle.stop()
        self.line.selected = bool(self.line.text)
        self.type_words()
        if self.line.text and not self._searching:
            self._search(fresh=True, keep=True)

    def on_screen_suspend(self) -> None:
        """Keep the words; give back the memory after a while."""
        self.app.cursor_position = Offset(0, 0)
        self.line.remember()
        self._idle = self.host.screen.set_timer(FORGET_AFTER, self._forget)

    def _forget(self) -> None:
        if self.app.screen is not self:
            self.jobs.run(lambda engine: engine.search.forget(), what="forget what was searched", lane=GROUP)

    def type_words(self) -> None:
        """Put the cursor into the line."""
        self._in_line = True
        self.hits.focus()
        self._draw_bars()

    # Typing

    def take_text(self, key: str, character: str | None) -> bool:
        """Give a key to the line."""
        used = self._in_line and self.line.feed(key, character)
        if used:
            self._draw_bars()
        return used

    def take_paste(self, text: str) -> bool:
        """Give a paste to the line."""
        if self._in_line:
            self.line.paste(text)
            self._draw_bars()
        return self._in_line

    @property
    def letters_are_text(self) -> bool:
        """Whether letters go into the line."""
        return self._in_line

    def not_yet(self, event: events.Key | events.Paste) -> bool:
        """Whether a key has to wait: enter is for what is found with all the words."""
        waits = self._in_line and (self._due is not None or self._searching)
        return waits and isinstance(event, events.Key) and event.key == "enter"

    def _typed(self) -> None:
        """Look for it when no other letter follows."""
        self._limit, self._kept = FIRST, None
        self._draw_bars()
        self._later(REST, fresh=self._found is None)

    def _later(self, seconds: float, *, fresh: bool, keep: bool = False) -> None:
        if self._due is not None:
            self._due.stop()
        self._due = self.set_timer(seconds, lambda: self._search(fresh=fresh, keep=keep))

    # Searching

    def news(self) -> None:
        """Look again after something changed; what is under the cursor stays there."""
        if self._found is not None and self.line.query is not None and self.app.screen is self:
            self._later(NEWS_AFTER, fresh=False, keep=True)

    def _search(self, *, fresh: bool, keep: bool = False) -> None:
        self._due = None
        query, sources = self.line.query, self.sources
        if query is None:
            self.jobs.drop(GROUP)
            self._searching, self._found = False, None
            self._say_empty()
            return
        if keep and not (self._searching and self._kept is not None):
            self._kept = self.hits.current
        roots = None if sources.everywhere else frozenset(root.id for root in self.host.screen.facts.roots)
        wanted = Wanted(
            self.line.text,
            roots=roots,
            bodies=sources.bodies,
            versions=sources.versions,
            limit=self._limit,
            fresh=fresh,
        )

        def job(engine: Engine, stop: Callable[[], bool], tell: Callable[[Found], None]) -> Found:
            return engine.search.find(wanted, stop=stop, tell=tell)

        self._searching = True
        self.jobs.stream(
            job, lambda found: self._take(found, query), what="search", group=GROUP, otherwise=self._failed
        )
        self.update("#search-line")

    def _failed(self, error: MemtuiError) -> None:
        self._searching = False
        self._draw_bars()
        self.host.show_error("search", error)

    def _take(self, found: Found, query: Query) -> None:
        self._searching = not found.complete
        if not found.complete and not found.hits and self._found is not None:
            return  # the answer to the letter before stays until there is a better one
        self._found = found
        roots = {root.id: root for root in self.host.screen.facts.roots} | dict(self.host.roots)
        names = self.host.screen.forest.names
        if not found.hits:
            self.hits.note = nothing_lines(self.sources, self._key) if found.complete else LOOKING
        self.hits.show(items_of(found, lambda id_: label_of(roots.get(id_), names)), query, keep=self._kept)
        if self.shell.row_left(self.ID) and self.hits.go_to_name(self._row):
            self.shell.forget_row()
            self._kept = self.hits.current
        self._row_moved(by_user=False)
        self._draw_bars()

    def _toggle(self, what: str) -> None:
        self.sources = self.sources._replace(**{what: not getattr(self.sources, what)})
        self._limit = FIRST
        self._draw_bars()
        self._search(fresh=False, keep=True)

    def _toggle_projects(self) -> None:
        self.sources = self.sources._replace(everywhere=not self.sources.everywhere)
        self._draw_bars()
        if not self.sources.everywhere:
            self._search(fresh=False)
            return
        more = self.host.more_roots
        self.say("Looking for every project.")

        def found(_: None) -> None:
            self.show_hint(None)
            self._search(fresh=True)

        self.jobs.run(lambda engine: engine.roots.add(more()), found, what="find other projects")

    # Moving

    def _move(self, what: str) -> None:
        if self.focused is self.page:
            self.page.advance(what)
        elif not self._in_line or not self._recall(what):
            self.hits.advance(what)
            self._kept = self.hits.current

    def _recall(self, what: str) -> bool:
        """Bring earlier words back: up on the first hit, and down where there is no hit to go to."""
        if what == "up" and self.hits.at_first:
            return self.line.recall(1)
        return what == "down" and not self.hits.items and self.line.recall(-1)

    def _step(self, by: int) -> None:
        """Go to the next place in the text beside the list."""
        lines = self._beside.lines if self._beside is not None else ()
        if not lines:
            return
        top = self.page.page[min(self.page.top + 2, len(self.page.page) - 1)].source or 0
        later = [line for line in lines if line > top] if by > 0 else [line for line in reversed(lines) if line < top]
        self.page.go_to_source(later[0] if later else lines[0 if by > 0 else -1])

    def _pane(self, step: int) -> None:
        places = ["line", "hits", "page"]
        here = "page" if self.focused is self.page else "line" if self._in_line else "hits"
        there = places[(places.index(here) + step) % len(places)]
        self._in_line = there == "line"
        (self.page if there == "page" else self.hits).focus()
        self._draw_bars()

    def on_descendant_focus(self) -> None:
        """Show where the keys go; a click on the text leaves the line."""
        if self.focused is self.page:
            self._in_line = False
        self._draw_bars()

    # Opening

    @on(RowList.Opened)
    def _open(self) -> None:
        item = self.hits.current
        if isinstance(item, More):
            self._limit *= 10
            self._search(fresh=False, keep=True)
        elif isinstance(item, Hit):
            self.line.remember()
            if item.version is not None:
                self.host.places.history(item.memory.address, at=item.version.sha256)
            else:
                place = (item.line or 0, item.column or 1)
                self.host.screen.host.open_found(item.memory.address, place, self.line.text)

    # The text beside the list

    def _row_moved(self, *, by_user: bool = True) -> None:
        """Show the text of the row under the cursor."""
        del by_user
        item, query = self.hits.current, self.hits.query_shown
        self.update("#search-page-title")
        if not isinstance(item, Hit) or query is None:
            self.jobs.drop(BESIDE)
            self._beside = None
            self.page.show(())
            return
        width = max(self.page.room, 20)
        self.jobs.run(
            lambda engine: search_reading.beside(engine, item, query, width, plain=self.ascii),
            self._show_beside,
            what=f"read {item.memory.address}",
            latest=BESIDE,
        )

    def _show_beside(self, beside: Beside) -> None:
        before, self._beside = self._beside, beside
        same = before is not None and before.hit == beside.hit
        self.page.show(beside.page, keep_place=same)
        line = beside.hit.line or (beside.lines[0] if beside.lines else None)
        if line is not None and not same:
            self.page.go_to_source(line)
        self.update("#search-page-title")

    def on_resize(self) -> None:
        """Fold the text anew."""
        self._beside = None
        self.call_after_refresh(self._row_moved)

    # Words

    def _draw_bars(self) -> None:
        self.update("#search-line", "#search-state", "#search-page-title", "#view-footer")

    def _line(self, width: int) -> list[Line]:
        line, column = self.line.draw(width, active=self._in_line and self.is_current, plain=self.ascii)
        if column is not None:
            self.app.cursor_position = Offset(column, self.query_one("#search-line").region.y)
        return [line]

    def _count(self) -> Line:
        """How much was found, at the right end of the line."""
        return count_line(self._found if self.line.query is not None else None, searching=self._searching)

    def _state(self, width: int) -> list[Line]:
        return [state_line(self.sources, self.line.query, self._key, width)]

    def _key(self, id_: str) -> str:
        action = next(action for action in self.table if action.id == id_)
        return "" if self.unavailable(action) else action.keys[0]

    def _page_title(self, width: int) -> list[Line]:
        item = self.hits.current
        words, notes = page_title(item if isinstance(item, Hit) else None)
        words = self.shell.named(words)
        return [bars.title(words, notes, width, focused=self.focused is self.page, plain=self.ascii)]

    def _say_empty(self) -> None:
        """Say what can be typed."""
        self.hits.note = empty_lines(self.line.past)
        self.hits.show((), None, keep=None)
        self._row_moved()
        self._draw_bars()
