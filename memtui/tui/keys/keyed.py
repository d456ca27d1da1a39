"""A screen whose keys come from the action table: sequences, pastes, disabled keys and their reasons, in one place.

Every screen with single-letter keys derives from it, so that none of them can act on a paste or stay silent about a key
that does nothing now.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, TypeVar

from textual import events, on
from textual.keys import _character_to_key
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from memtui.tui.actions import COUNTS, Action, keymap, shown_key
from memtui.tui.browse.bars import Line
from memtui.tui.draw.lines import Lines
from memtui.tui.keys.keygate import HOLD, KeyGate, Verdict
from memtui.tui.keys.letters import Letters, key_named
from memtui.tui.keys.prefix import HINT_AFTER, Sequences

T = TypeVar("T")

LINE_ENDS = frozenset({"enter", "tab", "ctrl+j"})
"""Keys that a pasted text is full of."""

STAY_IN_TEXT = frozenset({"escape", "tab", "shift+tab"})
"""Keys that mean something else where text is typed."""


class KeyedScreen(Screen[T]):
    """A screen that runs actions."""

    ROOMS: ClassVar[tuple[str, ...]] = ()
    """The rooms of the action table whose keys work here."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """Which pane has the focus; a change repaints two titles, never the screen."""

    def __init__(self, table: Iterable[Action]) -> None:
        super().__init__()
        self.table = tuple(table)
        self._sequences = Sequences(keymap(self.ROOMS, self.table))
        self._gate = KeyGate()
        self._held: list[events.Key] = []
        """What the gate holds, as it came."""
        self.letters = Letters(self)
        keys = keymap(["everywhere"], self.table)
        self._everywhere = {key: action for key, action in keys.items() if len(key) > 1 and " " not in key}

    # For subclasses

    @property
    def typing(self) -> bool:
        """Whether letters are text now."""
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

    def before_jump(self) -> None:
        """The cursor is about to go far: the place may be worth coming back to."""

    def asks_at_once(self, first: str) -> Line | None:
        """Give the line for a first key that asks before it does something, such as `d`."""
        del first
        return None

    # Keys

    def attempt(self, action: Action) -> None:
        """Do an action, or say why it cannot be done now."""
        reason = self.unavailable(action)
        if reason:
            self.say(reason, "warning")
        elif action.id == "labels":
            self.letters.label_rows()
        else:
            self.perform(action)

    def on_key(self, event: events.Key) -> None:
        """Take a key that no text field wanted."""
        if not self.is_active:
            event.stop()
            self._hand_on([event])
            return
        if self.typing:
            self._beside_text(event)
            return
        if self.take_text(event.key, event.character):
            event.stop()
            return
        printable = event.is_printable and event.character is not None
        key = "space" if event.key == "space" else (event.character or event.key) if printable else event.key
        action = self._sequences.peek(key)
        if not printable:
            self._special(event, action)
            return
        event.stop()
        moves = action is not None and action.moves
        writes = action is not None and action.writes
        match self._gate.feed(key, event.time, moves=moves, writes=writes):
            case Verdict.RUN:
                self.dispatch(key)
            case Verdict.HOLD:
                self._held.append(event)
                self.set_timer(HOLD, self._release)
            case Verdict.BURST:
                self._held.clear()
                self._sequences.cancel()
                self.show_hint(None)
                self.say("That looked like a paste, so it was ignored: this list takes single keys.", "warning")
            case Verdict.DROP:
                pass

    def _beside_text(self, event: events.Key) -> None:
        """Take a key that a text field had no use for: only those that work everywhere and are no text."""
        action = self._everywhere.get(event.key)
        if action is not None and event.key not in STAY_IN_TEXT:
            event.stop()
            self.attempt(action)

    def _special(self, event: events.Key, action: Action | None) -> None:
        """Take a key that is no character."""
        if event.key in LINE_ENDS and self._gate.pasting(event.time):
            event.stop()
            return
        self._release()
        if not self.is_active:
            event.stop()
            self._hand_on([event])
        elif self.take_text(event.key, event.character):  # what was held has opened a line of text
            event.stop()
        elif self.letters.waiting:
            event.stop()
            self.letters.take("")
        elif self.letters.count and event.key == "escape":
            event.stop()
            self.letters.drop_count()
            self.show_hint(None)
        elif self._sequences.pending:
            event.stop()
            self._cancelled(self._sequences.cancel())
        elif action is not None:
            event.stop()
            self._do(action)

    def _release(self) -> None:
        keys, held = self._gate.due(), self._held
        self._held = []
        for index, key in enumerate(keys):
            if not self.is_active:
                self._hand_on(held[index:])
                return
            if not self.typing and not self.take_text(key, " " if key == "space" else key):
                self.dispatch(key)

    def _hand_on(self, keys: list[events.Key]) -> None:
        """Give keys that were on their way here to the screen that came on top, once it can take them."""
        app = self.app

        def type_them() -> None:
            for key in keys:
                app.post_message(events.Key(key.key, key.character))

        app.screen.call_after_refresh(type_them)

    def dispatch(self, key: str) -> None:
        """Do what a key means after the keys before it."""
        if self.letters.waiting:
            self.letters.take(" " if key == "space" else key)
            return
        if self._counting and not self._sequences.pending and self.letters.counts(key):
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
            self._do(step.action)
        elif self.letters.drop_count():
            self.show_hint(None)

    @property
    def _counting(self) -> bool:
        return getattr(self.app, "digits", "") == COUNTS

    def _do(self, action: Action) -> None:
        times = self.letters.drop_count()
        if times:
            self.letters.repeat(action, times)
        else:
            self.attempt(action)

    def _cancelled(self, first: str) -> None:
        self.letters.drop_count()
        self.show_hint(None)
        if self.asks_at_once(first) is not None:
            self.say("Cancelled; nothing was changed.")

    def _show_choices(self, first: str) -> None:
        if self._sequences.pending != first:
            return
        line: Line = [(f" {shown_key(first)} ", "strong"), (" ", "dim")]
        for key, action in self._sequences.choices(first):
            line += [(key, "key"), (f" {action.label}   ", "dim")]
        self.show_hint([*line, ("esc cancels", "dim")])

    @on(Lines.Clicked)
    def _clicked(self, event: Lines.Clicked) -> None:
        """Press the key that was clicked."""
        event.stop()
        keys = key_named(event.key, self.table) if event.key else ()
        for key in keys:
            character = " " if key == "space" else key if len(key) == 1 else None
            name = key if character is None or key.isalnum() or key == "space" else _character_to_key(key)
            self.app.post_message(events.Key(name, character))
        if not keys:
            self.clicked(event.line, event.text)

    def clicked(self, line: str, text: str) -> None:
        """Something that is no key was clicked in a line of words; `line` is its id."""

    def on_paste(self, event: events.Paste) -> None:
        """A paste outside text is never keys."""
        event.stop()
        if not self.typing:
            self.say("A paste outside text is ignored.", "warning")
