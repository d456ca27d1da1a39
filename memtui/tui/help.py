"""The help page, made from the action table: keys of each room, signs, and what counts as having looked.

Nothing is written twice, so help cannot be wrong about a key.
"""

from __future__ import annotations

from collections.abc import Iterable

from memtui.safe_text import visible
from memtui.tui.actions import ROOMS, SIGNS, Action, in_room, shown_keys
from memtui.tui.pages import Page, PageLine, fold, words_page

START, SIGNS_TITLE = "This pane", "Signs"

TEXTS = (
    "Every memory agents keep about you on this machine, in one tree. Plain files: edit them here or anywhere.",
    "Nothing is lost: every text a memory had is under H, deleted ones are in the trash (g t), and u undoes anything.",
    "A beside a name: somebody else changed it since you looked. Stay on it for a second with its text shown, open it,",
    "or press w or x, and it goes.",
    "Copy and paste: y copies what the cursor is on; paste into text with your terminal's own key.",
)


def help_sections(table: Iterable[Action]) -> tuple[str, ...]:
    """Return the titles of the sections."""
    table = tuple(table)
    return (START, SIGNS_TITLE, *(title for room, title in ROOMS.items() if in_room(room, actions=table)))


def help_page(section: str, table: Iterable[Action], width: int, pane: str = "") -> Page:
    """Draw one section."""
    if section == START:
        lines = [" ".join(pane.replace("`", "").split()), "", *TEXTS] if pane else list(TEXTS)
        return words_page(*lines, style="name", width=width - 1)
    if section == SIGNS_TITLE:
        return tuple(line for sign, meaning in SIGNS for line in _entry(sign, meaning, 6, width))
    room = next(room for room, title in ROOMS.items() if title == section)
    page: list[PageLine] = []
    for action in in_room(room, actions=tuple(table)):
        page += _entry(shown_keys(action), action.help, 20, width)
    return tuple(page)


def _entry(key: str, text: str, room: int, width: int) -> list[PageLine]:
    parts = fold(visible(text), max(width - room - 1, 12))
    lead = visible(key)
    first = PageLine(((f"{lead:<{room - 1}} ", "key"), (parts[0], "name")))
    return [first, *(PageLine(((" " * room, "dim"), (part, "name"))) for part in parts[1:])]
