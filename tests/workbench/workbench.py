"""The editor on a real engine, without the rest of the workbench: what the flow tests drive."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from textual import on
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from memtui.config.directories import Directories
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Root
from memtui.errors import MemtuiError
from memtui.ui.draw.paint import THEMES, Paint
from memtui.workbench.bridge import Bridge, EditorWants, Failed, Finished
from memtui.workbench.edit.edit_flow import EditFlow, EditorOptions
from memtui.workbench.edit.editor import MemoryEditor
from memtui.workbench.edit.host import handle

ACTOR = Actor("tui")
AGENT = Actor("agent:claude")
START = 1_767_225_600_000


class Bench(App[None]):
    """One editor, one bridge."""

    ENABLE_COMMAND_PALETTE = False
    plain = False

    def __init__(
        self, folder: Path, *, read_only: bool = False, editor_command: str = "true", advance: float | None = 0.0
    ) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name
        self.paint = Paint(self.get_css_variables())
        self.folder = folder
        self.root = Root("notes", str(folder / "root"))
        self.engine = Engine.open([self.root], state_dir=str(folder / "state"), read_only=read_only)
        self.bridge = Bridge(self.engine, actor=ACTOR, read_only=read_only)
        self.command = editor_command
        self.advance = advance
        self.left = 0
        self.failures: list[MemtuiError] = []
        self.flow: EditFlow

    def compose(self) -> ComposeResult:
        yield MemoryEditor()

    def on_mount(self) -> None:
        self.bridge.attach(self, self)
        options = EditorOptions(
            left=self.count_left,
            roots=lambda: {self.root.id: self.root},
            settings=Settings(Directories("", str(self.folder / "private"), "", ""), None, editor=self.command),
            advance=self.advance,
        )
        self.flow = EditFlow(self, self.bridge, self.query_one(MemoryEditor), options)

    def count_left(self, words: str) -> None:
        self.left += 1

    def on_finished(self, event: Finished) -> None:
        if event.then is not None:
            event.then(event.result)

    def on_failed(self, event: Failed) -> None:
        if event.otherwise is not None:
            event.otherwise(event.error)
        else:
            self.failures.append(event.error)

    @on(EditorWants)
    def asked(self, event: EditorWants) -> None:
        handle(self.flow, event)

    @property
    def editor(self) -> MemoryEditor:
        """The editor."""
        return self.query_one(MemoryEditor)

    def path(self, name: str) -> Path:
        """A file of the root."""
        return self.folder / "root" / name


def address(name: str = "a.md") -> Address:
    """An address in the only root."""
    return Address("notes", name)


async def until(pilot: Pilot[None], condition: Callable[[], bool], *, seconds: float = 100.0) -> None:
    """Wait for something to be true, on a screen that is filled; fail with what the editor says before the time-out."""
    end = time.monotonic() + seconds
    while not condition() or bool(getattr(pilot.app.screen, "reading", False)):
        app = pilot.app
        failures = [f"{error!r} from {error.__cause__!r}" for error in app.failures] if isinstance(app, Bench) else []
        assert time.monotonic() < end, f"it never happened; {failures}"
        await pilot.pause()
        await asyncio.sleep(0.01)
    await pilot.pause()
