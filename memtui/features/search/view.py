"""The search view: a line to type in, hits as they are found, and the text of the current hit.

Letters go to the line until `tab`, `esc` or an opened hit leaves it. Leaving the view restores the main screen, and the
words and the hit are kept for the next visit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, NamedTuple

from textual import events, on
from textual.containers import Container, Vertical
from textual.geometry import Offset
from textual.timer import Timer
from textual.widget import Widget

from memtui.engine import Engine
from memtui.engine.model import Hit, SearchQuery, SearchResult
from memtui.errors import MemtuiError
from memtui.features.host import Host
from memtui.features.search.view_rows import (
    HINTS,
    HitGroup,
    Item,
    More,
    Sources,
    count_line,
    items_of,
    label_of,
    name_room,
    nothing_lines,
    row_key,
    row_runs,
    state_line,
)
from memtui.matching import Query, typed
from memtui.ui.action import MOVES, Action, beside_text
from memtui.ui.draw import bars
from memtui.ui.draw.pages import SHOWN_BYTES, Page, by_line, text_page, words_page
from memtui.ui.draw.text import Line, RowStyle, Run, count_words
from memtui.ui.list_view import ListRows, ListView
from memtui.ui.view_screen import ViewFilter
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.prompts import Prompt, Question
from memtui.ui.widgets.scroller import RowList

DELAY = 0.08
"""Seconds after the last letter before the search starts."""
FORGET_AFTER = 60.0
"""Seconds away from this view after which cached texts are dropped."""
FIRST_HITS = 200
"""Hits shown at first."""
SEARCHING: list[Line] = [[], [("  Searching...", "dim")]]
NAVIGATION_KEYS = frozenset({"up", "down", "pageup", "pagedown", "enter", "escape", "tab", "shift+tab"})
"""Keys that a line of text does not take."""
GROUP, BESIDE = "search", "search-text"
"""Job groups: the search, and the text beside it."""


class SearchView(ListView[Item]):
    """The search view."""

    ID: ClassVar[str] = "search"
    QUIET: ClassVar[float] = 0.5
    HELP = """Search in everything. Every word must occur somewhere in a memory: in its name, its description or its
text. Words in "quotes" stand together; -word must be nowhere. Names come first, then descriptions, then texts."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, ListRows(row_key, lambda _: ""))
        self.host, self.jobs = host, host.jobs
        words = host.shell.row_left(self.ID).partition("\n")[0]
        self.line = Prompt(
            Question("search", words, lambda _: None, changed=lambda _: self._typed(), hint=lambda _: self._count())
        )
        self._selected = False
        """Whether the words are those of the last visit, which the next letter replaces."""
        self.list.passes = lambda index: isinstance(self.rows.shown[index], HitGroup)
        self.sources = Sources()
        self._in_line = True
        self._found: SearchResult | None = None
        self._query: Query | None = None
        """The query that found the rows."""
        self._names = (0, 0)
        """A width, and the cells that paths get in it."""
        self._searching = False
        self._fresh = True
        """Whether the next search lists the folders first."""
        self._limit = FIRST_HITS
        self._idle: Timer | None = None
        self._kept: tuple[object, ...] | None = None
        """Key of the hit the user moved to, which stays under the cursor when more is found."""
        self._beside: HitPage | None = None
        self.does |= {
            "search_open": self._open,
            "search_all": lambda: self._go_to(line=True),
            "search_type": lambda: self._go_to(line=True),
            "search_texts": lambda: self._toggle("bodies"),
            "search_versions": lambda: self._toggle("versions"),
            "search_projects": self._toggle_projects,
            "search_next": lambda: self._step(1),
            "search_previous": lambda: self._step(-1),
            "copy_line": lambda: self._copy("line"),
            "copy_path": lambda: self._copy("path"),
            "copy_contents": lambda: self._copy("text"),
            "next_pane": lambda: self._pane(1),
            "previous_pane": lambda: self._pane(-1),
        }

    def _body(self) -> Iterable[Widget]:
        yield Lines(self._line, id="search-line")
        yield Lines(lambda width: [state_line(self.sources, self._wanted, self._key, width)], id="search-state")
        right = Vertical(Lines(self._page_title, id="listed-page-title"), self.page, id="listed-right")
        yield Container(Vertical(self.list, id="listed-left"), right, id="listed-body")

    def _off(self, action: Action) -> str:
        if action.id == "search_open" and self.item is None:
            return "There is nothing to open."
        if action.id.startswith("copy_") and not isinstance(self.item, Hit):
            return "There is nothing to copy."
        if action.id == "search_projects" and self.host.projects.demo:
            return "The demo has only one project."
        return ""

    def _footer(self, width: int) -> list[Line]:
        if self._said or self.shell.progress or not self._in_line:
            return super()._footer(width)
        by_id = {action.id: beside_text(action) for action in self.actions}
        able = [by_id[id_]._replace(footer=rank) for rank, id_ in enumerate(("search_open", "next_pane"), 1)]
        return [bars.footer(able, width, end=[by_id["back"], by_id["help"]])]

    # Coming and going

    def _row_name(self, index: int) -> str:
        """Return the words, and the hit they found; never empty without rows."""
        if index < 0:
            return self.line.text or "\n"
        item = self.rows.shown[index]
        return f"{self.line.text}\n{row_key(item)}" if isinstance(item, Hit) else ""

    def entered(self, within: ViewFilter | None) -> None:
        """Begin in the line; not after a restart, when nobody has asked to type."""
        del within
        self._in_line = not self.shell.row_left(self.ID)

    def on_screen_resume(self) -> None:
        """Return to the line or to the hit that was opened."""
        if self._idle is not None:
            self._idle.stop()
        self._selected = bool(self.line.text)
        self._go_to(line=self._in_line)

    def on_screen_suspend(self) -> None:
        """Start the timer that drops cached texts."""
        self.app.cursor_position = Offset(0, 0)
        self._fresh = True
        self._idle = self.set_timer(FORGET_AFTER, self._forget)

    def _forget(self) -> None:
        if self.app.screen is not self:
            self.jobs.run(lambda engine: engine.search.forget(), what="forget what was searched", lane=GROUP)

    def _step_back(self) -> bool:
        """Go from the line or the text to the hits, where there are some."""
        if not self._in_page and not (self._in_line and self.rows.shown):
            return False
        self._go_to(line=False)
        return True

    def _go_to(self, *, line: bool) -> None:
        self._in_line = line
        if self.is_mounted:
            self.list.focus()
        self._draw_bars()

    # Typing

    def _take_text(self, key: str, character: str | None) -> bool:
        """Give a key to the line."""
        if not self._in_line or key in NAVIGATION_KEYS:
            return False
        letter = character is not None and character.isprintable()
        if letter:
            self._drop_selected()
        self._selected = False
        used = self.line.feed(key, character) or letter
        if used:
            self._draw_bars()
        return used

    def _drop_selected(self) -> None:
        if self._selected:
            self.line.text, self.line.cursor, self._selected = "", 0, False

    def _take_paste(self, text: str) -> bool:
        """Give a paste to the line."""
        if self._in_line:
            self._drop_selected()
            self.line.paste(text)
            self._draw_bars()
        return self._in_line

    @property
    def letters_are_text(self) -> bool:
        """Whether letters go into the line."""
        return self._in_line

    def not_yet(self, event: events.Key | events.Paste) -> bool:
        """Return whether a key must wait: enter is for the hits of all typed words."""
        waits = self._in_line and (self.due is not None or self._searching)
        return waits and isinstance(event, events.Key) and event.key == "enter"

    def _typed(self) -> None:
        """Search when no further letter follows."""
        self._limit, self._kept = FIRST_HITS, None
        self._draw_bars()
        if self.due is not None:
            self.due.stop()
        self.due = self.set_timer(DELAY, self._search)

    # Searching

    @property
    def _wanted(self) -> Query | None:
        """The parsed words; None when there is nothing to look for."""
        return typed(self.line.text)

    def _news(self) -> None:
        if self._wanted is not None and (self._searching or self._found is not None):
            super()._news()

    def _read_rows(self, *, awaited: bool) -> None:
        del awaited
        if not (self._searching and self._kept is not None):
            self._keep()
        self._search()

    def _search(self) -> None:
        if self.due is not None:
            self.due.stop()
            self.due = None
        query, sources = self._wanted, self.sources
        if query is None:
            self.jobs.drop(GROUP)
            self._searching, self._found, self._query, self._fresh = False, None, None, True
            self._show(())
            return
        wanted = SearchQuery(
            self.line.text,
            roots=None if sources.everywhere else frozenset(self.host.projects.own_roots),
            bodies=sources.bodies,
            versions=sources.versions,
            limit=self._limit,
            fresh=self._fresh,
        )

        def job(engine: Engine, stop: Callable[[], bool], tell: Callable[[SearchResult], None]) -> SearchResult:
            return engine.search.find(wanted, stop=stop, tell=tell)

        self._searching, self._fresh = True, False
        self.jobs.stream(
            job, lambda found: self._take(found, query), what="search", group=GROUP, otherwise=self._failed
        )
        self.update("#search-line")

    def _failed(self, error: MemtuiError) -> None:
        self._searching = False
        self._draw_bars()
        self.host.show_error("search", error)

    def _take(self, found: SearchResult, query: Query) -> None:
        self._searching = not found.complete
        if not found.complete and not found.hits and self._found is not None:
            return  # the answer to the letter before stays until there is a better one
        self._found, self._query = found, query
        roots = {**self.host.projects.own_roots, **self.host.roots}
        self._show(items_of(found, lambda id_: label_of(roots.get(id_), self.host.projects.scope_names)))

    def _show(self, items: tuple[Item, ...]) -> None:
        """Replace the rows; put the cursor on the kept hit, else on the best one."""
        self.loaded, self._names = True, (0, 0)
        if self.list.change_rows(lambda: self.rows.load(items)):
            self._keep()
        else:
            self.list.go(self._best)
            if self._kept is None:
                self.list.scroll_to_row(0)
        self._rows_changed()
        self._draw_bars()

    @property
    def _best(self) -> int:
        """The index of the kept hit, else of the first."""
        hits = [index for index, item in enumerate(self.rows.shown) if isinstance(item, Hit)]
        kept = self._kept
        return next((index for index in hits if row_key(self.rows.shown[index]) == kept), hits[0] if hits else 0)

    def _keep(self) -> None:
        self._kept = row_key(self.item) if isinstance(self.item, Hit) else None

    def _toggle(self, what: str) -> None:
        self.sources = self.sources._replace(**{what: not getattr(self.sources, what)})
        self._limit = FIRST_HITS
        self._draw_bars()
        self.load()

    def _toggle_projects(self) -> None:
        self.sources = self.sources._replace(everywhere=not self.sources.everywhere)
        self._draw_bars()
        if not self.sources.everywhere:
            self._search()
            return
        more = self.host.projects.more_roots
        self.say("Looking for every project.")

        def found(_: None) -> None:
            self.show_hint(None)
            self._fresh = True
            self._search()

        self.jobs.run(lambda engine: engine.roots.add(more()), found, what="find other projects")

    # Moving

    def perform(self, action: Action) -> None:
        """Perform an action; a move of the cursor keeps the hit it leads to."""
        super().perform(action)
        if action.id in MOVES and not self._in_page:
            self._keep()

    def _step(self, by: int) -> None:
        """Go to the next or previous place in the text beside the list."""
        lines = self._beside.lines if self._beside is not None else ()
        if not lines:
            return
        top = self.page.page[min(self.page.top + 2, len(self.page.page) - 1)].source or 0
        later = [line for line in lines if line > top] if by > 0 else [line for line in reversed(lines) if line < top]
        self.page.go_to_source(later[0] if later else lines[0 if by > 0 else -1])

    def _pane(self, step: int) -> None:
        places = ["line", "hits", "page"]
        here = "page" if self._in_page else "line" if self._in_line else "hits"
        there = places[(places.index(here) + step) % len(places)]
        self._in_line = there == "line"
        (self.page if there == "page" else self.list).focus()
        self._draw_bars()

    def on_descendant_focus(self) -> None:
        """Redraw; a click on the text leaves the line."""
        if self._in_page:
            self._in_line = False
        self._draw_bars()

    # Opening

    @on(RowList.Opened)
    def _open(self) -> None:
        item = self.item
        if isinstance(item, More):
            self._limit *= 10
            self.load()
        elif isinstance(item, Hit):
            self._go_to(line=False)  # who comes back, comes back to the hit
            if item.version is not None:
                self.host.places.history(item.memory.address, at=item.version.sha256)
            else:
                place = (item.line or 0, item.column or 1)
                self.host.places.open_found(item.memory.address, place, self.line.text)

    def _copy(self, what: str) -> None:
        """Copy the line, the path or the text of the hit; for a hit in a name or description, that itself."""
        hit = self.item
        assert isinstance(hit, Hit)
        address, version = hit.memory.address, hit.version

        def found(engine: Engine) -> str:
            if what == "path":
                return engine.roots.file_path(address)
            data = engine.read_bytes(address) if version is None else engine.history.read(address, version.sha256)
            text = data.decode("utf-8", "replace")
            return text if what == "text" else text.split("\n")[hit.line - 1] if hit.line else hit.snippet

        self.jobs.run(found, lambda text: self.host.copy(text, f"the {what}"), what=f"copy the {what} of {address}")

    # What is drawn

    def _draw_row(self, item: Item, width: int) -> Sequence[Run]:
        """Draw a row."""
        if self._names[0] != width:
            self._names = (width, name_room(self.rows.shown, width - 1))
        return row_runs(item, self._query, width, self._names[1], RowStyle(self.host.now(), self.ascii))

    def _empty_lines(self) -> Sequence[Line]:
        """Return what is shown without rows: what can be typed, or tried."""
        if self._found is None:
            return HINTS
        return nothing_lines(self.sources, self._key) if self._found.complete else SEARCHING

    def read_row(self) -> None:
        """Read the text of the current hit."""
        if isinstance(self.item, Hit):
            super().read_row()
            return
        self.jobs.drop(BESIDE)
        self._beside = self._shown = None
        self.page.show(())

    def _read_text(self, item: Item) -> None:
        query, width = self._query, self.page.text_width
        if isinstance(item, Hit) and query is not None:
            self.jobs.run(
                lambda engine: hit_page(engine, item, query, width, plain=self.ascii),
                self._show_beside,
                what=f"read {item.memory.address}",
                latest=BESIDE,
            )

    def _show_beside(self, found: HitPage) -> None:
        before, self._beside = self._beside, found
        self._show_text(found.hit, found.page)
        line = found.hit.line or (found.lines[0] if found.lines else None)
        if line is not None and (before is None or before.hit != found.hit):
            self.page.go_to_source(line)

    def on_resize(self) -> None:
        """Wrap the text again, and return to its place."""
        self._beside = None

    def _page_words(self) -> tuple[str, Line]:
        hit = self.item
        if not isinstance(hit, Hit):
            return "Text", []
        version = f" version {hit.version.sha256[:8]}" if hit.version is not None else ""
        notes: Line = [(count_words(hit.places, "place"), "title")] if hit.places else []
        return f"{hit.memory.address}{version}", notes

    def _draw_bars(self) -> None:
        self.update("#view-header", "#search-line", "#search-state", "#listed-page-title", "#view-footer")

    def _line(self, width: int) -> list[Line]:
        active = self._in_line and self.is_current
        if not active or self._selected:
            words: Line = [(" search ", "key" if active else "dim")]
            words += [(self.line.text, "caret" if active else "strong"), (" ", "dim")]
            return [bars.spread(words, self._count(), width)]
        line, column = self.line.line(width, plain=self.ascii)
        self.app.cursor_position = Offset(column, self.query_one("#search-line").region.y)
        return [line]

    def _count(self) -> Line:
        return count_line(self._found if self._wanted is not None else None, searching=self._searching)

    def _key(self, id_: str) -> str:
        action = next(action for action in self.table if action.id == id_)
        return "" if self.unavailable(action) else action.keys[0]


class HitPage(NamedTuple):
    """The text of a hit as a page."""

    hit: Hit
    page: Page
    lines: tuple[int, ...] = ()
    """Lines of the text, from 1, that match."""


def hit_page(engine: Engine, hit: Hit, query: Query, width: int, *, plain: bool = False) -> HitPage:
    """Read and draw the text of a hit."""
    address = hit.memory.address
    try:
        data = (
            engine.history.read(address, hit.version.sha256) if hit.version is not None else engine.read(address).bytes
        )
    except MemtuiError as error:
        return HitPage(hit, words_page(error.message, error.hint, style="problem", width=width))
    if len(data) > SHOWN_BYTES:
        return HitPage(hit, text_page(data, width, plain=plain))
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    places = by_line(text, query.spans(text))
    return HitPage(hit, text_page(data, width, plain=plain, places=places), tuple(sorted(places)))
