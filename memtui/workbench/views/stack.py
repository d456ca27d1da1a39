"""Which view is on top: digits open one, esc goes back, and a view keeps its place between visits.

The main screen lies below all of them and is never touched by a visit, so its cursor, scroll, filter and marks stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from memtui.features.feature import load
from memtui.features.table import asks
from memtui.ui.view_screen import Within
from memtui.ui.widgets.lines import redraw
from memtui.workbench.actions import VIEW
from memtui.workbench.main_screen import MAIN

if TYPE_CHECKING:
    from memtui.engine.model import Address
    from memtui.features.host import Host, OfMemory
    from memtui.ui.view_screen import ViewScreen
    from memtui.workbench.main_screen import MainScreen
    from memtui.workbench.tree.nodes import Node


class Views:
    """Opens views and remembers those that were opened."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        screen.chrome.header_drawn = self.headers_changed
        self._made: dict[str, ViewScreen] = {}
        self._left: tuple[ViewScreen, ...] = ()
        """What lay over the main screen until the key that is being done left it."""
        self._asking: dict[str, Any] = {}
        """What asks for something of a feature, by its action; what was typed is kept there."""

    @cached_property
    def _host(self) -> Host:
        return self._screen.view_host()

    @property
    def current(self) -> str:
        """The view that is shown, or lies directly below a list on top of it."""
        for screen in reversed(self._screen.app.screen_stack):
            for id_, made in self._made.items():
                if screen is made:
                    return id_
        return MAIN

    def made(self, id_: str) -> ViewScreen | None:
        """A view that was opened before."""
        return self._made.get(id_)

    def show(self, id_: str, node: Node | None = None) -> ViewScreen | None:
        """Show a view; the one that was on top goes away and keeps its place.

        Args:
            id_: a key of `VIEW`.
            node: the row of the tree it is asked about; None for everything.

        Returns:
            Its screen, new or as it was left; None for the main screen.
        """
        app = self._screen.app
        wanted = self._make(id_) if VIEW[id_].screen else None
        if app.screen is wanted:
            return wanted
        self._screen.keep_place()
        while app.screen is not self._screen and app.screen is not wanted:
            app.pop_screen()
        if wanted is not None and app.screen is not wanted:
            wanted.entered(self._within(node) if node is not None else None)
            app.push_screen(wanted)
        return wanted

    def _within(self, node: Node) -> Within:
        """What lies at or below a row of the tree."""
        forest = self._screen.forest
        scopes = {root.id: root.scope for root in forest.roots.values()}
        return Within(forest.label(node), lambda address: is_below(address, node, scopes))

    def about(self, id_: str, address: Address, *at: str | None) -> None:
        """Show a view that is about one memory over what is shown now; `at` is where it begins, if it can be told."""
        made = self._make(id_)
        cast("OfMemory", made).about(address, *at)
        self._lay_over(made)

    def over(self, id_: str) -> None:
        """Show a view that has no tab over what is shown now."""
        made = self._make(id_)
        made.entered(None)
        self._lay_over(made)

    def ask(self, action: str) -> None:
        """Ask what a feature asks for this action, over what is shown now."""
        if action not in self._asking:
            self._asking[action] = load(asks()[action])(self._host)
        self._asking[action].start(self._screen.app.push_screen)

    def _lay_over(self, view: ViewScreen) -> None:
        """Show a view over what is shown now; where it lies further down, what lies over it goes away."""
        app = self._screen.app
        while view in app.screen_stack and app.screen is not view:
            app.pop_screen()
        if app.screen is not view:
            app.push_screen(view)

    def leave(self, view: ViewScreen) -> None:
        """Leave a view: for what it lies over, or for the main screen."""
        if VIEW[view.ID].key:
            self.back()
            return
        self._screen.app.pop_screen()
        for made in self._made.values():
            if made is self._screen.app.screen:
                made.tell_news()

    def back(self) -> None:
        """Go back to the main screen."""
        made = frozenset(self._made.values())
        self._left = tuple(screen for screen in self._screen.app.screen_stack[1:] if screen in made)
        self._screen.call_later(self.take_left)
        self.show(MAIN)

    def take_left(self) -> tuple[ViewScreen, ...]:
        """What was just left, once: an editor that opens now goes back to it."""
        left, self._left = self._left, ()
        return left

    def again(self, left: tuple[ViewScreen, ...]) -> None:
        """Show what was left, with its place as it was."""
        app = self._screen.app
        if app.screen is not self._screen:
            return
        for screen in left:
            app.push_screen(screen)
            screen.tell_news()
        self._screen.keep_place()

    def headers_changed(self) -> None:
        """Draw the header of each view anew: drafts or counts are others, and nothing happened to memories."""
        for view in self._made.values():
            view.update("#view-header", "#tabs")

    def news(self) -> None:
        """Tell every open view that something happened on disk or in the ledger."""
        for view in self._made.values():
            view.tell_news()

    def redraw(self) -> None:
        """Draw anew, in other colours."""
        for view in self._made.values():
            redraw(view)

    def _make(self, id_: str) -> ViewScreen:
        made = self._made.get(id_)
        if made is None:
            new: ViewScreen = load(VIEW[id_].screen)(self._host)
            made = self._made[id_] = new
            self._screen.app.install_screen(made, f"view-{id_}")
        return made


def is_below(address: Address, node: Node, scopes: Mapping[str, str]) -> bool:
    """Whether a memory lies at or below a row of the tree, also when it is not on disk any more."""
    if node.kind == "scope":
        return scopes.get(address.root) == node.name
    if address.root != node.root:
        return False
    return node.kind == "root" or address.path == node.key[-1] or address.path.startswith(node.key[-1] + "/")
