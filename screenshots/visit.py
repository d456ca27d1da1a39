"""A user at the keyboard of one program: presses keys, waits until the screen answers, finds memories in the tree."""

import re

from screenshots.stage import Stage
from tests.terminal import Terminal

ANSWERED = 0.12
"""Seconds without a byte after which a key has been answered, unless the machine is busy."""
QUIET = 0.25
"""Seconds without a byte after which a screen is taken for finished."""
REST = 1.6
"""Seconds without a byte after which nothing more comes by itself; longer than a memory must be shown to be seen."""
PATIENCE = 60.0
"""Seconds for what is waited for; pictures are also taken on busy machines."""


class Visit:
    """One program on one stage."""

    def __init__(self, terminal: Terminal, stage: Stage) -> None:
        self.terminal = terminal
        self.stage = stage

    def press(self, *keys: str, quiet: float = ANSWERED) -> None:
        """Press keys one after the other, each when the last has been answered: nothing came for so many seconds."""
        for key in keys:
            self.terminal.press(key)
            self.terminal.settle(quiet, seconds=PATIENCE)

    def type(self, text: str) -> None:
        """Type a text."""
        self.terminal.type(text)
        self.terminal.settle(QUIET, seconds=PATIENCE)

    def see(self, text: str) -> None:
        """Wait for a text."""
        self.terminal.wait_for(text, seconds=PATIENCE)

    def rest(self) -> None:
        """Wait until nothing changes any more."""
        self.terminal.settle(REST, seconds=PATIENCE)

    def start(self) -> None:
        """Wait for the workbench."""
        self.terminal.wait_for(lambda shown: "Memories" in shown.text and "filter" in shown.text, seconds=PATIENCE)
        self.rest()

    def go_to(self, address: str) -> None:
        """Walk down the tree to a memory; on a busy machine, where a title may come late, once more and slower."""
        title = re.compile(rf"── {re.escape(address)} ─|-- {re.escape(address)} -")
        for quiet in (ANSWERED, 4 * ANSWERED):
            self.press("g", "g", quiet=quiet)
            for _ in range(80):
                if title.search(self.terminal.text):
                    self.rest()
                    return
                self.press("j", quiet=quiet)
        raise AssertionError(f"{address} is not in the tree:\n{self.terminal.text}")
