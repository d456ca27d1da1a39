"""The line that is searched with: what is typed in it, what was searched for before, and how it is drawn.

It is a text and a cursor, no widget, so that every key of it is tested without a screen.
"""

from __future__ import annotations

from collections.abc import Callable

from memtui.matching import Query, typed
from memtui.ui.draw import bars
from memtui.ui.draw.spans import Line
from memtui.ui.widgets.prompts import Prompt, Question

KEPT_QUERIES = 50
PASSED = frozenset({"up", "down", "pageup", "pagedown", "enter", "escape", "tab", "shift+tab"})
"""Keys that are not for a line of text."""


class SearchLine:
    """The words."""

    def __init__(self, changed: Callable[[], None], count: Callable[[], Line], words: str = "") -> None:
        """Begin.

        Args:
            changed: called after each change of the words.
            count: gives what is said at the right end.
            words: what is in it at first.
        """
        self._changed = changed
        self._count = count
        self._prompt = Prompt(
            Question("search", words, lambda _: None, changed=lambda _: changed(), hint=lambda _: count())
        )
        self.past: list[str] = []
        """What was searched for before, the newest last."""
        self.selected = False
        """The words are from the last visit: the next letter replaces them."""
        self._back = 0
        """How far back in the past the words are from."""

    @property
    def text(self) -> str:
        """The words as they are typed."""
        return self._prompt.text

    @property
    def query(self) -> Query | None:
        """What they mean; None when there is nothing to look for."""
        return typed(self.text)

    def write(self, words: str) -> None:
        """Have these words in the line, as if they were typed."""
        self._put(words)
        self._back = 0
        self._changed()

    def _put(self, words: str) -> None:
        self._prompt.text, self._prompt.cursor = words, len(words)
        self.selected = False

    def feed(self, key: str, character: str | None) -> bool:
        """Take a key; False when it means nothing in a line of text."""
        if key in PASSED:
            return False
        letter = character is not None and character.isprintable()
        if self.selected:
            self.selected = False
            if letter:
                self._put("")
        used = self._prompt.feed(key, character)
        if used:
            self._back = 0
        return used or letter

    def paste(self, text: str) -> None:
        """Take a paste."""
        if self.selected:
            self._put("")
        self._prompt.paste(text)

    # What was searched for before

    def remember(self) -> None:
        """Keep the words for later."""
        words = self.text.strip()
        if words:
            self.past = [*(one for one in self.past if one != words), words][-KEPT_QUERIES:]
        self._back = 0

    def recall(self, by: int) -> bool:
        """Bring back what was searched for before (1) or after (-1) it; False when there is nothing."""
        past = self.past[:-1] if self.past and self.past[-1] == self.text and not self._back else self.past
        back = self._back + by
        if not 0 < back <= len(past):
            return False
        self._put(past[-back])
        self._back = back + len(self.past) - len(past)
        self._changed()
        return True

    # Drawing

    def draw(self, width: int, *, active: bool, plain: bool) -> tuple[Line, int | None]:
        """Draw it: the line, and the cell the cursor is in, when there is one.

        Args:
            width: cells there are.
            active: whether letters go into it.
            plain: draw with ASCII only.
        """
        if active and not self.selected:
            return self._prompt.line(width, plain=plain)
        label = "key" if active else "dim"
        shown: Line = [(" search ", label), (self.text, "caret" if active else "strong"), (" ", "dim")]
        return bars.spread(shown, self._count(), width), None
