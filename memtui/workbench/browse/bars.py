"""The bars around the tree and the text: header, titles, footer, and the strips below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.agents.discovery import looked_for
from memtui.features.tasks.shown import WHILE_YOU_WORK, said
from memtui.safe_text import cell_width, visible
from memtui.ui.action import Action, beside_text, in_room, shown_keys
from memtui.ui.draw import bars
from memtui.ui.draw.pages import fold
from memtui.ui.draw.text import Line, both_ends
from memtui.ui.keys.keyed import KeyedScreen
from memtui.workbench.actions import BROWSER_ROOMS
from memtui.workbench.browse.filter import FilterLine
from memtui.workbench.browse.side import Side
from memtui.workbench.main_screen import INFO, SMALL_HEIGHT, SMALL_WIDTH
from memtui.workbench.tree import cells
from memtui.workbench.tree.cells import State
from memtui.workbench.tree.nodes import OLD
from memtui.workbench.view_stack import Views

if TYPE_CHECKING:
    from memtui.features.tasks.shown import LaneNews
    from memtui.workbench.main_screen import MainScreen


ONLY = {"unseen": "unseen", "pinned": "pinned", "conflicts": "in conflict", OLD: "old and unused"}


class Bars:
    def __init__(self, screen: MainScreen) -> None:
        self._screen, self._said, self._side = screen, screen.chrome, screen.part(Side)
        self._filter = screen.part(FilterLine)
        screen.panes.lines.update(
            {
                "header": self.header,
                "tree-title": self.tree_title,
                "side-title": self.side_title,
                "about": self.about,
                "info-title": self.info_title,
                "detail": self.detail,
                "activity": self.activity,
                "footer": self.footer,
            }
        )

    def take_tasks(self, news: LaneNews) -> None:
        """Show how much waits in the background, tell the views concerned, and say what ended."""
        chrome, tasks = self._said, (news.waiting, news.dreaming, news.proposed)
        if (chrome.waiting.get("tasks", 0), chrome.dreaming, chrome.proposed) != tasks:
            chrome.waiting["tasks"], chrome.dreaming, chrome.proposed = tasks
            chrome.update("header")
        views = self._screen.made(Views)
        if views is not None and news.changed:
            for view in filter(None, map(views.made, ("tasks", "changes"))):
                view.tell_news()
        here = views is not None and views.current == "changes"  # which shows what waits
        words, level = said(news.ended, 0 if here else news.proposed)
        screen, top = self._screen, self._screen.app.screen
        begun = any(WHILE_YOU_WORK in text for text, _ in self._said.status)
        taken = bool((self._said.status and not begun) or self._said.choices or screen.editing or screen.prompt.open)
        if top is not screen:
            taken = not isinstance(top, KeyedScreen) or top.line_taken
        if words and not taken:
            screen.say(words, level)
        elif words:
            self._said.remember(words)  # what answers a key stays until the next one

    @property
    def unseen(self) -> int:
        return self._screen.forest.top.signs.unseen + self._screen.forest.losses.total

    # Lines

    def header(self, width: int) -> list[Line]:
        """Where the user stands, and what needs attention."""
        screen, facts = self._screen, self._screen.facts
        state = State(
            facts.project,
            facts.workspace,
            screen.forest.top.signs,
            self.unseen,
            self._said.health,
            screen.bridge.read_only,
            facts.demo and not getattr(screen.app.screen, "letters_are_text", False),  # else its keys would be text
            self._said.loading,
            self._said.projects,
            self._needed_size(),
            0 if screen.is_current and screen.panes.layout.left else len(screen.memories.marks),
            self._said.dreaming,
            self._said.proposed,
        )
        return [cells.header(state, width)]

    def _needed_size(self) -> str:
        """The size that would show more than the tree, where this one does not."""
        width, height = self._screen.app.size
        small = width < SMALL_WIDTH or height < SMALL_HEIGHT
        return f"{SMALL_WIDTH}x{SMALL_HEIGHT}" if small else ""

    def tree_title(self, width: int) -> list[Line]:
        forest, tree = self._screen.forest, self._screen.memories
        notes = cells.tree_notes(
            forest.matched,
            len(forest.nodes),
            filtered=forest.filter.active,
            sort=forest.sort,
            reverse=forest.reverse,
            marked=len(tree.marks),
            room=width - bars.LEAST_TITLE,
            only=" | ".join(
                [
                    *([f"/{' '.join(forest.filter.words)}"] if forest.filter.words else []),
                    *(self._filter.named(only) for only in sorted(forest.filter.only)),
                    *(["no instructions"] if not forest.instructions else []),
                ]
            ),
        )
        return [self._title("Memories", notes, width, focused=self._screen.focused is tree)]

    def side_title(self, width: int) -> list[Line]:
        words, notes = self._side.title()
        return [self._title(words, notes, width, focused=self._screen.focused is self._screen.page_view)]

    def info_title(self, width: int) -> list[Line]:
        focused = self._screen.focused is self._screen.info_view
        return [self._title("Info", [("i hides", "dim")], width, focused=focused)]

    def about(self, width: int) -> list[Line]:
        side = self._side
        if side.node is None or side.mode == INFO:
            return []
        if side.node.memory is None:
            return side.groups.lines(side.node, side.width)[:2]  # folded as the page below goes on with it
        return list(cells.about(side.written(side.node.memory), side.node.signs, side.look, width))

    def detail(self, width: int) -> list[Line]:
        words, notes = self._side.title()
        return [self._title(words, notes, width, focused=False), *self._side.detail_lines(width, 6)]

    def activity(self, width: int) -> list[Line]:
        lines: list[Line] = [[("  nothing yet", "dim")]]
        if self._said.recent is not None:
            from memtui.features.activity.view_rows import strip

            news = self._said.recent
            look = self._side.look
            lines = strip(news.records, news.operations, news.lines, news.next_undo, look, width) or lines
        notes: Line = [(f"{self._key('view_activity')} opens it in full", "dim")]
        return [self._title("Activity", notes, width, focused=False), *lines]

    def footer(self, width: int) -> list[Line]:
        """What is typed, else the last message, else the keys."""
        screen = self._screen
        if screen.prompt.open:
            return screen.prompt.foot(screen, width, plain=screen.facts.ascii)
        if self._said.choices or self._said.status:
            return [
                bars.question(self._said.choices, width, plain=screen.facts.ascii)
                if self._said.choices
                else bars.message(self._said.status, width, key=self._key("messages"), plain=screen.facts.ascii)
            ]
        if self._said.progress:
            return [bars.underway(self._said.progress, width, plain=screen.facts.ascii)]
        rooms = () if screen.answering else ("editor",) if screen.editing else BROWSER_ROOMS
        actions = [action for action in in_room(*rooms, actions=screen.table) if not screen.unavailable(action)]
        node = screen.memories.current
        if node is not None and node.memory is None:
            actions = [action._replace(label="open") if action.id == "open" else action for action in actions]
        if screen.memories.marks and not screen.editing:
            actions = cells.ranked(actions, cells.MARKED)
        elif OLD in screen.forest.filter.only and not screen.editing:
            actions = cells.ranked(actions, cells.OLDEST)
        end = [action for action in screen.table if action.id in ("help", "palette")]
        if screen.typing:
            end = [typed for action in end if (typed := beside_text(action)).keys]
        return [bars.footer(actions, width, end=end)]

    def _title(self, words: str, notes: Line, width: int, *, focused: bool) -> Line:
        return bars.title(words, notes, width, focused=focused, plain=self._screen.facts.ascii)

    def below_tree(self) -> list[Line]:
        """The lines below a tree without memories: why it is empty, and what to do."""
        forest = self._screen.forest
        if self._said.loading or forest.matched:
            return []
        return self._no_match() if forest.nodes else self._welcome()

    def _no_match(self) -> list[Line]:
        forest = self._screen.forest
        said: list[Line] = [[("  Nothing here", "name")]]
        if forest.filter.words:
            said[0] += [(" matches ", "name"), (f"/{' '.join(forest.filter.words)}", "agent")]
        if forest.filter.words and forest.filter.only:
            said.append([("  and", "name")])
        if forest.filter.only:
            said[-1] += [(" is ", "name"), (" and ".join(ONLY[only] for only in sorted(forest.filter.only)), "agent")]
        return [[], *said, [(f"  {self._key('back')}", "key"), (" shows everything again", "name")]]

    def _welcome(self) -> list[Line]:
        """Say what to press, and which folders were searched."""
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
            path = both_ends(self._side.short(root.path), max(room - cell_width(name) - 6, 8), plain=plain)
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
