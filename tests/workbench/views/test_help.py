"""Help comes from the table, lists the keys of the pane it was asked for in, and runs them there."""

from __future__ import annotations

import pytest

from memtui.ui.action import shown_keys
from memtui.workbench.actions import ACTIONS, ROOMS
from memtui.workbench.help import OWN, HelpScreen, folded, help_rows, matching_rows
from memtui.workbench.keys import with_overrides
from tests.workbench.shown import shown

TREE = ("memory", "view", "list", "everywhere")


@pytest.mark.parametrize("room", ROOMS)
def test_every_action_of_a_room_is_there_with_its_keys(room: str) -> None:
    rows = {row.action: row for row in help_rows(ACTIONS, "This is\nthe `pane`.", (room,))}
    for action in ACTIONS:
        assert (action in rows) == (action.room == room)
        if action.room == room:
            assert (rows[action].lead, rows[action].words) == (shown_keys(action), action.help)
    assert help_rows(ACTIONS, "This is\nthe `pane`.", (room,))[1].words == "This is the pane."


def test_changed_keys_are_shown_as_they_are_now_and_a_view_has_its_own_first() -> None:
    table, _ = with_overrides({"pin": "f6"})
    pin = next(action for action in table if action.id == "pin")
    rows = help_rows(table, "", ("list",), own=(pin,))
    at = next(index for index, row in enumerate(rows) if row.words == OWN)
    assert (rows[at + 1].action, rows[at + 1].lead) == (pin, "f6")


def test_the_filter_leaves_what_holds_every_word_under_its_heading() -> None:
    rows = help_rows(ACTIONS, "", TREE)
    found = matching_rows(rows, "TRASH move")
    assert all("trash" in row.words.casefold() for row in found if not row.heading)
    assert [row.heading for row in found][:2] == [True, False]
    assert not found[-1].heading
    assert matching_rows(rows, "no such words") == ()
    assert matching_rows(rows, "") == rows
    narrow = folded(found, 30)
    assert all(len(row.words) <= 30 for row in narrow)
    assert {row.action for row in narrow} == {row.action for row in found}


async def test_enter_runs_the_line_in_the_pane_it_came_from_and_uses_the_whole_screen() -> None:
    async with shown(size=(80, 24)) as screen:
        await screen.go("memtui:project/notes.md")
        await screen.press("question_mark")
        await screen.until_text("On a memory, or on all marked ones")
        assert len([line for line in screen.text.split("\n") if line]) > 18
        await screen.press("slash")
        await screen.type("pin or")
        await screen.press("enter")
        await screen.until_text("enter runs")
        assert "memtui:project/notes.md pinned" not in screen.text
        await screen.press("enter")
        await screen.until_text("memtui:project/notes.md pinned")
        assert screen.app.screen is screen.browser


async def test_a_sequence_runs_too_and_escape_takes_the_filter_away_first() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/notes.md")
        await screen.press("question_mark", "slash")
        await screen.type("to the trash")
        await screen.press("escape")
        assert isinstance(screen.app.screen, HelpScreen)
        await screen.until_text("enter runs")
        await screen.press("slash")
        await screen.type("move to the trash")
        await screen.press("enter", "enter")
        await screen.until_text("moved to the trash")


async def test_in_the_editor_a_key_that_is_no_letter_runs_and_a_line_that_explains_says_so() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/notes.md")
        await screen.press("e")
        await screen.until_text("ctrl+s save")
        await screen.press("f1", "G", "enter")
        await screen.until_text("This line explains")
        await screen.press("slash")
        await screen.type("front matter as a form")
        await screen.press("enter", "enter")
        await screen.until_text("Front matter of")
        await screen.press("escape")
        await screen.until(lambda: screen.browser.editing)


async def test_enter_leaves_the_filter_on_the_line_under_the_cursor() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/notes.md")
        await screen.press("question_mark", "slash")
        await screen.type("memories")
        await screen.press("down", "down")
        help_screen = screen.app.screen
        assert isinstance(help_screen, HelpScreen)
        chosen = help_screen._list.cursor
        await screen.press("enter")
        await screen.until_text("enter runs")
        assert help_screen._list.cursor == chosen
