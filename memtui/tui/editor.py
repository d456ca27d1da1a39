"""The editor pane: one open memory with its title line, its text and one line for questions.

It holds what was opened (bytes, version, form) beside what is typed, so that nobody else has to remember what a save
must expect. It takes values and posts intents; it never reads, saves or asks the engine anything.
"""

from __future__ import annotations

from typing import NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static, TextArea

from memtui.engine.model import Address, Draft, Snapshot
from memtui.safe_text import visible
from memtui.tui.drafts import WRITE_AFTER, Question
from memtui.tui.editor_bars import FindBar, PromptBar, QuestionBar
from memtui.tui.file_state import FileState, OpenFile, state_of, title_note
from memtui.tui.memory_text import MemoryText
from memtui.tui.text_form import EDIT_BYTES, EMPTY, TextForm, read_form, to_bytes

COMPARE_AFTER = 0.3
"""Seconds of quiet typing before the two sides are compared again."""


class Subject(NamedTuple):
    """What is open: the version the edit started from, and what the disk holds as far as we know."""

    address: Address
    base: bytes
    base_sha256: str | None
    """None: the memory does not exist yet."""
    form: TextForm
    disk: bytes | None
    disk_sha256: str | None


class Sides(NamedTuple):
    """What a three-way comparison found, for title and marks."""

    hunks: int
    overlaps: int
    marks: dict[int, str]
    """Signs beside the lines of the text as it was compared; lines from 0."""


class MemoryEditor(Vertical):
    """One memory, open for reading and writing."""

    DEFAULT_CSS = """
    MemoryEditor { height: 1fr; width: 1fr; }
    MemoryEditor > #editor-title { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    MemoryEditor > #editor-said { height: 1; width: 1fr; display: none; text-wrap: nowrap; text-overflow: ellipsis; }
    MemoryEditor > MemoryText { height: 1fr; width: 1fr; }
    """

    HELP = """The editor. Nothing is written to the memory before ctrl+s; a draft is kept on disk while you type.

`ctrl+s` saves only if nobody else wrote in between. `esc` goes back to the tree and keeps the draft. `f8` compares your
text with what somebody else saved. `f4` opens your own editor, `f2` renames, `f9` sets the description, `ctrl+f` finds.
"""

    class Intent(Message):
        """Something the user wants that this pane cannot do itself."""

        def __init__(self, editor: MemoryEditor) -> None:
            """Remember who asks."""
            super().__init__()
            self.editor = editor

        @property
        def control(self) -> MemoryEditor:
            """The editor that asks."""
            return self.editor

    class SaveAsked(Intent):
        """ctrl+s."""

    class LeaveAsked(Intent):
        """esc: back to the tree, the draft stays."""

    class ExternalAsked(Intent):
        """f4: the user's own editor."""

    class CompareAsked(Intent):
        """f8: show both sides."""

    class RenameAsked(Intent):
        """f2."""

    class DescribeAsked(Intent):
        """f9, answered: the new description."""

        def __init__(self, editor: MemoryEditor, value: str) -> None:
            """Carry the description."""
            super().__init__(editor)
            self.value = value

    class DraftDue(Intent):
        """What is typed should be on disk now."""

    class CompareDue(Intent):
        """The text changed while somebody else's version waits: the counts are old."""

    class DraftAnswered(Intent):
        """The question about an old draft was answered."""

        def __init__(self, editor: MemoryEditor, draft: Draft, answer: str) -> None:
            """Carry the draft and `restore`, `discard` or `later`."""
            super().__init__(editor)
            self.draft = draft
            self.answer = answer

    class StateChanged(Intent):
        """The state (and so the badge) of the open memory is another one."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.subject: Subject | None = None
        self._refusal = ""
        self._sides: Sides | None = None
        self._who = ""
        self._unseen = False
        self._moved = False
        self._state = FileState.CLEAN
        self._base_text = ""
        self._loading = False
        self._draft_timer: Timer | None = None
        self._compare_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Title, text, one line of words, one line of questions."""
        yield Static("", id="editor-title", markup=False)
        yield MemoryText(id="editor-text")
        yield FindBar(id="editor-find")
        yield PromptBar(id="editor-prompt")
        yield QuestionBar(id="editor-question")
        yield Static("", id="editor-said", markup=False)

    # --- what is open

    @property
    def text_area(self) -> MemoryText:
        """The widget that is typed in."""
        return self.query_one(MemoryText)

    @property
    def state(self) -> FileState:
        """What the open memory is now."""
        return self._state

    @property
    def dirty(self) -> bool:
        """Whether the editor holds something that is not the version it started from."""
        subject = self.subject
        if subject is None or not subject.form.editable or self._refusal:
            return False
        return self.text_area.text != self._base_text or (subject.base_sha256 is None and self.text_area.text != "")

    @property
    def data(self) -> bytes:
        """The bytes a save would write."""
        if self.subject is None:
            return b""
        if not self.subject.form.editable:
            return self.subject.base
        return to_bytes(self.text_area.text, self.subject.form)

    def draft(self, at: int) -> Draft | None:
        """Return what must not be lost as a draft of this moment (milliseconds); None when nothing is unsaved."""
        if self.subject is None or not self.dirty:
            return None
        row, column = self.text_area.cursor_location
        return Draft(self.subject.address, self.subject.base_sha256, self.data.decode(), (row, column), at)

    def open(
        self,
        address: Address,
        snapshot: Snapshot | None,
        *,
        limit: int = EDIT_BYTES,
        refusal: str = "",
        unseen: bool = False,
    ) -> None:
        """Show a memory; whatever was open before must have been left.

        Args:
            address: where it is, or will be.
            snapshot: what is on disk; None for a memory that does not exist yet.
            limit: the root's write limit in bytes.
            refusal: why nothing can be written there at all; empty when it can.
            unseen: whether somebody else's change is in it that the user has not seen.
        """
        data = snapshot.bytes if snapshot else b""
        sha256 = snapshot.sha256 if snapshot else None
        form = read_form(data, limit=limit) if snapshot else EMPTY
        self.subject = Subject(address, data, sha256, form, data if snapshot else None, sha256)
        self._refusal, self._sides, self._unseen, self._moved = refusal, None, unseen, False
        self.text_area.byte_limit = min(limit, EDIT_BYTES)
        self._base_text = form.text if form.editable else ""
        self._stop_timers()
        self.text_area.open_text(form.text, read_only=bool(refusal) or not form.editable)
        self.query_one(QuestionBar).close()
        self.query_one(FindBar).close()
        self.query_one(PromptBar).close()
        self.say("")
        self._update_state()

    def forget(self) -> None:
        """Close the memory; the pane is empty afterwards."""
        self._stop_timers()
        self.subject = None
        self.text_area.open_text("", read_only=True)
        self._update_state()

    def renamed(self, address: Address) -> None:
        """Follow the memory to another address; text, draft and undo stay."""
        if self.subject is not None:
            self.subject = self.subject._replace(address=address)
            self._moved = False
            self._update_state()

    # --- what others do

    def disk_is(self, snapshot: Snapshot | None, *, who: str = "", moved: bool = False) -> bool:
        """Take note of what is on disk now; a text nobody typed in follows it at once.

        Args:
            snapshot: the content; None when there is no file.
            who: who wrote it: an actor's name, or empty when it is not known.
            moved: whether the missing file was found under another name.

        Returns:
            Whether the two sides have to be compared (`compared` takes the result).
        """
        subject = self.subject
        if subject is None:
            return False
        sha256 = snapshot.sha256 if snapshot else None
        if sha256 == subject.disk_sha256 and moved == self._moved:
            return False
        self._who, self._moved, self._sides = who, moved, None
        self.subject = subject._replace(disk=snapshot.bytes if snapshot else None, disk_sha256=sha256)
        if snapshot is not None and not self.dirty:
            self._follow(snapshot)
        elif snapshot is not None and self.data == snapshot.bytes:
            self.saved(snapshot)
        self._update_state()
        return self.dirty and sha256 not in (None, self.subject.base_sha256)

    def compared(self, sides: Sides) -> None:
        """Show what a comparison of base, text and disk found."""
        self._sides = sides
        self.text_area.set_marks(sides.marks)
        self._update_state()

    def _follow(self, snapshot: Snapshot) -> None:
        assert self.subject is not None
        form = read_form(snapshot.bytes, limit=self.text_area.byte_limit)
        self._unseen = True
        self.subject = self.subject._replace(base=snapshot.bytes, base_sha256=snapshot.sha256, form=form)
        if form.editable and not self.text_area.read_only:
            before = self._base_text.split("\n")
            self._base_text = form.text
            self.text_area.replace_all(form.text)
            self.text_area.set_marks(_new_lines(before, form.text.split("\n")))
        else:
            self._base_text = form.text if form.editable else ""
            self.text_area.open_text(form.text, read_only=bool(self._refusal) or not form.editable)

    # --- what a save, a merge or an external editor did

    def saved(self, snapshot: Snapshot) -> None:
        """Start from this version from now on: it is on disk, and it is what the editor was asked to write."""
        if self.subject is None:
            return
        form = read_form(snapshot.bytes, limit=self.text_area.byte_limit)
        self._sides = None
        self._unseen = self._moved = False
        self.subject = Subject(
            self.subject.address, snapshot.bytes, snapshot.sha256, form, snapshot.bytes, snapshot.sha256
        )
        self._base_text = form.text if form.editable else ""
        self.text_area.set_marks({})
        self._update_state()

    def rebase(self, base: Snapshot) -> None:
        """Let the typed text count as an edit of another version, such as the one a merge took in."""
        if self.subject is None:
            return
        form = read_form(base.bytes, limit=self.text_area.byte_limit)
        if not form.editable:
            return
        self.subject = self.subject._replace(base=base.bytes, base_sha256=base.sha256, form=form)
        self._base_text = form.text
        self._sides = None
        self._update_state()

    def put(self, data: bytes) -> bool:
        """Make the text another one, undoably; False when these bytes cannot be edited as text here."""
        form = read_form(data, limit=self.text_area.byte_limit)
        if self.subject is None or not form.editable or self.text_area.read_only:
            return False
        self.subject = self.subject._replace(form=form)
        self.text_area.replace_all(form.text)
        self._update_state()
        return True

    def say(self, words: str) -> None:
        """Show one line below the text until the next key."""
        line = self.query_one("#editor-said", Static)
        line.update(Content(visible(words)))
        line.display = bool(words)

    def looked(self) -> None:
        """The user has seen what somebody else changed."""
        self._unseen = False
        self._update_state()

    # --- questions

    def ask_about(self, question: Question, when: str) -> None:
        """Ask what to do with a draft found on disk; the text cannot be typed in before the answer."""
        self.query_one(QuestionBar).ask(question.words(when), question.draft)

    def ask_description(self, value: str) -> None:
        """Ask for the description, starting from the present one."""
        self.query_one(PromptBar).ask("description", value)

    @on(QuestionBar.Answered)
    def _answered(self, event: QuestionBar.Answered) -> None:
        event.stop()
        self.text_area.focus()
        self.post_message(self.DraftAnswered(self, event.draft, event.answer))

    @on(PromptBar.Answered)
    def _described(self, event: PromptBar.Answered) -> None:
        event.stop()
        self.text_area.focus()
        self.post_message(self.DescribeAsked(self, event.value))

    @on(PromptBar.Closed)
    @on(FindBar.Closed)
    def _bar_closed(self, event: Message) -> None:
        event.stop()
        self.text_area.focus()

    @on(FindBar.Wanted)
    def _find(self, event: FindBar.Wanted) -> None:
        event.stop()
        event.bar.tell(*event.bar.find_in(self.text_area, event.direction))

    # --- keys and typing

    def on_key(self, event: events.Key) -> None:
        """The line below the text is about the last key; a new key takes it away."""
        del event
        if self.query_one("#editor-said").display:
            self.say("")

    @on(MemoryText.Pasted)
    def _pasted(self, event: MemoryText.Pasted) -> None:
        event.stop()
        self.say(f"{event.removed:,} characters of the paste were left out: control characters, or over the size limit")

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.subject is None:
            return
        self._update_state()
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(WRITE_AFTER, self._draft_due)
        if self.subject.disk_sha256 != self.subject.base_sha256 and self.dirty:
            if self._compare_timer is not None:
                self._compare_timer.stop()
            self._compare_timer = self.set_timer(COMPARE_AFTER, self._compare_due)

    def _draft_due(self) -> None:
        self._draft_timer = None
        self.post_message(self.DraftDue(self))

    def _compare_due(self) -> None:
        self._compare_timer = None
        self.post_message(self.CompareDue(self))

    def _stop_timers(self) -> None:
        for timer in (self._draft_timer, self._compare_timer):
            if timer is not None:
                timer.stop()
        self._draft_timer = self._compare_timer = None

    def on_descendant_blur(self) -> None:
        """What was typed must be on disk when the user looks elsewhere."""
        if self.dirty:
            self.post_message(self.DraftDue(self))

    def action_save(self) -> None:
        """Ask for a guarded save."""
        self.post_message(self.SaveAsked(self))

    def action_leave(self) -> None:
        """Ask to go back to the tree."""
        self.post_message(self.LeaveAsked(self))

    def action_external(self) -> None:
        """Ask for the user's own editor."""
        self.post_message(self.ExternalAsked(self))

    def action_compare(self) -> None:
        """Ask for both sides."""
        self.post_message(self.CompareAsked(self))

    def action_rename(self) -> None:
        """Ask for another name."""
        self.post_message(self.RenameAsked(self))

    def action_find(self) -> None:
        """Open the line that finds in the text."""
        self.query_one(FindBar).open()

    # --- the title

    def _update_state(self) -> None:
        subject = self.subject
        if subject is None:
            self._state = FileState.CLEAN
            self.query_one("#editor-title", Static).update("")
            return
        sides = self._sides
        before = self._state
        self._state = state_of(
            OpenFile(
                base=subject.base_sha256,
                disk=subject.disk_sha256,
                dirty=self.dirty,
                editable=subject.form.editable and not self._refusal,
                overlaps=sides.overlaps if sides else None,
                moved=self._moved,
                unseen=self._unseen,
            )
        )
        self.query_one("#editor-title", Static).update(self._title(subject))
        if self._state is not before:
            self.post_message(self.StateChanged(self))

    def _title(self, subject: Subject) -> Content:
        note = title_note(
            self._state,
            hunks=self._sides.hunks if self._sides else None,
            overlaps=self._sides.overlaps if self._sides else None,
            who=self._who or "agent",
            reason=self._refusal or subject.form.reason,
        )
        if not note and subject.base_sha256 is None:
            note = "new memory, nothing written yet"
        loud = self._state in (FileState.CONFLICT, FileState.GONE, FileState.MERGEABLE)
        name = Content.styled(f" {visible(str(subject.address))} ", "bold")
        return Content.assemble(name, " ", Content.styled(visible(note), "bold reverse" if loud else ""))


def _new_lines(before: list[str], after: list[str]) -> dict[int, str]:
    """Mark the lines between the common start and the common end of two texts."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return dict.fromkeys(range(start, len(after) - end), "A")
