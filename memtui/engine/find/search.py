"""The search over everything: names and descriptions, texts by the index or by reading them, old versions on request.

It reports hits as it finds them, and can be stopped at any moment. Texts missing from the index are read from their
files, and indexed by a thread of its own. It is apart so that only a command that uses it loads it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

from memtui.engine.disk.handles import RootHandle
from memtui.engine.find.finder import (
    SCREEN,
    Holders,
    ListedRoot,
    Plan,
    SearchRun,
    WordHolders,
    chosen,
    decode,
    ghost,
    in_turn,
    texts_with_word,
    unread_of,
)
from memtui.engine.find.index import LARGEST, Held, IndexAnswer, Text, TextIndex, keep, words
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.ledger.versions import StoredVersion
from memtui.engine.look.catalog import Catalog
from memtui.engine.look.roots import Roots
from memtui.engine.model import Hit, Memory, SearchQuery, SearchResult
from memtui.errors import MemtuiError
from memtui.matching import Query, fold, parse, typed

SOON, SLICE = 0.03, 0.1
"""Seconds until the first report of hits, and between later ones."""
LEAVE = 0.3
"""Seconds that closing waits for texts being indexed; the rest is left to the next search."""
ROOM, OLD_ROOM = 30 * 1024 * 1024, 8 * 1024 * 1024
"""Characters of unindexed texts, and of old versions, that are cached."""
_CHUNK = 64
_NOTHING = SearchResult((), 0)

Stop = Callable[[], bool]
Tell = Callable[[SearchResult], object]


class Searcher:
    """Searches; threads take turns."""

    def __init__(self, roots: Roots, ledger: Ledger, catalog: Catalog) -> None:
        self._guard = threading.Lock()
        self._roots = roots
        self._ledger = ledger
        self._catalog = catalog
        self._index = TextIndex(ledger.directory)
        self._builder: threading.Thread | None = None
        self._closing = threading.Event()
        self._built: tuple[Plan | None, Held | None] | None = None
        """The rows and the index state that were last brought in step."""
        self._waiting: dict[str, str] = {}
        """Folded texts by sha-256 that the index lacked at the last search."""
        self._old: dict[str, str] = {}
        self._old_bytes = 0
        self._plan: Plan | None = None

    def once(
        self,
        query: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        limit: int = 50,
        versions: bool = False,
        given: bool = False,
    ) -> tuple[tuple[Hit, ...], bool]:
        """Return memories that match the query, best first, and whether there may be more.

        Words must all occur, `"quoted"` ones together, `-excluded` ones not at all. `versions`: also search old
        versions and deleted memories. `given`: the answer is for an agent, see `SearchQuery`. Raises `E_QUERY` for an
        empty query.
        """
        parse(query)
        wanted = SearchQuery(query, scope, agent, versions=versions, limit=limit, given=given)
        found = self.find(wanted)
        cut = any(self._catalog.cut(root) for root in self._roots.all() if chosen(root, wanted))
        return found.hits, cut or found.total > len(found.hits)

    def find(self, wanted: SearchQuery, *, stop: Stop = lambda: False, tell: Tell | None = None) -> SearchResult:
        """Search; an empty query finds nothing.

        `tell` gets the hits so far, on this thread. Once `stop` returns true the result is empty and not `complete`.
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
            running = SearchRun(query, wanted, self._planned(listed), self._reading)
            if wanted.bodies and not self._look(running, listed, stop, tell):
                return _NOTHING._replace(complete=False)
            if wanted.versions and not self._look_back(running, listed, stop, tell):
                return _NOTHING._replace(complete=False)
            return running.found(complete=True)

    def holders(self, asked: Sequence[str], wanted: SearchQuery) -> Holders:
        """Return which memories have some whole words (from `index.words`), in path, description or text."""
        with self._guard:
            listed = [root for root in self._listed(wanted.fresh) if chosen(root.root, wanted)]
            plan = self._planned(listed)
            answer = self._index.holding({root.root.path for root in listed}, asked)
            bodies: list[set[int]] = [set() for _ in asked]
            numbers: list[int | None] = [None] * len(plan.rows)
            if answer is not None:
                numbers = plan.numbers(answer.held)
                for found, texts in zip(bodies, answer.grades, strict=True):
                    found.update([index for index, number in enumerate(numbers) if number in texts])
            unread = unread_of(plan.rows, numbers)
            for row, folded in self._texts(unread):
                held = set(words(folded).words)
                for word, found in zip(asked, bodies, strict=True):
                    if word in held:
                        found.add(plan.index[row.address])
            self._build(listed, unread, answer)
            names, abouts = ([texts_with_word(word, texts) for word in asked] for texts in plan.heads)
            return Holders(tuple(plan.rows), tuple(map(WordHolders, names, abouts, bodies)))

    def forget(self) -> None:
        """Release cached data."""
        with self._guard:
            self._index.forget()
            self._waiting = {}
            self._old.clear()
            self._old_bytes, self._plan, self._built = 0, None, None

    def settle(self) -> None:
        """Wait until every text that was read is indexed."""
        if self._builder is not None:
            self._builder.join()

    def close(self) -> None:
        """Stop the indexing thread, and close the index."""
        if self._builder is not None:
            self._builder.join(LEAVE)
            self._closing.set()
            self._builder.join()
        with self._guard:
            self._index.close()

    def _reading(self, root_id: str) -> RootHandle:
        return self._roots.reading(self._roots.find(root_id))

    def _listed(self, fresh: bool) -> Iterator[ListedRoot]:
        """Yield the rows of every root that can be opened, listed anew if `fresh`."""
        for root in self._roots.all():
            try:
                opened = self._roots.open(root)
                rows = None if fresh else self._catalog.cached(root)
                if rows is None and opened.handle is not None:
                    rows = self._catalog.rows(opened.handle, opened.uid)
            except MemtuiError:
                continue  # `status` tells what is wrong with it
            whole = rows is not None and not rows.truncated
            yield ListedRoot(root, opened.uid, rows.items if rows is not None else (), whole)

    def _known(self) -> Iterator[ListedRoot]:
        for root in self._roots.all():
            rows = self._catalog.cached(root)
            if rows is not None:
                yield ListedRoot(root, -1, rows.items, whole=False)

    def _planned(self, listed: list[ListedRoot]) -> Plan:
        plan = self._plan
        if plan is None or len(listed) != len(plan.listed) or any(map(_differ, listed, plan.listed)):
            plan = self._plan = Plan(listed)
        return plan

    def _tell_first(self, query: Query, wanted: SearchQuery, stop: Stop, tell: Tell) -> None:
        """Report what the index knows at once, each hit verified before."""
        listed = [root for root in self._known() if chosen(root.root, wanted)]
        if listed:
            running = SearchRun(query, wanted, self._planned(listed), self._reading, sure=False)
            answer = self._index.ask(running.folders, running.terms, inside=False, stop=stop)
            if answer is not None and not stop():
                running.take(answer)
                found = running.found(complete=False, limit=min(wanted.limit, SCREEN))
                if found.hits:
                    tell(found)

    def _look(self, running: SearchRun, listed: list[ListedRoot], stop: Stop, tell: Tell | None) -> bool:
        """Match texts by the index or by reading them; return false when stopped."""
        answer = self._index.ask(running.folders, running.terms, inside=True, stop=stop)
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
        """Yield texts from the cache or their files, caching as many as there is room for."""
        before, self._waiting = self._waiting, {}
        room = ROOM
        for row, folded, sha in in_turn(rows, before, self._reading):
            if sha == row.sha256 and len(folded) <= room:
                self._waiting[sha] = folded
                room -= len(folded)
            yield row, folded

    def _build(self, listed: list[ListedRoot], unread: list[Memory], answer: IndexAnswer | None) -> None:
        """Start a thread that brings the index in step with the rows."""
        held = None if answer is None else answer.held
        new = [row for row in unread if row.bytes <= LARGEST]
        same = self._built is not None and self._built[0] is self._plan and self._built[1] is held
        busy = self._builder is not None and self._builder.is_alive()
        if self._ledger.read_only or busy or (same and not new):
            return
        self._built = (self._plan, held)
        folders = {one.root.id: one.root.path for one in listed}
        whole = {one.root.path: {row.sha256 for row in one.items} for one in listed if one.whole}
        if not new and (held is None or not any(held[path].keys() - shas for path, shas in whole.items())):
            return
        waiting = self._waiting

        def texts() -> Iterator[Text]:
            for row, folded, sha in in_turn(new, waiting, self._reading):
                yield Text(folders[row.address.root], sha, folded)

        self._builder = threading.Thread(
            target=keep,
            args=(self._ledger.directory, whole, texts()),
            kwargs={"stop": self._closing.is_set},
            name="memtui-index",
            daemon=True,
        )
        self._builder.start()

    def _look_back(self, running: SearchRun, listed: list[ListedRoot], stop: Stop, tell: Tell | None) -> bool:
        due = time.monotonic() + SLICE
        for root in listed:
            now = {row.address.path: row for row in root.items}
            old = []
            for text in self._ledger.versions.old_texts(root.uid):
                row = now.get(text.path)
                if row is None or row.sha256 != text.version.sha256:
                    old.append((text, row or ghost(root.root, text)))
            for start in range(0, len(old), _CHUNK):
                if stop():
                    return False
                if tell is not None and time.monotonic() >= due:
                    tell(running.found(complete=False))
                    due = time.monotonic() + SLICE
                some = old[start : start + _CHUNK]
                for (text, row), folded in zip(some, self._folded([text for text, _ in some]), strict=True):
                    running.look_at_old(text, row, folded, self._ledger.versions)
        return True

    def _folded(self, texts: list[StoredVersion]) -> Iterator[str]:
        missing = [text.blob for text in texts if text.version.sha256 not in self._old]
        data = self._ledger.versions.stored(missing) if missing else {}
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


def _differ(new: ListedRoot, old: ListedRoot) -> bool:
    return new.items is not old.items or new.root is not old.root
