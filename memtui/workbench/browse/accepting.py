"""Reviewing what a checkout brought along: until the user did so here, agents are given none of it unasked.

A review is of the very version that is shown; what comes later under the same name waits again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from memtui.engine.model import BROUGHT, Address, Memory
from memtui.ui.draw.words import count_words
from memtui.workbench.bridge import WRITE
from memtui.workbench.browse.nodes import MEMORY

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.browse.browser import BrowserScreen
    from memtui.workbench.browse.reviewing import Waiting


class Accepting:
    """Reviews versions: at once where their text is on the screen or they were marked, else after they were shown."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen

    def accept(self, root_id: str = "", then: Callable[[], None] = lambda: None) -> None:
        """Review the memory under the cursor or the marked ones; of a root or folder, show first what waits in it.

        Args:
            root_id: show what waits in this root.
            then: called when it is done.
        """
        screen, tree = self._screen, self._screen.memories
        targets, node = tree.targets(), tree.current
        if not root_id and (tree.marks or (node is not None and node.kind == MEMORY)):
            rows = (screen.forest.nodes[address].memory for address in targets if address in screen.forest.nodes)
            self.review([(row.address, row.sha256) for row in rows if row is not None and row.trust == BROUGHT], then)
            return

        def waiting(engine: Engine) -> list[Waiting]:
            from memtui.workbench.browse.reviewing import waiting

            return waiting(engine, engine.rows.list([root_id]).items if root_id else engine.rows.some(targets).values())

        def show(found: list[Waiting]) -> None:
            from memtui.workbench.browse.reviewing import ReviewingScreen

            def chosen(rows: tuple[Memory, ...] | None) -> None:
                if rows:
                    self.review([(row.address, row.sha256) for row in rows], then)

            if found:
                screen.app.push_screen(ReviewingScreen(screen, found), chosen)
            else:
                self._nothing()

        screen.bridge.run(waiting, show, what="show what waits for a review", awaited=True)

    def review(self, versions: Iterable[tuple[Address, str | None]], then: Callable[[], None]) -> None:
        """Review versions, whatever is under their names by now."""
        screen, actor = self._screen, self._screen.bridge.actor
        known = [(address, sha) for address, sha in versions if sha is not None]
        if not known:
            self._nothing()
            return
        name = str(known[0][0]) if len(known) == 1 else count_words(len(known), "memory")

        def done(_: int) -> None:
            screen.say(f"Reviewed {name}: agents are given this text from their next session on.", "good")
            screen.bridge.refresh(everything=True)
            then()

        screen.bridge.run(
            lambda engine: engine.history.review(known, actor=actor), done, what=f"review {name}", lane=WRITE
        )

    def _nothing(self) -> None:
        self._screen.say("Nothing waits for a review here.", "warning")
