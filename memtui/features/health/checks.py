"""Checks of one index against its agent's limits and the memories around it; reads no files.

An index that is too long is split: its rest moves unchanged to an overflow file, which a new line names. If it is
enough, only redundant blank lines are removed.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

from memtui.engine.model import Address, Policy
from memtui.features.health.model import (
    BELOW,
    CUT,
    DANGLING,
    DUPLICATE,
    KINDS,
    LONG,
    OUTSIDE,
    UNNAMED,
    Edit,
    Fix,
    IndexFinding,
    IndexReport,
    Piece,
    apply_edits,
    as_text,
)
from memtui.pointers.lines import (
    Span,
    Style,
    borders,
    goes_on,
    is_entry,
    measure,
    place_of,
    rest_name,
    shorten,
    spans,
    style_of,
    surplus,
    text_of,
    write_entry,
)
from memtui.pointers.links import Pointer, is_writable, parse_index, prose, written
from memtui.wire.output import count

HOOK = "more of this index: open it when no line above fits"
NO_PLACE = "It cannot be split here: a paragraph or a block of code runs across the line."
MISREAD = "In a file of its own the rest would not be read as it is here: a comment or a block of code has no end."
NO_ROOM = "What the agent loads has no room for a line that names a second file."


def split(
    data: bytes,
    path: str,
    policy: Policy,
    known: Iterable[str],
    rests: Mapping[str, bytes],
    spare: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Fix | None, str]:
    """Return a fix after which all of an index is loaded, or None and the reason.

    `known` are existing paths below the root, `rests` the contents of the overflow files it names, `spare` versions of
    others; one of those that already holds the rest is used.
    """
    lines, cut = spans(data), measure(data, policy).cut
    blank = tuple(Edit(*lines[number]) for number in surplus(data, lines))
    if blank and measure(apply_edits(data, blank), policy).cut is None:
        return Fix("take out blank lines below blank lines", blank), ""
    places = borders(data, lines)[1:]  # what comes first stays
    heads = [number for number in places if cut is not None and number <= cut]
    starts = [lines[number].start for number in places]
    taken = frozenset(map(str.casefold, known))
    why = NO_PLACE
    for at in range(len(heads) - 1, -1, -1):
        above = parse_index(data[: starts[at]], path)
        pieces = _appended(data, starts[at], policy, above, rests) or _files(data, starts[at:], path, policy, taken)
        pieces = tuple(_there(data, piece, spare) for piece in pieces)
        if not pieces:
            break
        why = NO_ROOM
        line = _file_lines(data, lines[: heads[at]], path, policy, above, pieces)
        edit = Edit(starts[at], len(data), line)
        after = apply_edits(data, (edit,))
        if measure(after, policy).cut is None:
            if not _reads_the_same(data, after, pieces, rests):
                return None, MISREAD
            return Fix(f"move the rest to {_words(pieces)}", (edit,), pieces=pieces), ""
    return None, why


def filled(data: bytes, piece: Piece, held: bytes) -> bytes:
    """Return the contents of a file after a part of an index is appended, unless it already ends with that part.

    It does after a crash between the two writes.
    """
    part = data[piece.start : piece.end]
    head = held.removesuffix(part)
    if part and head != held and (not head or head.endswith(b"\n")):
        return held
    lead = b"" if not held or held.endswith(b"\n") else b"\r\n" if b"\r\n" in held else b"\n"
    return held + lead + part


def _appended(
    data: bytes, start: int, policy: Policy, above: Sequence[Pointer], rests: Mapping[str, bytes]
) -> tuple[Piece, ...]:
    for name in dict.fromkeys(pointer.path for pointer in reversed(above)):
        if name is not None and name in rests:
            piece = Piece(name, start, len(data), sha256(rests[name]).hexdigest())
            if len(filled(data, piece, rests[name])) <= policy.write_bytes:
                return (piece,)
    return ()


def _files(data: bytes, starts: Sequence[int], path: str, policy: Policy, taken: Container[str]) -> tuple[Piece, ...]:
    """Move the rest to new files of writable size; nothing when it cannot be divided so."""
    names = _free(path, taken)
    found = []
    begin = last = starts[0]
    for end in (*starts[1:], len(data)):
        if end - begin > policy.write_bytes:
            found.append(Piece(next(names), begin, last))
            begin = last
        last = end
    found.append(Piece(next(names), begin, len(data)))
    sizes = [piece.end - piece.start for piece in found]
    return tuple(found) if min(sizes) > 0 and max(sizes) <= policy.write_bytes else ()


def _there(data: bytes, piece: Piece, spare: Mapping[str, str]) -> Piece:
    """Use an existing file with the same content instead of a new one."""
    sha = sha256(data[piece.start : piece.end]).hexdigest() if piece.sha256 is None and spare else None
    found = next((name for name in sorted(spare) if spare[name] == sha), None)
    return piece if found is None else piece._replace(path=found, sha256=sha)


def _free(path: str, taken: Container[str]) -> Iterator[str]:
    return (name for number in itertools.count(1) if (name := rest_name(path, number)).casefold() not in taken)


def _file_lines(
    data: bytes, lines: Sequence[Span], path: str, policy: Policy, above: Sequence[Pointer], pieces: Sequence[Piece]
) -> bytes:
    numbers = dict.fromkeys(pointer.line for pointer in above if is_entry(text_of(data, lines[pointer.line])))
    style = style_of(data, lines, list(numbers))
    found = []
    named = {pointer.path for pointer in above}
    for step, piece in enumerate(one for one in pieces if one.path not in named):
        target = written(piece.path, path, "") or piece.path
        name = piece.path.rpartition("/")[2]
        found.append(write_entry(style, target, name, HOOK, limit=policy.pointer_chars, step=step).encode() + style.end)
    return b"".join(found)


def _reads_the_same(data: bytes, after: bytes, pieces: Sequence[Piece], rests: Mapping[str, bytes]) -> bool:
    """Return whether no line becomes, or stops being, code or a comment."""
    lines, left = _read(data), _read(after)
    kept = data.count(b"\n", 0, pieces[0].start)
    if left != lines[:kept] + [line.strip() for line in after[pieces[0].start :].split(b"\n")]:
        return False
    for piece in pieces:
        whole = filled(data, piece, rests.get(piece.path, b""))
        at = whole.count(b"\n", 0, len(whole) - (piece.end - piece.start))
        first, count = data.count(b"\n", 0, piece.start), data.count(b"\n", piece.start, piece.end)
        if _read(whole)[at : at + count] != lines[first : first + count]:
            return False
    return True


def _read(data: bytes) -> list[bytes]:
    return [text.strip() for _, text in prose(data)]


def _words(pieces: Sequence[Piece]) -> str:
    names = [piece.path.rpartition("/")[2] for piece in pieces]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_WEB = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|#|$")
"""Targets that are no files: addresses with a scheme, anchors, nothing."""
LINKS = "links"
"""The format of an index whose lines are Markdown links."""
_ORDER = {kind: place for place, kind in enumerate(KINDS)}

_BREAKS = re.compile(r"[\u2028\u2029]")
UNWRITABLE = "Its name cannot be written in a line of the index."
UNREAD = (
    "A line for it would not be read there: the index ends inside a code block or a comment, or its name is too odd."
)

FULL = "The index is over {:,} bytes, the most memtui writes: it can be made smaller here, but gets no line."
COMES_BACK = "The agent makes this index anew from the memories: what is moved out of it would come back."
UNKNOWN = "memtui does not know how this index names files, so the agent might not find a second one."
SHORTER = (
    "Fewer and shorter lines help: fix the other findings, trash what nobody needs (its line goes along), or move up"
    " what matters."
)
UNSPELLED = "It holds a backtick, so it cannot be written as text: enter opens the index."

LIMIT_NAMES = {"lines": "lines", "bytes": "bytes", "units": "characters"}


class CheckedIndex(NamedTuple):
    """One index and what it is checked against."""

    address: Address
    data: bytes
    policy: Policy
    memories: Mapping[str, str]
    """Descriptions of all memories of the root by path, indexes included."""
    present: frozenset[str] = frozenset()
    """Other existing paths below the root."""
    mine: tuple[str, ...] = ()
    """Memories that this index has to name and no index does; sorted."""
    why: str = ""
    """Why nothing can be fixed; empty when it can."""
    rebuilt: bool = False
    rests: Mapping[str, bytes] = MappingProxyType({})
    """Contents of the overflow files it names."""
    named: frozenset[str | None] = frozenset()
    """Paths that the index names, if this is an overflow file."""
    spare: Mapping[str, str] = MappingProxyType({})
    """Versions of overflow files that it does not name."""
    sha256: str | None = None


class IndexEntry(NamedTuple):
    """One pointer and its line."""

    pointer: Pointer
    text: bytes
    alone: str
    """Why the line holds more than the pointer; empty when it does not."""


def named(data: bytes, path: str, known: Container[str] = ()) -> frozenset[str]:
    """Return the paths below the root that an index names; `known` are the existing ones."""
    return frozenset(pointer.path for pointer in parse_index(data, path, known) if pointer.path is not None)


def check(index: CheckedIndex) -> IndexReport:
    """Check an index; the findings are sorted by kind, then by line."""
    checking = _Checking(index)
    found = [*checking.pointers(), *checking.unnamed(), *checking.cut()]
    found.sort(key=lambda one: (_ORDER[one.kind], one.line or 0, one.path))
    below = tuple(Address(index.address.root, path) for path in checking.below)
    state = index.address, index.sha256, checking.measure, index.policy
    return IndexReport(*state, tuple(found), below, index.rebuilt)


class _Checking:
    def __init__(self, index: CheckedIndex) -> None:
        self.index = index
        self.lines = spans(index.data)
        self.measure = measure(index.data, index.policy)
        self.entries = self._entries()
        self.below = self._below()

    def _entries(self) -> list[IndexEntry]:
        linked = self.index.policy.index_format == LINKS
        pointers = parse_index(self.index.data, self.index.address.path) if linked else ()
        counts = Counter(pointer.line for pointer in pointers)
        found = []
        text, line = b"", -1
        for pointer in pointers:
            if pointer.line != line:  # a line of ten thousand pointers is taken out once
                line = pointer.line
                text = text_of(self.index.data, self.lines[line])
            alone = self._alone(line, text, counts[line])
            meant = next(filter(self._is_there, pointer.readings), pointer.path)
            found.append(IndexEntry(pointer._replace(path=meant), text, alone))
        return found

    def _is_there(self, path: str | None) -> bool:
        return path is not None and (path in self.index.memories or path in self.index.present)

    def _alone(self, line: int, text: bytes, pointers: int) -> str:
        if pointers > 1:
            return "The line names other memories too."
        if b"\r" in text:
            return "The line holds carriage returns, so it may be several."
        if b"<!--" in text or b"-->" in text:
            return "The line holds a comment."
        if not is_entry(text):
            return "The line is text that mentions it, not an entry of its own."
        following = self.lines[line + 1] if line + 1 < len(self.lines) else None
        if goes_on(text, None if following is None else text_of(self.index.data, following)):
            return "The entry goes on in the next line."
        return ""

    def _below(self) -> tuple[str, ...]:
        cut = self.measure.cut
        if cut is None:
            return ()
        end = self.lines[cut].start + self.measure.part
        first: dict[str, int] = {}
        for entry in self.entries:
            if entry.pointer.path in self.index.memories and entry.pointer.path is not None:
                first.setdefault(entry.pointer.path, entry.pointer.end)
        return tuple(path for path, at in first.items() if at > end)

    # Pointers

    def pointers(self) -> Iterable[IndexFinding]:
        seen: dict[str, int] = {}
        long: set[int] = set()
        for entry in self.entries:
            pointer = entry.pointer
            if pointer.path is None:
                if not _WEB.match(pointer.target):
                    yield self._outside(entry)
                continue
            if not self._is_there(pointer.path):
                yield self._removal(DANGLING, entry, "the index names it, and it is not there")
                continue
            if (pointer.path in seen or pointer.path in self.index.named) and is_entry(entry.text):
                first = f"line {seen[pointer.path] + 1:,}" if pointer.path in seen else "the index"
                yield self._removal(DUPLICATE, entry, f"named again; {first} does already")
                continue
            if is_entry(entry.text):
                seen[pointer.path] = pointer.line
            if pointer.line not in long:
                long.add(pointer.line)
                yield from self._long(entry)

    def _finding(self, kind: str, entry: IndexEntry, text: str, fix: Fix | None, why: str) -> IndexFinding:
        pointer = entry.pointer
        shown = pointer.path or pointer.target
        memory = Address(self.index.address.root, shown) if shown in self.index.memories else None
        return IndexFinding(
            kind,
            self.index.address,
            pointer.line + 1,
            shown,
            text,
            None if self.index.why else fix,
            self.index.why or why,
            memory,
        )

    def _outside(self, entry: IndexEntry) -> IndexFinding:
        target = entry.pointer.target
        out = target.startswith(("/", "~", "..")) or "/.." in target
        said = "leads out of this folder" if out else "is no name a memory can have"
        edit = as_text(self.index.data, entry.pointer)
        fix = None if edit is None else Fix("make text of the link", (edit,), offered=True)
        return self._finding(OUTSIDE, entry, said, fix, "" if fix else UNSPELLED)

    def _removal(self, kind: str, entry: IndexEntry, text: str) -> IndexFinding:
        line = self.lines[entry.pointer.line]
        fix = None if entry.alone else Fix("remove the line", (Edit(self._from(line), line.end),))
        return self._finding(kind, entry, text, fix, entry.alone)

    def _from(self, line: Span) -> int:
        """Return where a line begins, after the byte-order mark."""
        return line.start + 3 * (line.start == 0 and self.index.data.startswith(b"\xef\xbb\xbf"))

    def _long(self, entry: IndexEntry) -> Iterable[IndexFinding]:
        limit = self.index.policy.pointer_chars
        if limit is None:
            return
        try:
            text = entry.text.decode()
        except UnicodeDecodeError:
            return  # what the agent makes of it is not known, and the memory's own row says that it is no UTF-8
        if len(text) <= limit:
            return
        line = self.lines[entry.pointer.line]
        begin = self._from(line)
        keep = len(entry.text[: max(entry.pointer.end - begin, 0)].decode("utf-8", "replace"))
        short = shorten(text, limit, keep=keep)
        fix = why = None
        if entry.alone:
            why = entry.alone
        elif short is None:
            why = "The link alone is longer."
        else:
            fix = Fix("shorten the line", (Edit(begin, begin + len(entry.text), short.encode()),))
        yield self._finding(
            LONG, entry, f"{len(text):,} characters; the agent keeps lines to {limit:,}", fix, why or ""
        )

    # Memories without a line

    def unnamed(self) -> Iterable[IndexFinding]:
        index = self.index
        if not index.mine:
            return
        edits = self._new_lines()
        after = apply_edits(index.data, edits.values())
        read = named(after, index.address.path, index.memories)
        most = index.policy.write_bytes
        full = FULL.format(most) if len(index.data) > most else ""
        for path in index.mine:
            why = index.why or full or (UNWRITABLE if path not in edits else UNREAD if path not in read else "")
            memory = Address(index.address.root, path)
            text = "the index does not name it" if index.data else "there is no index that names it"
            fix = None if why else Fix("add a line", (edits[path],))
            yield IndexFinding(UNNAMED, index.address, None, path, text, fix, why, memory)

    def _new_lines(self) -> dict[str, Edit]:
        index = self.index
        lines = [entry.pointer.line for entry in self.entries if is_entry(entry.text)]
        place, lead, tail = place_of(index.data, self.lines, lines, self.style.end)
        limit = index.policy.pointer_chars
        found: dict[str, Edit] = {}
        for path in index.mine:
            target = written(path, index.address.path, "")
            if target is None or _BREAKS.search(path) or not is_writable(path):
                continue
            name = path.rpartition("/")[2]
            line = write_entry(self.style, target, name, index.memories[path], limit=limit, step=len(found))
            found[path] = Edit(place, place, line.encode() + tail, lead)
        return found

    @cached_property
    def style(self) -> Style:
        """The style of entries."""
        lines = dict.fromkeys(entry.pointer.line for entry in self.entries if is_entry(entry.text))
        return style_of(self.index.data, self.lines, list(lines))

    # The cut line

    def cut(self) -> Iterable[IndexFinding]:
        found, index = self.measure, self.index
        if found.cut is None:
            return
        policy = index.policy
        most = {"lines": policy.index_lines, "bytes": policy.index_bytes, "units": policy.index_units}[found.by]
        behind = f" behind its first {most:,} {LIMIT_NAMES[found.by]}" if found.part else ""
        text = (
            f"over {most:,} {LIMIT_NAMES[found.by]}: line {found.cut + 1:,}{behind} and what follows "
            f"({count(found.lost_lines, 'line')}, {count(len(self.below), 'memory', 'memories')}) is not loaded"
        )
        fix, why = self._split()
        why = "" if fix else index.why or f"{why} {SHORTER}"
        yield IndexFinding(CUT, index.address, found.cut + 1, index.address.path, text, fix, why, index.address)
        first = next((one for one in self.entries if one.pointer.line < found.cut and is_entry(one.text)), None)
        wanted = set(self.below)
        for entry in self.entries:
            if entry.pointer.path in wanted:
                wanted.discard(entry.pointer.path)
                yield self._lift(entry, first)

    def _split(self) -> tuple[Fix | None, str]:
        index = self.index
        if index.why:
            return None, index.why
        if index.rebuilt or index.policy.index_format != LINKS:
            return None, COMES_BACK if index.rebuilt else UNKNOWN
        there = index.memories.keys() | index.present
        return split(index.data, index.address.path, index.policy, there, index.rests, index.spare)

    def _lift(self, entry: IndexEntry, first: IndexEntry | None) -> IndexFinding:
        line = self.lines[entry.pointer.line]
        fix = None
        why = entry.alone
        if first is None:
            why = why or "No entry stands above it that it could go before."
        elif not why:
            start = self._from(self.lines[first.pointer.line])
            moved = self.index.data[line.start : line.end]
            ended = moved if moved.endswith((b"\n", self.style.end)) else moved + self.style.end
            fix = Fix("move the line up", (Edit(start, start, ended), Edit(line.start, line.end)), offered=True)
        is_part = self.measure.part and entry.pointer.line == self.measure.cut
        what = "what of it is loaded ends before this link" if is_part else "is not loaded"
        return self._finding(BELOW, entry, f"line {entry.pointer.line + 1:,}{':' if is_part else ''} {what}", fix, why)
