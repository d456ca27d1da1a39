"""The health of indexes, followed in the background: only what changed is looked at, and a fault does not end it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.discovery import discover
from memtui.agents.layout import slug
from memtui.engine import Engine
from memtui.engine.model import Listing, Root
from memtui.errors import StorageError
from memtui.features.health.model import IndexReport, Stray
from memtui.features.health.survey import IndexChecker
from memtui.workbench.browse.health import earlier_folders, find_strays
from tests.agents.machine import Machine
from tests.features.health.folders import LINKS, entry
from tests.workbench.views.real import World, at, real


class Two(World):
    """Two folders with an index each."""

    def engine(self, *, read_only: bool = False) -> Engine:
        roots = [Root(name, str(self.base / name), policy=LINKS) for name in ("notes", "other")]
        return Engine.open(roots, state_dir=str(self.base / "state"), clock=self.clock, read_only=read_only)


@pytest.fixture
def world(tmp_path: Path) -> Two:
    world = Two(tmp_path)
    (tmp_path / "other").mkdir()
    for name in ("notes", "other"):
        (tmp_path / name / "MEMORY.md").write_text(entry("gone.md"), encoding="utf-8")
    return world


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The roots of each look."""
    seen: list[tuple[str, ...]] = []
    look = IndexChecker.look

    def counting(
        self: IndexChecker,
        engine: Engine,
        roots: Sequence[Root],
        listing: Listing | None = None,
        *,
        outdated: Callable[[], bool] | None = None,
    ) -> tuple[IndexReport, ...]:
        seen.append(tuple(root.id for root in roots))
        return look(self, engine, roots, listing, outdated=outdated)

    monkeypatch.setattr(IndexChecker, "look", counting)
    return seen


async def test_a_change_looks_at_the_roots_it_is_in(world: Two, looks: list[tuple[str, ...]]) -> None:
    async with real(world) as screen:
        checkup = screen.browser.checkup
        await screen.until(lambda: checkup.done and set(checkup.reports) == {"notes", "other"})
        await screen.until(lambda: screen.browser.chrome.waiting.get("health") == 2)
        looks.clear()
        (world.folder / "MEMORY.md").write_text("", encoding="utf-8")
        screen.browser.bridge.refresh([at("MEMORY.md")])
        await screen.until(lambda: screen.browser.chrome.waiting.get("health") == 1)
        await screen.until(lambda: any("notes" in roots for roots in looks))
        assert screen.browser.forest.index_signs == {at("MEMORY.md")._replace(root="other"): "I"}


async def test_a_list_made_before_a_change_does_not_hide_it(world: Two, looks: list[tuple[str, ...]]) -> None:
    async with real(world) as screen:
        checkup = screen.browser.checkup
        await screen.until(lambda: checkup.done and set(checkup.reports) == {"notes", "other"})
        old = screen.real.rows.list()
        looks.clear()
        checkup._running = True  # a look that takes its time
        checkup.rows_changed([at("MEMORY.md")])
        checkup.rows_loaded(old)
        checkup._running = False
        checkup._go_on()
        await screen.until(lambda: len(looks) == 2)
        assert looks[1] == ("notes",)


async def test_roots_that_are_read_later_are_looked_at_as_they_were_listed(
    world: Two, looks: list[tuple[str, ...]]
) -> None:
    async with real(world) as screen:
        checkup = screen.browser.checkup
        await screen.until(lambda: checkup.done and set(checkup.reports) == {"notes", "other"})
        looks.clear()
        (world.base / "other" / "MEMORY.md").write_text(entry("gone.md") + entry("lost.md"), encoding="utf-8")
        checkup.part_loaded(screen.real.rows.list(["other"]))
        await screen.until(lambda: sum(len(report.findings) for report in checkup.reports["other"]) == 2)
        assert set(looks) == {("other",)}
        assert list(checkup.reports) == ["notes", "other"]


async def test_other_projects_count_only_while_they_are_shown(world: Two, looks: list[tuple[str, ...]]) -> None:
    away = Root("away", str(world.base / "away"), "claude-code", "project", "Away", project="/away", policy=LINKS)
    (world.base / "away").mkdir()
    file = world.base / "away" / "MEMORY.md"
    file.write_text(entry("gone.md"), encoding="utf-8")
    there = at("MEMORY.md")._replace(root="away")
    async with real(world, more_roots=lambda: (*world.engine().roots.all(), away)) as screen:
        checkup, waiting = screen.browser.checkup, screen.browser.chrome.waiting
        await screen.until(lambda: waiting.get("health") == 2 and len(screen.browser.forest.others) == 1)
        await screen.press("A")
        await screen.until(lambda: waiting["health"] == 3 and there in screen.browser.forest.index_signs)
        await screen.press("A")
        await screen.until(lambda: waiting["health"] == 2)
        assert "away" not in checkup.reports
        assert there not in screen.browser.forest.index_signs
        assert checkup.looked == 2
        await screen.until(lambda: not checkup._running)
        looks.clear()
        file.write_text(entry("gone.md") + entry("lost.md"), encoding="utf-8")
        checkup.rows_changed([there])
        assert not checkup._running
        assert not looks
        await screen.press("A")
        await screen.until(lambda: waiting["health"] == 4)


async def test_a_look_at_a_project_that_ends_after_it_was_put_away_counts_nothing(
    world: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, look = threading.Event(), IndexChecker.look

    def late(self: IndexChecker, engine: Engine, roots: Sequence[Root], *rest: Any, **options: Any) -> Any:
        assert roots[0].id != "away" or go.wait(20)
        return look(self, engine, roots, *rest, **options)

    monkeypatch.setattr(IndexChecker, "look", late)
    away = Root("away", str(world.base / "away"), "claude-code", "project", "Away", project="/away", policy=LINKS)
    (world.base / "away").mkdir()
    (world.base / "away" / "MEMORY.md").write_text(entry("gone.md"), encoding="utf-8")
    async with real(world, more_roots=lambda: (*world.engine().roots.all(), away)) as screen:
        checkup, waiting = screen.browser.checkup, screen.browser.chrome.waiting
        await screen.until(lambda: waiting.get("health") == 2 and len(screen.browser.forest.others) == 1)
        await screen.press("A")
        await screen.until_text("Read 1 folder of other projects.")
        await screen.press("A")
        await screen.until(lambda: at("MEMORY.md")._replace(root="away") not in screen.browser.forest.nodes)
        counts: list[int] = []
        monkeypatch.setattr(checkup, "_tell", lambda _, count: counts.append(count))
        go.set()
        await screen.until(lambda: not checkup._running)
        assert set(checkup.reports) == {"notes", "other"}
        assert counts in ([], [2])


async def test_a_look_that_fails_is_told_and_the_next_one_works(world: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    async with real(world) as screen:
        checkup = screen.browser.checkup
        await screen.until(lambda: checkup.done)

        def fails(*_: object, **_options: object) -> tuple[IndexReport, ...]:
            raise StorageError("The disk is gone.")

        with monkeypatch.context() as patch:
            patch.setattr(IndexChecker, "look", fails)
            checkup.rows_changed([at("MEMORY.md")])
            await screen.until_text("Could not look at the indexes: The disk is gone.")
        (world.folder / "MEMORY.md").write_text("", encoding="utf-8")
        screen.browser.bridge.refresh([at("MEMORY.md")])
        await screen.until(lambda: not any(report.findings for report in checkup.reports["notes"]))


@pytest.fixture
def machine(home: Path, tmp_path: Path) -> Machine:
    return Machine(home, tmp_path)


def found(machine: Machine) -> tuple[Stray, ...]:
    roots = tuple(discover(machine.surroundings("app"), all_projects=True))
    return find_strays(roots, str(machine.home))


def test_memories_of_a_project_that_is_gone(machine: Machine) -> None:
    gone = machine.home / "code" / "harbour"
    machine.write(f"~/.claude/projects/{slug(str(gone))}/memory/MEMORY.md")
    (stray,) = found(machine)
    assert stray.kind == "orphan"
    assert stray.text.startswith("gone; ")
    assert "its memories are still here" in stray.lines[0]
    assert stray.root.startswith("claude-code:project:")


def test_only_what_stayed_of_the_project_one_stands_in_is_told(machine: Machine) -> None:
    for name in ("code/harbour", "code/other", "far/harbour"):
        gone = slug(str(machine.home / name))
        machine.write(f"~/.claude/projects/{gone}/0.jsonl", f'{{"cwd": "{machine.home / name}"}}\n')
        if not name.startswith("far"):
            machine.write(f"~/.claude/projects/{gone}/memory/MEMORY.md")
    (machine.home / ".claude/projects" / slug(str(machine.home / "far/harbour")) / "memory").mkdir()
    here = machine.home / "work" / "harbour"
    here.mkdir(parents=True)
    roots = discover(machine.surroundings("~/work/harbour"), all_projects=True)
    assert earlier_folders(roots, str(here), str(machine.home)) == ("~/code/harbour",)
    assert earlier_folders(roots, str(machine.app), str(machine.home)) == ()


def test_where_it_may_be_now_is_said(machine: Machine) -> None:
    gone = machine.home / "code" / "harbour"
    name = slug(str(gone))
    machine.write(f"~/.claude/projects/{name}/memory/MEMORY.md")
    machine.write(f"~/.claude/projects/{name}/0.jsonl", f'{{"cwd": "{gone}"}}\n')
    (machine.home / "work" / "harbour").mkdir(parents=True)
    (stray,) = found(machine)
    assert stray.path == "~/code/harbour"
    assert stray.text == "gone; perhaps ~/work/harbour"
    assert any(line.startswith("Perhaps now ~/work/harbour: ") for line in stray.lines)


def test_two_projects_in_one_folder(machine: Machine) -> None:
    for name in ("a-b", "a_b"):
        (machine.home / name).mkdir()
    machine.write(f"~/.claude/projects/{slug(str(machine.home / 'a-b'))}/memory/MEMORY.md")
    (stray,) = found(machine)
    assert (stray.kind, stray.text) == ("shared", "one folder for 2 projects")
    assert "~/a-b, ~/a_b" in stray.lines[0]
