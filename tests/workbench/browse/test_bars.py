"""Which panes there are, at every size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address
from memtui.workbench.main_screen import REST, layout_for
from tests.workbench.shown import shown


@pytest.mark.parametrize(
    ("width", "height", "left", "right", "info", "detail", "activity"),
    [
        (40, 10, REST, False, False, False, False),
        (59, 24, REST, False, False, False, False),
        (80, 14, REST, False, False, False, False),
        (80, 24, REST, False, False, True, False),
        (99, 40, REST, False, False, True, False),
        (100, 24, 57, True, False, False, False),
        (120, 40, 57, True, False, False, True),
        (159, 31, 63, True, False, False, False),
        (200, 60, 74, True, True, False, True),
    ],
)
def test_sizes(width: int, height: int, left: int, right: bool, info: bool, detail: bool, activity: bool) -> None:
    now = layout_for(width, height)
    assert (now.left, now.right, now.info, now.detail, now.activity) == (left, right, info, detail, activity)
    assert layout_for(width, height, strip=False) == now._replace(activity=False)


def test_text_over_the_tree_hides_it() -> None:
    now = layout_for(80, 24, over=True)
    assert (now.left, now.right, now.detail, now.border) == (0, True, False, False)


def test_zoom_gives_one_pane_everything() -> None:
    assert layout_for(200, 60, zoom="left")[:2] == (REST, False)
    right = layout_for(200, 60, zoom="right")
    assert (right.left, right.right, right.info, right.activity) == (0, True, False, False)


@given(st.integers(1, 300), st.integers(1, 100), st.booleans(), st.sampled_from(["", "left", "right"]), st.booleans())
def test_something_is_always_shown(width: int, height: int, over: bool, zoom: str, info: bool) -> None:
    now = layout_for(width, height, over=over, zoom=zoom, info=info)
    assert now.left or now.right
    assert not (now.info and now.about)


TO_TRY = "demo: c conflict"


@pytest.mark.parametrize("view", ["2", "3", ""])
async def test_the_demonstration_names_keys_only_where_they_are_keys(view: str) -> None:
    async with shown(demo=True) as screen:
        assert TO_TRY in screen.text
        await screen.go("memtui:project/notes.md")
        await screen.press(view or "enter")
        await screen.until(lambda: screen.app.screen is not screen.browser or screen.browser.typing)
        if view == "3":
            await screen.until(lambda: TO_TRY in screen.text)
            await screen.press("slash")
        await screen.until(lambda: TO_TRY not in screen.text)
        assert " memtui | acme-api" in screen.text
        await screen.press("escape")
        await screen.until(lambda: TO_TRY in screen.text)
        await screen.press("1", "slash")
        await screen.until(lambda: TO_TRY not in screen.text)
        await screen.press("escape")
        await screen.until(lambda: TO_TRY in screen.text)


CODE = Address("memtui:global", "style/code.md")


async def test_after_a_change_was_taken_back_the_card_names_who_took_it_back() -> None:
    async with shown() as screen:
        engine = screen.engine
        engine.outside(str(CODE), "an agent's code\n")
        await screen.until_text("outside memtui, just now")
        await screen.press("3")
        await screen.until_text("Changed outside memtui")
        await screen.press("r")
        await screen.until_text("To be taken back: 1 change.")
        await screen.press("ctrl+s", "enter")
        await screen.until_text("Carried out: 1 taken back.")
        await screen.press("1")
        await screen.until_text("| you, just now")
        await screen.press("u")
        await screen.until_text("outside memtui, just now")
