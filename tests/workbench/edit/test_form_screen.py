"""The form by itself: fields, hints and limits at every size, and keys that never write by accident."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from textual.app import App
from textual.events import Key, Paste
from textual.pilot import Pilot

from memtui.engine.model import TYPES, Policy, Root
from memtui.features.edit.form import form_of
from memtui.ui.draw.paint import Paint
from memtui.ui.themes import THEMES
from memtui.workbench.actions import ACTIONS
from memtui.workbench.edit.form_screen import FormFlow, FormScreen, preview_of

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
        screen.show_preview(preview_of(screen.form, screen.typed, screen.width, plain=self.plain), screen.typed)

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
