"""Lines of an index: which ones are entries, and how to write a new one in the file's own style.

Only a line that is nothing but an entry is ever removed, moved or cut.
"""

import re
from collections.abc import Container, Sequence
from typing import NamedTuple

from memtui import mask
from memtui.pointers.targets import without_controls

_ENTRY = re.compile(rb"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t][^\w\[\]]*+\[")
"""A list item that begins with a link, possibly after signs such as stars."""
ITEM = re.compile(rb"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\r?$)")
BLOCK = re.compile(rb"[ \t]*(?:#{1,6}(?:[ \t]|\r?$)|>|```|~~~|<!--|\||(?:-{3,}|\*{3,}|_{3,})[ \t]*\r?$)")
"""The start of a block, which ends the item before it."""
_STYLE = re.compile(
    r"(?P<lead>[ \t]*(?:[-*+]|(?P<number>\d{1,9})[.)])[ \t]+)\[(?P<text>[^\]]*)\]\((?P<target>[^)]*)\)"
    r"(?P<gap>[ \t]*(?:[—–:|]|--?)[ \t]*|[ \t]+|$)"
)
BOM = b"\xef\xbb\xbf"
_LOOKED_AT = 40
"""Number of last entries that determine the style of a new one."""


class Span(NamedTuple):
    """One line, in bytes of the file."""

    start: int
    end: int
    """After its line end."""


class Style(NamedTuple):
    """How an index writes its entries."""

    lead: str = "- "
    number: int | None = None
    """Number of the next item; None when items are not numbered."""
    gap: str = " — "
    named: bool = False
    end: bytes = b"\n"


def spans(data: bytes) -> list[Span]:
    """Split a file into lines; only a line feed ends one."""
    found = []
    start = 0
    while start < len(data):
        stop = data.find(b"\n", start) + 1 or len(data)
        found.append(Span(start, stop))
        start = stop
    return found


def text_of(data: bytes, span: Span) -> bytes:
    """Return a line without its line end and without the file's byte-order mark."""
    text = data[span.start : span.end].rstrip(b"\r\n")
    return text.removeprefix(BOM) if span.start == 0 else text


def depth(text: bytes) -> int:
    """Return the width of a line's indentation in bytes."""
    return len(text) - len(text.lstrip(b" \t"))


def is_text(data: bytes) -> bool:
    """Return whether a file is UTF-8 without NUL."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\x00" not in data


def is_entry(text: bytes) -> bool:
    """Return whether a line is a list item that begins with a link."""
    return _ENTRY.match(text) is not None


def goes_on(text: bytes, following: bytes | None) -> bool:
    """Return whether the next line belongs to an entry: more of its text, or a nested item."""
    if following is None or not following.strip():
        return False
    item = ITEM.match(following)
    if item is not None:
        mine = ITEM.match(text)
        return mine is not None and len(item[1]) > len(mine[1])
    return BLOCK.match(following) is None


def style_of(data: bytes, lines: Sequence[Span], entries: Sequence[int]) -> Style:
    """Detect the style of an index from its last entries; `entries` are their line numbers, rising."""
    feeds = data.count(b"\n")
    end = b"\r\n" if data.count(b"\r\n") * 2 > feeds else b"\n" if feeds or b"\r" not in data else b"\r"
    seen = [
        found
        for number in entries[-_LOOKED_AT:]
        if (found := _STYLE.match(text_of(data, lines[number]).decode("utf-8", "replace")))
    ]
    if not seen:
        return Style(end=end)
    named = sum(found["text"] in (found["target"], found["target"].rpartition("/")[2]) for found in seen)
    gaps = [found["gap"] for found in seen if found["gap"].strip()]
    last = seen[-1]
    return Style(
        last["lead"],
        int(last["number"]) + 1 if last["number"] else None,
        max(reversed(gaps), key=gaps.count) if gaps else " — ",
        named * 2 > len(seen),
        end,
    )


def place_of(data: bytes, lines: Sequence[Span], entries: Sequence[int], end: bytes) -> tuple[int, bytes, bytes]:
    """Return where a new line goes: after the last entry and its text, else at the end.

    Returns:
        The byte offset, and the line ends to put before and after the new line.
    """
    last = max(entries, default=len(lines) - 1)
    while entries and last < len(lines) - 1 and goes_on(text_of(data, lines[last]), text_of(data, lines[last + 1])):
        last += 1
    at = lines[last].end if lines else len(data)
    if at and data[:at] != BOM and not data.endswith((b"\n", end), 0, at):
        return at, end, b""
    return at, b"", end


def home_of(index_file: str, path: str, present: Container[str]) -> str:
    """Return the path of the index that has to name a memory, whether it exists or not; empty when none has to.

    Args:
        index_file: as in a layout: a path, `*/NAME` or `**/NAME`.
        present: existing paths below the root.
    """
    name = index_file.rpartition("/")[2]
    if index_file.startswith("**/"):
        folder = path.rpartition("/")[0]
        while folder and f"{folder}/{name}" not in present:
            folder = folder.rpartition("/")[0]
        return f"{folder}/{name}" if folder else name
    if index_file.startswith("*/"):
        head, slash, _ = path.partition("/")
        return f"{head}/{index_file[2:]}" if slash else ""
    return index_file


def write_entry(style: Style, target: str, name: str, hook: str, *, limit: int | None, step: int = 0) -> str:
    """Format an entry in the style of the file.

    Args:
        hook: the text after the link; may be empty.
        limit: characters the agent keeps of a line.
        step: number of new items before it, for numbered ones.
    """
    lead = style.lead
    if style.number is not None:
        lead = re.sub(r"\d+", str(style.number + step), lead, count=1)
    shown = name if style.named else _title(name)
    link = f"{lead}[{_bracketed(shown)}]({target})"
    hook = " ".join(without_controls(hook).split()).replace("](", "] (").replace("<!--", "<! --")
    if not hook:
        return link
    line = link + style.gap + hook
    return line if limit is None else shorten(line, limit, keep=len(link)) or link


def shorten(line: str, limit: int, *, keep: int) -> str | None:
    """Truncate a line at a word, with an ellipsis; None when `keep` characters do not fit."""
    if len(line) <= limit:
        return line
    room = limit - 1
    if room <= keep:
        return line[:keep] if keep <= limit else None
    at = max(line.rfind(blank, keep, room + 1) for blank in " \t")
    kept = line[: at if at > keep else room].rstrip(" \t,;:.—–-|")
    return kept[:keep] if len(kept) <= keep else kept + "…"


def _title(name: str) -> str:
    stem = mask.shown(name.rpartition(".")[0] or name)  # taken apart below, a secret would not be known any more
    words = " ".join(re.split(r"[-_ ]+", stem)).strip() or name
    return words[:1].upper() + words[1:]


def _bracketed(text: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", text)
