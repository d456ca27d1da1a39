"""One search: prepared rows, which of them match the query and how well, and the hits, read again from disk.

Names come before descriptions before bodies, adjacent words before scattered ones, whole words before beginnings before
parts. There is no ledger, thread or time in it.
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

from memtui import markers, mask
from memtui.engine.disk import handles
from memtui.engine.find.index import Grades, Held, IndexAnswer, words
from memtui.engine.frontmatter.read import describe
from memtui.engine.model import Address, Hit, Memory, Root, SearchQuery, SearchResult, Version
from memtui.errors import MemtuiError
from memtui.matching import INFIX, Query, Span, Term, fold

if TYPE_CHECKING:
    from memtui.engine.disk.handles import RootHandle
    from memtui.engine.ledger.versions import StoredVersion, VersionTable

SCREEN = 40
"""Hits that are reported before the others are read."""
SNIPPET = 160
NAME, DESCRIPTION, BODY = range(3)
_FIELDS = ("name", "description", "body")
_STEP = 2 * (INFIX + 1)
"""Grades of one field; a name has twice as many, for matches only in its folders."""
_MASKED = 1_024
"""Characters after the match that are searched for secrets; far more than a snippet has."""
_CONSIDERED = 200
"""Matches of a body among which the displayed line is chosen."""


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
                found[index] = level(DESCRIPTION, term.grade(plan.abouts[index]) or 0)
        for form in term.forms:
            for index in [index for index, name in enumerate(plan.names) if form in name]:
                found[index] = level(NAME, grade_name(term, plan.names[index]) or 0)
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
                found[index] = level(BODY, grade)

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
            hit = find(self._query, row, decode(data), text.version)
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
            ranks = {level: rank([level], None) * count for level in set(wanted[0].values())}
            only = wanted[0]
            return [ranks[only[index]] + place[index] for index in found]
        whole = levels[-1] if query.whole is not None else {}
        return [rank([one[index] for one in wanted], whole.get(index)) * count + place[index] for index in found]

    def _levels(self, number: int) -> dict[int, int]:
        found: dict[int, int] = {}
        if self._wanted.bodies:
            body = level(BODY, 0)
            by_text = self._graded[number]
            if by_text:
                found = {index: body + by_text[text] for index, text in enumerate(self._numbers) if text in by_text}
            found.update(self._loose[number])
        found.update(self._heads[number])
        return found

    def _hit(self, index: int) -> Hit | None:
        """Return a row's hit from its text on disk now; None when that no longer matches."""
        if index not in self._made:
            look = find_given if self._wanted.given else find
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


def level(field: int, grade: int) -> int:
    """Combine a field and a grade (`Term.grade`, `grade_name`) into one number; smaller is better."""
    return field * _STEP + grade


def grade_name(term: Term, folded: str) -> int | None:
    """Grade a folded path: a match in its last component is better than one in its folders."""
    found = term.grade(folded.rpartition("/")[2])
    if found is not None:
        return found
    found = term.grade(folded)
    return None if found is None else found + INFIX + 1


def rank(levels: list[int], whole: int | None) -> int:
    """Rank a hit from the best level of each term, and of all words in a row.

    The worst field that was needed counts first, then whether the words are adjacent.
    """
    worst = max(levels)
    apart = 2 * (worst - worst % _STEP) + worst % _STEP + (_STEP if len(levels) > 1 else 0)
    if whole is None:
        return apart
    return min(apart, 2 * (whole - whole % _STEP) + whole % _STEP)


def _best(term: Term, name: str, description: str, body: str) -> int | None:
    grade = grade_name(term, name)
    if grade is not None:
        return level(NAME, grade)
    for field, text in ((DESCRIPTION, description), (BODY, body)):
        grade = term.grade(text)
        if grade is not None:
            return level(field, grade)
    return None


def graded(query: Query, name: str, description: str, folded: str) -> tuple[int, int] | None:
    """Return the rank of one memory (the smaller, the better) and the best field; `folded` is its case-folded text.

    None when a term is missing, or an excluded one is there.
    """
    texts = (fold(name), fold(description), " ".join(folded.split()) if query.phrases else folded)
    if not query.allows(*texts):
        return None
    levels = []
    for term in query.terms:
        best = _best(term, *texts)
        if best is None:
            return None
        levels.append(best)
    whole = _best(query.whole, *texts) if query.whole is not None else None
    good = rank(levels, whole)
    return good, min(levels) // _STEP if whole is None or good % (2 * _STEP) >= _STEP else whole // _STEP


def find(query: Query, memory: Memory, text: str, version: Version | None = None) -> Hit | None:
    """Match a query against a memory, or an old version of it.

    Of an old `version` the text must hold the query, or what the memory's name leaves of it, and is what is shown.
    """
    folded = text.casefold()
    shown = (memory.address.path, "" if version is not None else memory.description)
    best = graded(query, *shown, folded)
    places = query.spans_in(text, folded) if best is not None else []
    if best is None or (version is not None and not places):
        return None
    field = BODY if version is not None else best[1]
    if field != BODY:
        spans = query.spans(shown[field])
        snippet, marks = _shown(shown[field], 0, spans, spans[0][0] if spans else 0)
        return Hit(memory, _FIELDS[field], None, snippet, None, marks, len(places))
    start, line, column = _line(query, text, places)
    snippet, marks = _shown(text, start, places, column)
    return Hit(memory, _FIELDS[field], line, snippet, column + 1, marks, len(places), version)


def find_given(query: Query, memory: Memory, text: str) -> Hit | None:
    """Match a query against what an agent may see of a memory, so that no secret is found by its beginning."""
    shown = given_text(text)
    about = memory.description if shown is text else describe(shown.encode("utf-8", "replace")).description
    return find(query, memory._replace(description=mask.shown(about)), shown)


def given_text(text: str) -> str:
    """Mask secrets and cut private parts of a text, keeping its lines; returns the same object if there are none."""
    cut = markers.cut(text)
    spans = [(start, end, markers.PRIVATE) for start, end in cut.spans]
    spans += [(secret.start, secret.end, f"{mask.BEGIN}{secret.kind}]") for secret in mask.secrets(text)]
    if cut.no_memory or not spans:
        return "" if cut.no_memory else text
    pieces, at = [], 0
    for start, end, said in sorted(spans):
        if end > at:
            pieces += [text[at:start], said, "\n" * text.count("\n", max(start, at), end)]
            at = end
    return mask.shown("".join((*pieces, text[at:])))


def given_texts(*files: bytes | None) -> list[bytes | None]:
    """Prepare versions of a file for an agent to compare: each as `given_text`, without private parts of any."""
    texts = [(data or b"").decode("utf-8", "replace") for data in files]
    private = [line for text in texts for line in markers.phrases(text, markers.cut(text).spans)]
    given = (markers.cut_again(given_text(text), private)[0].encode("utf-8", "replace") for text in texts)
    return [None if data is None else text for data, text in zip(files, given, strict=True)]


def _line(query: Query, body: str, places: list[Span]) -> tuple[int, int, int]:
    """Return the line to show: its start, its number from 1, and the column (from 0) of its first match.

    The first one with all words adjacent, else the first one with the most of them.
    """
    best = (-1, -1)
    chosen = places[0][0]
    seen = -1
    for at, _ in places[:_CONSIDERED] if len(query.terms) > 1 else ():
        start = body.rfind("\n", 0, at) + 1
        if start == seen:
            continue
        seen = start
        end = body.find("\n", start)
        folded = fold(body[start : end if end >= 0 else len(body)][: 20 * SNIPPET])
        held = [term for term in query.terms if term.is_in(folded)]
        together = query.whole is not None and query.whole.is_in(folded)
        value = (len(held) + together, sum(len(term.forms[0]) for term in held))
        if value > best:
            best, chosen = value, at
    start = body.rfind("\n", 0, chosen) + 1
    return start, body.count("\n", 0, chosen) + 1, chosen - start


def _shown(text: str, start: int, places: list[Span], column: int) -> tuple[str, tuple[Span, ...]]:
    """Return a masked snippet of the line that begins at `start`, and where it matches."""
    end = text.find("\n", start)
    end = end if end >= 0 else len(text)
    masked = mask.around(text, start, min(end, start + column + _MASKED))
    line = masked.text + text[start + column + _MASKED : end]
    if masked.secrets:
        places = [masked.moved(one - start, other - start) for one, other in places if start <= one < end]
        column, start = masked.moved(column, column + 1)[0], 0
    first = max(0, min(column - SNIPPET // 4, len(line) - SNIPPET))
    blank = line.rfind(" ", first, column)
    if first and blank >= 0 and column - blank > SNIPPET // 8:  # Begin with a whole word.
        first = blank + 1
    piece = line[first : first + SNIPPET]
    shown = piece.strip()
    lead = "…" if first else ""
    begin = start + first + len(piece) - len(piece.lstrip())
    marks = []
    for one, other in places:
        left, right = max(one - begin, 0), min(other - begin, len(shown))
        if left < right:
            marks.append((left + len(lead), right + len(lead)))
        elif one > begin + len(shown):
            break
    return lead + shown + ("…" if first + SNIPPET < len(line) else ""), tuple(marks)
