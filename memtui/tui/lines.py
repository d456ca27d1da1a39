"""A few lines of text that change in place: header, titles, footer, details, activity.

Only the lines that differ are drawn again, and of those only the cells that can differ; a stock widget repaints itself
whole, and rebuilding one costs a slow link more than everything else together.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from memtui.tui.cells import Run
from memtui.tui.paint import Paint

Line = Sequence[Run]


class Painted(Widget):
    """A widget that draws runs with the app's paint."""

    ALLOW_SELECT = False

    @property
    def paint(self) -> Paint:
        """The styles of the current theme."""
        paint: Paint = self.app.paint  # type: ignore[attr-defined]
        return paint


class Lines(Painted):
    """Lines of runs, from the top."""

    DEFAULT_CSS = "Lines { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None, ground: str = "") -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.ground = ground
        self._lines: tuple[tuple[Run, ...], ...] = ()

    def set_lines(self, *lines: Line) -> None:
        """Show these lines instead of those."""
        new = tuple(tuple(line) for line in lines)
        old, self._lines = self._lines, new
        if new == old or not self.is_mounted:
            return
        for y in range(max(len(new), len(old))):
            if y >= len(new) or y >= len(old) or new[y] != old[y]:
                self.refresh(Region(0, y, self.size.width, 1))

    @property
    def text(self) -> str:
        """What is shown, for tests."""
        return "\n".join("".join(text for text, _ in line) for line in self._lines)

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        runs = self._lines[y] if y < len(self._lines) else ()
        return self.paint.strip(runs, self.size.width, self.ground)
