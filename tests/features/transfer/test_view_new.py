"""The form of the key n: what is written is seen before it is, one undo takes it back, and a mistake costs no text."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.features.transfer.view import NewScreen
from tests.features.transfer.agents import Agents
from tests.workbench.browse.agents_shown import opened, put_cursor, until_said
from tests.workbench.shown import Shown

TESTING = "claude-code:project/testing.md"
WRITTEN = b"---\nname: Build steps\ndescription: How\nmetadata:\n  type: reference\n---\n\n"


def world(tmp_path: Path) -> Agents:
    """Return an agent with a memory and an index, and memtui's own."""
    agents = Agents(tmp_path, "claude-code", "memtui")
    agents.lay("claude-code", {"MEMORY.md": "- [Testing](testing.md) - no mocks\n", "testing.md": "No mocks.\n"})
    agents.lay("memtui", {"own.md": "Text.\n"})
    return agents


async def asked(screen: Shown, at: str = TESTING) -> NewScreen:
    """Press n on a memory."""
    await put_cursor(screen, at)
    await screen.press("n")
    await screen.until(lambda: isinstance(screen.app.screen, NewScreen))
    form = screen.app.screen
    assert isinstance(form, NewScreen)
    return form


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_new_memory_is_found_by_its_agent_and_one_undo_takes_it_back(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    async with opened(agents, size) as screen:
        form = await asked(screen)
        await screen.type("Build steps")
        await screen.press("enter")
        await screen.type("How")
        await screen.press("enter", "tab")
        await screen.until(lambda: form.plan is not None)
        assert form.sheet.type == "reference"
        assert "claude-code:project/MEMORY.md  1 line added" in form.details.text
        assert "claude-code:project/build-steps.md" in screen.text
        assert agents.everything() == before
        await screen.press("enter")
        await screen.until(lambda: screen.browser.editing)
        assert any("with a line in MEMORY.md. u takes both back." in text for _, text in screen.browser.chrome.said)
        after = agents.held("claude-code")
        assert after["build-steps.md"] == WRITTEN
        assert after["MEMORY.md"] == b"- [Testing](testing.md) - no mocks\n- [Build steps](build-steps.md) - How\n"
        await screen.type("x")
        editor = screen.browser.host.editing
        assert editor is not None
        assert editor.editor.text_area.text.endswith("---\n\nx")
        await screen.press("ctrl+z", "escape", "u")
        await screen.until(lambda: agents.everything() == before)


async def test_a_name_that_is_taken_is_said_and_corrected_and_keys_that_come_too_early_count(tmp_path: Path) -> None:
    agents = world(tmp_path)
    async with opened(agents) as screen:
        form = await asked(screen)
        await screen.type("testing")
        await screen.press("ctrl+s")
        await screen.until_text("testing.md is there already. Choose another name")
        await screen.type("2")
        await screen.press("ctrl+s")
        await screen.until(lambda: not form.is_attached)
        await screen.until(lambda: "testing2.md" in agents.held("claude-code"))


async def test_escape_keeps_what_is_typed_until_the_memory_is_made(tmp_path: Path) -> None:
    agents = world(tmp_path)
    before = agents.everything()
    async with opened(agents) as screen:
        await asked(screen)
        await screen.press("escape")
        assert "n has what you typed" not in screen.text
        await asked(screen)
        await screen.type("Build")
        await screen.press("enter")
        await screen.type("How")
        await screen.press("escape")
        await screen.until_text("Nothing is created; n has what you typed again.")
        assert agents.everything() == before
        form = await asked(screen)
        assert (form.sheet.name, form.sheet.description) == ("Build", "How")
        await screen.press("ctrl+s")
        await screen.until(lambda: not form.is_attached)
        await screen.press("escape")
        await screen.until(lambda: not screen.browser.editing)
        assert (await asked(screen)).sheet.name == ""


async def test_an_index_that_an_agent_writes_in_that_moment_is_taken_up(tmp_path: Path) -> None:
    agents = world(tmp_path)
    async with opened(agents) as screen:
        form = await asked(screen)
        await screen.type("Build steps")
        await screen.until(lambda: form.plan is not None)
        screen.stop_watching()
        agents.lay("claude-code", {"MEMORY.md": "- [Testing](testing.md) - theirs\n"})
        await screen.press("ctrl+s")
        await screen.until_text("MEMORY.md changed meanwhile; nothing was written.")
        assert set(agents.held("claude-code")) == {"MEMORY.md", "testing.md"}
        await screen.press("ctrl+s")
        await screen.until(lambda: not form.is_attached)
        assert agents.held("claude-code")["MEMORY.md"].startswith(b"- [Testing](testing.md) - theirs\n- [Build")


async def test_a_root_without_a_shape_asks_one_line_and_another_roots_name_in_it_asks_the_rest(tmp_path: Path) -> None:
    agents = world(tmp_path)
    async with opened(agents) as screen:
        await put_cursor(screen, "memtui:project/own.md")
        await screen.press("n")
        await screen.type("claude-code:project/deep/build")
        await screen.press("enter")
        await screen.until(lambda: isinstance(screen.app.screen, NewScreen))
        await screen.until_text("claude-code:project/deep/build.md")
        await screen.press("ctrl+s")
        await screen.until(lambda: "deep/build.md" in agents.held("claude-code"))
        await until_said(screen, "Created claude-code:project/deep/build.md, with a line in MEMORY.md.")
