"""Two machines: folders of memories, each behind an engine of its own, between which bundles go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Root
from memtui.features.bundles import import_plan
from memtui.features.bundles.bundle import collect, read, write
from memtui.features.bundles.import_plan import Imported, ImportPlan
from tests.pointers.folder import disk

ME = Actor("cli")
NOW = 1_767_225_600_000
ROOT = "notes"


class Machine:
    """One folder of memories, with its engine."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.folder = base / "notes"
        self.folder.mkdir(parents=True)
        self.engine = Engine.open([Root(ROOT, str(self.folder))], state_dir=str(base / "state"))

    def at(self, name: str) -> Address:
        """Return an address."""
        return Address(ROOT, name)

    def write(self, name: str, text: bytes) -> None:
        """Save a memory, as the user does."""
        try:
            before = self.engine.read(self.at(name)).sha256
        except Exception:  # noqa: BLE001 - there is none yet
            before = None
        self.engine.save(self.at(name), text, expected_sha256=before, actor=ME)

    def held(self) -> dict[str, bytes]:
        """Return every file."""
        return disk(self.folder)

    def export(self, *, history: bool = False) -> bytes:
        """Return a bundle of everything."""
        self.engine.watch.reconcile()
        deleted = [entry.address for entry in self.engine.undo.trash.entries()] if history else []
        return write(collect(self.engine, self.engine.rows.list().items, history=history, deleted=deleted).bundle)

    def plan(self, data: bytes, into: Mapping[str, str] | None = None) -> ImportPlan:
        """Plan an import."""
        return import_plan.plan(self.engine, read(data), into or {})

    def take(self, data: bytes, into: Mapping[str, str] | None = None) -> Imported:
        """Import a bundle."""
        return import_plan.apply(self.engine, self.plan(data, into), actor=ME, now=NOW)


def pair(base: Path) -> tuple[Machine, Machine]:
    """Return two machines."""
    return Machine(base / "here"), Machine(base / "there")


def results(plan: ImportPlan) -> dict[str, str]:
    """Return what happens to each memory."""
    return {one.packed.path: one.what for one in plan.arrivals}
