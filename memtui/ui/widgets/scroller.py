"""Windows on many lines: lists and texts that draw only what is in view, and of that only what changed.

A stock widget is drawn again as a whole when one line changes or the focus moves, and a text widget splits, highlights
or mounts everything first: over a slow link, or with thousands of lines, that is the difference between instant and
annoying.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from memtui.ui.draw.pages import Page, revealed
from memtui.ui.draw.text import Line, Run, count_words, differing
from memtui.ui.widgets.lines import is_plain, paint_of

KEPT_STRIPS = 1_024

_ALL = 10**9
STEPS = {"down": 1, "up": -1, "top": -_ALL, "bottom": _ALL}
"""Lines moved by an action; the ends are further away than any text is long."""
PAGES = {"half_down": 0.5, "half_up": -0.5, "page_down": 1.0, "page_up": -1.0}
"""Pages moved by an action."""

WHEEL = 3

Token = tuple[tuple[Run, ...], str]
"""What a line looks like: its runs, and its ground."""


def thumb(y: int, top: int, length: int, height: int, *, plain: bool) -> Run:
    """Return the last cell of row `y`: the thumb if this part of all `length` lines is in view."""
    if length <= height:
        return " ", "dim"
    size = max(1, height * height // length)
    start = round((height - size) * top / (length - height))
    if not start <= y < start + size:
        return " ", "dim"
    return ("|" if plain else "▐"), "rule"


class Scroller(Widget, can_focus=True):
    """A window on lines."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Scroller { width: 1fr; height: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._top = 0
        self._drawn: dict[int, Token] = {}
        self._strips: dict[tuple[Token, int], Strip] = {}
        self.exact = False

    @property
    def size(self) -> Size:
        """The outer size; without border and padding it need not be looked up in the layout, which is slow."""
        return self.outer_size

    # For subclasses

    def length(self) -> int:
        """Return the number of lines."""
        raise NotImplementedError

    def token(self, index: int) -> Token:
        """Return what a line looks like; may be called for lines past the last."""
        raise NotImplementedError

    # Scrolling

    @property
    def room(self) -> int:
        return max(self.size.width - 1, 1)

    @property
    def top(self) -> int:
        return self._top

    def _within(self, row: int) -> int:
        height = self.size.height if self.is_on_screen else 0  # off the screen it keeps its last size
        return max(0, min(row, self.length() - height))

    def scroll_to_row(self, row: int) -> None:
        top = self._within(row)
        if top != self._top:
            self._top = top
            self.repaint()

    def scroll_rows(self, rows: int) -> None:
        self.scroll_to_row(self._top + rows)

    def advance(self, what: str) -> None:
        """Scroll by an action of `STEPS` or `PAGES`."""
        self.scroll_rows(STEPS[what] if what in STEPS else round(PAGES[what] * self.size.height))

    # Drawing

    def _set_exact(self, *, exact: bool) -> None:
        """Draw secrets as they are, or masked."""
        if exact != self.exact:
            self.exact = exact
            self._strips.clear()
            self._drawn.clear()

    def _thumb(self, y: int) -> Run:
        return thumb(y, self._top, self.length(), self.size.height, plain=is_plain(self))

    def _line(self, y: int) -> Token:
        runs, ground = self.token(y + self._top)
        return (*runs, self._thumb(y)), ground

    def render_line(self, y: int) -> Strip:
        token = self._drawn[y] = self._line(y)
        room = self.room
        strip = self._strips.get((token, room))
        if strip is None:
            if len(self._strips) > KEPT_STRIPS:
                self._strips.clear()
            paint = paint_of(self)
            *runs, thumb = token[0]
            if thumb[0] == " ":
                strip = paint.strip(runs, room + 1, token[1], secrets=self.exact)
            else:
                drawn = paint.strip(runs, room, token[1], secrets=self.exact)
                strip = Strip.join([drawn, paint.strip([thumb], 1)])
            self._strips[token, room] = strip
        return strip

    def repaint(self, lines: Sequence[int] | None = None) -> None:
        """Draw again the visible lines (or these of them) that would look different."""
        if not self.is_mounted:
            return
        width = self.size.width
        for y in range(self.size.height) if lines is None else lines:
            if not 0 <= y < self.size.height:
                continue
            old, new = self._drawn.get(y), self._line(y)
            if old == new:
                continue
            alike = old is not None and old[1] == new[1] and old[1] == ""
            for start, end in self._spans(old, new) if alike and old is not None else [(0, width)]:
                self.refresh(Region(start, y, end - start, 1))

    def _spans(self, old: Token, new: Token) -> list[tuple[int, int]]:
        """Return the cells of a line that differ; the thumb is in the last one."""
        (*before, thumb), (*after, other), room = old[0], new[0], self.room
        same = thumb == other
        spans = list(differing(tuple(before), tuple(after), room + (same and thumb[0] == " ")))
        return spans if same else [*spans, (room, room + 1)]

    def forget_drawn(self) -> None:
        self._strips.clear()
        self._drawn.clear()
        self.refresh()

    # Events

    def on_resize(self) -> None:
        self._top = self._within(self._top)
        self.repaint()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-WHEEL)

    # Focus changes one title and one row, so the widget is not drawn again as a whole

    def focus(self, scroll_visible: bool = True) -> Scroller:
        self.screen.set_focus(self, scroll_visible=scroll_visible)
        return self

    def watch_has_focus(self, _has_focus: bool) -> None: ...

    def on_focus(self, event: events.Focus) -> None:
        event.prevent_default()
        self._note_focus(focused=True)

    def on_blur(self, event: events.Blur) -> None:
        event.prevent_default()
        self._note_focus(focused=False)

    def _note_focus(self, *, focused: bool) -> None:
        self.has_focus = focused
        self.repaint()
        if self.parent is not None:
            self.parent.post_message(events.DescendantFocus(self) if focused else events.DescendantBlur(self))


def redraw(screen: Widget) -> None:
    """Draw everything on a screen again, in other colours."""
    for widget in screen.query(Widget):
        if isinstance(widget, Scroller):
            widget.forget_drawn()
        else:
            widget.refresh()


AHEAD = 0.6
"""Share of the view that a step over its edge scrolls: one large repaint now and then instead of one per key."""


class RowList(Scroller):
    """Rows with a cursor."""

    class Opened(Message):
        """A row was double-clicked."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._cursor = 0

    # For subclasses

    def count(self) -> int:
        """Return the number of rows."""
        raise NotImplementedError

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        """Return the runs of a row; may be called for rows past the last."""
        raise NotImplementedError

    def moved(self, *, by_user: bool) -> None:
        """Called when the cursor is on another row."""

    def length(self) -> int:
        return self.count()

    def token(self, index: int) -> Token:
        here = index == self._cursor and index < self.count()
        return tuple(self.runs(index, cursor=here)), ("cursor" if self.has_focus else "rest") if here else ""

    # Moving

    @property
    def cursor(self) -> int:
        return self._cursor

    def move(self, by: int) -> None:
        self.go(self._cursor + by)

    def page(self, pages: float) -> None:
        """Move the cursor and the view by pages."""
        rows = max(1, round(abs(pages) * (self.size.height - 1))) * (1 if pages > 0 else -1)
        self.scroll_rows(rows)
        self.go(self._cursor + rows)

    def advance(self, what: str) -> None:
        """Move the cursor by an action of `STEPS` or `PAGES`."""
        if what in PAGES:
            self.page(PAGES[what])
        else:
            self.move(STEPS[what])

    def go(self, index: int) -> None:
        index = max(0, min(index, self.count() - 1))
        if index == self._cursor:
            return
        old, self._cursor = self._cursor, index
        self.keep_in_view(ahead=AHEAD if abs(index - old) == 1 else 0)
        self.repaint([old - self.top, index - self.top])
        self.moved(by_user=True)

    def keep_in_view(self, *, ahead: float = 0) -> None:
        """Scroll until the cursor is visible, and `ahead` (a share of the view) further."""
        height = self.size.height
        more = int(height * ahead)
        if self._cursor < self.top:
            self.scroll_to_row(self._cursor - more)
        elif height and self._cursor >= self.top + height:
            self.scroll_to_row(self._cursor - height + 1 + more)

    # Events

    def on_resize(self) -> None:
        self.keep_in_view()

    def on_click(self, event: events.Click) -> None:
        """Go to a row; open it on a double click."""
        index = event.y + self.top
        if index >= self.count():
            return
        if index != self._cursor:
            self.go(index)
        elif event.chain == 2:
            self.post_message(self.Opened())


def turned(*, any_masked: bool, bare: bool, in_browser: bool) -> tuple[str, bool]:
    """Return what the key for masks does now, in words, and whether secrets are shown then."""
    if in_browser:
        return "A browser shows no secrets: reveal them in a terminal.", False
    if not any_masked:
        return "Nothing is masked here.", False
    return ("Masked again.", False) if bare else ("Shown as it is until the cursor leaves; V masks it.", True)


class PageView(Scroller):
    """A scrolling page."""

    HELP = """The memory's text, read-only, with line numbers. An `A` beside a line: somebody else changed it since you
last looked. Enter opens the editor."""

    class Resized(Message):
        """The width to fold to has changed, or the page is visible again."""

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 - Textual's own name
        shown: Callable[[], object] = tuple,
    ) -> None:
        """`shown` is called after another page is shown."""
        super().__init__(id=id)
        self._page: Page = ()
        self._masked: tuple[Page, tuple[int, ...]] = (), ()
        self.starts: tuple[int, ...] = ()
        self._shown = shown

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    @property
    def page(self) -> Page:
        return self._page

    @property
    def text(self) -> str:
        """The text shown, for tests."""
        return "\n".join("".join(text for text, _ in line.runs) for line in self._page)

    def length(self) -> int:
        return len(self._page)

    def token(self, index: int) -> Token:
        return (self._page[index].runs if index < len(self._page) else ()), ""

    @property
    def text_width(self) -> int:
        return max(self.room, 20)

    def show(self, page: Page, starts: tuple[int, ...] = (), *, keep_place: bool = False) -> None:
        """Show another page, from its start unless `keep_place`; `starts` are the lines of its places.

        Secrets stay revealed only with `keep_place`, which means that it is the same text.
        """
        self._masked = page, starts
        self._page, self.starts = revealed(page, starts) if self.exact and keep_place else (page, starts)
        if not keep_place:
            self._set_exact(exact=False)
        self._top = self._within(self._top) if keep_place else 0
        self.repaint()
        self._shown()

    def turn_masks(self) -> str:
        """Reveal or mask secrets; return a sentence for the user."""
        any_masked = any(line.bare is not None for line in self._masked[0])
        said, bare = turned(any_masked=any_masked, bare=self.exact, in_browser=self.app.is_web)
        self.reveal(bare=bare)
        return said

    def reveal(self, *, bare: bool) -> None:
        if bare != self.exact:
            self._set_exact(exact=bare)
            self._page, self.starts = revealed(*self._masked) if bare else self._masked
            self.repaint()

    def places(self) -> Line:
        return [(count_words(len(self.starts), "place"), "title")] if self.starts else []

    def go_to_place(self, step: int) -> None:
        """Scroll to the next (1) or previous (-1) place."""
        after = [start for start in self.starts if (start - self.top) * step > 0]
        self.scroll_to_row((after or self.starts[::-1])[0] if step > 0 else (after[::-1] or self.starts)[0])

    def jump_paragraph(self, step: int) -> None:
        """Scroll to the next (1) or previous (-1) blank line."""
        row = self.top + step
        while 0 <= row < len(self._page) and not self._is_blank(row):
            row += step
        self.scroll_to_row(row)

    def _is_blank(self, row: int) -> bool:
        return not any(text.strip() for text, style in self._page[row].runs if style != "number")

    def go_to_source(self, line: int) -> None:
        """Scroll to a line of the text, with a little context above."""
        for index, drawn in enumerate(self._page):
            if drawn.source == line:
                self.scroll_to_row(index - 2)
                return


class LinesView(Scroller):
    """Lines of runs, which callers fold; it scrolls by its own keys where it has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"advance('{key}')") for key in ("up", "down")),
        *(Binding(key, f"advance('page_{key[4:]}')") for key in ("pageup", "pagedown")),
        *(Binding(key, f"advance('{move}')") for key, move in (("home", "top"), ("end", "bottom"))),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._lines: Sequence[Sequence[Run]] = ()

    @property
    def text(self) -> str:
        """Every line, for tests."""
        return "\n".join("".join(text for text, _ in line) for line in self._lines)

    def length(self) -> int:
        return len(self._lines)

    def token(self, index: int) -> Token:
        return (tuple(self._lines[index]) if index < len(self._lines) else ()), ""

    def show(self, lines: Sequence[Sequence[Run]], *, top: int | None = None, bare: bool = False) -> None:
        """Show other lines, scrolled to `top` (None: unchanged); `bare` draws secrets as they are."""
        self._lines = lines
        self._set_exact(exact=bare)
        self._top = self._within(self._top if top is None else top)
        self.repaint()

    def action_advance(self, move: str) -> None:
        if self.length() <= self.size.height:
            raise SkipAction
        self.advance(move)
