"""The trash in the workbench: enter restores nothing, r restores all marked as one step, a taken name gets another."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.model import Address, Policy, TrashEntry
from memtui.features.trash.view import TrashView, entry_runs, free_name, heading
from memtui.pointers import references
from memtui.safe_text import cell_width
from memtui.ui.action import COMMON
from memtui.ui.draw.text import RowStyle
from memtui.workbench.actions import ACTIONS, BY_ID, VIEW, VIEWS
from tests.workbench.views.real import CLAUDE, ME, Real, World, at, real


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    with world.engine() as engine:
        engine.watch.reconcile()
        for name in ("a.md", "b.md", "sub/c.md", "keep.md"):
            engine.memories.create(at(name), f"text of {name}\n", actor=ME)
        engine.memories.delete([at("a.md"), at("b.md")], actor=CLAUDE)
        engine.memories.delete([at("sub/c.md")], actor=ME)
    return world


async def trash(screen: Real) -> TrashView:
    await screen.press("6")
    top = screen.app.screen
    assert isinstance(top, TrashView)
    await screen.until(lambda: top.loaded and bool(top.page.page or not top.rows.shown))
    return top


@asynccontextmanager
async def trash_of(world: World, **options: Any) -> AsyncIterator[tuple[Real, TrashView]]:
    async with real(world, **options) as screen:
        yield screen, await trash(screen)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_what_was_deleted_by_whom_and_when_with_its_text(world: World, size: tuple[int, int]) -> None:
    async with trash_of(world, size=size) as (screen, view):
        assert [entry.address.path for entry in view.rows.shown] == ["sub/c.md", "b.md", "a.md"]
        await screen.until_text("1  text of sub/c.md")
        await screen.press("j")
        await screen.until_text("Deleted by claude, just now")
        assert "One of 2 memories that were deleted at once." in screen.text
        assert screen.footer.startswith("r restore")


async def test_enter_never_restores(world: World) -> None:
    async with trash_of(world) as (screen, _):
        before = world.disk()
        await screen.press("enter", "enter", "j", "enter")
        assert world.disk() == before
        assert len(screen.real.undo.trash.entries()) == 3


async def test_all_marked_come_back_as_one_step_of_undo(world: World) -> None:
    async with trash_of(world) as (screen, view):
        before = world.disk()
        await screen.press("*")
        await screen.until_text("3 marked")
        await screen.press("r")
        await screen.until_text("Restored 3 memories. u takes them back.")
        await screen.until_text("The trash is empty.")
        assert set(world.disk()) == {"a.md", "b.md", "sub/c.md", "keep.md"}
        await screen.press("u")
        await screen.until(lambda: world.disk() == before)
        await screen.until(lambda: len(view.rows.shown) == 3)


async def test_where_the_name_is_taken_another_one_is_offered(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(at("b.md"), "somebody else's\n", actor=CLAUDE)
    async with trash_of(world) as (screen, view):
        await screen.until_text("notes/b.md  name taken")
        await screen.press("j")
        await screen.until_text("Another memory has this name by now, and it stays")
        await screen.press("r")
        await screen.until_text("enter restores as notes/b-restored.md")
        await screen.press("escape")
        await screen.until_text("Not restored; it stays in the trash.")
        await screen.press("r", "enter")
        await screen.until_text("Restored notes/b-restored.md. u takes it back.")
        assert world.disk()["b.md"] == b"somebody else's\n"
        assert world.disk()["b-restored.md"] == b"text of b.md\n"
        await screen.until(lambda: len(view.rows.shown) == 2)


async def test_a_name_that_is_taken_in_that_moment_leads_to_the_same_question(world: World) -> None:
    async with trash_of(world) as (screen, _):
        await screen.press("j")
        await screen.until_text("1  text of b.md")
        (world.folder / "b.md").write_bytes(b"just now\n")
        await screen.press("r")
        await screen.until_text("b-restored.md")
        screen.forget_haste()
        await screen.type("x")
        await screen.press("enter")
        await screen.until_text("Restored notes/b-restoredx.md. u takes it back.")
        assert world.disk()["b.md"] == b"just now\n"


@contextmanager
def stalled(screen: Real, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Have bringing back take until the end of the block; gives what says that it began."""
    began, go, restore = threading.Event(), threading.Event(), screen.real.undo.trash.restore

    def late(*rest: Any, **options: Any) -> Any:
        began.set()
        assert go.wait(100)
        return restore(*rest, **options)

    with monkeypatch.context() as patch:
        patch.setattr(screen.real.undo.trash, "restore", late)
        try:
            yield began
        finally:
            go.set()


async def test_keys_typed_before_a_question_nobody_read_are_no_answer_and_no_command(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with trash_of(world) as (screen, view):
        await screen.press("j")
        await screen.until_text("1  text of b.md")
        with stalled(screen, monkeypatch) as began:
            await screen.press("r")
            await screen.until(began.is_set)
            (world.folder / "b.md").write_bytes(b"just now\n")
            screen.burst("k", "x", "enter")
            await screen.until(lambda: len(screen.app.fence.waiting) == 3)
        await screen.until(lambda: view.prompt.open and screen.settled)
        assert view.list.cursor == 1
        await screen.until_text("notes/b.md exists already; enter restores as notes/b-restored.md")
        assert set(world.disk()) == {"b.md", "keep.md"}
        with stalled(screen, monkeypatch) as began:
            await screen.press("enter")
            await screen.until(began.is_set)
            (world.folder / "b-restored.md").write_bytes(b"that too\n")
            screen.burst("x", "enter")
            await screen.until(lambda: len(screen.app.fence.waiting) == 2)
        await screen.until(lambda: screen.settled)
        assert view.prompt.open
        assert view.prompt.text.endswith("b-restored.md")
        assert set(world.disk()) == {"b.md", "b-restored.md", "keep.md"}


async def test_keys_typed_while_one_comes_back_are_for_the_rows_that_are_left(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with trash_of(world) as (screen, view):
        with stalled(screen, monkeypatch) as began:
            await screen.press("r")
            await screen.until(began.is_set)
            screen.burst("j")
            await screen.until(lambda: len(screen.app.fence.waiting) == 1)
            assert view.list.cursor == 0
        await screen.until(lambda: len(view.rows.shown) == 2 and view.list.cursor == 1)


async def test_a_question_that_was_not_waited_for_does_not_come_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with trash_of(world) as (screen, view):
        await screen.press("j")
        await screen.until_text("1  text of b.md")
        with stalled(screen, monkeypatch) as began:
            await screen.press("r")
            await screen.until(began.is_set)
            (world.folder / "b.md").write_bytes(b"just now\n")
            await screen.press("escape")
            await screen.until_text("Stopped restoring notes/b.md.")
        await screen.until_text("r asks for another name.")
        await screen.until(lambda: screen.settled)
        assert not view.prompt.open
        await screen.press("r")
        await screen.until_text("enter restores as notes/b-restored.md")


async def test_in_bulk_what_stands_in_the_way_is_said_and_stays_marked(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(at("a.md"), "somebody else's\n", actor=CLAUDE)
    async with trash_of(world) as (screen, view):
        await screen.press("*", "r")
        await screen.until_text("Restored 2 of 3. notes/a.md ")
        await screen.until(lambda: len(view.rows.shown) == 1)
        assert len(view.rows.marks) == 1
        assert world.disk()["a.md"] == b"somebody else's\n"


async def test_g_t_opens_it_too_and_read_only_says_so(world: World) -> None:
    async with real(world, read_only=True) as screen:
        await screen.press("g", "t")
        await screen.until_text("[6 Trash]")
        await screen.until_text("notes/sub/c.md")
        await screen.press("r")
        await screen.until_text("memtui was started with --read-only, so nothing can be written.")


async def test_point_11_trash_and_undo_bring_back_the_same_bytes_at_the_same_path_also_after_a_restart(
    tmp_path: Path,
) -> None:
    """Acceptance point 11: `d t` trashes, `u` brings back path and bytes, also after a restart; nothing is for good."""
    world = World(tmp_path)
    odd = b"\xef\xbb\xbf# odd\r\nline\x0cend \xff\x00 no newline"
    with world.engine() as engine:
        engine.memories.create(at("sub/odd name.md"), odd, actor=ME)
        engine.memories.create(at("other.md"), "x\n", actor=ME)
    before = world.disk()
    async with real(world) as screen:
        assert screen.browser.memories.reveal(at("sub/odd name.md"))
        await screen.press("d", "t")
        await screen.until(lambda: "sub/odd name.md" not in world.disk())
        await screen.press("u")
        await screen.until(lambda: world.disk() == before)
        await screen.until_text("odd name.md")
        assert screen.browser.memories.reveal(at("sub/odd name.md"))
        await screen.press("d", "t")
        await screen.until(lambda: "sub/odd name.md" not in world.disk())
    async with real(world) as screen:  # another process, later
        await screen.press("u")
        await screen.until_text("u again undoes: delete")
        await screen.press("u")
        await screen.until(lambda: world.disk() == before)
        await screen.until_text("odd name.md")
        assert screen.browser.memories.reveal(at("sub/odd name.md"))
        await screen.press("d", "t")
        await screen.until(lambda: "sub/odd name.md" not in world.disk())
        await screen.press("6")
        await screen.until_text("notes/sub/odd name.md")
        able = {action.id for action in screen.app.screen.actions}  # type: ignore[attr-defined]
        assert able == {*VIEW["trash"].actions, *COMMON, *(view.action for view in VIEWS)}
        await screen.press("r")
        await screen.until(lambda: world.disk() == before)


def test_nothing_in_the_workbench_deletes_for_good() -> None:
    verbs = {name for name in dir(Engine) if not name.startswith("_")}
    assert not verbs & {"purge", "empty_trash", "forget", "erase"}
    writing = {id_ for id_ in VIEW["trash"].actions if BY_ID[id_].writes}
    assert writing == {"restore"}
    assert {action.id for action in ACTIONS if "for good" in action.help} == {"redact", "obs_redact"}


async def test_the_line_of_the_index_comes_back_and_the_number_deleted_at_once_stays(tmp_path: Path) -> None:
    world = World(tmp_path, Policy(index_file="MEMORY.md", index_format="links"))
    index = b"- [A](a.md)\n- [B](b.md)\n- [C](c.md)\n"
    with world.engine() as engine:
        for name in ("a.md", "b.md", "c.md"):
            engine.memories.create(at(name), f"text of {name}\n", actor=ME)
        engine.memories.create(at("MEMORY.md"), index, actor=ME)
        references.trash(engine, map(at, ("a.md", "b.md", "c.md")), actor=ME)
    async with trash_of(world, size=(120, 40)) as (screen, _):
        await screen.until_text("One of 3 memories that were deleted at once.")
        await screen.press("j", "r")
        await screen.until_text("Restored notes/b.md, 1 pointer brought back. u takes it back.")
        assert world.disk()["MEMORY.md"] == b"- [B](b.md)\n"
        await screen.until_text("1  text of a.md")
        assert "One of 3 memories that were deleted at once." in screen.text
        await screen.press("u")
        await screen.until(lambda: world.disk() == {"MEMORY.md": b""})
        await screen.press("*", "r")
        await screen.until_text("Restored 3 memories, 3 pointers brought back. u takes them back.")
        assert world.disk()["MEMORY.md"] == index


async def test_ranges_and_single_marks_and_a_filter_choose_what_comes_back(world: World) -> None:
    async with trash_of(world) as (screen, view):
        await screen.press("v", "j")
        await screen.until_text("2 marked")
        await screen.press("escape")
        await screen.until(lambda: not view.rows.marks)
        await screen.press("slash")
        await screen.type("claude b")
        await screen.until_text("1 of 3")
        await screen.press("enter", "r")
        await screen.until_text("Restored notes/b.md. u takes it back.")
        await screen.until_text("Nothing in the trash matches")
        await screen.press("escape")
        await screen.until(lambda: len(view.rows.shown) == 2)
        await screen.press("g", "g", "shift+down", "r")
        await screen.until_text("Restored 2 memories. u takes them back.")
        assert set(world.disk()) == {"a.md", "b.md", "sub/c.md", "keep.md"}


NOW = 1_767_225_600_000
ENTRIES = tuple(
    TrashEntry(Address("notes", name), f"{number}" * 64, 10, actor, NOW - number, str(number), taken)
    for number, (name, actor, taken) in enumerate(
        [("a.md", "tui", False), ("sub/b.md", "agent:claude", True), ("c.md", "outside", False)]
    )
)


def test_another_name_is_free_and_beside_the_old_one() -> None:
    taken = {Address("notes", "sub/a-restored.md")}
    assert free_name(Address("notes", "sub/a.md"), taken.__contains__).path == "sub/a-restored-2.md"
    assert free_name(Address("notes", "a.b.md"), taken.__contains__).path == "a.b-restored.md"
    assert free_name(Address("notes", "Makefile"), taken.__contains__).path == "Makefile-restored"


def test_the_heading_says_what_r_would_do() -> None:
    assert heading(ENTRIES[0], 1, NOW)[-1].startswith("r puts it back under its name, notes/a.md")
    said = heading(ENTRIES[1], 9, NOW)
    assert said[1] == "One of 9 memories that were deleted at once."
    assert "r asks for another name" in said[2]


@given(st.text(min_size=1, max_size=80), st.text(max_size=30), st.integers(40, 200), st.booleans(), st.booleans())
def test_each_row_fits_and_is_safe(path: str, actor: str, width: int, taken: bool, plain: bool) -> None:
    entry = TrashEntry(Address("notes", path), "a" * 64, 10, actor, NOW, "1", taken)
    text = "".join(words for words, _ in entry_runs(entry, width, RowStyle(NOW, plain), marked=True))
    assert cell_width(text) <= max(width, 60)
    assert "\x1b" not in text
    assert "\n" not in text
