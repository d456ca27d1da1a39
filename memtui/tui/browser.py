"""The main screen: it puts the parts together, knows what is focused, and decides which part does what a key asks.

What the parts do is theirs: keys (`commands.py`), rows (`rows.py`), words (`bars.py`), reading (`side.py`), writing
(`verbs.py`), lists on top (`viewing.py`), the editor (`host.py`). A screen that did it all is the one nobody changes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from memtui.config.settings import Settings
from memtui.engine.model import Address, AuditRecord, Health, Listing, Memory, Root, RootStatus
from memtui.errors import MemtuiError
from memtui.tui import bars, messages
from memtui.tui.actions import BROWSER_ROOMS, Action, in_room
from memtui.tui.bars import Line, State
from memtui.tui.bridge import Bridge
from memtui.tui.commands import Commands
from memtui.tui.editor_intents import Intent
from memtui.tui.keyed import KeyedScreen
from memtui.tui.layout import THREE_PANES, TWO_PANES, Layout, layout_for
from memtui.tui.lines import Lines
from memtui.tui.preview import PageView
from memtui.tui.rowlist import RowList
from memtui.tui.rows import Effect, Forest
from memtui.tui.side import INFO, Side
from memtui.tui.tree import MemoryTree

if TYPE_CHECKING:
    from memtui.tui.filtering import Filtering
    from memtui.tui.host import EditorHost
    from memtui.tui.prompts import Prompt, Question
    from memtui.tui.verbs import Verbs
    from memtui.tui.viewing import Viewing

KEPT_MESSAGES = 200


class Facts(NamedTuple):
    """What the screen is told at the start and never changes."""

    settings: Settings
    roots: tuple[Root, ...]
    project: str = ""
    workspace: str = ""
    ascii: bool = False
    calm: bool = False
    demo: bool = False
    more_roots: Callable[[], tuple[Root, ...]] = tuple
    """Finds the roots of every project; slow."""
    listing: Listing | None = None
    """The rows of the last run."""


class BrowserScreen(KeyedScreen[None]):
    """Tree, text, details, activity."""

    ROOMS: ClassVar[tuple[str, ...]] = BROWSER_ROOMS

    def __init__(self, bridge: Bridge, facts: Facts, table: tuple[Action, ...], now: Callable[[], int]) -> None:
        super().__init__(table)
        self.bridge = bridge
        self.facts = facts
        self.now = now
        self.forest = Forest()
        self.memories = MemoryTree(self.forest, now, ascii_only=facts.ascii)
        self.page_view = PageView(id="page")
        self.info_view = PageView(id="info-page")
        self.side = Side(self)
        self.commands = Commands(self)
        self.prompt: Prompt | None = None
        """The line of text being typed in the footer."""
        self.editing = False
        """Whether the editor is shown."""
        self.info_wanted = True
        self.over = False
        """The text is shown over the tree, where there is no room beside it."""
        self.zoomed = ""
        self.said: list[tuple[int, str]] = []
        self._status: Line = []
        self._hint: Line = []
        self._health = Health("watching")
        self._records: tuple[AuditRecord, ...] = ()
        self._statuses: dict[str, RootStatus] = {}
        self._deleted = 0
        self._loading = True
        self._awaited: tuple[Address, bool] | None = None

    def compose(self) -> ComposeResult:
        """Header, tree, text, details, activity, footer; what this size has no room for is mounted when it has."""
        yield Lines(self._header_lines, id="header", ground="bar")
        with Container(id="body"):
            with Container(id="left"):
                yield Lines(self._tree_title, id="tree-title")
                yield self.memories
            with Container(id="right"):
                yield Lines(self._side_title, id="side-title")
                yield Lines(self._about_lines, id="about")
                yield self.page_view
            if self.layout_now.info:
                yield self._info_pane()
        if self.layout_now.detail:
            yield Lines(self._detail_lines, id="detail")
        if self.layout_now.activity:
            yield Lines(self._activity_lines, id="activity")
        yield Lines(self._footer_lines, id="footer", ground="bar")

    def _info_pane(self) -> Container:
        return Container(Lines(self._info_title, id="info-title"), self.info_view, id="info")

    def place_panes(self) -> None:
        """Give every pane its room at this size, mounting those that had none before."""
        now = self.layout_now
        if now.info and not self.query("#info"):
            self.query_one("#body").mount(self._info_pane())
        if now.detail and not self.query("#detail"):
            self.mount(Lines(self._detail_lines, id="detail"), before="#footer")
        if now.activity and not self.query("#activity"):
            self.mount(Lines(self._activity_lines, id="activity"), before="#footer")
        left, right = self.query_one("#left"), self.query_one("#right")
        left.display, right.display = bool(now.left), now.right
        left.styles.width = now.left if now.left > 0 else "1fr"
        edge = "ascii" if self.facts.ascii else "vkey"
        right.styles.border_left = (edge, self.background_colors[1]) if now.border else None
        shown = {"#about": now.about and not self.editing, "#side-title": not self.editing, "#page": not self.editing}
        shown |= {"#info": now.info, "#detail": now.detail, "#activity": now.activity, "#editor": self.editing}
        for name, display in shown.items():
            for widget in self.query(name):
                widget.display = display

    def rearrange(self, *, over: bool | None = None, zoom: str | None = None) -> None:
        """Show the text over the tree or not, give a pane the screen or not."""
        self.over = self.over if over is None else over
        self.zoomed = self.zoomed if zoom is None else zoom
        self.place_panes()
        self.call_after_refresh(self.side.refresh)

    def on_mount(self) -> None:
        """Show what was known at the end of the last run, before anything is read."""
        self.place_panes()
        listing = self.facts.listing
        roots = self.facts.roots
        self.forest.load(self._shown_roots(roots, listing), listing.items if listing is not None else ())
        self.memories.apply(Effect(rebuilt=True, touched=frozenset()))
        self.memories.focus()
        self.facts = self.facts._replace(listing=None)

    # The parts that no first frame needs, loaded when they are first used

    @cached_property
    def verbs(self) -> Verbs:
        """What writes."""
        from memtui.tui.verbs import Verbs

        return Verbs(self)

    @cached_property
    def viewing(self) -> Viewing:
        """Lists on top."""
        from memtui.tui.viewing import Viewing

        return Viewing(self)

    @cached_property
    def host(self) -> EditorHost:
        """The editor's place."""
        from memtui.tui.host import EditorHost

        return EditorHost(self)

    @cached_property
    def filtering(self) -> Filtering:
        """What is typed in the footer."""
        from memtui.tui.filtering import Filtering

        return Filtering(self)

    # What is known

    @property
    def typing(self) -> bool:
        """Whether letters are text now."""
        focused = self.focused
        return focused is not None and not isinstance(focused, RowList | PageView)

    @property
    def wide(self) -> bool:
        """Whether there is room for the info pane."""
        return self.size.width >= THREE_PANES

    @property
    def one_column(self) -> bool:
        """Whether the pane beside the tree is hidden unless it is asked for."""
        return self.size.width < TWO_PANES

    @property
    def layout_now(self) -> Layout:
        """Which panes there are at this size."""
        width, height = self.app.size
        return layout_for(width, height, over=self.over, zoom=self.zoomed, info=self.info_wanted)

    @property
    def page_is_read(self) -> bool:
        """Whether the memory's text is on the screen, in front of the user."""
        return self.app.screen is self and self.app.app_focus and self.page_view.is_on_screen and not self.editing

    @property
    def help_text(self) -> str:
        """What the focused pane is."""
        for node in self.focused.ancestors_with_self if self.focused is not None else ():
            if isinstance(node, Widget) and node.HELP:
                return node.HELP
        return ""

    def write_limit(self, memory: Memory) -> int | None:
        """The size limit of the root a memory is in."""
        root = self.forest.root(memory.address.root)
        return root.policy.write_bytes if root is not None else None

    def root_problem(self, root_id: str) -> str:
        """What is wrong with a root."""
        status = self._statuses.get(root_id)
        return " ".join(problem.text for problem in status.problems) if status is not None else ""

    def _shown_roots(self, roots: tuple[Root, ...], listing: Listing | None) -> tuple[Root, ...]:
        """Roots that are there, that are ours, or that were given by hand."""
        if listing is None or not listing.roots:
            return tuple(root for root in roots if root.agent == "memtui") or roots
        there = {status.root.id for status in listing.roots if status.exists or status.problems}
        known = tuple(status.root for status in listing.roots)
        wanted = tuple(root for root in known if root.id in there or root.agent in ("memtui", "files"))
        return self.commands.only_wanted(wanted)

    # News

    def on_rows_loaded(self, event: messages.RowsLoaded) -> None:
        """Take in a full list."""
        self._loading = False
        self._statuses = {status.root.id: status for status in event.listing.roots}
        self._apply(self.forest.replace_all(self._shown_roots(self.facts.roots, event.listing), event.listing.items))
        if event.listing.truncated:
            self.say("Some folders hold more memories than are shown; see g t, H and memtui doctor.", "warning")
        if self.editing:
            self.host.rows_changed(None)

    def on_rows_changed(self, event: messages.RowsChanged) -> None:
        """Take in rows that differ."""
        self._apply(self.forest.update(event.rows, event.gone))
        if self.editing:
            self.host.rows_changed({memory.address for memory in event.rows} | set(event.gone))

    def on_drafts_changed(self, event: messages.DraftsChanged) -> None:
        """Take in which memories have unsaved text."""
        self._apply(self.forest.set_drafts(event.drafts))

    def on_activity_changed(self, event: messages.ActivityChanged) -> None:
        """Take in the newest entries of the audit."""
        self._records, self._deleted = event.records, event.deleted
        self.update_bars("activity", "header")

    def on_health_changed(self, event: messages.HealthChanged) -> None:
        """Say how the watcher is."""
        if event.health != self._health and event.health.state != "watching":
            self.say(f"Not following changes as they happen: {event.health.reason or event.health.state}.", "warning")
        self._health = event.health
        self.update_bars("header")

    def on_notices_arrived(self, event: messages.NoticesArrived) -> None:
        """Tell what must be told."""
        for notice in event.notices:
            self.say(notice.text, "warning")

    def _apply(self, effect: Effect) -> None:
        self.memories.placeholder = self.commands.start_text() if not self.forest.nodes and not self._loading else ()
        self.memories.apply(effect)
        self.update_bars("header", "tree-title")
        if self._awaited is not None and self._awaited[0] in self.forest.nodes:
            (address, opens), self._awaited = self._awaited, None
            self.memories.reveal(address)
            if opens:
                self.open_editor(address)

    def go_when_there(self, address: Address) -> None:
        """Put the cursor on a memory as soon as its row is known."""
        self._awaited = (address, False)
        self._apply(Effect(rebuilt=False, touched=frozenset()))

    def open_when_there(self, address: Address) -> None:
        """Open a memory as soon as its row is known."""
        self._awaited = (address, True)
        self._apply(Effect(rebuilt=False, touched=frozenset()))

    @on(MemoryTree.CursorMoved)
    def _cursor_moved(self, event: MemoryTree.CursorMoved) -> None:
        self.side.follow(event.node, by_user=event.by_user)

    @on(MemoryTree.MarksChanged)
    def _marks_changed(self) -> None:
        self.update_bars("tree-title", "footer")

    @on(Intent)
    def _editor_wants(self, event: Intent) -> None:
        if self.editing and self.host.editing is not None:
            self.host.editing.handle(event)

    @on(RowList.Opened)
    def _row_opened(self) -> None:
        self.commands.run("open")

    def on_descendant_focus(self) -> None:
        """Show which pane is focused."""
        self.update_bars("tree-title", "side-title", "info-title", "footer")

    def on_resize(self) -> None:
        """Fold the text to the new width."""
        self.place_panes()
        self.call_after_refresh(self.side.refresh)

    # Keys

    def take_text(self, key: str, character: str | None) -> bool:
        """Give a key to the line in the footer."""
        return self.prompt is not None and self.filtering.feed(key, character)

    def on_paste(self, event: events.Paste) -> None:
        """Give a paste to the line of text, or say that it is ignored."""
        if self.prompt is not None:
            event.stop()
            self.filtering.paste(event.text)
        else:
            super().on_paste(event)

    def unavailable(self, action: Action) -> str:
        """Say why an action is off."""
        return self.commands.unavailable(action)

    def perform(self, action: Action) -> None:
        """Do it."""
        self._clear_status()
        if not action.moves:
            self.side.follow(self.memories.current, by_user=True)
        self.commands.run(action.id)
        self.side.follow(self.memories.current, by_user=True)

    def asks_at_once(self, first: str) -> Line | None:
        """`d` asks before anything happens."""
        after = self._sequences.choices(first)
        asking = [(key, action) for key, action in after if action.id == "trash"]
        if not asking or self.unavailable(asking[0][1]):
            return None
        name = self.verbs.name(self.memories.targets())
        key = asking[0][0]
        return [
            (" ", "dim"),
            (key, "key"),
            (f" moves {name} to the trash", "strong"),
            ("; any other key cancels", "dim"),
        ]

    def open_editor(self, address: Address, *, then: str = "") -> None:
        """Open a memory in the editor; `then` is `compare` or `outside`."""
        self.call_next(self.host.open, address, then=then)

    def leave(self) -> None:
        """Leave the workbench, with every draft on disk."""
        try:
            self.host.flush()
        except MemtuiError as error:
            self.show_error("keep your draft, so memtui stays open", error)
        else:
            self.app.exit(0)

    # Words

    def say(self, text: str, level: str = "name") -> None:
        """Show one line to the user, until the next key; all of them can be read again."""
        self.said.append((self.now(), text))
        del self.said[:-KEPT_MESSAGES]
        self._status = [(" " + text, level)]
        self.update_bars("footer")
        top = self.app.screen
        if isinstance(top, KeyedScreen) and top is not self:
            top.say(text, level)

    def show_error(self, what: str, error: MemtuiError) -> None:
        """Show what could not be done, what is unharmed, and what to do."""
        self.say(f"Could not {what}: {error.message} {error.hint}".strip() + f" ({error.code})", "error")

    def show_hint(self, line: Line | None) -> None:
        """Show which keys may follow."""
        if (line or []) != self._hint:
            self._hint = line or []
            self.update_bars("footer")

    def _clear_status(self) -> None:
        if self._status or self._hint:
            self._status, self._hint = [], []
            self.update_bars("footer")

    def ask(self, question: Question) -> None:
        """Ask for one line of text."""
        self.filtering.ask(question)

    def close_prompt(self) -> None:
        """Put the line of text away."""
        self.filtering.close_prompt()

    def refuse_prompt(self, text: str) -> bool:
        """Say why a typed text cannot be used; False when there is no line any more."""
        return self.filtering.refuse(text)

    # Drawing

    def update_bars(self, *names: str) -> None:
        """Draw bars anew, where they differ."""
        for name in names if self.is_mounted else ():
            for bar in self.query(f"#{name}").results(Lines):
                bar.update()

    def refresh_side(self) -> None:
        """Draw anew what is said about the memory under the cursor."""
        self.update_bars("side-title", "about", "detail")

    def refresh_bars(self) -> None:
        """Draw every bar anew."""
        self.update_bars("header", "tree-title", "side-title", "about", "info-title", "detail", "activity", "footer")

    def redraw(self) -> None:
        """Draw everything anew: other colours."""
        self.memories.forget_drawn()
        self.refresh(recompose=False)
        for widget in self.query("Lines, PageView").results(Widget):
            widget.refresh()

    def _header_lines(self, width: int) -> list[Line]:
        unseen = self.forest.totals.unseen + self._deleted
        facts = self.facts
        totals, loading = self.forest.totals, self._loading
        state = State(
            facts.project, facts.workspace, totals, unseen, self._health, self.bridge.read_only, facts.demo, loading
        )
        return [bars.header(state, width)]

    def _tree_title(self, width: int) -> list[Line]:
        forest = self.forest
        only = " ".join(sorted(forest.only))
        notes = bars.tree_notes(
            forest.matched, len(forest.nodes), filtered=forest.filtered, sort=forest.sort, reverse=forest.reverse,
            marked=len(self.memories.marks), only=only,
        )  # fmt: skip
        return [bars.title("Memories", notes, width, focused=self.focused is self.memories, plain=self.facts.ascii)]

    def _side_title(self, width: int) -> list[Line]:
        words, notes = self.side.title()
        return [bars.title(words, notes, width, focused=self.focused is self.page_view, plain=self.facts.ascii)]

    def _info_title(self, width: int) -> list[Line]:
        focused = self.focused is self.info_view
        return [bars.title("Info", [("i hides", "dim")], width, focused=focused, plain=self.facts.ascii)]

    def _about_lines(self, width: int) -> list[Line]:
        node = self.side.node
        if node is None or self.side.mode == INFO:
            return []
        if node.memory is None:
            return self.side.group_lines(node, width)[:2]
        return list(bars.about(node.memory, node.signs, self.side.look, width))

    def _detail_lines(self, width: int) -> list[Line]:
        words, notes = self.side.title()
        head = bars.title(words, notes, width, focused=False, plain=self.facts.ascii)
        return [head, *self.side.detail_lines(width, 6)]

    def _activity_lines(self, width: int) -> list[Line]:
        head = bars.title("Activity", [], width, focused=False, plain=self.facts.ascii)
        return [head, *bars.activity(self._records[:3], self.side.look, width)]

    def _footer_lines(self, width: int) -> list[Line]:
        if self.prompt is not None:
            return [self.filtering.line(width)]
        if self._hint or self._status:
            return [self._hint or self._status]
        if self.editing:
            return [bars.footer(in_room("editor", actions=self.table), width, end=self._end(("help", "palette")))]
        actions = [action for action in in_room(*BROWSER_ROOMS, actions=self.table) if not self.unavailable(action)]
        return [bars.footer(actions, width, end=self._end(("help", "palette")))]

    def _end(self, ids: tuple[str, ...]) -> list[Action]:
        return [action for action in self.table if action.id in ids]
