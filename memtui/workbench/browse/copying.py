"""What the copy keys put on the clipboard, and how it is said that they did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.workbench.browse.nodes import MEMORY

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.browse.browser import BrowserScreen


class Copying:
    """Copies things about the memory under the cursor."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen

    def path(self) -> None:
        """The path of the file, or of every marked one."""
        screen, targets = self._screen, self._screen.memories.targets()
        node = screen.memories.current
        if not screen.memories.marks and node is not None and node.kind != MEMORY:
            targets = targets[:1]
        screen.bridge.run(
            lambda engine: "\n".join(engine.roots.file_path(address) for address in targets),
            lambda text: self._copy(text, "the path" if len(targets) == 1 else f"{len(targets)} paths"),
            what="find the path",
        )

    def contents(self) -> None:
        """The text."""
        memory = self._screen.side.memory
        if memory is None:
            return

        def text(engine: Engine) -> str:
            return engine.read(memory.address).text

        self._screen.bridge.run(text, lambda found: self._copy(found, "the text"), what=f"read {memory.address}")

    def description(self) -> None:
        """The description."""
        memory = self._screen.side.memory
        self._copy(memory.description if memory is not None else "", "the description")

    def sha(self) -> None:
        """The hash of the text."""
        memory = self._screen.side.memory
        self._copy((memory.sha256 if memory is not None else None) or "", "the sha-256")

    def _copy(self, text: str, what: str) -> None:
        put_on_clipboard(self._screen, text, what)


def put_on_clipboard(screen: BrowserScreen, text: str, what: str) -> None:
    """Copy a text and say by which route; `what` names it in the message."""
    if not text:
        screen.say(f"There is nothing to copy: {what} is empty.", "warning")
        return
    from memtui.ui.clipboard import copy

    terminal = screen.facts.settings.terminal
    escaped: list[str] = []

    def copied(route: str) -> None:
        for through_terminal in escaped:
            screen.app.copy_to_clipboard(through_terminal)
        screen.say(f"Copied {what} ({len(text):,} characters) by {route}.", "good")

    screen.bridge.run(lambda _: copy(text, terminal, escaped.append), copied, what=f"copy {what}")
