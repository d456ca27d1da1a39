"""Base of every screen whose keys come from the action table: sequences, pastes, and reasons for disabled keys.

Every screen with single-letter keys derives from it, so that none can act on a paste or ignore a disabled key silently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from textual import events
from textual.app import App
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from memtui.safe_text import cell_width
from memtui.ui.action import Action, keymap, shown_key
from memtui.ui.draw.text import Line
from memtui.ui.textual_private import name_of_character
from memtui.ui.widgets.prompts import Prompt

if TYPE_CHECKING:
    from textual import events


T = TypeVar("T")

READ_ONLY = "memtui was started with --read-only, so nothing can be written."

OUTSIDE = frozenset({"edit_outside", "edit_all"})

STAY_IN_TEXT = frozenset({"escape", "tab", "shift+tab"})
"""Keys with another meaning while text is typed."""


def press(app: App[Any], keys: Iterable[str]) -> None:
    """Press keys, as the table writes them, on the screen that is on top then."""
    for key in keys:
        character = " " if key == "space" else key if len(key) == 1 else None
        name = key if character is None or key.isalnum() or key == "space" else name_of_character(key)
        app.post_message(events.Key(name, character))


class KeyedScreen(Screen[T]):
    """A screen that runs actions."""

    ROOMS: ClassVar[tuple[str, ...]] = ()

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """The focused widget; a change repaints two titles, never the whole screen."""

    reading: Reactive[str] = Reactive("", repaint=False, init=False)
    """What is still being read for it, for people (`read notes/a.md`); keys wait until this is empty."""

    def __init__(self, table: Iterable[Action]) -> None:
        super().__init__()
        self.line_taken = True
        """Whether its message line is in use, or not meant for unasked messages."""
        self.table = tuple(table)
        self.sequences = Sequences(keymap(self.ROOMS, self.table))
        self.prompt = Prompt()
        self.letters = KeyQuestion(self.show_hint)
        keys = keymap(["everywhere"], self.table)
        self._everywhere = {key: action for key, action in keys.items() if len(key) > 1 and " " not in key}

    def watch_reading(self, reading: str) -> None:
        fence: Any = getattr(self.app, "fence", None) if not reading else None  # it knows this module
        if fence is not None:
            self.app.call_later(fence.go_on)

    # For subclasses

    @property
    def typing(self) -> bool:
        """Whether a widget takes letters as text."""
        return False

    @property
    def letters_are_text(self) -> bool:
        """Whether a widget, or a line of the screen's own, takes letters as text."""
        return self.typing or self.prompt.open

    @property
    def answering(self) -> bool:
        """Whether a question has the keys, so that other letters are no text either."""
        return False

    def _take_text(self, key: str, character: str | None) -> bool:
        """Give a key to the text line being typed; return False when there is none or it has no use for it."""
        return self.prompt.take(key, character)

    def perform(self, action: Action) -> None:
        raise NotImplementedError

    def unavailable(self, action: Action) -> str:
        """Return one sentence why an action is off now; empty when it is on."""
        del action
        return ""

    def say(self, text: str, level: str = "name") -> None:
        """Show one line to the user; `level` is a style name."""
        raise NotImplementedError

    def show_hint(self, line: Line | None) -> None:
        """Show which keys may follow; None: the usual footer."""
        raise NotImplementedError

    def _take_paste(self, text: str) -> bool:
        """Give a paste to the text line being typed; return False when there is none."""
        if self.prompt.open:
            self.prompt.paste(text)
        return self.prompt.open

    def asks_by_itself(self, after: str) -> bool:
        """Whether it is a question that came up unasked; `after` is the last key before it that is no character."""
        del after
        return False

    def not_yet(self, event: events.Key | events.Paste) -> bool:
        """Whether a key has to wait for something this screen is about to show."""
        del event
        return False

    def opening_given_up(self) -> None:
        """Undo preparations for what was being opened: the user stopped it."""

    def _asks_at_once(self, first: str) -> Line | None:
        """Return the question for a first key that asks before it acts, such as `d`."""
        del first
        return None

    # Keys

    def attempt(self, action: Action) -> None:
        """Run an action, or say why it is off."""
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

    def on_key(self, event: events.Key) -> None:
        if self.typing:
            self._beside_text(event)
        elif self._take_text(event.key, event.character):
            event.stop()
        elif event.is_printable and event.character is not None:
            event.stop()
            self._dispatch(name_of(event))
        else:
            self._special(event)

    def _beside_text(self, event: events.Key) -> None:
        """Handle a key no text field wanted: only those that work everywhere and are no text."""
        action = self._everywhere.get(event.key)
        if action is None and self.answering:
            action = next((one for one in self.table if one.id == "help" and name_of(event) in one.keys), None)
        if action is not None and event.key not in STAY_IN_TEXT:
            event.stop()
            self.attempt(action)

    def _special(self, event: events.Key) -> None:
        action = self.sequences.peek(name_of(event))
        if self.letters.waiting:
            event.stop()
            self.letters.take("")
        elif self.sequences.pending:
            event.stop()
            self._cancelled(self.sequences.cancel())
        elif action is not None:
            event.stop()
            self.attempt(action)

    def _dispatch(self, key: str) -> None:
        """Run what a character key means after the keys before it."""
        if self.letters.waiting:
            self.letters.take(" " if key == "space" else key)
            return
        step = self.sequences.feed(key)
        if step.pending:
            line = self._asks_at_once(key)
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
        if self._asks_at_once(first) is not None:
            self.say("Cancelled; nothing was changed.")

    def _show_choices(self, first: str) -> None:
        if self.sequences.pending != first:
            return
        all_of_them = self.sequences.choices(first)
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

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if not self._take_paste(event.text) and not self.typing:
            self.say("A paste outside text is ignored.", "warning")


class KeyQuestion:
    """A pending question that the next key answers."""

    def __init__(self, show_hint: Callable[[Line | None], None]) -> None:
        self._show_hint = show_hint
        self._done: Callable[[str], None] | None = None

    @property
    def waiting(self) -> bool:
        return self._done is not None

    def ask(self, line: Line, done: Callable[[str], None]) -> None:
        """Give the next key to `done`, whatever else it means; empty when cancelled."""
        self._done = done
        self._show_hint([*line, ("esc cancels", "dim")])

    def take(self, key: str) -> None:
        done, self._done = self._done, None
        self._show_hint(None)
        if done is not None:
            done(key)


def name_of(event: events.Key) -> str:
    """Return a key as the action table writes it: a character as it is, others (and space) by name."""
    character = event.character if event.is_printable and event.key != "space" else None
    return character or event.key


HINT_AFTER = 0.3
"""Seconds after which the possible second keys are shown."""


class KeyStep(NamedTuple):
    """The result of a key."""

    action: Action | None = None
    pending: str = ""
    """The first key of a sequence; another one must follow."""
    cancelled: str = ""
    """The first key of a sequence that this key does not continue."""


class Sequences:
    """Resolves keys to actions."""

    def __init__(self, keys: Mapping[str, Action]) -> None:
        self._keys = dict(keys)
        self._firsts = {key.split(" ")[0] for key in keys if " " in key}
        self.pending = ""

    def feed(self, key: str) -> KeyStep:
        first, self.pending = self.pending, ""
        if first:
            action = self._keys.get(f"{first} {key}")
            return KeyStep(action) if action is not None else KeyStep(cancelled=first)
        if key in self._firsts:
            self.pending = key
            return KeyStep(pending=key)
        return KeyStep(self._keys.get(key))

    def cancel(self) -> str:
        """Drop the first key, and return it."""
        first, self.pending = self.pending, ""
        return first

    def choices(self, first: str) -> tuple[tuple[str, Action], ...]:
        """Return the keys that may follow, with their actions."""
        found = [(key.split(" ")[1], action) for key, action in self._keys.items() if key.startswith(first + " ")]
        return tuple(found)

    def peek(self, key: str) -> Action | None:
        """Return what a key would do now."""
        return self._keys.get(f"{self.pending} {key}" if self.pending else key)
