"""A folder of memories, and agents' sessions about it."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.config.surroundings import surroundings_from
from memtui.engine import Engine
from memtui.engine.ledger.touches import SessionTouches
from memtui.engine.model import Address
from memtui.engine.policy import Root
from memtui.features.sessions.read_touches import read_touches
from tests.conftest import Clock
from tests.engine.settling import settle
from tests.transcripts import made

Record = made.Record


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A folder of memories beside the project."""
    folder = tmp_path / "work" / "notes"
    folder.mkdir(parents=True)
    for name in ("a.md", "b.md", "c.md"):
        (folder / name).write_text(f"# {name}\n")
    return folder


class World:
    """An engine on one folder, and what may be read."""

    def __init__(self, tmp_path: Path, home: Path, memory: Path) -> None:
        settings = load_settings(read_environment())
        self.settings = settings._replace(transcripts_read="all")
        self.place = surroundings_from(settings, cwd=str(tmp_path / "work"))
        self.memory = memory
        self.home, self.cwd = home, str(tmp_path / "work")
        self.root = Root("files:notes", str(memory))
        self.clock = Clock(time.time_ns() // 1_000_000)
        self.engine = Engine.open([self.root], state_dir=str(tmp_path / "state"), clock=self.clock)

    def read(self, stop: Callable[[], bool] = lambda: False) -> int:
        """Read on; gives how many touches were seen."""
        return read_touches(self.engine, self.settings, self.place, stop=stop).touches

    def outside(self, text: str, name: str = "a.md") -> None:
        """Write as others do, and have it noticed at once."""
        (self.memory / name).write_text(text)
        self.clock.now += 60_000
        settle(self.engine)

    def tell(self, session: str, records: list[Record]) -> None:
        """Write a session of Claude Code, now."""
        stamp = datetime.fromtimestamp(self.clock.now / 1000, UTC).isoformat()
        head = {"timestamp": stamp, "sessionId": session}
        for record in records:
            for part in record["message"]["content"] if isinstance(record["message"]["content"], list) else ():
                for key in part.keys() & {"id", "tool_use_id"}:
                    part[key] = f"{session}-{part[key]}"
        file = claude(self, [record | head for record in records], name=session)
        os.utime(file, (self.clock.now / 1000,) * 2)

    def sessions(self) -> tuple[SessionTouches, ...]:
        return self.engine.touches.sessions(self.engine.roots.names())

    def uses(self) -> set[tuple[str, str, int, str]]:
        """What all sessions did: path, kind, calls, taint."""
        return {(use.address.path, use.kind, use.calls, use.taint) for one in self.sessions() for use in one.uses}

    def used(self, name: str) -> int:
        return self.engine.rows.get(Address(self.root.id, name)).uses


@pytest.fixture
def world(tmp_path: Path, home: Path, memory: Path) -> Any:
    found = World(tmp_path, home, memory)
    with found.engine:
        yield found


def call(number: int, name: str, asked: Record, *, failed: bool = False, **gave: Any) -> list[Record]:
    """Give a call of Claude Code and its result."""
    use = {"type": "tool_use", "id": f"c{number}", "name": name, "input": asked}
    result = {"type": "tool_result", "tool_use_id": f"c{number}", "is_error": failed, "content": "x"}
    return [
        made.claude(number, number - 1, "assistant", [use]),
        made.claude(number + 1, number, "user", [result], toolUseResult=gave),
    ]


def claude(world: World, *parts: list[Record], name: str = "s1") -> Path:
    """Write a session of Claude Code that stands in the project."""
    records = [record | {"cwd": world.cwd} for part in parts for record in part]
    return made.write(world.home / ".claude/projects/-w" / f"{name}.jsonl", records)


def said(number: int, text: str = "go on") -> list[Record]:
    """Give a prompt."""
    return [made.claude(number, number - 1 or None, "user", text)]
