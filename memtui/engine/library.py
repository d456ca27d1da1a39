"""Everything that only reads: rows, status, search; and the watch, which reads to say what others did."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from memtui.engine.disk import fsio, paths
from memtui.engine.disk.paths import RootHandle
from memtui.engine.events import Events
from memtui.engine.ledger import Ledger
from memtui.engine.look.catalog import Catalog
from memtui.engine.look.roots import OpenRoot, Roots
from memtui.engine.look.row_cache import Remembered, Rows, listing
from memtui.engine.model import (
    BROUGHT,
    Address,
    Changes,
    Health,
    Hit,
    Listing,
    Memory,
    Problem,
    Root,
    RootStatus,
    Wanted,
)
from memtui.errors import MemtuiError, NotFoundError

if TYPE_CHECKING:
    from memtui.engine.find.finder import Finder, Listed
    from memtui.engine.look.reconcile import Reconciler
    from memtui.engine.watch.watch import Watch


class Library:
    """The reading half of the engine; safe to share between threads."""

    def __init__(
        self, roots: Roots, ledger: Ledger, events: Events, clock: Callable[[], int], remembered: Remembered
    ) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._events = events
        self._clock = clock
        self._catalog = Catalog(ledger, ledger.directory, clock, remembered=remembered)
        self._reconciler: Reconciler | None = None
        self._watched = False

    def list(self, root_ids: Iterable[str] | None) -> Listing:
        """See `Engine.list`."""
        items: list[Memory] = []
        status = []
        chosen = self._roots.chosen(root_ids)
        # Asked before anything is read: what is recorded meanwhile is found by the next list.
        counter = self._catalog.counter() if len(chosen) > 1 else None
        for root in chosen:
            rows, found = self._look(root, counter)
            items += rows.items
            status.append(found)
        return Listing(tuple(items), any(one.truncated for one in status), tuple(status))

    def cached(self) -> Listing | None:
        """See `Engine.cached`."""
        return listing((root, self._catalog.cached(root)) for root in self._roots.all())

    def memory(self, address: Address) -> Memory:
        """See `Engine.memory`."""
        row = self.memories((address,)).get(address)
        if row is None:
            raise NotFoundError(f"There is no memory {address}.", hint="`memtui ls` lists what there is.")
        return row

    def memories(self, addresses: Iterable[Address]) -> dict[Address, Memory]:
        """See `Engine.memories`."""
        by_root: dict[str, list[Address]] = {}
        for address in addresses:
            paths.split(address.path)
            by_root.setdefault(address.root, []).append(address)
        found: dict[Address, Memory] = {}
        for root_id, wanted in by_root.items():
            opened = self._roots.open(self._roots.find(root_id))
            if opened.handle is not None:
                rows = self._catalog.some(opened.handle, opened.uid, [address.path for address in wanted])
                found.update((address, rows[address.path]) for address in wanted if address.path in rows)
        return found

    def written_at(self, addresses: Iterable[Address]) -> dict[Address, int]:
        """See `Engine.written_at`."""
        found = {}
        for address in addresses:
            shelf = self._catalog.shelf(self._roots.find(address.root))
            with shelf.guard:
                entry = shelf.tree.entry(address.path)
            if entry is not None:
                found[address] = entry.key.ctime_ns // 1_000_000
        return found

    def status(self) -> tuple[RootStatus, ...]:
        """See `Engine.root_status`."""
        return tuple(self._look(root)[1] for root in self._roots.all())

    @cached_property
    def finder(self) -> "Finder":
        """Who searches."""
        from memtui.engine.find.finder import Finder

        return Finder(
            self._listed,
            self._known,
            self._reading,
            lambda: self._ledger,
            self._ledger.directory,
            read_only=self._ledger.read_only,
        )

    def search(self, wanted: Wanted) -> tuple[tuple[Hit, ...], bool]:
        """See `Engine.search`."""
        from memtui.engine.find.finder import chosen
        from memtui.matching import parse

        parse(wanted.query)
        found = self.finder.find(wanted)
        cut = any(self._catalog.cut(root) for root in self._roots.all() if chosen(root, wanted))
        return found.hits, cut or found.total > len(found.hits)

    def lift_limits(self) -> None:
        """See `Engine.lift_limits`."""
        self._catalog.lift()

    def reconcile(self, root_ids: Iterable[str] | None) -> Changes:
        """See `Engine.reconcile`."""
        return self._reconcile().reconcile(
            None if root_ids is None else [root.id for root in self._roots.chosen(root_ids)]
        )

    def watch(self, on_changes: Callable[[Changes], None], on_health: Callable[[Health], None]) -> "Watch":
        """See `Engine.watch`."""
        from memtui.engine.watch.watch import Watch

        self._watched = True
        return Watch(
            self._reconcile(), self._ledger.directory, on_changes, on_health, clock=self._clock, pace=self._roots.pace
        )

    def close(self) -> None:
        """Stop searching, and write rows down for the next process."""
        if "finder" in self.__dict__:
            self.finder.close()
        if self._ledger.mode == "normal":
            # Whoever followed along shows rows at the next start before it reads any.
            self._catalog.keep(small=self._watched)

    # --- inside

    def _reconcile(self) -> "Reconciler":
        if self._reconciler is None:
            from memtui.engine.look.reconcile import Reconciler

            self._reconciler = Reconciler(self._roots, self._ledger, self._catalog, clock=self._clock)
            self._events.subscribe(self._reconciler.published)
        return self._reconciler

    def _reading(self, root_id: str) -> RootHandle:
        return self._roots.reading(self._roots.find(root_id))

    def _listed(self, fresh: bool) -> "Iterator[Listed]":
        """The rows of every root that can be opened; those of the last list unless they are to be fresh."""
        from memtui.engine.find.finder import Listed

        for root in self._roots.all():
            try:
                opened = self._roots.open(root)
                rows = None if fresh else self._catalog.cached(root)
                if rows is None and opened.handle is not None:
                    rows = self._catalog.rows(opened.handle, opened.uid)
            except MemtuiError:
                continue  # `status` tells what is wrong with it
            whole = rows is not None and not rows.truncated
            yield Listed(root, opened.uid, rows.items if rows is not None else (), whole)

    def _known(self) -> "Iterator[Listed]":
        """The rows of an earlier look, without touching memories."""
        from memtui.engine.find.finder import Listed

        for root in self._roots.all():
            rows = self._catalog.cached(root)
            if rows is not None:
                yield Listed(root, -1, rows.items, whole=False)

    def _look(self, root: Root, counter: tuple[int, int] | None = None) -> tuple[Rows, RootStatus]:
        problems = list(self._roots.problems.get(root.id, ()))
        rows = Rows((), 0, 0)
        opened: OpenRoot | None = None
        try:
            opened = self._roots.open(root)
            if opened.handle is not None:
                rows = self._catalog.rows(opened.handle, opened.uid, counter)
        except MemtuiError as error:
            problems.append(Problem(error.code, error.message))
        waiting = sum([row.trust == BROUGHT for row in rows.items])
        if waiting:
            problems.append(unreviewed(waiting))
        exists = opened is None or opened.handle is not None
        status = RootStatus(
            root,
            exists,
            not root.read_only and (not exists or fsio.may_write(root.path)),
            not waiting,
            rows.files,
            rows.bytes,
            rows.truncated,
            (*problems, *rows.problems),
        )
        return rows, status


def unreviewed(count: int) -> Problem:
    """What is said of a root in a checkout with so many versions that nobody wrote here or reviewed."""
    what = "1 memory waits" if count == 1 else f"{count:,} memories wait"
    return Problem("unreviewed", f"{what} for your review: a repository may have put {_IT[count > 1]} there.")


_IT = ("it", "them")
