"""The main screen: it connects its parts, handles news, and passes actions to the part that does them.

The parts: actions (`commands.py`), bars (`bars.py`), reading (`side.py`), writing (`operations.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar

from textual import on
from textual.app import ComposeResult

from memtui.engine.model import Address, Listing
from memtui.errors import MemtuiError
from memtui.safe_text import visible
from memtui.ui.action import Action
from memtui.ui.draw.text import Line
from memtui.ui.keys.fence import BRIEF_HOLD, Hold, fence_of
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.view_screen import ViewScreen
from memtui.ui.widgets.lines import Tabs
from memtui.ui.widgets.scroller import PageView, RowList
from memtui.workbench.actions import BROWSER_ROOMS
from memtui.workbench.bridge import (
    WRITE,
    ActivityChanged,
    Bridge,
    DraftsChanged,
    EditorWants,
    HealthChanged,
    NoticesArrived,
    Progressed,
    RowsChanged,
    RowsLoaded,
)
from memtui.workbench.browse.bars import Bars
from memtui.workbench.browse.commands import Commands
from memtui.workbench.browse.filter import FilterLine
from memtui.workbench.browse.place import PlaceKeeper
from memtui.workbench.browse.side import Side
from memtui.workbench.edit.host import EditorHost, handle, offer_words
from memtui.workbench.main_screen import PREVIEW, AppCalls, MainScreen, StartFacts
from memtui.workbench.tree.forest import Effect
from memtui.workbench.tree.nodes import roots_to_show
from memtui.workbench.tree.tree import FullList, MemoryTree, named
from memtui.workbench.view_stack import Views

if TYPE_CHECKING:
    from memtui.workbench.browse.bundles import Bundles
    from memtui.workbench.browse.health import HealthChecks
    from memtui.workbench.browse.operations import Clipboard, MemoryOperations
    from memtui.workbench.browse.projects import ProjectMoves, Projects
    from memtui.workbench.browse.reviews import PinKeys, Reviews


class PendingOpen(NamedTuple):
    """What to do once the row of a memory is there."""

    address: Address
    then: str | None
    """As in `open_editor`; None: only the cursor goes there."""
    hold: Hold
    left: tuple[ViewScreen, ...]
    """The view it was asked for in, to return to."""


T = TypeVar("T")


class LatePart(Generic[T]):
    """A part of the main screen that no first frame needs: imported and made when first used."""

    def __init__(self, place: str) -> None:
        """`place`: its module inside the workbench and its class, `browse.operations:Clipboard`."""
        self._module, _, self._class = place.partition(":")

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, screen: BrowserScreen, owner: type) -> T:
        """Make it; from then on the screen's own attribute is found first."""
        part = screen.part(getattr(import_module(f"memtui.workbench.{self._module}"), self._class))
        screen.__dict__[self._name] = part
        found: T = part
        return found


class BrowserScreen(MainScreen):
    """The main screen: tree, text, details, activity."""

    ROOMS: ClassVar[tuple[str, ...]] = BROWSER_ROOMS

    verbs: LatePart[MemoryOperations] = LatePart("browse.operations:MemoryOperations")
    accepting: LatePart[Reviews] = LatePart("browse.reviews:Reviews")
    copying: LatePart[Clipboard] = LatePart("browse.operations:Clipboard")
    checkup: LatePart[HealthChecks] = LatePart("browse.health:HealthChecks")
    bundling: LatePart[Bundles] = LatePart("browse.bundles:Bundles")
    pinning: LatePart[PinKeys] = LatePart("browse.reviews:PinKeys")
    repointing: LatePart[ProjectMoves] = LatePart("browse.projects:ProjectMoves")
    projects: LatePart[Projects] = LatePart("browse.projects:Projects")

    def __init__(self, bridge: Bridge, facts: StartFacts, table: tuple[Action, ...], asked: AppCalls) -> None:
        super().__init__(bridge, facts, table, asked)
        self.side = self.part(Side)
        self.filtering = self.part(FilterLine)
        self.views = self.part(Views)
        self.host = self.part(EditorHost)
        self.bars = self.part(Bars)
        self.memories = MemoryTree(self.forest, self.now, ascii_only=facts.ascii, below=self.bars.below_tree)
        self.filling = FullList(self.forest, self._later, self._filled)
        self.commands = Commands(self, self.leave, self.resolve_when_read)
        self.returning = self.part(PlaceKeeper)
        self.returning.prepare()
        self._resolving: Hold | None = None
        """Keys wait for the drafts, to go to the first conflict."""
        self._leaving = False
        self._awaited: PendingOpen | None = None

    def compose(self) -> ComposeResult:
        yield from self.panes.compose()

    def on_mount(self) -> None:
        """Show what was known at the end of the last run, before anything is read."""
        self.panes.place()
        listing = self.facts.listing
        roots = self.facts.roots
        self.forest.load(roots_to_show(roots, listing, ()), listing.items if listing is not None else ())
        self.memories.apply(Effect(rebuilt=True, touched=frozenset()))
        self.memories.focus()
        self.returning.arrive()
        self.memories.start()
        self.facts = self.facts._replace(listing=None)

    # News

    def on_rows_loaded(self, event: RowsLoaded) -> None:
        self.filling.take(self.facts.roots, event.listing)

    def _later(self, seconds: float, do: Callable[[], None]) -> None:
        self.app.set_timer(seconds, do)  # with a timer of its own a covered screen would be drawn again

    def _filled(self, listing: Listing, effect: Effect) -> None:
        """Show a full list once it is in the tree, and tell the parts that follow rows."""
        self.chrome.loading = False
        self.lists += 1
        nothing = not self.memories.count()
        self.take(effect)
        if nothing or not self.memories.count():
            self.panes.place()
        self.checkup.rows_loaded(listing)
        if listing.truncated:
            self.say("Some folders hold more memories than are shown; see g t, H and memtui doctor.", "warning")
        if self.editing:
            self.host.rows_changed(None)

    def on_rows_changed(self, event: RowsChanged) -> None:
        rows = [memory for memory in event.rows if not self.forest.others.hides(memory.address.root)]
        there = {memory.address for memory in event.rows}.union(event.gone)
        self.filling.told_of(there)
        self.take(self.forest.update(rows, event.gone))
        self.checkup.rows_changed(there)
        if self.editing:
            self.host.rows_changed(there)

    def on_drafts_changed(self, event: DraftsChanged) -> None:
        """Show which memories have unsaved text; drafts of an earlier run are offered once."""
        self.take(self.forest.set_drafts(event.drafts))
        if not self.drafts_read:
            self.drafts_read = True
            asked = self.host.wanted if self.editing else None  # where it is offered with the text
            if waiting := [draft for draft in event.drafts if draft.address != asked]:
                self.say(offer_words(waiting), "draft")
            if self._resolving is not None:
                hold, self._resolving = self._resolving, None
                self.attempt(next(one for one in self.table if one.id == "resolve"))
                hold.end()

    def resolve_when_read(self) -> None:
        """Go to the next conflict once the drafts are read; later keys wait for that."""
        self._resolving = self._resolving or self.bridge.hold("read the drafts")

    def on_activity_changed(self, event: ActivityChanged) -> None:
        self.chrome.recent = event
        vanished = {one.root.id: one.memories for one in event.vanished}
        losses = self.forest.losses
        if vanished != losses.vanished:
            losses.vanished = vanished
            self.memories.repaint()
            self.bridge.refresh(everything=True)
        self.take(self.forest.set_deleted(event.deleted, event.withheld))
        self.chrome.update("activity")
        self.views.news()

    def on_progressed(self, event: Progressed) -> None:
        self.chrome.progress = event.words
        self.chrome.update("footer")
        for top in (one for one in self.app.screen_stack[1:] if isinstance(one, ViewScreen)):
            top.update("#view-footer")

    def on_health_changed(self, event: HealthChanged) -> None:
        if event.health != self.chrome.health and event.health.state != "watching":
            self.say(f"Not following changes as they happen: {event.health.reason or event.health.state}.", "warning")
        self.chrome.health = event.health
        self.chrome.update("header")

    def on_notices_arrived(self, event: NoticesArrived) -> None:
        for notice in event.notices:
            self.say(notice.text, "warning")

    def take(self, effect: Effect) -> None:
        self.memories.apply(effect)
        self.returning.find_row()
        self.memories.start(last=self.lists > 1 and self.checkup.done)
        self.chrome.update("header", "tree-title")
        if self._awaited is not None and self._awaited.address in self.forest.nodes:
            (address, then, hold, left), self._awaited = self._awaited, None
            if not self.memories.reveal(address) and self.forest.filter.active:
                self.filtering.come_back_to(self.forest.nodes[address].key)
            if then is not None:
                self.open_editor(address, then=then, left=left)
            hold.end()

    def go_when_there(self, address: Address) -> None:
        self._await(address, None, self.bridge.hold(f"go to {address}", BRIEF_HOLD))

    def open_when_there(self, address: Address, *, then: str = "") -> None:
        self._await(address, then, self.bridge.hold(f"open {address}"))

    def forget_awaited(self) -> None:
        """Cancel what was to be done once a row is there."""
        self._awaited = None

    def _await(self, address: Address, then: str | None, hold: Hold) -> None:
        if self._awaited is not None:
            self._awaited.hold.end()
        self._awaited = PendingOpen(address, then, hold, self.views.take_left())
        if address.root not in self.forest.roots:
            self.bridge.refresh(everything=True)  # a root that held nothing has no rows that could be added to
        self.take(Effect(rebuilt=False, touched=frozenset()))

    @on(MemoryTree.CursorMoved)
    def _cursor_moved(self, event: MemoryTree.CursorMoved) -> None:
        self.side.follow(event.node, by_user=event.by_user)

    @on(MemoryTree.Unfolded)
    def _row_unfolded(self, event: MemoryTree.Unfolded) -> None:
        self.projects.opened(event.node, below=event.below)

    @on(MemoryTree.MarksChanged)
    def _marks_changed(self) -> None:
        self.chrome.update("tree-title", "footer", "header")

    @on(Tabs.Chosen)
    def _tab_chosen(self, event: Tabs.Chosen) -> None:
        self.show_view(event.view)

    def show_view(self, id_: str) -> None:
        self.chrome.clear()
        self.views.show(id_)

    @on(EditorWants)
    def _editor_wants(self, event: EditorWants) -> None:
        if self.editing and self.host.editing is not None:
            handle(self.host.editing, event)

    @on(RowList.Opened)
    def _row_opened(self) -> None:
        self.commands.run("open")

    def on_descendant_focus(self) -> None:
        self.chrome.update("header", "tree-title", "side-title", "info-title", "footer")

    def on_screen_resume(self) -> None:
        self.side.attend()

    @on(PageView.Resized)
    def _page_resized(self, event: PageView.Resized) -> None:
        event.stop()
        self.side.read()

    def on_resize(self) -> None:
        self.panes.follow_size()
        self.call_after_refresh(self.side.read)

    # Keys

    def _take_text(self, key: str, character: str | None) -> bool:
        if character is None or not character.isprintable():
            self.filtering.apply()
        return super()._take_text(key, character)

    @property
    def answering(self) -> bool:
        return self.editing and self.host.asking

    def opening_given_up(self) -> None:
        """Return to the tree if the text was still being opened."""
        self.forget_awaited()
        if self.editing and self.host.address is None:
            self.host.leave()

    def unavailable(self, action: Action) -> str:
        return self.commands.unavailable(action)

    def perform(self, action: Action) -> None:
        self.chrome.clear()
        if not action.moves:
            self.side.follow(self.memories.current, by_user=True)
        self.commands.run(action.id)
        self.side.follow(self.memories.current, by_user=True)

    def _asks_at_once(self, first: str) -> Line | None:
        """Ask for `d` before anything happens."""
        after = self.sequences.choices(first)
        keys = {
            action.id: key
            for key, action in after
            if action.id in ("trash", "archive") and not self.unavailable(action)
        }
        if "trash" not in keys:
            return None
        name = named(self.memories.targets())
        line: Line = [(" ", "dim"), (keys["trash"], "key"), (" moves ", "strong"), (name, "strong")]
        line.append((" to the trash", "strong"))
        if "archive" in keys:
            line += [(", ", "dim"), (keys["archive"], "key"), (" to the archive", "strong")]
        return [*line, ("; any other key cancels", "dim")]

    def open_editor(self, address: Address, *, then: str = "", left: tuple[ViewScreen, ...] = ()) -> None:
        left = left or self.views.take_left()
        self.chrome.clear()  # what was said before is old when the user comes back
        self.side.mode = PREVIEW
        self.call_next(self.host.open, address, then=then, left=left)

    def leave(self) -> None:
        """Leave the workbench with every draft on disk; a large change ends first, after its current memory."""
        try:
            self.bridge.keep_drafts_apart()
            self.host.flush()
            self.returning.flush()
        except MemtuiError as error:
            self.show_error("keep your draft, so memtui stays open", error)
            return
        if self._leaving or not self.bridge.stop_soon():
            self.app.exit(0)
            return
        self._leaving = True
        self.say("Leaving: this stops after the current memory. What is done stays; u takes it back next time.")
        self.bridge.run(lambda _: None, lambda _: self._left(), what="leave", lane=WRITE)

    def _left(self) -> None:
        """Leave after a stopped change, and say in the terminal how far it came."""
        from rich.text import Text

        self.app.exit(0, message=Text(f"memtui: {visible(self.chrome.said[-1][1])}") if self.chrome.said else None)

    # Words

    def say(self, text: str, level: str = "name") -> None:
        text = self.forest.names.named(text)
        fence = fence_of(self.app)
        if fence is not None and level in ("warning", "error"):
            fence.heard(text)
        if self.editing and self.typing:
            self.chrome.remember(text)
            self.host.say(text)
        else:
            self.chrome.say(text, level)
        top = self.app.screen
        if isinstance(top, KeyedScreen) and top is not self:
            top.say(text, level)

    # Drawing
