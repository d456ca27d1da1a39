"""Lines of an index: which are entries, how to write a new one, where to split it, and what an agent loads of it.

Only a line that is nothing but an entry is ever removed, moved or cut. Index health and start cost show the same cut,
by lines, bytes or UTF-16 units. The name alone identifies an overflow file, so that finding one needs no reading.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from memtui import mask
from memtui.engine.policy import Policy
from memtui.pointers.links import front_matter, prose, without_controls

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
    """Return the byte offset of a new line, after the last entry and its text, and the line ends around it."""
    last = max(entries, default=len(lines) - 1)
    while entries and last < len(lines) - 1 and goes_on(text_of(data, lines[last]), text_of(data, lines[last + 1])):
        last += 1
    at = lines[last].end if lines else len(data)
    if at and data[:at] != BOM and not data.endswith((b"\n", end), 0, at):
        return at, end, b""
    return at, b"", end


def home_of(index_file: str, path: str, present: Container[str]) -> str:
    """Return the path of the index that has to name a memory, whether it exists or not; empty when none has to.

    `index_file` is as in a layout: a path, `*/NAME` or `**/NAME`.
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
    """Format an entry in the style of the file, at most `limit` characters long, as item `step` of several new ones."""
    lead = style.lead
    if style.number is not None:
        lead = re.sub(r"\d+", str(style.number + step), lead, count=1)
    shown = name if style.named else _title(name)
    bracketed = re.sub(r"([\[\]\\])", r"\\\1", shown)
    link = f"{lead}[{bracketed}]({target})"
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


_MARK = "-more"
_REST = re.compile(r"(.+)-more(?:-[2-9]|-[1-9]\d{1,3})?(\.[^./]+)?")
_HEADING = re.compile(rb"[ \t]*#{1,6}(?:[ \t]|\r?$)")
_RULE = re.compile(rb"[ \t]*(?:-{3,}|={3,})[ \t]*\r?$")
"""May make a heading of the line above it; at the head of a file it opens front matter."""


def rest_name(index: str, number: int) -> str:
    """Return the name of an overflow file of an index; numbers start at 1."""
    folder, slash, name = index.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    return f"{folder}{slash}{stem}{_MARK}{f'-{number}' if number > 1 else ''}{dot}{ending}"


def index_of(path: str) -> str:
    """Return the index to which an overflow file belongs, by its name; empty for any other file."""
    if _MARK not in path:  # asked of every memory
        return ""
    folder, slash, name = path.rpartition("/")
    found = _REST.fullmatch(name)
    return f"{folder}{slash}{found[1]}{found[2] or ''}" if found is not None else ""


def borders(data: bytes, lines: Sequence[Span]) -> list[int]:
    """Return the lines before which an index can be split, rising.

    Code blocks, comments, paragraphs, tables, quotes and entries stay whole, headings stay with what follows, and front
    matter stays in place.
    """
    clear = prose(data)
    indent = min((depth(text) for _, text in clear if text.strip()), default=0)
    found = []
    above = _Line(-1, b"")
    for line in _solid(data, lines, clear):
        if (
            depth(line.text) <= indent
            and not _RULE.match(line.text)
            and not (line.begins_hidden if above.ends_hidden else _HEADING.match(above.text) or _RULE.match(above.text))
            and (above.number < line.number - 1 or line.number == 0 or _apart(above.text, line.text))
        ):
            found.append(line.number)
        above = line
    return found


def surplus(data: bytes, lines: Sequence[Span]) -> list[int]:
    """Return the redundant blank lines: those after a blank line, outside code and not before indented text."""
    found: list[int] = []
    above = _Line(-1, b"")
    for line in _solid(data, lines, prose(data)):
        if not (above.ends_hidden and line.begins_hidden) and not line.text.startswith((b" ", b"\t")):
            found += range(above.number + 2, line.number)
        above = line
    return found


class _Line(NamedTuple):
    """A line that is not blank."""

    number: int
    text: bytes
    begins_hidden: bool = False
    """It begins in code, in a comment or in front matter."""
    ends_hidden: bool = False


def _solid(data: bytes, lines: Sequence[Span], clear: Sequence[tuple[int, bytes]]) -> Iterator[_Line]:
    """Yield the lines that are not blank; `clear` is their prose."""
    for number, span in enumerate(lines):
        text = text_of(data, span)
        if text.strip():
            shown = clear[number][1][len(BOM) * (number == 0 and data.startswith(BOM)) :]
            yield _Line(number, text, depth(shown) > depth(text), len(shown.rstrip()) < len(text.rstrip()))


def _apart(above: bytes, text: bytes) -> bool:
    sign = text.lstrip(b" \t")[:1]
    if sign in (b"|", b">") and above.lstrip(b" \t")[:1] == sign:
        return False
    return ITEM.match(text) is not None or BLOCK.match(text) is not None


# --- what an agent loads of an index

_FRONT_MATTER, _COMMENTS = "front-matter", "comments"
"""Values of `Policy.index_uncounted`."""


class Measure(NamedTuple):
    """An index measured against its agent's limits."""

    lines: int
    """Counted lines, without blank ones at the end."""
    bytes: int
    """Counted bytes, line ends included."""
    units: int
    """Counted UTF-16 units; 0 where the agent does not count them."""
    cut: int | None = None
    """First line that is not loaded whole, from 0; None when all are loaded."""
    by: str = ""
    """The limit that was exceeded: `lines`, `bytes` or `units`."""
    lost_lines: int = 0
    """Lines with text from the cut on."""
    lost_bytes: int = 0
    """Bytes from the cut on, without blank lines at the end and without `part`."""
    part: int = 0
    """Bytes that are loaded of the line at the cut: only of a first line longer than the limit."""


def measure(data: bytes, policy: Policy) -> Measure:
    """Measure an index against a policy; of lines that do not fit, only the units of a first one that do are loaded."""
    kept = data.rstrip()
    texts = kept.split(b"\n") if kept else []
    counted = _counted(texts, policy.index_uncounted)
    lines = size = units = 0
    cut: int | None = None
    by = ""
    for number, text in enumerate(counted):
        if text is None:
            continue
        lines += 1
        if policy.index_units is not None:
            units += _units(text)
        size += len(text)
        if cut is None:
            by = _over(lines, size, units, policy)
            cut = number if by else None
        size += 1
        units += policy.index_units is not None
    size, units = max(size - 1, 0), max(units - 1, 0)
    if cut is None:
        return Measure(lines, size, units)
    begin = sum(map(len, texts[:cut])) + cut
    part = 0
    if by == "units" and not any(text and text.strip() for text in counted[:cut]):
        fits = texts[cut].decode("utf-8", "replace").encode("utf-16-le")[: 2 * (policy.index_units or 0)]
        part = len(fits.decode("utf-16-le", "ignore").encode())
    return Measure(lines, size, units, cut, by, lines_with_text(texts[cut:]), end_of_text(data) - begin - part, part)


def lines_with_text(lines: Iterable[bytes]) -> int:
    """Count the lines that are not blank."""
    return sum(1 for line in lines if line.strip())


def end_of_text(data: bytes) -> int:
    """Return the byte at which a text ends, blank lines at its end left out."""
    return data.find(b"\n", len(data.rstrip())) + 1 or len(data)


def end_of_index(data: bytes, policy: Policy) -> tuple[int | None, int]:
    """Return the byte at which an agent stops loading an index (None: it loads all of it), and the end of its text."""
    found, end = measure(data, policy), end_of_text(data)
    if found.cut is None:
        return None, end
    at = 0
    for _ in range(found.cut):
        at = data.find(b"\n", at) + 1
    return at + found.part, end


def _over(lines: int, size: int, units: int, policy: Policy) -> str:
    if policy.index_lines is not None and lines > policy.index_lines:
        return "lines"
    if policy.index_bytes is not None and size > policy.index_bytes:
        return "bytes"
    if policy.index_units is not None and units > policy.index_units:
        return "units"
    return ""


def _units(text: bytes) -> int:
    if text.isascii():
        return len(text)
    shown = text.decode("utf-8", "replace")
    return len(shown) + sum(character > "\uffff" for character in shown)


def _counted(texts: list[bytes], uncounted: tuple[str, ...]) -> list[bytes | None]:
    """Return what counts of each line; None for a line that does not count."""
    found: list[bytes | None] = list(texts)
    start = 0
    if _FRONT_MATTER in uncounted:
        start = front_matter(texts)
        found[:start] = [None] * start
    if _COMMENTS in uncounted:
        _without_comments(found, start)
    return found


def _without_comments(found: list[bytes | None], start: int) -> None:
    inside, fence = False, b""
    for number in range(start, len(found)):
        text = found[number] or b""
        if not inside:
            mark = text.lstrip()[:3]
            if mark in (b"```", b"~~~") and fence in (b"", mark):
                fence = b"" if fence else mark
            if fence or b"<!--" not in text:
                continue
        kept, inside = _outside(text, inside=inside)
        found[number] = kept if kept.strip() else None


def _outside(text: bytes, *, inside: bool) -> tuple[bytes, bool]:
    kept = []
    rest = text
    while rest:
        head, mark, rest = rest.partition(b"-->" if inside else b"<!--")
        if not inside:
            kept.append(head)
        if mark:
            inside = not inside
    return b"".join(kept), inside
