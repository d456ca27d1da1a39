"""Base of every view: header, tabs, body, one line of keys; its keys come from its table entry.

A view brings only its body and its actions' handlers. Going back, switching, help, palette, messages and undo are here,
so that they are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from textual import events, on
from textual.app import ComposeResult
from textual.widget import Widget

from memtui.ui.action import COMMON, Action, View, keymap_of
from memtui.ui.draw import bars
from memtui.ui.draw.text import Line
from memtui.ui.keys.keyed import KeyedScreen, Sequences
from memtui.ui.widgets.lines import Lines, Tabs
from memtui.ui.widgets.prompts import Prompt

if TYPE_CHECKING:
    from memtui.ui.keys.palette import Command


class Shell(Protocol):
    """What a view asks of the program around it."""

    @property
    def table(self) -> tuple[Action, ...]:
        """Every action, with the user's own keys."""

    @property
    def views(self) -> tuple[View, ...]:
        """Every view; those with a key have a tab."""

    @property
    def plain(self) -> bool:
        """Whether only ASCII is drawn."""

    @property
    def current(self) -> str:
        """The id of the view shown."""

    @property
    def progress(self) -> str:
        """Progress of a large change in words; empty when none runs."""

    @property
    def no_writing(self) -> str:
        """Why nothing can be written now; empty when it can."""

    def header(self, width: int) -> list[Line]:
        """Return the first line of the screen."""

    def counts(self) -> Mapping[str, int]:
        """Return the number of waiting items by view id."""

    def named(self, text: str) -> str:
        """Shorten memory addresses in a text."""

    def row_left(self, view: str) -> str:
        """Return the row where the user left a view in the last run, until it is found or they do anything."""

    def forget_row(self) -> None:
        """Stop looking for that row."""

    def leave(self, view: ViewScreen) -> None:
        """Leave a view for the one below it, or for the main screen."""

    def show(self, view: str) -> None:
        """Show another view."""

    def reload(self) -> None:
        """Read and hash everything again."""

    def run(self, action: str) -> None:
        """Run an action of the main screen."""

    def open_palette(self, commands: list[Command]) -> None:
        """Open the palette with these commands and the themes."""

    def help(self, text: str, actions: Iterable[Action]) -> None:
        """Show help for a view: `text`, its own actions, then all others."""


class ViewFilter(NamedTuple):
    """A restriction of a view to a part of the tree."""

    label: str
    holds: Callable[[Any], bool]
    """Whether an address lies in it."""


class ViewScreen(KeyedScreen[None]):
    """One view."""

    ID: ClassVar[str]

    DEFAULT_CSS = "ViewScreen { background: $background; }"
    CSS = """
    .-aside { display: none !important; }
    .-whole { width: 1fr !important; max-width: 100% !important; height: 1fr !important;
        display: block !important; }
    """

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell.table)
        self.shell = shell
        self.view = next(view for view in shell.views if view.id == self.ID)
        by_id = {action.id: action for action in self.table}
        digits = tuple(view.action for view in shell.views if view.key)
        self.own_actions = tuple(by_id[id_] for id_ in self.view.actions)
        self.actions = tuple(by_id[id_] for id_ in dict.fromkeys((*self.view.actions, *digits, *COMMON)))
        self.ascii = shell.plain
        self.sequences = Sequences(keymap_of(self.actions))
        self.prompt = Prompt(None, self.update, "#view-footer", "#view-header")
        self.prompt.asks = lambda: self.show_hint(None)
        self.does: dict[str, Callable[[], object]] = {}
        """Action id to its handler, for every id of the view's table entry."""
        self._said: Line = []
        self.line_taken = False
        self._zoomed = False

    # For subclasses

    def _body(self) -> Iterable[Widget]:
        """Yield the widgets between the tabs and the line of keys."""
        raise NotImplementedError

    def entered(self, within: ViewFilter | None) -> None:
        """Prepare for being opened (the first time before its widgets exist); `within` restricts it."""

    def _news(self) -> None:
        """React to a change on disk or in the ledger; the view may be covered."""

    def _step_back(self) -> bool:
        """Take one step back inside the view; return False when there is none left."""
        return False

    def _off(self, action: Action) -> str:
        """Return why one of the view's own actions is off now; empty when it is on."""
        del action
        return ""

    def _label(self, action: Action) -> str:
        """Return the footer label of one of the view's own actions."""
        return action.label

    # Parts

    def compose(self) -> ComposeResult:
        shell = self.shell
        yield Lines(shell.header, id="view-header", ground="bar")
        yield Tabs(tuple(view for view in shell.views if view.key), self.ID, shell.counts)
        yield from self._body()
        yield Lines(self._footer, id="view-footer", ground="bar")

    def tell_news(self) -> None:
        """Update header and tabs, and pass news to the view."""
        self.update("#view-header", "#tabs")
        self._news()

    def update(self, *names: str) -> None:
        """Draw these lines again, where they differ."""
        for name in names if self.is_mounted else ():
            for lines in self.query(name).results(Lines):
                lines.update()

    def _zoom(self, *, whole: bool) -> None:
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
        self.call_after_refresh(
            lambda: self.post_message(events.Resize(self.size, self.size))
        )  # folds to the new width

    # Words

    def _footer(self, width: int) -> list[Line]:
        if self.prompt.open:
            return self.prompt.foot(self, width, plain=self.ascii)
        if self._said:
            shown = bars.message if len(self._said) == 1 else bars.question
            return [shown(self._said, width, plain=self.ascii)]
        if self.shell.progress:
            return [bars.underway(self.shell.progress, width, plain=self.ascii)]
        ranks = {id_: rank for rank, id_ in enumerate(self.view.footer, 1)}
        able = [
            action._replace(footer=ranks[action.id], label=self._label(action))
            for action in self.own_actions
            if action.id in ranks and not self.unavailable(action)
        ]
        ends = [action for action in self.actions if action.id in ("back", "help")]
        return [bars.footer(able, width, end=ends)]

    def say(self, text: str, level: str = "name") -> None:
        self.show_hint([(" " + self.shell.named(text), level)])

    def show_hint(self, line: Line | None) -> None:
        self._said = line or []
        self.line_taken = bool(line)
        self.update("#view-footer")

    # Keys

    def unavailable(self, action: Action) -> str:
        if action.writes and (reason := self.shell.no_writing):
            return reason
        return self._off(action) if action.id in self.view.actions else ""

    def perform(self, action: Action) -> None:
        self.show_hint(None)
        own = self.does.get(action.id)
        if own is not None:
            own()
        else:
            self._common(action.id)

    def _common(self, id_: str) -> None:
        shell = self.shell
        if id_ == "zoom":
            self._zoom(whole=not self._zoomed)
        elif id_ in ("back", "quit"):
            if id_ == "back" and self._zoomed:
                self._zoom(whole=False)
            elif id_ == "quit" or not self._step_back():
                shell.leave(self)
        elif id_ == "palette":
            shell.open_palette(self._palette_commands())
        elif id_ == "help":
            shell.help(self.HELP or "", self.own_actions)
        else:
            shell.run(id_)

    def _palette_commands(self) -> list[Command]:
        """Return the commands offered here: the view's own, then those that work everywhere."""
        from memtui.ui.keys.palette import as_commands

        shown = sorted(self.actions, key=lambda action: action.moves)
        return as_commands(shown, self.attempt, self.unavailable)

    @on(Tabs.Chosen)
    def _tab_chosen(self, event: Tabs.Chosen) -> None:
        self.shell.show(event.view)
