"""What real projects cost at the start, from the archive named by MEMTUI_CORPUS: nothing leads out or changes."""

import os
from collections import Counter
from pathlib import Path

import pytest

from memtui.agents.agent import MARKS
from memtui.agents.discovery import discover
from memtui.agents.table import agents
from memtui.engine import Engine
from memtui.features.cost import start_cost
from memtui.given.tokens import Counter as Tokens
from memtui.given.tokens import estimate
from tests.agents.machine import Machine, snapshot
from tests.corpus import ARCHIVE, journey

ESTIMATE = Tokens("estimate", estimate)


@pytest.mark.timeout(600)
@pytest.mark.skipif(ARCHIVE is None, reason="MEMTUI_CORPUS names no archive of memory files")
def test_real_projects(tmp_path: Path, home: Path) -> None:
    assert ARCHIVE is not None
    machine = Machine(home, tmp_path / "machine")
    marks: Counter[str] = Counter()
    in_use: Counter[str] = Counter()
    for number, folder in enumerate(journey.unpack(Path(ARCHIVE), tmp_path / "folders")):
        around = machine.surroundings(str(folder), project=str(folder))
        before = list(snapshot(folder))
        with Engine.open(discover(around), state_dir=str(tmp_path / f"state-{number}")) as engine:
            in_use.update(agent.id for agent in start_cost.agents(engine, around))
            for agent in agents():
                if agent.loads is None:
                    continue
                found = start_cost.work_out(engine, around, agent, count=ESTIMATE)
                marks.update(item.loaded.mark for item in found.items)
                for item in found.items:
                    loaded = item.loaded
                    assert loaded.mark in MARKS
                    assert loaded.at_start or not loaded.raw
                    assert item.bytes <= loaded.size or loaded.mark == "names only"
                    inside = os.path.realpath(loaded.path).startswith(str(folder))
                    assert inside or not loaded.text or loaded.made
        assert list(snapshot(folder)) == before
    print(dict(marks), dict(in_use))
    assert marks[""] > 50
    assert in_use["serena"] > 2
    assert in_use["copilot"] > 2
