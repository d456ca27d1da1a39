"""One prompt for many: what lands where and which names are taken is shown before anything is moved or copied."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.model import Address, Policy, Root
from memtui.features.transfer.view import CopyScreen, completions, destinations
from tests.workbench.memories import Memories, failing, usual_roots
from tests.workbench.shown import Shown, engine_with, shown
from tests.workbench.views.real import Real, World, at, real

AUTH = Address("memtui:project", "decisions/auth.md")
RETRY = Address("memtui:project", "decisions/retry.md")
TEXTS = {
    "memtui:project/decisions/auth.md": "Session tokens.\n",
    "memtui:project/decisions/retry.md": "Three times.\n",
    "memtui:project/old/auth.md": "Cookies.\n",
    "memtui:global/style/retry.md": "Never.\n",
}
NAMES = st.lists(st.sampled_from("abcd"), max_size=8).map(lambda names: [Address("r", f"{n}.md") for n in names])


@given(NAMES, NAMES, st.sets(st.sampled_from("abcd")))
def test_no_two_land_on_one_name_and_none_on_a_taken_one(
    olds: list[Address], news: list[Address], used: set[str]
) -> None:
    taken = {Address("r", f"{name}.md") for name in used}
    found = destinations(zip(olds, news, strict=False), taken.__contains__)
    good = [row.new for row in found if not row.problem]
    assert len(good) == len(set(good))
    assert not set(good) & taken
    assert len(found) == min(len(olds), len(news))


def test_completions_begin_with_it_else_hold_it() -> None:
    folders = ("notes/", "notes/old/", "memtui:global/notes/")
    assert completions("no", folders) == ("notes/", "notes/old/")
    assert completions("old", folders) == ("notes/old/",)
    assert completions("zzz", folders) == ()
    assert completions("", ("z/", "a/", "z/")) == ("z/", "a/")


def landing(screen: Shown) -> CopyScreen:
    found = screen.app.screen
    assert isinstance(found, CopyScreen)
    return found


async def begin(screen: Shown, key: str) -> CopyScreen:
    await screen.go(str(AUTH))
    await screen.press("space", "space", key)
    await screen.until(lambda: isinstance(screen.app.screen, CopyScreen))
    found = landing(screen)
    await screen.press("ctrl+u")
    return found


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_it_shows_what_lands_where_before_anything_is_done(size: tuple[int, int]) -> None:
    async with shown(engine_with(TEXTS), size=size) as screen:
        await begin(screen, "r")
        await screen.type("memtui:global/kept")
        await screen.until_text("memtui:global/kept/auth.md")
        assert "Move 2 memories" in screen.text
        assert "moves 2" in screen.footer
        assert not screen.engine.steps()
        await screen.press("enter")
        await screen.until(lambda: Address("memtui:global", "kept/auth.md") in screen.engine.data)
        await screen.until_text("2 memories moved to memtui:global/kept/; u takes it back.")
        assert screen.engine.steps() == 1
        assert not screen.browser.memories.marks


async def test_copies_go_to_another_root_as_one_step() -> None:
    async with shown(engine_with(TEXTS)) as screen:
        await begin(screen, "C")
        await screen.type("memtui:workspace/")
        await screen.press("enter")
        await screen.until_text("2 memories copied to memtui:workspace/; u takes it back.")
        assert not screen.browser.memories.marks
        assert screen.engine.steps() == 1
        assert {AUTH, RETRY, Address("memtui:workspace", "auth.md"), Address("memtui:workspace", "retry.md")} <= set(
            screen.engine.data
        )


async def test_nothing_is_done_where_every_name_is_taken_or_the_place_is_none() -> None:
    async with shown(engine_with(TEXTS)) as screen:
        found = await begin(screen, "r")
        await screen.type("decisions")
        await screen.press("enter")
        assert "every name is taken there" in screen.footer
        await screen.press("ctrl+u")
        await screen.type("a//b")
        await screen.press("enter")
        assert "no empty parts" in screen.footer
        assert landing(screen) is found
        await screen.press("escape")
        assert not isinstance(screen.app.screen, CopyScreen)
        assert screen.browser.memories.marks == {AUTH, RETRY}
        assert not screen.engine.steps()


async def test_two_of_one_name_cannot_both_land() -> None:
    async with shown(engine_with(TEXTS)) as screen:
        await screen.go(str(AUTH))
        await screen.press("space")
        await screen.go("memtui:project/old/auth.md")
        await screen.press("space", "C")
        await screen.until(lambda: isinstance(screen.app.screen, CopyScreen))
        await screen.press("ctrl+u")
        await screen.type("new")
        await screen.until_text("! another marked one has this name")


async def test_tab_goes_through_the_folders_there_are() -> None:
    async with shown(engine_with(TEXTS)) as screen:
        found = await begin(screen, "C")
        await screen.type("sty")
        await screen.press("tab")
        assert found.prompt.text == "memtui:global/style/"
        await screen.until_text("! the name is taken")
        await screen.press("ctrl+u")
        await screen.type("zzz")
        await screen.press("tab")
        assert "no root or folder has this name" in screen.footer


@pytest.mark.parametrize("typed", ["", "memtui", "memtui:"])
async def test_tab_goes_through_the_roots_before_the_suffix_that_is_left(typed: str) -> None:
    async with shown(engine_with(TEXTS), size=(80, 24)) as screen:
        await screen.go(str(AUTH))
        await screen.press("C", "ctrl+u")
        await screen.type(typed)
        found = landing(screen)
        texts = []
        for _ in range(3):
            await screen.press("tab")
            texts.append(found.prompt.text)
        assert texts[0] == "memtui:project/"
        assert set(texts) == {"memtui:project/", "memtui:global/", "memtui:workspace/"}
        await screen.press("shift+tab")
        assert found.prompt.text == texts[1]


async def test_tab_on_the_line_as_it_was_goes_through_the_roots() -> None:
    async with shown(engine_with(TEXTS), size=(80, 24)) as screen:
        await screen.go(str(AUTH))
        await screen.press("C")
        assert "type where to; tab: roots and folders" in screen.footer
        assert "cannot go there" not in screen.text
        await screen.press("enter")
        assert "type where to; tab: roots and folders" in screen.footer
        await screen.press("tab")
        assert landing(screen).prompt.text == "memtui:project/"
        await screen.press("tab")
        await screen.until_text("-> memtui:global/auth.md")


async def test_tab_offers_short_names_and_what_people_write_for_agents_last(home: Path) -> None:
    roots = (
        Root("aider:project", str(home / "a"), "aider", "project", kind="instructions"),
        Root("serena:project:acme", str(home / "s"), "serena", "project", aliases=("serena:project",)),
        Root("serena:global", str(home / "g"), "serena"),
    )
    engine = Memories({**TEXTS, **{f"{root.id}/about.md": "x\n" for root in roots}}, (*usual_roots(), *roots))
    async with shown(engine, size=(80, 24)) as screen:
        await screen.go(str(AUTH))
        await screen.press("C", "ctrl+u")
        found = landing(screen)
        texts = []
        for _ in range(6):
            await screen.press("tab")
            texts.append(found.prompt.text)
        assert texts[:2] == ["memtui:project/", "serena:project/"]
        assert texts[5] == "aider:project/"
        await screen.press("ctrl+u")
        await screen.type("serena")
        await screen.press("tab")
        assert found.prompt.text == "serena:project/"
        await screen.until_text("serena:project/auth.md")


async def test_what_failed_stays_marked_with_the_reason() -> None:
    async with shown(engine_with(TEXTS)) as screen:
        await begin(screen, "C")
        await screen.type("new")
        with failing(errno.ENOSPC, "link", "rename", "rename_noreplace", of="retry.md"):
            await screen.press("enter")
            await screen.until_text("Copied 1 of 2. ")
        assert screen.browser.memories.marks == {RETRY}


async def test_the_suffix_of_a_name_typed_whole_is_there_once() -> None:
    async with shown(engine_with(TEXTS)) as screen:
        await screen.go(str(AUTH))
        await screen.press("C", "ctrl+u")
        await screen.type("decisions/login.md")
        assert landing(screen).prompt.text == "decisions/login.md"
        await screen.until(lambda: "decisions/login.md " in screen.footer)
        await screen.press("escape", "r", "ctrl+u")
        await screen.type("decisions/token.md")
        assert "moves it to memtui:project/decisions/token.md" in screen.footer
        await screen.press("enter")
        await screen.until(lambda: screen.here == "memtui:project/decisions/token.md")


async def test_taken_names_are_shown_and_stay_marked() -> None:
    async with shown(engine_with(TEXTS)) as screen:
        await begin(screen, "r")
        await screen.type("old")
        await screen.until_text("! the name is taken")
        assert "1 of 2 cannot go there" in screen.text
        await screen.press("enter")
        assert "1 memory cannot go there and stays; enter again does the other 1" in screen.footer
        assert not screen.engine.steps()
        await screen.press("enter")
        await screen.until(lambda: Address("memtui:project", "old/retry.md") in screen.engine.data)
        await screen.until(lambda: screen.browser.memories.marks == {AUTH})


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
