"""A read-only text drawn from the visible lines only, whatever their number.

Stock text widgets split, highlight or mount everything first, which takes seconds for a list of a thousand items.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from memtui.ui.draw.pages import Page, revealed
from memtui.ui.draw.spans import Line
from memtui.ui.draw.words import count_words
from memtui.ui.widgets.scroller import Scroller, Token


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
        self._top = max(0, min(self._top, len(page) - self.size.height)) if keep_place else 0
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

    def _set_exact(self, *, exact: bool) -> None:
        if exact != self.exact:
            self.exact = exact
            self._strips.clear()

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
