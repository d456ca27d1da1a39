"""What others did: looks at the disk, settles what it finds, records it in the ledger and says it once.

The watch's events only say where to look first; every belief is made here, from scans and reads, by the rules of
`detect.py`. It exists so that a lost event, a half-written file or our own save never becomes a wrong story.
It is apart so that one look needs no thread.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from memtui.engine.disk import fsio
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.look.catalog import Catalog
from memtui.engine.look.detect import QUIET_MS, ChangeDetector
from memtui.engine.look.root_pass import NOWHERE, Gathered, Glance, RootPass, RootState, Tools
from memtui.engine.look.roots import OpenRoot, Roots
from memtui.engine.model import Change, Changes, Notice, Root
from memtui.errors import MemtuiError

_ROUNDS = 4
"""How often a single call looks again for files that were changed a moment ago."""
RETRY_MS = 1_000
"""When to try again what the ledger could not take."""
_LEDGER_TROUBLE = ("E_STORE", "E_STORE_DAMAGED", "E_LOCKED", "E_DISK_FULL")


class Reconciler:
    """Keeps what is believed of every root equal to the disk. Safe to share between threads."""

    def __init__(
        self,
        roots: Roots,
        ledger: Ledger,
        catalog: Catalog,
        *,
        ticks: Callable[[], int] = fsio.monotonic_ms,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        """Take what it works with; nothing is looked at yet.

        Args:
            roots: the roots.
            ledger: where settled versions are recorded.
            catalog: where what is on disk is kept.
            ticks: milliseconds that only move forward.
            wait: how a single call waits for a file to settle, in seconds.
        """
        self._roots = roots
        self._catalog = catalog
        self._tools = Tools(roots, ledger, catalog, ledger.clock, ticks)
        self.clock, self.ticks = ledger.clock, ticks
        """Milliseconds since the epoch, and milliseconds that only move forward."""
        self._wait = wait or threading.Event().wait
        self._guard = threading.RLock()
        self._states: dict[str, RootState] = {}
        self._own: deque[Change] = deque()

    def published(self, changes: Changes) -> None:
        """Take note of changes this process made and told by itself, so that they are not told again. Never waits."""
        self._own.extend(changes.changes)

    def reconcile(self, root_ids: Iterable[str] | None = None) -> Changes:
        """Look at whole roots once, record what others finished and say it.

        Waits a few tenths of a second at most for files that were changed a moment ago. A file that went is told as
        deleted only when it is known to be gone for long enough.

        Args:
            root_ids: these roots; None for all.

        Raises:
            StorageError, BusyError: the ledger cannot take anything of what was found; it is found again.
        """
        gathered = Gathered()
        with self._guard:
            roots = {root.id: Glance() for root in self._roots.chosen(root_ids)}
            for _ in range(_ROUNDS):
                self._pass(roots, gathered, patient=False)
                roots = {root_id: NOWHERE for root_id in roots if self._settling(root_id)}
                if not roots:
                    break
                self._wait(QUIET_MS / 1000)
        if gathered.trouble is not None and not gathered.changes:
            raise gathered.trouble
        return self._told(gathered)

    def look(self, glances: Mapping[str, Glance]) -> Changes:
        """Make one pass for a watch: look where it says and at everything undecided. Never waits.

        Args:
            glances: where to look, by root id. Roots that are not named are looked at where something is due.

        Returns:
            What is new; settled versions of one burst come together.
        """
        gathered = Gathered()
        with self._guard:
            now = self._tools.ticks()
            wanted = dict(glances)
            for root_id, state in self._states.items():
                if state.due is not None and state.due <= now:
                    wanted.setdefault(root_id, NOWHERE)
            self._pass(wanted, gathered, patient=True)
        return self._told(gathered)

    def due(self) -> int | None:
        """When to call `look` again although nothing happens, in ticks; None: no need."""
        with self._guard:
            return min((state.due for state in self._states.values() if state.due is not None), default=None)

    def roots(self) -> tuple[Root, ...]:
        """The roots that are looked after."""
        return self._roots.all()

    def folders(self, root: Root) -> tuple[str, ...]:
        """The folders of a root as of the last pass, relative to it; none when it is not there."""
        state = self._states.get(root.id)
        if state is None or not state.here:
            return ()
        shelf = self._catalog.shelf(root)
        with shelf.guard:
            return tuple(shelf.tree.folders)

    def files(self) -> int:
        """How many memories there are as of the last pass."""
        return sum(len(self._catalog.shelf(root).rows) for root in self._roots.all())

    def version(self) -> object:
        """Something that differs from an earlier one when folders came or went."""
        found = []
        for root in self._roots.all():
            state = self._states.get(root.id)
            found.append((root.id, root.path, state and state.here, self._catalog.shelf(root).tree.version))
        return found

    def ledger_version(self) -> int | None:
        """A number that differs from an earlier one when another process has written to the ledger since.

        None while it cannot be asked: what is wrong with it is found, and told, by the next pass.
        """
        try:
            return self._tools.ledger.change_counter()[0]
        except MemtuiError:
            return None

    def wants(self, root_id: str, folder: str, name: str) -> bool:
        """Whether something of this name in a folder could matter; said without waiting for anybody."""
        state = self._states.get(root_id)
        tree = state.tree if state is not None else None
        found = tree.folders.get(folder) if tree is not None else None
        return found is None or found.selection.file(name) or found.selection.folder(name) is not None

    def keep(self) -> None:
        """Write rows down for the next process's first paint."""
        self._catalog.keep()

    # --- one pass

    def _told(self, gathered: Gathered) -> Changes:
        if gathered.trouble is not None:
            gathered.notices.append(Notice("ledger", str(gathered.trouble), at=self._tools.clock()))
        return gathered.changed()

    def _settling(self, root_id: str) -> bool:
        state = self._states.get(root_id)
        if state is None or state.beliefs is None or state.due is None:
            return False
        return bool(state.beliefs.noticed) and state.due - self._tools.ticks() <= 2 * QUIET_MS

    def _pass(self, glances: Mapping[str, Glance], gathered: Gathered, *, patient: bool) -> None:
        own = [self._own.popleft() for _ in range(len(self._own))]
        opened: dict[str, OpenRoot] = {}
        # All are opened before the first is looked at: of roots that share a folder, none is to find it seen before.
        for root in self._roots.all():
            state = self._states.setdefault(root.id, RootState())
            if state.beliefs is not None:
                _note_own(state.beliefs, root, own)
            if root.id in glances:
                try:
                    # The folder itself is let go again: thousands of them cannot be open at a time.
                    opened[root.id] = self._roots.open(root)._replace(handle=None)
                except MemtuiError as error:
                    self._failed(root, state, error, gathered)
        for root_id, first in opened.items():
            root, state = first.root, self._states[root_id]
            shelf = self._catalog.shelf(root)
            try:
                found = self._roots.open(root)
                if found.handle is None:
                    self._away(root, state, gathered)
                    continue
                if found.uid == first.uid:
                    found = found._replace(fresh=first.fresh)
                RootPass(self._tools, root, state, shelf, found, gathered, patient=patient).run(glances[root_id])
            except MemtuiError as error:
                self._failed(root, state, error, gathered)

    def _failed(self, root: Root, state: RootState, error: MemtuiError, gathered: Gathered) -> None:
        """Go on with the other roots."""
        if error.code not in _LEDGER_TROUBLE:
            self._away(root, state, gathered)
            return
        # What was told so far must not be lost with the rest, which is tried again.
        state.due = self._tools.ticks() + RETRY_MS
        gathered.trouble = error

    def _away(self, root: Root, state: RootState, gathered: Gathered) -> None:
        """A root that is not there is an empty root; what it held is not deleted."""
        if state.here:
            gathered.roots.add(root.id)
        state.here, state.due = False, None
        if state.beliefs is not None:
            state.beliefs.gone.clear()
            state.beliefs.noticed.clear()


def _note_own(beliefs: ChangeDetector, root: Root, own: Iterable[Change]) -> None:
    for change in own:
        if change.address.root == root.id:
            beliefs.wrote(change.address.path, change.after)
        if change.old_address is not None and change.old_address.root == root.id:
            beliefs.wrote(change.old_address.path, None)
