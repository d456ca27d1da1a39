"""The form of the front matter: one line per field, a preview of the change, a guarded save.

Over an open memory it edits the text in the editor, and the editor's save takes it from there; otherwise it saves the
fields itself. A newer text is taken up when no field overlaps; else the conflict screen shows both. Letters are always
text here, so every action is on another key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.message import Message

from memtui.engine.model import Address, Conflict, Draft, Root, Saved, Snapshot, Unchanged
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.actors import did
from memtui.features.edit.form import (
    LISTED,
    NAMES,
    Form,
    FormField,
    apply_edits,
    edits,
    form_of,
    preview_parts,
    rebased,
)
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.action import Action
from memtui.ui.draw import bars
from memtui.ui.draw.difference import DiffStyle, difference
from memtui.ui.draw.pages import Page, PageLine, fields_page, fold, words_page
from memtui.ui.draw.text import Line
from memtui.ui.keys.keyed import READ_ONLY
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.prompts import Prompt, Question
from memtui.ui.widgets.scroller import PageView
from memtui.workbench.bridge import WRITE
from memtui.workbench.edit import open_memory
from memtui.workbench.edit.drafts import DraftFlow, TextScreen
from memtui.workbench.edit.edit_flow import AT_LINE
from memtui.workbench.edit.open_memory import DiskState

if TYPE_CHECKING:
    from textual.app import App

    from memtui.workbench.bridge import Bridge, Engine
    from memtui.workbench.edit.edit_flow import EditFlow
    from memtui.workbench.main_screen import MainScreen

LABEL = 13
PASSED = frozenset({"up", "down", "pageup", "pagedown", "enter", "escape", "tab", "shift+tab"})
"""Keys that the line of text does not get."""


class Preview(NamedTuple):
    """The change that the typed fields would make."""

    page: Page
    after: bytes | None
    refusal: str = ""


def preview_of(form: Form, typed: dict[str, str], width: int, *, plain: bool = False) -> Preview:
    """Work out the lines that would change, and list the fields that are kept; `plain`: ASCII only."""
    kept = _kept(form, width)
    if form.refusal:
        hint = "f9 opens it as text, where it can be corrected. Nothing was changed."
        words = words_page(form.refusal, hint, f"({form.code})", style="problem", width=width)
        return Preview((*words, *kept), None, form.refusal)
    try:
        after = apply_edits(form, typed)
    except MemtuiError as error:
        words = words_page(error.message, error.hint, f"({error.code})", style="problem", width=width)
        return Preview((*words, *kept), None, error.message)
    if after == form.data:
        return Preview((*words_page("Nothing yet.", style="dim", width=width), *kept), after)
    return Preview((*difference(*preview_parts(form.data, after), DiffStyle(width, plain=plain)), *kept), after)


def _kept(form: Form, width: int) -> Page:
    if not form.others:
        return ()
    heading = words_page("", "Kept as they are", style="heading", width=width)
    return (PageLine(()), *heading[1:], *fields_page([(name, value or "-") for name, value in form.others], width))


class FieldLines(Lines):
    class Chosen(Message):
        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Chosen(event.y))


class FormScreen(TextScreen):
    """Form for name, description, type and tags of one memory."""

    ROOMS = ("form", "everywhere")
    CSS_PATH = "form_screen.tcss"
    HELP = """The front matter of a memory as a form. Only what is typed here changes: every other byte of the file, and
every field below the line, is kept as it is. An emptied field goes. Tags are written with commas."""
    UNSAVED = "Not saved: ctrl+s saves it, f9 takes it into the text, esc again drops it."
    _flow: FormFlow

    def __init__(self, title: str, flow: FormFlow, table: Iterable[Action]) -> None:
        """`reading` ends when `form` is set."""
        super().__init__(flow, table)
        self.form = form_of(b"")
        self.where = ""
        """What a save goes into, unless that is the memory itself."""
        self._title = title
        self.prompts = [self._prompt(field) for field in self.form.fields]
        self.index = NAMES.index("description")
        self.preview = Preview((), None)
        self.page = PageView(id="form-page")
        self.reading = f"read {title}"

    def watch_reading(self, reading: str) -> None:
        if not reading:
            self._show_form({field.name: field.value for field in self.form.fields})
        super().watch_reading(reading)

    def _show_form(self, typed: dict[str, str]) -> None:
        self.prompts = [self._prompt(field, typed[field.name]) for field in self.form.fields]
        self._fit_notes()
        self._draw("#form-head", "#form-fields")
        self._ask_preview()

    def _prompt(self, field: FormField, typed: str | None = None) -> Prompt:
        value = field.value if typed is None else typed
        hint = partial(self._hint, field)
        return Prompt(Question(f"{field.name:<{LABEL - 2}}", value, lambda _: None, changed=self._typed, hint=hint))

    def compose(self) -> ComposeResult:
        yield Lines(self._head, id="form-head")
        yield Lines(self._notes, id="form-notes")
        yield FieldLines(self._fields, id="form-fields")
        yield Lines(self._page_title, id="form-page-title")
        yield self.page
        yield Lines(self._foot, id="text-foot", ground="bar")

    def on_mount(self) -> None:
        self.page.focus()
        self.on_resize()

    def on_resize(self) -> None:
        self._fit_notes()
        self.call_after_refresh(self._ask_preview)

    # What is typed

    @property
    def typed(self) -> dict[str, str]:
        return {name: prompt.text for name, prompt in zip(NAMES, self.prompts, strict=True)}

    @property
    def changed(self) -> bool:
        return bool(edits(self.form, self.typed))

    @property
    def letters_are_text(self) -> bool:
        return True

    def _take_text(self, key: str, character: str | None) -> bool:
        if key in PASSED or self.busy:
            return False
        letter = character is not None and character.isprintable()
        if self._blocked and (letter or key in ("backspace", "delete")):
            self.say(self._blocked, "warning")
            return True
        used = self.prompts[self.index].feed(key, character)
        if used:
            self._clear()
        return used or letter

    @property
    def _blocked(self) -> str:
        if self._flow.read_only:
            return READ_ONLY
        if self.form.refusal:
            return "Nothing can be set here; see below."
        field = self.form.fields[self.index]
        reason = field.refusal
        return f"{field.name} cannot be edited here: {reason[:1].lower()}{reason[1:]}" if reason else ""

    def _take_paste(self, text: str) -> bool:
        if self._blocked:
            self.say(self._blocked, "warning")
        elif not self.busy:
            self.prompts[self.index].paste(text)
            self._clear()
        return True

    def _typed(self, text: str) -> None:
        del text
        self._ask_preview()
        self._await_draft()

    def _ask_preview(self) -> None:
        if self.is_mounted and not self.reading:
            self._flow.preview(self)

    def show_preview(self, preview: Preview, typed: dict[str, str]) -> None:
        """Show a preview unless something else is typed by now."""
        if self.is_mounted and typed == self.typed:
            self.preview = preview
            self.page.show(preview.page, keep_place=True)
            self._draw("#form-page-title")

    def rebase(self, form: Form, typed: dict[str, str], words: str) -> None:
        """Go on with what is typed over a newer text of somebody else."""
        self.busy = False
        self.form = form
        cursors = [prompt.cursor for prompt in self.prompts]
        self._show_form(typed)
        for prompt, cursor in zip(self.prompts, cursors, strict=True):
            prompt.cursor = min(cursor, len(prompt.text))
        self.say(words, "agent")

    # Keys

    def perform(self, action: Action) -> None:
        """Run the form's own keys at once: letters that follow must not overtake them."""
        if action.room == "form":
            self.answer(action)
        else:
            super().perform(action)

    def answer(self, action: Action) -> None:
        if action.id != "form_leave":
            self._sure = False
        does: dict[str, Callable[[], object]] = {
            "form_save": self._save,
            "form_leave": self.come_back_later,
            "form_next": lambda: self._go(self.index + 1),
            "form_previous": lambda: self._go(self.index - 1),
            "form_type": self._next_type,
            "form_text": lambda: self._flow.as_text(self),
            "form_down": lambda: self.page.scroll_rows(max(self.page.size.height - 1, 1)),
            "form_up": lambda: self.page.scroll_rows(-max(self.page.size.height - 1, 1)),
        }
        does[action.id]()

    def unavailable(self, action: Action) -> str:
        if action.writes and self._flow.read_only:
            return READ_ONLY
        if action.id == "form_type" and (not self.form.types or self.form.refusal):
            return "No types are known for this agent; any text will do."
        return ""

    def _refusal(self) -> str:
        return self.preview.refusal or self.form.refusal

    def _go(self, index: int) -> None:
        self.index = index % len(self.prompts)
        self._clear()

    def on_field_lines_chosen(self, event: FieldLines.Chosen) -> None:
        if event.index < len(self.prompts):
            self._go(event.index)

    def _next_type(self) -> None:
        self.index = NAMES.index("type")
        if self._blocked:
            self.say(self._blocked, "warning")
            return
        prompt, types = self.prompts[self.index], self.form.types
        at = types.index(prompt.text) + 1 if prompt.text in types else 0
        prompt.text = types[at % len(types)]
        prompt.cursor = len(prompt.text)
        self._typed(prompt.text)
        self._clear()

    # Words

    def _clear(self) -> None:
        self._said, self._sure = [], False
        self._draw("#form-fields", "#text-foot")

    def _head(self, width: int) -> list[Line]:
        notes: Line = [("reading ...", "dim")] if self.reading else [(self.where, "draft")] if self.where else []
        return [bars.title(f"Front matter of {self._title}", notes, width, focused=True, plain=self._plain)]

    def _notes(self, width: int) -> list[Line]:
        note = self.form.note
        return [[(f" {part}", "warning")] for part in fold(visible(note), max(width - 2, 20))] if note else []

    def _fit_notes(self) -> None:
        for lines in self.query("#form-notes").results(Lines):
            lines.styles.height = len(self._notes(self.size.width))
            lines.update()

    def _fields(self, width: int) -> list[Line]:
        return [self._field_line(at, width) for at in range(len(self.prompts))]

    def _field_line(self, at: int, width: int) -> Line:
        field, prompt = self.form.fields[at], self.prompts[at]
        if at == self.index and not self._blocked:
            line, column = prompt.line(width - 1, plain=self._plain)
            if self.is_current:
                self.app.cursor_position = Offset(column + 1, self.query_one("#form-fields").region.y + at)
            return [(">", "cursor"), *line]
        style = "dim" if field.refusal or self.form.refusal else "name"
        beside = [(f"{field.refusal} ", "warning")] if field.refusal else self._hint(field, prompt.text)
        room = width - LABEL - sum(cell_width(text) for text, _ in beside) - 3
        if room < LABEL:
            beside, room = [], width - LABEL - 3
        value = one_line(prompt.text, room, ascii_tokens=self._plain)
        sign = ">" if at == self.index else " "
        return bars.spread([(sign, "cursor"), (f" {field.name:<{LABEL - 1}}", "dim"), (value, style)], beside, width)

    def _hint(self, field: FormField, text: str) -> Line:
        if field.name == "description" and text:
            if len(text) > LISTED:
                return [(f"{len(text)}: lists show {LISTED} ", "warning")]
            return [(f"{len(text)} of {LISTED} ", "dim")]
        if field.name == "type":
            return [(f"{one} ", "strong" if one == text else "dim") for one in self.form.types]
        if field.name == "tags" and not text:
            return [("a, b, c ", "dim")]
        return []

    def _page_title(self, width: int) -> list[Line]:
        notes: Line = [("not possible", "error")] if self.preview.refusal or self.form.refusal else []
        return [bars.title("What changes in the file", notes, width, focused=False, plain=self._plain)]


PREVIEW = "form-preview"
_LINE = re.compile(r"\(line (\d+)\)")


def line_of(form: Form) -> int:
    """Return the line of the file that the refusal names; else 1."""
    return int(match[1]) if (match := _LINE.search(form.refusal)) else 1


class FormFlow(DraftFlow[FormScreen]):
    """Base of both flows: the screen, its previews, its draft."""

    def __init__(self, app: App[Any], bridge: Bridge, address: Address, root: Root | None) -> None:
        super().__init__(app, bridge, address)
        self.root = root
        self.snapshot: Snapshot | None = None
        """What was read from disk; None in the editor."""

    def open(
        self,
        read: Callable[[Engine], tuple[Form, Snapshot | None]],
        table: Iterable[Action],
        refused: Callable[[MemtuiError], None],
    ) -> FormScreen:
        """Push the form and fill it with what `read` returns; `refused` gets the error if that fails."""
        screen = FormScreen(str(self.address), self, table)

        def fill(result: tuple[Form, Snapshot | None]) -> None:
            screen.form, self.snapshot = result
            screen.reading = ""

        def failed(error: MemtuiError) -> None:
            self.give_up(screen, error.message)
            refused(error)

        self.show(screen, read, fill, failed)
        return screen

    def close(self, screen: FormScreen) -> None:
        self.app.cursor_position = Offset(0, 0)
        super().close(screen)

    def form(self, data: bytes) -> Form:
        return form_of(data, self.root, self.address.path)

    def preview(self, screen: FormScreen) -> None:
        form, typed, width = screen.form, screen.typed, screen.page.text_width
        plain = bool(getattr(self.app, "plain", False))
        self.bridge.run(
            lambda _: preview_of(form, typed, width, plain=plain),
            lambda preview: screen.show_preview(preview, typed),
            what="compare front matter",
            latest=PREVIEW,
        )

    def base(self) -> tuple[str | None, bytes | None]:
        """Return version and text that what is typed started from."""
        raise NotImplementedError

    def as_text(self, screen: FormScreen) -> None:
        raise NotImplementedError

    def draft(self) -> Draft | None:
        screen = self.screen
        if screen is None or not screen.changed:
            return None
        try:
            text = apply_edits(screen.form, screen.typed).decode()
        except MemtuiError:
            return None  # what is typed would be refused by a save as well, and the screen says so
        sha256, base = self.base()
        return Draft(self.address, sha256, text, (0, 0), self.bridge.now(), base)


class EditorFormFlow(FormFlow):
    """Form over the text in the editor."""

    def __init__(self, editing: EditFlow, address: Address, *, alone: bool) -> None:
        """`alone`: the memory was opened for the form only."""
        super().__init__(editing.app, editing.bridge, address, editing.options.roots().get(address.root))
        self._editing, self._alone = editing, alone
        data = editing.editor.data
        screen = self.open(
            lambda _: (self.form(data), None), editing.options.table, lambda why: editing.editor.say(str(why))
        )
        screen.where = "goes into your unsaved draft" if self._is_draft else ""

    @property
    def _is_draft(self) -> bool:
        editor = self._editing.editor
        return editor.dirty or editor.subject is None or editor.subject.base_sha256 is None

    def base(self) -> tuple[str | None, bytes | None]:
        subject = self._editing.editor.subject
        return (None, None) if subject is None or subject.base_sha256 is None else (subject.base_sha256, subject.base)

    def save(self, screen: FormScreen) -> None:
        """Put the fields into the text; save it unless it was a draft before."""
        was_draft = self._is_draft
        if self._take(screen):
            self._kept = None
            self.close(screen)
            self._editing.editor.text_area.focus()
            if was_draft:
                self._editing.drafts.write()
                self._editing.editor.say("The fields are in your draft: ctrl+s saves both, ctrl+z takes them out.")
            else:
                self._editing.save()

    def _take(self, screen: FormScreen) -> bool:
        """Put the fields into the text; False when the form stays open."""
        editing = self._editing
        if editing.address != self.address:
            screen.refused("The memory was closed meanwhile.")
            return False
        if editing.editor.data != screen.form.data:
            self._follow(screen)
            return False
        try:
            after = apply_edits(screen.form, screen.typed)
        except MemtuiError as error:
            screen.refused(f"Not saved. {error}")
            return False
        if not editing.editor.replace_text(after):
            screen.refused("The text cannot be edited here.")
            return False
        return True

    def _follow(self, screen: FormScreen) -> None:
        """Continue on the newer text that the clean editor followed."""
        form = self.form(self._editing.editor.data)
        carried = rebased(screen.form, screen.typed, form)
        screen.rebase(form, carried.typed, _moved_words(self._editing.editor.who, carried.clashes))

    def leave(self, screen: FormScreen) -> None:
        self.close(screen)
        if self._kept is not None:
            self.drop_draft()
            self._editing.drafts.track()
            self._editing.drafts.write()
        go_on = self._editing.leave if self._alone else self._editing.editor.text_area.focus
        go_on()

    def as_text(self, screen: FormScreen) -> None:
        form, changed = screen.form, screen.changed
        if changed and not form.refusal and not screen.preview.refusal and not self._take(screen):
            return
        self._kept = None
        self.close(screen)
        area = self._editing.editor.text_area
        area.focus()
        if form.refusal:
            area.move_cursor(area.clamp_visitable((line_of(form) - 1, 0)))
            self._editing.editor.say(form.refusal)
        elif changed:
            self._editing.drafts.write()
            self._editing.editor.say("What you typed is in the text: ctrl+s saves it.")


def describe(editing: EditFlow, *, alone: bool = False) -> None:
    """Show the front matter of the open memory as a form; `alone`: the memory was opened for that alone."""
    if editing.address is not None:
        editing.describing = EditorFormFlow(editing, editing.address, alone=alone)


class DiskFormFlow(FormFlow):
    """Form over a memory that is not open."""

    def __init__(self, browser: MainScreen, address: Address) -> None:
        super().__init__(browser.app, browser.bridge, address, browser.forest.roots.get(address.root))
        self._browser, root = browser, self.root

        def read(engine: Engine) -> tuple[Form, Snapshot | None]:
            snapshot = engine.read(address)
            return form_of(snapshot.bytes, root, address.path), snapshot

        self.open(read, browser.table, partial(browser.show_error, f"read {address}"))

    def base(self) -> tuple[str | None, bytes | None]:
        return (self.snapshot.sha256, self.snapshot.bytes) if self.snapshot is not None else (None, None)

    def save(self, screen: FormScreen) -> None:
        assert self.snapshot is not None
        address, actor, expected = self.address, self.bridge.actor, self.snapshot.sha256
        wanted = edits(screen.form, screen.typed)

        def write(engine: Engine) -> tuple[Saved | Unchanged | Conflict, DiskState]:
            try:
                result = engine.memories.edit_fields(address, wanted, expected_sha256=expected, actor=actor)
            except NotFoundError:
                result = Conflict(address, None, expected, "", "")
            return result, open_memory.read_disk(engine, address, None)

        self.bridge.run(
            write,
            lambda result: self._written(screen, *result),
            what=f"save {address}",
            otherwise=lambda error: screen.refused(f"Not saved. {error}"),
            lane=WRITE,
            awaited=True,
        )

    def _written(self, screen: FormScreen, result: Saved | Unchanged | Conflict, there: DiskState) -> None:
        if isinstance(result, Conflict):
            self._lost_the_race(screen, there)
            return
        self.drop_draft()
        self.close(screen)
        words = f"Saved {self.address}. u takes it back." if isinstance(result, Saved) else "Nothing to save."
        self._browser.say(words, "good")

    def _lost_the_race(self, screen: FormScreen, there: DiskState) -> None:
        """Continue on the newer text, or show both."""
        disk = there.snapshot
        form = self.form(disk.bytes) if disk is not None else None
        carried = rebased(screen.form, screen.typed, form) if form is not None and not form.refusal else None
        if disk is None or form is None or carried is None or carried.clashes:
            self._hand_over(screen, "compare")
            return
        self.snapshot = disk
        screen.rebase(form, carried.typed, _moved_words(there.who, ()))

    def _hand_over(self, screen: FormScreen, then: str) -> None:
        """Turn what is typed into a draft and continue in the editor."""
        address, browser = self.address, self._browser

        def go_on() -> None:
            browser.memories.reveal(address)
            browser.open_editor(address, then=then)

        self.hand_over(screen, go_on)

    def as_text(self, screen: FormScreen) -> None:
        form = screen.form
        self._hand_over(screen, f"{AT_LINE}{line_of(form)}" if form.refusal else "")


def _moved_words(who: str, clashes: tuple[str, ...]) -> str:
    also = f", with another {' and '.join(clashes)}. What you typed stands here" if clashes else ""
    fits = also or ". What you typed fits on that text"
    return f"{did(who, 'saved meanwhile', begins=True)}{fits}: ctrl+s writes it."
