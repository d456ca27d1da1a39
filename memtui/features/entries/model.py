"""Files of entries, parsed in linear time; bytes between entries (separators, a byte-order mark) belong to none."""

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from memtui.features.entries.formats import BOM, FORMATS, Format, body_start
from memtui.mask import shown_parts

TITLE = 200
"""Characters of an entry's title."""
_SCANNED = 4_096
"""Bytes of an entry that are searched for its title."""


class Entry(NamedTuple):
    """One entry; offsets are bytes."""

    number: int
    """From 1."""
    start: int
    end: int
    line: int
    """From 1."""
    title: str
    """Its first words on one line, secrets masked, not made safe for drawing."""
    sha256: str
    tags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its number and the start of its hash, as commands take it."""
        return f"{self.number}@{self.sha256[:8]}"

    @property
    def size(self) -> int:
        """Bytes."""
        return self.end - self.start


def shown_entries(data: bytes, spans: Sequence[tuple[int, int]], kind: str) -> Sequence[bytes]:
    """Return the texts of entries with secrets masked, in the context of the whole file."""
    said = FORMATS[kind].said
    if said is bytes:
        return shown_parts(data, spans)
    texts = [said(data[start:end]) for start, end in spans]
    return [shown_parts(text, ((0, len(text)),))[0] for text in texts]


class EntryFile(NamedTuple):
    """A file and its entries."""

    format: str
    """A key of `formats.FORMATS`."""
    data: bytes
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    """Surprises in how the agent reads this file, one sentence each."""

    def text(self, entry: Entry) -> bytes:
        """Return the text of an entry."""
        text = self.data[entry.start : entry.end]
        return FORMATS[self.format].said(text) if self.format in FORMATS else text

    def shown(self, entry: Entry) -> bytes:
        """Return the text of an entry with secrets masked, also one that begins in an earlier entry."""
        return shown_entries(self.data, ((entry.start, entry.end),), self.format)[0]

    @property
    def pieces(self) -> tuple[tuple[int, int, int], ...]:
        """Return the whole file as start, end and entry number; 0 is what belongs to none."""
        found = []
        at = 0
        for entry in self.entries:
            if at < entry.start:
                found.append((at, entry.start, 0))
            found.append((entry.start, entry.end, entry.number))
            at = entry.end
        if at < len(self.data):
            found.append((at, len(self.data), 0))
        return tuple(found)

    @property
    def newline(self) -> bytes:
        """The file's line end; a line feed for none or mixed ones."""
        pairs = self.data.count(b"\r\n")
        return b"\r\n" if pairs and pairs == self.data.count(b"\n") else b"\n"

    @property
    def mixed(self) -> bool:
        """Whether the file has several kinds of line ends."""
        return self.newline == b"\n" and b"\r\n" in self.data


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


class Fullness(NamedTuple):
    """Number of entries and characters against the agent's limit."""

    entries: int
    characters: int
    limit: int | None = None
    """In characters; None where there is none."""

    @property
    def over(self) -> int:
        """Characters over the limit."""
        return max(self.characters - self.limit, 0) if self.limit is not None else 0

    @property
    def counted(self) -> str:
        """Number of entries, in words."""
        return f"{self.entries:,} {'entry' if self.entries == 1 else 'entries'}"

    @property
    def percent(self) -> str:
        """Share of the limit; empty without one."""
        return f"{self.characters * 100 // self.limit} %" if self.limit else ""

    @property
    def words(self) -> str:
        """Long form: `12 entries, 2,040 of 2,200 characters (93 %)`."""
        if not self.limit:
            return self.counted
        return f"{self.counted}, {self.characters:,} of {self.limit:,} characters ({self.percent})"

    @property
    def brief(self) -> str:
        """Short form: `12 entries, 93 %`."""
        return f"{self.counted}, {self.percent}" if self.limit else self.counted

    @property
    def short(self) -> str:
        """Form for titles: `12 | 2,040/2,200 chars`."""
        return f"{self.entries:,}" + (f" | {self.characters:,}/{self.limit:,} chars" if self.limit else "")


def usage(file: EntryFile, limit: int | None = None) -> Fullness:
    """Count entries and characters; `limit` is the agent's, in characters."""
    if file.format != "hermes":
        return Fullness(len(file.entries), len(file.data.decode(errors="replace")), limit)
    # Hermes counts each text once, with the separators it would write between them, at line feeds only.
    texts = {file.text(entry).replace(b"\r\n", b"\n") for entry in file.entries}
    characters = sum(len(text.decode(errors="replace")) for text in texts)
    return Fullness(len(file.entries), characters + 3 * max(len(texts) - 1, 0), limit)
