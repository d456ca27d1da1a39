"""The history of one memory: its time line, what each version changed, restoring and redacting.

Only `r` restores, at once and as a step of undo; redacting cannot be undone, so it asks for a typed word and a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar

from memtui.engine.model import Address, Conflict, Unchanged
from memtui.features.actors import by
from memtui.features.history import view_rows
from memtui.features.history.view_rows import DISK, DRAFT, GONE, VERSION, Timeline, TimelineEntry
from memtui.features.host import WRITE, Host
from memtui.pointers import references
from memtui.safe_text import visible
from memtui.ui.action import Action
from memtui.ui.draw.difference import DiffStyle
from memtui.ui.draw.pages import Page, words_page
from memtui.ui.draw.text import Line, RowStyle, Run, count_words, since
from memtui.ui.list_view import ListRows, ListView
from memtui.ui.widgets.prompts import Question

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Unerased
    from memtui.errors import MemtuiError

BEFORE, CURRENT = "the one before", "the file"
WORD, EVERYWHERE = "redact", "everywhere"
"""What is typed to redact, and what to redact copies kept elsewhere too."""


class HistoryView(ListView[TimelineEntry]):
    """The view of every version of one memory."""

    ID: ClassVar[str] = "history"
    HELP = """Every version of this memory, newest first: who, when, what, its size. `current` is what is on disk,
`seen` what you saw last. Beside it is what the version under the cursor changed; c compares it with the file, space
marks one and compares it with that, v shows the whole text. r puts a version back under its name, and u takes that
back; enter never restores. Texts that were kept aside (a draft, your text in a conflict, a late write) stand among
them: n finds them. X clears the text of an old version for good, after a typed word."""
    EMPTY = ("No version is kept of this memory.",)

    def __init__(self, host: Host) -> None:
        super().__init__(host.shell, ListRows(lambda entry: entry.key))
        self.host, self.jobs = host, host.jobs
        self.words = False
        self._start(Address("", ""), None)
        self.does |= {
            "restore": self._restore,
            "compare_with": self._compare_with,
            "whole_text": self._whole_text,
            "inline_words": self._toggle_words,
            "next_aside": lambda: self._jump(1),
            "previous_aside": lambda: self._jump(-1),
            "copy_contents": self._copy_text,
            "copy_sha": lambda: host.copy(self._sha, "the sha-256"),
            "redact": self._ask_to_redact,
            "edit": lambda: host.places.edit(self.past.address),
            "blame": lambda: host.places.blame(self.past.address),
            "show_in_tree": lambda: host.places.tree(self.past.address),
        }

    # What is known

    def about(self, address: Address, at: str | None = None) -> None:
        """Show another memory, from its newest row or from the version `at`."""
        self._start(address, at)
        self.list.change_rows(lambda: self.rows.load(()))
        self.page.show(())
        self.load()

    def _start(self, address: Address, at: str | None) -> None:
        self.address, self._go_to = address, at
        self.past = Timeline(address, (), None)
        self.against, self.whole, self.loaded, self._shown = BEFORE, False, False, None
        self.prompt.close()
        self.refused = ""

    @property
    def _sha(self) -> str:
        return (self.item.sha256 if self.item is not None else None) or ""

    @property
    def other(self) -> TimelineEntry | None:
        """The entry that the row under the cursor is compared with."""
        entry, entries = self.item, self.rows.shown
        if entry is None or entry.kind == GONE:
            return None
        marked = next((one for one in entries if one.key in self.rows.marks), None)
        if marked is not None and marked != entry:
            return marked
        if self.against == CURRENT:
            return next((one for one in entries if one.current and one != entry), None)
        return view_rows.before(entries, self.list.cursor)

    def _read_rows(self, *, awaited: bool) -> None:
        address = self.address
        self.jobs.run(
            lambda engine: view_rows.load(engine, address),
            self._loaded,
            what=f"read the versions of {address}",
            otherwise=self._refused,
            latest="history",
            awaited=awaited,
        )

    def _refused(self, error: MemtuiError) -> None:
        self.refused = f"{error.message} {error.hint}".strip()
        self._rows_changed()

    def _loaded(self, past: Timeline) -> None:
        first, self.past, self.refused = not self.loaded, past, ""
        self.take(past.entries)
        if first:
            at = next((index for index, one in enumerate(past.entries) if one.sha256 == self._go_to), 0)
            self.list.go(at if self._go_to is not None else 0)
            self._rows_changed()

    # The list

    def _draw_row(self, item: TimelineEntry, width: int) -> Sequence[Run]:
        """Draw a row."""
        clock = RowStyle(self.host.now(), self.ascii)
        return view_rows.entry_runs(item, width, clock, marked=item.key in self.rows.marks)

    def _empty_lines(self) -> Sequence[Sequence[Run]]:
        """Draw an empty list, or why it is empty."""
        return [[("  " + visible(self.refused), "problem")]] if self.refused else super()._empty_lines()

    def _list_words(self) -> tuple[str, Line]:
        versions = [one for one in self.rows.all if one.kind == VERSION]
        notes: Line = [(count_words(len(versions), "version"), "title")] if self.loaded else []
        if self.loaded and self.past.current is None:
            notes.append((" | " + ("unreadable" if self.past.problem else "deleted"), "warning"))
        if self.rows.marks:
            notes.append((" | 1 marked", "mark"))
        return f"History of {self.past.address}", notes

    # The text

    @property
    def _explains(self) -> bool:
        return self.prompt.open

    def _read_text(self, item: TimelineEntry) -> None:
        other, past, now, whole = self.other, self.past, self.host.now(), self.whole
        look = DiffStyle(self.page.text_width, self.words, self.ascii)

        def show(drawn: tuple[Page, tuple[int, ...]]) -> None:
            self._show_text(item, *self._with_remarks(*drawn))

        self.jobs.run(
            lambda engine: view_rows.show(engine, past, item, other, now, look, whole=whole),
            show,
            what=f"read a version of {past.address}",
            latest="history-page",
        )

    def _with_remarks(self, page: Page, starts: tuple[int, ...]) -> tuple[Page, tuple[int, ...]]:
        past = self.past
        told = [f"{past.asked} is called {past.address} now."] if past.asked is not None else []
        told += [f"The file cannot be read: {past.problem}"] if past.problem else []
        said = words_page(*told, style="warning", width=self.page.text_width) if told else ()
        return (*said, *page), tuple(start + len(said) for start in starts)

    def _page_words(self) -> tuple[str, Line]:
        entry, other = self.item, self.other
        if entry is None:
            return "Text", []
        if self.prompt.open:
            return f"Redact {entry.title}", []
        if self.whole or other is None:
            return f"Text of {entry.title}" if entry.kind != GONE else "Deleted", []
        older = view_rows.is_older(self.past, other, entry)
        first, second = (other, entry) if older else (entry, other)
        return f"{first.title} -> {second.title}", self.page.places()

    # Keys

    def _off(self, action: Action) -> str:
        entry = self.item
        if entry is None and action.id not in ("show_in_tree", "edit", "blame"):
            return "There is no version here." if self.loaded else "The versions are still being read."
        if action.id in ("next_hunk", "previous_hunk") and not self.page.starts:
            return "There is no other place."
        if action.id == "copy_sha" and not self._sha:
            return "This row has no sha-256."
        if action.id in ("edit", "show_in_tree", "blame") and self.loaded and self.past.current is None:
            return "It is not on disk" + (f": {self.past.problem}" if self.past.problem else "; r restores a version.")
        if action.id == "mark" and entry is not None and entry.kind == GONE:
            return "A deletion has no text to compare with."
        if entry is not None and action.id in ("restore", "redact"):
            return self._why_not(entry, action.id)
        return ""

    def _why_not(self, entry: TimelineEntry, what: str) -> str:
        verb = "restore" if what == "restore" else "redact"
        if entry.kind != VERSION:
            return {
                DRAFT: f"A draft is not in history, so there is nothing to {verb}; e continues it.",
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
        """Mark one row that the others are compared with."""
        here: set[Hashable] = {self.rows.shown[self.list.cursor].key}
        self.rows.marks = set() if self.rows.marks == here else here
        if self.rows.marks:
            self.say("Marked: other versions are compared with this one; space again ends it.")
        self._rows_changed()

    def _compare_with(self) -> None:
        self.rows.marks.clear()
        self.against = CURRENT if self.against == BEFORE else BEFORE
        if self.whole:
            self.whole, self._shown = False, None
        self.say(f"Compared with {self.against}{' as it is now' if self.against == CURRENT else ''}.")
        self._rows_changed()

    def _whole_text(self) -> None:
        self.whole, self._shown = not self.whole, None  # another text, which begins at its top
        self.read_row()

    def _toggle_words(self) -> None:
        self.words = not self.words
        self.say("Compared word by word: [-went-] {+came+}." if self.words else "Compared line by line.")
        self.read_row()

    def _jump(self, step: int) -> None:
        if not self._jump_to(step, lambda entry: entry.aside):
            self.say("No other text was kept aside in this direction.")

    def _step_back(self) -> bool:
        """Go from the text to the list, then drop the mark, then leave."""
        marks = len(self.rows.marks)
        back = super()._step_back()
        if len(self.rows.marks) < marks:
            self._rows_changed()
        return back

    # Doing

    def _restore(self) -> None:
        entry, address, jobs = self.rows.shown[self.list.cursor], self.past.address, self.jobs
        who = f"{by(entry.who)}, {since(entry.at, self.host.now())}"

        def restored(found: references.Restored) -> None:
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

        jobs.run(
            lambda engine: references.restore(engine, address, version=entry.sha256, actor=jobs.actor),
            restored,
            what=f"restore a version of {address}",
            lane=WRITE,
        )

    def _copy_text(self) -> None:
        entry, address = self.rows.shown[self.list.cursor], self.past.address
        self.jobs.run(
            lambda engine: view_rows.text_of(engine, address, entry).decode("utf-8", "replace"),
            lambda found: self.host.copy(found, f"the text of {entry.title}"),
            what=f"read a version of {address}",
        )

    # Redacting: it cannot be undone, so no single key and no slip of a hand leads to it

    def _ask_to_redact(self) -> None:
        """Explain redaction, then ask for the word and a reason."""
        chosen = self.rows.shown[self.list.cursor]
        self.page.show(words_page(*explanation(self.past, chosen), style="warning", width=self.page.text_width))

        def ask_reason() -> None:
            hint: Line = [("why the text must go; enter clears it", "dim")]
            question = Question("reason", "", lambda why: self._redact(chosen, why), self._leave, hint=lambda _: hint)
            self.prompt.ask(question)

        self._ask_word(WORD, ask_reason, self._leave, f"clears the text of version {chosen.number} for good")

    def _refuse(self, why: str) -> None:
        self.prompt.refuse(why)

    def _ask_word(self, word: str, then: Callable[[], None], leave: Callable[[], None], warning: str = "") -> None:
        """Ask to type a word, and refuse any other."""

        def typed(text: str) -> None:
            if text.strip() == word:
                then()
            else:
                self._refuse(f"type {word}, or esc")

        hint: Line = [(warning, "warning")]
        self.prompt.ask(Question(f"type {word}", "", typed, leave, hint=(lambda _: hint) if warning else None))

    def _leave(self) -> None:
        self.prompt.close()
        self.say("Not redacted; nothing was changed.")
        self._shown = None
        self.read_row()

    def _redact(self, entry: TimelineEntry, reason: str, *, everywhere: bool = False) -> None:
        if not reason.strip():
            self._refuse("a redaction needs a reason")
            return
        self.prompt.close()
        address, jobs, sha = self.past.address, self.jobs, entry.sha256 or ""

        def job(engine: Engine) -> Unerased:
            engine.redaction.redact(address, sha, reason=reason.strip(), actor=jobs.actor, everywhere=everywhere)
            return engine.redaction.unerased()

        def redacted(left: Unerased) -> None:
            pending = " Freed bytes are overwritten at the next start." if left.pending else ""
            self.say(
                f"Redacted version {entry.number} of {address}: its text is gone, its record stays.{pending}", "good"
            )
            self.load()
            self._ask_damaged(list(left.damaged))

        def refused(error: MemtuiError) -> None:
            if error.code == "E_SHARED":
                self._ask_everywhere(entry, reason, error)
            else:
                self.say(f"Not redacted. {error.message}", "warning")

        jobs.run(job, redacted, what=f"redact version {entry.number}", otherwise=refused, lane=WRITE)

    def _ask_everywhere(self, entry: TimelineEntry, reason: str, error: MemtuiError) -> None:
        """Ask once more when something else keeps the text."""
        kept = [f"  {one}" for one in str(error.details.get("kept_by", "")).splitlines()]
        closing = f"Type {EVERYWHERE} to clear memtui's copies there, too; esc leaves everything as it is."
        self.page.show(words_page(error.message, "", *kept, "", closing, style="warning", width=self.page.text_width))
        self._ask_word(EVERYWHERE, lambda: self._redact(entry, reason, everywhere=True), self._leave)

    def _ask_damaged(self, paths: list[str]) -> None:
        """Ask about each damaged ledger: none can tell whether it holds the text."""
        if not paths:
            return
        path = paths[0]
        name = path.rpartition("/")[2]

        def delete() -> None:
            self.prompt.close()
            self.jobs.run(
                lambda engine: engine.redaction.drop_damaged(path), deleted, what=f"delete {name}", lane=WRITE
            )

        def deleted(_: None) -> None:
            self.say(f"Deleted {name}.", "good")
            self._ask_damaged(paths[1:])

        def leave() -> None:
            self.prompt.close()
            self.say(f"{name} stays, and may hold the text.", "warning")

        self._ask_word("yes", delete, leave, f"deletes {name}, which is damaged and may hold the text, too")


def explanation(past: Timeline, entry: TimelineEntry) -> tuple[str, ...]:
    """Say what redacting a version does, and what it does not do."""
    same = sum(1 for one in past.entries if one.sha256 == entry.sha256 and one.kind == VERSION)
    also = (f"{count_words(same - 1, 'other version')} of the same text: it is cleared there too.",) if same > 1 else ()
    return (
        f"Redact version {entry.number} of {past.address}?",
        "",
        "Its stored text is cleared for good, backups included.",
        "This cannot be undone: not by u, and not by memtui at all.",
        *also,
        "The record stays: who wrote it and when, its size, and the reason you give.",
        "Undo of a step that needs this text will not work any more.",
        "Out of reach: agents' own files, git, other machines, bundles, file system snapshots, freed disk blocks.",
        "",
        f"Type {WORD} to go on; esc leaves everything as it is.",
    )
