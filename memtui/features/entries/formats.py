"""Formats in which agents keep many entries in one file.

An entry is what the agent's own code takes for one: Goose and Hermes also divide at separators in code fences, Markdown
blocks do not. A `CHANNEL.json` that Qwen Code refuses has no entries, so that nothing is written into it.
"""

import json
import re
from collections.abc import Callable, Iterator
from secrets import token_hex
from typing import NamedTuple

BOM = b"\xef\xbb\xbf"
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})([^\r\n]*)")


def body_start(data: bytes) -> int:
    """Return the offset after a byte-order mark."""
    return len(BOM) if data.startswith(BOM) else 0


def lines(data: bytes, start: int = 0) -> Iterator[tuple[int, int, bool]]:
    """Yield each line's start, its end without the line end, and whether it is in a fenced block.

    An unclosed fence extends to the end of the file.
    """
    at = start
    fence = b""
    for raw in data[start:].splitlines(keepends=True):
        line = raw.rstrip(b"\r\n")
        found = _FENCE.match(line) if line[:4].lstrip(b" ")[:1] in (b"`", b"~") else None
        fenced = bool(fence)
        if found is not None:
            mark, rest = found.groups()
            if fence:
                if mark[:1] == fence[:1] and len(mark) >= len(fence) and not rest.strip():
                    fence = b""
            elif mark[:1] == b"~" or b"`" not in rest:
                fence, fenced = mark, True
        yield at, at + len(line), fenced
        at += len(raw)


def front_matter_end(data: bytes, start: int) -> int:
    """Return the offset after a front-matter block that begins here; `start` without one."""
    if not data.startswith((b"---\n", b"---\r\n"), start):
        return start
    found = re.compile(rb"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE).search(data, data.index(b"\n", start) + 1)
    return found.end() if found is not None else start


Span = tuple[int, int]
"""Start and exclusive end."""


class Format(NamedTuple):
    """One format."""

    spans: Callable[[bytes], list[Span]]
    joint: Callable[[bytes, int, bytes], tuple[int, bytes, bytes]]
    """Takes the file, the end of its last entry (0: none) and its line end; returns where a new entry goes, and what to
    put before and after it."""
    keeps_tail: bool
    """Whether what follows the last entry stays when that entry is removed."""
    rule: str
    """What makes a text one entry, as a sentence."""
    heading: bytes = b""
    trims: bool = False
    """Whether the agent strips blanks from both ends."""
    said: Callable[[bytes], bytes] = bytes
    """Returns the text of an entry's bytes."""
    put: Callable[[bytes, bytes], bytes] = lambda _, text: text
    """Returns the bytes of an entry (or of a new one) with another text."""
    refused: Callable[[bytes], str] = lambda _: ""
    """Returns why the agent refuses the whole file; empty if it does not."""
    enclosed: bool = False
    """Whether what follows the last entry belongs to the file."""
    tagged: bool = False
    """Whether a first line that begins with `#` holds tags."""


_GOOSE_GAP = re.compile(rb"(?:\r?\n){2,}")
_HERMES_SEPARATOR = re.compile(b"(?:\r\n|\r|\n)\xc2\xa7(?:\r\n|\r|\n)")
_HEADING = re.compile(rb"#[ \t]+\S")
_NOTE = re.compile(rb"##[ \t]+\S")


def _goose(data: bytes) -> list[Span]:
    start = body_start(data)
    end = len(data)
    while data[start : start + 2] == b"\r\n" or data[start : start + 1] == b"\n":
        start += 2 if data[start : start + 1] == b"\r" else 1
    while end > start and data[end - 1 : end] == b"\n":
        end -= 2 if data[end - 2 : end] == b"\r\n" and end - 2 >= start else 1
    found = []
    for gap in _GOOSE_GAP.finditer(data, start, end):
        found.append((start, gap.start()))
        start = gap.end()
    if start < end:
        found.append((start, end))
    return found


def _after_goose(data: bytes, last: int, newline: bytes) -> tuple[int, bytes, bytes]:
    """Goose appends, so an entry ends with a blank line; an odd number of line ends before it would hide its tags."""
    tail = data[last or body_start(data) :].count(b"\n")
    missing = 2 if last and not tail else tail % 2
    return len(data), newline * missing, newline * 2


def _hermes(data: bytes) -> list[Span]:
    """Split at lines `§`; entries are stripped, and blank ones skipped."""
    found = []
    at = body_start(data)
    ends = [(match.start(), match.end()) for match in _HERMES_SEPARATOR.finditer(data, at)]
    for end, following in [*ends, (len(data), len(data))]:
        text = data[at:end].decode("utf-8", "surrogateescape")
        before = len(text) - len(text.lstrip())
        if before < len(text):
            start = at + len(text[:before].encode("utf-8", "surrogateescape"))
            kept = text[before:].rstrip()
            found.append((start, start + len(kept.encode("utf-8", "surrogateescape"))))
        at = following
    return found


def _after_hermes(data: bytes, last: int, newline: bytes) -> tuple[int, bytes, bytes]:
    return (last, newline + "§".encode() + newline, b"") if last else (body_start(data), b"", b"")


def _codex(data: bytes, heading: re.Pattern[bytes] = _HEADING) -> list[Span]:
    """Split at headings of the first level; text above the first one is an entry too."""
    found: list[Span] = []
    start = end = -1
    for at, until, fenced in lines(data, body_start(data)):
        filled = data[at:until].strip()
        if not fenced and heading.match(data, at, until) and start >= 0:
            found.append((start, end))
            start = -1
        if filled:
            start, end = (at if start < 0 else start), until
    return [*found, (start, end)] if start >= 0 else found


def _plain(data: bytes) -> list[Span]:
    found: list[Span] = []
    start = end = -1
    for at, until, fenced in lines(data, front_matter_end(data, body_start(data))):
        if data[at:until].strip():
            start, end = (at if start < 0 else start), until
        elif not fenced and start >= 0:
            found.append((start, end))
            start = -1
    return [*found, (start, end)] if start >= 0 else found


def _after_block(data: bytes, last: int, newline: bytes) -> tuple[int, bytes, bytes]:
    if last:
        return last, newline * 2, b"" if data[last:] else newline
    start = front_matter_end(data, body_start(data))
    return start, newline if data[:start].strip(b"\xef\xbb\xbf") else b"", b"" if data[start:] else newline


_SECTION, _BULLET = b"## Remembered", re.compile(rb"[-*+][ \t]+\S")


def _section(data: bytes) -> tuple[int, int]:
    """Return start and end of the section of bullets; the start is -1 without one."""
    start = -1
    for at, until, fenced in lines(data, front_matter_end(data, body_start(data))):
        if not fenced and start < 0 and data[at:until].rstrip() == _SECTION:
            start = until
        elif not fenced and start >= 0 and data.startswith((b"## ", b"# "), at):
            return start, at
    return start, len(data)


def _remembered(data: bytes) -> list[Span]:
    """Return the bullets below `## Remembered`, with their continuation lines."""
    found: list[Span] = []
    first, last = _section(data)
    for at, until, fenced in lines(data, front_matter_end(data, body_start(data))):
        if first < 0 or at <= first or at >= last or not data[at:until].strip():
            continue
        if not fenced and _BULLET.match(data, at, until):
            found.append((at, until))
        elif found:
            found[-1] = found[-1][0], until
    return found


def _after_remembered(data: bytes, last: int, newline: bytes) -> tuple[int, bytes, bytes]:
    """Insert after the last bullet, else after the heading, which is appended if missing."""
    if last:
        return last, newline, b"" if data[last:] else newline
    first, _ = _section(data)
    if first >= 0:
        return first, newline * 2, b"" if data[first:] else newline
    gap = newline * (2 if data and not data.endswith(b"\n") else 1) if data else b""
    return len(data), gap + _SECTION + newline * 2, newline


# --- Qwen Code's file of one chat, parsed as Qwen Code 0.24.4 does (`channel-memory-document.ts`)


_MOST_ENTRIES, _LONGEST_TEXT, _MOST_BYTES = 500, 2_000, 1 << 20
_ENTRY_ID, _LEGACY = re.compile(r"m-[a-f0-9]{12}"), re.compile(r"[a-f0-9]{64}")
_SPACE = re.compile(r"[ \t\r\n]*")
_TOP_KEYS, _ENTRY_KEYS = {"version", "migration", "entries"}, {"id", "text", "createdAt", "updatedAt", "createdBy"}
_NO_LEGACY = {"legacySha256": "0" * 64}


def _keys_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at]))
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")


_DECODE = json.JSONDecoder(object_pairs_hook=_keys_once, parse_constant=_no_number).raw_decode


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def _members(text: str, at: int) -> dict[object, tuple[int, int]]:
    """Return the spans of the values of a valid object or list, by key or number."""
    named, found = text[at] == "{", dict[object, tuple[int, int]]()
    at = _past_space(text, at + 1)
    while text[at] not in "}]":
        key: object = len(found)
        if named:
            key, at = _DECODE(text, at)
            at = _past_space(text, _past_space(text, at) + 1)
        _, end = _DECODE(text, at)
        found[key] = at, end
        at = _past_space(text, end)
        at = _past_space(text, at + 1) if text[at] == "," else at
    return found


def _is_entry(one: object) -> bool:
    return (
        isinstance(one, dict)
        and {"id", "text"} <= one.keys() <= _ENTRY_KEYS
        and all(isinstance(value, str) for value in one.values())
        and _ENTRY_ID.fullmatch(one["id"]) is not None
    )


def _wrong_document(document: object) -> str:
    """Return why Qwen Code refuses a document apart from its entries; empty if it does not."""
    if not isinstance(document, dict) or not {"version", "entries"} <= document.keys() <= _TOP_KEYS:
        return "it is no object of version, entries and migration alone"
    version, entries, old = document["version"], document["entries"], document.get("migration", _NO_LEGACY)
    if version != 1 or isinstance(version, bool):
        return "its version is not 1"
    if not isinstance(old, dict) or old.keys() != _NO_LEGACY.keys() or not _LEGACY.fullmatch(str(old["legacySha256"])):
        return "its migration is no object of a legacySha256 alone"
    if not isinstance(entries, list):
        return "its entries are no list"
    return f"it has {len(entries):,} entries, and may have {_MOST_ENTRIES}" if len(entries) > _MOST_ENTRIES else ""


def _wrong_entry(one: object, before: set[str]) -> str:
    """Return why Qwen Code refuses an entry; `before` are the ids of earlier ones."""
    if not isinstance(one, dict) or not _is_entry(one):
        return "is no object of an id, such as m-0123456789ab, a text and who and when"
    if one["id"] in before:
        return f"has the id {one['id']} of one before it"
    before.add(one["id"])
    if len(one["text"]) > _LONGEST_TEXT:
        return f"has {len(one['text']):,} characters, and may have {_LONGEST_TEXT:,}"
    return "" if one["text"].strip() else "has no text"


def _qwen_elements(text: str) -> tuple[int, list[tuple[int, int]]]:
    """Return the start of the list and the spans of its entries, in characters."""
    start = _past_space(text, 1 if text.startswith("\ufeff") else 0)
    document, end = _DECODE(text, start)
    if _past_space(text, end) < len(text):
        raise json.JSONDecodeError("Something stands behind it", text, _past_space(text, end))
    if wrong := _wrong_document(document):
        raise ValueError(wrong)
    at, _ = _members(text, start)["entries"]
    spans, ids = list(_members(text, at).values()), set[str]()
    for number, (one, (begin, _)) in enumerate(zip(document["entries"], spans, strict=True), start=1):
        if wrong := _wrong_entry(one, ids):
            raise ValueError(f"entry {number}, in line {text.count(chr(10), 0, begin) + 1}, {wrong}")
    return at, spans


def _qwen_spans(data: bytes) -> tuple[int, list[tuple[int, int]]]:
    """Return the start of the list and the spans of its entries, in bytes; raises ValueError for a refused file."""
    if len(data) > _MOST_BYTES:
        raise ValueError(f"it has {len(data):,} bytes, and may have {_MOST_BYTES:,}")
    text = data.decode()
    try:
        at, found = _qwen_elements(text)
    except RecursionError:
        raise ValueError("it is too deep") from None
    places, byte, past = list[int](), 0, 0
    for place in (at, *(one for span in found for one in span)):
        byte, past = byte + len(text[past:place].encode()), place
        places.append(byte)
    return places[0], list(zip(places[1::2], places[2::2], strict=True))


def _qwen_room(data: bytes) -> list[tuple[int, int]]:
    return [] if _qwen_refuses(data) else _qwen_spans(data)[1]


def _qwen_refuses(data: bytes) -> str:
    """Return why Qwen Code refuses the file, and where; empty if it does not."""
    try:
        _qwen_spans(data)
    except ValueError as error:
        return f"Qwen Code refuses this CHANNEL.json, so the chat has no memory: {error}"
    return ""


def _in_qwen_room(data: bytes, last: int, newline: bytes) -> tuple[int, bytes, bytes]:
    if last:
        return last, b"," + newline + b"    ", b""
    return len(data) if _qwen_refuses(data) else _qwen_spans(data)[0] + 1, newline + b"    ", newline + b"  "


def _qwen_text(element: bytes) -> bytes:
    value, _ = _DECODE(element.decode(), 0)
    return str(value["text"]).encode("utf-8", "surrogatepass")


def _with_qwen_text(element: bytes, text: bytes) -> bytes:
    words = text.decode("utf-8", "replace")
    packed = json.dumps(words, ensure_ascii=False)
    if not element:
        return f'{{\n      "id": "m-{token_hex(6)}",\n      "text": {packed}\n    }}'.encode()
    whole = element.decode()
    start, end = _members(whole, 0)["text"]
    return f"{whole[:start]}{packed}{whole[end:]}".encode()


FORMATS = {
    "goose": Format(
        _goose,
        _after_goose,
        keeps_tail=False,
        rule="a blank line begins another entry for Goose",
        tagged=True,
    ),
    "hermes": Format(
        _hermes,
        _after_hermes,
        keeps_tail=True,
        rule="a line `§` begins another entry for Hermes",
        trims=True,
    ),
    "codex": Format(
        _codex,
        _after_block,
        keeps_tail=True,
        rule="a block begins with a heading `# ...` and has no other one of the first level, except in fenced code",
        heading=b"# ",
    ),
    "notes": Format(
        lambda data: _codex(data, _NOTE),
        _after_block,
        keeps_tail=True,
        rule="a note begins with a heading `## ...` and has no other one of the second level, except in fenced code",
        heading=b"## ",
    ),
    "remembered": Format(
        _remembered,
        _after_remembered,
        keeps_tail=True,
        rule="an entry is one bullet `- ...` below `## Remembered`",
        heading=b"- ",
    ),
    "qwen-room": Format(
        _qwen_room,
        _in_qwen_room,
        keeps_tail=True,
        rule="Qwen Code reads at most 500 entries of at most 2,000 characters, in a file that is as it writes it",
        trims=True,
        said=_qwen_text,
        put=_with_qwen_text,
        refused=_qwen_refuses,
        enclosed=True,
    ),
    "plain": Format(
        _plain,
        _after_block,
        keeps_tail=True,
        rule="a blank line outside fenced code begins another block",
    ),
}
"""All formats by the name that a layout's `entries` uses."""
