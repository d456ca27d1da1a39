"""The workbench on the folders of several agents, behind a real engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memtui.config.settings import Settings
from memtui.engine.model import Actor, Address
from memtui.workbench.app import MemtuiApp
from memtui.workbench.bridge import Bridge
from memtui.workbench.main_screen import StartFacts
from tests.features.transfer.agents import Agents
from tests.workbench.memories import Memories
from tests.workbench.shown import DIRECTORIES, Shown


@asynccontextmanager
async def opened(agents: Agents, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Shown]:
    """Open the workbench on them, with their base as the home folder."""
    with agents.engine() as engine:
        bridge = Bridge(engine, actor=Actor("tui"))
        app = MemtuiApp(bridge, StartFacts(Settings(DIRECTORIES, str(agents.base)), engine.roots.all()))
        async with app.run_test(size=size) as pilot:
            shown = Shown(app, pilot, Memories({}, ()))
            await shown.until(lambda: bool(shown.browser.forest.nodes) and not app.browser.chrome.loading)
            yield shown
        bridge.close()


async def put_cursor(screen: Shown, name: str) -> None:
    """Put the cursor on a memory."""
    assert screen.browser.memories.reveal(Address.parse(name))
    await screen.until(lambda: screen.here == name and screen.browser.side.memory is not None)


async def until_said(screen: Shown, words: str) -> None:
    """Wait until the user was told something, however much of it fits the screen."""
    await screen.until(lambda: any(words in text for _, text in screen.browser.chrome.said))
