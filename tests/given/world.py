"""A small machine with memtui's own three roots, and hands to put memories, uses and pins into it."""

import os
from collections.abc import Callable
from pathlib import Path

from memtui.engine import Engine
from memtui.engine.look.roots import READ_WRITE, Access
from memtui.engine.model import Actor, Address, Root

AGENT = Actor("mcp:tester")
THEN = 1_700_000_000
"""Seconds; when memories were last written: long ago."""


class World:
    """Folders, and engines on them."""

    def __init__(self, folder: Path, clock: Callable[[], int]) -> None:
        self.folder = folder
        self.clock = clock
        self.state = str(folder / "state")
        self.checkout = folder / "checkout"

    def roots(self) -> tuple[Root, ...]:
        """Memtui's own, in an order that is not the one they are given in."""
        return (
            Root("claude-code:global", str(self.folder / "claude"), "claude-code", "global"),
            Root("memtui:workspace", str(self.folder / "workspace"), "memtui", "workspace"),
            Root(
                "memtui:project",
                str(self.checkout / ".memtui" / "memory"),
                "memtui",
                "project",
                in_checkout=True,
                project=str(self.checkout),
            ),
            Root("memtui:global", str(self.folder / "global"), "memtui", "global"),
        )

    def engine(self, access: Access = READ_WRITE) -> Engine:
        """A new engine; the caller closes it."""
        self.checkout.mkdir(exist_ok=True)
        return Engine.open(self.roots(), state_dir=self.state, clock=self.clock, access=access)

    def path(self, scope: str, name: str) -> Path:
        """Where a memory lies on disk."""
        base = next(root.path for root in self.roots() if root.id in (f"memtui:{scope}", scope))
        return Path(base) / name

    def write(self, scope: str, name: str, text: str | bytes, *, age: int = 0) -> Address:
        """Put a memory there behind memtui's back, last written `age` seconds before `THEN`."""
        path = self.path(scope, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        os.utime(path, (THEN - age, THEN - age))
        return Address(f"memtui:{scope}", name)

    def use(self, engine: Engine, address: Address, times: int = 1) -> None:
        """Count uses."""
        for _ in range(times):
            engine.pins.record_use(address, actor=AGENT)


def described(text: str, body: str = "Body.\n") -> str:
    """A memory with a description, quoted so that any text is one."""
    import json

    return f"---\ndescription: {json.dumps(text)}\n---\n{body}"
