"""The form by itself: fields, hints and limits at every size, and keys that never write by accident."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from textual.app import App
from textual.events import Key, Paste
from textual.pilot import Pilot

from memtui.engine.model import TYPES, Policy, Root
from memtui.features.edit.form import form_of
from memtui.ui.draw.paint import THEMES, Paint
from memtui.workbench.actions import ACTIONS
from memtui.workbench.edit.form_screen import FormFlow, FormScreen, line_of, preview_of
from memtui.workbench.edit.merge.conflict_screen import ConflictScreen
from memtui.workbench.edit.open_memory import FileState
from tests.workbench.edit.test_editor import editing, said
from tests.workbench.shown import Shown
from tests.workbench.views.real import CLAUDE, Real, World, at, real
from tests.workbench.workbench import AGENT, Bench, address, until

ROOT = Root("memtui:global", "/m", "memtui", "global", policy=Policy(types=TYPES, whole=("MEMORY.md",)))
FULL = b"---\nname: n\ndescription: d\ntype: user\ntags: [a, b]\nmodified: 2026\n---\nbody\n"


class Shell(App[None]):
    """Only the form, and a flow that remembers what it was asked for."""

    def __init__(self, data: bytes, *, path: str = "a.md", plain: bool = False, read_only: bool = False) -> None:
        super().__init__()
        self.plain = plain
        self.read_only = read_only
        self.asked: list[str] = []
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name
        self.paint = Paint(self.get_css_variables())
        self.form = FormScreen("memtui:global/a.md", cast(FormFlow, self), ACTIONS)
        self.form.form = form_of(data, ROOT, path)

    async def on_mount(self) -> None:
        await self.push_screen(self.form)
        self.form.reading = ""

    def preview(self, screen: FormScreen) -> None:
        width = screen.page.text_width
        screen.show_preview(preview_of(screen.form, screen.typed, width, plain=self.plain), screen.typed)

    def save(self, screen: FormScreen) -> None:
        self.asked.append("save")

    def keep(self) -> None:
        self.asked.append("keep")

    def leave(self, screen: FormScreen) -> None:
        self.asked.append("leave")

    def as_text(self, screen: FormScreen) -> None:
        self.asked.append("as_text")

    @property
    def options(self) -> list[str]:
        """What it was asked for, drafts aside, which come by the clock."""
        return [one for one in self.asked if one != "keep"]

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(strip.text.rstrip() for strip in self.screen._compositor.render_strips(self.size))


@asynccontextmanager
async def shell(
    data: bytes = FULL,
    *,
    size: tuple[int, int] = (100, 30),
    path: str = "a.md",
    plain: bool = False,
    read_only: bool = False,
) -> AsyncIterator[tuple[Shell, Pilot[None]]]:
    app = Shell(data, path=path, plain=plain, read_only=read_only)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.pause()
        yield app, pilot
        unknown = {name for name, _ in app.paint._made} - set(app.paint._styles)
        assert not unknown, f"styles nobody defined: {unknown}"


async def test_it_shows_the_fields_and_keeps_the_rest_below() -> None:
    async with shell() as (app, _):
        assert "> description d" in app.text
        assert "1 of 200" in app.text
        assert "user feedback project reference" in app.text
        assert "  tags        a, b" in app.text
        assert "Nothing yet." in app.text
        assert "modified   2026" in app.text


async def test_letters_are_text_and_what_changes_is_shown() -> None:
    async with shell() as (app, pilot):
        await pilot.press("q", "question_mark", "g", "1")
        assert app.form.typed["description"] == "dq?g1"
        assert "+ description: {dq?g1}" in app.text
        assert app.options == []
        await pilot.press("tab", "tab", "comma", "space", "c")
        assert app.form.typed["tags"] == "a, b, c"
        assert "+ tags: [a, b{, c}]" in app.text
        await pilot.press("enter", "ctrl+u")
        assert "- name: n" in app.text
        await pilot.press("ctrl+s")
        assert app.options == ["save"]
        await pilot.press("z", "ctrl+s")
        assert app.form.typed["name"] == ""
        assert app.options == ["save"]


async def test_a_save_that_is_under_way_is_not_left_alone() -> None:
    async with shell() as (app, pilot):
        await pilot.press("x", "ctrl+s", "escape", "escape")
        assert app.options == ["save"]
        app.form.refused("Not saved.")
        await pilot.press("escape", "escape")
        assert app.options == ["save", "leave"]


async def test_letters_never_overtake_the_key_before_them() -> None:
    async with shell() as (app, pilot):
        for key, letter in (("tab", None), ("f6", None), ("tab", None), ("x", "x")):
            app.screen.post_message(Key(key, letter))
        await pilot.pause()
        assert app.form.typed == {"name": "n", "description": "d", "type": "feedback", "tags": "a, bx"}


async def test_nothing_is_saved_when_nothing_was_typed() -> None:
    async with shell() as (app, pilot):
        await pilot.press("ctrl+s")
        assert "Nothing to save." in app.text
        await pilot.press("x", "backspace", "ctrl+s", "escape")
        assert app.options == ["leave"]


async def test_types_are_offered_and_any_text_is_allowed() -> None:
    async with shell() as (app, pilot):
        await pilot.press("f6")
        assert app.form.typed["type"] == "feedback"
        for _ in range(3):
            await pilot.press("f6")
        assert app.form.typed["type"] == "user"
        await pilot.press("s")
        assert app.form.typed["type"] == "users"
        await pilot.press("f6")
        assert app.form.typed["type"] == "user"


async def test_a_long_description_says_what_lists_show_of_it() -> None:
    async with shell() as (app, pilot):
        app.form.prompts[1].text = "x" * 240
        app.form.prompts[1].cursor = 240
        await pilot.press("y")
        assert "241: lists show 200" in app.text


async def test_a_field_that_holds_more_is_shown_and_left_alone() -> None:
    async with shell(b"---\ntags:\n- a: b\nname: n\n---\n") as (app, pilot):
        await pilot.press("down", "down", "x")
        assert app.form.typed["tags"] == "a: b"
        assert "tags cannot be edited here" in app.text
        await pilot.press("down", "x")
        assert app.form.typed["name"] == "nx"


async def test_a_refusal_is_shown_where_the_change_would_be() -> None:
    async with shell(b"---\nname: n # why\ndescription: d\n---\n") as (app, pilot):
        await pilot.press("up", "ctrl+u")
        assert "A comment stands in the lines of the field 'name'" in app.text
        assert "not possible" in app.text
        await pilot.press("ctrl+s")
        assert "Not saved" in app.text
        assert app.options == []


async def test_a_file_that_is_read_whole_gets_a_warning() -> None:
    async with shell(b"- [a](a.md)\n", path="MEMORY.md") as (app, _):
        assert "There is no front matter yet" in app.text
        assert "memtui reads this file whole" in app.text


async def test_hostile_text_is_shown_and_kept() -> None:
    hostile = b'---\nname: "[red]x\\e[31m\\u202e"\ndescription: |\n  one\n  two\n"\\e[2J[/]": x\n---\n'
    async with shell(hostile) as (app, pilot):
        assert "\x1b" not in app.text
        assert "\u202e" not in app.text
        assert "[red]x" in app.text
        await pilot.press("x")
        assert app.form.typed["name"] == "[red]x\x1b[31m\u202e"
        assert app.form.typed["description"] == "one\ntwo\nx"


async def test_a_paste_goes_into_the_field_as_one_line() -> None:
    async with shell() as (app, pilot):
        app.screen.post_message(Paste("one\x1b\ntwo"))
        await pilot.pause()
        assert app.form.typed["description"] == "done two"


async def test_a_click_goes_to_a_field() -> None:
    async with shell() as (app, pilot):
        await pilot.click("#form-fields", offset=(20, 3))
        await pilot.press("x")
        assert app.form.typed["tags"] == "a, bx"


async def test_with_read_only_nothing_is_typed() -> None:
    async with shell(read_only=True) as (app, pilot):
        await pilot.press("x", "ctrl+s")
        assert app.form.typed["description"] == "d"
        assert "--read-only" in app.text
        assert app.options == []


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 12)])
@pytest.mark.parametrize("plain", [False, True])
async def test_it_fits_every_size(size: tuple[int, int], plain: bool) -> None:
    data = FULL.replace(b"description: d", b"description: " + b"long words " * 30)
    async with shell(data, size=size, path="MEMORY.md", plain=plain) as (app, pilot):
        await pilot.press("x")
        lines = app.text.split("\n")
        assert len(lines) == size[1]
        assert all(len(line) <= size[0] for line in lines)
        assert "lists show 200" in app.text or size[0] < 80
        assert "ctrl+s" in lines[-1]
        assert not plain or app.text.isascii()


async def test_a_draft_is_asked_for_by_itself() -> None:
    async with shell() as (app, pilot):
        await pilot.press("x")
        for _ in range(200):
            if app.asked:
                break
            await pilot.pause(0.01)
        assert app.asked == ["keep"]


async def test_help_explains_the_keys() -> None:
    async with shell() as (app, pilot):
        await pilot.press("f1")
        await pilot.pause()
        assert app.screen is not app.form
        assert "form" in app.text
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is app.form


OLD = b"---\ndescription: old # kept\nx: 1\n---\nbody\n"
NEW = OLD.replace(b"old", b"older")


def form(bench: Bench) -> FormScreen | None:
    return bench.screen if isinstance(bench.screen, FormScreen) else None


async def formed(bench: Bench, pilot: Pilot[None]) -> FormScreen:
    """Open the form on the open memory, and wait until it shows what would change."""
    await pilot.press("f9")
    await until(pilot, lambda: form(bench) is not None and bool(cast("FormScreen", form(bench)).preview.page))
    found = form(bench)
    assert found is not None
    return found


@asynccontextmanager
async def forming(tmp_path: Path, files: dict[str, bytes]) -> AsyncIterator[tuple[Bench, Pilot[None], FormScreen]]:
    async with editing(tmp_path, files) as (bench, pilot):
        yield bench, pilot, await formed(bench, pilot)


async def typed(pilot: Pilot[None], screen: FormScreen, *keys: str) -> None:
    await pilot.press(*keys)
    await until(pilot, lambda: not screen.changed or screen.preview.after not in (None, screen.form.data))


# --- in the editor


async def test_a_saved_memory_is_saved_again_with_the_field_and_nothing_else(tmp_path: Path) -> None:
    async with forming(tmp_path, {"a.md": OLD}) as (bench, pilot, screen):
        await typed(pilot, screen, "e", "r", "ctrl+s")
        await until(pilot, lambda: bench.path("a.md").read_bytes() == NEW)
        await until(pilot, lambda: bench.editor.state is FileState.CLEAN)
        assert "description: older" in bench.editor.text_area.text
        assert form(bench) is None
        assert len(bench.engine.history.of(address())) == 2
        await until(pilot, lambda: bench.engine.drafts.all() == ())
        bench.engine.undo.undo(actor=bench.bridge.actor)
        assert bench.path("a.md").read_bytes() == OLD


async def test_with_an_unsaved_draft_the_form_works_on_the_draft(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": OLD}) as (bench, pilot):
        bench.editor.text_area.move_cursor(bench.editor.text_area.document.end)
        await pilot.press("z")
        screen = await formed(bench, pilot)
        assert "goes into your unsaved draft" in screen.query_one("#form-head").text  # type: ignore[attr-defined]
        await typed(pilot, screen, "e", "r", "ctrl+s")
        await until(pilot, lambda: form(bench) is None)
        assert bench.path("a.md").read_bytes() == OLD
        assert bench.editor.data == NEW + b"z"
        assert "ctrl+s saves both" in said(bench)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: bench.editor.data == OLD + b"z")
        await pilot.press("ctrl+y", "ctrl+s")
        await until(pilot, lambda: bench.path("a.md").read_bytes() == NEW + b"z")


async def test_a_memory_that_is_not_written_yet_gets_its_front_matter(tmp_path: Path) -> None:
    async with editing(tmp_path, {}, "new.md") as (bench, pilot):
        await pilot.press("h", "i")
        screen = await formed(bench, pilot)
        assert "There is no front matter yet" in screen.query_one("#form-notes").text  # type: ignore[attr-defined]
        await typed(pilot, screen, "d", "ctrl+s")
        await until(pilot, lambda: form(bench) is None)
        assert bench.editor.data == b"---\ndescription: d\n---\nhi"
        assert not bench.path("new.md").exists()


async def test_another_save_meanwhile_is_followed_and_what_is_typed_stays(tmp_path: Path) -> None:
    async with forming(tmp_path, {"a.md": OLD}) as (bench, pilot, screen):
        await typed(pilot, screen, "e", "r")
        theirs = OLD.replace(b"body", b"theirs")
        sha = bench.engine.read(address()).sha256
        bench.engine.save(address(), theirs, expected_sha256=sha, actor=AGENT)
        bench.flow.check_disk()
        await until(pilot, lambda: bench.editor.data == theirs)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: screen.form.data == theirs)
        assert screen.typed["description"] == "older"
        assert bench.path("a.md").read_bytes() == theirs
        await until(pilot, lambda: screen.preview.after == theirs.replace(b"old", b"older"))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.path("a.md").read_bytes() == theirs.replace(b"old", b"older"))


async def test_a_save_that_nobody_told_of_goes_through_the_guard(tmp_path: Path) -> None:
    async with forming(tmp_path, {"a.md": OLD}) as (bench, pilot, screen):
        await typed(pilot, screen, "e", "r")
        theirs = OLD.replace(b"old", b"agents")
        bench.path("a.md").write_bytes(theirs)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(bench.screen, ConflictScreen))
        assert bench.path("a.md").read_bytes() == theirs
        assert bench.editor.data == NEW


async def test_escape_asks_once_and_then_leaves_everything_as_it_was(tmp_path: Path) -> None:
    async with editing(tmp_path, {"a.md": OLD}) as (bench, pilot):
        await formed(bench, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: form(bench) is None)
        screen = await formed(bench, pilot)
        await typed(pilot, screen, "e", "escape")
        assert form(bench) is screen
        assert "esc again drops" in screen.query_one("#text-foot").text  # type: ignore[attr-defined]
        await pilot.press("escape")
        await until(pilot, lambda: form(bench) is None)
        assert bench.editor.data == OLD
        assert bench.editor.state is FileState.CLEAN
        await until(pilot, lambda: bench.engine.drafts.all() == ())


async def test_what_is_typed_survives_a_death(tmp_path: Path) -> None:
    async with forming(tmp_path, {"a.md": OLD}) as (bench, pilot, screen):
        await typed(pilot, screen, "e", "r")
        assert bench.flow.flush() <= 1  # on a slow machine it is kept by itself before
        assert [draft.text.encode() for draft in bench.engine.drafts.all()] == [NEW]
        await until(pilot, lambda: bench.flow.flush() == 0)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: bench.engine.drafts.all() == ())


async def test_broken_front_matter_says_why_and_opens_as_text_at_its_line(tmp_path: Path) -> None:
    data = b"---\nname: n\ndescription: a: b\n---\nbody\n"
    async with forming(tmp_path, {"a.md": data}) as (bench, pilot, screen):
        assert "not valid YAML" in screen.page.text
        assert "(E_FRONTMATTER)" in screen.page.text
        await pilot.press("x", "ctrl+s")
        assert "Not saved" in screen.query_one("#text-foot").text  # type: ignore[attr-defined]
        await pilot.press("f9")
        await until(pilot, lambda: form(bench) is None)
        assert bench.editor.text_area.cursor_location == (2, 0)
        assert bench.editor.data == data


async def test_f9_goes_on_as_text_with_what_is_typed(tmp_path: Path) -> None:
    async with forming(tmp_path, {"a.md": OLD}) as (bench, pilot, screen):
        await typed(pilot, screen, "e", "r", "f9")
        await until(pilot, lambda: form(bench) is None)
        assert bench.editor.data == NEW
        assert bench.path("a.md").read_bytes() == OLD


def test_a_refusal_names_its_line() -> None:
    assert line_of(form_of(b"---\nname: n\ndescription: a: b\n---\n")) == 3
    assert line_of(form_of(b"---\na: b\n")) == 1


def test_a_preview_refuses_what_a_save_would_refuse() -> None:
    found = preview_of(form_of(b"---\nname: n # why\n---\n"), {"name": ""}, 80)
    assert found.after is None
    assert "comment" in found.refusal
    same = preview_of(form_of(OLD), {}, 80)
    assert same.after == OLD
    text = "\n".join("".join(text for text, _ in line.runs) for line in same.page)
    assert "Nothing yet." in text
    assert "Kept as they are" in text


# --- from the tree


@asynccontextmanager
async def in_tree(tmp_path: Path) -> AsyncIterator[tuple[World, Real]]:
    world = World(tmp_path)
    (world.folder / "a.md").write_bytes(OLD)
    async with real(world) as screen:
        await screen.until(lambda: "a.md" in screen.here)
        yield world, screen


async def tree_form(screen: Shown) -> FormScreen:
    await screen.press("f9")
    await screen.until(lambda: isinstance(screen.app.screen, FormScreen) and bool(screen.app.screen.preview.page))
    found = screen.app.screen
    assert isinstance(found, FormScreen)
    return found


def settled(found: FormScreen) -> Callable[[], bool]:
    """Whether it shows what would come of what is typed."""
    return lambda: found.preview.after not in (None, found.form.data)


async def test_from_the_tree_it_is_one_save_and_one_undo(tmp_path: Path) -> None:
    async with in_tree(tmp_path) as (world, screen):
        found = await tree_form(screen)
        await screen.type("er")
        await screen.press("tab", "tab")
        await screen.type("a, b")
        await screen.until(settled(found))
        assert "tags: [a, b]" in screen.text
        assert "Kept as they are" in screen.text
        await screen.press("ctrl+s")
        await screen.until(lambda: world.disk()["a.md"] == NEW.replace(b"x: 1\n", b"x: 1\ntags: [a, b]\n"))
        await screen.until_text("u takes it back")
        await screen.press("u")
        await screen.until(lambda: world.disk()["a.md"] == OLD)


async def test_from_the_tree_somebody_elses_save_is_taken_up_or_shown(tmp_path: Path) -> None:
    async with in_tree(tmp_path) as (world, screen):
        found = await tree_form(screen)
        await screen.type("er")
        await screen.until(settled(found))
        theirs = OLD.replace(b"body", b"theirs")
        (world.folder / "a.md").write_bytes(theirs)
        await screen.press("ctrl+s")
        await screen.until_text("What you typed fits on that text")
        assert world.disk()["a.md"] == theirs
        last = theirs.replace(b"description: old", b"description: agents")
        (world.folder / "a.md").write_bytes(last)
        await screen.press("ctrl+s")
        await screen.until(lambda: isinstance(screen.app.screen, ConflictScreen))
        assert world.disk()["a.md"] == last
        assert "older" in screen.text
        assert "agents" in screen.text


async def test_from_the_tree_a_memory_with_a_draft_opens_in_the_editor(tmp_path: Path) -> None:
    async with in_tree(tmp_path) as (_world, screen):
        await screen.press("e")
        await screen.until(lambda: screen.browser.editing and screen.browser.host.address == at("a.md"))
        await screen.press("Z", "escape")
        await screen.until(lambda: not screen.browser.editing)
        await screen.until_text("~")
        found = await tree_form(screen)
        assert found.form.data == b"Z" + OLD
        assert screen.browser.host.address == at("a.md")
        await screen.press("escape")
        await screen.until(lambda: not screen.browser.editing)
        assert screen.app.focused is screen.browser.memories
        assert screen.real.drafts.all()[0].text.startswith("Z")


async def test_a_memory_that_goes_meanwhile_is_asked_about(tmp_path: Path) -> None:
    async with in_tree(tmp_path) as (world, screen):
        found = await tree_form(screen)
        await screen.type("er")
        await screen.until(settled(found))
        with world.engine() as other:
            other.memories.delete([at("a.md")], actor=CLAUDE)
        await screen.press("ctrl+s")
        await screen.until(lambda: screen.browser.editing)
        await screen.until(lambda: not isinstance(screen.app.screen, FormScreen))
        await screen.until_text("keep mine")
        assert "a.md" not in world.disk()
