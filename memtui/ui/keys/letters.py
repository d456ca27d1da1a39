"""Keys by name; and the letter that a question waits for, the same on every screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from memtui.ui.action import Action, shown_keys
from memtui.ui.draw.spans import Line

if TYPE_CHECKING:
    from textual import events


class Letters:
    """What a screen waits for."""

    def __init__(self, show_hint: Callable[[Line | None], None]) -> None:
        """Take what shows a line of keys, or the usual one again."""
        self._show_hint = show_hint
        self._done: Callable[[str], None] | None = None

    @property
    def waiting(self) -> bool:
        """Whether the next key is a letter for somebody."""
        return self._done is not None

    def ask(self, line: Line, done: Callable[[str], None]) -> None:
        """Give the next key to `done`, whatever else it means; nothing when it is cancelled."""
        self._done = done
        self._show_hint([*line, ("esc cancels", "dim")])

    def take(self, key: str) -> None:
        """Take the key that was waited for."""
        done, self._done = self._done, None
        self._show_hint(None)
        if done is not None:
            done(key)


def name_of(event: events.Key) -> str:
    """Return the key as the table of actions writes it: a character as it is, all else (and the space) by name."""
    character = event.character if event.is_printable and event.key != "space" else None
    return character or event.key


def key_named(words: str, table: Iterable[Action]) -> tuple[str, ...]:
    """Find the keys to press for what a line of keys shows (`d t`, `esc`); nothing when no action has them."""
    for action in table:
        for key, shown in zip(action.keys, shown_keys(action).split(", "), strict=False):
            if shown == words:
                return tuple(key.split(" "))
    return ()
