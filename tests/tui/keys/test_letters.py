"""Labels reach every row in view with two keys, digits count when they are chosen to, and a click is its key."""

from __future__ import annotations

from functools import partial

import pytest

from memtui.tui.actions import ACTIONS
from memtui.tui.draw.rowlist import LABELS, without_first_cell
from memtui.tui.keys.letters import key_named
from tests.tui.shown import Shown, engine_with, shown

MANY = {f"memtui:project/n{number:03}.md": f"note {number}\n" for number in range(200)}
COUNTS = {"digits": "counts"}


def test_labels_are_single_keys_and_no_two_are_alike() -> None:
    assert len(set(LABELS)) == len(LABELS) >= 80
    assert LABELS.isascii()
    assert LABELS.isprintable()
    assert " " not in LABELS


def test_the_first_cell_gives_way() -> None:
    assert without_first_cell([("", "a"), ("> x", "b")]) == (("", "a"), (" x", "b"))
    assert without_first_cell([("世x", "b")]) == ((" x", "b"),)
    assert without_first_cell([]) == []


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_two_keys_reach_any_row_in_view(size: tuple[int, int]) -> None:
    async with shown(engine_with(MANY), size=size) as screen:
        await screen.press("ctrl+d", "ctrl+d")
        tree = screen.browser.memories
        for place in (tree.size.height - 1, 0, tree.size.height // 2):
            await screen.press(";")
            label = LABELS[place]
            line = screen.text.split("\n")[tree.region.y + place]
            assert line.startswith(label), line
            wanted = tree.top + place
            await screen.press(label)
            assert tree.cursor == wanted
            assert not screen.text.split("\n")[tree.region.y].startswith("a")


async def test_another_key_takes_the_labels_away_and_moves_nothing() -> None:
    async with shown() as screen:
        before = screen.here
        for key in ("escape", "~", "down", "enter"):
            await screen.press(";", key)
            assert screen.here == before
            assert not screen.browser.memories._labels
            assert not screen.browser.editing


async def test_labels_work_in_views_and_lists_on_top() -> None:
    async with shown() as screen:
        await screen.press("?", ";", "c")
        picks = screen.app.screen.query_one("#picks")
        assert picks.cursor == 2  # type: ignore[attr-defined]
        await screen.press("escape", "5", ";")
        assert "letter at a row" in screen.footer or "no row" in screen.footer


async def test_digits_are_views_unless_counts_are_chosen() -> None:
    async with shown(engine_with(MANY)) as screen:
        await screen.press("3")
        assert screen.app.screen is not screen.browser


async def counted(screen: Shown, *keys: str) -> int:
    await screen.press("g", "g", *keys)
    return screen.browser.memories.cursor


async def test_counts_move_by_rows_and_to_rows() -> None:
    async with shown(engine_with(MANY), settings=COUNTS) as screen:
        assert await counted(screen, "5", "j") == 5
        assert await counted(screen, "1", "2", "down") == 12
        assert await counted(screen, "2", "0", "j", "3", "k") == 17
        assert await counted(screen, "7", "G") == 6
        assert await counted(screen, "9", "g", "g") == 8
        assert await counted(screen, "5", "escape", "j") == 1
        assert await counted(screen, "5", "x", "j") == 1, "a count is for one key"
        await counted(screen, "j", "j", "3", "space")
        assert len(screen.browser.memories.marks) == 3
        await screen.press("g", "3")
        assert screen.app.screen is not screen.browser
        await screen.press("g", "1")
        assert screen.app.screen is screen.browser


async def test_a_huge_count_ends_at_the_last_row() -> None:
    async with shown(engine_with(MANY), settings=COUNTS) as screen:
        assert await counted(screen, *"999999", "j") == screen.browser.memories.count() - 1


def test_what_the_footer_shows_is_found_as_keys() -> None:
    assert key_named("d t", ACTIONS) == ("d", "t")
    assert key_named("esc", ACTIONS) == ("escape",)
    assert key_named("page down", ACTIONS) == ("pagedown",)
    assert key_named("move", ACTIONS) == ()


async def test_a_click_on_a_key_of_the_footer_presses_it() -> None:
    async with shown() as screen:
        await screen.go("memtui:project/notes.md")
        line = screen.text.split("\n")[-1]
        for words in ("? help", "?"):
            await screen.pilot.click("#footer", offset=(line.index("?") + len(words) - 1, 0))
            await screen.until(lambda: screen.app.screen is not screen.browser)
            await screen.press("escape")
        await screen.pilot.click("#footer", offset=(line.index("d t") + 1, 0))
        await screen.until_text("moved to the trash")
        await screen.pilot.click("#footer", offset=(0, 0))
        assert screen.app.screen is screen.browser


async def test_a_click_on_the_line_that_is_typed_presses_nothing() -> None:
    async with shown() as screen:
        await screen.press("/")
        await screen.pilot.click("#footer", offset=(1, 0))
        assert screen.browser.prompt is not None
        assert screen.browser.prompt.text == ""


async def test_a_click_on_how_it_is_sorted_sorts_the_next_way() -> None:
    async with shown() as screen:
        for wanted in ("uses", "age", "size", "edited", "name"):
            line = screen.text.split("\n")[screen.browser.query_one("#tree-title").region.y]
            await screen.pilot.click("#tree-title", offset=(line.index(f"| {screen.browser.forest.sort}") + 3, 0))
            await screen.until(partial(sorted_by, screen, wanted))


def sorted_by(screen: Shown, wanted: str) -> bool:
    return screen.browser.forest.sort == wanted
