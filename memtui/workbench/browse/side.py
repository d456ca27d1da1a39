"""The pane beside the tree: the text of the memory under the cursor, its changes, or what is known about it.

It decides when to read (once the cursor rests, so that a held key reads nothing), and when a memory counts as looked
at; the bridge reads. The page of a folder is made from what is known already; a search in the text is drawn with its
matches marked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from memtui.agents.layout import short_path
from memtui.engine.model import Address, Memory
from memtui.matching import Literal
from memtui.ui.draw.pages import Page, PageLine, fields_page
from memtui.ui.draw.text import Line, RowStyle, count_words
from memtui.ui.widgets.prompts import Question
from memtui.workbench.browse import preview
from memtui.workbench.main_screen import CHANGES, INFO, PREVIEW
from memtui.workbench.tree import cells
from memtui.workbench.tree.nodes import FOLDER, MEMORY, NO_SIGNS, OTHERS, SCOPE, UNSEEN, Node

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.features.entries.model import Fullness
    from memtui.workbench.main_screen import MainScreen


REST = 0.07
"""Seconds the cursor rests before its memory is read."""

LOOKED = 1.0
"""Seconds after which a memory whose text is shown counts as looked at."""


class Side:
    """The pane beside the tree, and the lines below it where there is no room for a pane."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        screen.panes.arranged = self.read
        self.groups = GroupWords(screen, self.short)
        self.mode = PREVIEW
        self.node: Node | None = None
        self.shown: preview.MemoryPage | None = None
        self.difference: preview.Difference | None = None
        self._rest: Timer | None = None
        self._looking: Timer | None = None
        self.start_at: tuple[Address, int] | None = None
        """The line at which a memory's text starts when first shown."""
        self._arrived = False
        """Whether the user came here or acted here, so that the text in sight is the one they see."""
        self._attended: str | None = None
        """The version shown when they did; a later one may not have been seen by anybody."""
        self._looked_at: str | None = None
        """The version that counts as looked at when the timer ends."""

    @cached_property
    def finding(self) -> PageSearch:
        return PageSearch(self._screen, self.read)

    @property
    def finds(self) -> bool:
        return "finding" in self.__dict__ and bool(self.finding.words)

    @property
    def memory(self) -> Memory | None:
        return self.node.memory if self.node is not None else None

    @property
    def look(self) -> RowStyle:
        return RowStyle(self._screen.now(), self._screen.facts.ascii, self._screen.forest.names.named)

    @property
    def width(self) -> int:
        page = self._screen.page_view
        return max(page.room if page.is_on_screen else self._screen.size.width, 20)

    # Following the cursor

    def follow(self, node: Node | None, *, by_user: bool) -> None:
        """Show another row, once the cursor rests there."""
        self._arrived = self._arrived or by_user
        moved = node is None or self.node is None or node.key != self.node.key
        other_kind = node is None or self.node is None or node.kind != self.node.kind
        self.node = node
        if other_kind:
            self._screen.chrome.update("footer")
        if moved:
            if self.finds:
                self.finding.forget()
            self._stop_looking()
            self._arrived, self._attended = by_user, None
            self.shown = None if self.shown is not None and self.memory is None else self.shown
            if self.mode != INFO:
                self.mode = PREVIEW
        self._screen.chrome.update("side-title", "about", "detail")
        if self._rest is not None:
            self._rest.stop()
        if node is None or node.kind != MEMORY:
            self._screen.bridge.drop("side")
            self._show_group(node)
            return
        if not moved and self._still_true(node):
            self._renew_info()
            self._look_on()
            self._see_difference()
            return
        self._rest = self._screen.set_timer(REST, self.read)

    def _still_true(self, node: Node) -> bool:
        """Whether what is shown is what is on disk; the marks beside it stay until the cursor leaves."""
        memory = node.memory
        if memory is None or self.mode == INFO:
            return False
        if self.mode == CHANGES:
            return self.difference is not None and self.difference.sha256 == memory.sha256
        shown = self.shown
        return shown is not None and shown.address == memory.address and shown.sha256 == memory.sha256

    def read(self) -> None:
        """Read what is under the cursor in the current mode."""
        memory = self.memory
        if memory is None:
            self._show_group(self.node)
            return
        width, plain = self.width, self._screen.facts.ascii
        if self.mode == CHANGES:
            difference = self.difference
            self._screen.bridge.run(
                lambda engine: preview.since_seen(engine, memory, width, plain=plain, shown=difference),
                self._give_difference,
                what=f"compare {memory.address}",
                latest="side",
            )
        elif self.mode == INFO:
            self._read_info(memory, width)
        else:
            held = self.finding.held if self.finds else None

            def give(shown: preview.MemoryPage) -> None:
                self._give(shown)
                if held is not None:
                    self.finding.shown(shown)

            self._screen.bridge.run(
                lambda engine: preview.preview(engine, memory, width, plain=plain, held=held),
                give,
                what=f"read {memory.address}",
                latest="side",
            )
        self._renew_info()

    def _renew_info(self) -> None:
        """Update the info pane: uses, pins and views change without the text."""
        memory = self.memory
        root = self._screen.forest.root(memory.address.root) if memory is not None else None
        if root is not None and root.host:
            self._screen.info_view.show(())
        elif memory is not None and self._screen.panes.info_wanted and self._screen.panes.wide:
            self._read_info(memory, max(self._screen.info_view.room, 20), pane=True)

    def _read_info(self, memory: Memory, width: int, *, pane: bool = False) -> None:
        signs = self.node.signs if self.node is not None else NO_SIGNS
        now, home = self._screen.now(), self._screen.facts.settings.home

        def give(page: Page) -> None:
            if self.memory is not None and self.memory.address == memory.address:
                (self._screen.info_view if pane else self._screen.page_view).show(page)
                self._screen.chrome.update("side-title", "about", "detail")

        self._screen.bridge.run(
            lambda engine: preview.info(engine, memory, signs, width, now=now, home=home),
            give,
            what=f"read about {memory.address}",
            latest="info" if pane else "side",
        )

    def _give(self, shown: preview.MemoryPage) -> None:
        memory = self.memory
        if memory is None or memory.address != shown.address or self.mode != PREVIEW:
            return
        same = self.shown is not None and self.shown.address == shown.address
        if self.shown is shown and self._screen.page_view.page is shown.page:
            self._look_on()
            return
        self.shown = shown
        self._screen.page_view.show(shown.page, keep_place=same)
        start_at, self.start_at = self.start_at, None
        if start_at is not None and start_at[0] == shown.address:
            self._screen.page_view.scroll_to_row(start_at[1])
        elif not same and shown.first_change is not None:
            height = self._screen.page_view.size.height
            if shown.first_change > height - 3:
                self._screen.page_view.go_to_source(shown.first_change)
        self._screen.chrome.update("side-title", "about", "detail")
        self._look_on()

    def _give_difference(self, difference: preview.Difference) -> None:
        if self.memory is None or self.memory.address != difference.address or self.mode != CHANGES:
            return
        self.difference = difference
        self._screen.page_view.show(difference.page)
        self._see_difference()
        self._screen.chrome.update("side-title", "about", "detail")

    def _see_difference(self) -> None:
        """Mark as seen what others changed, now that the difference is shown."""
        memory, shown = self.memory, self.difference
        if memory is not None and shown is not None and memory.unseen and shown.sha256 == memory.sha256:
            self._mark_seen(memory)

    def _show_group(self, node: Node | None) -> None:
        self.shown = None
        if node is None:
            self._screen.page_view.show(())
        else:
            self._screen.page_view.show(self.groups.page(node, self.width))
        self._screen.info_view.show(())
        self._screen.chrome.update("side-title", "about", "detail")

    def short(self, path: str) -> str:
        return short_path(path, self._screen.facts.settings.home)

    # Other ways to look

    def show_mode(self, mode: str) -> None:
        self.mode = mode
        self.difference = None
        self.read()
        self._screen.chrome.update("side-title", "about", "detail")

    # Looking at what others changed

    def attend(self) -> None:
        """Note that the user returned to this screen or the terminal: what is shown may count as looked at from now
        on."""
        self._arrived = True
        self._look_on()

    def _look_on(self) -> None:
        """Start counting the second for which an unseen change has been in front of the user."""
        memory, version = self.memory, self._in_sight()
        if version is not None and self._arrived:
            self._arrived, self._attended = False, version
        unseen = memory is not None and memory.unseen
        if version is not None and unseen and version == self._looked_at:
            return
        self._stop_looking()
        if version is not None and unseen and version == self._attended:
            self._looked_at = version
            self._looking = self._screen.set_timer(LOOKED, self._looked)

    def _in_sight(self) -> str | None:
        """Return the version whose text is in front of the user, if any."""
        memory, shown = self.memory, self.shown
        if memory is None or shown is None or self.mode != PREVIEW:
            return None
        same = shown.address == memory.address and shown.sha256 == memory.sha256
        return memory.sha256 if same and self._screen.page_is_read else None

    def _looked(self) -> None:
        version, self._looking, self._looked_at = self._looked_at, None, None
        memory = self.memory
        if memory is not None and memory.unseen and version is not None and version == self._in_sight():
            self._mark_seen(memory)

    def _mark_seen(self, memory: Memory) -> None:
        from memtui.workbench.browse.operations import MemoryOperations  # the first frame has no use for it

        self._screen.part(MemoryOperations).mark_seen((memory.address,), quiet=True)

    def _stop_looking(self) -> None:
        self._looked_at = None
        if self._looking is not None:
            self._looking.stop()
            self._looking = None

    # Words

    def title(self) -> tuple[str, Line]:
        """Return the pane's title and its notes."""
        node = self.node
        if node is None:
            return "", []
        if node.memory is None:
            return self._screen.forest.names.label(node), []
        words = self._screen.forest.names.shown(node.memory.address)
        if self.mode == CHANGES and self.difference is not None:
            return f"What changed: {words}", [(self.difference.title, "agent")]
        if self.mode == INFO:
            return f"Info: {words}", []
        held = self._held
        style = "warning" if held is not None and held.over else "title"
        notes: Line = [("E", "key"), (f" {held.brief} ", style)] if held is not None else []
        return words, [*notes, *cells.memory_notes(node.memory, node.signs)]

    @property
    def _held(self) -> Fullness | None:
        shown = self.shown
        return shown.held if shown is not None and self.memory and shown.address == self.memory.address else None

    def written(self, memory: Memory) -> Memory:
        """Return the row with the writer of its text, as far as that was read."""
        shown = self.shown
        known = shown is not None and (shown.address, shown.sha256) == (memory.address, memory.sha256) and shown.actor
        return memory._replace(actor=known) if known else memory

    def detail_lines(self, width: int, height: int) -> list[Line]:
        """Return the lines below the tree in one column."""
        node = self.node
        if node is None:
            return []
        if node.memory is None:
            return self.groups.lines(node, width)[:height]
        lines = cells.detail(self.written(node.memory), node.signs, self.look, width)
        if self._held is not None:
            style = "warning" if self._held.over else "name"
            lines.append([(f" {self._held.words}  ", style), ("E", "key"), (" lists them", "dim")])
        if self.shown is not None and self.shown.address == node.memory.address:
            page, room = self.shown.page, max(height - len(lines), 0)
            top = max(0, min(self._screen.page_view.top, len(page) - room))
            lines += [list(line.runs) for line in page[top : top + room]]
        return lines[:height]

    def scroll(self, rows: int) -> None:
        self._screen.page_view.scroll_rows(rows)
        self._screen.chrome.update("detail")


class GroupWords:
    """Words and pages of rows that hold memories."""

    def __init__(self, screen: MainScreen, short: Callable[[str], str]) -> None:
        """`short` writes a path below the user's home with `~`."""
        self._screen, self._short = screen, short

    def page(self, node: Node, width: int) -> Page:
        lines = self.lines(node, width)
        page = tuple(PageLine(tuple(line)) for line in (lines[2:] if self._screen.panes.layout.about else lines))
        if node.kind == SCOPE and not node.root:
            page += fields_page(self._scope_fields(node), width)
        return page

    def lines(self, node: Node, width: int) -> list[Line]:
        forest = self._screen.forest
        deleted = forest.losses.below(node)
        root = forest.root(node.root) if node.root else None
        asked = not (root is not None and root.host and forest.away[root.host].words)
        files = node.files if node.files or (asked and forest.others.counts(node)) else None
        return cells.group_detail(files, node.bytes, node.signs, self._notes(node), width, deleted)

    def _scope_fields(self, node: Node) -> list[tuple[str, str]]:
        fields = [("", "")]
        for child in node.children.values():
            root = self._screen.forest.root(child.root)
            if root is not None:
                fields += [
                    (f" {root.label or root.id}", ""),
                    ("   id", root.id),
                    ("   folder", f"on {root.host}" if root.host else self._short(root.path)),
                ]
        return fields

    def _notes(self, node: Node) -> list[str]:
        """Say where a folder or root is, who else writes there, and what is wrong."""
        forest = self._screen.forest
        if node.kind == OTHERS:
            return [self._others_words(node)]
        root = forest.root(node.root) if node.root else None
        if root is None:
            return []
        below = f"/{node.key[-1]}" if node.kind == FOLDER else ""
        other = forest.others.get(root.id)
        more = ""
        if not forest.others.counts(node):
            more = "Its memories are not read; enter reads them."
        moved = "g p moves them to where the project is now." if other is not None and other.gone else ""
        place = f"on {root.host}" if root.host else self._short(root.path + below)
        notes = (place, root.note, moved, more, self._screen.root_problem(root.id))
        return [note for note in notes if note]

    def _others_words(self, node: Node) -> str:
        if node.key == (OTHERS, UNSEEN):
            return "Folders that look like memories and belong to no root. The page of each says what adds it."
        unread = sum(1 for child in node.children.values() if not self._screen.forest.others.counts(child))
        many = f"{count_words(len(node.children), 'folder')} of other projects"
        if not unread:
            return f"{many}; all of them are read."
        return f"{many}, {unread:,} not read. Opening one reads it; A reads all of them."


class PageSearch:
    """The search in the memory shown."""

    def __init__(self, screen: MainScreen, read: Callable[[], None]) -> None:
        """`read` reads the text again to mark the matches."""
        self._screen, self._read = screen, read
        self.words = ""
        self._places: tuple[int, ...] = ()
        self._index = 0
        self._wrapped = ""

    @property
    def held(self) -> Literal | None:
        return Literal(self.words) if self.words else None

    def start(self) -> None:
        screen = self._screen
        screen.prompt.ask(
            Question(
                "find",
                self.words,
                self._keep,
                cancelled=self.clear,
                changed=self._typed,
                hint=self._hint,
                step=self.step,
                over=True,
            )
        )

    def _typed(self, words: str) -> None:
        self.words, self._places, self._wrapped = words, (), ""
        self._read()

    def _keep(self, words: str) -> None:
        self._screen.prompt.close()
        if not words:
            self.clear()
        elif self._places:
            self._screen.say(f"{self._count()}: {self._keys()}")

    def clear(self) -> None:
        self.words, self._places = "", ()
        self._screen.prompt.close()
        self._read()

    def forget(self) -> None:
        """End the search without reading again: another memory is shown."""
        self.words, self._places = "", ()

    def shown(self, shown: preview.MemoryPage) -> None:
        """Take the matches of a text just drawn, and go to the first in view or after it."""
        fresh = not self._places
        self._places = shown.places
        if not self._places:
            self._draw()
            return
        if fresh:
            page, top = self._screen.page_view.page, self._screen.page_view.top
            line = page[top].source or 0 if top < len(page) else 0
            self._index = next((index for index, place in enumerate(self._places) if place >= line), 0)
        self._index = min(self._index, len(self._places) - 1)
        self._go()

    def step(self, by: int) -> None:
        """Go to the next (1) or previous (-1) match, wrapping around."""
        if not self._places:
            return
        index = self._index + by
        self._wrapped = "" if 0 <= index < len(self._places) else "from the top" if by > 0 else "from the end"
        self._index = index % len(self._places)
        self._go()
        if not self._screen.prompt.open:
            self._screen.say(f"{self._count()}: {self._keys()}")

    def _go(self) -> None:
        view, line = self._screen.page_view, self._places[self._index]
        rows = [index for index, drawn in enumerate(view.page) if drawn.source == line]
        if rows and not view.top <= rows[0] <= rows[-1] < view.top + view.size.height:
            view.go_to_source(line)
        self._draw()

    def _draw(self) -> None:
        self._screen.chrome.update("footer")

    def _count(self) -> str:
        if not self._places:
            return "none" if self.words else ""
        count = f"{self._index + 1:,} of {len(self._places):,}"
        return f"{count}, {self._wrapped}" if self._wrapped else count

    def _hint(self, text: str) -> Line:
        del text
        return [(self._count(), "strong" if self._places else "warning"), ("  down next  up previous", "dim")]

    def _keys(self) -> str:
        keys = {action.id: action.keys[0] for action in self._screen.table}
        return f"{keys['page_next']} next, {keys['page_previous']} previous, {keys['filter']} other words"
