"""The whole workbench on memories in a folder: how tests start it, wait for it and read its screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import _wait, events
from textual.pilot import Pilot

from memtui.config.directories import Directories
from memtui.config.settings import Settings
from memtui.engine.model import Address
from memtui.workbench.app import MemtuiApp
from memtui.workbench.bridge import Bridge
from memtui.workbench.browse.browser import BrowserScreen
from memtui.workbench.main_screen import SavedPlace, StartFacts
from tests.workbench import stylesheets
from tests.workbench.memories import ME, Memories, told_at_once

stylesheets.keep()

# Three times a key, Textual's pilot waits until the process rests, for at least 20 ms: half the time of all tests of
# the screen. What takes longer is waited for by name.
_wait.SLEEP_GRANULARITY, _wait.SLEEP_IDLE = 1 / 100, 1 / 2000

DIRECTORIES = Directories("/nowhere", "/nowhere/state", "/nowhere/data", "--home")

TEXTS = {
    "memtui:global/preferences.md": "# Preferences\n\nTabs.\n",
    "memtui:global/style/prose.md": "Short sentences.\n",
    "memtui:global/style/code.md": "No tricks.\n",
    "memtui:project/decisions/auth.md": "Session tokens.\n",
    "memtui:project/decisions/retry.md": "# Retry\n\n- three times\n- with jitter\n",
    "memtui:project/notes.md": "Notes.\n",
    "memtui:workspace/todo.md": "- ends\n",
}
"""Memories most tests start with."""


AT_THE_FIRST = SavedPlace(cursor=("memory", "memtui:global", "style/code.md"))
"""Where most tests start: the first memory in the tree."""


def engine_with(texts: dict[str, str] | None = None) -> Memories:
    """An engine that holds these memories, or the usual ones."""
    return Memories(TEXTS if texts is None else texts)


def settings_in(home: str, **chosen: Any) -> Settings:
    """The settings of a user with this home, who chose these."""
    return Settings(DIRECTORIES, home, **chosen)


def make_app(
    memories: Memories, *, read_only: bool = False, settings: dict[str, Any] | None = None, **facts: Any
) -> MemtuiApp:
    """The app on memories; `facts` are those of `StartFacts`."""
    memories.read_only = read_only
    bridge = Bridge(memories.engine, actor=ME, read_only=read_only, clock=memories.clock)
    chosen = settings_in(str(Path.home()), **(settings or {}))
    if "listing" not in facts:
        facts["listing"] = memories.engine.rows.list()
    told = {"project": "acme-api", "workspace": "fix-login", "place": AT_THE_FIRST, **facts}
    return MemtuiApp(bridge, StartFacts(chosen, memories.roots, **told))


async def resize(pilot: Pilot[Any], width: int, height: int) -> None:
    """Give the terminal another size, and wait until the screen has it: Textual takes it up a little later."""
    await pilot.resize_terminal(width, height)
    screen = pilot.app.screen
    while screen._compositor.size != (width, height) or screen._layout_required:
        await asyncio.sleep(0.005)
    await pilot.pause()


class Shown:
    """A running workbench."""

    def __init__(self, app: MemtuiApp, pilot: Pilot[int], engine: Memories) -> None:
        self.app = app
        self.pilot = pilot
        self.engine = engine

    @property
    def browser(self) -> BrowserScreen:
        """The main screen."""
        return self.app.browser

    @property
    def text(self) -> str:
        """What is on the screen."""
        strips = self.app.screen._compositor.render_strips(self.app.size)
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def footer(self) -> str:
        """The last line."""
        return self.text.split("\n")[-1].strip()

    @property
    def here(self) -> str:
        """The row under the cursor."""
        node = self.browser.memories.current
        return (
            str(node.memory.address)
            if node is not None and node.memory is not None
            else "/".join(node.key if node else ())
        )

    @property
    def settled(self) -> bool:
        """Whether no key is held and none is on its way."""
        return self.app.fence.settled

    def forget_haste(self) -> None:
        """Have the next key taken as one that was typed after reading what is on the screen."""
        self.app.fence._quiet_until = self.app.fence._paste_until = 0.0
        self.app.fence._watch._given.clear()

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, at the pace of a person."""
        for key in keys:
            self.forget_haste()
            await self.pilot.press(key)
            await self.until(lambda: self.app.fence.holding or not self.app.fence.waiting)

    async def type(self, text: str) -> None:
        """Type letters into a line of text."""
        await self.pilot.press(*("space" if letter == " " else letter for letter in text))

    async def until(self, condition: Callable[[], bool], *, seconds: float = 100.0) -> None:
        """Wait for something to be true; fail with the screen shortly before the test's own time-out."""
        end, pause = time.monotonic() + seconds, 0.002
        while not condition():
            assert time.monotonic() < end, "it never happened:\n" + self.text
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.02)  # a look at the screen takes as long as drawing it
        await self.pilot.pause()

    async def until_text(self, words: str) -> None:
        """Wait for words on the screen."""
        await self.until(lambda: words in self.text)

    def burst(self, *keys: str) -> None:
        """Press keys all at once, as a fast typist or a lagging line delivers them."""
        for key in keys:
            name = "space" if key == " " else key
            character = key if len(key) == 1 else "\r" if key == "enter" else None
            self.app.post_message(events.Key(name, character))

    def stop_watching(self) -> None:
        """Have nobody tell the workbench what others do from now on."""
        watch = self.app.bridge._watch
        assert watch is not None
        watch.stop()

    async def go(self, name: str) -> None:
        """Put the cursor on a memory, as a user's keys would."""
        assert self.browser.memories.reveal(Address.parse(name))
        await self.until(lambda: self.here == name and self.browser.side.memory is not None)


@asynccontextmanager
async def shown(
    engine: Memories | None = None, *, size: tuple[int, int] = (120, 40), **options: Any
) -> AsyncIterator[Shown]:
    """Run the workbench until its rows are fresh."""
    engine = engine_with() if engine is None else engine
    app = make_app(engine, **options)
    with told_at_once():
        async with app.run_test(size=size) as pilot:
            running = Shown(app, pilot, engine)
            await running.until(lambda: not app.browser.chrome.loading)
            yield running
            unknown = {name for name, _ in app.paint._made} - set(app.paint._styles)
            assert not unknown, f"styles nobody defined: {unknown}"
    app.bridge.close()
    engine.restart()
