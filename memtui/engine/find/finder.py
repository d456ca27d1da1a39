"""The search over everything: names and descriptions at once, texts as they are read, old versions on request.

It tells what it has found so far, can be told to stop at any moment, and keeps the texts it has read, so that the next
letter somebody types is answered from memory. What is given back was read again from disk for that.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import paths, whole_file
from memtui.engine.disk.paths import RootHandle
from memtui.engine.find import rank
from memtui.engine.find.texts import Texts, decode, read_folded
from memtui.engine.find.words import Words
from memtui.engine.ledger.versions import OldText
from memtui.engine.model import Address, Found, Hit, Memory, Root, Wanted
from memtui.errors import MemtuiError
from memtui.matching import Query, Term, fold, typed

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object

SOON, SLICE = 0.03, 0.1
"""Seconds after which what was found so far is told: the first time, and from then on."""
OLD_ROOM = 8 * 1024 * 1024
"""Bytes of old versions that are kept."""
_CHUNK = 64
_NOTHING = Found((), 0)


class Listed(NamedTuple):
    """One root, as it was last listed."""

    root: Root
    uid: int
    items: tuple[Memory, ...]


class Versions(Protocol):
    """What is asked of the ledger."""

    def old_texts(self, uid: int) -> tuple[OldText, ...]:
        """Every stored text of a root."""

    def stored(self, blobs: Sequence[int]) -> dict[int, bytes]:
        """Some of them."""


Stop = Callable[[], bool]
Tell = Callable[[Found], object]


class Finder:
    """Searches; safe to share between threads, which take turns."""

    def __init__(
        self,
        listed: Callable[[bool], Iterable[Listed]],
        reading: Callable[[str], RootHandle],
        versions: Callable[[], Versions],
        clock: Callable[[], int],
        texts: Texts | None = None,
    ) -> None:
        """Keep nothing yet.

        Args:
            listed: gives the rows of every root; listed anew when called with True.
            reading: gives the open folder of a root by its id.
            versions: gives the ledger, when old versions are asked for.
            clock: milliseconds since the epoch.
            texts: where texts are kept.
        """
        self._guard = threading.Lock()
        self._listed = listed
        self._reading = reading
        self._versions = versions
        self._clock = clock
        self._texts = Texts() if texts is None else texts
        self._old: dict[str, str] = {}
        self._old_bytes = 0
        self._plan: _Plan | None = None

    def find(self, wanted: Wanted, *, stop: Stop = lambda: False, tell: Tell = lambda _: None) -> Found:
        """Search.

        Args:
            wanted: what for, and where.
            stop: asked again and again whether nobody wants the answer any more.
            tell: called with what was found so far, on this thread.

        Returns:
            Everything, best first; when it was stopped, nothing, and not `complete`.
        """
        query = typed(wanted.query)
        if query is None:
            return _NOTHING
        with self._guard:
            if stop():
                return _NOTHING._replace(complete=False)
            listed = [root for root in self._listed(wanted.fresh) if chosen(root.root, wanted)]
            running = _Run(query, wanted, self._planned(listed), self._texts, self._reading)
            if wanted.bodies and not self._read(running, stop, tell):
                return _NOTHING._replace(complete=False)
            if wanted.versions and not self._look_back(running, listed, stop, tell):
                return _NOTHING._replace(complete=False)
            return running.found(complete=True)

    def forget(self) -> None:
        """Give the memory back that texts take."""
        with self._guard:
            self._texts.forget()
            self._old.clear()
            self._old_bytes, self._plan = 0, None

    @property
    def bytes(self) -> int:
        """About how much memory is taken by what is kept."""
        return self._texts.bytes + self._old_bytes

    def _planned(self, listed: list[Listed]) -> _Plan:
        lists = [root.items for root in listed]
        plan = self._plan
        if plan is None or len(lists) != len(plan.lists) or any(a is not b for a, b in zip(lists, plan.lists)):  # noqa: B905
            plan = self._plan = _Plan(lists)
            self._texts.tidy(row.sha256 for row in plan.rows)
        return plan

    def _read(self, running: _Run, stop: Stop, tell: Tell) -> bool:
        """Read the texts that are not kept; False when stopped."""
        unread = running.unread()
        told = None
        due = time.monotonic() + SOON
        for row, folded, true in read_folded(unread, self._reading, self._clock()):
            if stop():
                return False
            if told is None or time.monotonic() >= due:
                told = running.found(complete=False)
                tell(told)
                due = time.monotonic() + (SLICE if told.total else SOON)
            if not (true and row.sha256 is not None and self._texts.add(row.sha256, folded)):
                running.look_at(row, folded)
        return True

    def _look_back(self, running: _Run, listed: list[Listed], stop: Stop, tell: Tell) -> bool:
        """Look at old versions; False when stopped."""
        due = time.monotonic() + SLICE
        for root in listed:
            now = {row.address.path: row for row in root.items}
            old = []
            for text in self._versions().old_texts(root.uid):
                row = now.get(text.path)
                if row is None or row.sha256 != text.version.sha256:
                    old.append((text, row or _ghost(root.root, text)))
            for start in range(0, len(old), _CHUNK):
                if stop():
                    return False
                if time.monotonic() >= due:
                    tell(running.found(complete=False))
                    due = time.monotonic() + SLICE
                some = old[start : start + _CHUNK]
                for (text, row), folded in zip(some, self._folded([text for text, _ in some]), strict=True):
                    running.look_at_old(text, row, folded, self._versions)
        return True

    def _folded(self, texts: list[OldText]) -> Iterator[str]:
        missing = [text.blob for text in texts if text.version.sha256 not in self._old]
        data = self._versions().stored(missing) if missing else {}
        for text in texts:
            sha = text.version.sha256
            folded = self._old.get(sha)
            if folded is None:
                folded = fold(decode(data.get(text.blob, b"")))
                self._old_bytes += len(folded) + 150
                if self._old_bytes > OLD_ROOM:
                    self._old.clear()
                    self._old_bytes = len(folded) + 150
                self._old[sha] = folded
            yield folded


def chosen(root: Root, wanted: Wanted) -> bool:
    """Whether a search looks into a root."""
    return (
        (wanted.scope is None or root.scope == wanted.scope)
        and (wanted.agent is None or root.agent == wanted.agent)
        and (wanted.roots is None or root.id in wanted.roots)
    )


def _ghost(root: Root, text: OldText) -> Memory:
    """A row for a memory that is not on disk any more."""
    version = text.version
    address = Address(root.id, text.path)
    return Memory(address, root.scope, root.agent, version.bytes, version.at, None, actor=version.actor, missing=True)


class _Plan:
    """Rows, made ready for many searches."""

    def __init__(self, lists: list[tuple[Memory, ...]]) -> None:
        self.lists = lists
        self.rows = [row for items in lists for row in items]
        self.index = {row.address: index for index, row in enumerate(self.rows)}
        self.names = [fold(row.address.path) for row in self.rows]
        self.abouts = [fold(row.description) for row in self.rows]
        self.best_first = sorted(range(len(self.rows)), key=lambda index: _tie_break(self.rows[index]))
        self.place = [0] * len(self.rows)
        """Where each row comes among equally good hits."""
        for place, index in enumerate(self.best_first):
            self.place[index] = place
        self.roots = [self.rows[index].address.root for index in self.best_first]
        """The root of the row in each place."""
        self.words = Words()
        """Of the descriptions, which are many with the same words."""
        for index, about in enumerate(self.abouts):
            if about:
                self.words.add(index, about)
        self._numbers: list[int | None] = []
        self._known = -1

    def numbers(self, texts: Texts) -> list[int | None]:
        """Under which number the text of each row is kept."""
        if self._known != len(texts):
            self._known = len(texts)
            self._numbers = [texts.number(row.sha256) for row in self.rows]
        return self._numbers


def _tie_break(row: Memory) -> tuple[bool, float, int, Address]:
    return not row.pinned, -row.heat, -row.modified_at, row.address


class _Run:
    """One search."""

    def __init__(
        self, query: Query, wanted: Wanted, plan: _Plan, texts: Texts, reading: Callable[[str], RootHandle]
    ) -> None:
        self._query = query
        self._wanted = wanted
        self._plan = plan
        self._texts = texts
        self._reading = reading
        self._all = (*query.terms, *query.without, *((query.whole,) if query.whole is not None else ()))
        self._heads = [self._in_heads(term) for term in self._all]
        """Rows whose name or description holds a term, with the level, for each term."""
        self._loose: list[dict[int, int]] = [{} for _ in self._all]
        """The same for texts that are not kept."""
        self._made: dict[int, Hit | None] = {}
        self._old: list[tuple[int, OldText, Memory, Callable[[], Versions]]] = []

    def _in_heads(self, term: Term) -> dict[int, int]:
        plan = self._plan
        found: dict[int, int] = {}
        about = rank.level(rank.DESCRIPTION, 0)
        for form in term.forms:
            if " " in form:
                graded = {index: term.grade(text) or 0 for index, text in enumerate(plan.abouts) if form in text}
            else:
                graded = plan.words.grades(form)
            for index in found.keys() & graded.keys():
                graded[index] = min(graded[index], found[index] - about)
            found |= {index: about + grade for index, grade in graded.items()}
        for form in term.forms:
            for index in [index for index, name in enumerate(plan.names) if form in name]:
                found[index] = rank.level(rank.NAME, rank.grade_name(term, plan.names[index]) or 0)
        return found

    def unread(self) -> list[Memory]:
        """The rows with a text that is not kept."""
        numbers = self._plan.numbers(self._texts)
        if None not in numbers:
            return []
        return [
            row
            for row, number in zip(self._plan.rows, numbers, strict=True)
            if number is None and row.sha256 is not None and not row.missing
        ]

    def look_at(self, row: Memory, folded: str) -> None:
        """Look for every term in a text that is not kept."""
        index = self._plan.index[row.address]
        for term, found in zip(self._all, self._loose, strict=True):
            grade = term.grade(folded)
            if grade is not None:
                found[index] = rank.level(rank.BODY, grade)

    def look_at_old(self, text: OldText, row: Memory, folded: str, versions: Callable[[], Versions]) -> None:
        """Look for the query in an old version: what its name leaves must be in the text, and at least one term."""
        query = self._query
        name = fold(text.path)
        if not any(term.is_in(folded) for term in query.terms):
            return
        if all(term.is_in(folded) or term.is_in(name) for term in query.terms) and query.allows(name, folded):
            together = query.whole is not None and not query.whole.is_in(folded)
            self._old.append((int(together), text, row, versions))

    # --- the answer

    def found(self, *, complete: bool) -> Found:
        """What there is so far."""
        keys = self._keys()
        count = max(len(self._plan.rows), 1)
        limit = self._wanted.limit
        indexes = [self._plan.best_first[key % count] for key in nsmallest(limit, keys)]
        hits = [hit for index in indexes if (hit := self._hit(index)) is not None]
        old = sorted(self._old, key=lambda one: one[0])
        for _, text, row, versions in old[: max(limit - len(indexes), 0)]:
            data = versions().stored([text.blob]).get(text.blob, b"")
            hit = rank.find(self._query, row, decode(data), text.version)
            if hit is not None:
                hits.append(hit)
        of = self._plan.roots
        roots = Counter([of[key % count] for key in keys] if len(self._plan.lists) > 1 else {})
        if len(self._plan.lists) == 1 and keys:
            roots[of[0]] = len(keys)
        roots.update(row.address.root for _, _, row, _ in old)
        return Found(tuple(hits), len(keys) + len(old), tuple(roots.items()), complete)

    def _keys(self) -> list[int]:
        """For each hit a number to sort by, from which its row can be told."""
        levels = [self._levels(number) for number in range(len(self._all))]
        query = self._query
        wanted = levels[: len(query.terms)]
        found = set(wanted[0]).intersection(*wanted[1:])
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
        """The rows that hold a term, and at which level."""
        found: dict[int, int] = {}
        if self._wanted.bodies:
            body = rank.level(rank.BODY, 0)
            by_text = self._texts.grades(self._all[number])
            if by_text:
                numbers = self._plan.numbers(self._texts)
                found = {
                    index: body + by_text[number]
                    for index, number in enumerate(numbers)
                    if number is not None and number in by_text
                }
            found.update(self._loose[number])
        found.update(self._heads[number])
        return found

    def _hit(self, index: int) -> Hit | None:
        """The hit for a row, from its text on disk now; None when that does not hold the query any more."""
        if index not in self._made:
            row = self._plan.rows[index]
            self._made[index] = rank.find(self._query, row, self._text(row))
        return self._made[index]

    def _text(self, row: Memory) -> str:
        if not self._wanted.bodies or row.sha256 is None or row.missing:
            return ""
        try:
            return decode(
                whole_file.read_bytes(self._reading(row.address.root), paths.split(row.address.path), row.address)
            )
        except MemtuiError:
            return ""  # it went since: the hit is about its name, or there is none
