"""What an action is: its keys, its words and where it works; and what is read out of a table of them."""

from collections.abc import Iterable
from typing import NamedTuple


class Action(NamedTuple):
    """One thing a user can do."""

    id: str
    """Stable name: what the key settings refer to."""
    keys: tuple[str, ...]
    """Alternatives. `g g` is two keys one after the other; single characters are written as they are."""
    label: str
    """Two words at most, for the footer."""
    help: str
    """One sentence, for help, palette and docs."""
    room: str
    """Where it works: the name of a group of keys."""
    writes: bool = False
    """Changes something on disk, so it is off with --read-only."""
    footer: int = 0
    """Rank in the footer, 1 first; 0: not shown there."""
    moves: bool = False
    """Only moves about: may run at once even while a paste is being recognised."""


MOVES = ("down", "up", "top", "bottom", "half_down", "half_up", "page_down", "page_up")
"""Ids of the actions that move in a list or a text."""

PANES = ("next_pane", "previous_pane", "preview_down", "preview_up", "reveal")
"""Ids of the actions of every list with a text beside it."""


COMMON = (
    *("help", "palette", "back", "quit", "quit_now", "messages"),
    *("undo", "redo", "remember", "search_all", "zoom", "themes"),
)
"""Actions that work in every view; their keys come after the view's own."""


class View(NamedTuple):
    """One view of the workbench."""

    id: str
    """Its action is `view_<id>`."""
    key: str
    """Its digit; empty for a view that lies over the one it was opened from, and has no tab."""
    name: str
    """Its tab."""
    help: str
    """One sentence, for help, palette and docs."""
    screen: str = ""
    """Its screen as `module:Class`, loaded when first opened; empty for the main screen."""
    own: tuple[str, ...] = ()
    """Ids of the actions that work in it beside those of every list and every view, in the order of its help page."""
    footer: tuple[str, ...] = ()
    """Ids of those of them that the footer shows, the most important first."""
    short: str = ""
    """What says best what it is where its name does not fit; empty: the first word of the name."""

    @property
    def action(self) -> str:
        """The id of the action that opens it."""
        return f"view_{self.id}"

    @property
    def actions(self) -> tuple[str, ...]:
        """Ids of its own actions, and of those of every list with a text beside it."""
        return (*self.own, *PANES, *MOVES) if self.screen else self.own


def action(id: str, keys: str, label: str, help: str, room: str, **rest: bool | int) -> Action:  # noqa: A002
    """Make an action from one line.

    Args:
        id: its stable name.
        keys: its keys as one text, with two spaces between alternatives.
        label: two words at most.
        help: one sentence.
        room: where it works.
        rest: the other fields that are not at their default.
    """
    return Action(id, tuple(keys.split("  ")), label, help, room, **rest)  # type: ignore[arg-type]


def in_room(*rooms: str, actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return the actions of these rooms, in table order."""
    return tuple(action for action in actions if action.room in rooms)


def keymap_of(actions: Iterable[Action]) -> dict[str, Action]:
    """Return key or sequence to action; earlier actions win."""
    found: dict[str, Action] = {}
    for action in actions:
        for key in action.keys:
            found.setdefault(key, action)
    return found


def keymap(rooms: Iterable[str], actions: Iterable[Action]) -> dict[str, Action]:
    """Return key or sequence (`g g`) to action for these rooms; earlier rooms win, then earlier actions."""
    actions = tuple(actions)
    found: dict[str, Action] = {}
    for room in rooms:
        for action in in_room(room, actions=actions):
            for key in action.keys:
                found.setdefault(key, action)
    return found


_SHOWN = {
    "escape": "esc",
    "pagedown": "page down",
    "pageup": "page up",
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
}


def beside_text(action: Action) -> Action:
    """Leave only the keys that work where text is typed, where a letter is a letter."""
    return action._replace(keys=tuple(key for key in action.keys if len(key) > 1 and " " not in key))


def shown_key(key: str) -> str:
    """Write a key as people do: `esc`, `page down`, `g g`."""
    return _SHOWN.get(key, key)


def shown_keys(action: Action) -> str:
    """Write all keys of an action as people do."""
    return ", ".join(shown_key(key) for key in action.keys)
