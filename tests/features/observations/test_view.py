"""The cards on the screen: found while one types, decided about by keys, each decision one step of undo."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memtui.config.directories import Directories
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.engine.approval import Approver
from memtui.engine.model import Policy, Root
from memtui.features.observations import decide, find, view_rows
from memtui.features.observations.find import open_cards
from memtui.features.observations.view import ObservedView
from memtui.features.observations.view_rows import show
from memtui.ui.draw.pages import Page
from memtui.ui.list_view import READ_DELAY
from tests.workbench.views.real import ME, Real, World, at, real, write

QUOKKA = "# Quokka\n\nThe quokka needs `src/pool.py`.\n\nAnd sleep.\n"


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path, Policy(entries=(("many.txt", "goose"),)))
    (made.folder / "quokka.md").write_text(QUOKKA)
    (made.folder / "retry.md").write_text("---\ntype: decision\n---\n# Retry\n\nNever retry a POST.\n")
    (made.folder / "many.txt").write_text("Use okapi for tables.\n\nUse tabs.\n")
    return made


@asynccontextmanager
async def opened(world: World, **facts: object) -> AsyncIterator[tuple[Real, ObservedView]]:
    async with real(world, **facts) as screen:  # type: ignore[arg-type]
        await screen.press("9")
        view = screen.app.screen
        assert isinstance(view, ObservedView)
        await screen.until(lambda: view.loaded and view.list.count() == 4 and bool(view.page.page))
        yield screen, view


async def look_for(screen: Real, view: ObservedView, words: str, count: int = 1) -> None:
    await screen.press("slash")
    await screen.type(words)
    await screen.press("enter")
    await screen.until(lambda: view.wanted.line == words and view.due is None and view.list.count() == count)
    await screen.until(lambda: view.item is None or view.item.word[:8] in screen.text)


async def enter(screen: Real, *texts: str) -> None:
    """Write over each text that is asked for."""
    for text in texts:
        await screen.press("ctrl+u")
        await screen.type(text)
        await screen.press("enter")


def told(world: World, words: str) -> list[str]:
    """What an agent finds."""
    with world.engine() as engine, open_cards(engine, client="codex", seconds=60) as look:
        everywhere = look._replace(wanted=look.wanted._replace(roots=(1,)))
        return [card.title for card in find.search(everywhere, words).cards]


async def test_it_is_found_as_it_is_typed_and_beside_it_stands_what_an_agent_gets(world: World) -> None:
    async with opened(world) as (screen, view):
        await screen.press("slash")
        await screen.type("quok")
        await screen.until_text("1 found")
        await screen.until_text("What an agent gets:")
        await screen.until_text("from notes/quokka.md")
        await screen.press("escape")
        await screen.until(lambda: view.list.count() == 4)
        await look_for(screen, view, "type:decision")
        assert view.card.title == "Retry"
        with world.engine() as other:
            write(other, ["# New\n\nA new decision\n"], at("new.md"))
        await screen.press("escape")
        await screen.until(lambda: view.list.count() == 5)
        assert view.card.title == "Retry"


async def test_private_is_private_at_once_and_u_takes_it_back(world: World) -> None:
    async with opened(world) as (screen, view):
        await screen.press("asterisk", "comma", "p")
        await screen.until_text("Now private: 4 cards. u takes it back.")
        await screen.until(lambda: {card.state for card in view.rows.all} == {1})
        await screen.until_text("What you alone see:")
        assert told(world, "quokka") == told(world, "okapi") == []
        await screen.press("u")
        await screen.until(lambda: {card.state for card in view.rows.all} == {0})
        assert told(world, "quokka") == ["Quokka"]
        await look_for(screen, view, "quokka")
        await screen.press("comma", "s")
        await screen.until(lambda: view.list.count() == 0)
        await screen.press("full_stop")
        await screen.until(lambda: view.list.count() == 1)
        await screen.until_text("suppressed: no agent")
        await screen.press("P")
        await screen.until_text("It is kept from everybody")


async def test_it_is_deleted_softly_and_comes_back_with_its_edits(world: World) -> None:
    async with opened(world) as (screen, view):
        await look_for(screen, view, "quokka")
        await screen.press("e")
        await enter(screen, "Zebra", "nonsense")
        await screen.until_text("one of correction")
        await enter(screen, "fix", "walrus")
        await screen.until_text("fix  ")
        assert told(world, "walrus") == ["Zebra"]
        await screen.press("d", "t")
        await screen.until(lambda: view.list.count() == 0)
        assert told(world, "walrus") == []
        await screen.press("full_stop")
        await screen.until(lambda: view.list.count() == 1 and view.card.deleted)
        await screen.press("r")
        await screen.until(lambda: not view.card.deleted)
        assert told(world, "walrus") == ["Zebra"]
        assert (world.folder / "quokka.md").read_text() == QUOKKA


async def test_a_memory_is_made_of_it_after_its_bytes_were_seen(world: World) -> None:
    async with opened(world) as (screen, view):
        await look_for(screen, view, "quokka")
        await screen.press("comma", "p")
        await screen.until_text("Now private")
        await screen.press("P")
        await screen.until_text("it is private: agents that load notes would be given it")
        await enter(screen, "yes")
        await screen.until_text("quokka.md is there already")
        for address in ("notes/new.md", "notes/other.md", "notes/new.md"):
            await enter(screen, address)
            await screen.until_text(f"{address} is written with:")
        assert not (world.folder / "new.md").exists()
        await screen.press("enter")
        await screen.until_text("Created notes/new.md.")
        made = (world.folder / "new.md").read_text()
        assert "The quokka needs" in made
        assert f"From observation {view.card.word}, notes/quokka.md." in made
        await screen.press("u")
        await screen.until(lambda: not (world.folder / "new.md").exists())


async def test_only_a_word_and_a_reason_redact(world: World) -> None:
    async with opened(world) as (screen, view):
        await look_for(screen, view, "quokka")
        await screen.press("d", "r")
        await screen.until_text("Redacting clears the text")
        await enter(screen, "yes")
        await screen.until_text("type redact, or esc")
        await enter(screen, "redact", "")
        await screen.until_text("a redaction needs a reason")
        await enter(screen, "a slip")
        await screen.until_text("Redacted")
        await screen.press("escape", "full_stop")
        await screen.until(lambda: any(card.state == 3 for card in view.rows.all))
        await look_for(screen, view, "state:redacted")
        await screen.until_text("(redacted)")
        await screen.press("e")
        await screen.until_text("It is redacted: its text is gone for good.")
        assert told(world, "quokka") == []


async def test_a_decision_that_is_on_nothing_is_the_first_row_until_somebody_decides(world: World) -> None:
    async with opened(world) as (screen, view):
        await look_for(screen, view, "okapi")
        await screen.press("comma", "p")
        await screen.until_text("Now private")
        await screen.press("escape")
        (world.folder / "many.txt").write_text("The narwhal.\n\nUse tabs.\n")
        await screen.until(lambda: view.list.count() == 5 and not view.rows.all[0].id)
        await screen.press("g", "g")
        await screen.until_text("Everything new in that file is withheld")
        await screen.until_text("unsure ?")
        assert told(world, "narwhal") == []
        await screen.press("comma", "n")
        await screen.until(lambda: view.list.count() == 4)
        assert told(world, "narwhal") == ["The narwhal."]


async def test_a_rebuild_is_a_task_that_a_second_press_ends(world: World) -> None:
    async with opened(world) as (screen, _):
        await screen.press("g", "r")
        await screen.until_text("Rebuilding all cards")
        await screen.until_text("rebuild: waits")
        await screen.press("g", "r")
        await screen.until_text("The rebuild ends")
        assert [task.state for task in screen.real.tasks.all()] == ["cancelled"]


async def test_it_says_why_nothing_is_there(world: World, tmp_path: Path) -> None:
    async with real(World(tmp_path / "empty")) as screen:
        await screen.look("9", "There are no cards yet.")
    with world.engine() as engine:
        engine.watch.reconcile()
    async with real(world, read_only=True) as screen:
        await screen.look("9", "memtui runs read-only")


class Onlooked(World):
    """A world in which an agent may have started the workbench."""

    agent = ""

    def engine(self, *, read_only: bool = False) -> Engine:
        """An engine as a new process opens it."""
        roots, state = [Root("notes", str(self.folder))], str(self.base / "state")
        said = Approver("cli", "", self.agent)
        return Engine.open(roots, state_dir=state, clock=self.clock, read_only=read_only, approver=lambda: said)


async def test_an_agent_that_runs_the_screen_sees_what_agents_see_and_decides_nothing(tmp_path: Path) -> None:
    world = Onlooked(tmp_path)
    for name in ("quokka", "zebra"):
        (world.folder / f"{name}.md").write_text(f"# {name}\n")
    with world.engine() as engine, open_cards(engine, private=True, seconds=60) as look:
        (found,) = find.search(look, "quokka").cards
        decide.set_state(engine, [decide.decision_for(engine, look, found.word)], "private", actor=ME)
    world.agent = "Claude Code runs it."
    async with real(world) as screen:
        await screen.look("9", "What an agent gets:")
        await screen.press("full_stop")
        await screen.until_text("hidden shown")
        await screen.press("comma", "n")
        await screen.until_text("Only a person may")
        view = screen.app.screen
        assert isinstance(view, ObservedView)
        assert [card.title for card in view.rows.all] == ["zebra"]


async def test_the_tree_marks_what_is_withheld_and_a_pin_says_that_it_is_not_given(world: World) -> None:
    async with opened(world) as (screen, view):
        await look_for(screen, view, "quokka")
        await screen.press("comma", "p")
        await screen.until_text("Now private: Quokka.")
        await screen.press("o", "p")
        await screen.until_text("Pinned, not given: you withhold it from agents; view 9 shows it.")
        await screen.until_text("withheld from agents")
        await screen.until_text(" PW ")
        await screen.press("u", "u")
        await screen.until(lambda: "withheld from agents" not in screen.text and "W " not in screen.text)


async def test_it_asks_once_about_sessions_also_where_there_are_cards(world: World) -> None:
    home = str(world.base)
    around = Surroundings(home, home, home, None, "one", f"{home}/data")
    settings = Settings(Directories(f"{home}/config", f"{home}/state", f"{home}/data", "--home"), home)
    file = Path(settings.config_file)
    file.parent.mkdir()
    file.write_text('theme = "dark"\n')
    async with opened(world, settings=settings, surroundings=around) as (screen, view):
        await screen.until_text("Agents' sessions can make cards, too. S says what is kept, and asks once")
        await screen.press("S")
        await screen.until_text("Read the session files of your agents of this project")
        await enter(screen, "yes")
        assert file.read_text() == 'theme = "dark"\n'
        await enter(screen, "project")
        await screen.until(lambda: view.seen is not None and not view.seen.asks)
        assert "can make cards, too" not in screen.text
        assert view.standing.sessions is not None
        assert view.standing.sessions.allowed
        assert 'read = "project"' in file.read_text()
        assert 'keep = "cards"' in file.read_text()
        await screen.press("S")
        await screen.until_text("That was answered: memtui sessions says how, and changes it.")


async def test_news_leave_what_is_asked_where_there_are_no_cards(tmp_path: Path) -> None:
    home = str(tmp_path)
    around = Surroundings(home, home, home, None, "one", f"{home}/data")
    settings = Settings(Directories(f"{home}/config", f"{home}/state", f"{home}/data", "--home"), home)
    after: list[int] = []
    async with real(World(tmp_path), settings=settings, surroundings=around) as screen:
        await screen.look("9", "S says what is kept, and asks once")
        view = screen.app.screen
        assert isinstance(view, ObservedView)
        await screen.press("S")
        await screen.until_text("Read the session files of your agents of this project")
        view._rows_changed()
        view.set_timer(2 * READ_DELAY, lambda: after.append(1))
        await screen.until(lambda: bool(after))
        assert "Read the session files of your agents of this project" in screen.text


async def test_the_text_of_a_card_that_comes_late_leaves_what_is_asked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go, after = list[int](), threading.Event(), list[int]()

    def late(*given: Any) -> tuple[Page, tuple[int, ...]]:
        begun.append(1)
        assert go.wait(100)
        return show(*given)

    async with opened(world) as (screen, view):
        monkeypatch.setattr(view_rows, "show", late)
        await screen.press("j")
        await screen.until(lambda: bool(begun))
        await screen.press("e")
        await screen.until_text("The title now:")
        go.set()
        view.jobs.run(lambda _: None, lambda _: after.append(1), what="look behind that text")
        await screen.until(lambda: bool(after))
        assert "The title now:" in screen.text


async def test_enter_opens_at_the_entry_and_o_goes_to_the_memory_in_the_tree(world: World) -> None:
    async with opened(world) as (screen, view):
        await look_for(screen, view, "quokka")
        await screen.press("o")
        await screen.until(lambda: screen.app.screen is screen.app.browser)
        await screen.until(lambda: at("quokka.md") == screen.app.browser.side.memory.address)  # type: ignore[union-attr]
