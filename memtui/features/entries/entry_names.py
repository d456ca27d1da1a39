"""Which entry is meant: a number alone would hit another one as soon as an agent adds or removes an entry above it.

So a name is a number with a check, the beginning of the entry's hash or its first words. An entry that has moved is
found again by its check; one that has changed is not, and nothing is done.
"""

from typing import NamedTuple

from memtui.errors import ConflictError, NotFoundError, UsageError
from memtui.features.actors import by
from memtui.features.entries.model import Entry, EntryFile

CHECK = 6
"""Hex digits from which on a check counts as a hash."""
_HEX = frozenset("0123456789abcdef")


class EntryGoneError(ConflictError):
    """The entry that is meant is not there any more, or not the same."""

    who = ""
    """Whoever wrote the file last, as `who_words` names them."""

    @property
    def meanwhile(self) -> str:
        """What happened, for the screen, without a full stop."""
        return f"This entry was changed meanwhile {by(self.who)}" if self.who else "This entry was changed meanwhile"


class Name(NamedTuple):
    """What an entry is called."""

    number: int
    check: str = ""
    """The beginning of its hash, or its first words; empty: whatever has that number."""

    def __str__(self) -> str:
        return f"{self.number}@{self.check}" if self.check else str(self.number)


def read_name(text: str) -> Name:
    """Read `3`, `3@5f2c91ab` or `3@first words`.

    Raises:
        UsageError: it is none of these.
    """
    number, _, check = text.partition("@")
    if not (number.isascii() and number.isdigit() and 0 < int(number[:10]) < 1_000_000_000):
        raise UsageError(
            f"{text!r} names no entry.", hint="Write its number and its check, such as 3@5f2c91ab: `list` shows them."
        )
    return Name(int(number), check.strip())


def exact(entry: Entry) -> Name:
    """The name of an entry that only the same bytes fit."""
    return Name(entry.number, entry.sha256)


def fits(entry: Entry, check: str) -> bool:
    """Whether a check is about this entry."""
    hashed = len(check) >= CHECK and _HEX.issuperset(check.lower())
    return (hashed and entry.sha256.startswith(check.lower())) or entry.title.startswith(check)


def find(file: EntryFile, name: Name) -> Entry:
    """Find an entry, also where it has moved.

    Raises:
        NotFoundError: `E_NOT_FOUND`, there are fewer entries.
        EntryGoneError: `E_CONFLICT`, another entry has this number, and the one that is meant is not there any more.
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
