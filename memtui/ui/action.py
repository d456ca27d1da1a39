"""Actions and views as data: ids, keys, labels, and the lookups made from a table of them."""

from collections.abc import Iterable
from typing import NamedTuple


class Action(NamedTuple):
    """One thing a user can do."""

    id: str
    """The name used by the key settings."""
    keys: tuple[str, ...]
    """Alternatives; `g g` is two keys in a row."""
    label: str
    """Two words at most, for the footer."""
    help: str
    """One sentence, for help, palette and docs."""
    room: str
    """The group of keys it belongs to, which decides where it works."""
    writes: bool = False
    """Whether it changes something on disk; off with --read-only."""
    footer: int = 0
    """Rank in the footer, 1 first; 0: not shown there."""
    moves: bool = False
    """Whether it only moves the cursor, so that it may run while a paste is being recognised."""


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
    """Its digit; empty for a view without a tab, which covers the one it was opened from."""
    name: str
    help: str
    """One sentence, for help, palette and docs."""
    screen: str = ""
    """Its screen as `module:Class`, imported when first opened; empty for the main screen."""
    own: tuple[str, ...] = ()
    """Ids of the actions of this view alone, in the order of its help page."""
    footer: tuple[str, ...] = ()
    """Ids of the actions shown in the footer, most important first."""
    short: str = ""
    """The name used where `name` does not fit; empty: the first word of the name."""

    @property
    def action(self) -> str:
        return f"view_{self.id}"

    @property
    def actions(self) -> tuple[str, ...]:
        """Ids of its own actions and of those every list with a text beside it has."""
        return (*self.own, *PANES, *MOVES) if self.screen else self.own


def action(id: str, keys: str, label: str, help: str, room: str = "", **rest: bool | int) -> Action:  # noqa: A002
    """Make an action; `keys` has two spaces between alternatives, `rest` the other fields of `Action`."""
    return Action(id, tuple(keys.split("  ")), label, help, room, **rest)  # type: ignore[arg-type]


def in_room(*rooms: str, actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return the actions of these rooms, in table order."""
    return tuple(action for action in actions if action.room in rooms)


def keymap_of(actions: Iterable[Action]) -> dict[str, Action]:
    found: dict[str, Action] = {}
    for action in actions:
        for key in action.keys:
            found.setdefault(key, action)
    return found


def keymap(rooms: Iterable[str], actions: Iterable[Action]) -> dict[str, Action]:
    """Map each key or sequence (`g g`) to its action in these rooms; earlier rooms win, then earlier actions."""
    actions = tuple(actions)
    return keymap_of(action for room in rooms for action in in_room(room, actions=actions))


_SHOWN = {
    "escape": "esc",
    "pagedown": "page down",
    "pageup": "page up",
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
}


def beside_text(action: Action) -> Action:
    """Keep only the keys that work while text is typed: no letters and no sequences."""
    return action._replace(keys=tuple(key for key in action.keys if len(key) > 1 and " " not in key))


def shown_key(key: str) -> str:
    """Format a key for people: `esc`, `page down`, `g g`."""
    return _SHOWN.get(key, key)


def shown_keys(action: Action) -> str:
    return ", ".join(shown_key(key) for key in action.keys)
