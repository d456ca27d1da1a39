"""Qwen Code's file of one chat, `CHANNEL.json`: an entry is an element of its list, of which people see the text.

Read as its program reads it (0.24.4, `channel-memory-document.ts`): what it would refuse has no entries here, so that
nothing is written into a file that the chat has lost already. It is apart so that JSON is looked into in one place.
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
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def _no_number(name: str) -> object:
    raise ValueError(name)


_DECODE = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number).raw_decode


def _after(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def _members(text: str, at: int) -> dict[object, tuple[int, int]]:
    """The values of an object or a list that begins here and is sound, as places by key or number."""
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
        and len(one["text"].strip()) > 0
        and len(one["text"]) <= _LONGEST
    )


def _is_sound(document: object) -> bool:
    """Whether its program takes a document."""
    if not isinstance(document, dict) or not {"version", "entries"} <= document.keys() <= _TOP:
        return False
    version, entries, old = document["version"], document["entries"], document.get("migration", _NO_LEGACY)
    return (
        version == 1
        and not isinstance(version, bool)
        and isinstance(old, dict)
        and old.keys() == _NO_LEGACY.keys()
        and _LEGACY.fullmatch(str(old["legacySha256"])) is not None
        and isinstance(entries, list)
        and len(entries) <= _MOST
        and all(map(_is_entry, entries))
        and len({one["id"] for one in entries}) == len(entries)
    )


def _elements(data: bytes) -> tuple[int, list[tuple[int, int]]] | None:
    """Where the list of entries begins and where each of them stands, in bytes; None: its program refuses the file."""
    try:
        text = data.decode()
        start = _after(text, 1 if text.startswith("\ufeff") else 0)
        document, end = _DECODE(text, start)
        if len(data) > _BYTES or _after(text, end) < len(text) or not _is_sound(document):
            return None
        at, _ = _members(text, start)["entries"]
        found, places, byte, past = list(_members(text, at).values()), [], 0, 0
    except (ValueError, RecursionError):
        return None
    for place in (at, *(one for span in found for one in span)):
        byte, past = byte + len(text[past:place].encode()), place
        places.append(byte)
    return places[0], list(zip(places[1::2], places[2::2], strict=True))


def cut(data: bytes) -> list[tuple[int, int]]:
    """Where each entry stands; none in a file that its program refuses."""
    found = _elements(data)
    return found[1] if found is not None else []


def is_read(data: bytes) -> bool:
    """Whether its program reads the file."""
    return _elements(data) is not None


def joint(data: bytes, last: int, newline: bytes) -> tuple[int, bytes, bytes]:
    """Where one more entry goes, and what stands before and behind it, as its program would lay it out."""
    if last:
        return last, b"," + newline + b"    ", b""
    found = _elements(data)
    return (found[0] + 1 if found is not None else len(data)), newline + b"    ", newline + b"  "


def said(element: bytes) -> bytes:
    """The text of an entry."""
    value, _ = _DECODE(element.decode(), 0)
    return str(value["text"]).encode("utf-8", "surrogatepass")


def put(element: bytes, text: bytes) -> bytes:
    """Put a text into an entry and leave its other bytes; without an entry, make one."""
    words = text.decode("utf-8", "replace")
    packed = json.dumps(words, ensure_ascii=False)
    if not element:
        return f'{{\n      "id": "m-{token_hex(6)}",\n      "text": {packed}\n    }}'.encode()
    whole = element.decode()
    start, end = _members(whole, 0)["text"]
    return f"{whole[:start]}{packed}{whole[end:]}".encode()
