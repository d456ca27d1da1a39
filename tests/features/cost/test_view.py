"""The start cost as a user sees it: agents, one agent's files in order, the cut line, and changes while it is open."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memtui.agents.discovery import discover
from memtui.agents.layout import slug
from memtui.engine import Engine
from memtui.features.cost import view as cost_view
from memtui.features.cost import view_rows
from memtui.features.cost.view import CostView
from memtui.features.cost.view_rows import AGENT, CUT, ITEM
from memtui.workbench.main_screen import SavedPlace
from tests.agents.machine import Machine
from tests.workbench.shown import engine_with, shown
from tests.workbench.views.real import Real, World, real


class Start(World):
    """A home with two agents and a project."""

    def __init__(self, base: Path, home: Path) -> None:
        super().__init__(base)
        self.machine = Machine(home, base)
        write = self.machine.write
        write("~/.claude/CLAUDE.md", "# Me\n\nShort sentences.\n")
        write("app/CLAUDE.md", "# App\n\n@docs/a.md\n@../outside.md\n<!-- for people -->\n")
        write("app/docs/a.md", "Names are nouns.\n")
        write("app/.claude/rules/api.md", "---\npaths: api/**\n---\nx\n")
        memory = f"~/.claude/projects/{slug(str(self.machine.app))}/memory"
        write(f"{memory}/MEMORY.md", "".join(f"- [n{number}](n{number}.md)\n" for number in range(230)))
        write(f"{memory}/n1.md", "A note nobody loads.\n")
        write("~/.codex/AGENTS.md", "Small commits.\n")

    def engine(self, *, read_only: bool = False) -> Engine:
        """An engine on what is found."""
        roots = discover(self.machine.surroundings())
        return Engine.open(roots, state_dir=str(self.base / "state"), clock=self.clock, read_only=read_only)


@pytest.fixture
def start(tmp_path: Path, home: Path) -> Start:
    """Two agents and a project."""
    return Start(tmp_path / "world", home)


@asynccontextmanager
async def costs(start: Start, size: tuple[int, int] = (160, 40)) -> AsyncIterator[tuple[Real, CostView]]:
    """Open the view."""
    async with real(start, size=size, surroundings=start.machine.surroundings()) as screen:
        await screen.look("8", "Codex")
        top = screen.app.screen
        assert isinstance(top, CostView)
        yield screen, top


def files(view: CostView) -> list[str]:
    """The files of the list, by their last part, with marks."""
    rows = [row.item.loaded for row in view.rows.shown if row.item is not None and row.kind == ITEM]
    return [one.path.rpartition("/")[2] + (f": {one.mark}" if one.mark else "") for one in rows]


async def test_agents_with_their_sums_and_what_costs_most(start: Start) -> None:
    async with costs(start) as (screen, view):
        assert [row.cost.agent for row in view.rows.shown] == ["claude-code", "codex", "memtui"]
        assert "2 agents and memtui in use here" in screen.text
        assert "memtui, where installed" in screen.text
        assert screen.text.count("Tokens are") == 1
        assert "[############]" in screen.text
        await screen.until_text("What costs most:")
        assert "bytes are past its limits" in screen.text


async def test_one_agents_files_in_order_with_the_cut_line(start: Start) -> None:
    async with costs(start) as (screen, view):
        await screen.press("enter")
        await screen.until_text("Everything")
        assert files(view) == [
            "CLAUDE.md",
            "CLAUDE.md",
            "a.md",
            "outside.md: needs approval",
            "api.md: only when matching files are touched",
            "MEMORY.md: cut",
            "n1.md: on demand",
        ]
        assert [row.kind for row in view.rows.shown].count(CUT) == 1
        assert "of it are not loaded" in screen.text
        assert "of 3, c for the next" in screen.text
        await screen.until(lambda: bool(view.rows.shown[6].item and view.rows.shown[6].item.loaded.raw))
        await screen.press(*"jjjjjj")
        await screen.until_text("memory index: cut.")
        await screen.press("n")
        await screen.until_text("cut here: 30 lines")
        assert "x201" in screen.text.replace(" ", "")
        await screen.press("g", "g", "j", "j")
        await screen.until_text("-  5  <!-- for people -->")


async def test_back_goes_from_the_text_to_the_files_to_the_agents(start: Start) -> None:
    async with costs(start) as (screen, view):
        await screen.press("j", "enter")
        await screen.until(lambda: view.opened == "codex")
        await screen.press("tab", "escape")
        assert view.opened == "codex"
        await screen.press("escape")
        assert (view.opened, view.list.cursor) == ("", 1)
        await screen.press("l")
        assert view.opened == "codex"
        await screen.press("h", "escape")
        await screen.until(lambda: screen.app.screen is screen.app.browser)


async def test_the_next_agent_comes_with_one_key(start: Start) -> None:
    async with costs(start) as (screen, view):
        for wanted in ("claude-code", "codex", "memtui", "claude-code"):
            await screen.press("c")
            assert view.opened == wanted


async def test_enter_goes_to_the_memory_or_to_the_text(start: Start) -> None:
    async with costs(start) as (screen, view):
        await screen.press("enter", "j", "j", "j")
        await screen.until_text("docs/a.md")
        assert view._off(next(one for one in view.table if one.id == "edit"))
        await screen.press("enter")
        await screen.until(lambda: view._in_page)
        await screen.press("escape", "k", "enter")
        await screen.until(lambda: screen.app.screen is screen.app.browser)
        current = screen.app.browser.memories.current
        assert current is not None
        assert current.memory is not None
        assert str(current.memory.address) == "claude-code:project:instructions/CLAUDE.md"


async def test_it_follows_files_in_roots_and_files_in_none(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_view, "CHECK_INTERVAL", 0.05)
    async with costs(start) as (screen, view):
        await screen.press("enter")
        await screen.until_text("Everything")
        before = view.cost.tokens if view.cost is not None else 0
        start.machine.write("app/docs/a.md", "Names are nouns. " * 50)
        await screen.until(lambda: view.cost is not None and view.cost.tokens > before + 100)
        start.machine.write("app/CLAUDE.md", "# App\n")
        await screen.until(lambda: "a.md" not in files(view))


async def test_keys_that_are_typed_ahead_wait_for_the_agents(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    go, work_out = threading.Event(), view_rows.load

    def late(*rest: Any) -> view_rows.Worked:
        assert go.wait(100)
        return work_out(*rest)

    monkeypatch.setattr(view_rows, "load", late)
    async with real(start, surroundings=start.machine.surroundings()) as screen:
        screen.burst("8", "enter", "j")
        await screen.until(lambda: isinstance(screen.app.screen, CostView))
        view = screen.app.screen
        assert isinstance(view, CostView)
        await screen.until(lambda: "reading" in screen.text)
        assert view.opened == ""
        go.set()
        await screen.until(lambda: view.opened == "claude-code" and view.list.cursor == 1)


async def test_nothing_is_looked_for_while_it_is_not_shown(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    monkeypatch.setattr(cost_view, "CHECK_INTERVAL", 0.02)
    monkeypatch.setattr(CostView, "_look", lambda _: looks.append("look"))
    async with costs(start) as (screen, _):
        await screen.until(lambda: len(looks) > 2)
        for leave, back in (("escape", "8"), ("question_mark", "escape")):
            await screen.press(leave)
            await screen.until(lambda: not isinstance(screen.app.screen, CostView))
            looks.clear()
            ticks: list[int] = []
            timer = screen.app.set_interval(0.02, partial(ticks.append, 1))
            await screen.until(partial(lambda seen: len(seen) > 5, ticks))
            timer.stop()
            assert not looks
            await screen.press(back)
            await screen.until(lambda: len(looks) > 1)


async def test_a_look_does_not_take_the_place_of_a_reading_that_takes_longer(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost_view, "CHECK_INTERVAL", 1_000)
    work_out, differs, go = view_rows.load, view_rows.changed, threading.Event()
    begun: list[int] = []
    asked: list[int] = []
    looked: list[int] = []

    def slow(*rest: Any) -> view_rows.Worked:
        begun.append(1)
        assert go.wait(100)
        return work_out(*rest)

    def asks(*rest: Any) -> bool:
        asked.append(1)
        return differs(*rest)

    async with costs(start) as (screen, view):
        before = view.rows.shown[0].cost.tokens
        monkeypatch.setattr(view_rows, "load", slow)
        monkeypatch.setattr(view_rows, "changed", asks)
        start.machine.write("app/docs/a.md", "Names are nouns. " * 50)
        view._look()
        await screen.until(lambda: len(begun) == 1)
        view._look()
        view.jobs.run(lambda _: None, lambda _: looked.append(1), what="look behind that look")
        await screen.until(lambda: len(looked) == 1)
        go.set()
        await screen.until(lambda: view.rows.shown[0].cost.tokens > before + 100)
        assert len(asked) == 1


async def test_what_is_not_loaded_shows_its_text_all_the_same(start: Start) -> None:
    async with costs(start) as (screen, _):
        await screen.press("enter")
        await screen.until_text("Everything")
        await screen.press("G")
        await screen.until_text("A note nobody loads.")
        assert "not loaded at the start" in screen.text


async def test_what_is_switched_off_says_so_at_once_and_has_no_cut_line(start: Start) -> None:
    start.machine.write("~/.claude/settings.json", '{"autoMemoryEnabled": false}')
    async with costs(start) as (screen, _):
        await screen.until_text("2 files skipped. Not loaded: switched off in")
        await screen.press("enter")
        await screen.until_text("Everything")
        await screen.press("G", "n")
        await screen.until_text("It is not loaded at the start, so nothing of it is cut. Not loaded: switched off in")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_it_fits(start: Start, size: tuple[int, int]) -> None:
    async with costs(start, size) as (screen, view):
        await screen.press("enter")
        await screen.until_text("Everything")
        await screen.press(*"jjjjjj")
        await screen.until_text("cut")
        assert view.item is not None
        assert view.item.kind == ITEM
        assert "MEMORY.md" in screen.text
        assert ("[8 Start cost]" if size[0] >= 120 else "[8 Cost]") in screen.text


async def test_where_nothing_is_known_it_says_so() -> None:
    async with shown(engine_with()) as screen:
        await screen.press("8")
        await screen.until_text("memtui cannot tell here where sessions start.")
        view = screen.app.screen
        assert isinstance(view, CostView)
        assert not [row for row in view.rows.shown if row.kind == AGENT]
        await screen.press("c", "enter", "n", "h", "l")
        assert isinstance(screen.app.screen, CostView)


async def test_an_error_ends_the_waiting(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*rest: object, **more: object) -> None:
        raise RuntimeError("the disk is gone")

    load = view_rows.load
    monkeypatch.setattr(view_rows, "load", fail)
    async with real(start, size=(160, 40), surroundings=start.machine.surroundings()) as screen:
        await screen.look("8", "the disk is gone")
        assert "reading..." not in screen.text
        monkeypatch.setattr(view_rows, "load", load)
        view = screen.app.screen
        assert isinstance(view, CostView)
        view.load()
        await screen.until_text("Codex")
        assert "the disk is gone" not in "\n".join(screen.text.splitlines()[:-3])
        monkeypatch.setattr(view_rows, "load", fail)
        await screen.press("enter")
        await screen.until_text("Everything")
        await screen.until(lambda: bool(view.failed))
        await screen.press("j")
        await screen.until(lambda: "reading..." not in screen.text)


async def test_after_a_restart_the_same_agent_is_open_at_the_same_file(start: Start) -> None:
    async with costs(start) as (screen, view):
        await screen.press("enter", "j", "j")
        await screen.until(lambda: view.list.cursor == 2)
        agent, row, name = view.opened, view.item, view.list.row_now
        assert row is not None
    around = start.machine.surroundings()
    async with real(start, size=(160, 40), surroundings=around, place=SavedPlace(view="cost", row=name)) as screen:
        await screen.until(lambda: screen.browser.views.current == "cost")
        again = screen.app.screen
        assert isinstance(again, CostView)
        await screen.until(lambda: again.item is not None and again.item.key == row.key)
        assert again.opened == agent
        await screen.until(lambda: bool(again.page.page) and again._texts_of == agent)
