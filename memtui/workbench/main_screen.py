"""The main screen as its parts know it: what lies on it, what is said on it, and what a part may ask of it.

A part takes the screen and stands above this module, so that the screen never imports what its keys do.
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
from memtui.ui.draw.spans import Line
from memtui.ui.draw.words import count_words
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.page_view import PageView
from memtui.ui.widgets.rowlist import RowList
from memtui.ui.widgets.tabs import Tabs
from memtui.workbench.actions import VIEWS
from memtui.workbench.tree import cells
from memtui.workbench.tree.forest import Effect, Forest
from memtui.workbench.tree.nodes import Key
from memtui.workbench.tree.tree import FullList, MemoryTree

if TYPE_CHECKING:
    from memtui.features.host import Host
    from memtui.ui.view_screen import ViewScreen
    from memtui.ui.widgets.prompts import Prompt, Question
    from memtui.workbench.bridge import ActivityChanged, Bridge

P = TypeVar("P")

MAIN = "memories"
"""The view that is the main screen."""
PREVIEW, CHANGES, INFO = "preview", "changes", "info"
"""What the pane beside the tree can show."""
KEPT_MESSAGES = 200
EVERY_BAR = ("header", "tabs", "tree-title", "side-title", "about", "info-title", "detail", "activity", "footer")


class Place(NamedTuple):
    """Where the user was."""

    view: str = MAIN
    row: str = ""
    """The row of that view, in its own words."""
    cursor: Key = ()
    above: int = 0
    """Rows in view above the cursor."""
    opened: frozenset[Key] = frozenset()
    closed: frozenset[Key] = frozenset()
    words: str = ""
    """The filter."""
    only: frozenset[str] = frozenset()
    sort: str = "name"
    reverse: bool = False
    by_agent: bool = False
    instructions: bool = True
    """Whether the files people write for agents were shown."""
    mode: str = PREVIEW
    """What the pane beside the tree shows."""
    page: int = 0
    """Its first line in view."""
    focus: str = "tree"
    """Which pane had the keys: `tree`, `page` or `info`."""
    zoom: str = ""
    info: bool = True
    strip: bool = True
    """Whether the newest activity was shown below the tree."""
    projects: bool = False
    """Whether the memories of every project were shown."""
    editing: Key = ()
    """What was open in the editor."""


NOWHERE = Place()


class Facts(NamedTuple):
    """What the screen is told at the start; only the roots may become more."""

    settings: Settings
    roots: tuple[Root, ...]
    """Those of where the user stands."""
    project: str = ""
    workspace: str = ""
    ascii: bool = False
    calm: bool = False
    demo: bool = False
    own_roots: Callable[[], tuple[Root, ...]] = tuple
    """Finds the roots of where the user stands again."""
    more_roots: Callable[[], tuple[Root, ...]] = tuple
    """Finds the roots of every project; slow."""
    unseen: Callable[[Iterable[Root]], tuple[Root, ...]] = lambda _: ()
    """Finds folders that look like memories and lie in none of these roots, as roots that show them; slow."""
    listing: Listing | None = None
    """The rows of the last run."""
    place_name: str = ""
    """What the place is kept under for the next start; empty: it is not kept."""
    place: Place = NOWHERE
    """Where the user was in the last run."""
    news: str = ""
    """What is said at the start."""
    kept_theme: object = None
    """What was kept of the theme that was chosen with a key."""
    light: bool | None = None
    """Whether the terminal's background is light; None: it did not say."""
    surroundings: Surroundings | None = None
    """Where the user stands, for what depends on more than the roots."""


class Chrome:
    """What is said around the panes, and what is known beside the rows."""

    def __init__(self, screen: Screen[Any], now: Callable[[], int]) -> None:
        self._screen, self._now = screen, now
        self.said: list[tuple[int, str]] = []
        """What the user was told, with when; oldest first."""
        self.health = Health("watching")
        self.recent: ActivityChanged | None = None
        """The newest entries of the audit."""
        self.waiting: dict[str, int] = {}
        """How much waits in each view, by its id, where only the view knows it."""
        self.dreaming = False
        """A dream runs somewhere."""
        self.proposed = 0
        """Proposals that wait for a person."""
        self.loading = True
        self.progress = ""
        """How far a change of many memories is."""
        self.projects = ""
        """What is being done about other projects."""
        self.status: Line = []
        """What was said last; empty: the next key was pressed."""
        self.choices: Line = []
        """Which keys may follow the first of two."""
        self.header_drawn: Callable[[], object] = tuple
        """Called when the header is drawn anew."""

    def say(self, text: str, level: str) -> None:
        """Show one line until the next key."""
        self.remember(text)
        self.status = [(" " + text, level)]
        self.update("footer")

    def remember(self, text: str) -> None:
        """Keep it for the list of messages."""
        self.said.append((self._now(), text))
        del self.said[:-KEPT_MESSAGES]

    def hint(self, line: Line | None) -> None:
        """Show which keys may follow."""
        if (line or []) != self.choices:
            self.choices = line or []
            self.update("footer")

    def clear(self) -> None:
        """Show the keys again."""
        if self.status or self.choices:
            self.status, self.choices = [], []
            self.update("footer")

    def update(self, *names: str) -> None:
        """Draw bars anew, where they differ; all of them when none is named."""
        wanted = (*names, "tabs") if "header" in names else names or EVERY_BAR
        for name in wanted if self._screen.is_mounted else ():
            for bar in self._screen.query(f"#{name}").results(Lines):
                bar.update()
        if "header" in wanted:
            self.header_drawn()


class AppCalls(NamedTuple):
    """What the main screen asks of the app."""

    view_host: Callable[[], Host]
    """Makes the workbench as the views of features know it."""
    find_hosts: Callable[[], None]
    """Asks other machines for their memories."""
    do_there: Callable[[str], None]
    """Does an action, by its id, with the memory of another machine under the cursor."""


class MainScreen(KeyedScreen[None]):
    """What is shared by the parts of the main screen."""

    memories: MemoryTree
    filling: FullList
    """What takes in a full list of rows."""

    def __init__(self, bridge: Bridge, facts: Facts, table: tuple[Action, ...], asked: AppCalls) -> None:
        """Take what is known at the start.

        Args:
            bridge: does the work.
            facts: what is told at the start.
            table: the actions with the user's own keys.
            asked: what is asked of the app.
        """
        super().__init__(table)
        self.bridge, self.facts, self.now = bridge, facts, bridge.now
        self.view_host, self.find_hosts, self.do_there = asked
        self._parts: dict[Callable[[Any], Any], Any] = {}
        self.forest = Forest()
        self.forest.names = {"project": facts.project, "workspace": facts.workspace}
        self.chrome = Chrome(self, bridge.now)
        self.page_view = PageView(id="page")
        self.info_view = PageView(id="info-page")
        self.panes = Panes(self)
        self.all_projects = False
        """Whether the memories of every project are wanted."""
        self.every_root: tuple[Root, ...] | None = None
        """The roots of every project; None: they were not found yet."""
        self.lend_terminal: Callable[[str], None] = lambda _: None
        """Told which other program gets the terminal, and (with nothing) when it comes back."""
        self.keep_place: Callable[[], object] = tuple
        """Called when something that is kept for the next start is another one."""
        self.copied = ("", 0.0)
        """The text that was copied last with its secrets masked, and when (`monotonic`)."""
        self.lists = 0
        """How often all memories were listed: the first time as they were known, then as they are on disk."""
        self.drafts_read = False
        """It is known which memories have unsaved text."""
        self.prompt: Prompt | None = None
        """The line of text being typed in the footer."""
        self.editing = False
        """Whether the editor is shown."""

    def part(self, kind: Callable[[Any], P]) -> P:
        """Return the part of this class; it is made when it is first asked for."""
        if kind not in self._parts:
            self._parts[kind] = kind(self)
        found: P = self._parts[kind]
        return found

    def made(self, kind: Callable[[Any], P]) -> P | None:
        """Return the part of this class, if it was ever asked for."""
        return self._parts.get(kind)

    # What is known

    @property
    def typing(self) -> bool:
        """Whether letters are text now."""
        focused = self.focused
        return focused is not None and not isinstance(focused, RowList | PageView)

    @property
    def page_is_read(self) -> bool:
        """Whether the memory's text is on the screen, in front of the user."""
        return self.is_active and self.app.app_focus and self.page_view.is_on_screen and not self.editing

    def root_problem(self, root_id: str) -> str:
        """What is wrong with a root."""
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
        """Show what could not be done, what is unharmed, and what to do."""
        self.chrome.loading = False
        self.say(f"Could not {what}: {error.message} {error.hint}".strip() + f" ({error.code})", "error")

    def show_hint(self, line: Line | None) -> None:
        """Show which keys may follow."""
        self.chrome.hint(line)

    # The line of text in the footer

    def ask(self, question: Question) -> None:
        """Ask for one line of text."""
        from memtui.ui.widgets.prompts import Prompt

        self.prompt = Prompt(question)
        self.chrome.update("header", "footer")

    def close_prompt(self) -> None:
        """Put the line of text away."""
        self.prompt = None
        self.chrome.update("header", "footer")

    def refuse_prompt(self, text: str) -> bool:
        """Say why a typed text cannot be used; False when there is no line any more."""
        if self.prompt is None:
            return False
        self.prompt.refuse(text)
        self.chrome.update("footer")
        return True

    def not_done(self, what: str, error: MemtuiError) -> None:
        """Say why it was not done where the text was typed, so that it can be made right; else as any other error."""
        if not self.refuse_prompt(f"{error.message} {error.hint}".strip()):
            self.show_error(what, error)

    # For the screen itself

    def take(self, effect: Effect) -> None:
        """Show what became of the rows."""
        raise NotImplementedError

    def show_view(self, id_: str) -> None:
        """Show another view, or this screen again."""
        raise NotImplementedError

    def go_when_there(self, address: Address) -> None:
        """Put the cursor on a memory as soon as its row is known."""
        raise NotImplementedError

    def open_when_there(self, address: Address, *, then: str = "") -> None:
        """Open a memory as soon as its row is known; `then` is that of `open_editor`."""
        raise NotImplementedError

    def open_editor(self, address: Address, *, then: str = "", left: tuple[ViewScreen, ...] = ()) -> None:
        """Open a memory in the editor; leaving it goes back to the view that was left for it.

        Args:
            address: which.
            then: `compare`, `outside`, or a place such as `line 12` or `line 12:5`.
            left: the view it is opened from, where that was not left just now.
        """
        raise NotImplementedError


class Panes:
    """Places the panes."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.lines: dict[str, Callable[[int], list[Line]]] = {}
        """What draws each bar, by its id."""
        self.arranged: Callable[[], object] = tuple
        """Called when the panes have other sizes."""
        self.over = False
        """The text is shown over the tree, where there is no room beside it."""
        self.zoomed = ""
        """`left` or `right`: that pane has the screen."""
        self.info_wanted = True
        """The info pane is shown where there is room."""
        self.strip_wanted = True
        """The newest activity is shown below where there is room."""

    @property
    def layout(self) -> Layout:
        """Which panes there are at this size."""
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
        """Whether the pane beside the tree is hidden unless it is asked for."""
        return self._screen.app.size.width < TWO_PANES

    def compose(self) -> Iterator[Widget]:
        """Header, tree, text, info, details, activity, footer."""
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
        """Give every pane its room at this size, mounting those that had none before."""
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
        self._screen.call_after_refresh(self.arranged)


SMALL_WIDTH, SMALL_HEIGHT = 60, 15
"""Below either, there is room for the tree only."""
TWO_PANES, THREE_PANES = 100, 160
"""From these widths on there is a pane for the text, and one more for info."""
TREE = 57
"""Cells of the tree beside a text, from which on it takes two fifths of the screen."""
WIDEST = cells.WORTH_DESCRIBING - 1
"""Cells it takes at most: with a column for descriptions it would cut names although there is room."""
TABS_HEIGHT = 22
"""From this height on the line of tabs is shown on the main screen too."""
ACTIVITY_HEIGHT = 32
"""From this height on the last operations are shown."""


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
    tabs: bool = False


def layout_for(
    width: int, height: int, *, over: bool = False, zoom: str = "", info: bool = True, strip: bool = True
) -> Layout:
    """Decide what is shown.

    Args:
        width, height: the screen, in cells.
        over: the text was asked for where there is no room beside the tree.
        zoom: `left` or `right`: that pane has the screen; empty: none.
        info: the info pane is wanted where there is room.
        strip: so is the newest activity.
    """
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
