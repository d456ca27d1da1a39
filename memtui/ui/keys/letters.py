"""Key names, and the single letter a question waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.ui.draw.spans import Line

if TYPE_CHECKING:
    from textual import events


class KeyQuestion:
    """A pending question that the next key answers."""

    def __init__(self, show_hint: Callable[[Line | None], None]) -> None:
        self._show_hint = show_hint
        self._done: Callable[[str], None] | None = None

    @property
    def waiting(self) -> bool:
        return self._done is not None

    def ask(self, line: Line, done: Callable[[str], None]) -> None:
        """Give the next key to `done`, whatever else it means; empty when cancelled."""
        self._done = done
        self._show_hint([*line, ("esc cancels", "dim")])

    def take(self, key: str) -> None:
        done, self._done = self._done, None
        self._show_hint(None)
        if done is not None:
            done(key)


def name_of(event: events.Key) -> str:
    """Return a key as the action table writes it: a character as it is, others (and space) by name."""
    character = event.character if event.is_printable and event.key != "space" else None
    return character or event.key
