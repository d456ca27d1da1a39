"""What stands in the list of tasks: schedules, budgets and places to which nothing can be sent, where there are any."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.config.named import NamedEntry
from memtui.engine.ledger.schedules import PlannedRun
from memtui.features.budgets.limits import debit
from memtui.features.schedules.work import MAX_FAILURES
from memtui.features.tasks.view import TasksView
from memtui.features.tasks.work import StandingRow
from tests.workbench.views.real import CLAUDE, Real, World, real

WHY = "it failed 5 times in a row, the last time with: The job standup ended with 3: nobody answered"
NAMED = (
    NamedEntry("delivery", "team", (("kind", "webhook"), ("url", "env:TEAM_URL_OF_NOBODY"))),
    NamedEntry("budgets", "jobs", (("limit", 1_000), ("window", "day"))),
    NamedEntry("budgets", "org", (("limit", 2_000), ("window", "month"))),
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A schedule that failed too often, one that runs, one that waits; a budget that is spent, and one that is not."""
    world = World(tmp_path)
    with world.engine() as engine:
        for name, waits in (("standup", False), ("tidy", False), ("theirs", True)):
            words = ("job", "standup", "What did you do?") if name == "standup" else ("dream",)
            planned = PlannedRun(0, name, "0 9 * * 1", "UTC", words, "", name, "cli", "lane", 0, 0, waits=waits)
            made = engine.schedules.add(planned)
            if name == "standup":
                for _ in range(MAX_FAILURES):
                    engine.schedules.ended(made.id, failed=True)
                engine.schedules.pause(made.id, WHY)
        failed = engine.tasks.enqueue("deliver", "lane", "cli", {"content": "digest"}, trigger="auto")
        engine.tasks.start(failed.id)
        why = "delivery_unknown: part 1 of 1 to team may have come, or not: no answer."
        engine.tasks.finish(failed.id, "failed", error=("E_DELIVERY", why))
        debit(engine, ("jobs", "org"), "turn:7", 1_200, real=True)
        debit(engine, ("org",), "turn:8", 300, real=False)
    return world


async def opened(screen: Real, named: tuple[NamedEntry, ...] = NAMED) -> TasksView:
    facts = screen.app.browser.facts
    screen.app.browser.facts = facts._replace(settings=facts.settings._replace(named=named))
    await screen.press("0")
    top = screen.app.screen
    assert isinstance(top, TasksView)
    await screen.until(lambda: top.loaded and bool(top.page.page or not top.rows.shown))
    return top


async def to(screen: Real, view: TasksView, name: str) -> StandingRow:
    """Go to a row by its name."""
    await screen.press("g", "g")
    while not (isinstance(view.item, StandingRow) and view.item.name == name):
        await screen.press("j")
    return view.item


@pytest.mark.parametrize("size", [(80, 40), (120, 40)])
async def test_each_group_says_how_its_rows_are_and_nothing_important_is_cut(
    world: World, size: tuple[int, int]
) -> None:
    async with real(world, size=size) as screen:
        view = await opened(screen)
        heads = [row for row in view.rows.shown if isinstance(row, str)]
        assert heads == ["Scheduled", "Deliveries", "Budgets", "Done"]
        assert "Tasks" in screen.text
        assert view._list_words()[1][0][0] == "7"
        text = screen.text
        for words in ("paused    standup", "on        tidy", "waits     theirs", "unusable  team", "it failed 5 times"):
            assert words in text
        assert "failed    deliver   E_DELIVERY" in text
        assert "spent     jobs      120 % of 1,000: 1,200" in text
        assert "near      org       75 % of 2,000: 1,200" in text


async def test_what_failed_five_times_says_why_and_x_has_it_run_again_and_pauses_it(world: World) -> None:
    async with real(world) as screen:
        view = await opened(screen)
        await to(screen, view, "standup")
        await screen.until_text("nobody answered")
        assert "x resume" in screen.text
        await screen.press("x")
        await screen.until(lambda: screen.real.schedules.get("standup").paused == "")
        assert screen.real.schedules.get("standup").failures == 0
        await screen.press("j", "k")
        await screen.until_text("x pause")
        await screen.press("x")
        await screen.until(lambda: screen.real.schedules.get("standup").paused == "by hand")


async def test_r_queues_a_schedule_now_and_nothing_that_waits_for_a_person(world: World) -> None:
    async with real(world) as screen:
        view = await opened(screen)
        await to(screen, view, "theirs")
        await screen.press("r")
        assert "That cannot be done with this row" in screen.text
        await to(screen, view, "tidy")
        await screen.press("r")
        await screen.until(lambda: [one.kind for one in screen.real.tasks.all()] == ["scheduled", "deliver"])
        assert screen.real.tasks.all()[0].request["schedule"] == "tidy"


async def test_a_person_is_asked_before_they_agree_to_what_waits(world: World) -> None:
    async with real(world) as screen:
        view = await opened(screen)
        await to(screen, view, "theirs")
        await screen.press("x")
        assert "x again agrees to: dream" in screen.text
        assert screen.real.schedules.get("theirs").waits


async def test_an_agent_at_the_keys_changes_no_schedule(world: World) -> None:
    async with real(world) as screen:
        screen.app.bridge.actor = CLAUDE
        view = await opened(screen)
        await to(screen, view, "standup")
        await screen.press("x")
        await screen.until_text("Only a person may resume standup")
        assert screen.real.schedules.get("standup").paused


async def test_a_spent_budget_says_until_when_how_to_raise_it_and_what_used_it(world: World) -> None:
    async with real(world) as screen:
        view = await opened(screen)
        await to(screen, view, "jobs")
        await screen.until_text("The budget jobs is spent")
        for words in ("until 2", "Raise limit in", "turn 7"):
            assert words in screen.text


async def test_what_may_have_come_is_sent_again_only_when_r_is_pressed_twice(world: World) -> None:
    async with real(world) as screen:
        await opened(screen)
        await screen.press("G", "r")
        assert "look there first" in screen.text
        assert [one.state for one in screen.real.tasks.all()] == ["failed"]
        await screen.press("r")
        await screen.until(lambda: [one.state for one in screen.real.tasks.all()] == ["queued"])


async def test_who_configures_nothing_sees_no_group(tmp_path: Path) -> None:
    world = World(tmp_path)
    with world.engine() as engine:
        engine.tasks.enqueue("remember", "lane", "cli", {"content": "x"}, trigger="manual")
    async with real(world) as screen:
        view = await opened(screen, named=())
        assert [type(row).__name__ for row in view.rows.shown] == ["Task"]


async def test_the_filter_finds_what_stands_there_and_hides_the_headings(world: World) -> None:
    async with real(world) as screen:
        view = await opened(screen)
        await screen.press("/", *"budgets", "enter")
        assert [row.name for row in view.rows.shown if isinstance(row, StandingRow)] == ["jobs", "org"]
        assert view._list_words()[1][0][0] == "2 of 7"
