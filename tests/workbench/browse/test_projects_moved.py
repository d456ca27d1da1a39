"""Re-pointing in the workbench: the place is filled in, the plan is shown, and one undo brings all of it back."""

import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.discovery import discover
from memtui.agents.layout import slug
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.turns import Chat
from memtui.engine.model import Actor, Address
from memtui.features.channels.verbs import path_parts
from memtui.features.health.view import HealthView
from memtui.features.moved_projects.moves import Orphan, apply, plan, where
from memtui.workbench.app import MemtuiApp
from memtui.workbench.bridge import Bridge
from memtui.workbench.browse import projects as projects_file
from memtui.workbench.main_screen import StartFacts
from tests.agents.machine import Machine
from tests.workbench.memories import Memories
from tests.workbench.shown import DIRECTORIES, Shown


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


@asynccontextmanager
async def projects(machine: Machine, tmp_path: Path, width: int, cwd: str = "app") -> AsyncIterator[Shown]:
    """The workbench with another project, which moved."""
    here = machine.surroundings(cwd)
    roots = discover(here)
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        bridge = Bridge(engine, actor=Actor("tui"))
        facts = StartFacts(
            Settings(DIRECTORIES, str(machine.home)),
            roots,
            surroundings=here,
            own_roots=lambda: discover(here),
            more_roots=lambda: discover(here, all_projects=True),
        )
        app = MemtuiApp(bridge, facts)
        async with app.run_test(size=(width, 40)) as pilot:
            running = Shown(app, pilot, Memories({}, ()))
            await running.until_text("OTHER PROJECTS")
            yield running
        bridge.close()


async def test_the_project_is_found_its_memories_move_and_come_back(machine: Machine, tmp_path: Path) -> None:
    moved = machine.home / ".claude/projects" / slug(str(machine.home / "new/web")) / "memory/a.md"
    async with projects(machine, tmp_path, 120) as running:
        assert running.browser.memories.go_to(("others", "project"))
        await running.press("l", "j")
        await running.until_text("project gone")
        await running.press("g", "p")
        await running.until_text("~/new/web")
        assert "it has the same name" in running.footer
        await running.press("enter")
        await running.until_text("enter moves 1 memory")
        assert not moved.exists()
        await running.press("enter")
        await running.until_text("u takes it back")
        assert moved.read_text() == "a\n"
        await running.until_text("~/new/web  ")
        await running.press("u")
        await running.until(lambda: not moved.exists())


async def test_they_are_this_projects_at_once_where_it_is_now_and_their_old_row_goes(
    machine: Machine, tmp_path: Path
) -> None:
    old = machine.home / ".claude/projects" / slug(str(machine.home / "old/web")) / "memory"
    machine.write(f"{old}/topics/b.md", "b\n")
    new = f"claude-code:project:{slug(str(machine.home / 'new/web'))}"
    async with projects(machine, tmp_path, 120, "~/new/web") as running:
        assert running.browser.memories.go_to(("others", "project"))
        await running.press("l", "j", "g", "p")
        await running.until_text("~/new/web")
        await running.press("enter")
        await running.until_text("enter moves 2 memories")
        await running.press("enter")
        await running.until_text("u takes it back")
        forest = running.browser.forest
        await running.until(lambda: Address(new, "a.md") in forest.nodes)
        await running.until(lambda: not len(forest.others))
        assert "OTHER PROJECTS" not in running.text
        assert running.browser.root_problem(new) == ""
        await running.press("u")
        await running.until_text("project gone")
        assert Address(new, "a.md") not in forest.nodes
    async with projects(machine, tmp_path, 120, "~/new/web") as running:
        machine.write(f"{old.parent.parent}/{slug(str(machine.home / 'new/web'))}/memory/c.md", "c\n")
        await running.press("R")
        await running.until(lambda: Address(new, "c.md") in running.browser.forest.nodes)


@pytest.mark.parametrize("keys", [("u", "u"), ("5", "G", "d", "s")])
async def test_it_is_taken_back_after_something_was_done_in_another_project(
    machine: Machine, tmp_path: Path, keys: tuple[str, ...]
) -> None:
    projects_folder = machine.home / ".claude/projects"
    old = projects_folder / slug(str(machine.home / "old/web")) / "memory/a.md"
    mine = projects_folder / slug(str(machine.app)) / "memory"
    mine.mkdir(parents=True)
    roots = discover(machine.surroundings(), all_projects=True)
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        moved = [root for root in roots if root.path == str(old.parent)]
        apply(engine, plan(engine, moved, str(machine.home / "new/web")), actor=Actor("cli"))
        engine.memories.create(Address("claude-code:project", "other.md"), "other\n", actor=Actor("cli"))
    assert not old.exists()
    async with projects(machine, tmp_path, 120, "~/new/web") as running:
        await running.until(lambda: any(address.path == "a.md" for address in running.browser.forest.nodes))
        for key in keys:
            await running.press(key)
            if key == "5":
                await running.until_text("What it did")
        await running.until(old.exists)
        assert (mine / "other.md").exists()
        await running.until_text("U does it again")
        await running.press("U")
        await running.until(lambda: not old.exists())


async def test_memories_that_stayed_behind_are_told_of_where_the_project_is_now_and_come_from_the_health_view(
    machine: Machine, tmp_path: Path
) -> None:
    new = f"claude-code:project:{slug(str(machine.home / 'new/web'))}"
    async with projects(machine, tmp_path, 120, "~/new/web") as running:
        await running.until_text("Memories of this project stayed in ~/old/web: 7 shows them, g p brings them.")
        assert running.browser.chrome.waiting["health"] == 1
        await running.press("7")
        await running.until_text("gone; perhaps ~/n")
        view = running.app.screen
        assert isinstance(view, HealthView)
        await running.until(lambda: view.row is not None)
        index = next(index for index, row in enumerate(view.rows.shown) if row.stray is not None)
        view.list.go(index)
        await running.press("g", "p")
        await running.until_text("now at ~/new/web")
        assert "project gone" in running.text
        await running.press("enter")
        await running.until_text("enter moves 1 memory")
        await running.press("enter")
        await running.until(lambda: Address(new, "a.md") in running.browser.forest.nodes)
        await running.until(lambda: not running.browser.checkup.stayed)
        await running.press("7")
        await running.until(lambda: not view.rows.strays)
        await running.press("g", "p")
        await running.until_text("put the cursor on a project that is gone first")


async def test_what_would_stay_is_named_with_its_reason_in_the_line(machine: Machine, tmp_path: Path) -> None:
    new = machine.home / ".claude/projects" / slug(str(machine.home / "new/web")) / "memory/a.md"
    machine.write(str(new), "another\n")
    async with projects(machine, tmp_path, 120) as running:
        assert running.browser.memories.go_to(("others", "project"))
        await running.press("l", "j", "j")
        await running.until_text("project gone")
        await running.press("g", "p")
        await running.until_text("now at ~/new/web")
        await running.press("enter")
        await running.until_text("a.md stays: there is another one of this name.")
        machine.write(f"~/.claude/projects/{slug(str(machine.home / 'old/web'))}/memory/b.md", "b\n")
        await running.press("enter")
        await running.until_text("enter moves 1 memory; a.md stays: there is another one of this name.")


async def test_a_place_that_cannot_be_is_said_in_the_line(machine: Machine, tmp_path: Path) -> None:
    async with projects(machine, tmp_path, 160) as running:
        await running.press("g", "p")
        await running.until_text("put the cursor on another project's row")
        assert running.browser.memories.go_to(("others", "project"))
        await running.press("l", "j", "g", "p")
        await running.until_text("now at")
        await running.press("x", "enter")
        await running.until_text("There is no folder")
        await running.press("escape")
        await running.until(lambda: not running.browser.prompt.open)


async def test_folders_of_qwen_codes_chats_are_called_as_the_chats(machine: Machine, tmp_path: Path) -> None:
    for chat in (Chat("team-eng", "c1"), Chat("team-eng", "c2", "7")):
        slug_, channel, key = path_parts(chat)
        machine.write(f"~/.qwen/channels/memory/{slug_}-{channel}/{key}/CHANNEL.json", '{"version": 1, "entries": []}')
    target = {"channelName": "team-eng", "senderId": "u1", "chatId": "c1", "isGroup": True}
    machine.write("~/.qwen/channels/sessions.json", json.dumps({"k": {"sessionId": "s", "target": target}}))
    with Engine.open((), state_dir=str(tmp_path / "state")) as engine:
        engine.turns.chat(Chat("team-eng", "c2", "7"))  # of a host that has ended since
    async with projects(machine, tmp_path, 120) as running:
        for words in ("team-eng/", "c1/", "c2 7/"):
            await running.until_text(words)


async def test_keys_typed_after_it_are_for_the_line_although_it_is_slow_to_come(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = threading.Event()

    def slow(*given: Any) -> Orphan:
        assert answer.wait(100)
        return where(*given)

    monkeypatch.setattr(projects_file, "where", slow)
    async with projects(machine, tmp_path, 120) as running:
        assert running.browser.memories.go_to(("others", "project"))
        await running.press("l", "j")
        running.burst("g", "p", "d", "t")
        await running.until(lambda: len(running.app.fence.waiting) == 2)
        answer.set()
        await running.until_text("now at ~/new/webdt")
