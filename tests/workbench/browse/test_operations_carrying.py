"""Renaming and trashing in the workbench: what names a memory follows, the message says so, one `u` takes it back."""

from __future__ import annotations

from pathlib import Path

from memtui.engine import Engine
from memtui.engine.model import Policy, Root
from tests.workbench.views.real import Real, World, at, real

INDEX = b"- [A](a.md) - one\r\n- [B](b.md) - two\r\n"


class Indexed(World):
    """A folder with an index."""

    def engine(self, *, read_only: bool = False) -> Engine:
        """An engine whose only root has an index."""
        roots = [Root("notes", str(self.folder), policy=Policy(index_file="MEMORY.md", index_format="links"))]
        return Engine.open(roots, state_dir=str(self.base / "state"), clock=self.clock, read_only=read_only)


def world_with_index(tmp_path: Path) -> Indexed:
    world = Indexed(tmp_path)
    for name, text in (("MEMORY.md", INDEX), ("a.md", b"one\n"), ("b.md", b"See [[a]].\n"), ("t/c.md", b"three\n")):
        (world.folder / name).parent.mkdir(exist_ok=True)
        (world.folder / name).write_bytes(text)
    return world


async def on(screen: Real, name: str) -> None:
    """Put the cursor on a memory."""
    screen.browser.go_when_there(at(name))
    await screen.until(lambda: screen.here == f"notes/{name}")


async def test_a_rename_carries_pointers_along_and_says_so(tmp_path: Path) -> None:
    world = world_with_index(tmp_path)
    before = world.disk()
    async with real(world) as screen:
        await on(screen, "a.md")
        await screen.press("r")
        await screen.pilot.press("ctrl+u")
        await screen.type("user")
        await screen.press("enter")
        await screen.until_text("moved to notes/user.md, 2 links updated; u takes it back.")
        assert world.disk() == {
            "MEMORY.md": INDEX.replace(b"a.md", b"user.md"),
            "b.md": b"See [[user]].\n",
            "t/c.md": b"three\n",
            "user.md": b"one\n",
        }
        await screen.press("u")
        await screen.until_text("Undid: rename notes/a.md to notes/user.md.")
        assert world.disk() == before


async def test_the_trash_takes_the_entry_of_the_index_and_names_what_is_left(tmp_path: Path) -> None:
    world = world_with_index(tmp_path)
    async with real(world) as screen:
        await on(screen, "a.md")
        await screen.press("d", "t")
        await screen.until_text("moved to the trash, 1 link updated; u brings it back. Still named in b.md")
        assert world.disk()["MEMORY.md"] == b"- [B](b.md) - two\r\n"
        await screen.press("u")
        await screen.until_text("Undid: delete notes/a.md.")
        assert world.disk()["MEMORY.md"] == INDEX


async def test_a_folder_takes_links_to_it_along(tmp_path: Path) -> None:
    world = world_with_index(tmp_path)
    (world.folder / "MEMORY.md").write_bytes(b"- [all](t/)\n- [C](t/c.md)\n")
    async with real(world) as screen:
        await on(screen, "t/c.md")
        await screen.press("h", "r")
        await screen.pilot.press("ctrl+u")
        await screen.type("topics")
        await screen.press("enter")
        await screen.until_text("2 links updated")
        assert world.disk()["MEMORY.md"] == b"- [all](topics/)\n- [C](topics/c.md)\n"


async def test_renaming_the_open_memory_says_what_followed(tmp_path: Path) -> None:
    world = world_with_index(tmp_path)
    async with real(world) as screen:
        await on(screen, "a.md")
        await screen.press("enter", "f2")
        await screen.pilot.press("ctrl+u")
        await screen.type("user")
        await screen.press("enter")
        await screen.until_text("Renamed to notes/user.md, 2 links updated.")
        assert world.disk()["b.md"] == b"See [[user]].\n"
