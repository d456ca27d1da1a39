"""The activity in the workbench: rows that open, jumps, differences, one step taken back alone, endless audits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.model import Address, MergeOf, Root
from memtui.features.activity.view import ActivityView
from memtui.features.activity.view_rows import PAGE
from memtui.workbench.main_screen import SavedPlace
from tests.workbench.views.real import CLAUDE, ME, Real, World, at, real, write


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    with world.engine() as engine:
        engine.watch.reconcile()
        write(engine, ["one\n", "two\nthree\n"], at("a.md"))
        for name in ("b.md", "c.md", "d.md"):
            engine.memories.create(at(name), f"{name}\n", actor=ME)
        engine.memories.delete([at("b.md"), at("c.md"), at("d.md")], actor=ME)
        engine.memories.create(at("e.md"), "e\n", actor=ME)
    return world


async def activity(screen: Real) -> ActivityView:
    await screen.press("5")
    top = screen.app.screen
    assert isinstance(top, ActivityView)
    await screen.until(lambda: top.loaded and bool(top.page.page) and not top._loading)
    return top


async def to(screen: Real, view: ActivityView, words: str) -> None:
    """Put the cursor on the first row that has these words."""
    for index in range(view.list.count()):
        if words in "".join(text for text, _ in view._draw_row(view.rows.shown[index], 100)):
            view.list.go(index)
            key = view.list.key(index)
            await screen.until(partial(lambda wanted: view._shown == wanted, key))
            return
    raise AssertionError(f"no row says {words}:\n{screen.text}")


@asynccontextmanager
async def activity_of(world: World, **options: Any) -> AsyncIterator[tuple[Real, ActivityView]]:
    async with real(world, **options) as screen:
        yield screen, await activity(screen)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_who_did_what_where_and_how_many_lines(world: World, size: tuple[int, int]) -> None:
    async with activity_of(world, size=size) as (screen, view):
        await screen.until_text("+2 -1")
        for words in ("delete 3 memories", "create   notes/e.md", "claude", "u undo", "Activity"):
            assert words in screen.text
        await to(screen, view, "edit")
        await screen.until_text("1 + two")


async def test_a_bulk_operation_is_one_row_that_opens(world: World) -> None:
    async with activity_of(world) as (screen, view):
        rows = view.list.count()
        await to(screen, view, "delete 3 memories")
        await screen.until_text("deleted  notes/c.md")
        await screen.press("enter")
        await screen.until(lambda: view.list.count() == rows + 3)
        await screen.press("j")
        await screen.until_text("Part of: delete 3 memories")
        await screen.press("h")
        await screen.until(lambda: view.list.count() == rows)
        assert view.item is not None
        assert len(view.item.records) == 3


async def test_enter_jumps_to_the_memory_or_to_its_history_when_it_is_gone(world: World) -> None:
    async with activity_of(world) as (screen, view):
        await to(screen, view, "create   notes/b.md")
        await screen.press("enter")
        await screen.until_text("History of notes/b.md")
        await screen.press("escape")
        await screen.until(lambda: screen.browser.views.current == "activity")
        await to(screen, view, "edit")
        await screen.press("enter")
        await screen.until(lambda: screen.app.screen is screen.browser and screen.here == "notes/a.md")


async def test_w_gives_the_difference_the_whole_screen(world: World) -> None:
    async with activity_of(world, size=(80, 24)) as (screen, view):
        await to(screen, view, "edit")
        await screen.press("w")
        await screen.until(lambda: "delete 3" not in screen.text and "1 + two" in screen.text)
        await screen.press("w")
        await screen.until_text("delete 3")
        await screen.press("w", "escape")
        await screen.until_text("delete 3")
        assert screen.browser.views.current == "activity"


async def test_an_older_step_is_taken_back_alone_after_a_second_key(world: World) -> None:
    async with activity_of(world) as (screen, view):
        await to(screen, view, "delete 3 memories")
        await screen.press("d")
        await screen.until_text("s takes back: delete 3 memories; any other key cancels")
        await screen.press("x")
        await screen.until_text("Cancelled; nothing was changed.")
        assert "b.md" not in world.disk()
        await screen.press("d", "s")
        await screen.until_text("Took back: delete 3 memories. u brings it back.")
        assert {"b.md", "c.md", "d.md", "e.md"} <= set(world.disk())
        await screen.until_text("undone")
        await screen.press("u")
        await screen.until(lambda: "b.md" not in world.disk())
        assert "e.md" in world.disk()


async def test_what_could_not_be_taken_back_is_said_for_each_memory(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(at("b.md"), "again\n", actor=CLAUDE)
    async with activity_of(world) as (screen, view):
        await to(screen, view, "delete 3 memories")
        await screen.press("d", "s")
        await screen.until_text("Took 2 of 3 back. notes/b.md is there again, with another text.")
        await screen.until_text("Left as they are: 1 memory.")
        assert world.disk()["b.md"] == b"again\n"
        await screen.press("j", "k")
        await screen.until(lambda: "Left as they are" not in screen.text)


async def test_a_step_that_did_not_happen_says_so(world: World) -> None:
    with world.engine() as engine:
        engine.save(at("a.md"), "mine\n", expected_sha256="0" * 64, actor=ME)
    async with activity_of(world) as (screen, view):
        await to(screen, view, "conflict")
        await screen.press("d", "s")
        await screen.until_text("It did not happen, so there is nothing to take back.")


async def test_words_and_writers_narrow_it(world: World) -> None:
    async with activity_of(world) as (screen, view):
        await screen.press("slash")
        await screen.type("claude edit")
        await screen.until(lambda: view.loaded and view.list.count() == 1)
        await screen.press("enter")
        assert "/claude edit" in screen.text
        await screen.press("escape")
        await screen.until(lambda: view.list.count() == 7)
        await to(screen, view, "edit")
        await screen.press("a")
        await screen.until(lambda: view.list.count() == 1 and "claude only" in screen.text)
        await screen.press("a")
        await screen.until(lambda: view.list.count() == 7)
        await screen.press("slash")
        await screen.type("zzz")
        await screen.until_text("Nothing that was done matches")
        await screen.press("escape")
        await screen.until(lambda: view.list.count() == 7)


async def test_news_arrive_and_the_cursor_stays(world: World) -> None:
    async with activity_of(world) as (screen, view):
        await to(screen, view, "delete 3 memories")
        key = view.list.key(view.list.cursor)
        for name in ("x.md", "y.md"):
            screen.real.memories.create(at(name), "new\n", actor=CLAUDE)
        await screen.until(lambda: view.list.count() == 9)
        assert view.list.key(view.list.cursor) == key


async def test_a_hundred_thousand_records_open_with_one_page_and_load_as_the_cursor_goes(world: World) -> None:
    with world.engine() as engine, engine._ledger.transaction() as db:
        db.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
            " INSERT INTO audit (root, path, actor, operation, before, after, at, state)"
            " SELECT a.root, CAST('bulk/' || n.i AS BLOB), iif(n.i % 2, 'outside', 'agent:x'), 'modified', a.after,"
            " a.after, a.at + n.i * 5000, 'done' FROM n, audit a WHERE a.seq = 1"
        )
    async with activity_of(world) as (screen, view):
        assert view.list.count() == PAGE
        await screen.until_text("200+")
        await screen.press("pagedown")
        assert view.list.count() == PAGE
        for _ in range(4):
            await screen.press("pagedown")
        await screen.until(lambda: view.list.count() > PAGE)
        assert view.list.count() < 5 * PAGE
        screen.app.bridge.reload()
        await screen.until(lambda: not view._loading)
        assert view.list.count() > PAGE


async def test_the_bottom_is_the_first_thing_that_was_ever_done(world: World) -> None:
    with world.engine() as engine:
        for number in range(PAGE + 20):
            engine.pins.set([at("a.md")], pinned=number % 2 == 0, actor=ME)
    async with activity_of(world) as (screen, view):
        assert not view.rows.complete
        await screen.press("G")
        await screen.until(lambda: view.rows.complete and view.list.cursor == view.list.count() - 1)
        await screen.until_text("By you")
        await screen.press("g", "g")
        assert view.list.cursor == 0


async def test_point_13_every_operation_is_one_entry_and_one_step_of_undo(tmp_path: Path) -> None:
    """Acceptance point 13: save, merge, rename, pin and bulk are each one entry in 5 Activity and one step of u/U."""
    world = World(tmp_path)
    with world.engine() as engine:
        engine.watch.reconcile()
        engine.memories.create(at("a.md"), "one\n", actor=ME)
        engine.memories.create(at("b.md"), "b\n", actor=ME)
        states = [world.disk()]

        def did() -> None:
            states.append(world.disk())

        first = engine.read(at("a.md")).sha256
        engine.save(at("a.md"), "two\n", expected_sha256=first, actor=ME)
        did()
        theirs = engine.read(at("a.md")).sha256
        yours = engine.save(at("a.md"), "mine\n", expected_sha256=first, actor=ME)
        merge = MergeOf(first, getattr(yours, "yours_sha256", ""), theirs)
        engine.save(at("a.md"), "two and mine\n", expected_sha256=theirs, actor=ME, merge=merge)
        did()
        engine.memories.rename(at("a.md"), at("sub/a.md"), actor=ME)
        did()
        engine.pins.set([at("sub/a.md"), at("b.md")], pinned=True, actor=ME)
        did()
        engine.memories.move([(at("sub/a.md"), at("x/a.md")), (at("b.md"), at("x/b.md"))], actor=ME)
        did()
        engine.memories.delete([at("x/a.md"), at("x/b.md")], actor=ME)
        did()
    async with activity_of(world) as (screen, view):
        rows = ["".join(text for text, _ in view._draw_row(item, 100)) for item in view.rows.shown]
        for number, words in enumerate(
            ["delete 2 memories", "move 2 memories", "pin 2 memories", "rename   notes/a.md", "edit     notes/a.md"]
        ):
            assert words in rows[number]
        assert "conflict" in rows[5]
        assert "edit     notes/a.md" in rows[6]
        for state in reversed(states[:-1]):
            await screen.press("u")
            await screen.until_text("u again undoes")
            await screen.press("u")
            await screen.until(partial(lambda wanted: world.disk() == wanted, state))
            await screen.until_text("Undid: ")
        await screen.until(lambda: view.list.count() > len(rows))
        for state in states[1:]:
            await screen.press("U")
            await screen.until(partial(lambda wanted: world.disk() == wanted, state))
            await screen.until_text("Did again: ")


async def test_after_a_restart_the_cursor_is_at_its_step_again_however_far_down(world: World) -> None:
    with world.engine() as engine:
        for number in range(2 * PAGE):
            engine.memories.create(at(f"more/{number:03}.md"), "x\n", actor=ME)
    async with real(world) as screen:
        view = await activity(screen)
        await screen.press("G")
        await screen.until(lambda: view.rows.complete and view.list.cursor == view.list.count() - 1)
        await to(screen, view, "delete 3 memories")
        await screen.press("enter", "j")
        row, key = view.list.row_now, view.item.step.key if view.item is not None else None
        assert view.item is not None
        assert view.item.record is not None
    async with real(world, place=SavedPlace(view="activity", row=row)) as screen:
        await screen.until(lambda: screen.browser.views.current == "activity")
        again = screen.app.screen
        assert isinstance(again, ActivityView)
        await screen.until(lambda: again.item is not None and again.item.step.key == key)
        await screen.until_text("deleted  notes/c.md")
        assert again.list.top <= again.list.cursor < again.list.top + again.list.size.height
        assert again.shell.row_left("activity") == ""


@pytest.mark.parametrize("steps", [0, 2 * PAGE])
async def test_a_step_that_is_no_longer_there_is_not_looked_for_without_end(
    world: World, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    monkeypatch.setattr("memtui.features.activity.view.SOUGHT", PAGE)
    with world.engine() as engine:
        for number in range(steps):
            engine.memories.create(at(f"more/{number:03}.md"), "x\n", actor=ME)
    async with real(world, place=SavedPlace(view="activity", row="('seq', 999999)")) as screen:
        await screen.until(lambda: screen.browser.views.current == "activity")
        view = screen.app.screen
        assert isinstance(view, ActivityView)
        await screen.until(lambda: view.loaded and view.shell.row_left(view.ID) == "")
        assert view.rows.complete == (not steps)
        assert view.list.cursor == 0


@pytest.fixture
def steps_world(tmp_path: Path) -> World:
    world = World(tmp_path)
    with world.engine() as engine:
        engine.watch.reconcile()
        engine.memories.create(at("a.md"), "one\n", actor=ME)
        engine.save(at("a.md"), "two\n", expected_sha256=engine.read(at("a.md")).sha256, actor=CLAUDE)
        engine.memories.create(at("b.md"), "b\n", actor=ME)
    return world


async def test_the_newest_says_u_and_an_older_one_says_d_s(steps_world: World) -> None:
    async with activity_of(steps_world) as (screen, _):
        await screen.until_text("u takes it back: it is the newest.")
        await screen.press("j")
        await screen.until_text("d s takes this step alone back")
        await screen.press("d", "s")
        await screen.until_text("Took back: save notes/a.md. u brings it back.")
        assert steps_world.disk() == {"a.md": b"one\n", "b.md": b"b\n"}


async def test_a_step_taken_back_twice_is_refused_in_words(steps_world: World) -> None:
    async with activity_of(steps_world) as (screen, view):
        await screen.press("j", "d", "s")
        await screen.until_text("Took back: save notes/a.md.")
        await screen.until(lambda: view.list.count() == 4)
        await screen.press("d", "s")
        await screen.until_text("That step was taken back already.")
        assert steps_world.disk()["a.md"] == b"one\n"


async def test_what_others_did_is_taken_back_as_one_memory(steps_world: World) -> None:
    async with activity_of(steps_world) as (screen, view):
        (steps_world.folder / "a.md").write_bytes(b"theirs\n")
        screen.app.bridge.reload()
        await screen.until(lambda: view.list.count() == 4)
        await screen.press("g", "g")
        await screen.until_text("1 + theirs")
        await screen.press("d")
        await screen.until_text("s takes back: modified notes/a.md")
        await screen.press("s")
        await screen.until(lambda: steps_world.disk()["a.md"] == b"two\n")


async def test_a_step_of_a_folder_that_is_not_open_says_so_and_offers_nothing(steps_world: World) -> None:
    away = Root("far", str(steps_world.base / "far"))
    with steps_world.engine() as engine:
        engine.roots.add([away])
        engine.memories.create(Address("far", "z.md"), "z\n", actor=ME)
    for found, words in ((away, "to another project, which was not read: A in"), (None, "--root NAME=DIR opens it")):
        roots = (Root("notes", str(steps_world.folder)), *((found,) if found is not None else ()))
        async with real(steps_world, more_roots=lambda roots=roots: roots) as screen:
            await screen.until(lambda: screen.browser.every_root is not None)
            view = await activity(screen)
            await screen.until_text(words.split(" ", maxsplit=1)[0])
            assert "no longer stored" not in screen.text
            assert "d s" not in screen.text
            await screen.press("enter")
            assert screen.app.screen is view
            assert words in " ".join(screen.text.split())
            await screen.press("d", "s")
            assert words in " ".join(screen.text.split())


async def test_an_operation_of_a_folder_that_is_not_open_says_so_beside_its_memories(steps_world: World) -> None:
    with steps_world.engine() as engine:
        engine.roots.add([Root("far", str(steps_world.base / "far"))])
        for name in ("y.md", "z.md"):
            engine.memories.create(Address("far", name), "z\n", actor=ME)
        engine.memories.delete([Address("far", "y.md"), Address("far", "z.md")], actor=ME)
    async with activity_of(steps_world) as (screen, _):
        await screen.until_text("delete 2 memories")
        await screen.until_text("--root")
        assert "deleted  /" in screen.text
        assert "d s" not in screen.text
