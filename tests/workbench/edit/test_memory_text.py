"""Colours in the editor: there when the packages are and the text is small, and never the end of the program."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import pytest
from textual.app import App, ComposeResult
from textual.widgets.text_area import Selection

from memtui.workbench.edit import memory_text
from memtui.workbench.edit.memory_text import HIGHLIGHT_BYTES, MemoryText, dotted, read_form, secret_spans
from tests.house.source import ROOT
from tests.test_mask import GITHUB, KEY
from tests.workbench.shown import engine_with, shown

INSTALLED = all(importlib.util.find_spec(name) is not None for name in ("tree_sitter", "tree_sitter_markdown"))
with_colours = pytest.mark.skipif(not INSTALLED, reason="the extra `syntax` is not installed")

LANGUAGES = {
    "markdown": "# Title\n\n- *one*\n- [two](https://example.org)\n",
    "yaml": "name: notes\ntags: [a, b]\n",
    "json": '{"a": [1, 2, {"b": null}]}\n',
    "toml": '[table]\nkey = "value"\n',
    "python": "def one() -> int:\n    return 1\n",
}

CHILD = """
import asyncio, importlib.util, json, sys
from textual.app import App
from textual.widgets import TextArea

async def main(texts):
    app = App()
    async with app.run_test() as pilot:
        for turn in range(8):
            areas = [TextArea(text, language=language) for language, text in texts.items()]
            await app.screen.mount(*areas)
            for area in areas:
                area.insert("x")
                area.load_text(texts[area.language] * (turn + 1))
            await pilot.pause()
            await app.screen.remove_children()
    print("alive", *texts)

texts = json.loads(sys.argv[1])
asyncio.run(main({name: text for name, text in texts.items() if importlib.util.find_spec(f"tree_sitter_{name}")}))
"""


class Area(App[None]):
    """One text area."""

    def compose(self) -> ComposeResult:
        yield MemoryText()

    @property
    def area(self) -> MemoryText:
        """The text area."""
        return self.query_one(MemoryText)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    memory_text._can_highlight.cache_clear()
    yield
    memory_text._can_highlight.cache_clear()


@with_colours
@pytest.mark.parametrize(
    ("text", "read_only", "language"),
    [
        ("# Title\n", False, "markdown"),
        ("# Title\n", True, None),
        ("x" * HIGHLIGHT_BYTES, False, "markdown"),
        ("x" * (HIGHLIGHT_BYTES + 1), False, None),
        ("ä" * (HIGHLIGHT_BYTES // 2 + 1), False, None),
    ],
)
async def test_a_small_text_has_colours_and_a_large_one_has_not(
    text: str, read_only: bool, language: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "0.25.2")
    app = Area()
    async with app.run_test():
        app.area.open_text(text, read_only=read_only)
        assert app.area.language == language
        assert bool(app.area._highlights) is (language is not None and text.startswith("#"))


@with_colours
async def test_a_text_that_grows_too_large_loses_its_colours_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "0.25.2")
    app = Area()
    text = "# Title\n" + "a line of words\n" * 1_900
    async with app.run_test() as pilot:
        area = app.area
        area.open_text(text, read_only=False)
        area.selection = Selection.cursor((900, 2))
        area.scroll_to(0, 890, animate=False, immediate=True)
        await pilot.pause()
        area.insert("y")
        assert area.language is not None
        area.insert("x" * 4_000)
        await pilot.pause()
        assert app.area.language is None
        assert area.selection == Selection.cursor((900, 4_003))
        assert area.document.get_line(900) == "a " + "y" + "x" * 4_000 + "line of words"
        assert area.scroll_offset.y >= 890
        area.undo()
        area.undo()
        assert area.text == text


@pytest.mark.parametrize("version", ["0.26.1", "0.24.0", "1.0"])
async def test_a_parser_that_ends_the_program_is_not_used(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    monkeypatch.setattr(importlib.metadata, "version", lambda _: version)
    app = Area()
    async with app.run_test():
        app.area.open_text("# Title\n", read_only=False)
        assert app.area.language is None


async def test_without_the_packages_the_text_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    app = Area()
    async with app.run_test():
        app.area.open_text("# Title\n", read_only=False)
        assert (app.area.language, app.area.text) == (None, "# Title\n")


def test_the_extra_asks_for_a_parser_that_lives() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert "tree-sitter>=0.25,<0.26" in extras["syntax"]
    everything = [*project["dependencies"], *(name for names in extras.values() for name in names)]
    assert not [name for name in everything if name.replace("_", "-").startswith(("textual[", "tree-sitter>=0.26"))]


@with_colours
def test_the_parser_survives_queries_made_again_and_again() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(LANGUAGES)], capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, f"it ended with {done.returncode}: {done.stderr[-2000:]}"
    assert done.stdout.startswith("alive markdown")


async def test_nothing_blinks() -> None:
    app = Area()
    async with app.run_test() as pilot:
        app.area.open_text("# Title\n", read_only=False)
        app.area.focus()
        await pilot.pause()
        assert not app.area.cursor_blink


def test_secrets_are_dots_wherever_they_stand_and_tabs_and_wide_signs_keep_their_width() -> None:
    block = [*KEY.split("\n")[:2], *["QUJD" * 16] * 60, KEY.split("\n")[-1], f"a {GITHUB}\t."]
    spans = [secret_spans(block, index) for index in range(len(block))]
    assert spans[:-1] == [((0, len(line)),) for line in block[:-1]]
    assert dotted(block[-1], spans[-1], plain=False) == f"a {'•' * len(GITHUB)}\t."
    assert dotted("a\tb界", [(0, 4)], plain=True) == "*\t*＊"
    picture = read_form(f"{KEY}\n\x00\n".encode())
    assert not picture.editable
    assert KEY.split("\n")[1] not in picture.text


async def test_the_editor_shows_a_secret_only_while_the_cursor_is_at_it_and_keeps_its_bytes() -> None:
    engine = engine_with({"memtui:project/a.md": f"first\nkey {GITHUB} is\n"})
    async with shown(engine, size=(120, 24)) as screen:
        await screen.until_text("key [masked: GitHub token] is")
        await screen.press("enter")
        await screen.until_text(f"key {'•' * len(GITHUB)} is")
        await screen.press("down", "end")
        assert GITHUB[:9] not in screen.text
        for _ in range(len(" is")):
            await screen.press("left")
        await screen.until_text(f"key {GITHUB} is")
        await screen.press("up", "!")
        await screen.until_text(f"key {'•' * len(GITHUB)} is")
        editor = screen.browser.query_one(MemoryText)
        assert editor.text.split("\n")[1] == f"key {GITHUB} is"
