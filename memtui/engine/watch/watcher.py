"""What others change: found by one look, or followed on a thread of its own."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from memtui.engine.events import Events
from memtui.engine.ledger import Ledger
from memtui.engine.look.catalog import Catalog
from memtui.engine.look.reconcile import Reconciler
from memtui.engine.look.roots import Roots
from memtui.engine.model import Changes, Health

if TYPE_CHECKING:
    from memtui.engine.watch.watch import Watch


class Watcher:
    """Looks at the disk for what others did."""

    def __init__(self, roots: Roots, ledger: Ledger, catalog: Catalog, events: Events) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._catalog = catalog
        self._events = events
        self.following = False
        """Whether somebody followed along."""

    @cached_property
    def _reconciler(self) -> Reconciler:
        reconciler = Reconciler(self._roots, self._ledger, self._catalog, clock=self._ledger.clock)
        self._events.subscribe(reconciler.published)
        return reconciler

    def reconcile(self, root_ids: Iterable[str] | None = None) -> Changes:
        """Look at the disk, record what others finished, and say what is different."""
        return self._reconciler.reconcile(
            None if root_ids is None else [root.id for root in self._roots.chosen(root_ids)]
        )

    def start(self, on_changes: Callable[[Changes], None], on_health: Callable[[Health], None]) -> "Watch":
        """Follow all roots until the watch is stopped; the callbacks come on its own thread."""
        from memtui.engine.watch.watch import Watch

        self.following = True
        clock, pace = self._ledger.clock, self._roots.pace
        return Watch(self._reconciler, self._ledger.directory, on_changes, on_health, clock=clock, pace=pace)
