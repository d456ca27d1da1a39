"""Names of entries: a number with a check, which is the start of the entry's hash or of its text.

A bare number would mean another entry once an agent adds or removes one above it. An entry that moved is found by its
check; one that changed is not.
"""

from typing import NamedTuple

from memtui.errors import ConflictError, NotFoundError, UsageError
from memtui.features.actors import by
from memtui.features.entries.model import Entry, EntryFile

CHECK = 6
"""Hex digits from which on a check counts as a hash."""
_HEX = frozenset("0123456789abcdef")


class EntryGoneError(ConflictError):
    """The named entry is gone or changed."""

    who = ""
    """Who wrote the file last, as named by `who_words`."""

    @property
    def meanwhile(self) -> str:
        """What happened, for the screen."""
        return f"This entry was changed meanwhile {by(self.who)}" if self.who else "This entry was changed meanwhile"


class Name(NamedTuple):
    """The name of an entry."""

    number: int
    check: str = ""
    """Start of its hash or of its text; empty: whatever has that number."""

    def __str__(self) -> str:
        return f"{self.number}@{self.check}" if self.check else str(self.number)


def read_name(text: str) -> Name:
    """Parse `3`, `3@5f2c91ab` or `3@first words`."""
    number, _, check = text.partition("@")
    if not (number.isascii() and number.isdigit() and 0 < int(number[:10]) < 1_000_000_000):
        raise UsageError(
            f"{text!r} names no entry.", hint="Write its number and its check, such as 3@5f2c91ab: `list` shows them."
        )
    return Name(int(number), check.strip())


def exact(entry: Entry) -> Name:
    """Return a name that fits only the same bytes."""
    return Name(entry.number, entry.sha256)


def fits(entry: Entry, check: str) -> bool:
    """Return whether a check fits an entry."""
    hashed = len(check) >= CHECK and _HEX.issuperset(check.lower())
    return (hashed and entry.sha256.startswith(check.lower())) or entry.title.startswith(check)


def find(file: EntryFile, name: Name) -> Entry:
    """Find an entry, also where it has moved.

    Raises:
        NotFoundError: `E_NOT_FOUND`, there are fewer entries.
        EntryGoneError: `E_CONFLICT`, the named entry is gone or changed.
    """
    entries = file.entries
    there = entries[name.number - 1] if name.number <= len(entries) else None
    if there is not None and fits(there, name.check):
        return there
    if not name.check:
        raise NotFoundError(
            f"There is no entry {name.number}: there {'is' if len(entries) == 1 else 'are'} {len(entries):,}.",
            hint="`memtui entries list ADDRESS` shows them.",
        )
    fitting = [entry for entry in entries if fits(entry, name.check)]
    if len({entry.sha256 for entry in fitting}) == 1:
        return min(fitting, key=lambda entry: abs(entry.number - name.number))
    why = "no entry fits it any more" if not fitting else f"{len(fitting)} others fit it"
    raise EntryGoneError(
        f"Entry {name.number} is not the one that is meant ({name.check[:12]}), and {why}.",
        hint="Somebody else changed the file: look again with `memtui entries list ADDRESS`.",
        details={"number": name.number, "is": None if there is None else there.name},
    )
