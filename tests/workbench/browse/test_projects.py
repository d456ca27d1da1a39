"""Other projects in the workbench: found behind the first frame, read when opened, all of them when asked."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterable
from pathlib import Path

from memtui.engine.model import Address, Root
from memtui.ui import process
from tests.workbench.memories import Memories, usual_roots
from tests.workbench.shown import TEXTS, Shown, engine_with, shown

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
