"""A small world for calls of the tool: three scopes, and a canary outside of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from memtui.engine import Engine
from memtui.engine.look.roots import READ_WRITE, Access
from memtui.engine.model import Actor, Policy, Root
from memtui.memory_tool.call import Result
from memtui.memory_tool.scoped import ScopedTool

ACTOR = Actor("mcp:probe")
GLOBAL = "/memories/global"
SCOPES = ("global", "project", "workspace")


class Tool(NamedTuple):
    """A tool, and where its memories are."""

    base: Path
    engine: Engine
    tool: ScopedTool

    def folder(self, scope: str = "global") -> Path:
        """The folder of a scope."""
        return self.base / "roots" / scope

    def __call__(self, command: str, **fields: object) -> Result:
        return self.tool.call({"command": command, **fields})

    def done(self, command: str, **fields: object) -> str:
        result = self(command, **fields)
        assert result.ok, result.text
        return result.text

    def refused(self, command: str, **fields: object) -> str:
        result = self(command, **fields)
        assert not result.ok, result.text
        return result.text

    def on_disk(self) -> dict[str, bytes | None]:
        """Everything in the scopes, folders as None."""
        roots = self.base / "roots"
        return {str(p.relative_to(roots)): p.read_bytes() if p.is_file() else None for p in sorted(roots.rglob("*"))}


def open_tool(base: Path, *, access: Access = READ_WRITE, scopes: tuple[str, ...] = SCOPES) -> Tool:
    """Open a tool on a folder; scopes have no folder before they have a memory."""
    (base / "roots").mkdir(parents=True, exist_ok=True)
    policy = Policy(write_bytes=102_400, max_files=1_000)
    roots = [
        Root(f"memtui:{s}", str(base / "roots" / s), "memtui", s, policy=policy, in_checkout=s == "project")
        for s in scopes
    ]
    engine = Engine.open(roots, state_dir=str(base / "state"), access=access)
    return Tool(base, engine, ScopedTool(engine, ACTOR))


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    found = open_tool(tmp_path / "world")
    with found.engine:
        yield found
