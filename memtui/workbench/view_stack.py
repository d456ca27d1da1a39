"""The stack of views over the main screen: digits open one, esc goes back, and each keeps its place between visits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memtui.features.feature import load
from memtui.features.table import asks
from memtui.ui.view_screen import ViewFilter
from memtui.workbench.actions import VIEW
from memtui.workbench.main_screen import MAIN

if TYPE_CHECKING:
    from memtui.engine.model import Address
    from memtui.features.host import Host
    from memtui.ui.view_screen import ViewScreen
    from memtui.workbench.main_screen import MainScreen
    from memtui.workbench.tree.nodes import Node


class Views:
    """Opens views and keeps those that were opened."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        screen.chrome.header_drawn = self.headers_changed
        self._made: dict[str, ViewScreen] = {}
        self._left: tuple[ViewScreen, ...] = ()
        """The views that the current key has just left."""
        self._asking: dict[str, Any] = {}

    @cached_property
    def _host(self) -> Host:
        return self._screen.view_host()

    @property
    def current(self) -> str:
        """The view shown, or directly below a list on top of it."""
        for screen in reversed(self._screen.app.screen_stack):
            for id_, made in self._made.items():
                if screen is made:
                    return id_
        return MAIN

    def made(self, id_: str) -> ViewScreen | None:
        return self._made.get(id_)

    def show(self, id_: str, node: Node | None = None) -> ViewScreen | None:
        """Show a view; the one on top closes and keeps its place.

        `node` restricts it to a row of the tree. Returns its screen; None for the main screen.
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

    def _within(self, node: Node) -> ViewFilter:
        forest = self._screen.forest
        scopes = {root.id: root.scope for root in forest.roots.values()}
        return ViewFilter(forest.names.label(node), lambda address: is_below(address, node, scopes))

    def about(self, id_: str, address: Address, *at: str | None) -> None:
        """Show a view about one memory over the current one; `at` is where it begins."""
        made: Any = self._make(id_)
        made.about(address, *at)
        self._lay_over(made)

    def over(self, id_: str) -> None:
        made = self._make(id_)
        made.entered(None)
        self._lay_over(made)

    def ask(self, action: str) -> None:
        """Open a feature's dialog for this action."""
        if action not in self._asking:
            self._asking[action] = load(asks()[action])(self._host)
        self._asking[action].start(self._screen.app.push_screen)

    def _lay_over(self, view: ViewScreen) -> None:
        """Show a view over the current one; if it is further down, what covers it closes."""
        app = self._screen.app
        while view in app.screen_stack and app.screen is not view:
            app.pop_screen()
        if app.screen is not view:
            app.push_screen(view)

    def leave(self, view: ViewScreen) -> None:
        """Leave a view for the one below it, or for the main screen."""
        if VIEW[view.ID].key:
            self.back()
            return
        self._screen.app.pop_screen()
        for made in self._made.values():
            if made is self._screen.app.screen:
                made.tell_news()

    def back(self) -> None:
        made = frozenset(self._made.values())
        self._left = tuple(screen for screen in self._screen.app.screen_stack[1:] if screen in made)
        self._screen.call_later(self.take_left)
        self.show(MAIN)

    def take_left(self) -> tuple[ViewScreen, ...]:
        """Return the views just left, once: an editor that opens now returns to them."""
        left, self._left = self._left, ()
        return left

    def again(self, left: tuple[ViewScreen, ...]) -> None:
        """Show left views again, at their place."""
        app = self._screen.app
        if app.screen is not self._screen:
            return
        for screen in left:
            app.push_screen(screen)
            screen.tell_news()
        self._screen.keep_place()

    @property
    def opened(self) -> tuple[ViewScreen, ...]:
        """Every view that was opened before."""
        return tuple(self._made.values())

    def headers_changed(self) -> None:
        """Draw the header of each view again: drafts or counts changed."""
        for view in self._made.values():
            view.update("#view-header", "#tabs")

    def news(self) -> None:
        """Tell every open view that something changed on disk or in the ledger."""
        for view in self._made.values():
            view.tell_news()

    def _make(self, id_: str) -> ViewScreen:
        made = self._made.get(id_)
        if made is None:
            new: ViewScreen = load(VIEW[id_].screen)(self._host)
            made = self._made[id_] = new
            self._screen.app.install_screen(made, f"view-{id_}")
        return made


def is_below(address: Address, node: Node, scopes: Mapping[str, str]) -> bool:
    """Whether a memory lies at or below a row of the tree, even if it is no longer on disk."""
    if node.kind == "scope":
        return scopes.get(address.root) == node.name
    if address.root != node.root:
        return False
    return node.kind == "root" or address.path == node.key[-1] or address.path.startswith(node.key[-1] + "/")
