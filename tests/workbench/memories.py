"""Memories in folders below the test's home, the engine on them, and what other programs do to them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine
from memtui.engine.look import detect
from memtui.engine.model import BROUGHT, Actor, Address, Change, Draft, Memory, Root, Version
from tests.faults.injector import Call, hooked

START = 1_767_225_600_000
"""2026-01-01T00:00:00Z in milliseconds."""

ME, CLAUDE = Actor("tui"), Actor("agent:claude")

AGE = 3
"""Seconds since others wrote what is there: longer than memtui waits for a writer that may not have ended."""


class Clock:
    """Milliseconds that pass only when somebody asks: every record has a time of its own."""

    def __init__(self, start: int = START) -> None:
        self.now = start

    def __call__(self) -> int:
        """The time, a little later each time."""
        self.now += 1
        return self.now


def usual_roots() -> tuple[Root, ...]:
    """The roots of memtui's own memories below the test's home, as a project with a workspace has them."""
    home = Path.home()
    return (
        Root("memtui:global", str(home / "memory/global"), "memtui", "global", "memtui"),
        Root("memtui:project", str(home / "api/.memtui/memory"), "memtui", "project", "memtui"),
        Root("memtui:workspace", str(home / "memory/workspace/fix"), "memtui", "workspace", "memtui"),
    )


class Memories:
    """What is on disk, and one engine that has it open.

    Give texts by address. The engine is opened when it is first asked for: what is there by then was there before
    memtui.
    """

    opened: list[Engine] = []  # noqa: RUF012 - of all tests of a process, for the fixture that closes them
    """Engines that nobody closed yet."""

    def __init__(
        self, texts: dict[str, str] | None = None, roots: tuple[Root, ...] | None = None, *, checkout: bool = False
    ) -> None:
        """Write memories.

        Args:
            texts: by address.
            roots: where they are; those of memtui's own memories if not given.
            checkout: the project is a checkout, and its memories were reviewed.
        """
        self.roots = usual_roots() if roots is None else roots
        if checkout:
            (Path.home() / "api/.git").mkdir(parents=True)
            self.roots = tuple(root._replace(in_checkout=root.id == "memtui:project") for root in self.roots)
        self.state = Path.home() / "state"
        self.clock = Clock()
        self.read_only = False
        for root in self.roots:
            Path(root.path).mkdir(parents=True, exist_ok=True)
        for name, text in (texts or {}).items():
            self.put(name, text)
        if checkout:
            self.engine.history.review(
                [(row.address, row.sha256 or "") for row in self.rows.values() if row.trust == BROUGHT], actor=ME
            )

    # The engine

    def another(self, *, read_only: bool = False) -> Engine:
        """An engine as another process of memtui has it."""
        engine = Engine.open(self.roots, state_dir=str(self.state), clock=self.clock, read_only=read_only)
        Memories.opened.append(engine)
        return engine

    @cached_property
    def engine(self) -> Engine:
        """The workbench's own engine; what is there when it is opened counts as seen."""
        if not self.state.exists():
            with Engine.open(self.roots, state_dir=str(self.state), clock=self.clock) as first:
                first.watch.reconcile()
        return self.another(read_only=self.read_only)

    def open(self) -> None:
        """Open the engine: what is there now counts as seen."""
        assert self.engine is not None

    def restart(self) -> None:
        """End the process that had the engine."""
        if "engine" in self.__dict__:
            Memories.opened.remove(self.engine)
            self.engine.close()
            del self.engine

    @property
    def now(self) -> int:
        """The time."""
        return self.clock.now

    # What is there

    def path(self, address: Address) -> Path:
        """The file of a memory."""
        root = next(root for root in self.roots if address.root in (root.id, *root.aliases))
        return Path(root.path, address.path)

    @property
    def data(self) -> dict[Address, bytes]:
        """Every file, as it is on disk."""
        found = {}
        for root in self.roots:
            files = (path for path in sorted(Path(root.path).rglob("*")) if path.is_file())
            found.update(
                {Address(root.id, path.relative_to(root.path).as_posix()): path.read_bytes() for path in files}
            )
        return found

    @property
    def rows(self) -> dict[Address, Memory]:
        """Every memory as the engine knows it."""
        return {row.address: row for row in self.engine.rows.list().items}

    @property
    def unseen(self) -> tuple[Change, ...]:
        """What others did and nobody has looked at."""
        return self.engine.changes.unseen()

    @property
    def drafts(self) -> dict[Address, Draft]:
        """Unsaved texts."""
        return {draft.address: draft for draft in self.engine.drafts.all()}

    def versions(self, name: str) -> tuple[Version, ...]:
        """The history of a memory, newest first."""
        return self.engine.history.of(Address.parse(name))

    def steps(self, *operations: str) -> int:
        """How many steps of the user's own the audit has, of these operations (`deleted`, `pinned` ...) or of all."""
        records = [record for record in self.engine.history.audit(limit=2_000) if record.actor == str(ME)]
        return len({record.txn for record in records if not operations or record.operation in operations})

    # What is done to it

    def put(self, name: str, text: str | bytes) -> Address:
        """Have another program write a file, in place of the one that was there."""
        address = Address.parse(name)
        path = self.path(address)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.parent / f".{threading.get_ident()}.new"
        new.write_bytes(text.encode() if isinstance(text, str) else text)
        written = self.clock.now / 1000 - AGE
        os.utime(new, (written, written))
        new.replace(path)
        return address

    def outside(self, name: str, text: str | bytes) -> Address:
        """Have another program write a file after the user has looked at what was there."""
        self.open()
        return self.put(name, text)

    def agent(self, name: str, text: str | bytes, by: Actor = CLAUDE) -> Address:
        """Have an agent write a memory through a memtui of its own."""
        address = Address.parse(name)
        with self.another() as other:
            Memories.opened.remove(other)
            other.save(address, text, expected_sha256=other.read(address).sha256, actor=by)
        return address

    def delete(self, name: str, by: Actor = CLAUDE) -> Address:
        """Have an agent delete a memory."""
        address = Address.parse(name)
        with self.another() as other:
            Memories.opened.remove(other)
            other.memories.delete([address], actor=by)
        return address

    def save(self, name: str, *texts: str, by: Actor = ME) -> Address:
        """Give a memory one version after the other."""
        address = Address.parse(name)
        for text in texts:
            if address in self.data:
                before = self.engine.read(address).sha256
                self.engine.save(address, text, expected_sha256=before, actor=by)
            else:
                self.engine.memories.create(address, text, actor=by)
        return address

    def pin(self, *names: str) -> None:
        """Pin memories."""
        self.engine.pins.set([Address.parse(name) for name in names], pinned=True, actor=ME)

    def use(self, name: str, times: int = 1) -> None:
        """Have an agent use a memory."""
        for _ in range(times):
            self.engine.pins.record_use(Address.parse(name), actor=CLAUDE)


@contextmanager
def told_at_once() -> Iterator[None]:
    """Have a watch tell what others wrote when it first sees it, without waiting for quiet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detect, "QUIET_MS", 0)
        yield


@contextmanager
def stalled(*operations: str, of: str = "") -> Iterator[threading.Event]:
    """Have calls about memory files wait until the block ends.

    Args:
        operations: which, as in `fsio.OPERATIONS`.
        of: only calls that name this file; empty: all of them.

    Returns:
        What is set once a call waits.
    """
    let_go, begun = threading.Event(), threading.Event()

    def hook(count: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        if name in operations and (not of or of in arguments):
            begun.set()
            let_go.wait(20)
        return call(*arguments)

    with hooked(hook):
        try:
            yield begun
        finally:
            let_go.set()


@contextmanager
def failing(number: int, *operations: str, of: str = "") -> Iterator[None]:
    """Have calls about memory files fail with an error number during the block; arguments as for `stalled`."""

    def hook(count: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        if name in operations and (not of or of in arguments):
            raise OSError(number, os.strerror(number))
        return call(*arguments)

    with hooked(hook):
        yield
