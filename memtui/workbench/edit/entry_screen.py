"""One entry of a memory in a text of its own: kept as a draft of the whole memory, saved guarded.

A save replaces the bytes of the entry in what is on disk at that moment, so that changes elsewhere in the file stay.
When the entry is gone, what is typed becomes a draft of the memory, and the usual conflict shows both texts. Apart from
the entries feature because it needs the text widget, which takes long to load.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import TextArea

from memtui.engine.model import Address, Conflict, Draft, Saved, Snapshot, Unchanged
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.entries import model
from memtui.features.entries.model import Entry, EntryFile, EntryGoneError, Name, exact, find
from memtui.ui.action import Action
from memtui.ui.draw import bars
from memtui.ui.draw.text import Line
from memtui.ui.widgets.lines import Lines
from memtui.workbench.bridge import WRITE
from memtui.workbench.edit.drafts import DraftFlow, TextScreen
from memtui.workbench.edit.edit_flow import AT_LINE
from memtui.workbench.edit.memory_text import EMPTY, MemoryText, TextForm, read_form, to_bytes
from memtui.workbench.keys import room_bindings
from memtui.workbench.view_stack import Views

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine
    from memtui.workbench.main_screen import MainScreen

READ_ONLY = "Nothing can be written here: memtui was started with --read-only, or the folder is read-only."


class EntryBox(Vertical):
    """Container of the text that binds its keys."""

    BINDINGS: ClassVar[list[BindingType]] = room_bindings("entry")

    def __init__(self, text: MemoryText) -> None:
        super().__init__(text, id="entry-box")

    def action_act(self, id_: str) -> None:
        screen = self.screen
        if isinstance(screen, EntryScreen):
            screen.answer(next(action for action in screen.table if action.id == id_))


class EntryScreen(TextScreen):
    """Screen for one entry, or a new one."""

    ROOMS = ("entry", "everywhere")
    CSS_PATH = "entry_screen.tcss"
    HELP = """One entry of a memory, in a text of its own. ctrl+s changes the bytes of this entry and no others, also
when an agent wrote the file meanwhile; when it changed this very entry, both texts are shown. What is typed is kept as
a draft of the memory while you type."""
    UNSAVED = "Not saved: ctrl+s saves it, esc again drops it (history keeps what you typed)."
    _flow: EntryFlow

    def __init__(self, title: str, flow: EntryFlow, table: Iterable[Action]) -> None:
        """`reading` ends when `form` and `title` are set."""
        super().__init__(flow, table)
        self.form = EMPTY
        self.title = title
        self.reading = f"open an entry of {title}"
        self.text_area = MemoryText(id="entry-text")
        """The text widget; held here because drafts are still written from it while the screen is taken apart."""

    def compose(self) -> ComposeResult:
        yield Lines(self._head, id="entry-head", ground="bar")
        yield EntryBox(self.text_area)
        yield Lines(self._foot, id="text-foot", ground="bar")

    def on_mount(self) -> None:
        self._show_text()
        self.text_area.focus()

    def watch_reading(self, reading: str) -> None:
        if not reading:
            self._show_text()
        super().watch_reading(reading)

    def _show_text(self) -> None:
        self.text_area.open_text(self.form.text, read_only=bool(self.reading) or self._flow.read_only)
        self._clear()

    # What is typed

    @property
    def typing(self) -> bool:
        return True

    @property
    def data(self) -> bytes:
        return to_bytes(self.text_area.text, self.form)

    @property
    def changed(self) -> bool:
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
            self._flow.continue_in_file(self)
        elif action.id == "entry_undo":
            self.text_area.undo()
        else:
            self.text_area.redo()

    def unavailable(self, action: Action) -> str:
        return READ_ONLY if action.writes and self._flow.read_only else ""

    # Words

    def _clear(self) -> None:
        self._said, self._sure = [], False
        self._draw("#entry-head", "#text-foot")

    def _head(self, width: int) -> list[Line]:
        words, over = self._flow.used(self.data)
        notes: Line = [("~ ", "draft")] if self.changed else []
        notes.append((words, "warning" if over else "title"))
        if self.reading:
            notes = [("reading ...", "dim")]
        return [bars.title(self.title or "", notes, width, focused=True, plain=self._plain)]


class OpenedEntry(NamedTuple):
    """An entry, or the place of a new one, as it was read."""

    snapshot: Snapshot
    file: EntryFile
    entry: Entry | None
    form: TextForm
    limit: int | None
    drafted: bool


def read(engine: Engine, address: Address, name: Name | None) -> OpenedEntry:
    """Read an entry for editing, or what a new one goes into."""
    file, snapshot = model.read_file(engine, address)
    with model.told_by(engine, address):
        entry = find(file, name) if name is not None else None
    policy = engine.roots.find(address.root).policy
    drafted = any(draft.address == address for draft in engine.drafts.all())
    form = form_of(file, entry, policy.write_bytes)
    return OpenedEntry(snapshot, file, entry, form, policy.limit_of(address.path), drafted)


def form_of(file: EntryFile, entry: Entry | None, limit: int) -> TextForm:
    """Turn an entry (None: a new one) into editable text; what is typed gets the line ends of the file."""
    form = read_form(file.text(entry), limit=limit) if entry is not None else EMPTY
    whole = read_form(file.data, limit=limit)
    if not form.reason and whole.reason.startswith("not UTF-8"):
        form = form._replace(reason=f"the file is {whole.reason}")
    return form if "\n" in form.text else form._replace(newline=file.newline.decode())


class EntryFlow(DraftFlow[EntryScreen]):
    """Flow of one entry, from reading to a stored text."""

    def __init__(self, browser: MainScreen, address: Address, name: Name | None) -> None:
        super().__init__(browser.app, browser.bridge, address)
        self._browser = browser
        self._opened: OpenedEntry | None = None
        screen = EntryScreen(str(address), self, browser.table)
        self.show(
            screen,
            lambda engine: read(engine, address, name),
            lambda opened: self._fill(screen, opened),
            lambda error: self._unreadable(screen, error),
        )

    @property
    def read_only(self) -> bool:
        return self.bridge.read_only or self._browser.forest.roots[self.address.root].read_only

    def _fill(self, screen: EntryScreen, opened: OpenedEntry) -> None:
        if opened.drafted:
            self.close(screen)
            self._in_the_file(opened.entry)
        elif opened.form.reason:
            self._refuse(screen, f"It cannot be edited here: {opened.form.reason}. f4 opens the file.")
        else:
            self._opened = opened
            words = f"Entry {opened.entry.number:,}" if opened.entry is not None else "New entry"
            screen.form, screen.title = opened.form, f"{words} of {self.address}"
            screen.reading = ""

    def _refuse(self, screen: EntryScreen, why: str) -> None:
        self.give_up(screen, why)
        self._browser.say(why, "warning")

    def _unreadable(self, screen: EntryScreen, error: MemtuiError) -> None:
        gone = f"{error.meanwhile}." if isinstance(error, EntryGoneError) else ""
        self._refuse(screen, gone or f"{error.message} {error.hint}")
        self._show_list()

    def _show_list(self, number: int | None = None) -> None:
        from memtui.features.entries.view import EntriesView

        made = self._browser.part(Views).made("entries")
        if isinstance(made, EntriesView) and made.address == self.address:
            made.show_entry(number)

    def _in_the_file(self, entry: Entry | None, then: str = "") -> None:
        browser = self._browser
        browser.part(Views).back()
        browser.memories.reveal(self.address)
        browser.open_editor(self.address, then=then or (f"{AT_LINE}{entry.line}" if entry is not None else ""))

    # What the screen asks

    def used(self, data: bytes) -> tuple[str, bool]:
        """How full the file would be with this entry, and whether that is over the limit."""
        opened = self._opened
        if opened is None or opened.limit is None:
            return "", False
        before = opened.file.text(opened.entry) if opened.entry is not None else b""
        usage = model.usage(opened.file, opened.limit)
        more = len(data.decode(errors="replace").strip()) - len(before.decode(errors="replace"))
        more += 3 if opened.entry is None and opened.file.entries else 0
        count = usage.characters + more
        return f"{count:,} of {opened.limit:,} characters", count > opened.limit

    def draft(self) -> Draft | None:
        """The whole memory with the typed entry in its place; None when nothing is typed."""
        screen, opened = self.screen, self._opened
        if screen is None or opened is None or not screen.changed:
            return None
        text = model.draft(opened.file, opened.entry, screen.data).decode(errors="replace")
        row, column = screen.text_area.cursor_location
        above = opened.entry.line - 1 if opened.entry is not None else 0
        snapshot = opened.snapshot
        return Draft(self.address, snapshot.sha256, text, (row + above, column), self.bridge.now(), snapshot.bytes)

    def save(self, screen: EntryScreen) -> None:
        assert self._opened is not None
        address, actor, entry, data = self.address, self.bridge.actor, self._opened.entry, screen.data

        def write(engine: Engine) -> Saved | Unchanged | Conflict:
            if entry is None:
                return model.add(engine, address, data, actor=actor)
            return model.replace(engine, address, exact(entry), data, actor=actor)

        self.bridge.run(
            write,
            lambda result: self._written(screen, result),
            what=f"save an entry of {address}",
            otherwise=lambda error: self._not_written(screen, error),
            lane=WRITE,
            awaited=True,
        )

    def _written(self, screen: EntryScreen, result: Saved | Unchanged | Conflict) -> None:
        assert self._opened is not None
        if isinstance(result, Conflict):
            screen.refused(f"Not saved: {self.address} is being written again and again. ctrl+s tries again.")
            return
        self.drop_draft(result.sha256)
        entry, count = self._opened.entry, len(self._opened.file.entries)
        self.close(screen)
        self._show_list(entry.number if entry is not None else count + 1)
        saved = f"Saved entry {entry.number:,}" if entry is not None else "Saved a new entry"
        words = f"{saved} of {self.address}. u takes it back." if isinstance(result, Saved) else "Nothing to save."
        self._browser.say(words, "good")

    def _not_written(self, screen: EntryScreen, error: MemtuiError) -> None:
        if isinstance(error, EntryGoneError | NotFoundError):
            self.continue_in_file(screen, "compare")
        else:
            screen.refused(f"Not saved. {error.message} {error.hint} ({error.code})")

    def continue_in_file(self, screen: EntryScreen, then: str = "") -> None:
        """Turn what is typed into a draft of the memory and continue in the editor."""
        entry = self._opened.entry if self._opened is not None else None
        self.hand_over(screen, lambda: self._in_the_file(entry, then))
