"""A screen whose keys come from the action table: sequences, pastes, disabled keys and their reasons, in one place.

Every screen with single-letter keys derives from it, so that none of them can act on a paste or stay silent about a key
that does nothing now.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

from textual import events, on
from textual.app import App
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from memtui.safe_text import cell_width
from memtui.ui.action import Action, keymap, shown_key
from memtui.ui.draw.spans import Line
from memtui.ui.keys.letters import Letters, key_named, name_of
from memtui.ui.keys.prefix import HINT_AFTER, Sequences
from memtui.ui.textual_private import name_of_character
from memtui.ui.widgets.lines import Lines

T = TypeVar("T")

READ_ONLY = "memtui was started with --read-only, so nothing can be written."
"""Why what writes is off."""

OUTSIDE = frozenset({"edit_outside", "edit_all"})
"""Actions that give the terminal to another program."""

STAY_IN_TEXT = frozenset({"escape", "tab", "shift+tab"})
"""Keys that mean something else where text is typed."""


def press(app: App[Any], keys: Iterable[str]) -> None:
    """Press keys as the table writes them, one after the other, for whatever is on top then."""
    for key in keys:
        character = " " if key == "space" else key if len(key) == 1 else None
        name = key if character is None or key.isalnum() or key == "space" else name_of_character(key)
        app.post_message(events.Key(name, character))


class KeyedScreen(Screen[T]):
    """A screen that runs actions."""

    ROOMS: ClassVar[tuple[str, ...]] = ()
    """The rooms of the action table whose keys work here."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """Which pane has the focus; a change repaints two titles, never the screen."""

    reading: Reactive[str] = Reactive("", repaint=False, init=False)
    """What it is still read for, for people (`read notes/a.md`): keys wait until it is filled, and this is empty."""

    def __init__(self, table: Iterable[Action]) -> None:
        super().__init__()
        self.line_taken = True
        """Its line says something, or is not for what nobody asked about."""
        self.table = tuple(table)
        self._sequences = Sequences(keymap(self.ROOMS, self.table))
        self.letters = Letters(self.show_hint)
        keys = keymap(["everywhere"], self.table)
        self._everywhere = {key: action for key, action in keys.items() if len(key) > 1 and " " not in key}

    def watch_reading(self, reading: str) -> None:
        """It is filled: the keys that were typed for it are given to it."""
        fence: Any = getattr(self.app, "fence", None) if not reading else None  # it knows this module
        if fence is not None:
            self.app.call_later(fence.go_on)

    # For subclasses

    @property
    def typing(self) -> bool:
        """Whether letters are text now."""
        return False

    @property
    def letters_are_text(self) -> bool:
        """Whether letters are text now, in a widget or in a line of the screen's own."""
        return self.typing

    @property
    def answering(self) -> bool:
        """Whether a question has the keys, so that letters that do not answer it are no text either."""
        return False

    def take_text(self, key: str, character: str | None) -> bool:
        """Give a key to a line of text that is being typed; False when there is none, or it has no use for it."""
        del key, character
        return False

    def perform(self, action: Action) -> None:
        """Do it."""
        raise NotImplementedError

    def unavailable(self, action: Action) -> str:
        """Say in one sentence why an action is off now; nothing when it is on."""
        del action
        return ""

    def say(self, text: str, level: str = "name") -> None:
        """Show one line to the user; `level` is the name of a style."""
        raise NotImplementedError

    def show_hint(self, line: Line | None) -> None:
        """Show which keys may follow, or the usual footer again."""
        raise NotImplementedError

    def show_progress(self) -> None:
        """Say how far a change of many memories is, or the usual footer again when it ended."""

    def take_paste(self, text: str) -> bool:
        """Give a paste to a line of text that is being typed; False when there is none."""
        del text
        return False

    def asks_by_itself(self, after: str) -> bool:
        """Whether it is a question that came up unasked, so that no key typed before is an answer.

        Args:
            after: the last key before it that is no character.
        """
        del after
        return False

    def not_yet(self, event: events.Key | events.Paste) -> bool:
        """Whether a key has to wait for something this screen is about to show."""
        del event
        return False

    def opening_given_up(self) -> None:
        """The user goes on without what was being opened: take away what was made ready for it."""

    def asks_at_once(self, first: str) -> Line | None:
        """Give the line for a first key that asks before it does something, such as `d`."""
        del first
        return None

    # Keys

    def attempt(self, action: Action) -> None:
        """Do an action, or say why it cannot be done now."""
        fence: Any = getattr(self.app, "fence", None)  # it knows this module
        reason = self.unavailable(action)
        if reason:
            self.say(reason, "warning")
            if fence is not None and not self.letters_are_text:
                fence.refuse(reason)
            return
        if fence is not None and action.id in OUTSIDE:
            fence.goes_outside()
        self.perform(action)

    def meaning(self, event: events.Key) -> Action | None:
        """What a key would do now, after the keys before it."""
        return self._sequences.peek(name_of(event))

    def cancel_sequence(self) -> None:
        """Forget the first of two keys."""
        self._sequences.cancel()
        self.show_hint(None)

    def on_key(self, event: events.Key) -> None:
        """Take a key that no text field wanted."""
        if self.typing:
            self._beside_text(event)
        elif self.take_text(event.key, event.character):
            event.stop()
        elif event.is_printable and event.character is not None:
            event.stop()
            self.dispatch(name_of(event))
        else:
            self._special(event)

    def _beside_text(self, event: events.Key) -> None:
        """Take a key that a text field had no use for: only those that work everywhere and are no text."""
        action = self._everywhere.get(event.key)
        if action is None and self.answering:
            action = next((one for one in self.table if one.id == "help" and name_of(event) in one.keys), None)
        if action is not None and event.key not in STAY_IN_TEXT:
            event.stop()
            self.attempt(action)

    def _special(self, event: events.Key) -> None:
        """Take a key that is no character."""
        action = self.meaning(event)
        if self.letters.waiting:
            event.stop()
            self.letters.take("")
        elif self._sequences.pending:
            event.stop()
            self._cancelled(self._sequences.cancel())
        elif action is not None:
            event.stop()
            self.attempt(action)

    def dispatch(self, key: str) -> None:
        """Do what a key means after the keys before it."""
        if self.letters.waiting:
            self.letters.take(" " if key == "space" else key)
            return
        step = self._sequences.feed(key)
        if step.pending:
            line = self.asks_at_once(key)
            if line is not None:
                self.show_hint(line)
            else:
                self.set_timer(HINT_AFTER, lambda: self._show_choices(key))
        elif step.cancelled:
            self._cancelled(step.cancelled)
        elif step.action is not None:
            self.show_hint(None)
            self.attempt(step.action)

    def _cancelled(self, first: str) -> None:
        self.show_hint(None)
        if self.asks_at_once(first) is not None:
            self.say("Cancelled; nothing was changed.")

    def _show_choices(self, first: str) -> None:
        if self._sequences.pending != first:
            return
        all_of_them = self._sequences.choices(first)
        choices = [(key, action) for key, action in all_of_them if not self.unavailable(action)]
        if not choices:
            self.show_hint([(f" {shown_key(first)} ", "strong"), (f" {self.unavailable(all_of_them[0][1])}", "name")])
            return
        kept = [(key, action) for key, action in choices if not action.moves]
        line: Line = []
        # Where not all fit, they move together, and then those go that only move about.
        for gap, shown in ((3, choices), (2, choices), (2, kept)):
            line = [(f" {shown_key(first)} ", "strong"), (" ", "dim")]
            for key, action in shown:
                line += [(key, "key"), (f" {action.label}{' ' * gap}", "dim")]
            if sum(cell_width(text) for text, _ in line) - gap <= self.app.size.width:
                break
        self.show_hint([*line, ("esc cancels", "dim")])

    @on(Lines.Clicked)
    def _clicked(self, event: Lines.Clicked) -> None:
        """Press the key that was clicked."""
        event.stop()
        keys = key_named(event.key, self.table) if event.key else ()
        press(self.app, keys)
        if not keys:
            self.clicked(event.line, event.text)

    def clicked(self, line: str, text: str) -> None:
        """Something that is no key was clicked in a line of words; `line` is its id."""

    def on_paste(self, event: events.Paste) -> None:
        """Give a paste to the text that is typed in; a paste outside text is never keys."""
        event.stop()
        if not self.take_paste(event.text) and not self.typing:
            self.say("A paste outside text is ignored.", "warning")
