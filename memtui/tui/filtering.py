"""The line of typed text at the bottom of the main screen, and the filter that is typed there.

Escape gives back exactly the place the user came from; that place is remembered here and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.tui.nodes import Key
from memtui.tui.rows import Effect

if TYPE_CHECKING:
    from memtui.tui.browser import BrowserScreen
    from memtui.tui.prompts import PromptBar, Question

REBUILT = Effect(rebuilt=True, touched=frozenset())


class Filtering:
    """Mounts the line when it is first needed."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self._bar: PromptBar | None = None
        self._place: tuple[Key, float] | None = None

    # The line

    def ask(self, question: Question) -> None:
        """Show a question."""
        self._screen.call_next(self._ask, question)

    async def _ask(self, question: Question) -> None:
        from memtui.tui.prompts import PromptBar

        if self._bar is None:
            self._bar = PromptBar()
            await self._screen.mount(self._bar, after="#activity")
        self._screen.query_one("#footer").display = False
        self._bar.ask(question)

    @property
    def asking(self) -> bool:
        """Whether the line is shown."""
        return self._bar is not None and self._bar.question is not None

    def close_prompt(self) -> None:
        """Put the line away."""
        if self._bar is not None:
            self._bar.close()
        self._screen.query_one("#footer").display = True
        self._screen.memories.focus()

    def refuse(self, text: str) -> bool:
        """Say why the text cannot be used; False when the line is gone."""
        if self._bar is None or self._bar.question is None:
            return False
        self._bar.refuse(text)
        return True

    # The filter

    def remember(self) -> None:
        """Remember the place before the first filter."""
        node = self._screen.memories.current
        if self._place is None and node is not None and not self._screen.forest.filtered:
            self._place = (node.key, self._screen.memories.scroll_offset.y)

    def start(self) -> None:
        """Ask for the words."""
        from memtui.tui.prompts import Question

        self.remember()
        text = " ".join(self._screen.forest.words)
        self.ask(Question("/", text, self._keep, cancelled=self._cancel, changed=self._typed))

    def _typed(self, text: str) -> None:
        screen = self._screen
        screen.forest.set_filter(text)
        screen.memories.apply(REBUILT, by_user=True)
        self._go_to_match()
        if self._bar is not None:
            count = f"{screen.forest.matched:,} of {len(screen.forest.nodes):,}"
            self._bar.note([(count, "strong" if screen.forest.matched else "warning")])
        screen.refresh_bars()

    def _keep(self, text: str) -> None:
        """Enter: back to the tree, filtered."""
        self.close_prompt()
        if not text.strip():
            self.clear()
            return
        self._go_to_match()

    def _go_to_match(self) -> None:
        """Leave a folder for the next memory that matches."""
        node = self._screen.memories.current
        if node is None or node.memory is not None:
            return
        matches = [index for index, row in enumerate(self._screen.forest.rows()) if row.memory is not None]
        after = [index for index in matches if index >= self._screen.memories.cursor] or matches
        if after:
            self._screen.memories.go(after[0])

    def _cancel(self) -> None:
        self.close_prompt()
        self.clear()

    def clear(self) -> None:
        """Show everything again, at the place the user came from."""
        screen = self._screen
        screen.forest.clear_filters()
        screen.memories.apply(REBUILT, by_user=True)
        if self._place is not None:
            key, top = self._place
            self._place = None
            screen.memories.go_to(key)
            screen.memories.scroll_to_row(round(top))
            screen.memories.keep_in_view()
        screen.refresh_bars()
