"""What every view has: help on its own keys, a palette, messages, undo, and reasons for keys that are off."""

from __future__ import annotations

from memtui.ui.view_screen import ViewScreen
from tests.workbench.shown import Shown, shown

AUTH = "memtui:project/decisions/auth.md"


async def changes(screen: Shown) -> ViewScreen:
    await screen.press("3")
    await screen.until(lambda: screen.browser.views.current == "changes")
    top = screen.app.screen
    assert isinstance(top, ViewScreen)
    return top


async def test_messages_open_on_top_and_news_reach_the_header() -> None:
    async with shown() as screen:
        await changes(screen)
        screen.engine.outside(AUTH, "other\n")
        await screen.until_text("A1 agent edits")
        await screen.press("M")
        await screen.until_text("Messages")
        await screen.press("escape")
        await screen.until_text("Changes since you looked")


async def test_the_palette_runs_the_views_own_actions_and_says_what_is_off() -> None:
    async with shown() as screen:
        screen.engine.outside(AUTH, "other\n")
        await screen.until_text("A1 agent edits")
        await changes(screen)
        await screen.until_text("auth.md")
        for said in ("Seen: 1 change.", "(You have se"):
            await screen.press("colon")
            await screen.type("seen all of")
            if said.startswith("Seen"):
                await screen.press("enter")
            await screen.until_text(said)
