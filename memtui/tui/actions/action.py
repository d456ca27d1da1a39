"""What an action is, the rooms it can work in, and what it opens."""

from memtui.tui.views.table import VIEWS
from memtui.values import NamedTuple

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


TEXT, LINE, SCREEN, OUTSIDE = "text", "line", "screen", "outside"
"""What an action opens: a text to type in, one line to type in, a screen, or another program."""


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
    """A key of `ROOMS`."""
    writes: bool = False
    """Changes something on disk, so it is off with --read-only."""
    footer: int = 0
    """Rank in the footer, 1 first; 0: not shown there."""
    moves: bool = False
    """Only moves about: may run at once even while a paste is being recognised."""
    opens: str = ""
    """Opens something that the keys after it are for: `TEXT`, `LINE`, `SCREEN` or `OUTSIDE`; empty: nothing."""


OPENS = {
    TEXT: ("open", "edit", "search_open", "edit_result", "form_text", "entry_edit", "entry_new", "entry_file"),
    LINE: (
        "filter",
        "new",
        "rename",
        "redact",
        "save_as",
        "keep_as",
        "save_elsewhere",
        "repoint",
        *("export", "export_history"),
    ),
    SCREEN: (
        *("help", "palette", "themes", "messages", "search_all", "copy_to", "describe_memory", "resolve", "changes"),
        *("import", "versions", "entries", "trash_view", *(view.action for view in VIEWS)),
    ),
    OUTSIDE: ("edit_outside", "edit_all"),
}
"""Which actions open something, by what they open: the keys after them are for that."""
_KIND = {id_: kind for kind, ids in OPENS.items() for id_ in ids}


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
    return Action(id, tuple(keys.split("  ")), label, help, room, opens=_KIND.get(id, ""), **rest)  # type: ignore[arg-type]
