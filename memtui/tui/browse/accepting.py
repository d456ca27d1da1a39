"""Accepting what a checkout brought along: until the user says so here, agents are given none of its texts unasked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.tui.bridge import WRITE

if TYPE_CHECKING:
    from memtui.tui.browse.browser import BrowserScreen


class Accepting:
    """Accepts roots."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen

    def accept(self, root_id: str = "", then: Callable[[], None] = lambda: None) -> None:
        """Remember that the user looked at a root and trusts it.

        Args:
            root_id: which; empty for the one under the cursor.
            then: called when it is done.
        """
        screen, node = self._screen, self._screen.memories.current
        root_id = root_id or (node.root if node is not None else "")
        status = screen.forest.statuses.get(root_id)
        if status is None:
            screen.say("accept: put the cursor on the root, or on a memory in it, first.", "warning")
            return
        if all(problem.code != "unreviewed" for problem in status.problems):
            screen.say(f"{root_id} needs no review.")
            return

        def done(_: None) -> None:
            screen.say(f"{root_id} accepted: agents are given its texts from their next session on.")
            screen.bridge.refresh(everything=True)
            then()

        screen.bridge.run(lambda engine: engine.accept_root(root_id), done, what=f"accept {root_id}", lane=WRITE)
