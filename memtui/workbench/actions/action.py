"""The rooms an action can work in."""

from memtui.ui.action import Action

ROOMS = {
    "everywhere": "Everywhere (in text: only those with ctrl or an f-key)",
    "views": "Views (not where text is typed)",
    "list": "Tree and lists",
    "memory": "On a memory, or on all marked ones",
    "view": "What is shown",
    "inbox": "Changes since you looked",
    "search": "Search (letters are text until tab leaves the line)",
    "hot": "Hot set",
    "cost": "Start cost",
    "past": "History of a memory, and trash",
    "activity": "Activity",
    "health": "Health of indexes",
    "entries": "Entries of a memory that holds many",
    "picker": "Lists on top: help, messages",
    "editor": "Editor",
    "entry": "One entry of a memory (letters are text)",
    "form": "Front matter form (letters are text)",
    "conflict": "Conflict",
    "gone": "Your draft of a memory that somebody else deleted",
    "deleted": "A memory you deleted while somebody else changed it",
    "moved": "Your draft of a memory that somebody else renamed",
    "line_ends": "Your draft of a memory in which somebody else changed only line ends",
    "unsaved": "A save that failed",
}
"""Where an action works, in the order of the help page."""


def made(id: str, keys: str, label: str, help: str, room: str, **rest: bool | int) -> Action:  # noqa: A002
    """Make an action.

    Args:
        id: its stable name.
        keys: its keys as one text, with two spaces between alternatives.
        label: two words at most.
        help: one sentence.
        room: a key of `ROOMS`.
        rest: the other fields that are not at their default.
    """
    return Action(id, tuple(keys.split("  ")), label, help, room, **rest)  # type: ignore[arg-type]
