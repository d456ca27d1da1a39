"""The tasks in the workbench: what runs and waits first, all of it beside it, and keys that end, repeat, take back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.config.surroundings import surroundings_from
from memtui.engine import Engine
from memtui.engine.model import Actor, Write
from memtui.engine.task import Run, Task, steps_json
from memtui.features.tasks.view import TasksView, listed
from tests.workbench.views.real import CLAUDE, ME, Real, World, at, real

LANE = "lane"


def ask(engine: Engine, kind: str = "remember", lane: str = LANE, **request: Any) -> Task:
    return engine.tasks.enqueue(kind, lane, "http:page", request, trigger="manual")


def save(engine: Engine, task: Task, *names: str) -> None:
    """Do what a lane does: several memories as one step, and the end of the task."""
    steps = [Write(at(name), f"text of {name}\n".encode(), None) for name in names]
    engine.tasks.start(task.id)
    engine.tasks.keep_plan(task.id, json.dumps({"steps": json.loads(steps_json(steps))}))
    done = engine.together.do(steps, actor=ME, label="remember", cause=task.id)
    engine.tasks.finish(task.id, "completed", result={"addresses": [f"notes/{name}" for name in names]}, txn=done.txn)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """One that failed, one that is done, one that waits and one that runs elsewhere."""
    world = World(tmp_path)
    with world.engine() as engine:
        tasks = engine.tasks
        failed = ask(engine, "extract", content="one\n\x1b[31mtwo")
        tasks.start(failed.id)
        sent, at_ = "what \x1b]0;x\x07 was sent", tasks.clock()
        kept = Run("r", failed.id, "extract", LANE, "manual", "claude", sent, "no JSON", "E_REPLY", {"n": 3}, at_, at_)
        tasks.add_run(kept)
        tasks.finish(failed.id, "failed", error=("E_TEXT", "The reply was no JSON."))
        save(engine, ask(engine), "a.md", "b.md")
        ask(engine, content="Deploys go through staging")
        dream = ask(engine, "dream", "elsewhere")
        tasks.start(dream.id)
        tasks.note_progress(dream.id, "2 of 3 clusters")
    return world


async def opened(screen: Real) -> TasksView:
    await screen.press("0")
    top = screen.app.screen
    assert isinstance(top, TasksView)
    await screen.until(lambda: top.loaded and bool(top.page.page or not top.rows.shown))
    return top


def shown(view: TasksView) -> list[Task]:
    return [one for one in view.rows.shown if isinstance(one, Task)]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_runs_and_waits_is_first_and_each_says_what_it_is_about(world: World, size: tuple[int, int]) -> None:
    async with real(world, size=size) as screen:
        with screen.real.tasks.lane("elsewhere"):
            view = await opened(screen)
        assert [(task.state, task.kind) for task in shown(view)] == [
            *(("running", "dream"), ("queued", "remember"), ("completed", "remember"), ("failed", "extract")),
        ]
        text = screen.text
        assert "running   dream     2 of 3 clusters" in text
        assert "interrupted" not in text
        assert 'queued    remember  "Deploys go through staging"' in text
        assert "done      remember  notes/a.md, notes/b.md" in text
        assert "failed    extract   E_TEXT: The reply was no JSON." in text


async def test_what_runs_where_nobody_is_any_more_says_so(world: World) -> None:
    async with real(world) as screen:
        await opened(screen)
        assert "running   dream     interrupted" in screen.text


async def test_what_was_asked_sent_and_replied_is_beside_it_and_harmless(world: World) -> None:
    async with real(world) as screen:
        await opened(screen)
        await screen.press("G")
        await screen.until_text("E_REPLY, worker claude")
        await screen.press("enter", "G")
        for words in ("2  ␛[31mtwo", "what ␛]0;x␇ was sent", "no JSON", "n 3"):
            assert words in screen.text


async def test_what_waits_is_cancelled_at_once_and_what_runs_when_it_is_pressed_twice(world: World) -> None:
    async with real(world) as screen:
        view = await opened(screen)
        dream, waiting = shown(view)[:2]
        await screen.press("x")
        assert "dream runs: x again cancels it" in screen.text
        await screen.press("j", "k", "x")
        assert not screen.real.tasks.get(dream.id).stopping, "another key in between takes the answer back"
        await screen.press("x")
        await screen.until(lambda: screen.real.tasks.get(dream.id).stopping)
        await screen.until_text("stopping  dream")
        await screen.press("j", "x")
        await screen.until(lambda: screen.real.tasks.get(waiting.id).state == "cancelled")


async def test_what_failed_is_tried_again_and_what_is_done_is_not(world: World) -> None:
    async with real(world) as screen:
        view = await opened(screen)
        failed = shown(view)[3]
        await screen.press("G", "k", "r")
        assert "It is done" in screen.text
        await screen.press("x")
        assert "It is done already" in screen.text
        await screen.press("G", "r")
        await screen.until(lambda: screen.real.tasks.get(failed.id).state == "queued")


async def test_an_agent_at_the_keys_cancels_and_retries_nothing_that_another_asked_for(world: World) -> None:
    async with real(world) as screen:
        screen.app.bridge.actor = CLAUDE
        before = [task.state for task in listed(screen.real)]
        await opened(screen)
        await screen.press("j", "x")
        await screen.until_text("Only a person may cancel what another")
        await screen.press("G", "r")
        await screen.until_text("Only a person may retry what another")
        assert [task.state for task in listed(screen.real)] == before


async def test_what_a_task_wrote_is_shown_as_a_difference_and_taken_back_as_one_step(world: World) -> None:
    async with real(world) as screen:
        view = await opened(screen)
        screen.real.memories.create(at("newer.md"), "newer\n", actor=ME)
        await screen.press("w")
        assert "It wrote nothing" in screen.text
        await screen.press("j", "j", "w")
        await screen.until_text("+ text of b.md")
        assert "created notes/a.md" in screen.text
        assert len(view.page.starts) == 2
        await screen.press("]", "escape", "u")
        await screen.until(lambda: world.disk() == {"newer.md": b"newer\n"})
        await screen.until_text("Took back")
        await screen.until_text("undone    remember  notes/a.md, notes/b.md")


async def test_what_was_changed_since_stays_and_is_said(world: World) -> None:
    async with real(world) as screen:
        await opened(screen)
        screen.real.memories.create(at("newer.md"), "newer\n", actor=ME)
        (world.folder / "b.md").write_text("theirs\n")
        await screen.until_text("Your edit of notes/b.md was overwritten")
        await screen.press("j", "j", "u")
        await screen.until_text("Took 1 of 2 back. notes/b.md was changed since.")
        assert world.disk() == {"b.md": b"theirs\n", "newer.md": b"newer\n"}


async def test_where_a_task_wrote_nothing_undo_is_of_whatever_is_newest(world: World) -> None:
    async with real(world) as screen:
        await opened(screen)
        screen.real.memories.create(at("newer.md"), "newer\n", actor=Actor("tui"))
        await screen.press("u")
        await screen.until(lambda: set(world.disk()) == {"a.md", "b.md"})


async def test_read_only_looks_and_changes_nothing(world: World) -> None:
    async with real(world, read_only=True) as screen:
        view = await opened(screen)
        await screen.press("j", "x", "G", "r")
        states = [task.state for task in screen.real.tasks.all()]
        assert sorted(states) == sorted(task.state for task in shown(view))


async def test_a_dream_begins_once_a_person_agrees_by_whom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTUI_HOME", str(tmp_path / "home"))
    settings = load_settings(read_environment())
    place = surroundings_from(settings, cwd=str(tmp_path))
    async with real(World(tmp_path), size=(80, 24), surroundings=place, settings=settings) as screen:
        view = await opened(screen)
        await screen.press("D")
        await screen.until_text("Dream by rules alone?")
        await screen.press("escape")
        assert screen.real.tasks.all() == ()
        Path(settings.config_file).write_text('[lifecycle]\nworker = "claude"\n')
        await screen.press("D")
        await screen.until_text("Dream by rules and claude, which gets memories?")
        await screen.press("enter")
        await screen.until_text("queued    dream")
        (task,) = screen.real.tasks.all()
        assert (task.kind, task.client, task.trigger) == ("dream", "tui", "manual")
        waiting = ask(screen.real, lane=task.workspace, content="Deploys go through staging")
        await screen.press("R")
        await screen.until(lambda: len(view.rows.shown) == 2)
        await screen.press("G")
        assert view.chosen == waiting
        await screen.press("D")
        await screen.until_text(f"A dream is queued already: task {task.seq}.")
        await screen.until(lambda: view.chosen == task)
        screen.real.tasks.cancel(task.id)
        await screen.press("G", "D")
        await screen.until_text("Dream by rules and claude")
        await screen.press("enter")
        await screen.until(lambda: view.chosen is not None and view.chosen.kind == "dream")
        assert view.chosen != task, "the new one"
        Path(settings.config_file).write_text('[lifecycle]\ndream = "off"\n')
        await screen.press("D")
        await screen.until_text("dream is switched off.")
