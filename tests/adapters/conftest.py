"""Both tools for the SDK behind one face, each on a folder of its own."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("anthropic.tools", reason="the SDK is not installed")
from memtui.adapters.anthropic import AsyncMemoryTool, MemoryTool


class Tool(NamedTuple):
    """One of the tools; a call of the asynchronous one is waited for."""

    made: MemoryTool | AsyncMemoryTool
    base: Path

    @property
    def root(self) -> Path:
        return self.base / "memories"

    def __call__(self, command: str, **fields: object) -> str:
        """Do one command, as the SDK's runner does."""
        return str(self.wait(self.made.call({"command": command, **fields})))

    def close(self) -> None:
        if isinstance(self.made, MemoryTool):
            self.made.close()
        else:
            self.wait(self.made.aclose())

    @staticmethod
    def wait(result: Any) -> Any:
        async def awaited() -> Any:
            return await result

        return asyncio.run(awaited()) if inspect.isawaitable(result) else result


@pytest.fixture(params=[MemoryTool, AsyncMemoryTool], ids=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> type[MemoryTool] | type[AsyncMemoryTool]:
    found: type[MemoryTool | AsyncMemoryTool] = request.param
    return found


@pytest.fixture
def tool(kind: type[MemoryTool] | type[AsyncMemoryTool], tmp_path: Path) -> Iterator[Tool]:
    made = kind(str(tmp_path / "base"), state_dir=tmp_path / "state")
    tool = Tool(made, tmp_path / "base")
    yield tool
    tool.close()
