"""Redacting an old version: what it means in words, a typed word, a reason, and only then it is done.

It is the one thing in the workbench that cannot be undone, so no single key and no slip of a hand leads to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.tui.bridge import WRITE
from memtui.tui.browse.bars import Line
from memtui.tui.browse.cells import count_words
from memtui.tui.browse.prompts import Question
from memtui.tui.draw.pages import words_page
from memtui.tui.views.history_rows import VERSION, Entry, Past

if TYPE_CHECKING:
    from memtui.tui.views.history import HistoryScreen

WORD = "redact"
"""What is typed to go on."""


def explanation(past: Past, entry: Entry) -> tuple[str, ...]:
    """Say what redacting a version does, and what it does not do."""
    same = sum(1 for one in past.entries if one.sha256 == entry.sha256 and one.kind == VERSION)
    also = (f"{count_words(same - 1, 'other version')} of the same text: it is cleared there too.",) if same > 1 else ()
    return (
        f"Redact version {entry.number} of {past.address}?",
        "",
        "Its stored text is cleared for good. This cannot be undone: not by u, and not by memtui at all.",
        *also,
        "Its record stays: who wrote it and when, its size, and the reason you give.",
        "Undo of a step that needs this text will not work any more.",
        "Copies elsewhere are not touched: backups of the ledger until they are replaced, what agents sent away.",
        "",
        f"Type {WORD} to go on; esc leaves everything as it is.",
    )


class Redacting:
    """Asks, and redacts."""

    def __init__(self, screen: HistoryScreen) -> None:
        self._screen = screen

    def ask(self) -> None:
        """Explain what it means, then ask for the word and for a reason."""
        screen = self._screen
        entry = screen.entry
        if entry is None:
            return
        chosen = entry
        screen.give(words_page(*explanation(screen.past, chosen), style="warning", width=screen.width))

        def word(text: str) -> None:
            if text.strip() != WORD:
                self._refuse(f"type {WORD}, or esc")
                return
            hint: Line = [("why the text must go; enter clears it", "dim")]
            screen.ask(Question("reason", "", lambda why: self._redact(chosen, why), self._leave, hint=lambda _: hint))

        hint: Line = [(f"clears the text of version {chosen.number} for good", "warning")]
        screen.ask(Question(f"type {WORD}", "", word, self._leave, hint=lambda _: hint))

    def _refuse(self, why: str) -> None:
        if self._screen.prompt is not None:
            self._screen.prompt.refuse(why)

    def _leave(self) -> None:
        self._screen.close_prompt()
        self._screen.say("Not redacted; nothing was changed.")
        self._screen.draw_again()

    def _redact(self, entry: Entry, reason: str) -> None:
        if not reason.strip():
            self._refuse("a redaction needs a reason")
            return
        screen = self._screen
        screen.close_prompt()
        address, bridge, sha = screen.past.address, screen.bridge, entry.sha256 or ""

        def redacted(_: object) -> None:
            screen.say(f"Redacted version {entry.number} of {address}: its text is gone, its record stays.", "good")
            screen.load()

        bridge.run(
            lambda engine: engine.redact(address, sha, reason=reason.strip(), actor=bridge.actor),
            redacted,
            what=f"redact version {entry.number}",
            lane=WRITE,
        )
