"""What can be forgotten: entries where a file holds several, else the whole memory; found by words or by name.

A list of bullets is taken for entries as Claude Code and Qwen Code write them (`packages/core/src/memory/entries.ts` of
the latter), but only where nothing else stands in the file: else it is one entry, and no line loses what belongs to it.
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
from memtui.features.entries import guarded
from memtui.features.entries.entry_names import find, read_name
from memtui.features.entries.model import Entry, EntryFile
from memtui.features.entries.parse import TITLE, parse
from memtui.given.reach import texts, withheld
from memtui.mask import shown, shown_parts
from memtui.matching import holds_all
from memtui.pointers.carry import is_index
from memtui.pointers.lines import is_text

if TYPE_CHECKING:
    from memtui.engine import Engine

BULLETS = "bullets"
"""The format of a file that is nothing but headings and a list."""
_ITEM, _HEADING = re.compile(rb"[-*] "), re.compile(rb"#{1,6} ")
_REASON = re.compile(rb"(?:\*\*)?(?:why|how[ _]to[ _]apply)(?:\*\*)?:", re.IGNORECASE)
_EMPTY = b"_No entries yet._"
_ID = re.compile(r"(.+)#([0-9]{1,9}@[0-9a-f]{6,64})")


class Candidate(NamedTuple):
    """An entry, or a whole memory."""

    address: Address
    entry: Entry | None
    """None: the whole memory."""
    line: int
    """Where it begins, from 1."""
    text: str
    sha256: str
    """The version of the memory it was found in."""
    said: str
    """What of the text may be known: all of it to a person."""
    stays: str = ""
    """Why it is left alone, as a clause; empty where it can go."""

    @property
    def id(self) -> str:
        """What names it: the address, and for an entry its name behind `#`."""
        return f"{self.address}#{self.entry.name}" if self.entry else str(self.address)

    @property
    def title(self) -> str:
        """Its first words, on one line, secrets masked."""
        if self.entry is not None and self.said == self.text:
            return self.entry.title
        data = shown(self.said).encode("utf-8", "replace")
        about = frontmatter.describe(data)
        lines = data[frontmatter.split(data).body :].decode().splitlines()
        first = (line.strip() if self.entry is None else line.strip().lstrip("-*+# ") for line in lines)
        return about.description or about.name or next(filter(None, first), "")[:TITLE]


def entries_of(root: Root, path: str, data: bytes) -> EntryFile | None:
    """Take a memory apart; None where it is one entry by itself."""
    kind = guarded.format_of(root, path)
    if kind is not None:
        return parse(data, kind)
    entries = bullets(data)
    return EntryFile(BULLETS, data, entries) if len(entries) > 1 else None


def bullets(data: bytes) -> tuple[Entry, ...]:
    """Find the items of a list, each with what is indented below it and its reasons; none where more stands there."""
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
    """Find what says all words of a query, taken literally; where something says the query itself, only that.

    Only a `person` learns of what is withheld from agents, or marked as private.

    Raises:
        UsageError: `E_QUERY`, there is nothing to look for.
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
    """Find what is meant by ids, each once.

    Raises:
        NotFoundError: there is no such memory, or entry; or it is withheld from agents, and this is no `person`.
        EntryGoneError: another entry stands there now.
        MemtuiError: a memory cannot be read.
    """
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
    """The lines of a file without what its writer marked; None where whoever asks may know all of it."""
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
    """A pattern for words as they are; one in ASCII letters is no part of a longer one."""
    before = r"(?<!\w)" if words[:1].isascii() and words[:1].isalnum() else ""
    behind = r"(?!\w)" if words[-1:].isascii() and words[-1:].isalnum() else ""
    return re.compile(f"{before}{re.escape(words)}{behind}")
