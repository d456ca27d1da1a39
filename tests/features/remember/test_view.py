"""The form of the key m: what will be written is seen while it is typed, work goes on, and no text is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events

from memtui.config.read import load_settings, read_environment
from memtui.config.surroundings import surroundings_from
from memtui.engine.model import Actor
from memtui.features.remember.view import RememberScreen
from memtui.features.remember.work import RememberPlan
from memtui.wire.session import Options, Session
from memtui.workbench.app import Background, MemtuiApp
from memtui.workbench.bridge import Bridge
from memtui.workbench.main_screen import StartFacts
from tests.features.transfer.agents import Agents
from tests.workbench.browse.agents_shown import until_said
from tests.workbench.memories import Memories
from tests.workbench.shown import Shown

TEXT = "The project never mocks the database"
PATH = "feedback/the-project-never-mocks-the-database.md"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def laid(tmp_path: Path) -> Agents:
    """A folder with one memory."""
    agents = Agents(tmp_path, "memtui")
    agents.lay("memtui", {"pnpm.md": "Use pnpm.\n"})
    return agents


@asynccontextmanager
async def opened(agents: Agents, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Shown]:
    """The workbench on them, for a user who stands in a project."""
    settings = load_settings(read_environment())
    with agents.engine() as engine:
        bridge = Bridge(engine, actor=Actor("tui"))
        place = surroundings_from(settings, cwd=str(agents.base))
        app = MemtuiApp(bridge, StartFacts(settings, engine.roots.all(), surroundings=place))
        session = Session(settings, engine.roots.all(), engine, Options(), place)
        app.background = Background(session, bridge, app.browser.bars.take_tasks, app.browser.show_error)
        async with app.run_test(size=size) as pilot:
            shown = Shown(app, pilot, Memories({}, ()))
            await shown.until(lambda: bool(shown.browser.forest.nodes) and not app.browser.chrome.loading)
            yield shown
        bridge.close()


async def asked(screen: Shown, text: str = "") -> RememberScreen:
    """Press m, type, and wait for what comes of it."""
    await screen.press("m")
    await screen.until(lambda: isinstance(screen.app.screen, RememberScreen))
    form = screen.app.screen
    assert isinstance(form, RememberScreen)
    await screen.type(text)
    await screen.until(lambda: form.prompt.text.endswith(text))
    await screen.until(lambda: not form.prompt.text or form.outlook is not None or form._refused is not None)
    return form


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_is_written_is_seen_first_and_undo_takes_it_back(tmp_path: Path, size: tuple[int, int]) -> None:
    agents = laid(tmp_path)
    before = agents.everything()
    async with opened(agents, size) as screen:
        form = await asked(screen, TEXT)
        assert f"lands in memtui:project/{PATH}" in screen.text
        assert "type feedback, worker none" in form.details.text
        assert agents.everything() == before
        assert "enter saves" in screen.footer
        await screen.press("enter")
        assert screen.app.screen is screen.browser
        await until_said(screen, "It is put where it belongs while you work; 0 shows how far it is.")
        await screen.until_text("database.md. 0 then w shows what changed, u takes it back.")
        assert sum("Saved" in text for _, text in screen.browser.chrome.said) == 1
        assert set(agents.held("memtui")) == {"pnpm.md", PATH}
        await screen.press("u")
        await screen.until(lambda: agents.everything() == before)


async def test_escape_keeps_the_text_and_tab_chooses_the_scope(tmp_path: Path) -> None:
    async with opened(laid(tmp_path)) as screen:
        await asked(screen, TEXT)
        await screen.press("escape")
        assert screen.app.screen is screen.browser
        form = await asked(screen)
        assert form.prompt.text == TEXT
        form.say("Proposed: 4 changes.")
        await screen.until_text("Proposed: 4 changes.")
        assert TEXT in screen.footer
        await screen.press("tab", "tab")
        assert "scope: global (tab)" in screen.text
        await screen.until_text("No folder for memories of the scope global is open.")
        await screen.press("ctrl+s")
        assert form.is_current


async def test_what_is_known_is_opened_instead(tmp_path: Path) -> None:
    agents = laid(tmp_path)
    before = agents.everything()
    async with opened(agents) as screen:
        form = await asked(screen, "use PNPM")
        assert "memtui:project/pnpm.md says it already, in line 1." in form.details.text
        await screen.press("ctrl+s")
        assert screen.app.screen is form
        await screen.press("ctrl+o")
        await screen.until(lambda: screen.browser.editing)
        assert screen.browser.host.address is not None
        assert screen.browser.host.address.path == "pnpm.md"
        assert agents.everything() == before


async def test_memories_like_it_are_shown_and_one_is_opened_instead(tmp_path: Path) -> None:
    agents = laid(tmp_path)
    agents.lay(
        "memtui", {"db.md": "Tests run on a real database.\n", "mocks.md": "No mocks of the database in tests.\n"}
    )
    async with opened(agents) as screen:
        form = await asked(screen, "Tests use the real database")
        assert [one.path for one in form.like.rows] == ["db.md", "mocks.md"]
        assert "like it: memtui:project/mocks.md" in screen.text
        await screen.press("down", "ctrl+o")
        await screen.until(lambda: screen.browser.editing)
        assert screen.browser.host.address == form.like.rows[1]


async def test_a_secret_is_noticed_and_only_kept_by_a_further_key(tmp_path: Path) -> None:
    agents = laid(tmp_path)
    async with opened(agents) as screen:
        form = await asked(screen, f"The project token is {TOKEN}")
        assert form.details.text.strip() == "looks like a GitHub token"
        await screen.press("ctrl+s")
        assert "e edit, ! keep anyway" in form.details.text
        await screen.press("e")
        assert form.prompt.text.endswith(TOKEN)
        assert "keep anyway" not in form.details.text
        await screen.press("ctrl+s", "exclamation_mark")
        await until_said(screen, "Saved ")
        (path,) = set(agents.held("memtui")) - {"pnpm.md"}
        assert TOKEN in agents.held("memtui")[path].decode()
        assert TOKEN not in "".join(text for _, text in screen.browser.chrome.said)


async def test_what_fails_gives_the_text_back(tmp_path: Path) -> None:
    agents = laid(tmp_path)
    async with opened(agents) as screen:
        config = Path(screen.browser.facts.settings.config_file)
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("[lifecycle]\nenabled = false\n", encoding="utf-8")
        await asked(screen, TEXT)
        await screen.press("ctrl+s")
        await until_said(screen, "Not remembered: remember is switched off.")
        config.unlink()
        form = await asked(screen)
        assert form.prompt.text == TEXT
        await screen.press("ctrl+s")
        await until_said(screen, "Saved ")


async def test_a_paste_keeps_its_lines_and_loses_its_colours(tmp_path: Path) -> None:
    agents = laid(tmp_path)
    async with opened(agents) as screen:
        form = await asked(screen)
        screen.app.post_message(
            events.Paste("\x1a[31mThe project never mocks\x1a[0m the database.\r\n\r\n\t- it lies\n\x1a]8;;x\x07")
        )
        await screen.until(lambda: form.outlook is not None)
        assert form.wanted.text == "The project never mocks the database.\n\n\t- it lies"
        found = form.outlook.found  # type: ignore[union-attr]
        await screen.until_text("the database.↵↵·- it lies")
        assert isinstance(found, RememberPlan)
        assert b"The project never mocks the database.\n\n\t- it lies\n" in found.changes[0].after
