"""The health view on real folders: what is shown is what is written, one key each, and u takes every fix back."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Root
from memtui.features.health.model import Stray
from memtui.features.health.view import HealthView
from memtui.workbench.main_screen import SavedPlace
from tests.features.health.folders import LINKS, entry, memory
from tests.workbench.views.real import Real, World, at, real


class Indexed(World):
    """A folder with an index."""

    policy = LINKS
    off = ""

    def engine(self, *, read_only: bool = False) -> Engine:
        root = Root("notes", str(self.folder), "claude-code", label="Claude Code memory", policy=self.policy)
        roots = [root._replace(switched_off=self.off)]
        return Engine.open(roots, state_dir=str(self.base / "state"), clock=self.clock, read_only=read_only)

    def lay(self, **files: str) -> None:
        """Write files; `_` in a name stands for a dot."""
        for name, text in files.items():
            (self.folder / name.replace("_", ".")).write_text(text, encoding="utf-8")


@pytest.fixture
def world(tmp_path: Path) -> Indexed:
    world = Indexed(tmp_path)
    index = "# Memory\n\n" + entry("gone.md") + entry("a.md") + entry("a.md") + entry("lost.md")
    world.lay(MEMORY_md=index, a_md="a\n", b_md=memory("About b"))
    return world


async def health(screen: Real) -> HealthView:
    await screen.press("7")
    top = screen.app.screen
    assert isinstance(top, HealthView)
    await screen.until(lambda: screen.browser.checkup.done and bool(top.page.page or not top.rows.shown))
    return top


def shown(view: HealthView) -> list[tuple[str, str]]:
    """Kind and path of the findings."""
    return [(row.finding.kind, row.finding.path) for row in view.rows.shown if row.finding is not None and not row.over]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_findings_by_root_with_the_diff_of_the_fix(world: Indexed, size: tuple[int, int]) -> None:
    async with real(world, size=size) as screen:
        view = await health(screen)
        assert shown(view) == [
            ("dangling", "gone.md"),
            ("dangling", "lost.md"),
            ("unnamed", "b.md"),
            ("duplicate", "a.md"),
        ]
        await screen.until_text("3 - - [gone.md](gone.md)")
        assert "Claude Code memory" in screen.text
        assert "[7 Health(4)]" in screen.text
        assert screen.footer.startswith("d f fix  D r fix all")


async def test_one_finding_is_fixed_and_undone(world: Indexed) -> None:
    async with real(world) as screen:
        view = await health(screen)
        before = world.disk()
        await screen.press("d")
        await screen.until_text("f gone.md: remove the line; any other key cancels")
        await screen.press("f")
        await screen.until_text("Fixed gone.md. u takes it back.")
        assert world.disk()["MEMORY.md"] == ("# Memory\n\n" + entry("a.md") * 2 + entry("lost.md")).encode()
        await screen.until(lambda: ("dangling", "gone.md") not in shown(view))
        row = view.row
        assert row is not None
        assert (row.finding and row.finding.path, row.over) == ("lost.md", False)
        await screen.press("u")
        await screen.until(lambda: world.disk() == before)
        await screen.until(lambda: ("dangling", "gone.md") in shown(view))


async def test_all_of_a_kind(world: Indexed) -> None:
    async with real(world) as screen:
        view = await health(screen)
        await screen.press("D", "k")
        await screen.until_text("Fixed 2 findings of Claude Code memory. u takes it back.")
        await screen.until(lambda: shown(view) == [("unnamed", "b.md"), ("duplicate", "a.md")])


async def test_all_of_a_root_after_showing_what(world: Indexed) -> None:
    async with real(world) as screen:
        view = await health(screen)
        before = world.disk()
        await screen.press("D")
        await screen.until_text("k fixes 2 dangling, r fixes 4 in this root; any other key cancels")
        await screen.until_text("D r fixes 4 findings at once:")
        await screen.press("r")
        await screen.until_text("The index is sound.")
        assert not view.rows.shown
        assert world.disk()["MEMORY.md"] == ("# Memory\n\n" + entry("a.md") + entry("b.md", "About b")).encode()
        await screen.press("u")
        await screen.until(lambda: world.disk() == before)
        await screen.until(lambda: len(shown(view)) == 4)


async def test_an_index_that_changed_meanwhile_is_left_alone(world: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    async with real(world) as screen:
        view = await health(screen)
        report = view.rows.shown[1].report
        assert report is not None
        stale = report._replace(sha256="0" * 64)
        first, row, *others = view.rows.shown
        view.rows.shown = (first, row._replace(report=stale), *others)
        before = world.disk()
        await screen.press("d", "f")
        await screen.until_text("notes/MEMORY.md changed meanwhile. Nothing was written.")
        assert world.disk() == before


async def test_what_an_agent_fixes_stays_under_the_cursor_until_it_leaves(world: Indexed) -> None:
    async with real(world) as screen:
        view = await health(screen)
        await screen.press("j")
        top, cursor = view.list.top, view.list.cursor
        index = world.disk()["MEMORY.md"].decode().replace(entry("lost.md"), "")
        world.lay(MEMORY_md=index)
        await screen.press("R")
        await screen.until_text("This no longer holds: the files changed.")
        assert (view.list.top, view.list.cursor) == (top, cursor)
        await screen.press("d", "f")
        await screen.until_text("It is no longer so.")
        await screen.press("j")
        await screen.until(lambda: not view.rows.has_over)
        row = view.row
        assert row is not None
        assert row.finding is not None
        assert row.finding.path == "b.md"


async def test_coming_back_shows_what_is_so_now(world: Indexed) -> None:
    async with real(world) as screen:
        view = await health(screen)
        await screen.press("1")
        world.lay(MEMORY_md="# Memory\n\n" + entry("a.md") + entry("b.md"))
        await screen.press("R")
        await screen.until(lambda: view.rows.has_over)
        await screen.press("7")
        await screen.until_text("The index is sound.")
        assert "It is looked at again whenever it changes." in screen.text


async def test_the_page_names_the_index_by_its_short_name(world: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    async with real(world) as screen:
        monkeypatch.setattr(screen.browser.forest.names, "shown", lambda address: f"short/{address.path}")
        await health(screen)
        await screen.until_text("In line 3 of short/MEMORY.md.")


async def test_the_cut_line_is_in_sight_on_a_small_screen(world: Indexed) -> None:
    long = "a hook of so many words that the line is folded on a small screen, but not too long"
    names = [f"m{number}" for number in range(210)]
    world.lay(MEMORY_md="".join(entry(f"{name}.md", long) for name in names), **{f"{name}_md": "x\n" for name in names})
    async with real(world, size=(80, 24)) as screen:
        await health(screen)
        await screen.until_text("Over 200 lines")
        await screen.until_text("not loaded from here on")


async def test_enter_goes_to_the_memory_and_to_the_index_where_there_is_none(world: Indexed) -> None:
    async with real(world) as screen:
        await health(screen)
        await screen.press("enter")
        await screen.until(lambda: screen.here == "notes/MEMORY.md")
        await screen.press("7", "G", "enter")
        await screen.until(lambda: screen.here == "notes/a.md")


async def test_e_opens_the_index_at_the_line(world: Indexed) -> None:
    async with real(world) as screen:
        await health(screen)
        await screen.press("j", "e")
        await screen.until(lambda: screen.browser.editing and screen.browser.typing)
        editing = screen.browser.host.editing
        assert editing is not None
        assert editing.address == at("MEMORY.md")


async def test_e_opens_an_index_that_a_filter_keeps_out_of_the_tree(world: Indexed) -> None:
    async with real(world) as screen:
        await screen.press("slash")
        await screen.type("b.md")
        await screen.press("enter")
        view = await health(screen)
        await screen.press("j", "e")
        await screen.until(lambda: screen.browser.editing and screen.settled)
        assert screen.browser.host.address == at("MEMORY.md")
        editing = screen.browser.host.editing
        assert editing is not None
        assert editing.editor.text_area.cursor_location[0] == 5
        await screen.press("escape")
        await screen.until(lambda: screen.app.screen is view)


async def test_the_filter(world: Indexed) -> None:
    async with real(world) as screen:
        view = await health(screen)
        await screen.press("slash")
        await screen.type("dupl")
        await screen.until(lambda: shown(view) == [("duplicate", "a.md")])
        await screen.until(lambda: "1 of 4  enter keeps" in screen.footer)
        await screen.press("enter", "escape")
        await screen.until(lambda: len(shown(view)) == 4)
        await screen.press("slash")
        await screen.type("zzz")
        await screen.until_text("No finding matches")


async def test_signs_in_the_tree(world: Indexed) -> None:
    world.policy = LINKS._replace(index_lines=4)
    async with real(world) as screen:
        await screen.until(lambda: screen.browser.checkup.done)
        await screen.until(lambda: screen.browser.forest.index_signs == {at("MEMORY.md"): "I"})
        world.lay(MEMORY_md="# Memory\n\n\n\n" + entry("a.md") + entry("b.md"))
        await screen.press("R")
        await screen.until(
            lambda: screen.browser.forest.index_signs == {at("MEMORY.md"): "I", at("a.md"): "C", at("b.md"): "C"}
        )
        await screen.until(lambda: any("a.md" in line and " C " in line for line in screen.text.split("\n")))


async def test_a_line_from_below_the_cut_is_offered_and_moved(world: Indexed) -> None:
    world.policy = LINKS._replace(index_lines=2)
    world.lay(MEMORY_md=entry("a.md") + entry("b.md") + entry("c.md"), c_md="c\n")
    async with real(world) as screen:
        view = await health(screen)
        assert shown(view) == [("cut", "MEMORY.md"), ("below", "c.md")]
        await screen.until_text("not loaded from here on")
        await screen.press("D")
        await screen.press("escape", "j")
        await screen.until_text("Then not loaded: b.md.")
        await screen.press("d", "f")
        await screen.until_text("Fixed c.md. Then not loaded: b.md. u takes it back.")
        assert world.disk()["MEMORY.md"] == (entry("c.md") + entry("a.md") + entry("b.md")).encode()
        await screen.until(lambda: shown(view) == [("cut", "MEMORY.md"), ("below", "b.md")])


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_is_not_loaded_goes_to_a_second_file_and_comes_back(world: Indexed, size: tuple[int, int]) -> None:
    world.policy = LINKS._replace(index_lines=3)
    text = "".join(entry(f"{name}.md") for name in "abcde")
    world.lay(MEMORY_md=text, **{f"{name}_md": "x\n" for name in "bcde"})
    async with real(world, size=size) as screen:
        view = await health(screen)
        before = world.disk()
        await screen.until_text("d f: move the rest to MEMORY-more.md.")
        await screen.press("D")
        await screen.until_text("k fixes 1 cut; any other key cancels")
        await screen.until_text("D k fixes 1 finding of the kind cut:")
        await screen.until_text("3 lines move to MEMORY-more.md")
        await screen.press("escape", "d")
        await screen.until_text("f MEMORY.md: move the rest to MEMORY-more.md; any other key cancels")
        await screen.press("f")
        await screen.until_text("Fixed MEMORY.md. u takes it back.")
        after = world.disk()
        assert after["MEMORY-more.md"].decode() == text.removeprefix(entry("a.md") + entry("b.md"))
        assert after["MEMORY.md"].startswith((entry("a.md") + entry("b.md") + "- [MEMORY-more.md]").encode())
        await screen.until(lambda: not shown(view))
        await screen.until(lambda: screen.browser.checkup.looked == 2)
        await screen.press("u")
        await screen.until(lambda: world.disk() == before)
        await screen.until(lambda: [kind for kind, _ in shown(view)] == ["cut", "below", "below"])


async def test_u_ends_a_mute(world: Indexed) -> None:
    world.lay(a_md="a\n", token_md="a\x07b\n")
    async with real(world) as screen:
        view = await health(screen)
        await screen.until(lambda: ("H06", "token.md") in shown(view))
        while view.row is None or view.row.finding is None or view.row.finding.kind != "H06":
            await screen.press("j")
        await screen.press("x", "f")
        await screen.until_text("why is it no harm")
        await screen.type("a bell")
        await screen.press("enter")
        await screen.until_text("Muted; u takes it back.")
        await screen.until(lambda: ("H06", "token.md") not in shown(view))
        await screen.press("u")
        await screen.until(lambda: ("H06", "token.md") in shown(view))


async def test_what_no_agent_loads_is_said_once_above_every_fix(world: Indexed) -> None:
    world.policy, world.off = LINKS._replace(index_lines=3), "in ~/x.json"
    world.lay(MEMORY_md="".join(entry(f"{name}.md") for name in "abcde"), **{f"{name}_md": "x\n" for name in "bcde"})
    async with real(world, size=(120, 60)) as screen:
        await health(screen)
        for keys in ((), ("D",)):
            await screen.press(*keys)
            await screen.until_text("D k fixes 1 finding" if keys else "d f: move the rest")
            assert screen.text.count("~/x.json") == 1
        await screen.press("escape", "k")
        await screen.until_text("There is nothing that can be fixed all at once.")
        assert screen.text.count("~/x.json") == 1


async def test_both_files_are_shown_before_it_is_done(world: Indexed) -> None:
    world.policy = LINKS._replace(index_lines=3)
    world.lay(MEMORY_md="".join(entry(f"{name}.md") for name in "abcde"), **{f"{name}_md": "x\n" for name in "bcde"})
    async with real(world, size=(120, 60)) as screen:
        await health(screen)
        await screen.until_text("3 lines move to MEMORY-more.md; the agent opens it")
        await screen.until_text("- - [e.md](e.md)")
        await screen.until_text("+ - [e.md](e.md)")
        await screen.press("k")
        await screen.until_text("on cut, d f moves it to a second file.")


async def test_a_pointer_out_of_the_folder_can_be_made_text(world: Indexed) -> None:
    world.lay(MEMORY_md="- [Out](../out.md) — x\n" + entry("a.md") + entry("b.md"))
    async with real(world) as screen:
        view = await health(screen)
        assert shown(view) == [("outside", "../out.md")]
        await screen.until_text("d f can make text of the link.")
        await screen.press("d", "f")
        await screen.until_text("Fixed ../out.md. u takes it back.")
        assert world.disk()["MEMORY.md"].startswith("- Out `../out.md` — x\n".encode())
        await screen.until(lambda: not shown(view))


async def test_nothing_to_find(tmp_path: Path) -> None:
    async with real(World(tmp_path)) as screen:
        await screen.press("7")
        await screen.until_text("No agent keeps an index here.")


async def test_a_project_that_is_gone_is_shown_and_enter_goes_to_its_row(world: Indexed) -> None:
    async with real(world) as screen:
        stray = Stray("orphan", "notes", "~/code/harbour", "gone; one candidate", ("It is gone.", "Perhaps elsewhere."))
        screen.browser.checkup.strays = (stray,)
        view = await health(screen)
        assert view.rows.shown[-1].stray == stray
        await screen.press("G")
        await screen.until_text("Perhaps elsewhere.")
        before = world.disk()
        for keys in ("df", "Dr", "Dk"):
            await screen.press(*keys)
            await screen.until_text("g p moves its memories; enter goes to the folder.")
        assert world.disk() == before
        await screen.press("enter")
        await screen.until(lambda: screen.app.screen is screen.browser)
        node = screen.browser.memories.current
        assert node is not None
        assert node.root == "notes"


@pytest.mark.parametrize("down", [0, 3])
async def test_after_a_restart_the_cursor_is_at_its_row_again(world: Indexed, down: int) -> None:
    async with real(world) as screen:
        view = await health(screen)
        assert view.list.cursor == 1
        await screen.press("g", "g", *"jjj"[:down])
        row, key = view.list.row_now, view.list.key(view.list.cursor)
    async with real(world, place=SavedPlace(view="health", row=row)) as screen:
        await screen.until(lambda: screen.browser.views.current == "health")
        again = screen.app.screen
        assert isinstance(again, HealthView)
        await screen.until(lambda: bool(again.rows.shown) and bool(again.page.page))
        assert (again.list.cursor, again.list.key(again.list.cursor)) == (down, key)


async def test_after_a_restart_without_its_row_it_begins_at_the_first_finding(world: Indexed) -> None:
    async with real(world, place=SavedPlace(view="health", row="('dangling', 'notes', 'x.md')")) as screen:
        await screen.until(lambda: screen.browser.views.current == "health")
        view = screen.app.screen
        assert isinstance(view, HealthView)
        await screen.until(lambda: view.list.cursor == 1)
