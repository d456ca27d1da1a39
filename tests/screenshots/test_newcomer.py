"""The newcomer's home is as the guide tells it: what is loaded, what is wrong with the index, and how it is mended."""

from pathlib import Path

import pytest

from memtui.agents.discovery import discover
from memtui.config.read import load_settings
from memtui.config.surroundings import Surroundings, surroundings_from
from memtui.demo.world import NOTES, furnish_newcomer
from memtui.engine import Engine
from memtui.engine.model import Actor, Address
from memtui.features.cost import start_cost
from memtui.features.health.apply import apply, choose, prepare
from memtui.features.health.model import TOGETHER
from memtui.features.health.survey import IndexChecker
from screenshots.still.sitecustomize import START

ME = Actor("tui")
ROOT = "claude-code:project"


@pytest.fixture
def around(home: Path, tmp_path: Path) -> Surroundings:
    """Where the newcomer stands."""
    settings = load_settings({"HOME": str(home), "MEMTUI_HOME": str(tmp_path / "own")})
    found = surroundings_from(settings, cwd=furnish_newcomer(str(home), START))
    return found._replace(system_dir=str(tmp_path / "etc"))


def kinds(engine: Engine) -> list[str]:
    reports = IndexChecker().look(engine, (engine.roots.find(ROOT),))
    return [finding.kind for report in reports for finding in report.findings]


def cut_off(engine: Engine, around: Surroundings) -> tuple[int, int]:
    """Bytes that fall below limits, and files that are read on demand."""
    cost = start_cost.work_out(engine, around, start_cost.agent_named("claude-code"))
    return cost.below, cost.marked("on demand")


def test_what_the_guide_tells_is_so(around: Surroundings, tmp_path: Path) -> None:
    with Engine.open(discover(around), state_dir=str(tmp_path / "state")) as engine:
        assert [agent.id for agent in start_cost.agents(engine, around)][:3] == ["claude-code", "codex", "serena"]
        assert kinds(engine) == ["cut", "dangling", "unnamed", "duplicate", *["below"] * 9]
        assert cut_off(engine, around) == (922, 199)
        reports = IndexChecker().look(engine, (engine.roots.find(ROOT),))
        apply(engine, prepare(engine, choose(reports, TOGETHER)), actor=ME)
        assert kinds(engine) == ["cut", *["below"] * 8]
        index = Address(engine.roots.find(ROOT).id, "MEMORY.md")
        text = engine.read(index).text
        notes = [line for line in text.splitlines(keepends=True) if "session_" in line]
        assert len(notes) == NOTES
        rest = "".join(line for line in text.splitlines(keepends=True) if line not in notes)
        engine.save(index, rest, expected_sha256=engine.read(index).sha256, actor=ME)
        assert cut_off(engine, around)[0] == 0
        assert set(kinds(engine)) == {"unnamed"}


def test_it_comes_out_the_same_again(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        home = tmp_path / name
        home.mkdir()
        furnish_newcomer(str(home), START)
        files = sorted(path for path in home.rglob("*") if path.is_file() and path.suffix != ".jsonl")
        found.append([(path.name, path.read_bytes(), path.stat().st_mtime_ns) for path in files])
    assert found[0] == found[1]
