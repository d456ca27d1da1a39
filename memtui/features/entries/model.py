"""A file of entries, taken apart: where each entry stands, byte for byte, and what it is called.

Everything between entries (separators, blank lines, a byte-order mark) is whatever no entry covers, so that nothing of
the file can get lost on the way.
"""

from collections.abc import Sequence
from typing import NamedTuple

from memtui.features.entries.formats import FORMATS
from memtui.mask import shown_parts


class Entry(NamedTuple):
    """One entry."""

    number: int
    """From 1, in the order of the file."""
    start: int
    """Offset of its first byte."""
    end: int
    """Offset after its last byte."""
    line: int
    """The line it begins in, from 1."""
    title: str
    """Its first words, on one line, secrets masked; whoever draws it makes it safe."""
    sha256: str
    """Of its bytes."""
    tags: tuple[str, ...] = ()
    """What the agent takes for its tags."""

    @property
    def name(self) -> str:
        """What a command calls it: its number, and enough of its hash to notice that another one stands there now."""
        return f"{self.number}@{self.sha256[:8]}"

    @property
    def size(self) -> int:
        """Bytes."""
        return self.end - self.start


def shown_entries(data: bytes, spans: Sequence[tuple[int, int]], kind: str) -> Sequence[bytes]:
    """What entries say with their secrets masked, by where they stand."""
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
    """What the agent makes of this file that a person would not expect, one sentence each."""

    def text(self, entry: Entry) -> bytes:
        """What an entry says: its bytes, where the format has no other way to write a text."""
        text = self.data[entry.start : entry.end]
        return FORMATS[self.format].said(text) if self.format in FORMATS else text

    def shown(self, entry: Entry) -> bytes:
        """What an entry says with its secrets masked: one may begin in an entry before it."""
        return shown_entries(self.data, ((entry.start, entry.end),), self.format)[0]

    @property
    def pieces(self) -> tuple[tuple[int, int, int], ...]:
        """The whole file without a gap: start, end and number of each entry; number 0 is what belongs to none."""
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
        """The line end of the file; a line feed where it has none, or several kinds."""
        pairs = self.data.count(b"\r\n")
        return b"\r\n" if pairs and pairs == self.data.count(b"\n") else b"\n"

    @property
    def mixed(self) -> bool:
        """Whether the file has several kinds of line ends."""
        return self.newline == b"\n" and b"\r\n" in self.data
