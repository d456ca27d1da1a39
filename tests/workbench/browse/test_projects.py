"""Other projects in the workbench: found behind the first frame, read when opened, all of them when asked."""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.discovery import discover
from memtui.agents.layout import slug
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.turns import Chat
from memtui.engine.model import Actor, Address, Root
from memtui.features.channels.verbs import path_parts
from memtui.features.health.view import HealthView
from memtui.features.moved_projects.moves import Orphan, apply, plan, where
from memtui.ui import process
from memtui.workbench.app import MemtuiApp
from memtui.workbench.bridge import Bridge
from memtui.workbench.browse import projects as projects_file
from memtui.workbench.main_screen import StartFacts
from tests.agents.machine import Machine
from tests.workbench.memories import Memories, usual_roots
from tests.workbench.shown import DIRECTORIES, TEXTS, Shown, engine_with, shown

COUNT = 30
WEB = tuple(f"claude-code:project:-web-{number}" for number in range(COUNT))
NAME = "/home/ann/api"


def elsewhere() -> tuple[Root, ...]:
    """The roots of other projects."""
    home = Path.home()
    return tuple(
        Root(
            id_, str(home / f"c/{number}"), "claude-code", "project", "Claude Code memory, x",
            project=str(home / f"web-{number}"),
        )
        for number, id_ in enumerate(WEB)
    )  # fmt: skip


def engine() -> Memories:
    """The usual memories, with other projects beside them."""
    Memories({f"{id_}/far.md": "far away\n" for id_ in WEB}, elsewhere())
    return engine_with()


def everything() -> tuple[Root, ...]:
    return (*usual_roots(), *elsewhere())


def kept(made: Memories, what: str) -> object:
    """What was kept of the place."""
    place = made.engine.places.load(NAME).value
    return place.get(what) if isinstance(place, dict) else None


async def others(running: Shown) -> None:
    await running.until_text("OTHER PROJECTS")
    assert running.browser.memories.go_to(("others", "project"))
    await running.pilot.pause()


async def test_they_are_found_after_the_first_frame_and_not_read() -> None:
    found = threading.Event()

    def slowly() -> tuple[Root, ...]:
        assert found.wait(100)
        return everything()

    async with shown(engine(), more_roots=slowly) as running:
        await running.until_text("finding projects")
        assert "retry.md" in running.text
        assert "OTHER PROJECTS" not in running.text
        found.set()
        await others(running)
        assert "finding" not in running.text
        assert f"{COUNT} projects" in running.text
        assert not any(address.root == WEB[0] for address in running.browser.forest.nodes)
        await running.until_text(f"{COUNT} not read")


async def test_what_looks_like_memories_is_named_below_them_and_can_be_looked_at() -> None:
    asked: list[set[str]] = []

    def unseen(roots: Iterable[Root]) -> tuple[Root, ...]:
        asked.append({root.id for root in roots})
        return (elsewhere()[3]._replace(agent="files", label="In no root, web/notes", project=None, read_only=True),)

    more = (*elsewhere()[:3], *elsewhere()[4:])
    async with shown(engine(), more_roots=lambda: (*usual_roots(), *more), unseen=unseen) as running:
        await running.until_text("OTHER PROJECTS")
        assert {root.id for root in (*usual_roots(), *more)} <= asked[0]
        assert running.browser.memories.go_to(("others", "unseen"))
        await running.until_text("LOOKS LIKE MEMORIES, IN NO ROOT")
        await running.until_text("belong to no root")
        await running.press("enter")
        await running.until_text("web/notes")
        assert running.browser.memories.go_to(("root", WEB[3]))
        await running.press("l")
        await running.until_text("far.md")


async def test_opening_one_reads_that_one() -> None:
    async with shown(engine(), more_roots=everything) as running:
        await others(running)
        await running.press("enter")
        await running.until_text("~/web-7")
        assert running.browser.memories.go_to(("root", WEB[7]))
        await running.press("l")
        await running.until_text("far.md")
        assert running.browser.forest.others.read == {WEB[7]}
        await running.press("l")
        await running.until_text("~/web-7: far.md")


async def test_the_collector_does_not_go_through_what_was_read_until_it_is_put_away() -> None:
    async with shown(engine(), more_roots=everything) as running:
        await others(running)
        process.unfreeze()
        await running.press("A")
        await running.until_text(f"Read {COUNT} folders")
        leaf = running.browser.forest.nodes[Address(WEB[0], "far.md")]
        assert gc.get_freeze_count() > 0
        assert not any(one is leaf for one in gc.get_objects())
        await running.press("A")
        assert gc.get_freeze_count() == 0


async def test_all_of_them_are_read_and_put_away_with_one_key_and_come_back_at_the_next_start() -> None:
    made = engine()
    async with shown(made, more_roots=everything, place_name=NAME) as running:
        await others(running)
        await running.press("A")
        await running.until(lambda: len(running.browser.forest.nodes) == 7 + COUNT)
        await running.until_text(f"Read {COUNT} folders")
        await running.press("A")
        await running.until(lambda: len(running.browser.forest.nodes) == 7)
        await running.press("A")
        await running.until(lambda: len(running.browser.forest.nodes) == 7 + COUNT)
        await running.until(lambda: bool(kept(made, "projects")))
    assert kept(made, "projects")


async def test_what_is_not_read_or_put_away_is_not_called_empty() -> None:
    async with shown(engine(), more_roots=everything) as running:
        await others(running)
        await running.until_text(f"{COUNT} not read.")
        assert "0 memories" not in running.text
        await running.press("l", "j")
        await running.until_text("Its memories are not read; enter reads them.")
        assert "0 memories" not in running.text
        await running.press("A")
        await running.until_text(f"Read {COUNT} folders")
        await running.until_text("1 memory, 9 B")
        await running.press("A")
        await running.until_text("Showing this project only.")
        await running.until(lambda: len(running.browser.forest.nodes) == 7)
        await others(running)
        await running.press("l", "j")
        await running.until_text("Its memories are not read; enter reads them.")
        assert "0 files" not in running.text
        assert "0 memories" not in running.text


async def test_wanted_before_they_are_found() -> None:
    found = threading.Event()

    def slowly() -> tuple[Root, ...]:
        assert found.wait(100)
        return everything()

    async with shown(engine(), more_roots=slowly) as running:
        await running.press("A")
        running.browser.projects.want([WEB[3]])
        found.set()
        await running.until(lambda: len(running.browser.forest.nodes) == 7 + COUNT)
        assert "~/web-3" in running.text


async def test_grouping_and_instructions_have_keys_and_are_kept() -> None:
    engine()
    rules = Root("x:project:rules", str(Path.home() / "r"), "x", "project", "X rules", kind="instructions")
    made = Memories({**TEXTS, "x:project:rules/RULES.md": "be kind\n"}, (*usual_roots(), rules))
    async with shown(made, more_roots=everything, place_name=NAME) as running:
        await running.until_text("INSTRUCTIONS")
        await running.press("f", "i")
        await running.until(lambda: "INSTRUCTIONS" not in running.text)
        await running.press("a")
        await running.until_text("MEMTUI")
        await running.until_text("CLAUDE CODE, OTHER PROJECTS")
        await running.until(lambda: bool(kept(made, "by_agent")))
        assert kept(made, "instructions") is False


async def test_a_hostile_name_of_a_project_is_drawn_as_signs() -> None:
    bad = Root("claude-code:project:bad", "/c/b", "claude-code", "project", "Claude Code memory, -a\n\x1b[2J\u202eb")
    async with shown(engine(), more_roots=lambda: (*usual_roots(), bad)) as running:
        await others(running)
        await running.press("enter")
        await running.until_text("not read")
        assert "\x1b" not in running.text
        assert "\u202e" not in running.text


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
