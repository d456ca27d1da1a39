"""What the screens that ask for a decision have in common: their own keys, and those that work everywhere.

A key of `everywhere` also reaches a screen while text is typed in it; one that a screen did not know would be a fault.
"""

from __future__ import annotations

from memtui.tui.actions import Action
from memtui.tui.keys.help import help_content
from memtui.tui.keys.keyed import KeyedScreen
from memtui.tui.views.picker import PickScreen


class DecidingScreen(KeyedScreen[None]):
    """A screen on top of the editor that waits for an answer."""

    def come_back_later(self) -> None:
        """Go back to the editor; texts and decisions are kept."""
        raise NotImplementedError

    def perform(self, action: Action) -> None:
        """Do what a key stands for."""
        if action.room != "everywhere":
            self.call_later(getattr(self, f"action_{action.id}"))
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
