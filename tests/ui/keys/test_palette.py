"""The palette: every action by name, with its key or the reason why it is off."""

from __future__ import annotations

import pytest
from textual import events
from textual.widgets import Input

from memtui.ui.action import in_room
from memtui.ui.keys.palette import Command, Palette, matching
from memtui.workbench.actions import ACTIONS, BROWSER_ROOMS
from tests.workbench.shown import Shown, shown

COMMANDS = [Command(words, "", lambda: None) for words in ("Pin or unpin", "Undo the last", "Open and pin down")]


def test_every_typed_word_must_be_there_and_beginnings_come_first() -> None:
    assert [command.words for command in matching(COMMANDS, "pin")] == ["Pin or unpin", "Open and pin down"]
    assert [command.words for command in matching(COMMANDS, "DOWN pin")] == ["Open and pin down"]
    assert len(matching(COMMANDS, "")) == 3


def test_the_name_of_a_tab_finds_its_view_and_comes_first() -> None:
    commands = [
        Command("Move to the trash", "d t", lambda: None, name="trash"),
        Command("Show what was deleted, and restore it", "6", lambda: None, name="Trash"),
        Command("Show what is wrong with indexes", "7", lambda: None, name="Health"),
    ]
    assert [command.keys for command in matching(commands, "health")] == ["7"]
    assert [command.keys for command in matching(commands, "Trash")] == ["d t", "6"]
    assert not matching(COMMANDS, "screenshot")
    pins = [
        Command("Show only pinned memories", "f p", lambda: None, name="pinned"),
        Command("Pin", "p", lambda: None, name="pin"),
    ]
    assert [command.keys for command in matching(pins, "pin")] == ["p", "f p"]


async def test_it_finds_and_runs() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/notes.md")
        await screen.press("colon")
        await screen.until_text("what do you want to do?")
        await screen.type("unpin")
        await screen.until_text("Pin or unpin")
        await screen.press("enter")
        await screen.until_text("memtui:project/notes.md pinned.")


async def test_every_action_of_the_main_screen_is_in_it() -> None:
    async with shown() as screen:
        words = [command.words for command in screen.browser.commands.palette_commands()]
        missing = [
            action.id for action in in_room(*BROWSER_ROOMS, actions=ACTIONS) if action.help.rstrip(".") not in words
        ]
        assert missing == ["palette", "back", "down", "up", "left", "right"]
        assert not [line for line in words if "creenshot" in line]
        assert {action.id for action in in_room(*BROWSER_ROOMS, actions=ACTIONS)} == screen.browser.commands.ids


async def test_what_is_off_says_why_and_does_nothing() -> None:
    async with shown(read_only=True) as screen:
        await screen.press("ctrl+p")
        await screen.type("create")
        await screen.until_text("Create a memory here (memtui was started with --read-only")
        await screen.press("enter")
        await screen.until(lambda: not isinstance(screen.app.screen, Palette))
        await screen.until_text("so nothing can be written.")


async def test_a_theme_is_chosen_and_drawn() -> None:
    async with shown() as screen:
        before = screen.app.paint
        await screen.press("colon")
        await screen.type("theme memtui-light")
        await screen.press("enter")
        await screen.until(lambda: screen.app.theme == "memtui-light")
        await screen.until(lambda: screen.app.paint is not before)


@pytest.mark.parametrize("opens", ["colon", "question_mark", "M"])
async def test_what_is_typed_on_before_a_list_is_there_is_meant_for_it(opens: str) -> None:
    """`:q` is a reflex; a list that is still being made must neither lose the letter nor fail."""
    async with shown() as screen:
        screen.app.post_message(events.Key(opens, {"colon": ":", "question_mark": "?"}.get(opens, opens)))
        screen.app.post_message(events.Key("q", "q"))
        if opens == "colon":
            await screen.until_text("Quit at once")
            assert screen.app.screen.query_one(Input).value == "q"
        else:
            await screen.until(lambda: screen.app.screen is screen.browser)
        assert screen.app.is_running
        assert screen.app.return_code is None


async def test_enter_typed_ahead_is_meant_for_the_palette_too() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/notes.md")
        for key, character in (("colon", ":"), *((letter, letter) for letter in "unpin"), ("enter", "\r")):
            screen.app.post_message(events.Key(key, character))
        await screen.until_text("memtui:project/notes.md pinned.")
        assert not screen.browser.editing


async def test_a_theme_is_seen_before_it_is_chosen_and_goes_when_it_is_not() -> None:
    async with shown() as screen:
        assert screen.app.theme == "memtui"
        await screen.press("T")
        await screen.until_text("Theme: memtui-contrast")
        await screen.pilot.press("down", "down", "down")
        await screen.until(lambda: screen.app.theme == "memtui-contrast")
        await screen.until(lambda: background(screen) == "#000000")
        await screen.pilot.press("escape")
        await screen.until(lambda: screen.app.theme == "memtui")
        await screen.until(lambda: background(screen) == "#16181d")
        await screen.press("T")
        await screen.type("orange-light")
        await screen.until(lambda: screen.app.theme == "memtui-blue-orange-light")
        await screen.press("enter")
        await screen.until_text("Theme memtui-blue-orange-light, at the next start too.")
        assert screen.app.theme == "memtui-blue-orange-light"


async def test_another_command_ends_the_preview() -> None:
    async with shown() as screen:
        await screen.press("T")
        await screen.pilot.press("down", "down")
        await screen.until(lambda: screen.app.theme != "memtui")
        await screen.type("no such theme")
        await screen.until(lambda: screen.app.theme == "memtui")


async def test_the_workbench_starts_with_a_theme_of_textual() -> None:
    async with shown(settings={"theme": "nord"}) as screen:
        await screen.press("T")
        await screen.type("no such theme")
        await screen.until_text("No command matches.")
        assert screen.app.theme == "nord"
        assert background(screen) == "#2e3440"


def background(screen: Shown) -> str:
    """The colour under the first row of the tree."""
    color = screen.browser.memories.render_line(1)._segments[-1].style
    assert color is not None
    assert color.bgcolor is not None
    return color.bgcolor.get_truecolor().hex
