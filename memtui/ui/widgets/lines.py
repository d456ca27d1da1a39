"""A few lines of text that change in place: header, titles, footer, details, activity.

Only the lines that differ are drawn again, and of those only the cells that can differ; a stock widget repaints itself
whole, which costs a slow link more than everything else together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from memtui.ui.draw.paint import Paint
from memtui.ui.draw.spans import Run

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
