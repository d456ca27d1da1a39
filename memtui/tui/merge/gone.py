"""The screen for a memory that somebody deleted while you had unsaved text in it: words and your change, no merge.

Deleted against edited cannot be decided line by line, so it gets a question with three answers that all keep your text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from memtui.safe_text import visible
from memtui.tui.actions import ACTIONS, Action, in_room, shown_key
from memtui.tui.browse.cells import Run
from memtui.tui.draw.lines import Line, Lines
from memtui.tui.draw.lines_view import LinesView
from memtui.tui.edit.bars import EditorPrompt
from memtui.tui.merge import view
from memtui.tui.merge.deciding import DecidingScreen
from memtui.tui.merge.session import text_of
from memtui.tui.merge.view import Parties


class GoneHost(Protocol):
    """What the screen asks for."""

    def keep_mine(self) -> None:
        """Write the text again, when there is still no file."""
        ...

    def accept_deletion(self) -> None:
        """Let the memory go; the text goes to history."""
        ...

    def save_as(self, path: str) -> None:
        """Keep the text under another name."""
        ...

    def leave(self) -> None:
        """Come back later."""
        ...


class GoneScreen(DecidingScreen):
    """Asks what to do with your text of a deleted memory."""

    CSS_PATH = "screen.tcss"
    ROOMS = ("gone", "everywhere")
    AUTO_FOCUS = "#gone-text"
    HELP = """Somebody deleted this memory while you had unsaved text in it. `k` writes your text again, `d` accepts the
deletion (your text goes to the history), `s` keeps your text under another name, `esc` decides later."""

    def __init__(
        self, parties: Parties, base: bytes, yours: bytes, host: GoneHost, *, table: Iterable[Action] = ACTIONS
    ) -> None:
        """Take BASE, YOURS and who is in it."""
        super().__init__(table)
        self.parties = parties
        self._base, self._yours = text_of(base), text_of(yours)
        self._host = host
        self._said = ""

    def compose(self) -> ComposeResult:
        """Header, your change, what the keys do."""
        yield Lines(id="gone-header", ground="bar")
        yield LinesView(id="gone-text")
        yield EditorPrompt(id="gone-prompt")
        yield Lines(id="gone-foot")

    def on_mount(self) -> None:
        """Draw."""
        self.draw()

    def on_resize(self) -> None:
        """Fold at the new width."""
        self.draw()

    @property
    def typing(self) -> bool:
        """Whether letters are text now."""
        return isinstance(self.focused, Input)

    def come_back_later(self) -> None:
        """Go back to the editor; the draft is kept."""
        self.action_gone_later()

    def say(self, text: str, level: str = "strong") -> None:
        """Show one line."""
        del level
        self._said = text
        self.draw()

    def show_hint(self, line: Line | None) -> None:
        """Show which keys may follow; this room has no keys that wait for another."""
        del line

    def draw(self) -> None:
        """Show your change against BASE."""
        width = self.size.width
        if not width or not self.is_mounted:
            return
        who = f" {self.parties.agent} deleted it. YOURS: {self.parties.yours}."
        self.query_one("#gone-header", Lines).set_lines(
            [(f" DELETED {visible(self.parties.address)} ", "title-focus")], [(who, "description")]
        )
        lines: list[Line] = [[(" your change against BASE, the text you opened:", "heading")], []]
        lines += view.file_change(self._base, self._yours, max(width - 1, 20))
        self.query_one("#gone-text", LinesView).show(lines)
        keys: list[Run] = []
        for action in (*in_room("gone", actions=self.table), *(one for one in self.table if one.id == "help")):
            keys += [(f" {shown_key(action.keys[0])}", "key"), (f" {action.label} ", "name")]
        words = self._said or "Nothing is lost: BASE and your text are kept, whatever you choose."
        self.query_one("#gone-foot", Lines).set_lines([(f" {words}", "strong")], keys)

    def action_keep_mine(self) -> None:
        """Write the text again."""
        self._host.keep_mine()

    def action_accept_deletion(self) -> None:
        """Let it go."""
        self._host.accept_deletion()

    def action_keep_as(self) -> None:
        """Ask for another name."""
        self.query_one(EditorPrompt).ask("keep it as", self.parties.address)

    def action_gone_later(self) -> None:
        """Come back later."""
        self._host.leave()

    @on(EditorPrompt.Answered)
    def _named(self, event: EditorPrompt.Answered) -> None:
        event.stop()
        self.query_one("#gone-text").focus()
        self._host.save_as(event.value)

    @on(EditorPrompt.Closed)
    def _not_named(self, event: EditorPrompt.Closed) -> None:
        event.stop()
        self.query_one("#gone-text").focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
