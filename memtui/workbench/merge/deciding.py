"""What the screens that ask for a decision have in common: their own keys, and those that work everywhere.

A key of `everywhere` also reaches a screen while text is typed in it; one that a screen did not know would be a fault.
"""

from __future__ import annotations

from memtui.ui.action import Action
from memtui.ui.draw.spans import Line, Run
from memtui.ui.keys.keyed import KeyedScreen
from memtui.workbench.views.help import help_content
from memtui.workbench.views.picker import PickScreen


class DecidingScreen(KeyedScreen[None]):
    """A screen on top of the editor that waits for an answer."""

    hint: Line | None = None
    """Which keys may follow, while a first key waits for its second."""

    def asks_by_itself(self, after: str) -> bool:
        """After a save it comes up while the user may still be typing."""
        return any(after in action.keys for action in self.table if action.id == "save")

    def come_back_later(self) -> None:
        """Go back to the editor; texts and decisions are kept."""
        raise NotImplementedError

    def draw_foot(self) -> None:
        """Show the last lines again."""
        raise NotImplementedError

    def answer(self, action: Action) -> None:
        """Do what a key of the screen's own room stands for."""
        getattr(self, f"action_{action.id}")()

    def show_hint(self, line: Line | None) -> None:
        """Show which keys may follow, or the usual last line again."""
        if line != self.hint:
            self.hint = line
            self.draw_foot()

    def perform(self, action: Action) -> None:
        """Do what a key stands for."""
        if action.room != "everywhere":
            self.call_later(self.answer, action)
        elif action.id == "help":
            content = help_content(self.table, self.HELP or "", self.ROOMS)
            self.app.push_screen(PickScreen(content, self.table, plain=getattr(self.app, "plain", False)))
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
    """Name keys and what they do; the last ones give way when there is no room, but never the way out."""
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
    """A line that begins a part of the screen."""
    tail = f" {keys} -" if keys else ""
    rest = "-" * max(width - len(words) - 4 - len(tail), 1)
    return [("-- ", "rule"), (words, style), (f" {rest}", "rule"), (tail.removesuffix("-"), "key"), ("-", "rule")]
