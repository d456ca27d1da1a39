"""Scrolling lines: only visible lines are made, only changed ones are sent, and a thumb shows the position.

Stock scrolling views lay out the whole screen again when their content grows or the focus moves, which repaints all of
it; over a slow link that is the difference between instant and annoying.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from memtui.ui.draw.spans import Run, differing
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

    def scroll_to_row(self, row: int) -> None:
        top = max(0, min(row, self.length() - self.size.height))
        if top != self._top:
            self._top = top
            self.repaint()

    def scroll_rows(self, rows: int) -> None:
        self.scroll_to_row(self._top + rows)

    def advance(self, what: str) -> None:
        """Scroll by an action of `STEPS` or `PAGES`."""
        self.scroll_rows(STEPS[what] if what in STEPS else round(PAGES[what] * self.size.height))

    # Drawing

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
        self._top = max(0, min(self._top, self.length() - self.size.height))
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
