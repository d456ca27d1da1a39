"""Qwen Code's file of one chat, `CHANNEL.json`, whose list elements are entries.

Parsed as Qwen Code 0.24.4 does (`channel-memory-document.ts`): a file it refuses has no entries, so that nothing is
written into it.
"""

import json
import re
from secrets import token_hex

_MOST, _LONGEST, _BYTES = 500, 2_000, 1 << 20
_ID, _LEGACY = re.compile(r"m-[a-f0-9]{12}"), re.compile(r"[a-f0-9]{64}")
_SPACE = re.compile(r"[ \t\r\n]*")
_TOP, _KEYS = {"version", "migration", "entries"}, {"id", "text", "createdAt", "updatedAt", "createdBy"}
_NO_LEGACY = {"legacySha256": "0" * 64}


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at]))
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")


_DECODE = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number).raw_decode


def _after(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def _members(text: str, at: int) -> dict[object, tuple[int, int]]:
    """Return the spans of the values of a valid object or list, by key or number."""
    named, found = text[at] == "{", dict[object, tuple[int, int]]()
    at = _after(text, at + 1)
    while text[at] not in "}]":
        key: object = len(found)
        if named:
            key, at = _DECODE(text, at)
            at = _after(text, _after(text, at) + 1)
        _, end = _DECODE(text, at)
        found[key] = at, end
        at = _after(text, end)
        at = _after(text, at + 1) if text[at] == "," else at
    return found


def _is_entry(one: object) -> bool:
    return (
        isinstance(one, dict)
        and {"id", "text"} <= one.keys() <= _KEYS
        and all(isinstance(value, str) for value in one.values())
        and _ID.fullmatch(one["id"]) is not None
    )


def _wrong_outside(document: object) -> str:
    """Return why Qwen Code refuses a document apart from its entries; empty if it does not."""
    if not isinstance(document, dict) or not {"version", "entries"} <= document.keys() <= _TOP:
        return "it is no object of version, entries and migration alone"
    version, entries, old = document["version"], document["entries"], document.get("migration", _NO_LEGACY)
    if version != 1 or isinstance(version, bool):
        return "its version is not 1"
    if not isinstance(old, dict) or old.keys() != _NO_LEGACY.keys() or not _LEGACY.fullmatch(str(old["legacySha256"])):
        return "its migration is no object of a legacySha256 alone"
    if not isinstance(entries, list):
        return "its entries are no list"
    return f"it has {len(entries):,} entries, and may have {_MOST}" if len(entries) > _MOST else ""


def _wrong_entry(one: object, before: set[str]) -> str:
    """Return why Qwen Code refuses an entry; `before` are the ids of earlier ones."""
    if not isinstance(one, dict) or not _is_entry(one):
        return "is no object of an id, such as m-0123456789ab, a text and who and when"
    if one["id"] in before:
        return f"has the id {one['id']} of one before it"
    before.add(one["id"])
    if len(one["text"]) > _LONGEST:
        return f"has {len(one['text']):,} characters, and may have {_LONGEST:,}"
    return "" if one["text"].strip() else "has no text"


def _read(text: str) -> tuple[int, list[tuple[int, int]]]:
    """Return the start of the list and the spans of its entries, in characters."""
    start = _after(text, 1 if text.startswith("\ufeff") else 0)
    document, end = _DECODE(text, start)
    if _after(text, end) < len(text):
        raise json.JSONDecodeError("Something stands behind it", text, _after(text, end))
    if wrong := _wrong_outside(document):
        raise ValueError(wrong)
    at, _ = _members(text, start)["entries"]
    spans, ids = list(_members(text, at).values()), set[str]()
    for number, (one, (begin, _)) in enumerate(zip(document["entries"], spans, strict=True), start=1):
        if wrong := _wrong_entry(one, ids):
            raise ValueError(f"entry {number}, in line {text.count(chr(10), 0, begin) + 1}, {wrong}")
    return at, spans


def _elements(data: bytes) -> tuple[int, list[tuple[int, int]]]:
    """Return the start of the list and the spans of its entries, in bytes; raises ValueError for a refused file."""
    if len(data) > _BYTES:
        raise ValueError(f"it has {len(data):,} bytes, and may have {_BYTES:,}")
    text = data.decode()
    try:
        at, found = _read(text)
    except RecursionError:
        raise ValueError("it is too deep") from None
    places, byte, past = list[int](), 0, 0
    for place in (at, *(one for span in found for one in span)):
        byte, past = byte + len(text[past:place].encode()), place
        places.append(byte)
    return places[0], list(zip(places[1::2], places[2::2], strict=True))


def cut(data: bytes) -> list[tuple[int, int]]:
    """Return the spans of the entries; none in a refused file."""
    return [] if refused(data) else _elements(data)[1]


def refused(data: bytes) -> str:
    """Return why Qwen Code refuses the file, and where; empty if it does not."""
    try:
        _elements(data)
    except ValueError as error:
        return f"Qwen Code refuses this CHANNEL.json, so the chat has no memory: {error}"
    return ""


def joint(data: bytes, last: int, newline: bytes) -> tuple[int, bytes, bytes]:
    """Return where a new entry goes and what to put around it."""
    if last:
        return last, b"," + newline + b"    ", b""
    return len(data) if refused(data) else _elements(data)[0] + 1, newline + b"    ", newline + b"  "


def said(element: bytes) -> bytes:
    """Return the text of an entry."""
    value, _ = _DECODE(element.decode(), 0)
    return str(value["text"]).encode("utf-8", "surrogatepass")


def put(element: bytes, text: bytes) -> bytes:
    """Replace the text of an entry, or make a new entry."""
    words = text.decode("utf-8", "replace")
    packed = json.dumps(words, ensure_ascii=False)
    if not element:
        return f'{{\n      "id": "m-{token_hex(6)}",\n      "text": {packed}\n    }}'.encode()
    whole = element.decode()
    start, end = _members(whole, 0)["text"]
    return f"{whole[:start]}{packed}{whole[end:]}".encode()
