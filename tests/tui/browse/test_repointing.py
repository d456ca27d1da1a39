"""Re-pointing in the workbench: the place is filled in, the plan is shown, and one undo brings all of it back."""

import json
from pathlib import Path

import pytest

from memtui.agents import discover
from memtui.agents.folders import slug
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import Actor
from memtui.tui.app import MemtuiApp
from memtui.tui.bridge import Bridge
from memtui.tui.browse.browser import Facts
from tests.agents.machine import Machine
from tests.tui.fake_engine import FakeEngine
from tests.tui.shown import DIRECTORIES, Shown


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    made = Machine(home, tmp_path)
    old = str(home / "old/web")
    folder = f"~/.claude/projects/{slug(old)}"
    made.write(f"{folder}/memory/a.md", "a\n")
    made.write(f"{folder}/s.jsonl", json.dumps({"cwd": old}) + "\n")
    (home / "new/web").mkdir(parents=True)
    return made


async def test_the_project_is_found_its_memories_move_and_come_back(machine: Machine, tmp_path: Path) -> None:
    here = machine.surroundings()
    roots = discover(here)
    moved = machine.home / ".claude/projects" / slug(str(machine.home / "new/web")) / "memory/a.md"
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        bridge = Bridge(engine, actor=Actor("tui"))
        facts = Facts(
            Settings(DIRECTORIES, str(machine.home)), roots, more_roots=lambda: discover(here, all_projects=True)
        )
        app = MemtuiApp(bridge, facts)
        async with app.run_test(size=(120, 40)) as pilot:
            running = Shown(app, pilot, FakeEngine())
            await running.until_text("OTHER PROJECTS")
            assert running.browser.memories.go_to(("others", "project"))
            await running.press("l", "j")
            await running.until_text("project gone")
            await running.press("g", "p")
            await running.until_text("~/new/web")
            assert "it has the same name" in running.footer
            await running.press("enter")
            await running.until_text("enter again moves 1 memory there")
            assert not moved.exists()
            await running.press("enter")
            await running.until_text("u takes it back")
            assert moved.read_text() == "a\n"
            await running.until_text("~/new/web  ")
            await running.press("u")
            await running.until(lambda: not moved.exists())
        bridge.close()


async def test_a_place_that_cannot_be_is_said_in_the_line(machine: Machine, tmp_path: Path) -> None:
    here = machine.surroundings()
    roots = discover(here)
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        bridge = Bridge(engine, actor=Actor("tui"))
        facts = Facts(
            Settings(DIRECTORIES, str(machine.home)), roots, more_roots=lambda: discover(here, all_projects=True)
        )
        app = MemtuiApp(bridge, facts)
        async with app.run_test(size=(160, 40)) as pilot:
            running = Shown(app, pilot, FakeEngine())
            await running.until_text("OTHER PROJECTS")
            await running.press("g", "p")
            await running.until_text("put the cursor on another project's row")
            assert running.browser.memories.go_to(("others", "project"))
            await running.press("l", "j", "g", "p")
            await running.until_text("now at")
            await running.press("x", "enter")
            await running.until_text("There is no folder")
            await running.press("escape")
            await running.until(lambda: running.browser.prompt is None)
        bridge.close()
