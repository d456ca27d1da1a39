"""Everything the main screen says around its panes: header, titles, details, activity, and the footer's one line.

It keeps what was said and what is known about the watcher, and turns it into lines when a bar asks for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.model import Health
from memtui.ui.action import Action, beside_text, in_room, shown_keys
from memtui.ui.draw import bars
from memtui.ui.draw.spans import Line
from memtui.ui.draw.words import fit
from memtui.ui.widgets.lines import Lines
from memtui.workbench.actions import BROWSER_ROOMS
from memtui.workbench.browse.panes import SMALL_HEIGHT, SMALL_WIDTH
from memtui.workbench.browse.side import INFO
from memtui.workbench.tree import cells
from memtui.workbench.tree.cells import State

if TYPE_CHECKING:
    from memtui.workbench.bridge import ActivityChanged
    from memtui.workbench.browse.browser import BrowserScreen

KEPT_MESSAGES = 200

ONLY = {"unseen": "unseen", "pinned": "pinned", "conflicts": "in conflict"}
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
        if "header" in wanted and "views" in self._screen.__dict__:
            self._screen.views.headers_changed()

    def counts(self) -> dict[str, int]:
        """How much waits in each view, for the tabs."""
        return {"changes": self.unseen, **self.waiting}

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
            facts.demo,
            self.loading,
            screen.projects.progress if "projects" in screen.__dict__ else "",
            self._needed_size(),
            0 if screen.is_current and screen.panes.layout.left else len(screen.memories.marks),
        )
        return [cells.header(state, width)]

    def _needed_size(self) -> str:
        """The size that would show more than the tree, where this one does not."""
        width, height = self._screen.app.size
        small = width < SMALL_WIDTH or height < SMALL_HEIGHT
        return f"{SMALL_WIDTH}x{SMALL_HEIGHT}" if small else ""

    def tree_title(self, width: int) -> list[Line]:
        """How many memories, and which are shown how."""
        forest, tree = self._screen.forest, self._screen.memories
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
                    *sorted(forest.only),
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
        return list(cells.about(side.node.memory, side.node.signs, side.look, width))

    def detail(self, width: int) -> list[Line]:
        """The strip below the tree in one column."""
        words, notes = self._screen.side.title()
        return [self._title(words, notes, width, focused=False), *self._screen.side.detail_lines(width, 6)]

    def activity(self, width: int) -> list[Line]:
        """The last operations of anybody."""
        lines: list[Line] = [[("  nothing yet", "dim")]]
        if self.recent is not None:
            from memtui.workbench.views.activity_rows import strip

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
                self._hint or bars.message(self._status, width, key=self._key("messages"), plain=screen.facts.ascii)
            ]
        if self.progress:
            return [bars.underway(self.progress, width, plain=screen.facts.ascii)]
        rooms = ("editor",) if screen.editing else BROWSER_ROOMS
        actions = [action for action in in_room(*rooms, actions=screen.table) if not screen.unavailable(action)]
        node = screen.memories.current
        if node is not None and node.memory is None:
            actions = [action._replace(label="open") if action.id == "open" else action for action in actions]
        if screen.memories.marks and not screen.editing:
            actions = cells.for_marked(actions)
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
        lines: list[Line] = [[], [("  No memories yet. ", "strong"), ("memtui looked here:", "name")]]
        room = max(self._screen.memories.size.width - 6, 8)
        for root in list(self._screen.forest.roots.values())[:8]:
            path = fit(self._screen.side.short(root.path), room, plain=self._screen.facts.ascii)
            lines += [[(f"    {root.id}", "folder")], [(f"      {path.rstrip()}", "dim")]]
        new, help_ = (self._key(id_) for id_ in ("new", "help"))
        return [
            *lines,
            [],
            [(f"  {new}", "key"), (" creates the first one", "name")],
            [(f"  {help_}", "key"), (" explains the keys", "name")],
            [("  memtui demo", "key"), (" shows everything on samples,", "name")],
            [("  with an agent that keeps writing", "name")],
        ]

    def _key(self, id_: str) -> str:
        action: Action = next(action for action in self._screen.table if action.id == id_)
        return shown_keys(action).split(",")[0]
