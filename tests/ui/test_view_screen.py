"""What every view has: help on its own keys, a palette, messages, undo, and reasons for keys that are off."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Address, Root
from memtui.ui.view_screen import ViewScreen
from tests.workbench.shown import Shown, shown
from tests.workbench.views.real import CLAUDE, ME, World, real

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


LONG, SHORT = "claude-code:project:-home-ann-src-shop-api", "claude-code:project"


class Aliased(World):
    """A root with a long name and a short one."""

    def engine(self, *, read_only: bool = False) -> Engine:
        """An engine on it."""
        roots = [Root(LONG, str(self.folder), agent="claude-code", scope="project", aliases=(SHORT,))]
        return Engine.open(roots, state_dir=str(self.base / "state"), clock=self.clock, read_only=read_only)


@pytest.fixture
def world(tmp_path: Path) -> Aliased:
    world = Aliased(tmp_path)
    with world.engine() as engine:
        engine.watch.reconcile()
        engine.memories.create(Address(LONG, "a.md"), "text of a\n", actor=CLAUDE)
        engine.memories.create(Address(LONG, "b.md"), "text of b\n", actor=ME)
        engine.memories.delete([Address(LONG, "b.md")], actor=ME)
    return world


async def test_every_view_has_the_short_name(world: Aliased) -> None:
    async with real(world, size=(200, 60)) as screen:  # rows are wide enough for the whole name and counts beside it
        for key in ("3", "5", "6"):
            await screen.press(key)
            await screen.until_text(f"{SHORT}/{'b' if key == '6' else 'a'}.md")
            assert LONG not in screen.text
        await screen.press("r")
        await screen.until_text(f"Restored {SHORT}/b.md. u takes it back.")
        await screen.press("u")
        await screen.until_text(f"Undid: restore {SHORT}/b.md.")
        await screen.press("H")
        await screen.until_text(f"History of {SHORT}/b.md")
        assert LONG not in screen.text


@pytest.mark.parametrize(("key", "said"), [("enter", f">{SHORT}/a.md"), ("C", f"{SHORT}/a.md")])
async def test_the_editor_and_a_copy_have_the_short_name(world: Aliased, key: str, said: str) -> None:
    async with real(world) as screen:
        assert screen.browser.memories.reveal(Address(LONG, "a.md"))
        await screen.press(key)
        await screen.until_text(said)
        assert LONG not in screen.text
