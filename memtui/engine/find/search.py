"""The search as an engine offers it: once, or again and again while somebody types.

It is apart so that only a command that uses it loads it.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from memtui.engine.disk.handles import RootHandle
from memtui.engine.find.finder import Finder, ListedRoot, chosen
from memtui.engine.find.holders import Holders
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.look.catalog import Catalog
from memtui.engine.look.roots import Roots
from memtui.engine.model import Found, Hit, Wanted
from memtui.errors import MemtuiError
from memtui.matching import parse


class Searcher:
    """Searches the memories of all roots."""

    def __init__(self, roots: Roots, ledger: Ledger, catalog: Catalog) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._catalog = catalog

    @cached_property
    def _finder(self) -> Finder:
        ledger = self._ledger
        return Finder(
            self._listed,
            self._known,
            self._reading,
            lambda: ledger.versions,
            ledger.directory,
            read_only=ledger.read_only,
        )

    def close(self) -> None:
        """Stop searching."""
        if "_finder" in self.__dict__:
            self._finder.close()

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
        """Memories that hold the query, best first, and whether there may be more.

        Args:
            query: words that must all occur; `"quoted"` ones together, `-excluded` ones not at all.
            scope, agent: only these.
            limit: at most so many.
            versions: also look in texts that memories had, and in those of deleted memories.
            given: the answer is for an agent, see `Wanted`.

        Raises:
            UsageError: `E_QUERY`, when there is nothing to look for.
        """
        parse(query)
        wanted = Wanted(query, scope, agent, versions=versions, limit=limit, given=given)
        found = self._finder.find(wanted)
        cut = any(self._catalog.cut(root) for root in self._roots.all() if chosen(root, wanted))
        return found.hits, cut or found.total > len(found.hits)

    def find(
        self,
        wanted: Wanted,
        *,
        stop: Callable[[], bool] = lambda: False,
        tell: Callable[[Found], object] | None = None,
    ) -> Found:
        """Search, telling what is found so far; texts come from the index as far as it has them, the others from files.

        Args:
            wanted: what for, and where; a query with nothing in it finds nothing.
            stop: asked again and again whether nobody wants the answer any more.
            tell: called with what was found so far, on this thread.
        """
        return self._finder.find(wanted, stop=stop, tell=tell)

    def holders(self, asked: Sequence[str], wanted: Wanted) -> Holders:
        """Say which memories have some words, each whole, and where: in the path, the description or the text.

        Args:
            asked: words as `index.words` gives them.
            wanted: where to look; its query is not read.
        """
        return self._finder.holders(asked, wanted)

    def settle(self) -> None:
        """Wait until the index has every text that was looked at, which in a large store takes seconds once."""
        if "_finder" in self.__dict__:
            self._finder.settle()

    def forget(self) -> None:
        """Give back the memory that searching took; what is on disk stays."""
        if "_finder" in self.__dict__:
            self._finder.forget()

    def _reading(self, root_id: str) -> RootHandle:
        return self._roots.reading(self._roots.find(root_id))

    def _listed(self, fresh: bool) -> Iterator[ListedRoot]:
        """The rows of every root that can be opened; those of the last list unless they are to be fresh."""
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
        """The rows of an earlier look, without touching memories."""
        for root in self._roots.all():
            rows = self._catalog.cached(root)
            if rows is not None:
                yield ListedRoot(root, -1, rows.items, whole=False)
