"""Textual bindings made from the action table, so that no widget writes a key down a second time."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from memtui.ui.action import in_room, keymap
from memtui.workbench.actions import ACTIONS


def room_bindings(room: str) -> list[BindingType]:
    """Return the bindings of a room of the action table.

    Args:
        room: a key of `actions.ROOMS`.

    Returns:
        One binding for each key, in table order; the action of `save` is `action_save`, and its id can be remapped.
    """
    keys = keymap([room], ACTIONS)
    return [
        Binding(key, action.id, action.label, show=False, id=action.id, tooltip=action.help)
        for action in in_room(room, actions=ACTIONS)
        for key in action.keys
        if " " not in key and keys[key] is action
    ]
