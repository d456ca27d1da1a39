"""A root on disk, the reading half of the engine on it, and a clock whose hands only the test moves."""

import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from memtui.engine import Engine
from memtui.engine.disk.handles import RootHandle
from memtui.engine.disk.paths import Selection
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.look.catalog import Catalog
from memtui.engine.look.root_pass import Glance
from memtui.engine.look.roots import Roots
from memtui.engine.look.scan import RootTree
from memtui.engine.model import Address, Changes, Memory, Policy, Root
from memtui.engine.part import Events
from memtui.engine.save.files import LateWrites
from memtui.engine.watch.watch import Reconciler

OLD_NS = 1_000_000_000 * 10**9
"""A modification time long ago."""
PLAIN = Policy()


def no_changes() -> LateWrites:
    """What a change needs: nothing here makes one."""
    raise AssertionError("the reading half changes no memory")


class Hands:
    """The hands of the clock: the wall clock starts now, because files carry the system's time."""

    def __init__(self) -> None:
        self.wall = time.time_ns() // 1_000_000
        self.ticks_now = 1_000_000

    def clock(self) -> int:
        return self.wall

    def ticks(self) -> int:
        return self.ticks_now

    def advance(self, ms: float) -> None:
        self.wall += round(ms)
        self.ticks_now += round(ms)

    def wait(self, seconds: float) -> None:
        """What the reconciler waits with: time passes at once."""
        self.advance(seconds * 1000)


class RealHands(Hands):
    """The system's clocks, for what really waits."""

    def clock(self) -> int:
        self.wall = time.time_ns() // 1_000_000
        return self.wall

    def ticks(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def wait(self, seconds: float) -> None:
        threading.Event().wait(seconds)


class ReadingWorld:
    """One root `t` and everything that reads it."""

    def __init__(self, base: Path, *, policy: Policy = PLAIN, hands: Hands | None = None) -> None:
        self.base = base
        self.folder = base / "root"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.state = base / "state"
        self.root = Root("t", str(self.folder), policy=policy)
        self.hands = hands or Hands()
        self.open()

    def open(self) -> None:
        hands = self.hands
        self.ledger = Ledger(str(self.state), clock=hands.clock)
        self.roots = Roots(
            [self.root],
            lambda: self.ledger,
            no_changes,
            wait=1,
            on_recovered=lambda _root, _count: None,
            on_waiting=lambda _text: None,
        )
        self.catalog = Catalog(self.ledger, ticks=hands.ticks)
        self.events = Events()
        self.reconciler = Reconciler(self.roots, self.ledger, self.catalog, self.events, wait=hands.wait)

    def close(self) -> None:
        self.catalog.keep()
        self.roots.close()
        self.ledger.close()

    def engine(self) -> Engine:
        """A whole engine on the same state, as another process has it."""
        return Engine.open([self.root], state_dir=str(self.state), clock=self.hands.clock)

    def write(self, path: str, data: bytes | str, *, old: bool = False) -> Path:
        """Write a file as another program does, at the time the clock shows; `old` dates it back."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        at = OLD_NS if old else self.hands.clock() * 1_000_000
        os.utime(file, ns=(at, at))
        return file

    def at(self, path: str) -> Address:
        return Address(self.root.id, path)

    # --- rows

    def handle(self) -> RootHandle:
        opened = self.roots.open(self.root).handle
        assert opened is not None
        return opened

    def rows(self) -> dict[str, Memory]:
        """Rows by path, as a list shows them now."""
        opened = self.roots.open(self.root)
        assert opened.handle is not None
        return {row.address.path: row for row in self.catalog.rows(opened.handle, opened.uid).items}

    def codes(self, path: str) -> list[str]:
        return [problem.code for problem in self.rows()[path].problems]

    def tree_selection(self) -> Selection:
        return Selection.of(self.root.policy)

    def tree(self, **limits: int) -> RootTree:
        """A tree of the root, looked at once."""
        tree = RootTree(self.tree_selection(), **limits)
        tree.refresh(self.handle())
        return tree

    # --- what others did

    def reconcile(self) -> Changes:
        """One call as a command makes it."""
        return self.reconciler.reconcile()

    def look(self, *names: str, everything: bool = False) -> Changes:
        """One pass as a watch makes it, at some paths."""
        below: dict[str, set[str]] = {}
        for path in names:
            folder, _, name = path.rpartition("/")
            below.setdefault(folder, set()).add(name)
        frozen = {folder: frozenset(some) for folder, some in below.items()}
        return self.reconciler.look({self.root.id: Glance(everything=everything, names=frozen)})

    def settle(self, ms: int = 3_000, step: int = 50) -> Changes:
        """Let time pass as a watch does that hears nothing; everything that was told, as one value."""
        found = [self.look(everything=True)]
        for _ in range(ms // step):
            self.hands.advance(step)
            due = self.reconciler.due()
            if due is not None and due <= self.hands.ticks():
                found.append(self.reconciler.look({}))
        return joined(found)


def joined(found: Iterable[Changes]) -> Changes:
    values = list(found)
    return Changes(
        tuple(change for value in values for change in value.changes),
        frozenset(address for value in values for address in value.touched),
        frozenset(root for value in values for root in value.roots),
        tuple(notice for value in values for notice in value.notices),
    )


def kinds(changes: Changes) -> dict[str, str]:
    return {change.address.path: change.kind for change in changes.changes}


def versions(world: ReadingWorld, path: str) -> list[tuple[str, str]]:
    """The history of one memory, oldest first: (what happened, who)."""
    uid = world.roots.uid(world.root)
    return [(version.operation, version.actor) for version in reversed(world.ledger.versions.history(uid, path))]
