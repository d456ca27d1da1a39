"""Rewriting of the references in a text after memories were renamed or removed; no other byte changes.

Ambiguous references are kept and reported: a link in prose to a removed memory, an index line that holds more than the
entry, a new name that the old notation cannot express.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from memtui.pointers.lines import BLOCK, BOM, ITEM, Span, depth, is_entry, place_of, spans, text_of
from memtui.pointers.links import (
    IMPORT,
    LINK,
    MEM,
    NAME,
    Link,
    Pointer,
    is_writable,
    name_of,
    name_readings,
    names_of,
    parse_index,
    parse_links,
    part_of,
    readings,
    relative,
    with_ending,
    without_ending,
    written,
)

_BEFORE = re.compile(rb"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t][^\w\[\]]*$")
"""What may stand before the link of an entry."""
_SEPARATOR = " · ".encode()
"""Separates several entries on one line, as real indexes have them."""
_SIGNS = re.compile(rb"[^\w\[\]]*")


class Rewritten(NamedTuple):
    """A rewritten text."""

    data: bytes
    carried: int = 0
    left: tuple[Link, ...] = ()
    """Links that still name a memory that is gone."""


class _Edit(NamedTuple):
    start: int
    end: int
    data: bytes


def rewrite(
    data: bytes,
    here: str,
    changed: Mapping[str, str | None],
    *,
    to: str | None = None,
    index: bool = False,
    known: Collection[str] = (),
    names: str = "",
) -> Rewritten:
    """Update the references of the file `here` to memories that were renamed or removed.

    `changed` maps old paths to new ones, None for a memory that left the root; folders end in `/`. `to` is the file's
    own new path. With `index`, entries of removed memories go. `known` are all paths before the change: they settle
    what a name means, and are relinked when the file itself moves. `names` is as for `parse_links`.
    """
    work = _Rewriting(data, here, changed, to or here, frozenset(known), names)
    links = parse_links(data, here, names=names)
    gone: list[Link] = []
    for link in links:
        old = work.meant(link)
        if old is None:
            continue
        new = changed.get(old, old)
        if new is None:
            gone.append(link)
        else:
            work.follow(link, old, new)
    left = work.remove_entries(gone) if index and gone else gone
    return work.result(left)


class _Rewriting:
    def __init__(
        self, data: bytes, here: str, changed: Mapping[str, str | None], to: str, known: frozenset[str], names: str
    ) -> None:
        self.data, self.here, self.changed, self.to, self.known, self.names = data, here, changed, to, known, names
        self.edits: list[_Edit] = []
        self.left: list[Link] = []
        self.carried = 0
        self.moves = here.rpartition("/")[0] != to.rpartition("/")[0]

    def meant(self, link: Link) -> str | None:
        """Return the old path that a link means, if it may need an update."""
        for path in self._candidates(link):
            if path in self.changed:
                return path
            if path in self.known:
                return path if self.moves and link.kind in (LINK, IMPORT) else None
        return None

    def _candidates(self, link: Link) -> list[str]:
        found = [link.path]
        if link.kind == LINK:
            found += readings(link.target, self.here)
        if link.kind == NAME:
            found += [*name_readings(link.target, self.here), *name_readings(link.target, "")]
            for bare in names_of(link.target):
                if "/" not in bare and bare:
                    ending = "/" + with_ending(bare)
                    found += sorted(path for path in self.changed if path.endswith(ending))
        return [path for path in found if path is not None]

    def follow(self, link: Link, old: str, new: str) -> None:
        target = self._target(link, old, new)
        if target is None:
            self.left.append(link)
            return
        before = self._bytes(link.target)
        after = self._bytes(target)
        if after != before:
            self.edits.append(_Edit(link.at, link.at + len(before), after))
        shown = self._shown(link, old, new)
        if shown is not None:
            self.edits.append(shown)
        self.carried += after != before or shown is not None

    def _target(self, link: Link, old: str, new: str) -> str | None:
        if link.kind == LINK:
            like = link.target.partition("#")[0] + part_of(link.target, self.here, old)
            return written(new, self.to, like, angled=link.angled)
        if link.kind == IMPORT:
            text = relative(new, self.to).replace(" ", "\\ ")
            text = "./" + text if link.target.startswith("./") and not text.startswith("../") else text
            return text if is_writable(new) and self._reads("@" + text, new) else None
        if link.kind == MEM:
            text = self.names + without_ending(new)
            return text if self._reads("mem:" + text, new) else None
        return self._name(link, old, new)

    def _reads(self, text: str, path: str) -> bool:
        found = parse_links(self._bytes(text), self.to, names=self.names)
        return [(one.path, one.start, one.end) for one in found] == [(path, 0, len(self._bytes(text)))]

    def _name(self, link: Link, old: str, new: str) -> str | None:
        bare = next((one for one in names_of(link.target) if self._names(one, old)), name_of(link.target))
        if not new.lower().endswith(".md") or set(new) & set("[]|#\\\n") or not is_writable(new):
            return None
        near = old in name_readings(bare, self.here)
        text = new if "/" in bare and not near else relative(new, self.to)
        if text.startswith("../"):
            text = new
        if not near and "/" not in bare:
            text = new.rpartition("/")[2]  # it was found by its name alone
        text = text if bare.lower().endswith(".md") else without_ending(text)
        return link.target.replace(bare, text, 1)

    def _names(self, bare: str, old: str) -> bool:
        found = (*name_readings(bare, self.here), *name_readings(bare, ""))
        return old in found or old.endswith("/" + with_ending(bare))

    def _shown(self, link: Link, old: str, new: str) -> _Edit | None:
        start, end = link.text
        shown = self.data[start:end]
        if not is_writable(new):
            return None
        for form in (lambda path: path, lambda path: path.rpartition("/")[2], _stem):
            if shown == self._bytes(form(old)) and form(old) != form(new) and not set(form(new)) & set("[]\\`"):
                return _Edit(start, end, self._bytes(form(new)))
        return None

    def remove_entries(self, gone: list[Link]) -> list[Link]:
        """Remove the index entries of removed memories; return the links that are not an entry of their own."""
        lines: dict[int, list[Pointer]] = {}
        for pointer in parse_index(self.data, self.here):
            lines.setdefault(pointer.line, []).append(pointer)
        starts = {link.start for link in gone}
        rows = spans(self.data)
        taken: set[int] = set()
        for number, pointers in lines.items():
            here = {pointer.start for pointer in pointers}
            going = here & starts
            if going == here:
                span = _entry_span(self.data, rows, number, pointers[0])
                cuts = [span] if span is not None else []
            else:
                cuts = _part_spans(self.data, rows[number], pointers, going) if going else []
            self.edits += [_Edit(*cut, b"") for cut in cuts]
            taken |= going if cuts else set()
        self.carried += len(taken)
        return [link for link in gone if link.start not in taken]

    def result(self, left: list[Link]) -> Rewritten:
        pieces = []
        at = 0
        for edit in sorted(self.edits):
            if edit.start < at:
                continue  # in what goes anyway
            pieces += [self.data[at : edit.start], edit.data]
            at = edit.end
        return Rewritten(b"".join((*pieces, self.data[at:])), self.carried, (*self.left, *left))

    @staticmethod
    def _bytes(text: str) -> bytes:
        return text.encode("utf-8", "surrogateescape")


def _stem(path: str) -> str:
    return without_ending(path.rpartition("/")[2])


def _entry_span(data: bytes, lines: Sequence[Span], number: int, first: Pointer) -> tuple[int, int] | None:
    """Return the bytes of an entry with the text below that belongs to it; None when its extent is unclear."""
    start, end = lines[number]
    start += len(BOM) * (number == 0 and data.startswith(BOM))
    item = ITEM.match(data[start:end])
    if b"\r" in data[start:end].rstrip(b"\r\n"):
        return None  # it may be several lines
    if item is None or not _BEFORE.match(data[start : first.start]):
        return None
    indent = len(item[1])
    for below in range(number + 1, len(lines)):
        text = data[slice(*lines[below])]
        if not text.strip():
            following = next((data[slice(*span)] for span in lines[below + 1 :][:1]), b"")
            loose = depth(following) > indent and following.strip() != b"" and not ITEM.match(following)
            return None if loose else (start, end)
        nested = ITEM.match(text)
        if nested is not None:
            return None if len(nested[1]) > indent else (start, end)
        if BLOCK.match(text):
            return None if depth(text) > indent else (start, end)
        if depth(text) <= indent:
            return None  # more of its text, or not: nobody can tell
        end = lines[below][1]
    return start, end


def _part_spans(data: bytes, line: Span, pointers: Sequence[Pointer], going: Collection[int]) -> list[tuple[int, int]]:
    """Return some entries of a line with several, each with one separator; nothing when the line has other text."""
    between = []
    for one, following in pairwise(pointers):
        at = data.rfind(_SEPARATOR, one.end, following.start)
        if at < 0 or not _SIGNS.fullmatch(data, at + len(_SEPARATOR), following.start) or b"[[" in data[one.end : at]:
            return []
        between.append(at)
    last = line[0] + len(data[slice(*line)].rstrip(b"\r\n"))
    found = []
    kept = False
    for place, pointer in enumerate(pointers):
        if pointer.start not in going:
            kept = True
        elif kept:
            found.append((between[place - 1], between[place] if place < len(between) else last))
        else:
            found.append((pointer.start, between[place] + len(_SEPARATOR)))
    return found


# --- entries that come back


class RestoredIndex(NamedTuple):
    """An index with entries put back."""

    data: bytes
    named: int = 0
    left: tuple[str, ...] = ()
    """Old paths of memories whose entries could not be put back."""


class _IndexRestore:
    """One index that gets entries back, and where its old lines belong now."""

    def __init__(self, before: bytes, now: bytes, here: str, back: Mapping[str, str]) -> None:
        self.before, self.now, self.here, self.back = before, now, here, back
        self.known = {*back, *back.values()}
        self.named = {pointer.path for pointer in parse_index(now, here, self.known)}
        self.lines: dict[int, list[Pointer]] = {}
        for pointer in parse_index(before, here, self.known):
            self.lines.setdefault(pointer.line, []).append(pointer)
        pointers = [pointer for found in self.lines.values() for pointer in found]
        self.wanted = {pointer.path for pointer in pointers if pointer.path is not None and self._returns(pointer)}
        self.old, self.new = spans(before), spans(now)
        self.texts = [text_of(now, span) for span in self.new]
        self.end = b"\r\n" if b"\r\n" in (now or before) else b"\n"

    def _returns(self, pointer: Pointer) -> bool:
        new = self.back.get(pointer.path or "")
        return new is not None and new not in self.named

    def result(self) -> bytes:
        changed = {old: new for old, new in self.back.items() if old != new}
        places = self._places()
        found = bytearray()
        done = 0
        for number, at in sorted(places.items(), key=lambda one: (one[1], one[0])):
            span = self._entry(number)
            if span is None:
                continue
            found += self.now[done:at]
            done = at
            if found and found != BOM and not found.endswith(b"\n"):
                found += self.end
            entry = self.before[slice(*span)]
            found += rewrite(entry, self.here, changed).data if changed else entry
            if self.now[done:] and not found.endswith(b"\n"):
                found += self.end
        return bytes(found + self.now[done:])

    def _entry(self, number: int) -> tuple[int, int] | None:
        return _entry_span(self.before, self.old, number, self.lines[number][0])

    def _places(self) -> dict[int, int]:
        """Return where lost lines belong: after the nearest line above that is still there, else before one below."""
        often = Counter(self.texts)
        where = {text: number for number, text in enumerate(self.texts) if text.strip() and often[text] == 1}
        first = len(BOM) if self.now.startswith(BOM) else 0
        found: dict[int, int] = {}
        waiting: list[int] = []
        after = -1  # the current line after which the next one belongs
        entry_end = 0
        for number, span in enumerate(self.old):
            if span.start < entry_end:
                continue
            text, entry_end = text_of(self.before, span), self._end_of_absent(number)
            if number in self.lines and all(map(self._returns, self.lines[number])) and text not in where:
                if after < 0:
                    waiting.append(number)
                else:
                    found[number] = self.new[after].end
                continue
            if entry_end:
                continue
            if self.texts[after + 1 : after + 2] == [text]:
                after += 1
            else:
                after = where.get(text, after)
            if waiting and after >= 0:
                found |= dict.fromkeys(waiting, max(self.new[after].start, first))
                waiting = []
        entries = [number for number, text in enumerate(self.texts) if is_entry(text)]
        return found | dict.fromkeys(waiting, place_of(self.now, self.new, entries, self.end)[0])

    def _end_of_absent(self, number: int) -> int:
        pointers = self.lines.get(number, [])
        absent = all(self._returns(one) or (one.path is not None and one.path not in self.named) for one in pointers)
        span = self._entry(number) if pointers and absent else None
        return span[1] if span is not None else 0


def bring_back(before: bytes, now: bytes, here: str, back: Mapping[str, str]) -> RestoredIndex:
    """Put entries of the index `here` back as they were in `before`; `back` maps old paths to current ones."""
    work = _IndexRestore(before, now, here, back)
    if not work.wanted:
        return RestoredIndex(now)
    data = work.result()
    named = {pointer.path for pointer in parse_index(data, here, work.known)}
    left = tuple(sorted(path for path in work.wanted if back[path] not in named))
    return RestoredIndex(data, len(work.wanted) - len(left), left)
