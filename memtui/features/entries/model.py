"""Files of entries: parsed in linear time, entries named and found again, one changed without another byte.

Bytes between entries (separators, a byte-order mark) belong to none. The name of an entry is a number with a check, the
start of its hash or of its text: a bare number would mean another entry once an agent adds or removes one above it. An
entry that moved is found by its check; one that changed is not. A changed file is parsed again, and a text that would
split or join entries is refused; on disk it is saved by a guarded save of the whole file, computed under the root's
lock from the current bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Actor, Address, Conflict, Root, Saved, Snapshot, Unchanged
from memtui.errors import ConflictError, NotFoundError, RefusedError, UsageError
from memtui.features.actors import by, who_words
from memtui.features.entries.formats import BOM, FORMATS, Format, body_start
from memtui.mask import shown_parts

if TYPE_CHECKING:
    from memtui.engine import Engine

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
    """Find an entry, also where it moved; raises NotFoundError without one, EntryGoneError where it changed."""
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


_NOT_ONE = "The text would not be one entry"


def with_added(file: EntryFile, text: bytes) -> bytes:
    """Append an entry; raises `E_ENTRY` where it would not be one, or the agent refuses the file as it is."""
    if why := FORMATS[file.format].refused(file.data):
        raise RefusedError(f"{why}.", code="E_ENTRY", hint="Correct it as text with memtui edit.")
    text = _headed(file, fitted(file, text))
    return _checked(file, _behind_last(file, text), [*map(file.text, file.entries), text])


def with_replaced(file: EntryFile, entry: Entry, text: bytes) -> bytes:
    """Replace an entry; see `with_added`."""
    if text == file.text(entry):
        return file.data
    heading = FORMATS[file.format].heading
    text = fitted(file, text)
    if file.text(entry).startswith(heading):
        text = _headed(file, text)
    data = draft(file, entry, text)
    kept = [text if one.number == entry.number else file.text(one) for one in file.entries]
    return _checked(file, data, kept)


def without(file: EntryFile, entry: Entry) -> bytes:
    """Remove an entry with one adjacent separator."""
    entries, at = file.entries, entry.number - 1
    start, end = entry.start, entry.end
    if at + 1 < len(entries):
        end = entries[at + 1].start
    elif at == 0 or not FORMATS[file.format].keeps_tail:
        end = entry.end if FORMATS[file.format].enclosed else len(file.data)
    else:
        start = entries[at - 1].end
    kept = [file.text(one) for one in entries if one.number != entry.number]
    message = "Without this entry the others would be read otherwise"
    return _checked(file, file.data[:start] + file.data[end:], kept, message)


def draft(file: EntryFile, entry: Entry | None, text: bytes) -> bytes:
    """Return the whole file with an unfinished text as this entry, or as a new one; nothing is checked."""
    if entry is not None:
        new = FORMATS[file.format].put(file.data[entry.start : entry.end], text)
        return file.data[: entry.start] + new + file.data[entry.end :]
    return _behind_last(file, text)


def _behind_last(file: EntryFile, text: bytes) -> bytes:
    last = file.entries[-1].end if file.entries else 0
    at, before, behind = FORMATS[file.format].joint(file.data, last, file.newline)
    return file.data[:at] + before + FORMATS[file.format].put(b"", text) + behind + file.data[at:]


def fitted(file: EntryFile, text: bytes) -> bytes:
    """Trim blank lines and use the file's line ends; raises RefusedError (`E_ENTRY`) for an empty text."""
    lines = text.removeprefix(BOM).replace(b"\r\n", b"\n").split(b"\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if not filled:
        raise RefusedError(
            "An entry cannot be empty.", code="E_ENTRY", hint="To take it out, remove it: memtui entries rm."
        )
    if file.mixed:
        return text.strip(b"\r\n")
    text = b"\n".join(lines[filled[0] : filled[-1] + 1])
    if FORMATS[file.format].trims:
        text = text.decode("utf-8", "surrogateescape").strip().encode("utf-8", "surrogateescape")
    return text.replace(b"\n", file.newline)


def _headed(file: EntryFile, text: bytes) -> bytes:
    if not text.startswith(FORMATS[file.format].heading):
        raise _not_one(file, _NOT_ONE)
    return text


def _checked(file: EntryFile, data: bytes, wanted: list[bytes], message: str = _NOT_ONE) -> bytes:
    found = parse(data, file.format)
    if [found.text(entry) for entry in found.entries] != wanted:
        raise _not_one(file, message)
    return data


def _not_one(file: EntryFile, message: str) -> RefusedError:
    return RefusedError(
        f"{message}: {FORMATS[file.format].rule}.",
        code="E_ENTRY",
        hint="Write it as several entries, or edit the whole file with memtui edit.",
    )


TRIES = 5
"""Attempts when a program outside memtui writes in between."""


def format_of(root: Root, path: str) -> str | None:
    """Return the entry format of a file; None when it has none, or one memtui cannot parse."""
    found = root.policy.format_of(path)
    return found if found in FORMATS else None


def need_format(engine: Engine, address: Address) -> str:
    """Return the entry format of a memory; raises RefusedError (`E_ENTRY`) when it has none."""
    found = format_of(engine.roots.find(address.root), address.path)
    if found is None:
        raise RefusedError(
            f"{address} is one memory, not a file of entries.",
            code="E_ENTRY",
            hint="`memtui view` shows it and `memtui edit` changes it.",
        )
    return found


def read_file(engine: Engine, address: Address) -> tuple[EntryFile, Snapshot]:
    """Read and parse a memory; raises RefusedError (`E_ENTRY`) when it has no entries."""
    chosen = need_format(engine, address)
    snapshot = engine.read(address)
    return parse(snapshot.bytes, chosen), snapshot


@contextmanager
def told_by(engine: Engine, address: Address) -> Iterator[None]:
    """Add to an `EntryGoneError` who wrote the memory last."""
    try:
        yield
    except EntryGoneError as error:
        error.who = who_words(engine.rows.get(address).actor, address.root)
        raise


def add(engine: Engine, address: Address, text: bytes, *, actor: Actor) -> Saved | Unchanged | Conflict:
    """Append an entry."""
    return _change(engine, address, lambda file: with_added(file, text), actor)


def replace(engine: Engine, address: Address, name: Name, text: bytes, *, actor: Actor) -> Saved | Unchanged | Conflict:
    """Replace an entry; see `remove`."""
    return _change(engine, address, lambda file: with_replaced(file, find(file, name), text), actor)


def remove(engine: Engine, address: Address, name: Name, *, actor: Actor) -> Saved | Unchanged | Conflict:
    """Remove an entry; `Conflict` only after repeated concurrent writes; raises EntryGoneError where it changed."""
    return _change(engine, address, lambda file: without(file, find(file, name)), actor)


def _change(
    engine: Engine, address: Address, change: Callable[[EntryFile], bytes], actor: Actor
) -> Saved | Unchanged | Conflict:
    chosen = need_format(engine, address)
    with told_by(engine, address):
        for _ in range(TRIES - 1):
            result = engine.memories.edit(address, lambda data: change(parse(data, chosen)), actor=actor)
            if not isinstance(result, Conflict):
                return result
        return engine.memories.edit(address, lambda data: change(parse(data, chosen)), actor=actor)
