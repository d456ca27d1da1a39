"""The lists on top of the main screen: help, commands, messages.

Each is made of rows and a function that shows one of them, and there is never more than one of them on top.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memtui.ui.draw.times import ago
from memtui.workbench.views.picker import Content, PickScreen, text_content

if TYPE_CHECKING:
    from memtui.ui.action import Action
    from memtui.workbench.browse.browser import BrowserScreen


class Viewing:
    """Opens lists."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self._on_top: PickScreen | None = None

    def _open(self, content: Content) -> None:
        """Put a list on top, unless there is one: a key pressed twice before its rows are read opens one list."""
        if self._on_top is not None:
            return
        screen = self._screen
        top = PickScreen(content, screen.table, plain=screen.facts.ascii, switch=screen.show_view)
        self._on_top = top

        def closed(_: None) -> None:
            self._on_top = None

        self._screen.app.push_screen(top, closed)

    # Texts

    def help(self) -> None:
        """Show the keys and signs."""
        from memtui.workbench.keys.help import help_content

        rooms = ("editor", "everywhere") if self._screen.typing else ("memory", "view", "list", "everywhere")
        self._open(help_content(self._screen.table, self._screen.help_text, rooms))

    def help_on(self, pane: str, actions: Iterable[Action]) -> None:
        """Show the keys of a view, and all others."""
        from memtui.workbench.keys.help import help_content

        self._open(help_content(self._screen.table, pane, ("views", "everywhere"), actions))

    def messages(self) -> None:
        """Show what was said."""
        from memtui.ui.draw.pages import words_page

        said = [f"{ago(at, self._screen.now()):>4}  {text}" for at, text in reversed(self._screen.chrome.said)]
        self._open(text_content("Messages", lambda width: words_page(*(said or ["Nothing yet."]), width=width)))
