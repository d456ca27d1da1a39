"""The front matter form: one line a field, what is there typed into it, and the lines of the file that would change.

It holds what is typed and draws it; what is written, and where, is decided by `describing.py`. Letters are always text
here, so everything else is on keys that are no letter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple, Protocol

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.message import Message

from memtui.features.edit.form import LISTED, NAMES, Form, FormField, edits
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.action import Action
from memtui.ui.draw import bars
from memtui.ui.draw.pages import Page, fold
from memtui.ui.draw.spans import Line
from memtui.ui.keys.keyed import READ_ONLY
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.page_view import PageView
from memtui.ui.widgets.prompts import Prompt, Question
from memtui.workbench.edit.typed_screen import TypedFlow, TypedScreen

LABEL = 13
"""Cells of a field's name, and of the sign before it."""
PASSED = frozenset({"up", "down", "pageup", "pagedown", "enter", "escape", "tab", "shift+tab"})
"""Keys that are not for the line of text."""


class Preview(NamedTuple):
    """What would come of what is typed."""

    page: Page
    after: bytes | None
    """The text as it would be; None when it is refused."""
    refusal: str = ""


class Flow(TypedFlow["FormScreen"], Protocol):
    """What the screen asks of the flow it belongs to; every answer comes by a call of the screen's own."""

    def preview(self, screen: FormScreen) -> None:
        """Work out what would change, for `previewed`."""
        ...

    def as_text(self, screen: FormScreen) -> None:
        """Go on in the text, with what is typed."""
        ...


class FieldLines(Lines):
    """The fields; a click goes to one."""

    class Chosen(Message):
        """A field was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def on_click(self, event: events.Click) -> None:
        """Go to the field."""
        self.post_message(self.Chosen(event.y))


class FormScreen(TypedScreen):
    """Name, description, type and tags of one memory."""

    ROOMS = ("form", "everywhere")
    CSS_PATH = "form_screen.tcss"
    HELP = """The front matter of a memory as a form. Only what is typed here changes: every other byte of the file, and
every field below the line, is kept as it is. An emptied field goes. Tags are written with commas."""
    UNSAVED = "Not saved: ctrl+s saves it, f9 takes it into the text, esc again drops it."
    _flow: Flow

    def __init__(self, title: str, form: Form, flow: Flow, table: Iterable[Action], *, where: str = "") -> None:
        """Take what is there.

        Args:
            title: which memory.
            form: what its front matter says.
            flow: what writes.
            table: the actions with the user's own keys.
            where: what a save goes into, when that is not the memory itself.
        """
        super().__init__(flow, table)
        self.form = form
        self._title, self._where = title, where
        self.prompts = [self._prompt(field) for field in form.fields]
        self.index = next((at for at, field in enumerate(form.fields) if field.name == "description"), 0)
        self.preview = Preview((), None)
        self.page = PageView(id="form-page")

    def _prompt(self, field: FormField, typed: str | None = None) -> Prompt:
        value = field.value if typed is None else typed
        hint = partial(self._hint, field)
        return Prompt(Question(f"{field.name:<{LABEL - 2}}", value, lambda _: None, changed=self._typed, hint=hint))

    def compose(self) -> ComposeResult:
        """What it is, what to know, the fields, what would change, the keys."""
        yield Lines(self._head, id="form-head")
        yield Lines(self._notes, id="form-notes")
        yield FieldLines(self._fields, id="form-fields")
        yield Lines(self._page_title, id="form-page-title")
        yield self.page
        yield Lines(self._foot, id="form-foot", ground="bar")

    def on_mount(self) -> None:
        """Show what is there."""
        self.page.focus()
        self._fit_notes()
        self.call_after_refresh(self._ask_preview)

    def on_resize(self) -> None:
        """Fold anew."""
        self._fit_notes()
        self.call_after_refresh(self._ask_preview)

    # What is typed

    @property
    def typed(self) -> dict[str, str]:
        """Name to what stands in the line."""
        return {name: prompt.text for name, prompt in zip(NAMES, self.prompts, strict=True)}

    @property
    def changed(self) -> bool:
        """Whether what is typed would change anything."""
        return bool(edits(self.form, self.typed))

    @property
    def field(self) -> FormField:
        """The field that is typed in."""
        return self.form.fields[self.index]

    @property
    def width(self) -> int:
        """Cells there are for the text below the fields."""
        return max(self.page.room, 20)

    @property
    def letters_are_text(self) -> bool:
        """Whether letters go into a field."""
        return True

    def take_text(self, key: str, character: str | None) -> bool:
        """Give a key to the field."""
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
        """Why the field cannot be typed in."""
        if self._flow.read_only:
            return READ_ONLY
        if self.form.refusal:
            return "Nothing can be set here; see below."
        reason = self.field.refusal
        return f"{self.field.name} cannot be edited here: {reason[:1].lower()}{reason[1:]}" if reason else ""

    def take_paste(self, text: str) -> bool:
        """Give a paste to the field."""
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
        if self.is_mounted:
            self._flow.preview(self)

    def previewed(self, preview: Preview, typed: dict[str, str]) -> None:
        """Show what would change, unless something else is typed by now."""
        if self.is_mounted and typed == self.typed:
            self.preview = preview
            self.page.show(preview.page, keep_place=True)
            self._draw("#form-page-title")

    def moved(self, form: Form, typed: dict[str, str], words: str) -> None:
        """Go on with what is typed on another text, which somebody else wrote meanwhile."""
        self.busy = False
        self.form = form
        cursors = [prompt.cursor for prompt in self.prompts]
        self.prompts = [self._prompt(field, typed[field.name]) for field in form.fields]
        for prompt, cursor in zip(self.prompts, cursors, strict=True):
            prompt.cursor = min(cursor, len(prompt.text))
        self._fit_notes()
        self._draw("#form-head", "#form-fields")
        self._ask_preview()
        self.say(words, "agent")

    # Keys

    def perform(self, action: Action) -> None:
        """Do what a key of this room stands for at once: letters that follow must not overtake it."""
        if action.room == "form":
            self.answer(action)
        else:
            super().perform(action)

    def answer(self, action: Action) -> None:
        """Do what a key stands for."""
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
        """Say why an action is off."""
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
        """Go to the field that was clicked."""
        if event.index < len(self.prompts):
            self._go(event.index)

    def _next_type(self) -> None:
        """Write the next known type."""
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
        self._draw("#form-fields", "#form-foot")

    def draw_foot(self) -> None:
        """Show the last line again."""
        self._draw("#form-foot")

    def _draw(self, *names: str) -> None:
        for name in names if self.is_mounted else ():
            self.query_one(name, Lines).update()

    def _head(self, width: int) -> list[Line]:
        notes: Line = [(self._where, "draft")] if self._where else []
        return [bars.title(f"Front matter of {self._title}", notes, width, focused=True, plain=self._plain)]

    def _note_lines(self, width: int) -> list[Line]:
        return [[(f" {part}", "warning")] for part in fold(visible(self.form.note), max(width - 2, 20))]

    def _notes(self, width: int) -> list[Line]:
        return self._note_lines(width) if self.form.note else []

    def _fit_notes(self) -> None:
        lines = self.query_one("#form-notes", Lines)
        lines.styles.height = len(self._note_lines(self.size.width)) if self.form.note else 0
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
        """What is said at the right end of a field."""
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
