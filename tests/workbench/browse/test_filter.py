"""The filter: as typed, parents kept, counted, and escape gives the old place back."""

from __future__ import annotations

import os

import pytest
from textual import events

from memtui.engine.model import Address
from tests.workbench.memories import Memories
from tests.workbench.shown import TEXTS, Shown, engine_with, shown

TODO = "memtui:workspace/todo.md"
RETRY = "memtui:project/decisions/retry.md"


async def test_filtering_as_typed_and_back() -> None:
    async with shown() as screen:
        await screen.go(TODO)
        await screen.press("slash")
        await screen.type("ret")
        await screen.until_text("1 of 7")
        assert screen.here == RETRY
        assert "decisions/" in screen.text
        assert "todo.md" not in screen.text.split("▏")[0]
        await screen.press("escape")
        await screen.until(lambda: screen.here == TODO)
        assert "of 7" not in screen.text


async def test_enter_keeps_the_filter_and_escape_then_clears_it_around_what_was_found() -> None:
    async with shown() as screen:
        await screen.go(TODO)
        await screen.press("slash")
        await screen.type("decisions")
        await screen.press("enter")
        assert "2 of 7 | /decisions | name" in screen.text
        await screen.press("j")
        assert screen.here == RETRY
        await screen.press("escape")
        await screen.until(lambda: "2 of 7" not in screen.text)
        assert screen.here == RETRY
        assert "todo.md" in screen.text


async def test_a_new_filter_takes_the_place_of_the_last_one() -> None:
    async with shown() as screen:
        await screen.press("slash")
        await screen.type("decisions")
        await screen.press("enter")
        await screen.until_text("2 of 7 | /decisions |")
        await screen.press("slash")
        await screen.type("todo")
        await screen.press("enter")
        await screen.until_text("1 of 7 | /todo |")
        await screen.press("slash", "enter")
        await screen.until_text("1 of 7 | /todo |")
        await screen.press("slash", "backspace", "enter")
        await screen.until_text("/tod |")


async def test_nothing_found_is_said_and_an_empty_filter_shows_all() -> None:
    async with shown() as screen:
        await screen.press("slash")
        await screen.type("zzz")
        await screen.until_text("0 of 7")
        await screen.until_text("Nothing here matches /zzz")
        await screen.until_text("esc shows everything again")
        await screen.pilot.press("ctrl+u")
        await screen.press("enter")
        await screen.until_text("todo.md")
        assert not screen.browser.forest.filter.active


async def test_a_filter_whose_last_match_goes_away_says_so() -> None:
    async with shown() as screen:
        await screen.press("slash")
        await screen.type("auth")
        await screen.press("enter")
        await screen.until_text("1 of 7")
        await screen.press("d", "t")
        await screen.until_text("Nothing here matches /auth")
        await screen.press("escape")
        await screen.until_text("retry.md")
        assert "Nothing here matches" not in screen.text
        await screen.press("f", "p")
        await screen.until_text("Nothing here is pinned")


async def test_filters_that_let_nothing_through_are_told_in_words() -> None:
    async with shown() as screen:
        await screen.press("f", "a")
        await screen.until_text("Nothing here is unseen")
        await screen.press("f", "c", "slash")
        await screen.type("auth")
        await screen.press("enter")
        await screen.until_text("and is in conflict and unseen")
        assert "Nothing here matches /auth " in screen.text


async def test_show_only_what_others_changed() -> None:
    async with shown() as screen:
        screen.engine.outside(RETRY, "x")
        await screen.until_text("A1 agent edits")
        await screen.press("f", "a")
        await screen.until_text("1 of 7 | unseen")
        assert "todo.md" not in screen.text
        await screen.press("f", "a")
        await screen.until_text("todo.md")


@pytest.mark.parametrize("keys", [("d", "t"), ("space", "d", "t")])
async def test_a_folder_means_what_is_shown_of_it(keys: tuple[str, ...]) -> None:
    async with shown() as screen:
        await screen.press("slash")
        await screen.type("retry")
        await screen.press("enter")
        await screen.until_text("1 of 7")
        await screen.press("g", "g")
        assert screen.here == "scope/project"
        await screen.press(*keys)
        await screen.until_text("moved to the trash")
        gone = set(TEXTS) - {str(address) for address in screen.engine.data}
        assert gone == {"memtui:project/decisions/retry.md"}


async def test_a_folder_is_renamed_whole() -> None:
    async with shown() as screen:
        await screen.press("slash")
        await screen.type("retry")
        await screen.press("enter")
        await screen.until_text("1 of 7")
        await screen.press("g", "g", "j")
        assert screen.here == "folder/memtui:project/decisions"
        await screen.press("r", "ctrl+u")
        await screen.type("choices")
        await screen.until_text("moves 2 memories to memtui:project/choices/")
        await screen.press("enter")
        await screen.until(lambda: Address.parse("memtui:project/choices/auth.md") in screen.engine.data)
        assert Address.parse("memtui:project/choices/retry.md") in screen.engine.data


async def test_a_memory_that_was_moved_out_of_the_filter_is_where_esc_goes() -> None:
    async with shown() as screen:
        await screen.press("/")
        await screen.type("retry")
        await screen.press("enter", "r", "end", "ctrl+u")
        await screen.type("other/again.md")
        await screen.press("enter")
        await screen.until_text("moved to memtui:project/other/again.md")
        await screen.until(lambda: not screen.browser.forest.matched)
        await screen.press("escape")
        await screen.until(lambda: screen.here == "memtui:project/other/again.md")


async def test_many_keys_at_once_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown() as screen:
        await screen.press("slash")
        looked: list[str] = []
        drawn: list[tuple[str, ...]] = []
        forest, chrome = screen.browser.forest, screen.browser.chrome
        look, draw = forest.filter.set_words, chrome.update

        def set_filter(text: str) -> None:
            looked.append(text)
            look(text)

        def update(*names: str) -> None:
            drawn.append(names)
            draw(*names)

        monkeypatch.setattr(forest.filter, "set_words", set_filter)
        monkeypatch.setattr(chrome, "update", update)
        screen.burst(*["r", "e", "t", "r", "y", " "] * 100)
        await screen.until(lambda: looked[-1:] == ["retry " * 100])
        await screen.until_text("1 of 7")
        assert len(looked) < 20
        assert len(drawn) < 60


async def test_what_was_typed_counts_before_the_key_behind_it() -> None:
    async with shown() as screen:
        await screen.go(TODO)
        await screen.press("slash")
        screen.burst("r", "e", "t", "enter")
        await screen.until(lambda: screen.here == RETRY)
        assert not screen.browser.prompt.open
        assert not screen.browser.editing
        await screen.until_text("1 of 7 | /ret | name")
        await screen.press("escape", "slash")
        screen.burst("t", "o", "d", "escape")
        await screen.until(lambda: not screen.browser.prompt.open)
        await screen.until(lambda: screen.settled)
        assert not screen.browser.forest.filter.active


# What nobody uses


OLD, LATER, USED = "memtui:project/notes.md", "memtui:project/decisions/auth.md", "memtui:global/preferences.md"
DAY = 86_400


async def unused(screen: Shown, days: str = "") -> None:
    """Show what no agent used for so many days."""
    await screen.press("f", "o")
    await screen.type(days)
    await screen.press("enter")
    await screen.until(lambda: "old" in screen.browser.forest.filter.only)


def aged() -> Memories:
    """Memories of which three are older than a month, and a fourth is but was used; all others are a minute old."""
    engine = engine_with()
    for name, days in ((OLD, 40), (LATER, 31), (RETRY, 32), (USED, 50)):
        at = engine.now / 1000 - days * DAY
        os.utime(engine.path(Address.parse(name)), (at, at))
    engine.use(USED)
    return engine


async def test_what_nobody_uses_is_shown_and_kept_trashed_or_archived_key_by_key() -> None:
    async with shown(aged()) as screen:
        await unused(screen)
        await screen.until_text("3 of 7 | unused for 30 days")
        assert screen.footer.startswith("x keep  d t trash  d a archive  u undo")
        assert screen.here == LATER
        await screen.press("x")
        await screen.until_text("2 of 7")
        assert "auth.md kept: f o asks about it again in 30 days" in screen.footer
        assert screen.here == RETRY
        await screen.press("d", "t")
        await screen.until_text("1 of 6")
        assert screen.here == OLD
        await screen.press("d")
        assert "t moves memtui:project/notes.md to the trash, a to the archive" in screen.footer
        await screen.press("a")
        await screen.until_text("Nothing here is old and unused")
        assert Address.parse("memtui:workspace/archive/memtui/notes.md") in screen.engine.data
        await screen.press("u")
        await screen.until(lambda: Address.parse(OLD) in screen.engine.data)
        await screen.press("escape")
        await screen.until(lambda: not screen.browser.forest.filter.active)


async def test_what_is_kept_is_remembered_and_asked_about_again_after_as_long() -> None:
    engine = aged()
    async with shown(engine) as screen:
        await unused(screen, "35")
        await screen.until_text("1 of 7 | unused for 35 days")
        await screen.press("x")
        await screen.until(lambda: screen.browser.forest.matched == 0)
    async with shown(engine) as screen:
        await unused(screen)
        await screen.until_text("2 of 7")
        assert screen.here == LATER
        await screen.press("f", "o")
        assert not screen.browser.forest.filter.active
    engine.clock.now += 36 * DAY * 1000
    async with shown(engine) as screen:
        await unused(screen)
        await screen.until(lambda: screen.browser.forest.matched > 2)
        assert screen.browser.forest.filter.passes(screen.browser.forest.nodes[Address.parse(OLD)])


async def test_days_are_a_number_and_escape_asks_nothing() -> None:
    async with shown(aged()) as screen:
        for typed in ("soon", "0", "9" * 12):
            await screen.press("f", "o")
            await screen.type(typed)
            await screen.press("enter")
            await screen.until_text("Type a number of days from 1 to 3,650, such as 30.")
            await screen.press("escape")
            assert not screen.browser.forest.filter.active
            assert not screen.browser.prompt.open


@pytest.mark.parametrize(("first", "last"), [("f", "o unused   i instructions"), ("g", "p re-point  a review")])
async def test_every_key_that_may_follow_is_named_at_80_columns(first: str, last: str) -> None:
    async with shown(size=(80, 24)) as screen:
        await screen.press(first)
        await screen.until_text(last)
        assert "…" not in screen.text.splitlines()[-1].split(last)[0]


async def test_letters_and_pastes_are_text_of_the_line_and_arrows_move_meanwhile() -> None:
    async with shown() as screen:
        await screen.press("slash")
        await screen.type("d t p")
        assert screen.footer.startswith("/ d t p")
        await screen.pilot.press("ctrl+u")
        await screen.type("md")
        before = screen.here
        await screen.press("down")
        assert screen.here != before
        await screen.pilot.press("ctrl+u")
        screen.app.post_message(events.Paste("ret\x1b[31m\nsecond"))
        await screen.until_text("/ ret second")
        assert not screen.engine.steps()


async def test_sorting_again_reverses_and_is_said_in_the_title() -> None:
    async with shown() as screen:
        await screen.press("s", "s")
        await screen.until_text("7 | size")
        await screen.press("s", "s")
        await screen.until_text("7 | size reversed")
