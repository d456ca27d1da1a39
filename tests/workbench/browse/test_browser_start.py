"""The first look: the cursor stands on what waits, stays where the user put it, and an empty home says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.config.surroundings import Surroundings
from memtui.workbench.main_screen import NO_PLACE
from tests.workbench.memories import Memories
from tests.workbench.shown import engine_with, shown

AUTH, NOTES = "memtui:project/decisions/auth.md", "memtui:project/notes.md"


async def test_the_first_cursor_stands_on_the_projects_first_memory() -> None:
    async with shown(place=NO_PLACE) as screen:
        await screen.until(lambda: screen.browser.memories.started)
        assert screen.here == AUTH


async def test_it_stands_on_what_an_agent_changed_meanwhile() -> None:
    engine = engine_with()
    engine.outside(NOTES, "Notes of an agent.\n")
    async with shown(engine, place=NO_PLACE) as screen:
        await screen.until(lambda: screen.browser.memories.started)
        assert screen.here == NOTES


async def test_a_cursor_that_was_moved_is_never_moved() -> None:
    async with shown(place=NO_PLACE) as screen:
        await screen.press("j")
        here = screen.here
        screen.engine.outside(NOTES, "Notes of an agent.\n")
        await screen.until(lambda: screen.browser.forest.top.signs.unseen == 1)
        assert screen.here == here


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_an_empty_home_names_the_folders_of_agents(size: tuple[int, int], home: Path) -> None:
    around = Surroundings(str(home), str(home), str(home), None, "w", str(home / "data"))
    async with shown(Memories({}), size=size, place=NO_PLACE, surroundings=around) as screen:
        await screen.until_text("No memories yet.")
        for words in (
            "n creates the first one",
            "m makes one of a sentence",
            "memtui demo",
            "~/memory/global",
            "Claude Code",
            "~/.codex",
            "~/.kiro",
        ):
            assert words in screen.text
        assert not screen.browser.query_one("#detail").display if size == (80, 24) else True
        await screen.press("n")
        assert screen.browser.prompt.open


async def test_any_key_leaves_it_where_it_is() -> None:
    async with shown(place=NO_PLACE) as screen:
        await screen.until(lambda: screen.browser.memories.started)
        screen.browser.memories.started = False
        await screen.press("z")
        assert screen.browser.memories.started
