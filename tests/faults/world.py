"""A small world to break: two roots, one state folder, and what may be in them when the dust has settled."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.model import Actor, Address, AuditRecord, Policy, Root

ME = Actor("cli")
FIRST, SECOND = "notes", "other"
"""Ids of the two roots."""


def sha(data: bytes) -> str:
    """The name of a version."""
    return hashlib.sha256(data).hexdigest()


class World(NamedTuple):
    """Folders of one case."""

    base: Path

    @property
    def state(self) -> Path:
        """memtui's own folder."""
        return self.base / "state"

    def folder(self, root: str = FIRST) -> Path:
        """The folder of a root."""
        return self.base / root

    @property
    def roots(self) -> tuple[Root, Root]:
        """Both roots."""
        counted = Policy(max_files=1_000)
        return Root(FIRST, str(self.folder(FIRST)), policy=counted), Root(SECOND, str(self.folder(SECOND)))

    def engine(self, *, lock_wait: float = 30.0) -> Engine:
        """An engine as a new process would open it."""
        return Engine.open(self.roots, state_dir=str(self.state), lock_wait=lock_wait)

    def copy(self, target: Path) -> "World":
        """The same world in another place; nobody may have it open."""
        shutil.copytree(self.base, target, symlinks=True)
        return World(target)

    def remove(self) -> None:
        """Take the whole world away."""
        shutil.rmtree(self.base)

    def disk(self) -> dict[str, bytes]:
        """Every regular file in the roots, by address."""
        return {f"{root.id}/{path}": data for root in self.roots for path, data in _files(Path(root.path))}

    def strays(self) -> list[str]:
        """Files in the roots that are memtui's own."""
        return [name for name in self.disk() if name.rpartition("/")[2].startswith(".memtui-")]


def at(path: str, root: str = FIRST) -> Address:
    """An address in one of the two roots."""
    return Address(root, path)


def new_world(base: Path) -> World:
    """Make the folders."""
    world = World(base)
    for folder in (world.folder(FIRST), world.folder(SECOND)):
        folder.mkdir(parents=True)
    return world


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path.relative_to(folder).as_posix(), path.read_bytes()


def drain(engine: Engine) -> None:
    """Wait for late writes into files that were displaced."""
    engine._late_writes.drain()


def ledger_of(engine: Engine) -> Ledger:
    """The ledger behind an engine."""
    return engine._ledger


def stored(engine: Engine) -> dict[str, bytes]:
    """Every text the ledger can give back, by sha-256, each checked."""
    ledger = ledger_of(engine)
    found = {}
    for (key,) in ledger.rows("SELECT sha FROM blobs WHERE data NOT NULL"):
        data = ledger.versions.blob(key.hex())
        assert data is not None
        found[key.hex()] = data
    return found


def in_history(engine: Engine, address: Address) -> dict[str, str]:
    """The versions of one memory: sha-256 to note."""
    return {version.sha256: version.note for version in engine.history.of(address)}


def open_intents(engine: Engine) -> list[AuditRecord]:
    """Audit records without an end."""
    return [record for record in engine.history.audit(limit=1_000_000) if record.state == "intent"]


def handles(below: Path) -> int:
    """How many files in a folder this process has open; those elsewhere may be closed with garbage at any time."""
    count = 0
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the listing's own
            count += os.readlink(f"/proc/self/fd/{number}").startswith(f"{below}{os.sep}")
    return count
