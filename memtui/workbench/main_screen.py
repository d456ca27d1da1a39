"""The main screen's shared state and services, as its parts see it.

Parts take the screen and stand above this module, so that the screen never imports what its keys do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from textual.containers import Container
from textual.screen import Screen
from textual.widget import Widget

from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Address, Health, Listing, Root
from memtui.errors import MemtuiError
from memtui.ui.action import Action
from memtui.ui.draw.text import Line, count_words
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.widgets.lines import Lines, Tabs
from memtui.ui.widgets.prompts import Prompt
from memtui.ui.widgets.scroller import PageView, RowList
from memtui.workbench.actions import VIEWS
from memtui.workbench.tree import cells
from memtui.workbench.tree.forest import Effect, Forest
from memtui.workbench.tree.nodes import Key
from memtui.workbench.tree.tree import FullList, MemoryTree

if TYPE_CHECKING:
    from memtui.features.host import Host
    from memtui.ui.view_screen import ViewScreen
    from memtui.workbench.bridge import ActivityChanged, Bridge

P = TypeVar("P")

MAIN = "memories"
"""The id of the main screen as a view."""
PREVIEW, CHANGES, INFO = "preview", "changes", "info"
KEPT_MESSAGES = 200
EVERY_BAR = ("header", "tabs", "tree-title", "side-title", "about", "info-title", "detail", "activity", "footer")


class SavedPlace(NamedTuple):
    """Where the user was."""

    view: str = MAIN
    row: str = ""
    """The name of the row in that view."""
    cursor: Key = ()
    above: int = 0
    """Visible rows above the cursor."""
    opened: frozenset[Key] = frozenset()
    closed: frozenset[Key] = frozenset()
    words: str = ""
    only: frozenset[str] = frozenset()
    sort: str = "name"
    reverse: bool = False
    by_agent: bool = False
    instructions: bool = True
    mode: str = PREVIEW
    page: int = 0
    focus: str = "tree"
    """The focused pane: `tree`, `page` or `info`."""
    zoom: str = ""
    info: bool = True
    strip: bool = True
    projects: bool = False
    editing: Key = ()


NO_PLACE = SavedPlace()


class StartFacts(NamedTuple):
    """What the screen is given at the start; only the roots may grow."""

    settings: Settings
    roots: tuple[Root, ...]
    project: str = ""
    workspace: str = ""
    ascii: bool = False
    calm: bool = False
    demo: bool = False
    own_roots: Callable[[], tuple[Root, ...]] = tuple
    more_roots: Callable[[], tuple[Root, ...]] = tuple
    """Finds the roots of every project; slow."""
    unseen: Callable[[Iterable[Root]], tuple[Root, ...]] = lambda _: ()
    """Finds folders that look like memories and lie in none of these roots, as roots; slow."""
    listing: Listing | None = None
    place_name: str = ""
    """The name under which the place is stored; empty: it is not stored."""
    place: SavedPlace = NO_PLACE
    news: str = ""
    kept_theme: object = None
    light: bool | None = None
    """Whether the terminal's background is light; None: unknown."""
    surroundings: Surroundings | None = None


class ScreenStatus:
    """Messages and state shown around the panes."""

    def __init__(self, screen: Screen[Any], now: Callable[[], int]) -> None:
        self._screen, self._now = screen, now
        self.said: list[tuple[int, str]] = []
        """Messages so far, with their time; oldest first."""
        self.health = Health("watching")
        self.recent: ActivityChanged | None = None
        self.waiting: dict[str, int] = {}
        """Waiting items by view id, where only the view knows them."""
        self.dreaming = False
        self.proposed = 0
        """Proposals waiting for a person."""
        self.loading = True
        self.progress = ""
        self.projects = ""
        self.status: Line = []
        """The last message; empty once a key was pressed."""
        self.choices: Line = []
        self.header_drawn: Callable[[], object] = tuple

    def say(self, text: str, level: str) -> None:
        """Show one line until the next key."""
        self.remember(text)
        self.status = [(" " + text, level)]
        self.update("footer")

    def remember(self, text: str) -> None:
        """Add to the list of messages."""
        self.said.append((self._now(), text))
        del self.said[:-KEPT_MESSAGES]

    def hint(self, line: Line | None) -> None:
        if (line or []) != self.choices:
            self.choices = line or []
            self.update("footer")

    def clear(self) -> None:
        """Show the keys again."""
        if self.status or self.choices:
            self.status, self.choices = [], []
            self.update("footer")

    def update(self, *names: str) -> None:
        """Draw these bars again where they differ; all when none is named."""
        wanted = (*names, "tabs") if "header" in names else names or EVERY_BAR
        for name in wanted if self._screen.is_mounted else ():
            for bar in self._screen.query(f"#{name}").results(Lines):
                bar.update()
        if "header" in wanted:
            self.header_drawn()


class AppCalls(NamedTuple):
    """Functions of the app used by the main screen."""

    view_host: Callable[[], Host]
    find_hosts: Callable[[], None]
    do_there: Callable[[str], None]
    """Runs an action on the other machine's memory under the cursor."""


class MainScreen(KeyedScreen[None]):
    """Base of the main screen: what its parts share."""

    memories: MemoryTree
    filling: FullList

    def __init__(self, bridge: Bridge, facts: StartFacts, table: tuple[Action, ...], asked: AppCalls) -> None:
        super().__init__(table)
        self.bridge, self.facts, self.now = bridge, facts, bridge.now
        self.view_host, self.find_hosts, self.do_there = asked
        self._parts: dict[Callable[[Any], Any], Any] = {}
        self.forest = Forest()
        self.forest.names.scopes = {"project": facts.project, "workspace": facts.workspace}
        self.chrome = ScreenStatus(self, bridge.now)
        self.page_view = PageView(id="page")
        self.info_view = PageView(id="info-page")
        self.panes = Panes(self)
        self.all_projects = False
        self.every_root: tuple[Root, ...] | None = None
        """The roots of every project; None: not found yet."""
        self.lend_terminal: Callable[[str], None] = lambda _: None
        """Called with the program that gets the terminal, and with nothing when it is back."""
        self.keep_place: Callable[[], object] = tuple
        """Called when something stored for the next start has changed."""
        self.copied = ("", 0.0)
        """The text last copied with masked secrets, and when (`monotonic`)."""
        self.lists = 0
        """How often all memories were listed: first from the last run, then from disk."""
        self.drafts_read = False
        self.prompt = Prompt(None, self.chrome.update, "footer", "header")
        self.editing = False

    def part(self, kind: Callable[[Any], P]) -> P:
        """Return the part of this class, made when first asked for."""
        if kind not in self._parts:
            self._parts[kind] = kind(self)
        found: P = self._parts[kind]
        return found

    def made(self, kind: Callable[[Any], P]) -> P | None:
        """Return the part of this class if it was made."""
        return self._parts.get(kind)

    # What is known

    @property
    def typing(self) -> bool:
        focused = self.focused
        return focused is not None and not isinstance(focused, RowList | PageView)

    @property
    def page_is_read(self) -> bool:
        """Whether the memory's text is in front of the user."""
        return self.is_active and self.app.app_focus and self.page_view.is_on_screen and not self.editing

    def root_problem(self, root_id: str) -> str:
        """Say what is wrong with a root."""
        status = self.forest.statuses.get(root_id)
        if status is None:
            return ""
        words = [problem.text for problem in status.problems]
        if root_id in self.forest.losses.vanished:
            held = count_words(self.forest.losses.vanished[root_id], "memory")
            words.append(f"The folder is not there; it held {held}, and their texts are kept. 3 tells more.")
        if any(problem.code == "unreviewed" for problem in status.problems):
            words.append("g a shows what waits.")
        return " ".join(words)

    # Words

    def show_error(self, what: str, error: MemtuiError) -> None:
        """Show what failed, what is unharmed, and what to do."""
        self.chrome.loading = False
        self.say(f"Could not {what}: {error.message} {error.hint}".strip() + f" ({error.code})", "error")

    def show_hint(self, line: Line | None) -> None:
        self.chrome.hint(line)

    def not_done(self, what: str, error: MemtuiError) -> None:
        """Show an error where the text was typed, so that it can be corrected; else as any other error."""
        if not self.prompt.refuse(f"{error.message} {error.hint}".strip()):
            self.show_error(what, error)

    # For the screen itself

    def take(self, effect: Effect) -> None:
        """Show the effect of a change of rows."""
        raise NotImplementedError

    def show_view(self, id_: str) -> None:
        raise NotImplementedError

    def go_when_there(self, address: Address) -> None:
        """Put the cursor on a memory as soon as its row is known."""
        raise NotImplementedError

    def open_when_there(self, address: Address, *, then: str = "") -> None:
        """Open a memory as soon as its row is known; `then` as in `open_editor`."""
        raise NotImplementedError

    def open_editor(self, address: Address, *, then: str = "", left: tuple[ViewScreen, ...] = ()) -> None:
        """Edit a memory; leaving the editor returns to the view that was left for it (`left`, else the one just left).

        `then` is `compare`, `outside`, or a place such as `line 12` or `line 12:5`.
        """
        raise NotImplementedError


class Panes:
    """The layout of the panes."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.lines: dict[str, Callable[[int], list[Line]]] = {}
        self.arranged: Callable[[], object] = tuple
        self.over = False
        """Whether the text covers the tree, where there is no room beside it."""
        self.zoomed = ""
        """`left` or `right`: that pane fills the screen."""
        self.info_wanted = True
        self.strip_wanted = True

    @property
    def layout(self) -> Layout:
        width, height = self._screen.app.size
        return layout_for(
            width, height, over=self.over, zoom=self.zoomed, info=self.info_wanted, strip=self.strip_wanted
        )

    @property
    def wide(self) -> bool:
        """Whether there is room for the info pane."""
        return self._screen.app.size.width >= THREE_PANES

    @property
    def one_column(self) -> bool:
        """Whether there is no room for a pane beside the tree."""
        return self._screen.app.size.width < TWO_PANES

    def compose(self) -> Iterator[Widget]:
        screen, now = self._screen, self.layout
        left = Container(self._bar("tree-title"), screen.memories, id="left")
        title, about = self._bar("side-title"), self._bar("about")
        yield self._bar("header", ground="bar")
        if now.tabs:
            yield self._tabs()
        right = Container(title, about, screen.page_view, id="right", classes=self._edge)
        yield Container(left, right, *([self._info()] if now.info else []), id="body")
        if now.detail:
            yield self._bar("detail")
        if now.activity:
            yield self._bar("activity")
        yield self._bar("footer", ground="bar")

    def _bar(self, name: str, ground: str = "") -> Lines:
        return Lines(self.lines[name], id=name, ground=ground)

    def _tabs(self) -> Tabs:
        return Tabs(VIEWS, MAIN, lambda: self._screen.chrome.waiting)

    def _info(self) -> Container:
        return Container(self._bar("info-title"), self._screen.info_view, id="info", classes=self._edge)

    @property
    def _edge(self) -> str:
        return "ascii" if self._screen.facts.ascii else ""

    def place(self) -> None:
        """Lay out the panes for this size, mounting those that were missing."""
        screen, now = self._screen, self.layout
        if now.info and not screen.query("#info"):
            screen.query_one("#body").mount(self._info())
        if now.tabs and not screen.query("#tabs"):
            screen.mount(self._tabs(), after="#header")
        if now.detail and not screen.query("#detail"):
            screen.mount(self._bar("detail"), before="#footer")
        if now.activity and not screen.query("#activity"):
            screen.mount(self._bar("activity"), before="#footer")
        left, right = screen.query_one("#left"), screen.query_one("#right")
        left.display, right.display = bool(now.left), now.right
        left.styles.width = now.left if now.left > 0 else "1fr"
        right.set_class(not now.border, "alone")
        editing = screen.editing
        shown = {"#side-title": not editing, "#page": not editing, "#about": now.about and not editing}
        shown |= {
            "#info": now.info,
            "#detail": now.detail and (screen.chrome.loading or bool(screen.memories.count())),
            "#activity": now.activity,
            "#tabs": now.tabs,
            "#editor": editing,
        }
        for name, display in shown.items():
            for widget in screen.query(name):
                widget.display = display

    def follow_size(self) -> None:
        """Lay out the panes after a resize; the one that is typed into stays visible.

        A pane that vanishes loses the focus, and the next letters of a sentence would be commands.
        """
        focused = self._screen.focused
        in_text = focused is not None and any(pane.id == "right" for pane in focused.ancestors)
        self.over = self.one_column and (self.over or in_text)
        self.place()

    def rearrange(self, *, over: bool | None = None, zoom: str | None = None) -> None:
        """Cover the tree with the text or not, zoom a pane or not."""
        self.over = self.over if over is None else over
        self.zoomed = self.zoomed if zoom is None else zoom
        self.place()
        self._screen.call_after_refresh(self.arranged)


SMALL_WIDTH, SMALL_HEIGHT = 60, 15
"""Below either, only the tree fits."""
TWO_PANES, THREE_PANES = 100, 160
"""Widths from which the text, and info, have panes of their own."""
TREE = 57
"""Cells of the tree beside a text, until two fifths of the screen are more."""
WIDEST = cells.WORTH_DESCRIBING - 1
"""Its maximum: with a column for descriptions it would cut names although there is room."""
TABS_HEIGHT = 22
"""Height from which the line of tabs is shown on the main screen too."""
ACTIVITY_HEIGHT = 32
"""Height from which the last operations are shown."""


REST = -1


class Layout(NamedTuple):
    """Which panes are shown."""

    left: int
    """Cells of the tree; `REST`; 0: hidden."""
    right: bool
    border: bool
    about: bool
    info: bool
    detail: bool
    activity: bool
    tabs: bool = False


def layout_for(
    width: int, height: int, *, over: bool = False, zoom: str = "", info: bool = True, strip: bool = True
) -> Layout:
    """Decide which panes are shown, as `Panes` has its settings."""
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
            tabs=tabs,
        )
    three = width >= THREE_PANES
    info = info and three and not zoom
    return Layout(
        left=0 if zoom == "right" else REST if zoom == "left" else max(TREE, min(width * 2 // 5, WIDEST)),
        right=zoom != "left",
        border=not zoom,
        about=not info and height >= SMALL_HEIGHT,
        info=info,
        detail=False,
        activity=strip and height >= ACTIVITY_HEIGHT and not zoom,
        tabs=tabs,
    )
