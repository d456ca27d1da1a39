"""Find in the text beside the tree: the words, the places, and which of them is in view.

The text is read and drawn again with its places marked, as the preview always is, so that what is marked is what is on
disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.matching import Literal
from memtui.ui.draw.spans import Line
from memtui.ui.widgets.prompts import Question
from memtui.workbench.browse import reading

if TYPE_CHECKING:
    from memtui.workbench.browse.browser import BrowserScreen


class PageFinding:
    """Finds in the memory that is shown."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self.words = ""
        """What is looked for; empty when nothing is."""
        self._places: tuple[int, ...] = ()
        self._index = 0
        self._wrapped = ""

    @property
    def held(self) -> Literal | None:
        """What is to be marked in the text."""
        return Literal(self.words) if self.words else None

    def start(self) -> None:
        """Ask for the words."""
        screen = self._screen
        screen.ask(
            Question(
                "find",
                self.words,
                self._keep,
                cancelled=self.clear,
                changed=self._typed,
                hint=self._hint,
                step=self.step,
                over=True,
            )
        )

    def _typed(self, words: str) -> None:
        self.words, self._places, self._wrapped = words, (), ""
        self._screen.side.read()

    def _keep(self, words: str) -> None:
        self._screen.close_prompt()
        if not words:
            self.clear()
        elif self._places:
            self._screen.say(f"{self._count()}: {self._keys()}")

    def clear(self) -> None:
        """Look for nothing any more."""
        self.words, self._places = "", ()
        self._screen.close_prompt()
        self._screen.side.read()

    def forget(self) -> None:
        """Another memory is shown."""
        self.words, self._places = "", ()

    def shown(self, shown: reading.Shown) -> None:
        """Take the places of a text that was just drawn, and go to the first one in view or after it."""
        fresh = not self._places
        self._places = shown.places
        if not self._places:
            self._draw()
            return
        if fresh:
            page, top = self._screen.page_view.page, self._screen.page_view.top
            line = page[top].source or 0 if top < len(page) else 0
            self._index = next((index for index, place in enumerate(self._places) if place >= line), 0)
        self._index = min(self._index, len(self._places) - 1)
        self._go()

    def step(self, by: int) -> None:
        """Go to the next (1) or previous (-1) place, around the end if need be."""
        if not self._places:
            return
        index = self._index + by
        self._wrapped = "" if 0 <= index < len(self._places) else "from the top" if by > 0 else "from the end"
        self._index = index % len(self._places)
        self._go()
        if self._screen.prompt is None:
            self._screen.say(f"{self._count()}: {self._keys()}")

    def _go(self) -> None:
        view, line = self._screen.page_view, self._places[self._index]
        rows = [index for index, drawn in enumerate(view.page) if drawn.source == line]
        if rows and not view.top <= rows[0] <= rows[-1] < view.top + view.size.height:
            view.go_to_source(line)
        self._draw()

    def _draw(self) -> None:
        self._screen.chrome.update("footer")

    def _count(self) -> str:
        if not self._places:
            return "none" if self.words else ""
        count = f"{self._index + 1:,} of {len(self._places):,}"
        return f"{count}, {self._wrapped}" if self._wrapped else count

    def _hint(self, text: str) -> Line:
        del text
        return [(self._count(), "strong" if self._places else "warning"), ("  down next  up previous", "dim")]

    def _keys(self) -> str:
        keys = {action.id: action.keys[0] for action in self._screen.table}
        return f"{keys['page_next']} next, {keys['page_previous']} previous, {keys['filter']} other words"
