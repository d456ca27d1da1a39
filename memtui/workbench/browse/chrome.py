"""What stands around the tree and the text: which panes there are at a size, and what header, titles and footer say.

What a size has no room for is not even mounted, because every widget costs each start; it is when the screen has grown.
A bar is made into lines when it asks for them, from what was said and what is known about the watcher.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from textual.containers import Container
from textual.widget import Widget

from memtui.agents.discovery import looked_for
from memtui.engine.model import Health
from memtui.features.tasks.glance import said
from memtui.safe_text import cell_width, visible
from memtui.ui.action import Action, beside_text, in_room, shown_keys
from memtui.ui.draw import bars
from memtui.ui.draw.pages import fold
from memtui.ui.draw.spans import Line
from memtui.ui.draw.words import both_ends
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.tabs import Tabs
from memtui.workbench.actions import BROWSER_ROOMS, VIEWS
from memtui.workbench.browse.side import INFO
from memtui.workbench.tree import cells
from memtui.workbench.tree.cells import State
from memtui.workbench.tree.nodes import OLD

if TYPE_CHECKING:
    from memtui.features.tasks.glance import LaneNews
    from memtui.workbench.bridge import ActivityChanged
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
            "#detail": now.detail and (self._screen.chrome.loading or bool(self._screen.memories.count())),
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


KEPT_MESSAGES = 200

ONLY = {"unseen": "unseen", "pinned": "pinned", "conflicts": "in conflict", OLD: "old and unused"}
"""What a memory is that one of the filters with a key shows."""

EVERY_BAR = ("header", "tabs", "tree-title", "side-title", "about", "info-title", "detail", "activity", "footer")


class Chrome:
    """Words around the panes."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen
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
        self._status: Line = []
        self._hint: Line = []

    # What is said

    def say(self, text: str, level: str) -> None:
        """Show one line until the next key."""
        self.remember(text)
        self._status = [(" " + text, level)]
        self.update("footer")

    def remember(self, text: str) -> None:
        """Keep it for the list of messages."""
        self.said.append((self._screen.now(), text))
        del self.said[:-KEPT_MESSAGES]

    def hint(self, line: Line | None) -> None:
        """Show which keys may follow."""
        if (line or []) != self._hint:
            self._hint = line or []
            self.update("footer")

    def clear(self) -> None:
        """Show the keys again."""
        if self._status or self._hint:
            self._status, self._hint = [], []
            self.update("footer")

    def update(self, *names: str) -> None:
        """Draw bars anew, where they differ; all of them when none is named."""
        wanted = (*names, "tabs") if "header" in names else names or EVERY_BAR
        for name in wanted if self._screen.is_mounted else ():
            for bar in self._screen.query(f"#{name}").results(Lines):
                bar.update()
        if "header" in wanted and (views := self._screen.opened_views) is not None:
            views.headers_changed()

    def take_tasks(self, news: LaneNews) -> None:
        """Show how much waits in the background, tell the views of it and of what it proposes, and say what ended."""
        if (self.waiting.get("tasks", 0), self.dreaming, self.proposed) != (news.waiting, news.dreaming, news.proposed):
            self.waiting["tasks"], self.dreaming, self.proposed = news.waiting, news.dreaming, news.proposed
            self.update("header")
        views = self._screen.opened_views
        if views is not None and news.changed:
            for view in filter(None, map(views.made, ("tasks", "changes"))):
                view.tell_news()
        words, level = said(news.ended, news.proposed)
        screen, top = self._screen, self._screen.app.screen
        taken = bool(self._status or self._hint or screen.editing or screen.prompt)
        if top is not screen:
            taken = not isinstance(top, KeyedScreen) or top.line_taken
        if words and not taken:
            screen.say(words, level)
        elif words:
            self.remember(words)  # what answers a key stays until the next one

    def counts(self) -> dict[str, int]:
        """How much waits in each view, for the tabs; what waits in Review is counted in the header."""
        return self.waiting

    @property
    def unseen(self) -> int:
        """Changes by others that the user has not seen, deletions included."""
        return self._screen.forest.totals.unseen + self._screen.forest.losses.total

    # Lines

    def header(self, width: int) -> list[Line]:
        """Where the user stands, and what needs them."""
        screen, facts = self._screen, self._screen.facts
        state = State(
            facts.project,
            facts.workspace,
            screen.forest.totals,
            self.unseen,
            self.health,
            screen.bridge.read_only,
            facts.demo and not getattr(screen.app.screen, "letters_are_text", False),  # else its keys would be text
            self.loading,
            screen.projects.progress if "projects" in screen.__dict__ else "",
            self._needed_size(),
            0 if screen.is_current and screen.panes.layout.left else len(screen.memories.marks),
            self.dreaming,
            self.proposed,
        )
        return [cells.header(state, width)]

    def _needed_size(self) -> str:
        """The size that would show more than the tree, where this one does not."""
        width, height = self._screen.app.size
        small = width < SMALL_WIDTH or height < SMALL_HEIGHT
        return f"{SMALL_WIDTH}x{SMALL_HEIGHT}" if small else ""

    def tree_title(self, width: int) -> list[Line]:
        """How many memories, and which are shown how."""
        screen, forest, tree = self._screen, self._screen.forest, self._screen.memories
        notes = cells.tree_notes(
            forest.matched,
            len(forest.nodes),
            filtered=forest.filtered,
            sort=forest.sort,
            reverse=forest.reverse,
            marked=len(tree.marks),
            room=width - bars.LEAST_TITLE,
            only=" | ".join(
                [
                    *([f"/{' '.join(forest.words)}"] if forest.words else []),
                    *(screen.filtering.named(only) for only in sorted(forest.only)),
                    *(["no instructions"] if not forest.instructions else []),
                ]
            ),
        )
        return [self._title("Memories", notes, width, focused=self._screen.focused is tree)]

    def side_title(self, width: int) -> list[Line]:
        """What is shown beside the tree."""
        words, notes = self._screen.side.title()
        return [self._title(words, notes, width, focused=self._screen.focused is self._screen.page_view)]

    def info_title(self, width: int) -> list[Line]:
        """The title of the info pane."""
        focused = self._screen.focused is self._screen.info_view
        return [self._title("Info", [("i hides", "dim")], width, focused=focused)]

    def about(self, width: int) -> list[Line]:
        """Two lines about the row under the cursor."""
        side = self._screen.side
        if side.node is None or side.mode == INFO:
            return []
        if side.node.memory is None:
            return side.groups.lines(side.node, side.width)[:2]  # folded as the page below goes on with it
        return list(cells.about(side.written(side.node.memory), side.node.signs, side.look, width))

    def detail(self, width: int) -> list[Line]:
        """The strip below the tree in one column."""
        words, notes = self._screen.side.title()
        return [self._title(words, notes, width, focused=False), *self._screen.side.detail_lines(width, 6)]

    def activity(self, width: int) -> list[Line]:
        """The last operations of anybody."""
        lines: list[Line] = [[("  nothing yet", "dim")]]
        if self.recent is not None:
            from memtui.features.activity.view_rows import strip

            news = self.recent
            look = self._screen.side.look
            lines = strip(news.records, news.operations, news.lines, news.next_undo, look, width) or lines
        notes: Line = [(f"{self._key('view_activity')} opens it in full", "dim")]
        return [self._title("Activity", notes, width, focused=False), *lines]

    def footer(self, width: int) -> list[Line]:
        """What is typed, else what was said, else the keys."""
        screen = self._screen
        if screen.prompt is not None:
            return [screen.filtering.line(width)]
        if self._hint or self._status:
            return [
                bars.question(self._hint, width, plain=screen.facts.ascii)
                if self._hint
                else bars.message(self._status, width, key=self._key("messages"), plain=screen.facts.ascii)
            ]
        if self.progress:
            return [bars.underway(self.progress, width, plain=screen.facts.ascii)]
        rooms = () if screen.answering else ("editor",) if screen.editing else BROWSER_ROOMS
        actions = [action for action in in_room(*rooms, actions=screen.table) if not screen.unavailable(action)]
        node = screen.memories.current
        if node is not None and node.memory is None:
            actions = [action._replace(label="open") if action.id == "open" else action for action in actions]
        if screen.memories.marks and not screen.editing:
            actions = cells.ranked(actions, cells.MARKED)
        elif OLD in screen.forest.only and not screen.editing:
            actions = cells.ranked(actions, cells.OLDEST)
        end = [action for action in screen.table if action.id in ("help", "palette")]
        if screen.typing:
            end = [typed for action in end if (typed := beside_text(action)).keys]
        return [bars.footer(actions, width, end=end)]

    def _title(self, words: str, notes: Line, width: int, *, focused: bool) -> Line:
        return bars.title(words, notes, width, focused=focused, plain=self._screen.facts.ascii)

    def below_tree(self) -> list[Line]:
        """What is shown below the tree when there is no row of a memory: why, and what to do."""
        forest = self._screen.forest
        if self.loading or forest.matched:
            return []
        return self._no_match() if forest.nodes else self._welcome()

    def _no_match(self) -> list[Line]:
        forest = self._screen.forest
        said: list[Line] = [[("  Nothing here", "name")]]
        if forest.words:
            said[0] += [(" matches ", "name"), (f"/{' '.join(forest.words)}", "agent")]
        if forest.words and forest.only:
            said.append([("  and", "name")])
        if forest.only:
            said[-1] += [(" is ", "name"), (" and ".join(ONLY[only] for only in sorted(forest.only)), "agent")]
        return [
            [],
            *said,
            [(f"  {self._key('back')}", "key"), (" shows everything again", "name")],
        ]

    def _welcome(self) -> list[Line]:
        """Say what to press, and where nothing was found: the folders of the agents in use here, and of all others."""
        screen, plain = self._screen, self._screen.facts.ascii
        room = max(screen.memories.size.width - 2, 8)
        lines: list[Line] = [
            [("  No memories yet.", "strong")],
            [(f"  {self._key('new')}", "key"), (" creates the first one", "name")],
            [(f"  {self._key('remember')}", "key"), (" makes one of a sentence", "name")],
            [("  memtui demo", "key"), (" shows everything on samples", "name")],
            [],
            [("  memtui looked here:", "name")],
        ]
        for root in screen.facts.roots[:8]:
            name = root.label if root.label != root.agent else root.id
            path = both_ends(screen.side.short(root.path), max(room - cell_width(name) - 6, 8), plain=plain)
            lines.append([(f"    {name}  ", "folder"), (path, "dim")])
        if screen.facts.surroundings is not None:
            used = {root.agent for root in screen.facts.roots}
            agents = looked_for(screen.facts.surroundings)
            others = ", ".join(f"{name} {folder}" for id_, name, folder in agents if id_ not in used)
            words = visible(f"and found no trace of {others}.", ascii_tokens=plain)
            lines += [[("  " + part, "dim")] for part in fold(words, room - 1)]
        return lines

    def _key(self, id_: str) -> str:
        action: Action = next(action for action in self._screen.table if action.id == id_)
        return shown_keys(action).split(",")[0]
