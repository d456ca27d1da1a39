"""The editor pane: one open memory with its title line, its text, its keys and one line for questions.

It takes values and posts intents; it never reads, saves or asks the engine anything. What is open and in which state it
is, is `editor_core.py`.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from memtui.engine.model import Address, Snapshot
from memtui.ui.keys.fence import fence_of
from memtui.workbench.edit import intents
from memtui.workbench.edit.bars import EditorPrompt, QuestionBar
from memtui.workbench.edit.core import EditorCore
from memtui.workbench.edit.drafts import WRITE_AFTER, Question
from memtui.workbench.edit.find_bar import FindBar
from memtui.workbench.edit.memory_text import MemoryText
from memtui.workbench.edit.text_form import EDIT_BYTES
from memtui.workbench.keys import room_bindings

COMPARE_AFTER = 0.3
"""Seconds of quiet typing before the two sides are compared again."""


class MemoryEditor(EditorCore):
    """One memory, open for reading and writing."""

    DEFAULT_CSS = """
    MemoryEditor { height: 1fr; width: 1fr; }
    MemoryEditor > #editor-said { display: none; }
    MemoryEditor > MemoryText { height: 1fr; width: 1fr; padding: 0; }
    """

    BINDINGS: ClassVar[list[BindingType]] = room_bindings("editor")
    HELP = """The editor. Nothing is written to the memory before ctrl+s; a draft is kept on disk while you type.

`ctrl+s` saves only if nobody else wrote in between. `esc` goes back to the tree and keeps the draft. `f8` compares your
text with what somebody else saved. `f4` opens your own editor, `f2` renames, `f9` shows the front matter as a form,
`ctrl+f` finds.
"""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._draft_timer: Timer | None = None
        self._compare_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Title, text, one line of words, one line of questions."""
        yield self.title_line
        yield self.text_area
        yield FindBar(self.text_area, id="editor-find")
        yield EditorPrompt(id="editor-prompt")
        yield QuestionBar(id="editor-question")
        yield self.said_line

    def open(
        self,
        address: Address,
        snapshot: Snapshot | None,
        *,
        limit: int = EDIT_BYTES,
        refusal: str = "",
        unseen: bool = False,
    ) -> None:
        """Show a memory; see `EditorCore.open`. Whatever was being asked is taken away."""
        self._stop_timers()
        self.query_one(QuestionBar).close()
        self.query_one(FindBar).close()
        self.query_one(EditorPrompt).close()
        super().open(address, snapshot, limit=limit, refusal=refusal, unseen=unseen)

    def forget(self) -> None:
        """Close the memory; the pane is empty afterwards."""
        self._stop_timers()
        super().forget()

    # --- questions

    def ask_about(self, question: Question, when: str) -> None:
        """Ask what to do with a draft found on disk; the text cannot be typed in before the answer."""
        self.text_area.read_only = True
        fence = fence_of(self.app)
        if fence is not None:
            fence.startle()
        self.query_one(QuestionBar).ask(question.words(when), question.draft)

    @property
    def asking(self) -> bool:
        """Whether a question about a draft waits for its answer."""
        return any(bar.asking for bar in self.query(QuestionBar))  # there is none before it is composed

    def ask_name(self, value: str, cursor: int) -> None:
        """Ask for another name, starting from the present one with the cursor at a place in it."""
        self.query_one(EditorPrompt).ask("rename or move", value, cursor)

    @on(QuestionBar.Answered)
    def _answered(self, event: QuestionBar.Answered) -> None:
        event.stop()
        self.text_area.read_only = bool(self.refusal) or self.subject is None or not self.subject.form.editable
        self.text_area.focus()
        self.post_message(intents.DraftAnswered(self, event.draft, event.answer))

    @on(EditorPrompt.Answered)
    def _named(self, event: EditorPrompt.Answered) -> None:
        event.stop()
        self.text_area.focus()
        self.post_message(intents.Renamed(self, event.value))

    @on(EditorPrompt.Closed)
    @on(FindBar.Closed)
    def _bar_closed(self, event: Message) -> None:
        event.stop()
        self.text_area.focus()

    # --- keys and typing

    @on(MemoryText.KeyPressed)
    def _key_pressed(self, event: MemoryText.KeyPressed) -> None:
        """What was said is about the last key; and whoever types has seen what is on the screen."""
        event.stop()
        self.say("")
        if self._unseen:
            self.looked()

    @on(MemoryText.Pasted)
    def _pasted(self, event: MemoryText.Pasted) -> None:
        event.stop()
        self.say(f"{event.removed:,} characters of the paste were left out: control characters, or over the size limit")

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.subject is None:
            return
        self.follow_undo()
        self.update_state()
        self.query_one(FindBar).refresh_places()
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(WRITE_AFTER, self._draft_due)
        if self.subject.disk_sha256 != self.subject.base_sha256 and self.dirty:
            if self._compare_timer is not None:
                self._compare_timer.stop()
            self._compare_timer = self.set_timer(COMPARE_AFTER, self._compare_due)

    def _draft_due(self) -> None:
        self._draft_timer = None
        self.post_message(intents.DraftDue(self))

    def _compare_due(self) -> None:
        self._compare_timer = None
        self.post_message(intents.CompareDue(self))

    def _stop_timers(self) -> None:
        for timer in (self._draft_timer, self._compare_timer):
            if timer is not None:
                timer.stop()
        self._draft_timer = self._compare_timer = None

    def on_descendant_blur(self) -> None:
        """What was typed must be on disk when the user looks elsewhere."""
        self.update_state()
        if self.dirty:
            self.post_message(intents.DraftDue(self))

    def action_save(self) -> None:
        """Ask for a guarded save."""
        self.post_message(intents.SaveAsked(self))

    def action_leave(self) -> None:
        """Put the line that finds away, else ask to go back to the tree."""
        if self._unseen:
            self.looked()  # whoever leaves has had it before their eyes
        found = self.query_one(FindBar)
        if found.display:
            found.close()
        else:
            self.post_message(intents.LeaveAsked(self))

    def action_editor_outside(self) -> None:
        """Ask for the user's own editor."""
        self.post_message(intents.ExternalAsked(self))

    def action_compare(self) -> None:
        """Ask for both sides."""
        self.post_message(intents.CompareAsked(self))

    def action_editor_rename(self) -> None:
        """Ask for another name."""
        self.post_message(intents.RenameAsked(self))

    def action_describe(self) -> None:
        """Ask for the form of the front matter."""
        self.post_message(intents.DescribeAsked(self))

    def action_find_text(self) -> None:
        """Open the line that finds in the text."""
        self.query_one(FindBar).open()

    def action_find_next(self) -> None:
        """Go to the next place that was looked for."""
        self.query_one(FindBar).step(1)

    def action_find_previous(self) -> None:
        """Go to the place before it."""
        self.query_one(FindBar).step(-1)

    def found_by(self, words: str, *, jump: bool) -> None:
        """Mark what a search found; `jump`: with the cursor on the first place."""
        self.query_one(FindBar).prime(words, jump=jump)

    def action_text_undo(self) -> None:
        """Undo typing."""
        self.text_area.undo()

    def action_text_redo(self) -> None:
        """Redo typing."""
        self.text_area.redo()

    def on_resize(self) -> None:
        """The title is cut to the width, and what was said is folded at it."""
        self.update_state()
        self.fold_said()

    def on_descendant_focus(self) -> None:
        """The title shows where the keys go."""
        self.update_state()
