"""How full a file of entries is, counted as its agent counts."""

from typing import NamedTuple

from memtui.features.entries.model import EntryFile


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
