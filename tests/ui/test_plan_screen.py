"""What screens with a typed line, a list and details have in common."""

from pathlib import Path

import pytest

from memtui.ui.plan_screen import PlanScreen
from tests.features.transfer.agents import Agents
from tests.workbench.browse.agents_shown import opened


@pytest.mark.parametrize("key", ["g i", "C"])
async def test_quitting_leaves_the_program_and_escape_the_screen(tmp_path: Path, key: str) -> None:
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"a.md": "A\n"})
    async with opened(agents) as screen:
        for leave in ("escape", "ctrl+q"):
            await screen.press(*key.split())
            await screen.until(lambda: isinstance(screen.app.screen, PlanScreen))
            await screen.type("x")
            await screen.press(leave)
            if leave == "escape":
                await screen.until(lambda: screen.app.screen is screen.browser)
        await screen.until(lambda: not screen.app.is_running or screen.app._exit)


async def test_a_paste_goes_into_the_line_as_one(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"a.md": "A\n"})
    async with opened(agents) as screen:
        await screen.press("g", "i")
        await screen.until(lambda: isinstance(screen.app.screen, PlanScreen))
        found = screen.app.screen
        assert isinstance(found, PlanScreen)
        found._take_paste("a\nb.tar\n")
        assert found.prompt.text == "a b.tar"
