"""Keys by name; and what takes more than one press: a letter that follows, labels on rows, a count before a move.

They work the same on every screen, because no screen knows of them but this one's users in `keyed.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from memtui.tui.actions import Action, shown_keys
from memtui.tui.draw.rowlist import RowList
from memtui.tui.draw.spans import Line

if TYPE_CHECKING:
    from textual import events

    from memtui.tui.keys.keyed import KeyedScreen

MOST = 9_999
"""The largest count."""
REPEATED = 200
"""More than this a key that is no plain step is not repeated."""


class Letters:
    """What a screen waits for."""

    def __init__(self, screen: KeyedScreen[Any]) -> None:
        self._screen = screen
        self._done: Callable[[str], None] | None = None
        self.count = 0
        """Typed so far; 0: none."""

    # One letter

    @property
    def waiting(self) -> bool:
        """Whether the next key is a letter for somebody."""
        return self._done is not None

    def ask(self, line: Line, done: Callable[[str], None]) -> None:
        """Give the next key to `done`, whatever else it means; nothing when it is cancelled."""
        self._done = done
        self._screen.show_hint([*line, ("esc cancels", "dim")])

    def take(self, key: str) -> None:
        """Take the key that was waited for."""
        done, self._done = self._done, None
        self._screen.show_hint(None)
        if done is not None:
            done(key)

    # Labels

    def label_rows(self) -> None:
        """Show a letter at each row in view of the list in focus, and go where the next key says."""
        rows = row_list(self._screen)
        labels = rows.show_labels() if rows is not None else ""
        if rows is None or not labels:
            self._screen.say("There is no row to jump to here.")
            return

        def done(key: str) -> None:
            rows.hide_labels()
            place = labels.find(key) if len(key) == 1 else -1
            if place >= 0:
                self._screen.before_jump()
                rows.go(rows.top + place)

        self.ask([(" ; ", "strong"), (" the letter at a row goes there   ", "dim")], done)

    # Counts

    def counts(self, key: str) -> bool:
        """Take a digit of a count; False when it is none."""
        if not (len(key) == 1 and key in "0123456789") or (key == "0" and not self.count):
            return False
        self.count = min(self.count * 10 + int(key), MOST)
        self._screen.show_hint([(f" {self.count} ", "strong"), (" times: a key that moves follows   ", "dim")])
        return True

    def drop_count(self) -> int:
        """Forget the count, and return it."""
        count, self.count = self.count, 0
        return count

    def repeat(self, action: Action, times: int) -> None:
        """Do a move so many times; with top and bottom the count is a row."""
        screen = self._screen
        rows = row_list(screen)
        if rows is not None and screen.focused is rows and action.id in ("down", "up", "top", "bottom"):
            screen.show_hint(None)
            rows.move({"down": times, "up": -times}.get(action.id, times - 1 - rows.cursor))
            return
        for _ in range(min(times, REPEATED) if action.moves or action.id == "mark" else 1):
            screen.attempt(action)


def row_list(screen: KeyedScreen[Any]) -> RowList | None:
    """The list keys move in: the one in focus, else the first one on the screen."""
    if isinstance(screen.focused, RowList):
        return screen.focused
    found = [rows for rows in screen.query(RowList) if rows.is_on_screen and rows.can_focus]
    return found[0] if found else None


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
