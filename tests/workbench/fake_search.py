"""The search of the engine in a dictionary: the same hits by looking at every text, and a gate to hold it at."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from memtui.engine.find import rank
from memtui.engine.look.folder_listing import FolderItem, FolderItems
from memtui.engine.model import Address, Found, Hit, Wanted
from memtui.matching import typed

if TYPE_CHECKING:
    from tests.workbench.fake_engine import FakeEngine


class Searched:
    """The part of a fake engine that is searched, by its own search or name by name."""

    def __init__(self) -> None:
        self.searching = FakeSearch(cast("FakeEngine", self))

    def find(self, wanted: Wanted, *, stop: Callable[[], bool], tell: Callable[[Found], None]) -> Found:
        """Search."""
        self.searching.enter(wanted)
        return self.searching.find(wanted, stop=stop, tell=tell)

    def read_bytes(self, address: Address) -> bytes:
        """Read the bytes."""
        return cast("FakeEngine", self).read(address).bytes

    def folder(self, root_id: str, *, depth: int = 1, sizes: bool = False) -> FolderItems:
        """Give the names of a root."""
        held = cast("FakeEngine", self).data
        found = [address for address in held if address.root == root_id]
        return FolderItems(
            tuple(FolderItem(one.path, "memory", len(held[one]), shown=True, filled=True) for one in found), 0
        )

    def forget_texts(self) -> None:
        """Count it."""
        self.searching.forgotten += 1


class FakeSearch:
    """Finds in a fake engine."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self.gate = threading.Event()
        """Clear it, and a search tells its hits in names, then waits until it is set or outdated."""
        self.gate.set()
        self.asked: list[Wanted] = []
        self.outdated = 0
        self.forgotten = 0

    def enter(self, wanted: Wanted) -> None:
        """Note the call, and fail when the test wants that."""
        self._engine._enter("find", wanted.query)

    def find(self, wanted: Wanted, *, stop: Callable[[], bool], tell: Callable[[Found], None]) -> Found:
        """Search."""
        self.asked.append(wanted)
        if not self.gate.is_set():
            tell(self._find(wanted._replace(bodies=False, versions=False))._replace(complete=False))
            while not self.gate.wait(0.005):
                if stop():
                    self.outdated += 1
                    return Found((), 0, complete=False)
        return self._find(wanted)

    def _find(self, wanted: Wanted) -> Found:
        query = typed(wanted.query)
        if query is None:
            return Found((), 0)
        engine = self._engine
        hits: list[tuple[int, Hit]] = []
        old: list[Hit] = []
        for address, row in sorted(engine.rows.items()):
            if wanted.roots is not None and address.root not in wanted.roots:
                continue
            text = engine.data[address].decode() if wanted.bodies else ""
            found = rank.match(query, address.path, row.description, text)
            hit = rank.find(query, row, text)
            if found is not None and hit is not None:
                hits.append((found.rank, hit))
        for address, versions in sorted(engine.versions.items()) if wanted.versions else ():
            row = engine.rows[address]
            for version in versions:
                if version.sha256 != row.sha256:
                    hit = rank.find(query, row, engine.kept[address, version.sha256].decode(), version)
                    old += [hit] if hit is not None else []
        best = [hit for _, hit in sorted(hits, key=lambda one: (one[0], one[1].memory.address))] + old
        roots: dict[str, int] = {}
        for hit in best:
            roots[hit.memory.address.root] = roots.get(hit.memory.address.root, 0) + 1
        return Found(tuple(best[: wanted.limit]), len(best), tuple(roots.items()))
