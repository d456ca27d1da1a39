"""What a feature is: one capability of memtui as data, which says what it has and where that is."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from memtui.ui.action import Action, View
from memtui.wire.verb import Verb


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
