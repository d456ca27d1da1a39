"""The text beside the tree: read-only lines drawn from the visible window only, whatever their number.

Stock text widgets split, highlight or mount everything first, which a list of a thousand items turns into seconds.
"""

from __future__ import annotations

from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from memtui.tui.lines import Painted
from memtui.tui.pages import Page


class PageView(ScrollView, Painted, can_focus=True):
    """A page of lines."""

    DEFAULT_CSS = """
    PageView { width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        scrollbar-gutter: stable; }
    """

    HELP = """The memory's text, read-only, with line numbers. An `A` beside a line: somebody else changed it since you
last looked. Enter opens the editor."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._page: Page = ()

    @property
    def room(self) -> int:
        """Cells of a line, without the scrollbar."""
        return self.scrollable_content_region.width

    @property
    def page(self) -> Page:
        """What is shown."""
        return self._page

    @property
    def text(self) -> str:
        """What is shown as text, for copying and tests."""
        return "\n".join("".join(text for text, _ in line.runs) for line in self._page)

    def show(self, page: Page, *, keep_place: bool = False) -> None:
        """Show another page, from its start unless the place is to be kept."""
        old, top = self._page, self.scroll_offset.y
        self._page = page
        self.virtual_size = Size(self.room, max(len(page), 1))
        if not keep_place:
            self.scroll_to(y=0, animate=False, force=True)
        if self.scroll_offset.y != top:
            return
        for y in range(self.size.height):
            index = y + top
            before = old[index].runs if index < len(old) else ()
            after = page[index].runs if index < len(page) else ()
            if before != after:
                cells = max(sum(2 * len(text) for text, _ in runs) for runs in (before, after))
                self.refresh(Region(0, y, min(cells, self.room), 1))

    def go_to_source(self, line: int) -> None:
        """Scroll to a line of the text, with a little above it."""
        for index, drawn in enumerate(self._page):
            if drawn.source == line:
                self.scroll_to(y=max(index - 2, 0), animate=False, force=True)
                return

    def scroll_by(self, rows: int) -> None:
        """Scroll by so many lines."""
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, force=True)

    def forget_drawn(self) -> None:
        """Draw everything anew in other colours."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        index = y + self.scroll_offset.y
        runs = self._page[index].runs if index < len(self._page) else ()
        return self.paint.strip(runs, self.room)
