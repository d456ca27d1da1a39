"""One entry of a memory in a text of its own: what is typed, what is said about it, and the keys that save or leave.

It holds the entry's text only; what a save writes and where a draft goes is decided by `entry_flow.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import TextArea

from memtui.ui.action import Action
from memtui.ui.draw import bars
from memtui.ui.draw.spans import Line
from memtui.ui.widgets.lines import Lines
from memtui.workbench.edit.memory_text import MemoryText
from memtui.workbench.edit.text_form import TextForm, to_bytes
from memtui.workbench.edit.typed_screen import TypedFlow, TypedScreen
from memtui.workbench.keys import room_bindings

READ_ONLY = "Nothing can be written here: memtui was started with --read-only, or the folder is read-only."


class Flow(TypedFlow["EntryScreen"], Protocol):
    """What the screen asks of the flow it belongs to."""

    def as_file(self, screen: EntryScreen) -> None:
        """Go on in the whole file, with what is typed."""
        ...

    def used(self, data: bytes) -> tuple[str, bool]:
        """How full the file would be with this entry, and whether that is over the agent's limit."""
        ...


class EntryBox(Vertical):
    """What the text is in; the keys of the text are looked for here."""

    BINDINGS: ClassVar[list[BindingType]] = room_bindings("entry")

    def __init__(self, text: MemoryText) -> None:
        super().__init__(text, id="entry-box")

    def _answer(self, id_: str) -> None:
        screen = self.screen
        if isinstance(screen, EntryScreen):
            screen.answer(next(action for action in screen.table if action.id == id_))

    def action_entry_save(self) -> None:
        """Ask for a save."""
        self._answer("entry_save")

    def action_entry_leave(self) -> None:
        """Ask to leave."""
        self._answer("entry_leave")

    def action_entry_file(self) -> None:
        """Ask for the whole file."""
        self._answer("entry_file")

    def action_entry_undo(self) -> None:
        """Undo typing."""
        self._answer("entry_undo")

    def action_entry_redo(self) -> None:
        """Redo typing."""
        self._answer("entry_redo")


class EntryScreen(TypedScreen):
    """One entry, or a new one."""

    ROOMS = ("entry", "everywhere")
    CSS_PATH = "entry_screen.tcss"
    HELP = """One entry of a memory, in a text of its own. ctrl+s changes the bytes of this entry and no others, also
when an agent wrote the file meanwhile; when it changed this very entry, both texts are shown. What is typed is kept as
a draft of the memory while you type."""
    UNSAVED = "Not saved: ctrl+s saves it, esc again drops it (history keeps what you typed)."
    _flow: Flow

    def __init__(self, title: str, form: TextForm, flow: Flow, table: Iterable[Action]) -> None:
        """Take what is there.

        Args:
            title: which entry of which memory.
            form: its text.
            flow: what writes.
            table: the actions with the user's own keys.
        """
        super().__init__(flow, table)
        self.form = form
        self._title = title
        self.text_area = MemoryText(id="entry-text")
        """The widget that is typed in; held, so that its text can be kept also while the screen is taken apart."""

    def compose(self) -> ComposeResult:
        """What it is, its text, the keys."""
        yield Lines(self._head, id="entry-head", ground="bar")
        yield EntryBox(self.text_area)
        yield Lines(self._foot, id="entry-foot", ground="bar")

    def on_mount(self) -> None:
        """Show what is there."""
        self.text_area.open_text(self.form.text, read_only=self._flow.read_only)
        self.text_area.focus()

    # What is typed

    @property
    def typing(self) -> bool:
        """Whether letters are text now."""
        return True

    @property
    def data(self) -> bytes:
        """The entry as it would be written."""
        return to_bytes(self.text_area.text, self.form)

    @property
    def changed(self) -> bool:
        """Whether anything else than what was there is typed."""
        return self.text_area.text.strip("\n") != self.form.text.strip("\n")

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._clear()
        if self.changed:
            self._await_draft()

    @on(MemoryText.Pasted)
    def _pasted(self, event: MemoryText.Pasted) -> None:
        event.stop()
        self.say(f"{event.removed:,} characters of the paste were left out: control characters, or over the limit.")

    # Keys

    def answer(self, action: Action) -> None:
        """Do what a key of this room stands for."""
        if action.id != "entry_leave":
            self._sure = False
        reason = self.unavailable(action)
        if reason:
            self.say(reason, "warning")
        elif action.id == "entry_save":
            self._save()
        elif action.id == "entry_leave":
            self.come_back_later()
        elif action.id == "entry_file":
            self._flow.as_file(self)
        elif action.id == "entry_undo":
            self.text_area.undo()
        else:
            self.text_area.redo()

    def unavailable(self, action: Action) -> str:
        """Say why an action is off."""
        return READ_ONLY if action.writes and self._flow.read_only else ""

    # Words

    def _clear(self) -> None:
        self._said, self._sure = [], False
        for lines in self.query(Lines):
            lines.update()

    def draw_foot(self) -> None:
        """Show the last line again."""
        for lines in self.query("#entry-foot").results(Lines):
            lines.update()

    def _head(self, width: int) -> list[Line]:
        words, over = self._flow.used(self.data)
        notes: Line = [("~ ", "draft")] if self.changed else []
        notes.append((words, "warning" if over else "title"))
        return [bars.title(self._title, notes, width, focused=True, plain=self._plain)]
