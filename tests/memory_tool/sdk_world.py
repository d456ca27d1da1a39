"""One folder behind the tool that speaks the SDK's words."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.model import Actor
from memtui.memory_tool.sdk import SdkTool, memory_root

ACTOR = Actor("agent:test")


class SdkWorld(NamedTuple):
    """A tool, the engine under it, and its folder."""

    tool: SdkTool
    engine: Engine
    folder: Path

    def do(self, command: str, **fields: object) -> str:
        result = self.tool.call({"command": command, **fields})
        assert result.ok, result.text
        self.check(result.text)
        return result.text

    def no(self, command: str, **fields: object) -> str:
        result = self.tool.call({"command": command, **fields})
        assert not result.ok, result.text
        self.check(result.text)
        return result.text

    def check(self, text: str) -> None:
        """No answer names a place on this machine, or holds what cannot be sent."""
        assert str(self.folder.parent) not in text
        json.loads(json.dumps(text)).encode()

    def disk(self) -> Mapping[str, bytes | None]:
        """Every file and folder, links as they are; None for what holds no text."""
        return tree(self.folder)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, by its relative path."""
    found: dict[str, bytes | None] = {}
    for where, folders, files in os.walk(folder):
        for name in folders + files:
            path = Path(where, name)
            plain = path.is_file() and not path.is_symlink()
            found[str(path.relative_to(folder))] = path.read_bytes() if plain else None
    return found


def new_sdk_world(base: Path) -> SdkWorld:
    """Open a tool on an empty folder; whoever calls closes the engine."""
    root = memory_root(str(base / "base"))
    engine = Engine.open([root], state_dir=str(base / "state"), lock_wait=30.0)
    tool = SdkTool(engine, root, ACTOR)
    tool.make_root()
    return SdkWorld(tool, engine, Path(root.path))
