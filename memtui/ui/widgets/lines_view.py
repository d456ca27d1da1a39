"""A scrolling view of prepared lines: only the rows on screen are drawn.

Diffs and merged texts can have thousands of lines; a widget per line, or one big renderable, would make every key slow.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from memtui.ui.draw.spans import Run
from memtui.ui.widgets.lines import is_plain, paint_of
from memtui.ui.widgets.scroller import thumb


class LinesView(ScrollView, can_focus=True):
    """Shows lines of runs; callers fold long ones."""

    DEFAULT_CSS = """
    LinesView { height: 1fr; width: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 0; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._lines: Sequence[Sequence[Run]] = ()
        self._bare = False

    @property
    def text(self) -> str:
        """Every line, for tests."""
        return "\n".join("".join(text for text, _ in line) for line in self._lines)

    def show(self, lines: Sequence[Sequence[Run]], *, top: int | None = None, bare: bool = False) -> None:
        """Show other lines, scrolled to `top` (None: unchanged); `bare` draws secrets as they are."""
        self._lines, self._bare = lines, bare
        self.virtual_size = Size(0, len(lines))
        if top is not None:
            self.scroll_to(y=max(top, 0), animate=False, force=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        top, (width, height) = self.scroll_offset.y, self.size
        row = y + top
        runs = self._lines[row] if row < len(self._lines) else ()
        paint = paint_of(self)
        if len(self._lines) <= height:
            return paint.strip(runs, width, secrets=self._bare)
        mark = thumb(y, top, len(self._lines), height, plain=is_plain(self))
        return Strip.join([paint.strip(runs, width - 1, secrets=self._bare), paint.strip([mark], 1)])
