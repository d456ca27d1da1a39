"""The editor pane: title line, text, bars and keys of one open memory.

It posts what the user wants as `EditorWants` and never calls the engine; `edit_flow.py` does. It holds what was opened
(bytes, version, form) beside the typed text, because a save must expect exactly that version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.timer import Timer
from textual.widgets import TextArea

from memtui.engine.model import Address, Draft, Snapshot
from memtui.features.actors import UNKNOWN
from memtui.safe_text import visible
from memtui.ui.draw.pages import fold
from memtui.ui.keys.fence import fence_of
from memtui.ui.widgets.lines import Lines
from memtui.workbench.bridge import EditorWants
from memtui.workbench.edit.bars import EditorPrompt, FindBar, QuestionBar
from memtui.workbench.edit.memory_text import EDIT_BYTES, EMPTY, MemoryText, read_form, to_bytes
from memtui.workbench.edit.open_memory import (
    WRITE_AFTER,
    Comparison,
    DiskState,
    FileState,
    OpenMemory,
    new_lines,
    state_of,
    title_note,
    title_runs,
)
from memtui.workbench.keys import room_bindings

COMPARE_AFTER = 0.3


class MemoryEditor(Vertical):
    """One memory, open for reading and writing."""

    DEFAULT_CSS = """
    MemoryEditor { height: 1fr; width: 1fr; }
    MemoryEditor > #editor-said { display: none; }
    MemoryEditor > MemoryText { height: 1fr; width: 1fr; padding: 0; }
    """

    BINDINGS: ClassVar[list[BindingType]] = room_bindings("editor")
    HELP = """The editor. Nothing is written to the memory before ctrl+s; a draft is kept on disk while you type.

`ctrl+s` saves only if nobody else wrote in between. `esc` goes back to the tree and keeps the draft. `f8` compares your
text with what somebody else saved. Secrets are drawn as dots, but for the one at the cursor. `f4`
opens your own editor, whose saves are guarded saves too. `f2` renames,
`f9` shows the front matter as a form, `ctrl+f` finds.
"""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.text_area = MemoryText(id="editor-text")
        """The text widget; held here because drafts are still written from it while the screen is taken apart."""
        self.named: Callable[[str], str] = str
        """Replaces addresses in a text by the names people see."""
        self.title_line = Lines(id="editor-title", ground="bar")
        self.said_line = Lines(id="editor-said")
        self.subject: OpenMemory | None = None
        self.refusal = ""
        self._compared: Comparison | None = None
        self._before_merge: tuple[str, OpenMemory] | None = None
        self._merge_shown = False
        self._unseen = False
        self.state = FileState.CLEAN
        self._said = ""
        self._draft_timer: Timer | None = None
        self._stop_comparing: Callable[[], None] = lambda: None

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.text_area
        yield FindBar(self.text_area, id="editor-find")
        yield EditorPrompt(self.text_area.focus, id="editor-prompt")
        yield QuestionBar(id="editor-question")
        yield self.said_line

    # --- what is open

    @property
    def dirty(self) -> bool:
        """Whether the text differs from the version the edit started from."""
        subject = self.subject
        return subject is not None and not self.refusal and subject.form.editable and self.data != subject.base

    @property
    def data(self) -> bytes:
        """The bytes a save would write."""
        if self.subject is None:
            return b""
        if not self.subject.form.editable:
            return self.subject.base
        return to_bytes(self.text_area.text, self.subject.form)

    def draft(self, at: int) -> Draft | None:
        """Return the unsaved text as a draft of this moment (milliseconds); None when nothing is unsaved."""
        if self.subject is None or not self.dirty:
            return None
        subject = self.subject
        base = subject.base if subject.base_sha256 is not None else None
        row, column = self.text_area.cursor_location
        return Draft(subject.address, subject.base_sha256, self.data.decode(), (row, column), at, base)

    def open(
        self,
        address: Address,
        snapshot: Snapshot | None,
        *,
        limit: int = EDIT_BYTES,
        refusal: str = "",
        unseen: bool = False,
    ) -> None:
        """Show a memory; a snapshot of None is one that does not exist yet.

        `refusal` says why nothing can be written there; `unseen`: it holds a change of somebody else's not seen yet.
        """
        self._stop_timers()
        for bar in (self.query_one(QuestionBar), self.query_one(FindBar), self.query_one(EditorPrompt)):
            bar.close()
        data = snapshot.bytes if snapshot else b""
        sha256 = snapshot.sha256 if snapshot else None
        form = read_form(data, limit=limit) if snapshot else EMPTY
        self.subject = OpenMemory(address, data, sha256, form, DiskState(snapshot))
        self.refusal, self._compared, self._unseen, self._before_merge = refusal, None, unseen, None
        self.text_area.byte_limit = min(limit, EDIT_BYTES)
        self.text_area.open_text(form.text, read_only=bool(refusal) or not form.editable)
        self.say("")
        self._update_state()

    def clear(self) -> None:
        self._stop_timers()
        self.subject = None
        self.text_area.open_text("", read_only=True)
        self._update_state()

    def renamed(self, address: Address) -> None:
        """Follow the memory to another address; text, draft and undo stay."""
        if self.subject is not None:
            self.subject = self.subject._replace(address=address, disk=self.subject.disk._replace(moved_to=None))
            self._update_state()

    # --- what others do

    def set_disk(self, disk: DiskState) -> bool:
        """Take in what is on disk now; an unedited text follows it. True when both sides have to be compared."""
        subject, snapshot = self.subject, disk.snapshot
        if subject is None:
            return False
        if (disk.sha256, disk.moved_to) == (subject.disk.sha256, subject.disk.moved_to):
            if disk.who and disk.who != subject.disk.who:  # a better name, once it is settled who wrote
                self.subject = subject._replace(disk=subject.disk._replace(who=disk.who))
                self._update_state()
            return False
        self._compared = None
        self.subject = subject._replace(disk=disk)
        if snapshot is not None and not self.dirty:
            self._follow(snapshot)
        elif snapshot is not None and self.data == snapshot.bytes:
            self.saved(snapshot)
        self._update_state()
        return self.dirty and disk.sha256 not in (None, self.subject.base_sha256)

    def set_comparison(self, comparison: Comparison) -> None:
        self._compared = comparison
        self.text_area.set_marks(comparison.marks)
        self._update_state()

    def _follow(self, snapshot: Snapshot) -> None:
        assert self.subject is not None
        before = read_form(self.subject.base, limit=self.text_area.byte_limit).text
        form = read_form(snapshot.bytes, limit=self.text_area.byte_limit)
        self._unseen = self.text_area.tell_next_key = True
        self.subject = self.subject._replace(base=snapshot.bytes, base_sha256=snapshot.sha256, form=form)
        if form.editable and not self.text_area.read_only:
            self.text_area.replace_all(form.text)
            self.text_area.set_marks(new_lines(before.split("\n"), form.text.split("\n")))
        else:
            self.text_area.open_text(form.text, read_only=bool(self.refusal) or not form.editable)

    # --- what a save, a merge or an external editor did

    def saved(self, snapshot: Snapshot) -> None:
        """Take a version that was just written as the new base."""
        if self.subject is None:
            return
        form = read_form(snapshot.bytes, limit=self.text_area.byte_limit)
        self._compared, self._merge_shown, self._unseen = None, False, False
        disk = DiskState(snapshot, self.subject.disk.who)
        self.subject = OpenMemory(self.subject.address, snapshot.bytes, snapshot.sha256, form, disk)
        if not form.editable:
            self.text_area.open_text(form.text, read_only=True)  # what ctrl+z would bring back could not be saved
        self.text_area.set_marks({})
        self._update_state()

    def merged(self, yours: bytes, base: Snapshot) -> None:
        """Count the text as an edit of `base`, the other side's version; undoing the merge undoes this too.

        `yours` is what was typed before the merge.
        """
        form = read_form(base.bytes, limit=self.text_area.byte_limit)
        if self.subject is None or not form.editable:
            return
        self._before_merge, self._merge_shown = (read_form(yours).text, self.subject), True
        self.subject = self.subject._replace(base=base.bytes, base_sha256=base.sha256)
        self._compared = None
        self.text_area.set_marks({})
        self._update_state()

    @property
    def before_merge(self) -> tuple[bytes, OpenMemory] | None:
        """The text before a merge that is not saved yet, and the memory it was an edit of; else None."""
        if self._before_merge is None or not self._merge_shown:
            return None
        text, subject = self._before_merge
        return to_bytes(text, subject.form), subject

    def _follow_undo(self) -> None:
        """Restore the old base once undo went back before a merge, so that a save compares with it again."""
        subject = self.subject
        if subject is None:
            return
        if self._before_merge is not None and self.text_area.text == self._before_merge[0]:
            before = self._before_merge[1]
            self._before_merge = None
            self.subject = subject._replace(base=before.base, base_sha256=before.base_sha256, form=before.form)
            self._compared = None
            return
        on_disk = subject.disk.snapshot
        if on_disk is not None and on_disk.sha256 != subject.base_sha256 and self.data == on_disk.bytes:
            self.saved(on_disk)

    def replace_text(self, data: bytes) -> bool:
        """Replace the text as one undo step; False when these bytes cannot be edited as text."""
        form = read_form(data, limit=self.text_area.byte_limit)
        if self.subject is None or not form.editable or self.text_area.read_only:
            return False
        self.subject = self.subject._replace(form=form)
        self.text_area.replace_all(form.text)
        self._update_state()
        return True

    def say(self, words: str) -> None:
        self._said = words
        self._fold_said()
        self.text_area.tell_next_key = bool(words) or self._unseen

    def _fold_said(self) -> None:
        line, words = self.said_line, self._said
        parts = fold(visible(words), max(self.size.width - 2, 20)) if words else []
        line.set_lines(*([(f" {part}", "strong")] for part in parts))
        line.styles.height = max(len(parts), 1)
        line.display = bool(words)

    def _looked(self) -> None:
        self._unseen = False
        self.text_area.set_marks({})
        self._update_state()
        self.post_message(EditorWants("looked"))

    @property
    def who(self) -> str:
        """The other writer, as `who_words` names them."""
        return (self.subject.disk.who if self.subject is not None else "") or UNKNOWN

    # --- the title

    def _update_state(self) -> None:
        subject = self.subject
        if subject is None:
            self.state = FileState.CLEAN
            self.title_line.set_lines()
            return
        compared = self._compared
        self.state = state_of(
            base=subject.base_sha256,
            disk=subject.disk.sha256,
            dirty=self.dirty,
            editable=subject.form.editable and not self.refusal,
            overlaps=compared.overlaps if compared else None,
            moved=subject.disk.moved_to is not None,
            unseen=self._unseen,
        )
        note = title_note(self.state, compared, who=self.who, reason=self.refusal or subject.form.reason)
        if not note and subject.base_sha256 is None:
            note = "new memory, nothing written yet"
        line = title_runs(
            self.named(str(subject.address)), note, self.state, self.size.width, focused=self.has_focus_within
        )
        self.title_line.set_lines(line)

    # --- questions

    def ask_about(self, draft: Draft, words: str) -> None:
        """Ask what to do with a draft found on disk; the text is read-only until the answer."""
        self.text_area.read_only = True
        fence = fence_of(self.app)
        if fence is not None:
            fence.startle()
        self.query_one(QuestionBar).ask(words, lambda answer: self._answered(answer, draft))

    @property
    def asking(self) -> bool:
        return any(bar.asking for bar in self.query(QuestionBar))  # there is none before it is composed

    def ask_name(self, value: str, cursor: int) -> None:
        def named(text: str) -> None:
            self.post_message(EditorWants("rename", text=text))

        self.query_one(EditorPrompt).ask("rename or move", value, named, cursor)

    def _answered(self, answer: str, draft: Draft) -> None:
        self.text_area.read_only = bool(self.refusal) or self.subject is None or not self.subject.form.editable
        self.text_area.focus()
        self.post_message(EditorWants(answer, draft=draft))

    # --- keys and typing

    @on(MemoryText.KeyPressed)
    def _key_pressed(self, event: MemoryText.KeyPressed) -> None:
        """Clear the message; a user who types has seen what is on the screen."""
        event.stop()
        self.say("")
        if self._unseen:
            self._looked()

    @on(MemoryText.Pasted)
    def _pasted(self, event: MemoryText.Pasted) -> None:
        event.stop()
        self.say(f"{event.removed:,} characters of the paste were left out: control characters, or over the size limit")

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.subject is None:
            return
        self._follow_undo()
        self._update_state()
        self.query_one(FindBar).refresh_places()
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(WRITE_AFTER, self._draft_due)
        if self.subject.disk.sha256 != self.subject.base_sha256 and self.dirty:
            self._stop_comparing()
            self._stop_comparing = self.set_timer(COMPARE_AFTER, lambda: self.post_message(EditorWants("count"))).stop

    def _draft_due(self) -> None:
        self._draft_timer = None
        self.post_message(EditorWants("keep"))

    def _stop_timers(self) -> None:
        self._stop_comparing()
        if self._draft_timer is not None:
            self._draft_timer.stop()
            self._draft_timer = None

    def on_descendant_blur(self) -> None:
        self._update_state()
        if self.dirty:
            self.post_message(EditorWants("keep"))

    def action_act(self, id_: str) -> None:
        find, area = self.query_one(FindBar), self.text_area
        own: dict[str, Callable[[], object]] = {
            "find_text": find.open,
            "find_next": lambda: find.step(1),
            "find_previous": lambda: find.step(-1),
            "text_undo": area.undo,
            "text_redo": area.redo,
            "save": self._save,
            "leave": self._leave,
        }
        own.get(id_, lambda: self.post_message(EditorWants(id_)))()

    def _save(self) -> None:
        """Ask for a guarded save; a new text gets a final newline."""
        area, subject = self.text_area, self.subject
        if subject is not None and not subject.base and area.text and not area.text.endswith("\n"):
            area.insert("\n", area.document.end)
        self.post_message(EditorWants("save"))

    def _leave(self) -> None:
        """Close the find bar if the user opened it; else leave the editor."""
        if self._unseen:
            self._looked()  # it was on the screen
        find = self.query_one(FindBar)
        if find.display and not find.is_primed:
            find.close()
        else:
            self.post_message(EditorWants("leave"))

    def show_matches(self, words: str, *, jump: bool) -> None:
        self.query_one(FindBar).prime(words, jump=jump)

    def on_resize(self) -> None:
        self._update_state()
        self._fold_said()

    def on_descendant_focus(self) -> None:
        self._update_state()
