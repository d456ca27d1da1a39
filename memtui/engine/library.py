"""The rows of memories: listing them, and how each root is on disk now."""

from collections.abc import Iterable

from memtui.engine.disk import fsio, paths
from memtui.engine.ledger import Ledger
from memtui.engine.look.catalog import Catalog
from memtui.engine.look.roots import OpenRoot, Roots
from memtui.engine.look.row_cache import Rows, listing
from memtui.engine.model import BROUGHT, Address, Listing, Memory, Problem, Root, RootStatus, Vanished
from memtui.errors import MemtuiError, NotFoundError


class Library:
    """Gives rows of memories; safe to share between threads."""

    def __init__(self, roots: Roots, ledger: Ledger, catalog: Catalog) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._catalog = catalog

    def list(self, root_ids: Iterable[str] | None = None) -> Listing:
        """The memories of some or all roots as they are now; records nothing."""
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
        """The rows of the last list, without touching a memory; None when there are none."""
        return listing((root, self._catalog.cached(root)) for root in self._roots.all())

    def get(self, address: Address) -> Memory:
        """One row; `NotFoundError` when there is no such memory."""
        row = self.some((address,)).get(address)
        if row is None:
            raise NotFoundError(f"There is no memory {address}.", hint="`memtui ls` lists what there is.")
        return row

    def some(self, addresses: Iterable[Address]) -> dict[Address, Memory]:
        """Rows of those of these memories that are there."""
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
        """When files last changed (their ctime, in milliseconds) as of the last look; nothing is read for it."""
        found = {}
        for address in addresses:
            shelf = self._catalog.shelf(self._roots.find(address.root))
            with shelf.guard:
                entry = shelf.tree.entry(address.path)
            if entry is not None:
                found[address] = entry.key.ctime_ns // 1_000_000
        return found

    def status(self) -> tuple[RootStatus, ...]:
        """How each root is on disk now."""
        return tuple(self._look(root)[1] for root in self._roots.all())

    def lift_limits(self) -> None:
        """List and search roots of any size from now on, for an answer that must not leave anything out."""
        self._catalog.lift()

    def vanished(self) -> tuple[Vanished, ...]:
        """Roots whose folder is not there although there were memories in it."""
        found = []
        for root in self._roots.all():
            try:
                opened = self._roots.open(root)
            except MemtuiError:
                continue  # a folder that cannot be opened shows its reason in the list of roots
            if opened.handle is None and not opened.fresh:
                memories, at = self._ledger.memories.held(opened.uid)
                if memories:
                    found.append(Vanished(root, memories, at))
        return tuple(found)

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
