"""The history of one memory: its time line, what each version changed, and bringing one back.

It lies over whatever asked for it and goes back there. Only `r` restores, at once and as a step of undo; redacting
cannot be undone, so it needs a typed word and a reason.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from memtui.engine.model import Address, Conflict, Unchanged
from memtui.errors import MemtuiError
from memtui.features.actors import who_words
from memtui.pointers import restore
from memtui.safe_text import visible
from memtui.ui.action import Action
from memtui.ui.draw.difference import Look
from memtui.ui.draw.pages import words_page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.times import Look as Clock
from memtui.ui.draw.times import since
from memtui.ui.draw.words import count_words
from memtui.ui.list_view import ListView
from memtui.workbench.bridge import WRITE
from memtui.workbench.views import history_jobs
from memtui.workbench.views.history_rows import DISK, DRAFT, GONE, VERSION, Entry, Past, before, entry_runs
from memtui.workbench.views.redacting import Redacting

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.views.host import WorkbenchHost

BEFORE, CURRENT = "the one before", "the file"
"""What a version is compared with, unless one is marked."""


class HistoryScreen(ListView[Any]):
    """Every version there was."""

    ID: ClassVar[str] = "history"
    HELP = """Every version of this memory, newest first: who, when, what, its size. `current` is what is on disk,
`seen` what you saw last. Beside it is what the version under the cursor changed; c compares it with the file, space
marks one and compares it with that, v shows the whole text. r puts a version back under its name, and u takes that
back; enter never restores. Texts that were kept aside (a draft, your text in a conflict, a late write) stand among
them: n finds them. X clears the text of an old version for good, after a typed word."""

    def __init__(self, host: WorkbenchHost) -> None:
        super().__init__(host.shell)
        self.host, self.jobs = host, host.jobs
        self.past = Past(Address("", ""), (), None)
        self.address = Address("", "")
        self.against = BEFORE
        self.marked: Hashable = None
        self.whole = False
        self.words = False
        self.refused = ""
        """Why there is nothing to show."""
        self._go_to: str | None = None
        self.redacting = Redacting(self)
        self._does |= {
            "read_text": self.other_pane,
            "restore": self._restore,
            "mark": self._mark,
            "compare_with": self._compare_with,
            "whole_text": self._whole_text,
            "inline_words": self._toggle_words,
            "next_aside": lambda: self._jump(1),
            "previous_aside": lambda: self._jump(-1),
            "next_hunk": lambda: self.page.go_to_place(1),
            "previous_hunk": lambda: self.page.go_to_place(-1),
            "copy_contents": self._copy_text,
            "copy_sha": lambda: self.host.copy(self._entry_sha, "the sha-256"),
            "redact": self.redacting.ask,
            "edit": self._edit,
            "show_in_tree": self._show_in_tree,
        }

    # What is known

    def about(self, address: Address, at: str | None = None) -> None:
        """Show another memory, beginning at its newest row, or at the version with this sha-256."""
        self.address, self._go_to = address, at
        self.past = Past(address, (), None)
        self.against, self.marked, self.whole, self.loaded, self._shown = BEFORE, None, False, False, None
        self.prompt, self.refused = None, ""
        self.list.change_rows(lambda: None)
        self.give(())
        self.load()

    @property
    def entry(self) -> Entry | None:
        """The row under the cursor."""
        entries = self.past.entries
        return entries[self.list.cursor] if self.list.cursor < len(entries) else None

    @property
    def _entry_sha(self) -> str:
        return (self.entry.sha256 if self.entry is not None else None) or ""

    @property
    def other(self) -> Entry | None:
        """What the row under the cursor is compared with."""
        entry, entries = self.entry, self.past.entries
        if entry is None or entry.kind == GONE:
            return None
        marked = next((one for one in entries if one.key == self.marked), None)
        if marked is not None and marked != entry:
            return marked
        if self.against == CURRENT:
            return next((one for one in entries if one.current and one != entry), None)
        return before(entries, self.list.cursor)

    def draw_again(self) -> None:
        """Read and draw the row under the cursor as if it was new."""
        self._shown = None
        self.read_row()

    def read_rows(self, *, awaited: bool) -> None:
        """Ask for the time line."""
        address = self.address
        self.jobs.run(
            lambda engine: history_jobs.load(engine, address),
            self._loaded,
            what=f"read the versions of {address}",
            otherwise=self._refused,
            latest="history",
            awaited=awaited,
        )

    def _refused(self, error: MemtuiError) -> None:
        """Say in place of the rows why there are none."""
        self.refused = f"{error.message} {error.hint}".strip()
        self.rows_changed()

    def _loaded(self, past: Past) -> None:
        first, self.loaded, self.refused = not self.loaded, True, ""

        def change() -> None:
            self.past = past

        self.list.change_rows(change)
        if first:
            at = next((index for index, one in enumerate(past.entries) if one.sha256 == self._go_to), 0)
            self.list.go(at if self._go_to is not None else 0)
        self.rows_changed()

    # The list

    def row_count(self) -> int:
        """How many rows there are."""
        return len(self.past.entries)

    def row_key(self, index: int) -> Hashable:
        """What a row is."""
        return self.past.entries[index].key

    def draw_row(self, index: int, width: int) -> Sequence[Run]:
        """How a row looks."""
        entry = self.past.entries[index]
        clock = Clock(self.host.now(), self.ascii)
        return entry_runs(entry, width, clock, marked=self.marked is not None and entry.key == self.marked)

    def empty_lines(self) -> Sequence[Sequence[Run]]:
        """What is shown when there are no rows."""
        if self.refused:
            return [[("  " + visible(self.refused), "problem")]]
        if not self.loaded:
            return [[("  reading...", "dim")]]
        return [[("  No version is kept of this memory.", "name")]]

    def list_words(self) -> tuple[str, Line]:
        """Which memory, and how many versions."""
        versions = [one for one in self.past.entries if one.kind == VERSION]
        notes: Line = [(count_words(len(versions), "version"), "title")] if self.loaded else []
        if self.loaded and self.past.current is None:
            notes.append((" | " + ("unreadable" if self.past.problem else "deleted"), "warning"))
        if self.marked is not None:
            notes.append((" | 1 marked", "mark"))
        return f"History of {self.past.address}", notes

    # The text

    def read_row(self) -> None:
        """Read the row under the cursor."""
        entry, other, past = self.entry, self.other, self.past
        if entry is None or not self.is_mounted:
            self.give(())
            return
        look, now, whole = Look(self.page.text_width, self.words, self.ascii), self.host.now(), self.whole
        self.jobs.run(
            lambda engine: history_jobs.show(engine, past, entry, other, now, look, whole=whole),
            self._give,
            what=f"read a version of {past.address}",
            latest="history-page",
        )

    def _give(self, drawn: history_jobs.Drawn) -> None:
        entry = self.entry
        if entry is None or entry.key != drawn.entry.key or self.prompt is not None:
            return
        same = self._shown == (entry.key, self.whole)
        self._shown = (entry.key, self.whole)
        page, starts = drawn.page, drawn.starts
        past = self.past
        told = [f"{past.asked} is called {past.address} now."] if past.asked is not None else []
        told += [f"The file cannot be read: {self.past.problem}"] if self.past.problem else []
        if told:
            said = words_page(*told, style="warning", width=self.page.text_width)
            page, starts = (*said, *page), tuple(start + len(said) for start in starts)
        self.give(page, starts, keep_place=same)

    def page_words(self) -> tuple[str, Line]:
        """What is compared with what."""
        entry, other = self.entry, self.other
        if entry is None:
            return "Text", []
        if self.prompt is not None:
            return f"Redact {entry.title}", []
        if self.whole or other is None:
            return f"Text of {entry.title}" if entry.kind != GONE else "Deleted", []
        older = history_jobs.is_older(self.past, other, entry)
        first, second = (other, entry) if older else (entry, other)
        return f"{first.title} -> {second.title}", self.page.places()

    # Keys

    def off(self, action: Action) -> str:
        """Why an action is off now."""
        entry = self.entry
        if entry is None and action.id not in ("show_in_tree", "edit"):
            return "There is no version here." if self.loaded else "The versions are still being read."
        if action.id in ("next_hunk", "previous_hunk") and not self.page.starts:
            return "There is no other place."
        if action.id == "copy_sha" and not self._entry_sha:
            return "This row has no sha-256."
        if action.id in ("edit", "show_in_tree") and self.loaded and self.past.current is None:
            return "It is not on disk" + (f": {self.past.problem}" if self.past.problem else "; r restores a version.")
        if action.id == "mark" and entry is not None and entry.kind == GONE:
            return "A deletion has no text to compare with."
        if entry is not None and action.id in ("restore", "redact"):
            return self._why_not(entry, action.id)
        return ""

    def _why_not(self, entry: Entry, what: str) -> str:
        verb = "restore" if what == "restore" else "redact"
        if entry.kind != VERSION:
            return {
                DRAFT: f"A draft is not in history, so there is nothing to {verb}; e goes on with it.",
                DISK: "This is what is on disk.",
                GONE: "A deletion has no text; r on the version below brings it back.",
            }[entry.kind]
        if entry.redacted:
            return "The text of this version was redacted: it is gone for good."
        if entry.sha256 != self.past.current:
            return ""
        if what == "restore":
            return "This is the current version already."
        return "The current version cannot be redacted: save a text without the secret first, then redact this one."

    def _mark(self) -> None:
        key = self.past.entries[self.list.cursor].key
        self.marked = None if self.marked == key else key
        if self.marked is not None:
            self.say("Marked: other versions are compared with this one; space again ends it.")
        self.rows_changed()

    def _compare_with(self) -> None:
        self.marked = None
        self.against = CURRENT if self.against == BEFORE else BEFORE
        self.whole = False
        self.say(f"Compared with {self.against}{' as it is now' if self.against == CURRENT else ''}.")
        self.rows_changed()

    def _whole_text(self) -> None:
        self.whole = not self.whole
        self.read_row()

    def _toggle_words(self) -> None:
        self.words = not self.words
        self.say("Compared word by word: [-went-] {+came+}." if self.words else "Compared line by line.")
        self.read_row()

    def _jump(self, step: int) -> None:
        entries, index = self.past.entries, self.list.cursor + step
        while 0 <= index < len(entries):
            if entries[index].aside:
                self.list.go(index)
                return
            index += step
        self.say("No other text was kept aside in this direction.")

    def step_back(self) -> bool:
        """From the text to the list, then without the mark, then away."""
        if super().step_back():
            return True
        if self.marked is None:
            return False
        self.marked = None
        self.rows_changed()
        return True

    # Doing

    def _restore(self) -> None:
        entry, address, bridge = self.past.entries[self.list.cursor], self.past.address, self.jobs
        who = f"by {who_words(entry.actor)}, {since(entry.at, self.host.now())}"

        def restored(found: restore.Restored) -> None:
            result = found.result
            if isinstance(result, Conflict):
                self.say(f"Not restored: {address} changed in that moment, nothing was lost. r tries again.", "warning")
            elif isinstance(result, Unchanged):
                self.say(f"{address} has this text already.")
            else:
                also = f", {found.also}" if found.also else ""
                words = f"Restored version {entry.number} ({who}) of {address}{also}. u takes it back. {found.left}"
                self.say(words.rstrip(), "warning" if found.left else "good")
            self.load()

        bridge.run(
            lambda engine: restore.restore(engine, address, version=entry.sha256, actor=bridge.actor),
            restored,
            what=f"restore a version of {address}",
            lane=WRITE,
        )

    def _copy_text(self) -> None:
        entry, address = self.past.entries[self.list.cursor], self.past.address

        def text(engine: Engine) -> str:
            found = history_jobs.text_of(engine, address, entry)
            if isinstance(found, bytes):
                return found.decode("utf-8", "replace")
            raise found

        self.jobs.run(
            text,
            lambda found: self.host.copy(found, f"the text of {entry.title}"),
            what=f"read a version of {address}",
        )

    # Elsewhere

    def _edit(self) -> None:
        self.host.places.edit(self.past.address)

    def _show_in_tree(self) -> None:
        self.host.places.tree(self.past.address)
