"""What a feature is: one capability of memtui as data, which says what it has and where that is."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from memtui.ui.action import MOVES, PANES, Action
from memtui.wire.verb import Verb


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


class Feature(NamedTuple):
    """One capability; every part is loaded when it is used, none by its entry."""

    title: str = ""
    """The heading of its own actions in help and `docs/keys.md`."""
    view: View | None = None
    actions: tuple[Action, ...] = ()
    """What can be done in its view only; their `room` is the name of the feature."""
    verbs: tuple[Verb, ...] = ()
    """What it adds to the command line."""


def load(place: str) -> Callable[..., Any]:
    """Import what an entry names.

    Args:
        place: `module:name`.

    Raises:
        ImportError: there is no such module.
        AttributeError: there is no such name in it.
    """
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found
