"""The panes of the main screen: what is mounted, what is shown, and how wide it is at this size.

What a size has no room for is not even mounted, because every widget costs each start; it is when the screen has grown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from textual.containers import Container
from textual.widget import Widget

from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.tabs import Tabs
from memtui.workbench.actions import VIEWS

if TYPE_CHECKING:
    from memtui.workbench.browse.browser import BrowserScreen


class Panes:
    """Places the panes."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
        self.over = False
        """The text is shown over the tree, where there is no room beside it."""
        self.zoomed = ""
        """`left` or `right`: that pane has the screen."""
        self.info_wanted = True
        """The info pane is shown where there is room."""

    @property
    def layout(self) -> Layout:
        """Which panes there are at this size."""
        width, height = self._screen.app.size
        return layout_for(width, height, over=self.over, zoom=self.zoomed, info=self.info_wanted)

    @property
    def wide(self) -> bool:
        """Whether there is room for the info pane."""
        return self._screen.app.size.width >= THREE_PANES

    @property
    def one_column(self) -> bool:
        """Whether the pane beside the tree is hidden unless it is asked for."""
        return self._screen.app.size.width < TWO_PANES

    def compose(self) -> Iterator[Widget]:
        """Header, tree, text, info, details, activity, footer."""
        screen, chrome, now = self._screen, self._screen.chrome, self.layout
        left = Container(Lines(chrome.tree_title, id="tree-title"), screen.memories, id="left")
        right = Container(
            Lines(chrome.side_title, id="side-title"),
            Lines(chrome.about, id="about"),
            screen.page_view,
            id="right",
            classes=self._edge,
        )
        yield Lines(chrome.header, id="header", ground="bar")
        if now.tabs:
            yield Tabs(VIEWS, "memories", chrome.counts)
        yield Container(left, right, *([self._info()] if now.info else []), id="body")
        if now.detail:
            yield Lines(chrome.detail, id="detail")
        if now.activity:
            yield Lines(chrome.activity, id="activity")
        yield Lines(chrome.footer, id="footer", ground="bar")

    def _info(self) -> Container:
        title = Lines(self._screen.chrome.info_title, id="info-title")
        return Container(title, self._screen.info_view, id="info", classes=self._edge)

    @property
    def _edge(self) -> str:
        return "ascii" if self._screen.facts.ascii else ""

    def place(self) -> None:
        """Give every pane its room at this size, mounting those that had none before."""
        screen, chrome, now = self._screen, self._screen.chrome, self.layout
        if now.info and not screen.query("#info"):
            screen.query_one("#body").mount(self._info())
        if now.tabs and not screen.query("#tabs"):
            screen.mount(Tabs(VIEWS, "memories", chrome.counts), after="#header")
        if now.detail and not screen.query("#detail"):
            screen.mount(Lines(chrome.detail, id="detail"), before="#footer")
        if now.activity and not screen.query("#activity"):
            screen.mount(Lines(chrome.activity, id="activity"), before="#footer")
        left, right = screen.query_one("#left"), screen.query_one("#right")
        left.display, right.display = bool(now.left), now.right
        left.styles.width = now.left if now.left > 0 else "1fr"
        right.set_class(not now.border, "alone")
        editing = screen.editing
        shown = {"#side-title": not editing, "#page": not editing, "#about": now.about and not editing}
        shown |= {
            "#info": now.info,
            "#detail": now.detail,
            "#activity": now.activity,
            "#tabs": now.tabs,
            "#editor": editing,
        }
        for name, display in shown.items():
            for widget in screen.query(name):
                widget.display = display

    def follow_size(self) -> None:
        """Place the panes after the screen changed its size; the one that is typed into stays on it.

        A pane that vanishes loses the focus, and the next letters of a sentence would be commands.
        """
        focused = self._screen.focused
        in_text = focused is not None and any(pane.id == "right" for pane in focused.ancestors)
        self.over = self.one_column and (self.over or in_text)
        self.place()

    def rearrange(self, *, over: bool | None = None, zoom: str | None = None) -> None:
        """Show the text over the tree or not, give a pane the screen or not."""
        self.over = self.over if over is None else over
        self.zoomed = self.zoomed if zoom is None else zoom
        self.place()
        self._screen.call_after_refresh(self._screen.side.refresh)


SMALL_WIDTH, SMALL_HEIGHT = 60, 15
"""Below either, there is room for the tree only."""
TWO_PANES, THREE_PANES = 100, 160
"""From these widths on there is a pane for the text, and one more for info."""
TABS_HEIGHT = 22
"""From this height on the line of tabs is shown on the main screen too."""
ACTIVITY_HEIGHT = 32
"""From this height on the last operations are shown."""
LEAST_WIDTH, LEAST_HEIGHT = 20, 4
"""Below this nothing useful can be shown."""

ACTIVITY, INFO = 4, 48
"""Lines of the activity, title included; cells of the info pane."""

REST = -1
"""A pane that takes what is left."""


class Layout(NamedTuple):
    """What is shown."""

    left: int
    """Cells of the tree; `REST`; 0: not shown."""
    right: bool
    border: bool
    """A line between tree and text."""
    about: bool
    info: bool
    detail: bool
    activity: bool
    too_small: bool = False
    tabs: bool = False


def layout_for(width: int, height: int, *, over: bool = False, zoom: str = "", info: bool = True) -> Layout:
    """Decide what is shown.

    Args:
        width, height: the screen, in cells.
        over: the text was asked for where there is no room beside the tree.
        zoom: `left` or `right`: that pane has the screen; empty: none.
        info: the info pane is wanted where there is room.
    """
    too_small = width < LEAST_WIDTH or height < LEAST_HEIGHT
    tabs = width >= SMALL_WIDTH and height >= TABS_HEIGHT
    if width < TWO_PANES:
        detail = width >= SMALL_WIDTH and height >= SMALL_HEIGHT and not over
        about = height >= SMALL_HEIGHT
        return Layout(
            left=0 if over else REST,
            right=over,
            border=False,
            about=about,
            info=False,
            detail=detail,
            activity=False,
            too_small=too_small,
            tabs=tabs,
        )
    three = width >= THREE_PANES
    info = info and three and not zoom
    return Layout(
        left=0 if zoom == "right" else REST if zoom == "left" else 65 if three else 57,
        right=zoom != "left",
        border=not zoom,
        about=not info and height >= SMALL_HEIGHT,
        info=info,
        detail=False,
        activity=height >= ACTIVITY_HEIGHT and not zoom,
        too_small=too_small,
        tabs=tabs,
    )
