"""The inbox as values: bursts and their changes as rows, which are open, marked, filtered; where the cursor's row went.

Nothing here draws or asks the engine, so that "new changes never move the cursor" is a rule with tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from memtui.engine.model import Address, Change, Vanished
from memtui.features.changes.bursts import Burst, bursts

BURST, CHANGE, VANISHED = "burst", "change", "vanished"
"""Kinds of rows."""

Key = tuple[object, ...]
"""What a row is, across reloads."""


class Loaded(NamedTuple):
    """What the engine knows of what others did."""

    changes: tuple[Change, ...] = ()
    written: Mapping[Address, int] = {}
    """When files say they were written, in milliseconds."""
    agents: Mapping[str, str] = {}
    """Root id to agent."""
    vanished: tuple[Vanished, ...] = ()
    kept: Mapping[Address, str | None] = {}
    """What memories hold now that are shown although they are seen."""


class Item(NamedTuple):
    """One row."""

    kind: str
    burst: Burst | None = None
    change: Change | None = None
    vanished: Vanished | None = None
    alone: bool = False
    """A change that is its whole burst, and so says who and when."""
    at: int = 0
    """When it was made."""

    @property
    def key(self) -> Key:
        """What it is."""
        if self.change is not None:
            return CHANGE, self.change.address
        if self.burst is not None:
            return BURST, *burst_key(self.burst)
        return VANISHED, self.vanished.root.id if self.vanished is not None else ""

    @property
    def changes(self) -> tuple[Change, ...]:
        """What an operation on this row works on."""
        if self.change is not None:
            return (self.change,)
        return self.burst.changes if self.burst is not None else ()


def burst_key(burst: Burst) -> Key:
    """What a burst is while it grows."""
    return burst.actor, burst.agent, burst.start, burst.moved


class Inbox:
    """All rows, and which are shown."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.marks: set[Address] = set()
        self.total = 0
        """Changes there are, filtered ones included."""
        self.groups = 0
        self.words: tuple[str, ...] = ()
        """What the filter asks for."""
        self.below: Callable[[Change], bool] | None = None
        """Only these are shown: what lies in one folder or scope."""
        self._loaded = Loaded()
        self._kept: dict[Address, Change] = {}
        self._open: dict[Key, bool] = {}
        """What the user opened or closed, and what was open when it was first shown."""

    def load(self, loaded: Loaded) -> None:
        """Take in what the engine knows now."""
        self._loaded = loaded
        for address, sha256 in loaded.kept.items():
            kept = self._kept.get(address)
            if kept is not None and sha256 in (None, kept.before):
                del self._kept[address]
            elif kept is not None:
                self._kept[address] = kept._replace(after=sha256)
        self.rebuild()
        self.marks &= {change.address for change in self._all()}

    @property
    def all_changes(self) -> tuple[Change, ...]:
        """Everything the filter lets through, also in closed bursts."""
        return tuple(change for change in self._all() if self._passes(change))

    @property
    def filtered(self) -> bool:
        """Whether something may be hidden."""
        return bool(self.words) or self.below is not None

    def keep(self, change: Change) -> None:
        """Go on showing a change of which a part was taken back until it is let go, also while it is as it was."""
        self._kept[change.address] = change

    def let_go(self, addresses: Iterable[Address] | None = None) -> None:
        """Show no longer what was kept; None: nothing of it."""
        for address in tuple(self._kept) if addresses is None else tuple(addresses):
            self._kept.pop(address, None)

    @property
    def kept(self) -> Mapping[Address, Change]:
        """Changes of which the user took a part back."""
        return self._kept

    def _all(self) -> tuple[Change, ...]:
        there = {change.address for change in self._loaded.changes}
        return (*self._loaded.changes, *(kept for address, kept in self._kept.items() if address not in there))

    def _passes(self, change: Change) -> bool:
        if self.below is not None and not self.below(change):
            return False
        text = f"{change.address} {change.old_address or ''} {change.actor} {change.kind}".casefold()
        return all(word in text for word in self.words)

    def rebuild(self) -> None:
        """Make the rows anew: the filter, the folds or the changes are others."""
        shown = self.all_changes
        self.total = len(self._all())
        found = bursts(shown, written=self._loaded.written, agents=self._loaded.agents)
        self.groups = len(found)
        times = self._loaded.written
        self.items = [] if self.filtered else [Item(VANISHED, vanished=one, at=one.at) for one in self._loaded.vanished]
        for burst in found:
            if len(burst.changes) == 1:
                self.items.append(Item(CHANGE, burst, burst.changes[0], alone=True, at=burst.end))
                continue
            self.items.append(Item(BURST, burst, at=burst.end))
            if self.is_open(burst):
                self.items += [
                    Item(CHANGE, burst, one, at=min(one.at, times.get(one.address, one.at))) for one in burst.changes
                ]

    # Folds

    def is_open(self, burst: Burst) -> bool:
        """Whether its changes are shown; one that was shown open stays so when it grows."""
        return self._open.setdefault(burst_key(burst), not burst.mass) or bool(self.words)

    def set_open(self, burst: Burst, *, wide: bool) -> None:
        """Open or close a burst."""
        self._open[burst_key(burst)] = wide
        self.rebuild()

    # Finding

    def place_of(self, item: Item | None, old: int) -> int:
        """Where a row is now; else its burst; else the row that took its place.

        Args:
            item: the row, as it was.
            old: its index then.
        """
        if item is None:
            return 0
        places = {one.key: index for index, one in enumerate(self.items)}
        if item.key in places:
            return places[item.key]
        if item.change is not None:
            for index, one in enumerate(self.items):
                if one.burst is not None and item.change.address in {change.address for change in one.changes}:
                    return index
        return max(min(old, len(self.items) - 1), 0)

    def place_named(self, name: str) -> int:
        """Where a row is of which only the key in words is known; -1: nowhere. A burst opens for one of its changes."""
        for item in self.items:
            burst = item.burst if item.kind == BURST else None
            if burst is not None and any(str(Item(CHANGE, change=one).key) == name for one in burst.changes):
                if not self.is_open(burst):
                    self.set_open(burst, wide=True)
                break
        return next((index for index, item in enumerate(self.items) if str(item.key) == name), -1)

    # Marks

    def targets(self, index: int) -> tuple[Change, ...]:
        """What an operation works on: all marked changes, else those of a row."""
        if self.marks:
            return tuple(change for change in self._all() if change.address in self.marks)
        return self.items[index].changes if 0 <= index < len(self.items) else ()

    def toggle_mark(self, index: int) -> None:
        """Mark what a row stands for, or take its marks away."""
        if 0 <= index < len(self.items):
            here = {change.address for change in self.items[index].changes}
            self.marks = self.marks - here if here <= self.marks else self.marks | here

    def mark_all(self) -> None:
        """Mark everything that passes the filter, or nothing when all of it is marked."""
        here = {change.address for change in self.all_changes}
        self.marks = set() if here <= self.marks else here

    def mark_range(self, first: int, last: int, base: frozenset[Address]) -> None:
        """Mark what lies between two rows, and what was marked before."""
        low, high = sorted((first, last))
        between = {one.change.address for one in self.items[low : high + 1] if one.change is not None}
        self.marks = between | base

    def marked(self, item: Item) -> bool:
        """Whether all a row stands for is marked."""
        return bool(self.marks) and bool(item.changes) and all(one.address in self.marks for one in item.changes)
