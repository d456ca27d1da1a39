"""A parsed file of entries; bytes between entries (separators, blank lines, a byte-order mark) belong to none."""

from collections.abc import Sequence
from typing import NamedTuple

from memtui.features.entries.formats import FORMATS
from memtui.mask import shown_parts


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
