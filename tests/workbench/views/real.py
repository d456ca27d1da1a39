"""The workbench on a real engine and a real folder: for views whose truth is what history and the audit say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import Address, Policy, Root
from memtui.workbench.app import MemtuiApp
from memtui.workbench.bridge import Bridge
from memtui.workbench.main_screen import StartFacts
from tests.workbench.memories import CLAUDE as CLAUDE
from tests.workbench.memories import ME as ME
from tests.workbench.memories import Clock
from tests.workbench.shown import DIRECTORIES, Shown


def at(path: str) -> Address:
    """An address in the only root."""
    return Address("notes", path)


class World:
    """A folder of memories and a state folder."""

    policy = Policy()

    def __init__(self, base: Path, policy: Policy | None = None) -> None:
        self.base = base
        self.policy = policy or self.policy
        self.folder = base / "notes"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.clock = Clock()

    def engine(self, *, read_only: bool = False) -> Engine:
        """An engine as a new process opens it."""
        roots = [Root("notes", str(self.folder), policy=self.policy)]
        return Engine.open(roots, state_dir=str(self.base / "state"), clock=self.clock, read_only=read_only)

    def disk(self) -> dict[str, bytes]:
        """Every memory."""
        files = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}

    def write(self, *texts: str, name: str = "a.md") -> Address:
        """Give a memory one version after the other, by turns mine and an agent's."""
        with self.engine() as engine:
            return write(engine, texts, at(name))


def write(engine: Engine, texts: Iterable[str], address: Address) -> Address:
    """Give a memory one version after the other."""
    for number, text in enumerate(texts):
        actor = CLAUDE if number % 2 else ME
        there = engine.history.of(address) and engine.folders.kind(address) == "file"
        if there:
            before = engine.read(address).sha256
            engine.save(address, text, expected_sha256=before, actor=actor)
        else:
            engine.memories.create(address, text, actor=actor)
    return address


class Real(Shown):
    """A running workbench on a real engine."""

    real: Engine
    world: World

    async def look(self, key: str, words: str) -> None:
        """Open a view, and wait until it shows something."""
        await self.press(key)
        await self.until_text(words)


@asynccontextmanager
async def real(
    world: World,
    *,
    size: tuple[int, int] = (120, 40),
    read_only: bool = False,
    settings: Settings | None = None,
    **facts: Any,
) -> AsyncIterator[Real]:
    """Run the workbench until its rows are fresh."""
    engine = world.engine(read_only=read_only)
    bridge = Bridge(engine, actor=ME, read_only=read_only, clock=world.clock)
    settings = settings or Settings(DIRECTORIES, "/home/ann")
    app = MemtuiApp(bridge, StartFacts(settings, engine.roots.all(), listing=engine.rows.list(), **facts))
    async with app.run_test(size=size) as pilot:
        running = Real(app, pilot, cast("Any", engine))
        running.real, running.world = engine, world
        await running.until(lambda: not app.browser.chrome.loading and app.browser.chrome.recent is not None)
        yield running
        unknown = {name for name, _ in app.paint._made} - set(app.paint._styles)
        assert not unknown, f"styles nobody defined: {unknown}"
    app.bridge.close()
    engine.close()
