"""The open memory inside the editor: what was opened, what is typed, what the disk holds, and the state that follows.

It holds what was opened (bytes, version, form) beside what is typed, so that nobody else has to remember what a save
must expect. It knows no keys and asks no questions; `editor.py` adds those.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.containers import Vertical

from memtui.engine.model import Address, Draft, Snapshot
from memtui.safe_text import visible
from memtui.ui.draw.pages import fold
from memtui.ui.widgets.lines import Lines
from memtui.workbench.edit import intents
from memtui.workbench.edit.file_state import FileState, OpenFile, state_of, title_note
from memtui.workbench.edit.memory_text import MemoryText
from memtui.workbench.edit.open_memory import Sides, Subject, new_lines, title_runs
from memtui.workbench.edit.text_form import EDIT_BYTES, EMPTY, read_form, to_bytes


class EditorCore(Vertical):
    """One open memory and its text widget; a subclass composes both."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.text_area = MemoryText(id="editor-text")
        """The widget that is typed in; held, so that its text can be kept also while the screen is taken apart."""
        self.named: Callable[[str], str] = str
        """Names memories in a text for the eye."""
        self.title_line = Lines(id="editor-title", ground="bar")
        self.said_line = Lines(id="editor-said")
        self.subject: Subject | None = None
        self.refusal = ""
        """Why nothing can be written there at all; empty when it can."""
        self._sides: Sides | None = None
        self._before_merge: tuple[str, Subject] | None = None
        self._merge_shown = False
        self._who = ""
        self._unseen = False
        self.moved_to: Address | None = None
        """Where the text went, when it is gone from its name and was found under another one."""
        self.disk_at = 0
        """When the version on disk was written, or deleted, milliseconds; 0 when that is not known."""
        self.why = ""
        """Why somebody deleted it, when they said so."""
        self._state = FileState.CLEAN
        self._said = ""
        self._base_text = ""

    # --- what is open

    @property
    def state(self) -> FileState:
        """What the open memory is now."""
        return self._state

    @property
    def dirty(self) -> bool:
        """Whether the editor holds something that is not the version it started from."""
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
        """Return what must not be lost as a draft of this moment (milliseconds); None when nothing is unsaved."""
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
        self.refusal, self._sides, self._unseen, self.moved_to = refusal, None, unseen, None
        self._before_merge, self._who, self.disk_at = None, "", snapshot.modified_at if snapshot else 0
        self.text_area.byte_limit = min(limit, EDIT_BYTES)
        self._base_text = form.text if form.editable else ""
        self.text_area.open_text(form.text, read_only=bool(refusal) or not form.editable)
        self.say("")
        self.update_state()

    def forget(self) -> None:
        """Close the memory; the pane is empty afterwards."""
        self.subject = None
        self.text_area.open_text("", read_only=True)
        self.update_state()

    def renamed(self, address: Address) -> None:
        """Follow the memory to another address; text, draft and undo stay."""
        if self.subject is not None:
            self.subject = self.subject._replace(address=address)
            self.moved_to = None
            self.update_state()

    # --- what others do

    def disk_is(
        self,
        snapshot: Snapshot | None,
        *,
        who: str = "",
        moved: Address | None = None,
        at: int = 0,
        why: str = "",
    ) -> bool:
        """Take note of what is on disk now; a text nobody typed in follows it at once.

        Args:
            snapshot: the content; None when there is no file.
            who: who wrote it: an actor's name, or empty when it is not known.
            moved: where the text was found when there is no file under this name.
            at: when it was deleted, milliseconds; 0 when that is not known.
            why: the reason that was given for the deletion.

        Returns:
            Whether the two sides have to be compared (`compared` takes the result).
        """
        subject = self.subject
        if subject is None:
            return False
        sha256 = snapshot.sha256 if snapshot else None
        if sha256 == subject.disk_sha256 and moved == self.moved_to:
            return False
        self._who, self.moved_to, self._sides = who, moved, None
        self.disk_at, self.why = snapshot.modified_at if snapshot else at, why
        self.subject = subject._replace(disk=snapshot.bytes if snapshot else None, disk_sha256=sha256)
        if snapshot is not None and not self.dirty:
            self._follow(snapshot)
        elif snapshot is not None and self.data == snapshot.bytes:
            self.saved(snapshot)
        self.update_state()
        return self.dirty and sha256 not in (None, self.subject.base_sha256)

    def compared(self, sides: Sides) -> None:
        """Show what a comparison of base, text and disk found."""
        self._sides = sides
        self.text_area.set_marks(sides.marks)
        self.update_state()

    def _follow(self, snapshot: Snapshot) -> None:
        assert self.subject is not None
        form = read_form(snapshot.bytes, limit=self.text_area.byte_limit)
        self._unseen = self.text_area.tell_next_key = True
        self.subject = self.subject._replace(base=snapshot.bytes, base_sha256=snapshot.sha256, form=form)
        if form.editable and not self.text_area.read_only:
            before = self._base_text.split("\n")
            self._base_text = form.text
            self.text_area.replace_all(form.text)
            self.text_area.set_marks(new_lines(before, form.text.split("\n")))
        else:
            self._base_text = form.text if form.editable else ""
            self.text_area.open_text(form.text, read_only=bool(self.refusal) or not form.editable)

    # --- what a save, a merge or an external editor did

    def saved(self, snapshot: Snapshot) -> None:
        """Start from this version from now on: it is on disk, and it is what the editor was asked to write."""
        if self.subject is None:
            return
        form = read_form(snapshot.bytes, limit=self.text_area.byte_limit)
        self._sides, self._merge_shown = None, False
        self._unseen, self.moved_to = False, None
        self.subject = Subject(
            self.subject.address, snapshot.bytes, snapshot.sha256, form, snapshot.bytes, snapshot.sha256
        )
        self._base_text = form.text if form.editable else ""
        if not form.editable:
            self.text_area.open_text(form.text, read_only=True)  # what ctrl+z would bring back could not be saved
        self.text_area.set_marks({})
        self.update_state()

    def merged(self, yours: bytes, base: Snapshot) -> None:
        """Let the text count as an edit of the version a merge took in; undoing the merge undoes this too.

        Args:
            yours: what was typed before the merge.
            base: the other side's version, which the text now holds as well.
        """
        form = read_form(base.bytes, limit=self.text_area.byte_limit)
        if self.subject is None or not form.editable:
            return
        self._before_merge, self._merge_shown = (read_form(yours).text, self.subject), True
        self.subject = self.subject._replace(base=base.bytes, base_sha256=base.sha256)
        self._base_text = form.text
        self._sides = None
        self.text_area.set_marks({})
        self.update_state()

    @property
    def before_merge(self) -> tuple[bytes, Subject] | None:
        """What was typed before a merge that is shown and not saved yet, and what it was an edit of; else None."""
        if self._before_merge is None or not self._merge_shown:
            return None
        text, subject = self._before_merge
        return to_bytes(text, subject.form), subject

    def follow_undo(self) -> None:
        """Undone to before a merge, the text is again an edit of the version before that, so that a save compares."""
        subject = self.subject
        if subject is None:
            return
        if self._before_merge is not None and self.text_area.text == self._before_merge[0]:
            before = self._before_merge[1]
            self._before_merge = None
            self.subject = subject._replace(base=before.base, base_sha256=before.base_sha256, form=before.form)
            self._base_text = read_form(before.base, limit=self.text_area.byte_limit).text
            self._sides = None
        elif subject.disk_sha256 not in (None, subject.base_sha256) and self.data == subject.disk:
            self.saved(Snapshot(subject.address, subject.disk, subject.disk_sha256 or "", self.disk_at))

    def put(self, data: bytes) -> bool:
        """Make the text another one, undoably; False when these bytes cannot be edited as text here."""
        form = read_form(data, limit=self.text_area.byte_limit)
        if self.subject is None or not form.editable or self.text_area.read_only:
            return False
        self.subject = self.subject._replace(form=form)
        self.text_area.replace_all(form.text)
        self.update_state()
        return True

    def say(self, words: str) -> None:
        """Show something below the text until the next key, on as many lines as it takes."""
        self._said = words
        self.fold_said()
        self.text_area.tell_next_key = bool(words) or self._unseen

    def fold_said(self) -> None:
        """Show what was said at the present width."""
        line, words = self.said_line, self._said
        parts = fold(visible(words), max(self.size.width - 2, 20)) if words else []
        line.set_lines(*([(f" {part}", "strong")] for part in parts))
        line.styles.height = max(len(parts), 1)
        line.display = bool(words)

    def looked(self) -> None:
        """The user has seen what somebody else changed."""
        self._unseen = False
        self.text_area.set_marks({})
        self.update_state()
        self.post_message(intents.Looked(self))

    @property
    def who(self) -> str:
        """Who wrote the other side, in one word."""
        return self._who or "agent"

    # --- the title

    def update_state(self) -> None:
        """Work out the state again, and show it in the title."""
        subject = self.subject
        if subject is None:
            self._state = FileState.CLEAN
            self.title_line.set_lines()
            return
        sides = self._sides
        before = self._state
        self._state = state_of(
            OpenFile(
                base=subject.base_sha256,
                disk=subject.disk_sha256,
                dirty=self.dirty,
                editable=subject.form.editable and not self.refusal,
                overlaps=sides.overlaps if sides else None,
                moved=self.moved_to is not None,
                unseen=self._unseen,
            )
        )
        note = title_note(
            self._state,
            hunks=sides.hunks if sides else None,
            overlaps=sides.overlaps if sides else None,
            who=self.who,
            reason=self.refusal or subject.form.reason,
        )
        if not note and subject.base_sha256 is None:
            note = "new memory, nothing written yet"
        line = title_runs(
            self.named(str(subject.address)), note, self._state, self.size.width, focused=self.has_focus_within
        )
        self.title_line.set_lines(line)
        if self._state is not before:
            self.post_message(intents.StateChanged(self))
