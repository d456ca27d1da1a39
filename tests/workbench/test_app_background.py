"""Background work in the workbench: lanes are worked off behind every view, and what happens in them is said once."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.config.surroundings import surroundings_from
from memtui.diff.differences import unified
from memtui.engine import Engine
from memtui.engine.ledger.proposals import Vote
from memtui.engine.model import Actor, Address, Policy, Root, Write
from memtui.engine.proposal import Evidence
from memtui.features.proposals.apply import decide, to_decide
from memtui.features.proposals.value import proposal
from memtui.features.tasks import lanes
from memtui.features.tasks.shown import LaneNews, glance, said
from memtui.features.tasks.work import workspace_of
from memtui.wire.session import Options, Session
from memtui.workbench import app
from memtui.workbench.app import Background
from memtui.workbench.browse.bars import Bars
from tests.features.tasks.test_lanes import WORKS
from tests.transcripts import made
from tests.workbench.views.real import Real, World, real


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(lanes, "works", lambda: WORKS)
    return World(tmp_path)


@asynccontextmanager
async def working(world: World, *, read_only: bool = False) -> AsyncIterator[tuple[Real, str]]:
    """A workbench that works its lane off, and the lane's id."""
    settings = load_settings(read_environment())
    around = surroundings_from(settings, cwd=str(world.base))
    async with real(world, read_only=read_only) as screen:
        session = Session(settings, screen.real.roots.all(), screen.real, Options(), around)
        browser = screen.browser
        Background(session, browser.bridge, browser.bars.take_tasks, browser.show_error).start()
        yield screen, workspace_of(around).id


async def test_what_another_process_queues_is_done_and_said_once(world: World) -> None:
    async with working(world) as (screen, lane):
        with world.engine() as other:
            other.tasks.enqueue("remember", lane, "cli", {"files": {"a.md": "a", "b.md": "b"}}, trigger="manual")
            other.tasks.enqueue("remember", "elsewhere", "cli", {"files": {"c.md": "c"}}, trigger="manual")
        await screen.until_text("Saved 2 memories. 0 then w shows what changed, u takes it back.")
        assert set(world.disk()) == {"a.md", "b.md"}
        await screen.press("M")
        await screen.until(lambda: screen.text.count("Saved 2 memories") == 1)
        await screen.press("escape", "u")
        await screen.until(lambda: world.disk() == {})


def test_what_was_saved_is_said_beside_a_failure_of_the_same_moment(tmp_path: Path) -> None:
    world = World(tmp_path)
    with world.engine() as engine:
        before = glance(engine.tasks, "lane", None)
        refused = engine.tasks.enqueue("remember", "lane", "tui", {}, trigger="manual")
        engine.tasks.start(refused.id)
        engine.tasks.finish(refused.id, "failed", error=("E_DISABLED", "remember is switched off."))
        kept = engine.tasks.enqueue("remember", "lane", "tui", {}, trigger="manual")
        engine.tasks.start(kept.id)
        engine.tasks.finish(kept.id, "completed", result={"addresses": ["notes/a.md"]}, txn="1")
        words, how = said(glance(engine.tasks, "lane", before).ended, 0)
    assert "remember failed" in words
    assert "Saved notes/a.md." in words
    assert how == "warning"


def test_what_ends_while_one_looks_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    with world.engine() as engine:
        tasks, told = engine.tasks, list[str]()
        before = glance(tasks, "lane", None)
        first, second = (tasks.enqueue("observe", "lane", "tui", {}, trigger="manual") for _ in range(2))
        for task in (first, second):
            tasks.start(task.id)
        tasks.finish(first.id, "completed", result={})
        looked = tasks.last_event

        def late() -> int:
            event = looked()
            if tasks.get(second.id).state == "running":
                tasks.finish(second.id, "completed", result={})
            return event

        monkeypatch.setattr(tasks, "last_event", late)
        for _ in range(3):
            before = glance(tasks, "lane", before)
            told += [task.id for task in before.ended]
        assert told == [first.id, second.id]


async def test_what_waits_is_counted_at_the_tab_and_a_failure_is_said(world: World) -> None:
    async with working(world) as (screen, lane):
        begun = world.base / "begun"
        tasks = screen.real.tasks
        task = tasks.enqueue("remember", lane, "cli", {"wait": str(begun), "refuse": 1}, trigger="manual")
        await screen.until_text("0 Tasks(1)")
        await screen.until(begun.exists)
        await screen.press("0")
        await screen.until_text("at it")
        tasks.cancel(task.id)
        await screen.until(lambda: tasks.get(task.id).state == "cancelled")
        await screen.until(lambda: "Tasks(1)" not in screen.text)
        tasks.enqueue("remember", lane, "cli", {"refuse": 1}, trigger="manual")
        await screen.until_text("remember failed: E_TEXT: No. Else.")


async def test_what_is_proposed_appears_in_an_open_review(world: World) -> None:
    async with working(world) as (screen, lane):
        await screen.press("3")
        await screen.until_text("You have seen everything.")
        asked = {"suggest": ["Which holds?"]}
        screen.real.tasks.enqueue("remember", lane, "cli", asked, trigger="manual")
        await screen.until_text("1 to decide")
        await screen.until_text("Which holds?")


async def test_views_are_told_of_a_vote_of_another_process(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[LaneNews]()
    monkeypatch.setattr(Bars, "take_tasks", lambda _, news: told.append(news))
    step = Write(Address("notes", "new.md"), b"text\n", None)
    async with working(world) as (screen, _):
        with world.engine() as other:
            made = proposal(other, kind="add", steps=[step], by="claude", why="w", evidence=[Evidence("turn", "s")])
            (one,) = other.proposals.add([made])
            await screen.until(lambda: any(news.proposed for news in told))
            told.clear()
            other.votes.cast(one.id, Vote("chat:a", "Ann", yes=True, person="ann"), lambda _: ("", ""))
            await screen.until(lambda: any(news.changed for news in told))


async def test_what_begins_by_itself_begins_while_the_workbench_is_open(
    world: World, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "BEGIN_INTERVAL_S", 0.0)
    (home / ".memtui-test").mkdir(exist_ok=True)
    (home / ".memtui-test/config.toml").write_text("[lifecycle]\ndream = 'auto'\ndream_sessions = 0\n")
    async with working(world) as (screen, lane):
        tasks = screen.real.tasks
        await screen.until(lambda: any((one.kind, one.trigger) == ("dream", "auto") for one in tasks.all(lane)))


async def test_what_agents_opened_counts_while_the_workbench_is_open(
    world: World, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "READ_FIRST_S", 0.0)
    (home / ".memtui-test").mkdir(exist_ok=True)
    (home / ".memtui-test/config.toml").write_text("[transcripts]\nread = 'all'\n")
    world.write("a.md", "a")
    use = {"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": f"{world.folder}/a.md"}}
    made.write(home / ".claude/projects/-p/s.jsonl", [made.claude(1, None, "assistant", [use])])
    async with working(world) as (screen, _):
        address = Address("notes", "a.md")
        await screen.until(lambda: screen.real.rows.get(address).uses == 1)


async def test_a_dream_of_another_process_shows_while_it_lives(world: World) -> None:
    async with working(world) as (screen, _):
        with world.engine() as other:
            dream = other.tasks.enqueue("dream", "elsewhere", "cli", {}, trigger="auto")
            held, ends = threading.Event(), threading.Event()

            def run() -> None:
                with other.tasks.lane("elsewhere"):
                    other.tasks.start(dream.id)
                    held.set()
                    ends.wait(30)

            thread = threading.Thread(target=run)
            thread.start()
            held.wait(30)
            await screen.until(lambda: "dreaming" in screen.text.splitlines()[0])
            ends.set()
            thread.join()
            assert other.tasks.get(dream.id).state == "running", "whoever had it died"
            await screen.until(lambda: "dreaming" not in screen.text.splitlines()[0])


async def test_read_only_works_nothing_off(world: World) -> None:
    with world.engine() as other:
        other.tasks.enqueue("remember", "elsewhere", "cli", {}, trigger="manual")  # so that there is a ledger
        async with working(world, read_only=True) as (screen, lane):
            for count in (1, 2):
                other.tasks.enqueue("remember", lane, "cli", {"files": {"a.md": "a"}}, trigger="manual")
                await screen.until_text(f"0 Tasks({count})")
            assert {task.state for task in other.tasks.all()} == {"queued"}


async def test_what_is_proposed_is_counted_once_in_the_header_as_the_status_counts_it(world: World) -> None:
    async with working(world) as (screen, _):
        root = screen.real.roots.all()[0]
        with world.engine() as other:
            steps = [Write(Address(root.id, f"{name}.md"), b"new\n", None) for name in ("one", "two")]
            shows = [Evidence("request", "somebody")]
            made = [
                proposal(other, kind="add", steps=[step], by="claude", why="because", evidence=shows) for step in steps
            ]
            stored = other.proposals.add(made)
            await screen.until_text("  R2 proposed")
            assert "Review(" not in screen.text
            assert to_decide(other) == 2
            decide(other, [stored[0].id], "later", actor=Actor("tui"))
            await screen.until_text("  R1 proposed")
            assert to_decide(other) == 1
            decide(other, [stored[1].id], "rejected", actor=Actor("tui"))
            await screen.until(lambda: "  R1" not in screen.text)


class OfGemini(World):
    """A folder that Gemini CLI keeps."""

    def engine(self, *, read_only: bool = False) -> Engine:
        """An engine on it."""
        root = Root("notes", str(self.folder), "gemini", "project", policy=Policy(ignore=("inbox",)))
        return Engine.open([root], state_dir=str(self.base / "state"), clock=self.clock, read_only=read_only)


async def test_what_an_agent_stages_is_counted_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[LaneNews] = []

    def noted(*given: Any) -> LaneNews:
        looks.append(glance(*given))
        return looks[-1]

    monkeypatch.setattr(app, "glance", noted)
    world = OfGemini(tmp_path)
    inbox = world.folder / ".inbox/private"
    inbox.mkdir(parents=True)
    async with working(world) as (screen, _):
        staged = "".join(f"{line}\n" for line in unified("", "new\n", "/dev/null", str(world.folder / "a.md")))
        (inbox / "extraction.patch").write_text(staged)
        await screen.until_text("R1 proposed")
        told = len(looks)
        await screen.until(lambda: len(looks) > told + 3)  # nothing is left to be looked at but the folder
        (inbox / "extraction.patch").unlink()
        await screen.until(lambda: "R1" not in screen.text)
