"""How full a file of entries is, counted as the agent counts, so that memtui and the agent name the same figure."""

from typing import NamedTuple

from memtui.features.entries.model import EntryFile


class Usage(NamedTuple):
    """How much of an agent's limit is used."""

    entries: int
    characters: int
    limit: int | None = None
    """The agent's limit in characters; None where it has none."""

    @property
    def over(self) -> int:
        """Characters over the limit; 0 when there are none."""
        return max(self.characters - self.limit, 0) if self.limit is not None else 0

    @property
    def counted(self) -> str:
        """How many entries, in words."""
        return f"{self.entries:,} {'entry' if self.entries == 1 else 'entries'}"

    @property
    def percent(self) -> str:
        """How much of the limit is used; nothing where there is none."""
        return f"{self.characters * 100 // self.limit} %" if self.limit else ""

    @property
    def words(self) -> str:
        """Say it in a few words: `12 entries, 2,040 of 2,200 characters (93 %)`."""
        if not self.limit:
            return self.counted
        return f"{self.counted}, {self.characters:,} of {self.limit:,} characters ({self.percent})"

    @property
    def brief(self) -> str:
        """Say it in as few words as possible: `12 entries, 93 %`."""
        return f"{self.counted}, {self.percent}" if self.limit else self.counted

    @property
    def short(self) -> str:
        """Say it where there is little room and it is clear what is counted: `12 | 2,040/2,200 chars`."""
        return f"{self.entries:,}" + (f" | {self.characters:,}/{self.limit:,} chars" if self.limit else "")


def usage(file: EntryFile, limit: int | None = None) -> Usage:
    """Count entries and characters.

    Args:
        file: the file.
        limit: the agent's limit in characters.
    """
    if file.format != "hermes":
        return Usage(len(file.entries), len(file.data.decode(errors="replace")), limit)
    # Hermes counts each text once, with the separators it would write between them, at line feeds only.
    texts = {file.text(entry).replace(b"\r\n", b"\n") for entry in file.entries}
    characters = sum(len(text.decode(errors="replace")) for text in texts)
    return Usage(len(file.entries), characters + 3 * max(len(texts) - 1, 0), limit)
