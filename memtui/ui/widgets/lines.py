"""A few lines of text that change in place: header, titles, tabs, footer, details, activity.

Only the lines that differ are drawn again, and of those only the cells that can differ; a stock widget repaints itself
whole, which costs a slow link more than everything else together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from memtui.safe_text import cell_width
from memtui.ui.action import View
from memtui.ui.draw.paint import Paint
from memtui.ui.draw.text import Run

Make = Callable[[int], Sequence[Sequence[Run]]]


def paint_of(widget: Widget) -> Paint:
    paint: Paint = widget.app.paint  # type: ignore[attr-defined]
    return paint


def is_plain(widget: Widget) -> bool:
    """Whether only ASCII is drawn."""
    plain: bool = widget.app.plain  # type: ignore[attr-defined]
    return plain


class Lines(Widget):
    """Lines of runs, from the top, made for the available width."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Lines { height: 1; width: 1fr; }"

    def __init__(self, make: Make | None = None, *, id: str | None = None, ground: str = "") -> None:  # noqa: A002
        super().__init__(id=id)
        self.ground = ground
        self._make: Make = make or _nothing
        self._width = -1
        self._lines: tuple[tuple[Run, ...], ...] = ()

    @property
    def size(self) -> Size:
        """The outer size; without border and padding it need not be looked up in the layout, which is slow."""
        return self.outer_size

    def set_lines(self, *lines: Sequence[Run]) -> None:
        self._make = lambda _: lines
        self.update()

    def update(self) -> None:
        """Make the lines again, and draw those that differ."""
        if self._width < 0:
            return
        old, new = self._lines, self._made(self._width)
        for y in range(max(len(new), len(old))):
            if y >= len(new) or y >= len(old) or new[y] != old[y]:
                self.refresh(Region(0, y, self.size.width, 1))

    def _made(self, width: int) -> tuple[tuple[Run, ...], ...]:
        self._width = width
        self._lines = tuple(tuple(line) for line in self._make(width))
        return self._lines

    @property
    def text(self) -> str:
        """The text shown, for tests."""
        return "\n".join("".join(text for text, _ in line) for line in self._lines)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = self._lines if width == self._width else self._made(width)
        return paint_of(self).strip(lines[y] if y < len(lines) else (), width, self.ground)


def _nothing(width: int) -> Sequence[Sequence[Run]]:
    del width
    return ()


Counts = Mapping[str, int]


SHORTEST = 2
"""Letters kept of a name where not even the short names fit."""
RESERVE = 8
"""Cells kept for counts, so that no tab moves or is renamed when a task begins: `(16)(37)`."""


def tab_runs(
    views: Sequence[View], current: str, counts: Counts, width: int
) -> tuple[list[Run], list[tuple[int, int, str]]]:
    """Draw the line of tabs; also return for each its first cell, the cell after its last, and its view id."""
    counted = sum(len(f"({counts[view.id]:,})") for view in views if counts.get(view.id))
    room = width - max(RESERVE - counted, 0)
    tried = [_tabs(views, current, counts, width, closeness) for closeness in range(4)]
    return next((found for found in tried if len(found[1]) == len(views) and found[1][-1][1] <= room), tried[-1])


def _tabs(
    views: Sequence[View], current: str, counts: Counts, width: int, closeness: int
) -> tuple[list[Run], list[tuple[int, int, str]]]:
    runs: list[Run] = []
    places: list[tuple[int, int, str]] = []
    at = 0
    for view in views:
        here = view.id == current
        waiting = f"({counts[view.id]:,})" if counts.get(view.id) else ""
        word = view.short or view.name.partition(" ")[0]
        text = f"{(view.name, view.name, word, word[:SHORTEST])[closeness]}{waiting}"
        lead, tail = ("[", "]") if here else (" ", "" if closeness else " ")
        size = cell_width(lead + view.key + " " + text + tail)
        if at + size > width:
            break
        style = "strong" if here else "agent" if waiting else "description"
        runs += [(lead, style), (f"{view.key} ", "strong" if here else "key"), (text, style), (tail, style)]
        places.append((at, at + size, view.id))
        at += size
    return runs, places


class Tabs(Lines):
    """The tabs, which can be clicked."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, view: str) -> None:
            super().__init__()
            self.view = view

    def __init__(self, views: Sequence[View], current: str, counts: Callable[[], Counts]) -> None:
        super().__init__(self._line, id="tabs")
        self._views = views
        self._current = current
        self._counts = counts
        self._places: list[tuple[int, int, str]] = []

    def _line(self, width: int) -> list[list[Run]]:
        runs, self._places = tab_runs(self._views, self._current, self._counts(), width)
        return [runs]

    def on_click(self, event: events.Click) -> None:
        for start, end, view in self._places:
            if start <= event.x < end:
                self.post_message(self.Chosen(view))
