"""Shared base of the screens over the editor: keys that work everywhere, a text that is saved or left.

Keys of the room `everywhere` also reach a screen while text is typed in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.screen import Screen
from textual.timer import Timer

from memtui.ui.action import Action, in_room
from memtui.ui.draw import bars
from memtui.ui.draw.spans import Line, Run
from memtui.ui.keys.fence import fence_of
from memtui.ui.keys.keyed import KeyedScreen
from memtui.workbench.edit.open_memory import WRITE_AFTER
from memtui.workbench.views.help import HelpScreen, help_rows

if TYPE_CHECKING:
    from memtui.workbench.edit.drafts import DraftFlow


class OverlayScreen(KeyedScreen[None]):
    """Screen over the editor that waits for an answer."""

    hint: Line | None = None

    def on_mount(self) -> None:
        """Release the key fence, also when no key opened the screen: the next key answers it."""
        fence = fence_of(self.app)
        if fence is not None:
            self.app.call_later(fence.go_on)

    def asks_by_itself(self, after: str) -> bool:
        """It comes up after a save, while the user may still be typing."""
        return any(after in action.keys for action in self.table if action.id == "save")

    def come_back_later(self) -> None:
        """Return to the editor; texts and decisions are kept."""
        raise NotImplementedError

    def draw_foot(self) -> None:
        raise NotImplementedError

    def answer(self, action: Action) -> None:
        getattr(self, f"action_{action.id}")()

    def show_hint(self, line: Line | None) -> None:
        if line != self.hint:
            self.hint = line
            self.draw_foot()

    def perform(self, action: Action) -> None:
        if action.room != "everywhere":
            self.call_later(self.answer, action)
        elif action.id == "help":
            rows, plain = help_rows(self.table, self.HELP or "", self.ROOMS), getattr(self.app, "plain", False)
            self.app.push_screen(HelpScreen(rows, self.table, typing=self.letters_are_text, plain=plain))
        elif action.id == "quit_now":
            self.call_later(self.app.action_quit)
        elif action.id in ("quit", "back"):
            self.call_later(self.come_back_later)
        elif action.id == "next_pane":
            self.focus_next()
        elif action.id == "previous_pane":
            self.focus_previous()
        else:
            self.say(f"{action.label} does not work here; esc comes back later.", "warning")


def keys_line(keys: list[tuple[str, str]], width: int) -> list[Run]:
    """Draw keys with their labels; the last ones give way when there is no room, but never the way out."""
    *first, last = [(f" {key}", f" {does} ") for key, does in keys]
    room = width - len("".join(last))
    line: list[Run] = []
    for key, label in first:
        room -= len(key + label)
        if room < 0:
            break
        line += [(key, "key"), (label, "name")]
    return [*line, (last[0], "key"), (last[1], "name")]


def rule(words: str, width: int, style: str, keys: str = "") -> list[Run]:
    tail = f" {keys} -" if keys else ""
    rest = "-" * max(width - len(words) - 4 - len(tail), 1)
    return [("-- ", "rule"), (words, style), (f" {rest}", "rule"), (tail.removesuffix("-"), "key"), ("-", "rule")]


def dismiss_unfilled(screen: KeyedScreen[None], why: str) -> None:
    """Dismiss a screen that cannot be filled, together with the keys typed for it."""
    fence = fence_of(screen.app)
    screen.dismiss(None)
    if fence is not None:
        fence.refuse(why)


def close_screen(screen: Screen[None] | None) -> None:
    if screen is not None and screen.is_current:
        screen.dismiss(None)


class TextScreen(OverlayScreen):
    """Screen with text that is saved or left; the first of its `ROOMS` is its own."""

    UNSAVED: ClassVar[str]

    def __init__(self, flow: DraftFlow[Any], table: Iterable[Action]) -> None:
        super().__init__(table)
        self._flow = flow
        self.busy = False
        self._said: Line = []
        self._sure = False
        """Whether leaving was asked for once."""
        self._draft_due: Timer | None = None

    @property
    def changed(self) -> bool:
        raise NotImplementedError

    @property
    def _plain(self) -> bool:
        return bool(getattr(self.app, "plain", False))

    # Drafts and saves

    def _await_draft(self) -> None:
        if self._draft_due is None:
            self._draft_due = self.set_timer(WRITE_AFTER, self._keep)

    def _keep(self) -> None:
        self._draft_due = None
        self._flow.keep()

    def _refusal(self) -> str:
        """Why what is typed cannot be saved."""
        return ""

    def _save(self) -> None:
        if self.busy:
            return
        if refusal := self._refusal():
            self.say(f"Not saved: {refusal}", "error")
        elif not self.changed:
            self.say("Nothing to save.")
        else:
            self.busy = True
            self._flow.save(self)

    def refused(self, words: str) -> None:
        self.busy = False
        self.say(words, "error")

    def come_back_later(self) -> None:
        """Leave; unsaved text needs a second escape."""
        if self.busy:
            return
        if self.changed and not self._sure:
            self._sure = True
            self.say(self.UNSAVED, "warning")
            return
        self._flow.leave(self)

    # Words

    def say(self, text: str, level: str = "name") -> None:
        self._said = [(" " + text, level)]
        self.draw_foot()

    def _foot(self, width: int) -> list[Line]:
        if self.hint or self._said:
            return [[*self.hint] if self.hint else bars.message(self._said, width, plain=self._plain)]
        own = [action for action in in_room(self.ROOMS[0], actions=self.table) if not self.unavailable(action)]
        end = [action._replace(keys=("f1",)) for action in self.table if action.id == "help"]
        return [bars.footer(own, width, end=end)]
