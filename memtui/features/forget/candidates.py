"""What can be forgotten: entries of files that hold several, else whole memories; found by words or by id.

Bullet lists count as entries only in files with nothing else, so that no line loses what belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from memtui.engine.disk import paths
from memtui.engine.find.rank import given_text
from memtui.engine.frontmatter import read as frontmatter
from memtui.engine.model import Address, Memory, Root
from memtui.errors import NotFoundError, UsageError
from memtui.features.entries import model
from memtui.features.entries.model import TITLE, Entry, EntryFile, find, parse, read_name
from memtui.given.reach import texts, withheld
from memtui.mask import shown, shown_parts
from memtui.matching import holds_all
from memtui.pointers.lines import is_text
from memtui.pointers.references import is_index

if TYPE_CHECKING:
    from memtui.engine import Engine

BULLETS = "bullets"
"""Format of a file with only headings and a list."""
_ITEM, _HEADING = re.compile(rb"[-*] "), re.compile(rb"#{1,6} ")
_REASON = re.compile(rb"(?:\*\*)?(?:why|how[ _]to[ _]apply)(?:\*\*)?:", re.IGNORECASE)
_EMPTY = b"_No entries yet._"
_ID = re.compile(r"(.+)#([0-9]{1,9}@[0-9a-f]{6,64})")


class Candidate(NamedTuple):
    """An entry or whole memory that may be forgotten."""

    address: Address
    entry: Entry | None
    line: int
    text: str
    sha256: str
    said: str
    """The text that the caller may know; a person may know all."""
    stays: str = ""

    @property
    def id(self) -> str:
        """The address, with `#` and the entry's name for an entry."""
        return f"{self.address}#{self.entry.name}" if self.entry else str(self.address)

    @property
    def title(self) -> str:
        """First words on one line, with secrets masked."""
        if self.entry is not None and self.said == self.text:
            return self.entry.title
        data = shown(self.said).encode("utf-8", "replace")
        about = frontmatter.describe(data)
        lines = data[frontmatter.split(data).body :].decode().splitlines()
        first = (line.strip() if self.entry is None else line.strip().lstrip("-*+# ") for line in lines)
        return about.description or about.name or next(filter(None, first), "")[:TITLE]


def entries_of(root: Root, path: str, data: bytes) -> EntryFile | None:
    """Split a memory into entries; None when it is a single one."""
    kind = model.format_of(root, path)
    if kind is not None:
        return parse(data, kind)
    entries = bullets(data)
    return EntryFile(BULLETS, data, entries) if len(entries) > 1 else None


def bullets(data: bytes) -> tuple[Entry, ...]:
    """Return the items of a list with their indented lines and reasons; empty when the file holds more."""
    spans: list[tuple[int, int]] = []
    at, open_ = frontmatter.split(data).body, False
    for raw in data[at:].splitlines(keepends=True):
        line = raw.rstrip()
        end = at + len(raw.rstrip(b"\r\n"))
        if _ITEM.match(line):
            spans.append((at, end))
            open_ = True
        elif open_ and line and (raw.startswith((b"  ", b"\t")) or _REASON.match(line)):
            spans[-1] = (spans[-1][0], end)
        elif _HEADING.match(line) or line == _EMPTY:
            open_ = False
        elif line:
            return ()
        at += len(raw)
    return tuple(
        Entry(
            number,
            start,
            end,
            data.count(b"\n", 0, start) + 1,
            part.decode("utf-8", "replace").splitlines()[0][2:].strip()[:TITLE],
            sha256(data[start:end]).hexdigest(),
        )
        for number, ((start, end), part) in enumerate(zip(spans, shown_parts(data, spans), strict=True), start=1)
    )


def search(
    engine: Engine, roots: Sequence[Root], query: str, *, person: bool = False, cancelled: Callable[[], bool] = bool
) -> tuple[Candidate, ...]:
    """Find what contains all words of a query literally, or only what contains the query itself.

    Only a `person` finds withheld or private text. Raises `E_QUERY` for an empty query.
    """
    plain = sorted(_plain(query).split(), key=len, reverse=True)
    words = [_pattern(word) for word in plain]
    if not words:
        raise UsageError("Nothing says what to forget.", code="E_QUERY", hint="Give words that it says, or --id.")
    whole = _pattern(_plain(query))
    found = []
    hidden = withheld(engine, person=person)
    for root, row, data in texts(engine, roots, cancelled=cancelled):
        told = not is_index(root, row.address.path) and not hidden(row.address, row.sha256)
        here = told and holds_all(data, plain)
        for one in _candidates(root, row, data, person=person) if here else ():
            text = _plain(one.said)
            if all(word.search(text) for word in words):
                found.append((one, text))
    exact = [one for one, text in found if whole.search(text)]
    return tuple(exact or (one for one, _ in found))


def named(engine: Engine, ids: Iterable[str], *, person: bool = False) -> tuple[Candidate, ...]:
    """Find candidates by id, each once; raises NotFoundError or EntryGoneError."""
    found: dict[str, Candidate] = {}
    hidden = withheld(engine, person=person)
    for text in ids:
        match = _ID.fullmatch(text)
        address = engine.roots.resolve(match[1] if match else text)
        root = engine.roots.find(address.root)
        row = engine.rows.get(address)
        if hidden(address, row.sha256):
            raise NotFoundError(f"There is no memory {address}.", hint="`memtui ls` lists what there is.")
        data = engine.read(address).bytes
        file = entries_of(root, address.path, data) if match else None
        if match and file is None:
            raise NotFoundError(f"{address} is one entry by itself.", hint=f"Name it by its address: --id {address}")
        entry = find(file, read_name(match[2])) if match and file else None
        one = _candidate(root, row, data, entry, _given(data, person=person))
        found.setdefault(one.id, one)
    return tuple(found.values())


def _given(data: bytes, *, person: bool) -> list[str] | None:
    """Return the lines of a file without private text; None when the caller may know all."""
    text = data.decode("utf-8", "replace")
    given = text if person else given_text(text)
    return None if given is text else given.split("\n")


def _candidates(root: Root, row: Memory, data: bytes, *, person: bool) -> Iterator[Candidate]:
    given = _given(data, person=person)
    file = entries_of(root, row.address.path, data)
    if file is not None:
        yield from (_candidate(root, row, data, entry, given) for entry in file.entries)
    elif root.kind == "memories":  # files of instructions are people's own: they lose lines, and never go by a word
        yield _candidate(root, row, data, None, given)


def _candidate(root: Root, row: Memory, data: bytes, entry: Entry | None, given: list[str] | None) -> Candidate:
    text = (data[entry.start : entry.end] if entry else data).decode("utf-8", "replace")
    line = entry.line if entry else 1
    said = text if given is None else "\n".join(given[line - 1 : line + text.count("\n")])
    stays = ""
    if row.pinned:
        stays = "it is pinned"
    elif root.policy.is_index(row.address.path) or is_index(root, row.address.path):
        stays = "it is an index, whose lines go with the memories they name"
    elif paths.matches(row.address.path, root.policy.protected):
        stays = "its agent's layout protects it"
    elif not is_text(data):
        stays = "it is not UTF-8 text"
    elif root.read_only:
        stays = f"{root.id} is read-only"
    return Candidate(row.address, entry, line, text, sha256(data).hexdigest(), said, stays)


def _plain(text: str) -> str:
    return " ".join(normalize("NFKC", text).casefold().split())


def _pattern(words: str) -> re.Pattern[str]:
    """Return a literal pattern that matches ASCII words only whole."""
    before = r"(?<!\w)" if words[:1].isascii() and words[:1].isalnum() else ""
    behind = r"(?!\w)" if words[-1:].isascii() and words[-1:].isalnum() else ""
    return re.compile(f"{before}{re.escape(words)}{behind}")
