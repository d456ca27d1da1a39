"""The line of tabs at every width, and where a click lands."""

from __future__ import annotations

import pytest
from textual.geometry import Offset

from memtui.ui.widgets.lines import Tabs, tab_runs
from memtui.workbench.actions import VIEWS
from tests.workbench.shown import shown


def text(current: str, counts: dict[str, int], width: int) -> str:
    return "".join(words for words, _ in tab_runs(VIEWS, current, counts, width)[0])


def test_the_current_view_is_in_brackets_and_what_waits_is_counted() -> None:
    line = text("changes", {"changes": 1234}, 120)
    assert "[3 Review(1,234)]" in line
    assert " 1 Memories " in line
    assert "[1 Mem]" in text("memories", {}, 80)
    assert "(0)" not in text("memories", {"changes": 0}, 80)


@pytest.mark.parametrize("width", [5, 20, 40, 80, 120, 200])
def test_it_fits_and_places_are_where_the_words_are(width: int) -> None:
    runs, places = tab_runs(VIEWS, "memories", {"changes": 3}, width)
    line = "".join(words for words, _ in runs)
    assert len(line.rstrip()) <= width
    for start, end, view in places:
        tab = next(one for one in VIEWS if one.id == view)
        name = tab.name if width >= 120 else tab.short or tab.name.partition(" ")[0]
        assert name[:2] in line[start:end]


@pytest.mark.parametrize("current", [view.id for view in VIEWS])
def test_every_tab_is_there_from_eighty_cells_on(current: str) -> None:
    for counts in ({}, {"changes": 72, "health": 37}):
        for width in (80, 100, 120, 200):
            _, places = tab_runs(VIEWS, current, counts, width)
            assert [view for _, _, view in places] == [view.id for view in VIEWS]


def test_ten_tabs_fit_eighty_cells_while_much_waits() -> None:
    for view in VIEWS:
        for counts in ({"changes": 12, "tasks": 3}, {"changes": 1_234, "health": 1_234, "tasks": 16}):
            _, places = tab_runs(VIEWS, view.id, counts, 80)
            assert len(places) == len(VIEWS) == 10


@pytest.mark.parametrize("width", [80, 120, 200])
def test_names_are_words_and_none_moves_when_a_task_begins(width: int) -> None:
    for view in VIEWS:
        quiet = tab_runs(VIEWS, view.id, {"health": 37}, width)
        busy = tab_runs(VIEWS, view.id, {"health": 37, "tasks": 2}, width)
        assert [start for start, _, _ in quiet[1]] == [start for start, _, _ in busy[1]]
        words = "".join(run for run, _ in busy[0])
        for one in VIEWS:
            names = [one.name] if width > 80 else [one.name, one.short or one.name.partition(" ")[0]]
            assert any(f"{one.key} {name}" in words for name in names)


async def test_a_click_opens_a_view() -> None:
    async with shown() as screen:
        _, places = tab_runs(VIEWS, "memories", {}, 120)
        start = next(start for start, _, view in places if view == "changes")
        await screen.pilot.click(Tabs, offset=Offset(start + 2, 0))
        await screen.until(lambda: screen.browser.views.current == "changes")
        await screen.pilot.click(Tabs, offset=Offset(3, 0))
        await screen.until(lambda: screen.app.screen is screen.browser)
