"""One search: prepared rows, which of them match the query and how well, and the hits, read again from disk.

It is apart so that matching stands without the ledger, threads and time around it.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from heapq import nsmallest
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import handles
from memtui.engine.disk.handles import RootHandle
from memtui.engine.find import rank
from memtui.engine.find.index import Grades, Held, IndexAnswer, words
from memtui.engine.ledger.versions import StoredVersion
from memtui.engine.model import Address, Hit, Memory, Root, SearchQuery, SearchResult
from memtui.errors import MemtuiError
from memtui.matching import Query, Term, fold

if TYPE_CHECKING:
    from memtui.engine.ledger.versions import VersionTable

SCREEN = 40
"""Hits that are reported before the others are read."""


class ListedRoot(NamedTuple):
    """One root, as it was last listed."""

    root: Root
    uid: int
    items: tuple[Memory, ...]
    whole: bool
    """Whether these are all memories it has."""


class WordHolders(NamedTuple):
    """Which memories have a word, as indexes of rows."""

    names: set[int]
    abouts: set[int]
    bodies: set[int]
    """In the text, front matter included."""


class Holders(NamedTuple):
    """Rows, and for each word which of them have it."""

    rows: tuple[Memory, ...]
    words: tuple[WordHolders, ...]


class JoinedTexts(NamedTuple):
    """Many short texts as one, which is searched faster than each."""

    text: str
    starts: list[int]
    """Where each begins, and the end."""


def join_texts(texts: list[str]) -> JoinedTexts:
    """Join folded texts."""
    starts = list(accumulate([len(text) + 1 for text in texts], initial=0))
    return JoinedTexts("".join([f"{text}\n" for text in texts]), starts)


def texts_with_word(word: str, among: JoinedTexts) -> set[int]:
    """Return the indexes of the texts that have a whole word."""
    found = set()
    text, starts = among
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if (at and text[at - 1].isalnum()) or text[end].isalnum():
            at = text.find(word, at + 1)
        else:
            place = bisect_right(starts, at) - 1
            found.add(place)
            at = text.find(word, starts[place + 1])
    return found


def chosen(root: Root, wanted: SearchQuery) -> bool:
    """Tell whether a search includes a root."""
    return (
        (wanted.scope is None or root.scope == wanted.scope)
        and (wanted.agent is None or root.agent == wanted.agent)
        and (wanted.roots is None or root.id in wanted.roots)
    )


def unread_of(rows: list[Memory], numbers: list[int | None]) -> list[Memory]:
    """Return the rows with a text that the index does not have."""
    if None not in numbers:
        return []
    return [
        row
        for row, number in zip(rows, numbers, strict=True)
        if number is None and row.sha256 is not None and not row.missing
    ]


def ghost(root: Root, text: StoredVersion) -> Memory:
    """Return a row for a memory that is not on disk any more."""
    version = text.version
    address = Address(root.id, text.path)
    return Memory(address, root.scope, root.agent, version.bytes, version.at, None, actor=version.actor, missing=True)


class Plan:
    """Rows prepared for many searches."""

    def __init__(self, listed: list[ListedRoot]) -> None:
        self.listed = listed
        self.rows = [row for root in listed for row in root.items]
        self.names = [fold(row.address.path) for row in self.rows]
        self.abouts = [fold(row.description) for row in self.rows]
        self._held: Held | None = None
        self._numbers: list[int | None] = []

    @cached_property
    def best_first(self) -> list[int]:
        """The row indexes in the order of equally good hits."""
        return sorted(range(len(self.rows)), key=lambda index: _tie_break(self.rows[index]))

    @cached_property
    def place(self) -> list[int]:
        """The position of each row among equally good hits."""
        found = [0] * len(self.rows)
        for place, index in enumerate(self.best_first):
            found[index] = place
        return found

    @cached_property
    def index(self) -> dict[Address, int]:
        """The index of each row."""
        return {row.address: index for index, row in enumerate(self.rows)}

    @cached_property
    def heads(self) -> tuple[JoinedTexts, JoinedTexts]:
        """Joined names and joined descriptions, folded as words are compared."""
        names, abouts = (
            join_texts([text if text.isascii() else " ".join(words(text).words) for text in texts])
            for texts in (self.names, self.abouts)
        )
        return names, abouts

    @cached_property
    def roots(self) -> list[str]:
        """The root of each row, by position."""
        return [self.rows[index].address.root for index in self.best_first]

    def numbers(self, held: Held) -> list[int | None]:
        """Return the index's number for the text of each row."""
        if held is not self._held:
            self._held = held
            each = [(held[root.root.path], root.items) for root in self.listed]
            self._numbers = [numbers.get(row.sha256 or "") for numbers, items in each for row in items]
        return self._numbers


def _tie_break(row: Memory) -> tuple[bool, float, int, Address]:
    return not row.pinned, -row.heat, -row.modified_at, row.address


class SearchRun:
    """One query over the rows."""

    def __init__(
        self, query: Query, wanted: SearchQuery, plan: Plan, reading: Callable[[str], RootHandle], *, sure: bool = True
    ) -> None:
        """Match names and descriptions.

        Unless `sure`, because the rows were just listed, a text on disk that differs from its row is no hit.
        """
        self._query = query
        self._wanted = wanted
        self._plan = plan
        self._reading = reading
        self._sure = sure
        self.terms = (*query.terms, *query.without, *((query.whole,) if query.whole is not None else ()))
        self.folders = {root.root.path for root in plan.listed}
        self._heads = [self._in_heads(term) for term in self.terms]
        """For each term, rows whose name or description holds it, with the level."""
        self._numbers: list[int | None] = [None] * len(plan.rows)
        self._graded: tuple[Grades, ...] = ({},) * len(self.terms)
        self._loose: list[dict[int, int]] = [{} for _ in self.terms]
        """For each term, rows with texts outside the index that hold it, with the level."""
        self._made: dict[int, Hit | None] = {}
        self._old: list[tuple[int, StoredVersion, Memory, VersionTable]] = []

    def _in_heads(self, term: Term) -> dict[int, int]:
        plan = self._plan
        found: dict[int, int] = {}
        for form in term.forms:
            for index in [index for index, about in enumerate(plan.abouts) if form in about]:
                found[index] = rank.level(rank.DESCRIPTION, term.grade(plan.abouts[index]) or 0)
        for form in term.forms:
            for index in [index for index, name in enumerate(plan.names) if form in name]:
                found[index] = rank.level(rank.NAME, rank.grade_name(term, plan.names[index]) or 0)
        return found

    def take(self, answer: IndexAnswer | None) -> None:
        """Take the index's answer."""
        if answer is not None:
            self._graded = answer.grades
            self._numbers = self._plan.numbers(answer.held)

    def unread(self) -> list[Memory]:
        """Return the rows with a text that the index does not have."""
        return unread_of(self._plan.rows, self._numbers)

    def look_at(self, row: Memory, folded: str) -> None:
        """Match every term against a text that the index does not have."""
        index = self._plan.index[row.address]
        for term, found in zip(self.terms, self._loose, strict=True):
            grade = term.grade(folded)
            if grade is not None:
                found[index] = rank.level(rank.BODY, grade)

    def look_at_old(self, text: StoredVersion, row: Memory, folded: str, versions: VersionTable) -> None:
        """Match the query against an old version: its text must hold a term, and every one its name lacks."""
        query = self._query
        name = fold(text.path)
        if not any(term.is_in(folded) for term in query.terms):
            return
        if all(term.is_in(folded) or term.is_in(name) for term in query.terms) and query.allows(name, folded):
            together = query.whole is not None and not query.whole.is_in(folded)
            self._old.append((int(together), text, row, versions))

    def tell_some(self, tell: Callable[[SearchResult], object]) -> None:
        """Report the best hits when reading all of them takes a while."""
        if self._wanted.limit > SCREEN:
            some = self.found(complete=False, limit=SCREEN)
            if some.total > SCREEN:
                tell(some)

    def found(self, *, complete: bool, limit: int | None = None) -> SearchResult:
        """Return the hits so far."""
        keys = self._keys()
        count = max(len(self._plan.rows), 1)
        limit = self._wanted.limit if limit is None else limit
        indexes = [self._plan.best_first[key % count] for key in nsmallest(limit, keys)]
        hits = [hit for index in indexes if (hit := self._hit(index)) is not None]
        old = sorted(self._old, key=lambda one: one[0])
        for _, text, row, versions in old[: max(limit - len(indexes), 0)]:
            data = versions.stored([text.blob]).get(text.blob, b"")
            hit = rank.find(self._query, row, decode(data), text.version)
            if hit is not None:
                hits.append(hit)
        if len(self._plan.listed) > 1:
            of = self._plan.roots
            roots = Counter([of[key % count] for key in keys])
        else:
            roots = Counter({one.root.id: len(keys) for one in self._plan.listed if keys})
        roots.update(row.address.root for _, _, row, _ in old)
        return SearchResult(tuple(hits), len(keys) + len(old), tuple(roots.items()), complete)

    def _keys(self) -> list[int]:
        """Return a sort key for each hit, from which its row can be computed."""
        levels = [self._levels(number) for number in range(len(self.terms))]
        query = self._query
        wanted = levels[: len(query.terms)]
        found = set(wanted[0]).intersection(*wanted[1:])
        if not self._wanted.given:  # else what is to be seen of the text decides, when it is read
            for excluded in levels[len(query.terms) : len(query.terms) + len(query.without)]:
                found.difference_update(excluded)
        place, count = self._plan.place, max(len(self._plan.rows), 1)
        if len(wanted) == 1:
            ranks = {level: rank.rank([level], None) * count for level in set(wanted[0].values())}
            only = wanted[0]
            return [ranks[only[index]] + place[index] for index in found]
        whole = levels[-1] if query.whole is not None else {}
        return [rank.rank([one[index] for one in wanted], whole.get(index)) * count + place[index] for index in found]

    def _levels(self, number: int) -> dict[int, int]:
        found: dict[int, int] = {}
        if self._wanted.bodies:
            body = rank.level(rank.BODY, 0)
            by_text = self._graded[number]
            if by_text:
                found = {index: body + by_text[text] for index, text in enumerate(self._numbers) if text in by_text}
            found.update(self._loose[number])
        found.update(self._heads[number])
        return found

    def _hit(self, index: int) -> Hit | None:
        """Return a row's hit from its text on disk now; None when that no longer matches."""
        if index not in self._made:
            look = rank.find_given if self._wanted.given else rank.find
            row = self._plan.rows[index]
            data = self._data(row)
            if data is None or (not self._sure and hashlib.sha256(data).hexdigest() != row.sha256):
                self._made[index] = look(self._query, row, "") if self._sure else None
            else:
                self._made[index] = look(self._query, row, decode(data))
        return self._made[index]

    def _data(self, row: Memory) -> bytes | None:
        if not self._wanted.bodies or row.sha256 is None or row.missing:
            return None
        try:
            return handles.read_bytes(self._reading(row.address.root), row.address)
        except MemtuiError:
            return None  # it went since: the hit is about its name, or there is none


def decode(data: bytes) -> str:
    """Decode a memory, replacing what is not UTF-8, without a byte-order mark."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def read_folded(rows: Iterable[Memory], reading: Callable[[str], RootHandle]) -> Iterator[tuple[Memory, str, str]]:
    """Yield memories, their folded text and its sha-256, one folder handle at a time; skip unreadable ones."""
    for (root, folder), some in _by_folder(rows).items():
        try:
            handle = reading(root)
            with handle.folder(tuple(folder.split("/")) if folder else ()) as opened:
                for row in some:
                    try:
                        data = handles.bytes_in(opened, row.address.name, row.address, handle)
                    except MemtuiError:
                        continue  # it went, changed or cannot be read: the list shows what is wrong with it
                    yield row, fold(decode(data)), hashlib.sha256(data).hexdigest()
        except MemtuiError:
            continue  # the folder went, or cannot be entered: the next list says so, and there is no text to search


def in_turn(
    rows: list[Memory], kept: Mapping[str, str], reading: Callable[[str], RootHandle]
) -> Iterator[tuple[Memory, str, str]]:
    """Yield what `read_folded` does, taking known texts from `kept` (by sha-256)."""
    for row in rows:
        if row.sha256 is not None and (folded := kept.get(row.sha256)) is not None:
            yield row, folded, row.sha256
    yield from read_folded([row for row in rows if row.sha256 not in kept], reading)


def _by_folder(rows: Iterable[Memory]) -> dict[tuple[str, str], list[Memory]]:
    found: dict[tuple[str, str], list[Memory]] = {}
    for row in rows:
        found.setdefault((row.address.root, row.address.path.rpartition("/")[0]), []).append(row)
    return found
