"""The text in the editor: a memory's bytes as editable text and back without a difference, and its text widget.

Textual's widget splits at eleven kinds of line break and joins with one, so it would rewrite a file that was only
opened and saved. Line ends, byte-order mark and final newline are kept aside; what would not come back byte for byte,
or cannot be shown as it is, is opened read-only with the reason.
"""

from __future__ import annotations

import importlib.util
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Document, LanguageDoesNotExist, Selection

from memtui import mask
from memtui.matching import Span
from memtui.safe_text import has_hidden, pieces, steady, visible
from memtui.ui.draw.paint import Paint
from memtui.ui.textual_private import WrappedOnce

if TYPE_CHECKING:
    from memtui.ui.textual_private import Edit, EditResult

BOM = "\ufeff"
EDIT_BYTES = 262_144
"""Largest text that is edited in place, whatever the root allows."""
LINE_BYTES = 10_240
"""Longest line that is edited in place: a line is wrapped and drawn as a whole."""
LINES = 20_000
"""Most lines that are edited in place, and that are drawn of a read-only memory."""
SHOWN_CHARACTERS = 131_072
"""Most characters drawn of a read-only memory."""
FOLD = 1_000

_OTHER_BREAKS = {
    "\x0b": "a vertical tab",
    "\x0c": "a form feed",
    "\x1c": "a file separator (U+001C)",
    "\x1d": "a group separator (U+001D)",
    "\x1e": "a record separator (U+001E)",
    "\x85": "a next-line mark (U+0085)",
    "\u2028": "a line separator (U+2028)",
    "\u2029": "a paragraph separator (U+2029)",
}
"""Line ends of `str.splitlines` that are none in a text file."""
_BREAK = re.compile("[" + "".join(_OTHER_BREAKS) + "]")
_BREAK_IN_PASTE = re.compile("\r\n|[\r" + "".join(_OTHER_BREAKS) + "]")


class TextForm(NamedTuple):
    """A memory's content as text, with what turns it into bytes again."""

    text: str
    """Lines joined with `\\n`; when `reason` is set, a safe and possibly shortened picture of the content."""
    newline: str
    bom: bool
    reason: str = ""

    @property
    def editable(self) -> bool:
        return not self.reason


EMPTY = TextForm("", "\n", bom=False)


def read_form(data: bytes, *, limit: int = EDIT_BYTES) -> TextForm:
    """Decode a memory into editable text that `to_bytes` turns back, or into a read-only picture with the reason.

    `limit` is the root's write limit in bytes; `EDIT_BYTES` applies as well.
    """
    limit = min(limit, EDIT_BYTES)
    if len(data) > limit:
        return _raw(data, f"{len(data):,} bytes, over the {limit:,} that can be edited here")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return _raw(data, f"not UTF-8 at byte {error.start}")
    bom = text.startswith(BOM)
    if bom:
        text = text[1:]
    newline, reason = _line_ends(text)
    if newline != "\n":
        text = text.replace(newline, "\n")
    reason = reason or _unfit(text)
    if reason:
        return _raw(data, reason)
    form = TextForm(text, newline, bom)
    if "\n".join(Document(text).lines) != text or to_bytes(text, form) != data:
        return _raw(data, "the text widget would change it by opening and saving it")
    return form


def to_bytes(text: str, form: TextForm) -> bytes:
    """Encode edited text as the file `form` came from: its line ends and byte-order mark."""
    if form.newline != "\n":
        text = text.replace("\n", form.newline)
    return ((BOM if form.bom else "") + text).encode()


def same_text(first: bytes, second: bytes) -> bool:
    return _plain(first) == _plain(second)


def clean_paste(text: str, *, room: int) -> tuple[str, int]:
    """Clean pasted text: one kind of line end, no hidden characters, at most `room` bytes of UTF-8.

    Returns the text to insert, and how many characters were left out.
    """
    lines = _BREAK_IN_PASTE.sub("\n", text)
    merged = len(text) - len(lines) - text.count("\r\n")
    kept = "".join(text for text, hidden in pieces(lines, keep_newlines=True, keep_tabs=True) if not hidden)
    data = kept.encode(errors="ignore")
    if len(data) > room:
        kept = data[: max(room, 0)].decode(errors="ignore")
    return kept, merged + len(lines) - len(kept)


def line_ends(text: str) -> dict[str, str]:
    """Count the line ends of a text, in words by kind: `12 CRLF`."""
    pairs = text.count("\r\n")
    counts = {"\r\n": pairs, "\n": text.count("\n") - pairs, "\r": text.count("\r") - pairs}
    names = {"\r\n": "CRLF", "\n": "LF", "\r": "CR"}
    return {kind: f"{count:,} {names[kind]}" for kind, count in counts.items() if count}


def _line_ends(text: str) -> tuple[str, str]:
    """Return the only kind of line end, or why there is none."""
    counts = line_ends(text)
    if len(counts) > 1:
        return "\n", f"mixed line ends: {', '.join(counts.values())}"
    return next(iter(counts), "\n"), ""


def _unfit(text: str) -> str:
    """Say why the widget cannot hold or show this text as it is."""
    if "\x00" in text:
        return f"a NUL character in line {_line_of(text, text.index(chr(0)))}"
    if match := _BREAK.search(text):
        return f"{_OTHER_BREAKS[match.group()]} in line {_line_of(text, match.start())}"
    if has_hidden(text):
        where = next((n for n, line in enumerate(text.split("\n"), 1) if has_hidden(line)), 1)
        return f"hidden or control characters in line {where}"
    if text.count("\n") >= LINES:
        return f"{text.count(chr(10)) + 1:,} lines, more than the {LINES:,} that can be edited here"
    if len(text) > LINE_BYTES:
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > LINE_BYTES // 4 and len(line.encode()) > LINE_BYTES:
                return f"line {number} is longer than {LINE_BYTES:,} bytes"
    return ""


def _line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _plain(data: bytes) -> bytes:
    return data.removeprefix(BOM.encode()).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _raw(data: bytes, reason: str) -> TextForm:
    """Draw what cannot be edited: visible tokens for hidden characters, long lines folded, the rest counted."""
    text = data[: SHOWN_CHARACTERS * 4].decode(errors="surrogateescape")
    shown = "\n".join(text[:SHOWN_CHARACTERS].split("\n", LINES)[:LINES])
    rest = len(data) - len(shown.encode(errors="surrogateescape"))
    shown = mask.shown(shown)
    lines: list[str] = []
    for line in re.split("\r\n|\n", shown):
        safe = visible(line, keep_tabs=True)
        lines.extend(safe[start : start + FOLD] for start in range(0, max(len(safe), 1), FOLD))
    if rest > 0:
        lines.append(f"(and {rest:,} more bytes)")
    return TextForm("\n".join(lines), "\n", bom=False, reason=reason)


NEAR_LINES, KEY_LINES = 8, 400
"""Lines around a line that decide what in it is a secret, and lines above it searched for the start of a key block."""


def secret_spans(lines: Sequence[str], index: int) -> tuple[Span, ...]:
    """Return the columns of a line that hold secrets, at a cost independent of the length of the text."""
    first = max(index - NEAR_LINES, 0)
    for at in range(index, max(index - KEY_LINES, -1), -1):
        if "-----" in lines[at] and "-----BEGIN " in lines[at]:
            first = min(first, at)
            break
    start = sum(len(line) + 1 for line in lines[first:index])
    return _spans_in("\n".join(lines[first : index + NEAR_LINES]), start, start + len(lines[index]))


@lru_cache(512)
def _spans_in(text: str, start: int, end: int) -> tuple[Span, ...]:
    return tuple((secret.start, secret.end) for secret in mask.around(text, start, end).secrets)


def dotted(line: str, spans: Sequence[Span], *, plain: bool) -> str:
    """Replace the characters in some columns by dots of the same width."""
    signs = list(line)
    dots = {1: "*" if plain else "•", 2: "＊"}
    for at in (at for start, end in spans for at in range(start, end)):
        signs[at] = signs[at] if signs[at] == "\t" else dots.get(cell_len(signs[at]), signs[at])
    return "".join(signs)


CHECKPOINTS = 600
HIGHLIGHT_BYTES = 32_768
"""Larger texts are not highlighted: it would make every key three times as slow."""
SOUND_PARSERS = ("0.25.",)
"""Usable versions of tree-sitter: 0.26.1 crashes the interpreter after repeated queries."""
_FOUND = Style(bold=True, underline=True)
_SIGNS = {"~": "draft", "A": "agent", "!": "conflict"}


class MemoryText(WrappedOnce, TextArea):
    """Text area with a column for marks, masked secrets and cleaned pastes."""

    DEFAULT_CSS = """
    MemoryText { scrollbar-gutter: stable; }
    """

    class Pasted(Message):
        """A paste was changed before it was inserted."""

        def __init__(self, removed: int) -> None:
            super().__init__()
            self.removed = removed

    class KeyPressed(Message):
        """The first key after a message or a change from outside was shown."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(
            soft_wrap=True,
            show_line_numbers=True,
            max_checkpoints=CHECKPOINTS,
            tab_behavior="focus",
            id=id,
            compact=True,
        )
        # A blink costs more than all else an idle workbench does, and twice a second a slow line has to carry it.
        self.cursor_blink = False
        self.byte_limit = EDIT_BYTES
        self.tell_next_key = False
        self._marks: dict[int, str] = {}
        self._found: Mapping[int, Sequence[Span]] = {}

    # --- marks

    def set_found(self, places: Mapping[int, Sequence[Span]]) -> None:
        """Mark matches: spans of columns, in order, by line from 0."""
        if places != self._found:
            self._found = places
            self.refresh()

    @property
    def marks(self) -> Mapping[int, str]:
        return self._marks

    def set_marks(self, marks: Mapping[int, str]) -> None:
        """Show these signs beside lines (from 0) and no others: `~` yours, `A` the other side's, `!` both."""
        if dict(marks) != self._marks:
            self._marks = dict(marks)
            self.refresh()

    @property
    def gutter_width(self) -> int:
        width = super().gutter_width
        return width + 2 if width else 0

    def get_line(self, line_index: int) -> Text:
        """Draw dots for secrets, except for the one at the cursor; in a browser for that one too."""
        line = super().get_line(line_index)
        row, column = self.cursor_location
        spans = [
            (start, end)
            for start, end in secret_spans(self.document.lines, line_index)
            if self.app.is_web or row != line_index or not start <= column <= end
        ]
        if not spans:
            return line
        plain: bool = self.app.plain  # type: ignore[attr-defined]
        return Text(dotted(line.plain, spans, plain=plain), end="", no_wrap=True)

    def render_line(self, y: int) -> Strip:
        """Draw one row, with the mark of its line in the first cell."""
        strip = super().render_line(y)
        if not strip.text.isascii():
            strip = Strip([Segment(steady(text), style) for text, style, _ in strip], strip.cell_length)
        if not self._marks and not self._found:
            return strip
        row = y + self.scroll_offset.y
        if row >= self.wrapped_document.height:
            return strip
        line, column = self.wrapped_document.offset_to_location(Offset(0, row))
        if line in self._found:
            strip = self._with_places(strip, line, column)
        sign = self._marks.get(line)
        if sign is None or column or not self.show_line_numbers:
            return strip
        paint: Paint = self.app.paint  # type: ignore[attr-defined]
        mark = Segment(sign, paint.style(_SIGNS.get(sign, "strong")))
        return Strip.join([Strip([mark], 1), strip.crop(1)])

    def _with_places(self, strip: Strip, line: int, first: int) -> Strip:
        """Mark the matches on one drawn row, which begins at a column of its line.

        Only matches on this row are looked at: a line of 20,000 characters is many rows.
        """
        spans = self._found[line]
        text = self.document.get_line(line)
        breaks = self.wrapped_document.get_offsets(line)
        after = bisect_right(breaks, first)
        last = breaks[after] if after < len(breaks) else len(text)
        paint: Paint = self.app.paint  # type: ignore[attr-defined]
        ink = Style(color=paint.style("match").color)
        selected = sorted(self.selection)
        gutter, at = self.gutter_width, 0
        pieces: list[Strip] = []
        for start, end in spans[max(bisect_left(spans, (first, 0)) - 1, 0) :]:
            if start >= last:
                break
            left = gutter + self._cells(text, first, max(start, first))
            right = gutter + self._cells(text, first, min(end, last))
            if right > max(left, at):
                here = selected == [(line, start), (line, end)]  # the colours of the selection are there to be seen
                style = _FOUND if here else ink + _FOUND
                marked = [Segment(part, (old or Style()) + style) for part, old, _ in strip.crop(left, right)]
                pieces += [strip.crop(at, left), Strip(marked, right - left)]
                at = right
        return Strip.join([*pieces, strip.crop(at)]) if pieces else strip

    def _cells(self, text: str, first: int, column: int) -> int:
        """Return the cells between a row's first character and a column."""
        return cell_len(text[first:column].expandtabs(self.indent_width))

    # --- text from outside

    def open_text(self, text: str, *, read_only: bool) -> None:
        """Show another text from its start, with an empty undo history."""
        self._marks, self._found = {}, {}
        self.read_only = read_only
        wanted = "markdown" if not read_only and _small(text) and _can_highlight() else None
        self.history.clear()
        try:
            self.set_reactive(TextArea.language, wanted)
            self.load_text(text)
        except LanguageDoesNotExist:
            self.set_reactive(TextArea.language, None)
            self.load_text(text)

    def edit(self, edit: Edit) -> EditResult:
        """Apply an edit; a text that grows too large loses its highlighting first."""
        if self.language is not None and not _small(self.text + edit.text):
            self.lose_colours()
        return super().edit(edit)

    def replace_all(self, text: str) -> None:
        """Replace the text by the smallest edit, so that cursor, scroll and undo survive."""
        old = self.text
        if text == old:
            return
        start = _common(old, text)
        end = _common(old[start:][::-1], text[start:][::-1])
        first, last = location_of(old, start), location_of(old, len(old) - end)
        screen_row = self.cursor_screen_offset.y
        self.history.checkpoint()
        cursor = self.selection.end
        self.replace(text[start : len(text) - end], first, last, maintain_selection_offset=True)
        self.history.checkpoint()
        if first < cursor < last:
            self.selection = Selection.cursor(self.clamp_visitable(cursor))
        moved = self.cursor_screen_offset.y - screen_row
        if moved:
            self.scroll_relative(y=moved, animate=False, force=True)

    async def on_key(self, event: events.Key) -> None:
        """Run a key's own action at once, and report the first key after a message.

        Textual looks for bindings only after a key has bubbled through every parent, so letters typed meanwhile would
        overtake it; over a slow link `end` and the words after it arrive together.
        """
        if self.tell_next_key:
            self.tell_next_key = False
            self.post_message(self.KeyPressed())
        active = None if event.is_printable else self.screen.active_bindings.get(event.key)
        if active is not None and active.node in (self, self.parent):
            event.stop()
            event.prevent_default()
            await self.app.run_action(active.binding.action, active.node)

    # --- pastes

    async def on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self._insert_clean(event.text)

    def action_paste(self) -> None:
        self._insert_clean(self.app.clipboard)

    def _insert_clean(self, pasted: str) -> None:
        if self.read_only or not pasted:
            return
        room = self.byte_limit - len(self.text.encode()) + len(self.selected_text.encode())
        text, removed = clean_paste(pasted, room=room)
        if text:
            start, end = self.selection
            result = self.replace(text, start, end, maintain_selection_offset=False)
            self.move_cursor(result.end_location)
        if removed:
            self.post_message(self.Pasted(removed))


def _small(text: str) -> bool:
    return len(text) <= HIGHLIGHT_BYTES and len(text.encode()) <= HIGHLIGHT_BYTES


@cache
def _can_highlight() -> bool:
    """Whether the optional packages are installed, with a sound parser; does not import them."""
    if any(importlib.util.find_spec(name) is None for name in ("tree_sitter", "tree_sitter_markdown")):
        return False
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tree-sitter").startswith(SOUND_PARSERS)
    except PackageNotFoundError:
        return False


def _common(first: str, second: str) -> int:
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first.startswith(second[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def location_of(text: str, position: int) -> tuple[int, int]:
    line = text.count("\n", 0, position)
    return line, position - (text.rfind("\n", 0, position) + 1)
