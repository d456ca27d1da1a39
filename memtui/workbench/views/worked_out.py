"""A list that is worked out from many memories: when it is opened, and again once it is quiet, while somebody looks.

Agents write in bursts; a view that worked everything out with each write would do nothing else.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from memtui.workbench.views.listed import ListedScreen

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.workbench.browse.browser import BrowserScreen

QUIET = 0.6
"""Seconds without news before everything is worked out again."""
PATIENCE = 3.0
"""Seconds of news without a pause after which it is worked out all the same."""


class WorkedOutScreen(ListedScreen):
    """What is worked out; the cursor stays where it was left."""

    def __init__(self, browser: BrowserScreen) -> None:
        super().__init__(browser)
        self.due: Timer | None = None
        """When there was news it will be worked out again."""
        self._waiting_since = 0.0

    # For subclasses

    @property
    def known(self) -> bool:
        """Whether it was worked out before."""
        raise NotImplementedError

    def work_out(self) -> None:
        """Work it out now; what is under way is given up."""
        raise NotImplementedError

    # Coming, and news

    def on_mount(self) -> None:
        """Begin."""
        self.load()

    def on_screen_resume(self) -> None:
        """Show what happened meanwhile."""
        if self.known:
            self.load()

    def news(self) -> None:
        """Work it out anew once it is quiet, unless nobody looks."""
        if self.browser.views.current != self.ID:
            return
        now = monotonic()
        if self.due is None:
            self._waiting_since = now
        left = self._waiting_since + PATIENCE - now
        if self.due is not None:
            if left <= 0:
                return
            self.due.stop()
        self.due = self.set_timer(min(QUIET, left), self.load)

    def load(self) -> None:
        """Work it out now."""
        if self.due is not None:
            self.due.stop()
            self.due = None
        self.work_out()

    def reload(self) -> None:
        """Read every folder again, and work it out from that."""
        self.say("Reading every folder again.")
        self.bridge.reload()
        self.load()
