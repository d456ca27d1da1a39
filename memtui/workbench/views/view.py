"""What every view is made of: header, tabs, its own body, and one line of keys; its keys come from its table entry.

A view brings only its body and what its actions do. Going back, switching, help, palette, messages and undo are here,
so that they are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.widget import Widget

from memtui.ui.action import COMMON, Action, keymap_of, shown_keys
from memtui.ui.draw import bars
from memtui.ui.draw.spans import Line
from memtui.ui.keys.keyed import READ_ONLY, KeyedScreen
from memtui.ui.keys.prefix import Sequences
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.scroller import Scroller
from memtui.ui.widgets.tabs import Tabs
from memtui.workbench.actions import VIEW, VIEWS

if TYPE_CHECKING:
    from memtui.engine.model import Address
    from memtui.ui.keys.palette import Command
    from memtui.workbench.bridge import Bridge
    from memtui.workbench.browse.browser import BrowserScreen
    from memtui.workbench.tree.nodes import Node


class ViewScreen(KeyedScreen[None]):
    """One view."""

    ID: ClassVar[str]
    """A key of `VIEW`."""
    MAY_SHOW: ClassVar[str] = "A or esc"
    """The keys that may bring a memory into the tree that has no row there."""

    DEFAULT_CSS = "ViewScreen { background: $background; }"
    CSS = """
    .-aside { display: none !important; }
    .-whole { width: 1fr !important; max-width: 100% !important; height: 1fr !important;
        display: block !important; }
    """

    def __init__(self, browser: BrowserScreen) -> None:
        super().__init__(browser.table)
        self.browser = browser
        by_id = {action.id: action for action in self.table}
        own = VIEW[self.ID].actions
        digits = tuple(view.action for view in VIEWS)
        self.own_actions = tuple(by_id[id_] for id_ in own)
        self.actions = tuple(by_id[id_] for id_ in dict.fromkeys((*own, *digits, *COMMON)))
        self._sequences = Sequences(keymap_of(self.actions))
        self._said: Line = []
        self._zoomed = False

    # For subclasses

    def body(self) -> Iterable[Widget]:
        """Between the tabs and the line of keys."""
        raise NotImplementedError

    def does(self) -> Mapping[str, Callable[[], object]]:
        """Action id to what it does, for every id of the view's table entry."""
        raise NotImplementedError

    def entered(self, node: Node | None) -> None:
        """The view was opened, or opened again; the first time before its widgets are there.

        Args:
            node: the row of the tree it is asked about; None for everything.
        """

    def news(self) -> None:
        """Something happened on disk or in the ledger; the view may be covered."""

    def step_back(self) -> bool:
        """Take one step back inside the view; False when there is none left, so that the view is left."""
        return False

    @property
    def row_now(self) -> str:
        """The row under the cursor in words that mean it in the next run too; nothing where that is not kept."""
        return ""

    def off(self, action: Action) -> str:
        """Say why one of the view's own actions is off now; nothing when it is on."""
        del action
        return ""

    # Parts

    @property
    def bridge(self) -> Bridge:
        """What works."""
        return self.browser.bridge

    @property
    def ascii(self) -> bool:
        """Whether only ASCII is drawn."""
        return self.browser.facts.ascii

    def compose(self) -> ComposeResult:
        """Header, tabs, body, keys."""
        yield Lines(self.browser.chrome.header, id="view-header", ground="bar")
        yield Tabs(VIEWS, self.ID, self.browser.chrome.counts)
        yield from self.body()
        yield Lines(self._footer, id="view-footer", ground="bar")

    def tell_news(self) -> None:
        """Something happened on disk or in the ledger."""
        if self.is_mounted:
            self.update("#view-header", "#tabs")
            self.news()

    def update(self, *names: str) -> None:
        """Draw lines anew, where they differ."""
        for name in names if self.is_mounted else ():
            for lines in self.query(name).results(Lines):
                lines.update()

    def redraw(self) -> None:
        """Draw everything anew, in other colours."""
        for widget in self.query(Scroller):
            widget.forget_drawn()
        for lines in self.query(Lines):
            lines.refresh()

    def zoom(self, *, whole: bool) -> None:
        """Give the pane in focus the whole screen, or take it back."""
        pane = self.focused.parent if self.focused is not None else None
        others = [one for one in pane.parent.children if one is not pane] if pane is not None and pane.parent else []
        if whole and (not isinstance(pane, Widget) or pane is self or not others):
            self.say("This is the only pane here.")
            return
        self._zoomed = whole
        for widget in self.query(".-aside, .-whole"):
            widget.remove_class("-aside", "-whole")
        if whole and isinstance(pane, Widget):
            pane.add_class("-whole")
            for other in others:
                other.add_class("-aside")
        self.call_after_refresh(self._folded)

    def _folded(self) -> None:
        """Fold what is shown to the new width."""
        self.post_message(events.Resize(self.size, self.size))

    # Words

    def _footer(self, width: int) -> list[Line]:
        if self._said:
            return [bars.message(self._said, width, plain=self.ascii)]
        if self.browser.chrome.progress:
            return [bars.underway(self.browser.chrome.progress, width, plain=self.ascii)]
        ranks = {id_: rank for rank, id_ in enumerate(VIEW[self.ID].footer, 1)}
        able = [
            action._replace(footer=ranks[action.id])
            for action in self.own_actions
            if action.id in ranks and not self.unavailable(action)
        ]
        ends = [action for action in self.actions if action.id in ("back", "help")]
        return [bars.footer(able, width, end=ends)]

    def say(self, text: str, level: str = "name") -> None:
        """Show one line until the next key."""
        self.show_hint([(" " + self.browser.forest.named(text), level)])

    def show_progress(self) -> None:
        """Say how far a change of many memories is."""
        self.update("#view-footer")

    def show_hint(self, line: Line | None) -> None:
        """Show which keys may follow, or the usual keys."""
        self._said = line or []
        self.update("#view-footer")

    # Keys

    def unavailable(self, action: Action) -> str:
        """Say why an action is off."""
        if action.writes and self.bridge.read_only:
            return READ_ONLY
        if action.writes and (underway := self.bridge.underway):
            return f"{underway}. Keys that change memories wait for its end."
        return self.off(action) if action.id in VIEW[self.ID].actions else ""

    def perform(self, action: Action) -> None:
        """Do it."""
        self.show_hint(None)
        own = self.does().get(action.id)
        if own is not None:
            own()
        else:
            self._common(action.id)

    def _common(self, id_: str) -> None:
        browser = self.browser
        if id_ == "zoom":
            self.zoom(whole=not self._zoomed)
        elif id_ in ("back", "quit"):
            if id_ == "back" and self._zoomed:
                self.zoom(whole=False)
            elif id_ == "quit" or not self.step_back():
                browser.views.leave(self)
        elif id_ == "palette":
            browser.commands.open_palette(self.palette_commands())
        elif id_ == "help":
            browser.commands.help_on(self.HELP or "", self.own_actions)
        else:
            browser.commands.run(id_)

    def leave_to(self, address: Address) -> bool:
        """Go back to the tree, to a memory; False when it has no row there, which is said."""
        browser = self.browser
        browser.views.back()
        if browser.memories.reveal(address):
            return True
        browser.say(f"{address} is not in the tree now; {self.MAY_SHOW} may show it.", "warning")
        return False

    def leave_to_edit(self, address: Address, *, then: str = "") -> None:
        """Go back to the tree and open a memory in the editor, which says what is wrong where there is none."""
        self.browser.views.back()
        self.browser.memories.reveal(address)
        self.browser.open_editor(address, then=then)

    def palette_commands(self) -> list[Command]:
        """What the palette offers here: the view's own actions, then what works everywhere."""
        from memtui.ui.keys.palette import Command

        skip = ("palette", "back", "down", "up", "left", "right")
        shown = sorted((action for action in self.actions if action.id not in skip), key=lambda action: action.moves)
        own = [
            Command(
                action.help.rstrip("."), shown_keys(action), partial(self.attempt, action), self.unavailable(action)
            )
            for action in shown
        ]
        return [*own, *self.browser.commands.theme_commands()]

    @on(Tabs.Chosen)
    def _tab_chosen(self, event: Tabs.Chosen) -> None:
        self.browser.views.show(event.view)
