"""What the inbox shows: the list of bursts and changes, the difference beside it, and the words around both.

The half of the screen that only looks: it follows the cursor and the news, and never moves either. What keys do is
`changes.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Container, Vertical
from textual.geometry import Offset
from textual.timer import Timer
from textual.widget import Widget

from memtui.engine.model import Address, Change
from memtui.features.actors import KINDS, who_words
from memtui.safe_text import visible
from memtui.ui.draw import bars
from memtui.ui.draw.difference import Look
from memtui.ui.draw.pages import PageLine, words_page
from memtui.ui.draw.spans import Line
from memtui.ui.draw.words import count_words
from memtui.ui.view_screen import ViewScreen
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.page_view import PageView
from memtui.workbench.views import inbox_jobs
from memtui.workbench.views.change_list import ChangeList
from memtui.workbench.views.difference import Shown
from memtui.workbench.views.inbox import Inbox, Item, Loaded
from memtui.workbench.views.inbox_rows import burst_words

if TYPE_CHECKING:
    from memtui.ui.view_screen import Within
    from memtui.ui.widgets.prompts import Prompt
    from memtui.workbench.views.host import WorkbenchHost

REST = 0.05
"""Seconds the cursor rests before its change is read."""
COUNT_REST = 0.2
"""Seconds the list rests before the lines of its changes are counted."""
LISTED = 200
"""Changes of a closed burst that are listed beside it."""


class InboxScreen(ViewScreen):
    """The list and the difference."""

    ID: ClassVar[str] = "changes"
    CSS_PATH = "changes.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-one"), (100, "-two")]  # noqa: RUF012 - Textual's own shape

    def __init__(self, host: WorkbenchHost) -> None:
        super().__init__(host.shell)
        self.host, self.jobs = host, host.jobs
        self.inbox = Inbox()
        self.list = ChangeList(self.inbox, self.host.now, plain=self.ascii, named=self.shell.named)
        self.list.empty = self._empty_words
        self.page = PageView(id="changes-page")
        self.shown: Shown | None = None
        """The change beside the list."""
        self.hunk = 0
        """Which of its places keys work on."""
        self.words = False
        """Compared word by word."""
        self.filtering: Prompt | None = None
        """The filter while it is typed."""
        self.place = ""
        """The folder or scope this is about."""
        self.ever_loaded = False
        self.range_start: int | None = None
        self.range_base: frozenset[Address] = frozenset()
        self._rest: Timer | None = None
        self._count_rest: Timer | None = None

    # Parts

    def body(self) -> Iterable[Widget]:
        """The list, and the difference."""
        left = Vertical(Lines(self._list_title, id="changes-title"), self.list, id="changes-left")
        right = Vertical(Lines(self._page_title, id="changes-page-title"), self.page, id="changes-right")
        yield Container(left, right, id="changes-body")

    def on_mount(self) -> None:
        """Begin in the list."""
        self.list.focus()
        self.call_after_refresh(self.show_row)

    def on_resize(self) -> None:
        """Fold the text anew."""
        self.call_after_refresh(self.read_again)

    # What is known

    @property
    def item(self) -> Item | None:
        """The row under the cursor."""
        return self.list.item

    @property
    def row_now(self) -> str:
        """The row under the cursor, or the one that is still looked for."""
        item = self.item
        return self.shell.row_left(self.ID) or (str(item.key) if item is not None else "")

    @property
    def targets(self) -> tuple[Change, ...]:
        """What an operation works on; of the change beside the list, what is shown of it."""
        shown = self.shown.change if self.shown is not None else None
        found = self.inbox.targets(self.list.cursor)
        return tuple(shown if shown is not None and one.address == shown.address else one for one in found)

    @property
    def change(self) -> Change:
        """The change under the cursor; actions that need one are off without."""
        item = self.item
        assert item is not None
        assert item.change is not None
        return item.change

    @property
    def outdated(self) -> bool:
        """Whether the memory beside the list changed again since it was shown."""
        item, shown = self.item, self.shown
        return item is not None and shown is not None and item.change is not None and item.change != shown.change

    def entered(self, within: Within | None) -> None:
        """Begin anew; `node` narrows it to a folder or scope."""
        self.inbox.let_go()
        self.inbox.words = ()
        self.inbox.marks = set()
        self.filtering = None
        self.place, self.inbox.below = "", None
        if within is not None:
            self.place, holds = within
            self.inbox.below = lambda change: holds(change.address)
        self.load(awaited=True)

    def news(self) -> None:
        """Take in what happened, unless nobody looks."""
        if self.shell.current == self.ID:
            self.load()

    def load(self, *, awaited: bool = False) -> None:
        """Ask what others did; see `Bridge.run` for `awaited`."""
        kept = tuple(self.inbox.kept)
        self.jobs.run(
            lambda engine: inbox_jobs.load(engine, kept),
            self._loaded,
            what="read what others changed",
            latest="inbox",
            awaited=awaited,
        )

    def load_and_read(self) -> None:
        """Ask again, and show the change under the cursor as it is then."""
        self.shown = None
        self.load()

    def _loaded(self, loaded: Loaded) -> None:
        news, self.ever_loaded = self.ever_loaded, True
        self.list.change_rows(lambda: self.inbox.load(loaded), news=news)
        self._return()
        self.rows_changed()
        if self.outdated and self.shown is not None and self.shown.change.address in self.inbox.kept:
            self.read_again()  # the user's own step: taken back in part, or brought back

    def _return(self) -> None:
        """Go to the row at which the user left this view in the last run, unless they did anything since."""
        wanted = self.shell.row_left(self.ID)
        found = self.inbox.place_named(wanted) if wanted else -1
        if found >= 0:
            self.shell.forget_row()
            self.list.go(found)

    def rows_changed(self) -> None:
        self.update("#changes-title", "#view-footer")
        self.show_row()

    # The difference

    @on(ChangeList.Moved)
    def _moved(self) -> None:
        if self.range_start is not None:
            self.inbox.mark_range(self.range_start, self.list.cursor, self.range_base)
            self.list.repaint()
        self.update("#changes-title")
        self.show_row()

    def show_row(self) -> None:
        """Show what belongs to the row under the cursor; a change that is shown stays as it is."""
        item = self.item
        self._count_soon()
        if self._rest is not None:
            self._rest.stop()
        if item is None or item.change is None:
            self.jobs.drop("inbox-page")
            self.shown = None
            self.page.show(self._about(item))
            self.update("#changes-page-title", "#view-footer")
        elif self.shown is None or self.shown.change.address != item.change.address:
            self._rest = self.set_timer(REST, self.read_again)
        else:
            self.update("#changes-page-title", "#view-footer")

    def read_again(self) -> None:
        """Read and draw the change under the cursor as it is now."""
        item = self.item
        if item is None or item.change is None or not self.is_mounted:
            self.show_row()
            return
        change, at, now = item.change, item.at, self.host.now()
        root = self.host.roots.get(change.address.root)
        agent = root.agent if root is not None else ""
        look = Look(max(self.page.room, 20), self.words, self.ascii)
        self.jobs.run(
            lambda engine: inbox_jobs.show(engine, change, agent, at, now, look),
            self._give,
            what=f"compare {change.address}",
            latest="inbox-page",
        )

    def _give(self, shown: Shown) -> None:
        item = self.item
        if item is None or item.change is None or item.change.address != shown.change.address:
            return
        same = self.shown is not None and self.shown.change.address == shown.change.address
        self.shown = shown
        self.hunk = min(self.hunk, max(len(shown.hunks) - 1, 0)) if same else 0
        self.page.show(shown.page, keep_place=same)
        self._point()

    def _point(self) -> None:
        """Show which place keys work on."""
        shown = self.shown
        if shown is not None and shown.starts:
            page = list(shown.page)
            at = shown.starts[self.hunk]
            text = "".join(words for words, _ in page[at].runs)
            page[at] = PageLine(((">" + text[1:], "title-focus"),), page[at].source)
            self.page.show(tuple(page), keep_place=True)
        self.update("#changes-page-title", "#view-footer")

    def go_to_hunk(self, index: int) -> None:
        """Go to a place of the change."""
        shown = self.shown
        if shown is None or not shown.hunks:
            return
        self.hunk = max(0, min(index, len(shown.hunks) - 1))
        self._point()
        start, height = shown.starts[self.hunk], self.page.size.height
        if not self.page.top <= start < self.page.top + height - 3:
            self.page.scroll_to_row(max(start - 1, 0))

    def _about(self, item: Item | None) -> tuple[PageLine, ...]:
        """What is said beside a row that is no change."""
        width = max(self.page.room, 20)
        if item is None:
            return ()
        if item.vanished is not None:
            root = item.vanished.root
            return words_page(
                f"The folder of {root.id} is not there: {self.host.short(root.path)}",
                f"It held {count_words(item.vanished.memories, 'memory')}. None of them counts as deleted, and every "
                "text is kept in history; when the folder is back, so are they.",
                width=width,
            )
        assert item.burst is not None
        words = f"{who_words(item.burst.actor, item.burst.agent)}: {burst_words(item.burst)}"
        lines = list(words_page(words, "enter opens the group; x and d c work on all of it.", width=width))
        lines.append(PageLine(()))
        for change in item.burst.changes[:LISTED]:
            was = f" (was {change.old_address.path})" if change.old_address is not None else ""
            lines += words_page(f"{KINDS[change.kind]:<7} {change.address}{was}", style="name", width=width)
        if len(item.burst.changes) > LISTED:
            lines += words_page(f"... and {len(item.burst.changes) - LISTED:,} more", width=width)
        return tuple(lines)

    def _count_soon(self) -> None:
        if self._count_rest is not None:
            self._count_rest.stop()
        self._count_rest = self.set_timer(COUNT_REST, self._count) if self.is_mounted else None

    def _count(self) -> None:
        wanted = self.list.visible_changes()
        if not wanted:
            return

        def counted(found: dict[Change, tuple[int, int]]) -> None:
            self.list.counts.update(found)
            self.list.repaint()

        self.jobs.run(
            lambda engine: inbox_jobs.count(engine, wanted), counted, what="count changed lines", latest="inbox-counts"
        )

    # Words

    def _list_title(self, width: int) -> list[Line]:
        inbox = self.inbox
        notes: Line = [(f"{len(inbox.all_changes):,}", "title")]
        if inbox.groups and inbox.groups != len(inbox.all_changes):
            notes.append((f" in {count_words(inbox.groups, 'group')}", "title"))
        if inbox.words:
            notes.append((f" of {inbox.total:,} | /{visible(' '.join(inbox.words))}", "agent"))
        if inbox.marks:
            notes.append((f" | {len(inbox.marks)} marked", "mark"))
        if self.list.above:
            notes.append((f" | {self.list.above} new above", "agent"))
        words = f"Changes in {self.place}" if self.place else "Changes since you looked"
        return [bars.title(words, notes, width, focused=not self.in_page, plain=self.ascii)]

    def _page_title(self, width: int) -> list[Line]:
        shown = self.shown
        if shown is None:
            return [bars.title("What changed", [], width, focused=self.in_page, plain=self.ascii)]
        notes: Line = [(f"{self.hunk + 1} of {len(shown.hunks)}", "title")] if len(shown.hunks) > 1 else []
        if self.outdated:
            notes = [("changed again, R shows it", "warning")]
        words = self.host.shown(shown.change.address)
        return [bars.title(words, notes, width, focused=self.in_page, plain=self.ascii)]

    def _empty_words(self) -> list[Line]:
        if not self.ever_loaded:
            return [[("  reading...", "dim")]]
        if self.inbox.words:
            return [[("  Nothing here has these words; ", "name"), ("esc", "key"), (" shows all", "name")]]
        if self.place:
            words = f"  You have seen everything in {visible(self.place)}. "
            return [[(words, "name")], [("  3", "key"), (" shows what changed elsewhere", "name")]]
        return [
            [("  You have seen everything.", "strong")],
            [("  What others change appears here as it happens.", "name")],
        ]

    def _footer(self, width: int) -> list[Line]:
        if self.filtering is not None:
            line, column = self.filtering.line(width, plain=self.ascii)
            self.app.cursor_position = Offset(column, self.size.height - 1)
            return [line]
        return super()._footer(width)

    @property
    def in_page(self) -> bool:
        """Whether keys move in the text."""
        return self.focused is self.page
