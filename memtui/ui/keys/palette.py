"""The command palette: every action and theme by name, with its key, and the reason when it is off.

Its own list, because the stock one offers a screenshot of private text, draws an emoji, and can take seconds to match a
long line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from memtui.ui.action import Action, shown_keys
from memtui.ui.draw.text import Run, fit
from memtui.ui.widgets.safe_input import SafeInput
from memtui.ui.widgets.scroller import RowList


class Command(NamedTuple):
    """One line of the palette."""

    words: str
    keys: str
    run: Callable[[], None]
    off: str = ""
    """Why it is disabled."""
    preview: Callable[[], None] | None = None
    """Shows what it would do while the cursor is on it."""
    name: str = ""


NO_COMMANDS = frozenset({"palette", "back", "down", "up", "left", "right"})


def as_commands(
    actions: Iterable[Action], attempt: Callable[[Action], None], off: Callable[[Action], str]
) -> list[Command]:
    """Turn actions into commands; `attempt` runs one, `off` says why one cannot run now."""
    return [
        Command(one.help.rstrip("."), shown_keys(one), partial(attempt, one), off(one), name=one.label)
        for one in actions
        if one.id not in NO_COMMANDS
    ]


def matching(commands: Sequence[Command], text: str) -> tuple[Command, ...]:
    """Return the commands with every typed word: those of that name first, then those that begin with it."""
    start = text.casefold().strip()
    words = start.split()

    def rank(command: Command) -> int:
        said = command.name.casefold(), command.words.casefold()
        return 0 if start in said else 1 if any(one.startswith(start) for one in said) else 2

    found = [one for one in commands if all(word in f"{one.name} {one.words}".casefold() for word in words)]
    return tuple(sorted(found, key=rank))


class CommandList(RowList):
    """The matching commands."""

    def __init__(self, commands: Sequence[Command], first: int = 0) -> None:
        super().__init__(id="commands")
        self.commands = tuple(commands)
        self._cursor = first
        self.can_focus = False

    def count(self) -> int:
        return len(self.commands)

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        if index >= len(self.commands):
            return [(" No command matches.", "dim")] if index == 0 else ()
        command = self.commands[index]
        width, keys = max(self.room, 20), 16 if any(one.keys for one in self.commands) else 0
        words = f"{command.words} ({command.off})" if command.off else command.words
        return [
            ("> " if cursor else "  ", "cursor"),
            (fit(words, width - 2 - keys), "dim" if command.off else "name"),
            (fit(command.keys, keys, right=True), "key"),
        ]

    def moved(self, *, by_user: bool) -> None:
        del by_user
        if isinstance(self.screen, Palette):
            self.screen.preview()

    @property
    def current(self) -> Command | None:
        return self.commands[self.cursor] if self.cursor < len(self.commands) else None

    def show(self, commands: Sequence[Command]) -> None:
        self.commands = tuple(commands)
        self._cursor = 0
        self.scroll_to_row(0)
        self.repaint()


class Palette(ModalScreen[Command | None]):
    """A list of commands filtered by what is typed; enter runs one."""

    DEFAULT_CSS = """
    Palette { align: center top; background: $background 60%; }
    Palette > Vertical { width: 86; max-width: 100%; height: 60%; min-height: 8; margin: 1 0 0 0;
        background: $background; border: solid $primary; }
    Palette.ascii > Vertical { border: ascii $primary; }
    #palette-line { height: 1; background: $boost; }
    #palette-line > Label { width: 2; color: $accent; background: $boost; }
    Palette.-beside { align: right top; background: $background 0%; }
    Palette.-beside > Vertical { width: 36; height: 100%; margin: 0; }
    Palette Input { height: 1; width: 1fr; border: none; padding: 0 1; background: $boost; }
    """

    BINDINGS = [  # noqa: RUF012 - Textual's own shape
        Binding("escape", "close", show=False),
        Binding("down,ctrl+n", "move(1)", show=False),
        Binding("up,ctrl+p", "move(-1)", show=False),
        Binding("pagedown", "move(10)", show=False),
        Binding("pageup", "move(-10)", show=False),
    ]

    def __init__(
        self, commands: Sequence[Command], revert: Callable[[], None] = lambda: None, *, beside: str = ""
    ) -> None:
        """`revert` ends a preview; `beside`: stand at the side and dim nothing, at the command with these words."""
        super().__init__(classes="-beside" if beside else "")
        self._all = tuple(commands)
        self._first = next((at for at, one in enumerate(self._all) if one.words == beside), 0)
        self._revert = revert
        self._previewing = False

    def compose(self) -> ComposeResult:
        with Vertical():
            with Horizontal(id="palette-line"):
                yield Label(" :", markup=False)
                yield SafeInput(placeholder="what do you want to do?", compact=True, id="palette-input")
            yield CommandList(self._all, self._first)

    def on_mount(self) -> None:
        self.set_class(getattr(self.app, "plain", False), "ascii")
        for line in self.query(Input):
            line.cursor_blink = False
            line.focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.query_one(CommandList).show(matching(self._all, event.value))
        self.preview()

    def preview(self) -> None:
        """Preview the command under the cursor, or end the preview of another one."""
        rows = self.query_one(CommandList)
        command = rows.current
        if command is not None and command.preview is not None:
            self._previewing = True
            command.preview()
        elif self._previewing:
            self._previewing = False
            self._revert()

    def leave(self, chosen: Command | None) -> None:
        """Close, and end the preview unless that command was chosen."""
        if self._previewing and (chosen is None or chosen.preview is None):
            self._revert()
        self.dismiss(chosen)

    @on(Input.Submitted)
    @on(RowList.Opened)
    def _chosen(self) -> None:
        commands = self.query_one(CommandList)
        if commands.current is not None:
            self.leave(commands.current)

    def action_close(self) -> None:
        self.leave(None)

    def action_move(self, by: int) -> None:
        self.query_one(CommandList).move(by)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.leave(None)
