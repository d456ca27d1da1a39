"""Taking one step back: which keys are offered, and what the engine's refusal looks like."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine.model import Address, Root
from tests.features.activity.test_view import activity, activity_of
from tests.workbench.views.real import CLAUDE, ME, World, at, real


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    with world.engine() as engine:
        engine.watch.reconcile()
        engine.memories.create(at("a.md"), "one\n", actor=ME)
        engine.save(at("a.md"), "two\n", expected_sha256=engine.read(at("a.md")).sha256, actor=CLAUDE)
        engine.memories.create(at("b.md"), "b\n", actor=ME)
    return world


async def test_the_newest_says_u_and_an_older_one_says_d_s(world: World) -> None:
    async with activity_of(world) as (screen, _):
        await screen.until_text("u takes it back: it is the newest.")
        await screen.press("j")
        await screen.until_text("d s takes this step alone back")
        await screen.press("d", "s")
        await screen.until_text("Took back: save notes/a.md. u brings it back.")
        assert world.disk() == {"a.md": b"one\n", "b.md": b"b\n"}


async def test_a_step_taken_back_twice_is_refused_in_words(world: World) -> None:
    async with activity_of(world) as (screen, view):
        await screen.press("j", "d", "s")
        await screen.until_text("Took back: save notes/a.md.")
        await screen.until(lambda: view.list.count() == 4)
        await screen.press("d", "s")
        await screen.until_text("That step was taken back already.")
        assert world.disk()["a.md"] == b"one\n"


async def test_what_others_did_is_taken_back_as_one_memory(world: World) -> None:
    async with activity_of(world) as (screen, view):
        (world.folder / "a.md").write_bytes(b"theirs\n")
        screen.app.bridge.reload()
        await screen.until(lambda: view.list.count() == 4)
        await screen.press("g", "g")
        await screen.until_text("1 + theirs")
        await screen.press("d")
        await screen.until_text("s takes back: modified notes/a.md")
        await screen.press("s")
        await screen.until(lambda: world.disk()["a.md"] == b"two\n")


async def test_a_step_of_a_folder_that_is_not_open_says_so_and_offers_nothing(world: World) -> None:
    away = Root("far", str(world.base / "far"))
    with world.engine() as engine:
        engine.roots.add([away])
        engine.memories.create(Address("far", "z.md"), "z\n", actor=ME)
    for found, words in ((away, "to another project, which was not read: A in"), (None, "--root NAME=DIR opens it")):
        roots = (Root("notes", str(world.folder)), *((found,) if found is not None else ()))
        async with real(world, more_roots=lambda roots=roots: roots) as screen:
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


async def test_an_operation_of_a_folder_that_is_not_open_says_so_beside_its_memories(world: World) -> None:
    with world.engine() as engine:
        engine.roots.add([Root("far", str(world.base / "far"))])
        for name in ("y.md", "z.md"):
            engine.memories.create(Address("far", name), "z\n", actor=ME)
        engine.memories.delete([Address("far", "y.md"), Address("far", "z.md")], actor=ME)
    async with activity_of(world) as (screen, _):
        await screen.until_text("delete 2 memories")
        await screen.until_text("--root")
        assert "deleted  /" in screen.text
        assert "d s" not in screen.text
