"""Other projects in the workbench: found behind the first frame, read when opened, all of them when asked."""

from __future__ import annotations

import gc
import threading

from memtui.engine.model import Address, Root
from memtui.ui import heap
from tests.workbench.fake_engine import ROOTS, FakeEngine
from tests.workbench.fake_shown import Shown, engine_with, shown

COUNT = 30
WEB = tuple(
    Root(
        f"claude-code:project:-web-{number}", f"/c/{number}", "claude-code", "project", "Claude Code memory, x",
        project=f"/home/ann/web-{number}",
    )
    for number in range(COUNT)
)  # fmt: skip
NAME = "/home/ann/api"


def engine() -> FakeEngine:
    made = engine_with()
    made.add_roots(WEB)
    for root in WEB:
        made.put(f"{root.id}/far.md", "far away\n")
    made.roots = ROOTS
    return made


def everything() -> tuple[Root, ...]:
    return (*ROOTS, *WEB)


async def others(running: Shown) -> None:
    await running.until_text("OTHER PROJECTS")
    assert running.browser.memories.go_to(("others", "project"))
    await running.pilot.pause()


async def test_they_are_found_after_the_first_frame_and_not_read() -> None:
    found = threading.Event()

    def slowly() -> tuple[Root, ...]:
        assert found.wait(20)
        return everything()

    async with shown(engine(), more_roots=slowly) as running:
        await running.until_text("finding projects")
        assert "retry.md" in running.text
        assert "OTHER PROJECTS" not in running.text
        found.set()
        await others(running)
        assert "finding" not in running.text
        assert f"{COUNT} projects" in running.text
        assert not any(address.root == WEB[0].id for address in running.browser.forest.nodes)
        await running.until_text(f"{COUNT} not read")


async def test_opening_one_reads_that_one() -> None:
    async with shown(engine(), more_roots=everything) as running:
        await others(running)
        await running.press("enter")
        await running.until_text("~/web-7")
        assert running.browser.memories.go_to(("root", WEB[7].id))
        await running.press("l")
        await running.until_text("far.md")
        assert running.browser.forest.others.read == {WEB[7].id}
        await running.press("l")
        await running.until_text("~/web-7: far.md")


async def test_the_collector_does_not_go_through_what_was_read_until_it_is_put_away() -> None:
    async with shown(engine(), more_roots=everything) as running:
        await others(running)
        heap.let_go()
        await running.press("A")
        await running.until_text(f"Read {COUNT} folders")
        leaf = running.browser.forest.nodes[Address(WEB[0].id, "far.md")]
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
        await running.until(lambda: isinstance(made.places.get(NAME), dict) and made.places[NAME]["projects"])  # type: ignore[index]
    assert made.places


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
        assert found.wait(20)
        return everything()

    async with shown(engine(), more_roots=slowly) as running:
        await running.press("A")
        running.browser.projects.want([WEB[3].id])
        found.set()
        await running.until(lambda: len(running.browser.forest.nodes) == 7 + COUNT)
        assert "~/web-3" in running.text


async def test_grouping_and_instructions_have_keys_and_are_kept() -> None:
    made = engine()
    made.roots = (*ROOTS, Root("x:project:rules", "/r", "x", "project", "X rules")._replace(kind="instructions"))
    made.put("x:project:rules/RULES.md", "be kind\n")
    async with shown(made, more_roots=everything, place_name=NAME) as running:
        await running.until_text("INSTRUCTIONS")
        await running.press("f", "i")
        await running.until(lambda: "INSTRUCTIONS" not in running.text)
        await running.press("a")
        await running.until_text("MEMTUI")
        await running.until_text("CLAUDE CODE, OTHER PROJECTS")
        await running.until(lambda: NAME in made.places and bool(made.places[NAME]["by_agent"]))  # type: ignore[index]
        assert made.places[NAME]["instructions"] is False  # type: ignore[index]


async def test_a_hostile_name_of_a_project_is_drawn_as_signs() -> None:
    bad = Root("claude-code:project:bad", "/c/b", "claude-code", "project", "Claude Code memory, -a\n\x1b[2J\u202eb")
    async with shown(engine(), more_roots=lambda: (*ROOTS, bad)) as running:
        await others(running)
        await running.press("enter")
        await running.until_text("not read")
        assert "\x1b" not in running.text
        assert "\u202e" not in running.text
