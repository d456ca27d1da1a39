"""Redacting an old version: what it means in words, a typed word, a reason, and only then it is done.

It is the one thing in the workbench that cannot be undone, so no single key and no slip of a hand leads to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.ui.draw.pages import words_page
from memtui.ui.draw.spans import Line
from memtui.ui.draw.words import count_words
from memtui.ui.widgets.prompts import Question
from memtui.workbench.bridge import WRITE
from memtui.workbench.views.history_rows import VERSION, Entry, Past

if TYPE_CHECKING:
    from memtui.engine.model import Unerased
    from memtui.errors import MemtuiError
    from memtui.workbench.bridge import Engine
    from memtui.workbench.views.history import HistoryScreen

WORD, EVERYWHERE = "redact", "everywhere"
"""What is typed to go on, and what when something else keeps the text."""


def explanation(past: Past, entry: Entry) -> tuple[str, ...]:
    """Say what redacting a version does, and what it does not do."""
    same = sum(1 for one in past.entries if one.sha256 == entry.sha256 and one.kind == VERSION)
    also = (f"{count_words(same - 1, 'other version')} of the same text: it is cleared there too.",) if same > 1 else ()
    return (
        f"Redact version {entry.number} of {past.address}?",
        "",
        "Its stored text is cleared for good, backups included.",
        "This cannot be undone: not by u, and not by memtui at all.",
        *also,
        "Its record stays: who wrote it and when, its size, and the reason you give.",
        "Undo of a step that needs this text will not work any more.",
        "Out of reach: agents' own files, git, other machines, bundles, file system snapshots, freed disk blocks.",
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
        screen.give(words_page(*explanation(screen.past, chosen), style="warning", width=screen.page.text_width))

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

    def _redact(self, entry: Entry, reason: str, *, everywhere: bool = False) -> None:
        if not reason.strip():
            self._refuse("a redaction needs a reason")
            return
        screen = self._screen
        screen.close_prompt()
        address, bridge, sha = screen.past.address, screen.jobs, entry.sha256 or ""

        def job(engine: Engine) -> Unerased:
            engine.redaction.redact(address, sha, reason=reason.strip(), actor=bridge.actor, everywhere=everywhere)
            return engine.redaction.unerased()

        def redacted(left: Unerased) -> None:
            pending = " Freed bytes are overwritten at the next start." if left.pending else ""
            screen.say(
                f"Redacted version {entry.number} of {address}: its text is gone, its record stays.{pending}", "good"
            )
            screen.load()
            self._ask_damaged(list(left.damaged))

        def refused(error: MemtuiError) -> None:
            if error.code == "E_SHARED":
                self._ask_everywhere(entry, reason, error)
            else:
                screen.say(f"Not redacted. {error.message}", "warning")

        bridge.run(job, redacted, what=f"redact version {entry.number}", otherwise=refused, lane=WRITE)

    def _ask_everywhere(self, entry: Entry, reason: str, error: MemtuiError) -> None:
        """Ask for one more yes when something else keeps the text."""
        screen = self._screen
        kept = [f"  {one}" for one in str(error.details.get("kept_by", "")).splitlines()]
        closing = f"Type {EVERYWHERE} to clear memtui's copies there, too; esc leaves everything as it is."
        screen.give(words_page(error.message, "", *kept, "", closing, style="warning", width=screen.page.text_width))

        def word(text: str) -> None:
            if text.strip() == EVERYWHERE:
                self._redact(entry, reason, everywhere=True)
            else:
                self._refuse(f"type {EVERYWHERE}, or esc")

        screen.ask(Question(f"type {EVERYWHERE}", "", word, self._leave))

    def _ask_damaged(self, paths: list[str]) -> None:
        """Ask about each damaged ledger by name: nobody can tell whether it holds the text."""
        if not paths:
            return
        screen, path = self._screen, paths[0]
        name = path.rpartition("/")[2]
        hint: Line = [(f"deletes {name}, which is damaged and may hold the text, too", "warning")]

        def word(text: str) -> None:
            if text.strip() != "yes":
                self._refuse("type yes, or esc")
                return
            screen.close_prompt()
            screen.jobs.run(
                lambda engine: engine.redaction.drop_damaged(path), deleted, what=f"delete {name}", lane=WRITE
            )

        def deleted(_: None) -> None:
            screen.say(f"Deleted {name}.", "good")
            self._ask_damaged(paths[1:])

        def leave() -> None:
            screen.close_prompt()
            screen.say(f"{name} stays, and may hold the text.", "warning")

        screen.ask(Question("type yes", "", word, leave, hint=lambda _: hint))
