"""A key tester: each key as memtui sees it, the bytes the terminal sent, and what the key does."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.widgets import Static

from memtui.safe_text import visible
from memtui.ui import terminal
from memtui.ui.action import Action
from memtui.ui.draw import paint
from memtui.ui.keys.keyed import name_of
from memtui.ui.terminal import GuardedParser

KEPT = 200
SHOWN_MEANINGS = 4
INTRO = (
    "Press a key: memtui shows what it sees, what your terminal sent, and what the key does.",
    "A key that shows nothing never arrived: your terminal, tmux or the desktop keeps it.",
    "esc twice ends.",
    "",
)

_sent: deque[str] = deque(maxlen=KEPT)
"""Input since the last key, appended by the thread that reads the terminal."""


class ListeningParser(GuardedParser):
    def feed(self, data: str) -> Iterable[Message]:
        if data:
            _sent.append(data)
        return super().feed(data)


def described(key: str, sent: str, table: Iterable[Action], pending: str = "") -> str:
    """Describe a key: `ctrl+s  sent as ^S  save (editor)`.

    `table` has the user's keys; `pending` is the key before, for sequences.
    """
    rooms: dict[str, list[str]] = {}
    for action in table:
        if key in action.keys:
            rooms.setdefault(action.label, []).append(action.room)
        elif pending and f"{pending} {key}" in action.keys:
            rooms.setdefault(f"{pending} {key}: {action.label}", []).append(action.room)
        elif any(one.startswith(f"{key} ") for one in action.keys):
            rooms.setdefault("begins two keys", [])
    means = [f"{label} ({', '.join(where)})" if where else label for label, where in rooms.items()]
    if len(means) > SHOWN_MEANINGS:
        means = [*means[:SHOWN_MEANINGS], f"and {len(means) - SHOWN_MEANINGS} more"]
    how = "".join(f"^{chr(ord(one) + 64)}" if one < " " else visible(one) for one in sent) or "?"
    return f"I see {key:<14} sent as {how:<12} {'; '.join(means) or 'no action has it'}"


class KeyTest(App[int], inherit_bindings=False):
    """Shows keys until escape is pressed twice."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "Static { width: 1fr; height: 1fr; padding: 0 1; }"

    def __init__(self, table: Sequence[Action], theme: str) -> None:
        super().__init__()
        self._table = tuple(table)
        self._lines: list[str] = []
        self._before = ""
        for one in paint.THEMES:
            self.register_theme(one)
        self.theme = theme

    def compose(self) -> ComposeResult:
        yield Static("\n".join(INTRO), markup=False)

    def _show(self, line: str) -> None:
        self._lines.append(line)
        room = max(self.size.height - len(INTRO) - 1, 1)
        self.query_one(Static).update("\n".join([*INTRO, *self._lines[-room:]]))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        sent = "".join(_sent)
        _sent.clear()
        key = name_of(event)
        if key == self._before == "escape":
            self.exit(0)
            return
        self._show(described(key, sent, self._table, self._before))
        self._before = key

    def on_paste(self, event: events.Paste) -> None:
        _sent.clear()
        self._show(f"I see a paste of {len(event.text):,} characters, marked as one by your terminal")


def run(table: Sequence[Action], *, no_color: bool) -> int:
    """Show keys until escape is pressed twice; return the exit status."""
    terminal.install(ListeningParser)
    return KeyTest(table, paint.MONOCHROME if no_color else paint.DEFAULT).run() or 0
