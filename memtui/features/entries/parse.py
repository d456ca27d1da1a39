"""Parser for files of entries, linear in time."""

from hashlib import sha256

from memtui.features.entries.formats import BOM, FORMATS, Format, body_start
from memtui.features.entries.model import Entry, EntryFile, shown_entries

TITLE = 200
"""Characters of an entry's title."""
_SCANNED = 4_096
"""Bytes of an entry that are searched for its title."""


def parse(data: bytes, kind: str) -> EntryFile:
    """Parse a file in a format of `FORMATS`; any bytes are valid."""
    chosen = FORMATS[kind]
    found = []
    line, counted = 1, 0
    before = body_start(data)
    spans = list(chosen.spans(data))
    for number, ((start, end), shown) in enumerate(zip(spans, shown_entries(data, spans, kind), strict=True), start=1):
        line += data.count(b"\n", counted, start)
        counted = start
        tags = _tags(data, before, start, end) if chosen.tagged else ()
        title = _title(shown[:_SCANNED], chosen, tagged=bool(tags))
        found.append(Entry(number, start, end, line, title, sha256(data[start:end]).hexdigest(), tags))
        before = end
    return EntryFile(kind, data, tuple(found), _notes(data, kind))


def _tags(data: bytes, before: int, start: int, end: int) -> tuple[str, ...]:
    """Read tags as Goose does: not after an odd number of line ends."""
    if data[start : start + 1] != b"#" or data.count(b"\n", before, start) % 2:
        return ()
    first = data[start:end].split(b"\n", 1)[0]
    return tuple(first[1:].decode(errors="replace").split())


def _title(text: bytes, chosen: Format, *, tagged: bool) -> str:
    lines = [line for line in text.decode(errors="replace").splitlines() if line.strip()]
    if tagged and len(lines) > 1:
        del lines[0]
    first = " ".join(lines[0].split()) if lines else ""
    if chosen.heading and first.startswith("# "):
        first = first[2:].removeprefix("Task Group:").strip() or first
    return first[:TITLE]


def _notes(data: bytes, kind: str) -> tuple[str, ...]:
    if kind == "goose" and b"\r\n\r\n" in data:
        return ("Goose divides at LF line ends only: it takes these entries, which end with CRLF, for one.",)
    if why := FORMATS[kind].refused(data):
        return (f"{why}. Correct it as text.",)
    if kind == "goose" and data.startswith(BOM + b"#"):
        return ("Goose does not see the tags of the first entry, because of the byte-order mark before it.",)
    return ()
