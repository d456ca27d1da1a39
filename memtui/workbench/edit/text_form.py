"""The one border between a memory's bytes and the text an editor holds: bytes to lines, and back without a difference.

The text widget splits at eleven kinds of line break and joins with one, so it would rewrite a file that was only opened
and saved. Line ends, byte-order mark and final newline are kept aside here; whatever would not come back byte for byte,
or cannot be shown as it is, gets a reason and is opened read-only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from textual.widgets.text_area import Document

from memtui.safe_text import has_hidden, visible

BOM = "\ufeff"
EDIT_BYTES = 262_144
"""More than this is never edited in place, whatever the root allows."""
LINE_BYTES = 10_240
"""A longer line makes every key slow (a line is wrapped and drawn as a whole)."""
LINES = 20_000
"""More lines make opening and every key slow; so many of a read-only memory are drawn."""
SHOWN_CHARACTERS = 131_072
"""How much of a read-only memory is drawn."""
FOLD = 1_000
"""Read-only lines are folded at this many characters."""

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
"""What `str.splitlines` takes for a line end and a text file does not."""
_BREAK = re.compile("[" + "".join(_OTHER_BREAKS) + "]")
_BREAK_IN_PASTE = re.compile("\r\n|[\r" + "".join(_OTHER_BREAKS) + "]")


class TextForm(NamedTuple):
    """How a memory is shown in the text widget, and what it takes to turn the text into its bytes again."""

    text: str
    """Lines joined with `\\n`. When `reason` is set: a safe, possibly shortened picture of the content."""
    newline: str
    """The line end of the file: `\\n`, `\\r\\n` or `\\r`."""
    bom: bool
    """Whether the file starts with a byte-order mark."""
    reason: str = ""
    """Why the text is read-only; empty when it can be edited."""

    @property
    def editable(self) -> bool:
        """Whether the text can be edited in place."""
        return not self.reason


EMPTY = TextForm("", "\n", bom=False)
"""The form of a memory that does not exist yet."""


def read_form(data: bytes, *, limit: int = EDIT_BYTES) -> TextForm:
    """Turn a memory's bytes into editable text, or into a read-only picture with the reason.

    Args:
        data: the raw content.
        limit: the root's own write limit in bytes; `EDIT_BYTES` applies as well.

    Returns:
        A form for which `to_bytes(form.text, form) == data`, whenever it is editable.
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
    """Turn edited text back into the bytes of the file it came from.

    Args:
        text: lines joined with `\\n`, as the text widget holds them.
        form: what was kept aside when the file was opened.
    """
    if form.newline != "\n":
        text = text.replace("\n", form.newline)
    return ((BOM if form.bom else "") + text).encode()


def same_text(first: bytes, second: bytes) -> bool:
    """Tell whether two contents differ in nothing but line ends and byte-order mark."""
    return _plain(first) == _plain(second)


def clean_paste(text: str, *, room: int) -> tuple[str, int]:
    """Make pasted text fit for the editor: one kind of line end, nothing hidden, no more than there is room for.

    Args:
        text: what the terminal sent.
        room: how many bytes of UTF-8 may be inserted.

    Returns:
        The text to insert, and how many characters were taken out or cut off.
    """
    lines = _BREAK_IN_PASTE.sub("\n", text)
    merged = len(text) - len(lines) - text.count("\r\n")
    kept = "".join(c for c in lines if not has_hidden(c)) if has_hidden(lines) else lines
    data = kept.encode(errors="ignore")
    if len(data) > room:
        kept = data[: max(room, 0)].decode(errors="ignore")
    return kept, merged + len(lines) - len(kept)


def _line_ends(text: str) -> tuple[str, str]:
    """Find the one kind of line end, or say why there is none."""
    pairs = text.count("\r\n")
    kinds = {"\r\n": pairs, "\n": text.count("\n") - pairs, "\r": text.count("\r") - pairs}
    found = [kind for kind, count in kinds.items() if count]
    if len(found) > 1:
        names = {"\r\n": "CRLF", "\n": "LF", "\r": "CR"}
        return "\n", "mixed line ends: " + ", ".join(f"{kinds[kind]:,} {names[kind]}" for kind in found)
    return (found[0] if found else "\n"), ""


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
    lines: list[str] = []
    for line in re.split("\r\n|\n", shown):
        safe = visible(line, keep_tabs=True)
        lines.extend(safe[start : start + FOLD] for start in range(0, max(len(safe), 1), FOLD))
    rest = len(data) - len(shown.encode(errors="surrogateescape"))
    if rest > 0:
        lines.append(f"(and {rest:,} more bytes)")
    return TextForm("\n".join(lines), "\n", bom=False, reason=reason)
