"""The search over everything: names and descriptions, texts by the index or by reading them, old versions on request.

It tells what it has found so far, and can be told to stop at any moment. What the index does not have is read from its
file, and kept for the next search by a thread of its own. What is given back was read again from disk for that.
It is apart so that it knows no ledger and no catalog, and is tried without them.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import handles, paths
from memtui.engine.disk.handles import RootHandle
from memtui.engine.find import rank
from memtui.engine.find.holders import Heads, Holders, WordHolders, having, heads
from memtui.engine.find.index import LARGEST, Grades, Held, IndexAnswer, Text, TextIndex, keep, words
from memtui.engine.ledger.versions import OldText
from memtui.engine.model import Address, Found, Hit, Memory, Root, Wanted
from memtui.errors import MemtuiError
from memtui.matching import Query, Term, fold, typed

if TYPE_CHECKING:
    from memtui.engine.ledger.versions import VersionTable

SOON, SLICE = 0.03, 0.1
"""Seconds after which what was found so far is told: the first time, and from then on."""
SCREEN = 40
"""Hits that are told before the others are read."""
LEAVE = 0.3
"""Seconds that closing waits for texts on their way into the index; the rest is for the next search."""
ROOM, OLD_ROOM = 30 * 1024 * 1024, 8 * 1024 * 1024
"""Letters of texts that are not in the index yet, and of old versions, that are kept in memory."""
_CHUNK = 64
_NOTHING = Found((), 0)


class ListedRoot(NamedTuple):
    """One root, as it was last listed."""

    root: Root
    uid: int
    items: tuple[Memory, ...]
    whole: bool
    """Whether these are all memories it has."""


Stop = Callable[[], bool]
Tell = Callable[[Found], object]


class Finder:
    """Searches; safe to share between threads, which take turns."""

    def __init__(
        self,
        listed: Callable[[bool], Iterable[ListedRoot]],
        cached: Callable[[], Iterable[ListedRoot]],
        reading: Callable[[str], RootHandle],
        versions: Callable[[], VersionTable],
        state_dir: str,
        *,
        read_only: bool = False,
    ) -> None:
        """Keep nothing yet.

        Args:
            listed: gives the rows of every root; listed anew when called with True.
            cached: gives the rows of every root that an earlier look left, without looking.
            reading: gives the open folder of a root by its id.
            versions: gives the ledger, when old versions are asked for.
            state_dir: where the index is.
            read_only: leave the index as it is.
        """
        self._guard = threading.Lock()
        self._listed = listed
        self._cached = cached
        self._reading = reading
        self._versions = versions
        self._state_dir = state_dir
        self._read_only = read_only
        self._index = TextIndex(state_dir)
        self._builder: threading.Thread | None = None
        self._closing = threading.Event()
        self._built: tuple[_Plan | None, Held | None] | None = None
        """What the index was last found to be up to date with, or is made so."""
        self._waiting: dict[str, str] = {}
        """Folded texts by sha-256 that the index did not have at the last search."""
        self._old: dict[str, str] = {}
        self._old_bytes = 0
        self._plan: _Plan | None = None

    def find(self, wanted: Wanted, *, stop: Stop = lambda: False, tell: Tell | None = None) -> Found:
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
            if tell is not None and wanted.bodies and not self._index.warm:
                self._tell_first(query, wanted, stop, tell)
                if stop():
                    return _NOTHING._replace(complete=False)
            listed = [root for root in self._listed(wanted.fresh) if chosen(root.root, wanted)]
            running = _Run(query, wanted, self._planned(listed), self._reading)
            if wanted.bodies and not self._look(running, listed, stop, tell):
                return _NOTHING._replace(complete=False)
            if wanted.versions and not self._look_back(running, listed, stop, tell):
                return _NOTHING._replace(complete=False)
            return running.found(complete=True)

    def holders(self, asked: Sequence[str], wanted: Wanted) -> Holders:
        """Say which memories have some words, each whole, and where.

        Args:
            asked: words as `index.words` gives them.
            wanted: where to look; its query is not read.
        """
        with self._guard:
            listed = [root for root in self._listed(wanted.fresh) if chosen(root.root, wanted)]
            plan = self._planned(listed)
            answer = self._index.holding({root.root.path for root in listed}, asked)
            bodies: list[set[int]] = [set() for _ in asked]
            numbers: list[int | None] = [None] * len(plan.rows)
            if answer is not None:
                numbers, places = plan.numbers(answer.held), plan.places(answer.held)
                for found, texts in zip(bodies, answer.grades, strict=True):
                    if len(places) < len(numbers):  # two have the same text
                        found.update([index for index, number in enumerate(numbers) if number in texts])
                    else:
                        found.update(map(places.get, texts))  # type: ignore[arg-type]
                        found.discard(None)
            unread = _unread(plan.rows, numbers)
            for row, folded in self._texts(unread):
                held = set(words(folded).words)
                for word, found in zip(asked, bodies, strict=True):
                    if word in held:
                        found.add(plan.index[row.address])
            self._build(listed, unread, answer)
            names, abouts = ([having(word, texts) for word in asked] for texts in plan.heads)
            return Holders(tuple(plan.rows), tuple(map(WordHolders, names, abouts, bodies)))

    def forget(self) -> None:
        """Give the memory back that searching took."""
        with self._guard:
            self._index.forget()
            self._waiting = {}
            self._old.clear()
            self._old_bytes, self._plan, self._built = 0, None, None

    def settle(self) -> None:
        """Wait until the index has every text that was looked at."""
        if self._builder is not None:
            self._builder.join()

    def close(self) -> None:
        """Stop what writes the index, and close it."""
        if self._builder is not None:
            self._builder.join(LEAVE)
            self._closing.set()
            self._builder.join()
        with self._guard:
            self._index.close()

    def _planned(self, listed: list[ListedRoot]) -> _Plan:
        plan = self._plan
        if plan is None or len(listed) != len(plan.listed) or any(map(_differ, listed, plan.listed)):
            plan = self._plan = _Plan(listed)
        return plan

    # --- texts

    def _tell_first(self, query: Query, wanted: Wanted, stop: Stop, tell: Tell) -> None:
        """Tell what the index knows at once: memories as they were listed last, each looked at before it is told."""
        listed = [root for root in self._cached() if chosen(root.root, wanted)]
        if listed:
            running = _Run(query, wanted, self._planned(listed), self._reading, sure=False)
            answer = self._ask(running, stop, inside=False)
            if answer is not None and not stop():
                running.take(answer)
                found = running.found(complete=False, limit=min(wanted.limit, SCREEN))
                if found.hits:
                    tell(found)

    def _look(self, running: _Run, listed: list[ListedRoot], stop: Stop, tell: Tell | None) -> bool:
        """Look for the query in texts: by the index in those it has, by reading in the others; False when stopped."""
        answer = self._ask(running, stop, inside=True)
        if stop():
            return False
        running.take(answer)
        unread = running.unread()
        if tell is not None and not unread:
            running.tell_some(tell)
            if stop():
                return False
        told = None
        due = time.monotonic() + SOON
        for row, folded in self._texts(unread):
            if stop():
                return False
            if tell is not None and (told is None or time.monotonic() >= due):
                told = running.found(complete=False)
                tell(told)
                due = time.monotonic() + (SLICE if told.total else SOON)
            running.look_at(row, folded)
        self._build(listed, unread, answer)
        return True

    def _texts(self, rows: list[Memory]) -> Iterator[tuple[Memory, str]]:
        """The texts of memories, from memory or else from their files; as many as there is room for are kept."""
        before, self._waiting = self._waiting, {}
        room = ROOM
        for row, folded, sha in _in_turn(rows, before, self._reading):
            if sha == row.sha256 and len(folded) <= room:
                self._waiting[sha] = folded
                room -= len(folded)
            yield row, folded

    def _ask(self, running: _Run, stop: Stop, *, inside: bool) -> IndexAnswer | None:
        return self._index.ask(running.folders, running.terms, inside=inside, stop=stop)

    def _build(self, listed: list[ListedRoot], unread: list[Memory], answer: IndexAnswer | None) -> None:
        """Let a thread bring the index up to date with what was just looked at."""
        held = None if answer is None else answer.held
        new = [row for row in unread if row.bytes <= LARGEST]
        same = self._built is not None and self._built[0] is self._plan and self._built[1] is held
        busy = self._builder is not None and self._builder.is_alive()
        if self._read_only or busy or (same and not new):
            return
        self._built = (self._plan, held)
        folders = {one.root.id: one.root.path for one in listed}
        whole = {one.root.path: {row.sha256 for row in one.items} for one in listed if one.whole}
        if not new and (held is None or not any(held[path].keys() - shas for path, shas in whole.items())):
            return
        waiting = self._waiting

        def texts() -> Iterator[Text]:
            for row, folded, sha in _in_turn(new, waiting, self._reading):
                yield Text(folders[row.address.root], sha, folded)

        self._builder = threading.Thread(
            target=keep,
            args=(self._state_dir, whole, texts()),
            kwargs={"stop": self._closing.is_set},
            name="memtui-index",
            daemon=True,
        )
        self._builder.start()

    # --- old versions

    def _look_back(self, running: _Run, listed: list[ListedRoot], stop: Stop, tell: Tell | None) -> bool:
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
                if tell is not None and time.monotonic() >= due:
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


def _unread(rows: list[Memory], numbers: list[int | None]) -> list[Memory]:
    """The rows with a text that the index does not have."""
    if None not in numbers:
        return []
    return [
        row
        for row, number in zip(rows, numbers, strict=True)
        if number is None and row.sha256 is not None and not row.missing
    ]


def _ghost(root: Root, text: OldText) -> Memory:
    """A row for a memory that is not on disk any more."""
    version = text.version
    address = Address(root.id, text.path)
    return Memory(address, root.scope, root.agent, version.bytes, version.at, None, actor=version.actor, missing=True)


def _differ(one: ListedRoot, other: ListedRoot) -> bool:
    return one.items is not other.items or one.root is not other.root


class _Plan:
    """Rows, made ready for many searches."""

    def __init__(self, listed: list[ListedRoot]) -> None:
        self.listed = listed
        self.rows = [row for root in listed for row in root.items]
        self.names = [fold(row.address.path) for row in self.rows]
        self.abouts = [fold(row.description) for row in self.rows]
        self._held: Held | None = None
        self._numbers: list[int | None] = []
        self._places: dict[int | None, int] = {}

    @cached_property
    def best_first(self) -> list[int]:
        """The places of the rows, as equally good hits are shown."""
        return sorted(range(len(self.rows)), key=lambda index: _tie_break(self.rows[index]))

    @cached_property
    def place(self) -> list[int]:
        """Where each row comes among equally good hits."""
        found = [0] * len(self.rows)
        for place, index in enumerate(self.best_first):
            found[index] = place
        return found

    @cached_property
    def index(self) -> dict[Address, int]:
        """Where each row is."""
        return {row.address: index for index, row in enumerate(self.rows)}

    @cached_property
    def heads(self) -> tuple[Heads, Heads]:
        """Names and descriptions in the letters that words are compared in."""
        names, abouts = (
            heads([text if text.isascii() else " ".join(words(text).words) for text in texts])
            for texts in (self.names, self.abouts)
        )
        return names, abouts

    @cached_property
    def roots(self) -> list[str]:
        """The root of the row in each place."""
        return [self.rows[index].address.root for index in self.best_first]

    def numbers(self, held: Held) -> list[int | None]:
        """Under which number the index has the text of each row."""
        if held is not self._held:
            self._held = held
            each = [(held[root.root.path], root.items) for root in self.listed]
            self._numbers = [numbers.get(row.sha256 or "") for numbers, items in each for row in items]
            self._places = {number: index for index, number in enumerate(self._numbers)}
        return self._numbers

    def places(self, held: Held) -> dict[int | None, int]:
        """In which place the row is whose text the index has under a number; fewer where two have the same."""
        self.numbers(held)
        return self._places


def _tie_break(row: Memory) -> tuple[bool, float, int, Address]:
    return not row.pinned, -row.heat, -row.modified_at, row.address


class _Run:
    """One rank."""

    def __init__(
        self, query: Query, wanted: Wanted, plan: _Plan, reading: Callable[[str], RootHandle], *, sure: bool = True
    ) -> None:
        """Look at names and descriptions.

        Args:
            query: what was typed.
            wanted: what for, and where.
            plan: the rows.
            reading: gives the open folder of a root by its id.
            sure: the rows were just listed; else a text on disk that is not a row's own makes no hit.
        """
        self._query = query
        self._wanted = wanted
        self._plan = plan
        self._reading = reading
        self._sure = sure
        self.terms = (*query.terms, *query.without, *((query.whole,) if query.whole is not None else ()))
        self.folders = {root.root.path for root in plan.listed}
        """The folders of the roots that are searched."""
        self._heads = [self._in_heads(term) for term in self.terms]
        """Rows whose name or description holds a term, with the level, for each term."""
        self._numbers: list[int | None] = [None] * len(plan.rows)
        """Under which number the index has the text of each row."""
        self._graded: tuple[Grades, ...] = ({},) * len(self.terms)
        """What the index says of each term."""
        self._loose: list[dict[int, int]] = [{} for _ in self.terms]
        """Rows whose text holds a term, with the level, for texts the index does not have."""
        self._made: dict[int, Hit | None] = {}
        self._old: list[tuple[int, OldText, Memory, Callable[[], VersionTable]]] = []

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
        """Take what the index says."""
        if answer is not None:
            self._graded = answer.grades
            self._numbers = self._plan.numbers(answer.held)

    def unread(self) -> list[Memory]:
        """The rows with a text that the index does not have."""
        return _unread(self._plan.rows, self._numbers)

    def look_at(self, row: Memory, folded: str) -> None:
        """Look for every term in a text that the index does not have."""
        index = self._plan.index[row.address]
        for term, found in zip(self.terms, self._loose, strict=True):
            grade = term.grade(folded)
            if grade is not None:
                found[index] = rank.level(rank.BODY, grade)

    def look_at_old(self, text: OldText, row: Memory, folded: str, versions: Callable[[], VersionTable]) -> None:
        """Look for the query in an old version: what its name leaves must be in the text, and at least one term."""
        query = self._query
        name = fold(text.path)
        if not any(term.is_in(folded) for term in query.terms):
            return
        if all(term.is_in(folded) or term.is_in(name) for term in query.terms) and query.allows(name, folded):
            together = query.whole is not None and not query.whole.is_in(folded)
            self._old.append((int(together), text, row, versions))

    # --- the answer

    def tell_some(self, tell: Tell) -> None:
        """Tell the best hits when there are so many that reading all of them takes a while."""
        if self._wanted.limit > SCREEN:
            some = self.found(complete=False, limit=SCREEN)
            if some.total > SCREEN:
                tell(some)

    def found(self, *, complete: bool, limit: int | None = None) -> Found:
        """What there is so far."""
        keys = self._keys()
        count = max(len(self._plan.rows), 1)
        limit = self._wanted.limit if limit is None else limit
        indexes = [self._plan.best_first[key % count] for key in nsmallest(limit, keys)]
        hits = [hit for index in indexes if (hit := self._hit(index)) is not None]
        old = sorted(self._old, key=lambda one: one[0])
        for _, text, row, versions in old[: max(limit - len(indexes), 0)]:
            data = versions().stored([text.blob]).get(text.blob, b"")
            hit = rank.find(self._query, row, decode(data), text.version)
            if hit is not None:
                hits.append(hit)
        if len(self._plan.listed) > 1:
            of = self._plan.roots
            roots = Counter([of[key % count] for key in keys])
        else:
            roots = Counter({one.root.id: len(keys) for one in self._plan.listed if keys})
        roots.update(row.address.root for _, _, row, _ in old)
        return Found(tuple(hits), len(keys) + len(old), tuple(roots.items()), complete)

    def _keys(self) -> list[int]:
        """For each hit a number to sort by, from which its row can be told."""
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
        """The rows that hold a term, and at which level."""
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
        """The hit for a row, from its text on disk now; None when that does not hold the query any more."""
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
            return handles.read_bytes(self._reading(row.address.root), paths.split(row.address.path), row.address)
        except MemtuiError:
            return None  # it went since: the hit is about its name, or there is none


def decode(data: bytes) -> str:
    """The text of a memory, also where it is not UTF-8; without a byte-order mark, as an editor shows it."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def read_folded(rows: Iterable[Memory], reading: Callable[[str], RootHandle]) -> Iterator[tuple[Memory, str, str]]:
    """Read memories, one folder handle at a time.

    Args:
        rows: what to read, in the order of a list.
        reading: gives the open folder of a root by its id.

    Yields:
        The row, its text as `fold` gives it, and the sha-256 of what was read. What went, or is no text that may be
        read, is left out.
    """
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


def _in_turn(
    rows: list[Memory], kept: Mapping[str, str], reading: Callable[[str], RootHandle]
) -> Iterator[tuple[Memory, str, str]]:
    """What `read_folded` gives, without reading those that are kept by their sha-256."""
    for row in rows:
        if row.sha256 is not None and (folded := kept.get(row.sha256)) is not None:
            yield row, folded, row.sha256
    yield from read_folded([row for row in rows if row.sha256 not in kept], reading)


def _by_folder(rows: Iterable[Memory]) -> dict[tuple[str, str], list[Memory]]:
    found: dict[tuple[str, str], list[Memory]] = {}
    for row in rows:
        found.setdefault((row.address.root, row.address.path.rpartition("/")[0]), []).append(row)
    return found
