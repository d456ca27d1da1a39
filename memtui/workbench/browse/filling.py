"""A full list of memories on its way into the tree: thousands of rows go in a part at a time, between the keys.

What is told of a row meanwhile is newer than the list, so the list never undoes it; a newer list takes the place of one
that is still on its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TYPE_CHECKING

from memtui.workbench.browse.groups import worth_showing
from memtui.workbench.browse.rows import Effect

if TYPE_CHECKING:
    from memtui.engine.model import Address, Listing
    from memtui.workbench.browse.browser import BrowserScreen
    from memtui.workbench.browse.nodes import Key

SLICE = 0.03
"""Seconds that rows go in without a pause."""
PAUSE = 0.005
"""Seconds of that pause: keys and news come first."""


class Filling:
    """Takes in full lists."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self._work: Iterator[None] | None = None
        """What is left to do of the newest list."""
        self._resting = False
        """Whether it goes on after a pause."""
        self._newer: set[Address] = set()
        """Of which more was told since that list came."""
        self._rebuilt = False
        self._touched: set[Key] = set()

    @property
    def busy(self) -> bool:
        """Whether a list is on its way."""
        return self._work is not None

    def take(self, listing: Listing) -> None:
        """Take in a list: a short one before this returns, unless another is on its way."""
        self._newer = set()
        self._work = self._fill(listing)
        if not self._resting:
            self._go_on()

    def told_of(self, addresses: Iterable[Address]) -> None:
        """Leave these rows as they are: what is known of them is newer than the list."""
        if self.busy:
            self._newer.update(addresses)

    def _go_on(self) -> None:
        self._resting = False
        end = monotonic() + SLICE
        for _ in self._work or ():
            if monotonic() >= end:
                self._resting = True
                self._screen.app.set_timer(PAUSE, self._go_on)  # a covered screen would be drawn again
                return

    def _fill(self, listing: Listing) -> Iterator[None]:
        screen = self._screen
        forest = screen.forest
        screen.forest.statuses = {status.root.id: status for status in listing.roots}
        roots = worth_showing(screen.facts.roots, listing, forest.losses.vanished)
        for effect in forest.replace_all(roots, listing.items, self._newer):
            self._rebuilt = self._rebuilt or effect.rebuilt
            self._touched |= effect.touched
            yield
        effect = Effect(self._rebuilt, frozenset(self._touched))
        self._work, self._rebuilt, self._touched = None, False, set()
        self._show(listing, effect)

    def _show(self, listing: Listing, effect: Effect) -> None:
        """Show what became of the rows, and tell whoever follows them."""
        screen = self._screen
        screen.chrome.loading = False
        screen.take(effect)
        screen.checkup.rows_loaded(listing)
        if listing.truncated:
            screen.say("Some folders hold more memories than are shown; see g t, H and memtui doctor.", "warning")
        if screen.editing:
            screen.host.rows_changed(None)
