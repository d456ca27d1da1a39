"""Which files three steps pass: `python -m tests.house.paths` prints them in the order they are first entered.

A file is passed when one of its functions runs, on any thread, from the beginning of the step to its end. What only
runs once in a process, such as an import or the opening of the ledger, is done before.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from textual.message import Message

from memtui.config.read import load_settings
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Changes, Health, Root
from memtui.mcp_server.connection import FULL, ClientConnection
from memtui.wire.session import Options
from memtui.workbench.bridge import WRITE, Bridge, Finished, HealthChanged, RowsChanged
from tests.house.source import ROOT

SECONDS = 20.0
HOME = str(ROOT / "memtui") + "/"
A, B = Address("notes", "a.md"), Address("notes", "b.md")
ME = Actor("tui")


class Passed:
    """The files that were entered while it counts."""

    def __init__(self) -> None:
        """Count nothing yet."""
        self._files: dict[str, None] = {}
        self._without: tuple[str, ...] = ()
        self._counts = False

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Take note of a call; the hook of `sys.setprofile`."""
        if not self._counts or event != "call" or threading.current_thread().name in self._without:
            return
        name = frame.f_code.co_filename
        if name.startswith(HOME):
            self._files[name.removeprefix(HOME)] = None

    def begin(self, *without: str) -> None:
        """Count from now on, but not on threads of these names."""
        self._files.clear()
        self._without = without
        self._counts = True

    def end(self) -> tuple[str, ...]:
        """What was entered, in order."""
        self._counts = False
        return tuple(self._files)


class Screen:
    """Takes what the bridge posts, in place of the workbench's screen."""

    def __init__(self) -> None:
        """Wait for nothing."""
        self._news = threading.Condition()
        self._told: list[Message] = []
        self.wanted: Callable[[Message], bool] = lambda _: False
        self.reached: Callable[[], object] = lambda: None

    def post_message(self, message: Message) -> bool:
        """Remember a message; the one that was waited for ends the step."""
        if self.wanted(message):
            self.reached()
            self.wanted = lambda _: False
        with self._news:
            self._told.append(message)
            self._news.notify_all()
        return True

    def until(self, wanted: Callable[[Message], bool]) -> None:
        """Wait for a message."""
        end = time.monotonic() + SECONDS
        with self._news:
            while not any(wanted(message) for message in self._told):
                assert time.monotonic() < end, self._told
                self._news.wait(0.1)

    def quiet(self, seconds: float = 0.5) -> None:
        """Wait until nothing more is told for a while."""
        with self._news:
            while self._news.wait(seconds):
                pass
            self._told.clear()


@contextmanager
def hooked() -> Iterator[Passed]:
    """Count on this thread, and on all that are started from now on."""
    passed = Passed()
    threading.setprofile(passed)
    sys.setprofile(passed)
    try:
        yield passed
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@contextmanager
def followed(base: Path) -> Iterator[tuple[Passed, Engine, Bridge, Screen]]:
    """An engine and a bridge that follow two memories; everything that happens once has happened."""
    (base / "notes").mkdir()
    for address in (A, B):
        (base / "notes" / address.path).write_text(f"---\ndescription: of {address.path}\n---\ntext\n")
    screen = Screen()
    with hooked() as passed, Engine.open([Root("notes", str(base / "notes"))], state_dir=str(base / "state")) as engine:
        bridge = Bridge(engine, actor=ME)
        bridge.attach(screen, screen)
        bridge.start()
        try:
            screen.until(lambda message: isinstance(message, HealthChanged) and message.health == Health("watching"))
            for address in (A, B):
                save(engine, address, f"first of {address}\n")
            screen.quiet()
            yield passed, engine, bridge, screen
        finally:
            bridge.close()


def save(engine: Engine, address: Address, text: str) -> object:
    """Save a memory as the editor does."""
    return engine.save(address, text, expected_sha256=engine.read(address).sha256, actor=ME)


def a_save(base: Path) -> tuple[str, ...]:
    """From the job that the editor gives to the bridge until the text is on disk and in the ledger."""
    with followed(base) as (passed, engine, bridge, screen):
        before = engine.read(A).sha256
        found: list[tuple[str, ...]] = []

        def on_disk(_: Changes) -> None:
            found.append(passed.end())

        engine.events._callbacks.insert(0, on_disk)
        passed.begin("memtui-watch", "memtui-listener")
        bridge.run(
            lambda engine: engine.save(A, "second\n", expected_sha256=before, actor=ME), what="save a.md", lane=WRITE
        )
        screen.until(lambda message: isinstance(message, Finished))
    return found[0]


def an_outside_write(base: Path) -> tuple[str, ...]:
    """From another program's write to the new row on its way to the screen."""

    def badge(message: Message) -> bool:
        return isinstance(message, RowsChanged) and any(row.unseen for row in message.rows)

    with followed(base) as (passed, _engine, _bridge, screen):
        found: list[tuple[str, ...]] = []
        screen.wanted, screen.reached = badge, lambda: found.append(passed.end())
        passed.begin()
        (base / "notes" / A.path).write_text("by somebody else\n")
        screen.until(badge)
    return found[0]


def an_agents_edit(base: Path) -> tuple[str, ...]:
    """From an agent's call of `str_replace` to its answer, without the library that carries both."""
    settings = load_settings({"HOME": str(base), "XDG_RUNTIME_DIR": str(base)}, home=str(base / "home"))
    connection = ClientConnection(
        lambda: settings, Options(only_roots=True, project=str(base)), access=None, context=FULL
    )
    connection.set_name("codex")
    path = "/memories/global/a.md"
    with hooked() as passed:
        try:
            called(connection, command="create", path=path, file_text="one\n")
            called(connection, command="str_replace", path=path, old_str="one", new_str="two")
            passed.begin()
            called(connection, command="str_replace", path=path, old_str="two", new_str="three")
            return passed.end()
        finally:
            connection.close()


def called(connection: ClientConnection, **arguments: str) -> None:
    """Call the memory tool."""
    result = connection.call_tool("memory", arguments)
    assert result.ok, result.text


class Step(NamedTuple):
    """One step."""

    run: Callable[[Path], tuple[str, ...]]
    """Takes an empty folder; gives the files it passed."""
    most: int
    """How many it passes today, and may pass: only ever fewer."""


STEPS = {
    "a save": Step(a_save, 12),
    "an outside write": Step(an_outside_write, 14),
    "an agent's str_replace": Step(an_agents_edit, 18),
}


def main() -> None:
    """Print the files of each step."""
    for name, step in STEPS.items():
        with tempfile.TemporaryDirectory() as base:
            files = step.run(Path(base))
        print(f"{name}: {len(files)} files, at most {step.most}")
        for file in files:
            print(f"    {file}")


if __name__ == "__main__":
    main()
