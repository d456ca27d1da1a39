"""The help page, made from the action table: keys of each room, signs, and what counts as having looked.

Nothing is written twice, so help cannot be wrong about a key.
"""

from __future__ import annotations

from collections.abc import Iterable

from memtui.safe_text import visible
from memtui.ui.action import Action, in_room, shown_keys
from memtui.ui.draw.pages import Page, PageLine, fold, words_page
from memtui.workbench.actions import ROOMS, SIGNS
from memtui.workbench.views.picker import Content

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


def help_content(table: Iterable[Action], pane: str, rooms: Iterable[str], own: Iterable[Action] = ()) -> Content:
    """Make the help as a list of sections; `pane` tells what the pane is, its own keys are `own` and in `rooms`."""
    table, rooms, own = tuple(table), tuple(rooms), tuple(own)

    def show(section: str, width: int) -> Page:
        return help_page(section, table, width, pane, rooms, own)

    return Content("Help", help_sections(table), show, beside="Keys")


def help_page(
    section: str,
    table: Iterable[Action],
    width: int,
    pane: str = "",
    rooms: Iterable[str] = (),
    own: Iterable[Action] = (),
) -> Page:
    """Draw one section; the first one tells what the pane is and every key that works there."""
    table = tuple(table)
    if section == START:
        lines = [" ".join(pane.replace("`", "").split()), ""] if pane else []
        start: list[PageLine] = list(words_page(*lines, style="name", width=width - 1))
        own_lines = [line for action in own for line in _entry(shown_keys(action), action.help, 20, width)]
        if own_lines:
            start += [*words_page("Keys of this view", style="heading", width=width - 1), *own_lines, PageLine(())]
        for room in rooms:
            start += words_page(ROOMS[room], style="heading", width=width - 1)
            start += [*help_page(ROOMS[room], table, width), PageLine(())]
        return (*start, *words_page(*TEXTS, style="name", width=width - 1))
    if section == SIGNS_TITLE:
        return tuple(line for sign, meaning in SIGNS for line in _entry(sign, meaning, 6, width))
    room = next(room for room, title in ROOMS.items() if title == section)
    page: list[PageLine] = []
    for action in in_room(room, actions=table):
        page += _entry(shown_keys(action), action.help, 20, width)
    return tuple(page)


def _entry(key: str, text: str, room: int, width: int) -> list[PageLine]:
    parts = fold(visible(text), max(width - room - 2, 12))
    lead = f" {visible(key):<{room - 1}} "
    first = PageLine(((lead, "key"), (parts[0], "name")))
    return [first, *(PageLine(((" " * len(lead), "dim"), (part, "name"))) for part in parts[1:])]
