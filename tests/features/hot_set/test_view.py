"""The hot set as a user sees it: the order, what fails to fit, pins that move a row, and whose eyes it is seen with."""

from __future__ import annotations

import pytest

from memtui.config.settings import AccessRule
from memtui.engine.model import BROUGHT, REVIEWED, Address
from memtui.features.hot_set.assemble import build, hook_characters
from memtui.features.hot_set.view import HotSetView
from memtui.workbench.browse.reviews import ReviewScreen
from tests.workbench.memories import Memories
from tests.workbench.shown import TEXTS, Shown, engine_with, shown

RETRY, PREFS, TODO = "memtui:project/decisions/retry.md", "memtui:global/preferences.md", "memtui:workspace/todo.md"
RULES = (
    AccessRule("codex", "*", "ro"),
    AccessRule("gemini", "workspace", "off"),
    AccessRule("gemini", "project", "off"),
    AccessRule("other", "*", "off"),
    AccessRule("*", "*", "rw"),
)


def hot_engine(pinned: dict[str, str | bytes] | None = None, *, checkout: bool = False) -> Memories:
    """Three memories with a claim: one pinned, two used; and more that are pinned."""
    engine = Memories(TEXTS, checkout=checkout)
    for name, text in (pinned or {}).items():
        engine.put(name, text)
    engine.pin(PREFS, *(pinned or {}))
    engine.use(RETRY, 6)
    engine.use(TODO, 2)
    return engine


async def hot(screen: Shown) -> HotSetView:
    """Open the view."""
    await screen.press("4")
    await screen.until_text("given")
    top = screen.app.screen
    assert isinstance(top, HotSetView)
    return top


def order(view: HotSetView) -> list[str]:
    """The memories that are given, in order."""
    return [str(row.item.row.address) for row in view.rows.shown if row.item is not None]


def under_cursor(view: HotSetView) -> str:
    """The memory under the cursor."""
    row = view.item
    return str(row.memory.row.address) if row is not None and row.memory is not None else ""


async def test_it_shows_the_order_the_budgets_and_the_very_text() -> None:
    engine = hot_engine()
    async with shown(engine, size=(160, 40)) as screen:
        view = await hot(screen)
        assert order(view) == [PREFS, RETRY, TODO]
        assert under_cursor(view) == PREFS
        await screen.until_text('<memory_file path="/memories/global/preferences.md">')
        assert "memories [###.....] 3 of 8" in screen.text
        assert "of 48 KiB" in screen.text
        assert "of 12,000" in screen.text
        assert " 1 P global/preferences.md" in screen.text
        assert "x6     6.0" in screen.text
        await screen.press("k")
        await screen.until_text("<memory_index>")
        assert "<hot_memories>" in view.page.text
        given = build(engine.engine)
        assert len({line.source for line in view.page.page}) == given.text.count("\n")


async def test_a_pin_moves_the_row_and_the_cursor_stays_with_its_memory() -> None:
    engine = hot_engine()
    async with shown(engine) as screen:
        view = await hot(screen)
        await screen.press("j", "j")
        assert under_cursor(view) == TODO
        await screen.press("p")
        await screen.until(lambda: order(view) == [TODO, PREFS, RETRY])
        assert under_cursor(view) == TODO
        await screen.until_text("pinned.")
        await screen.press("p")
        await screen.until(lambda: order(view) == [PREFS, RETRY, TODO])
        assert under_cursor(view) == TODO
        await screen.press("g", "g", "j", "p")
        await screen.until(lambda: order(view) == [RETRY, TODO])
        assert not engine.rows[Address.parse(PREFS)].pinned
        await screen.press("u")
        await screen.until(lambda: order(view) == [PREFS, RETRY, TODO])


async def test_what_fails_to_fit_stands_below_a_line_with_its_reason() -> None:
    engine = hot_engine(
        {
            **{f"memtui:global/{number}.md": f"text {number}\n" for number in range(9)},
            "memtui:global/bad.md": b"\xff",
        }
    )
    engine.use("memtui:global/bad.md")
    async with shown(engine) as screen:
        view = await hot(screen)
        assert len(order(view)) == 8
        await screen.until_text("5 left out")
        assert "not given: 5 that are pinned or used" in screen.text
        assert "no place left" in screen.text
        assert "no text" in screen.text
        for _ in range(8):
            await screen.press("j")
        await screen.until_text("Memories: 8. Text of all: 48 KiB.")
        await screen.press("j")
        await screen.until_text("Not given: it cannot be read as text.")
        await screen.press("j")
        await screen.until_text("Not given: all slots of the hot set are taken.")
        await screen.until_text("This is what would be given:")
        assert f'path="/memories/{view.rows.shown[view.list.cursor].left.path[10:]}"' in screen.text  # type: ignore[union-attr]
        first = order(view)[0]
        await screen.press("g", "g", "j", "p")
        await screen.until(lambda: first not in order(view))
        assert len(order(view)) == 8


async def test_enter_goes_to_the_memory_and_e_edits_it() -> None:
    async with shown(hot_engine()) as screen:
        view = await hot(screen)
        await screen.press("j", "enter")
        await screen.until(lambda: screen.app.screen is screen.browser)
        assert screen.here == RETRY
        await screen.press("4")
        assert under_cursor(view) == RETRY
        await screen.press("e")
        await screen.until(lambda: screen.browser.editing)
        assert str(screen.browser.host.address) == RETRY


async def test_what_waits_for_its_review_is_reviewed_there() -> None:
    engine = hot_engine(checkout=True)
    engine.outside("memtui:project/decisions/auth.md", "Tokens.\n")
    engine.outside(RETRY, "# Retry\n\n- never\n")
    async with shown(engine) as screen:
        view = await hot(screen)
        assert order(view) == [PREFS, TODO]
        await screen.until_text("memtui:project waits for your review")
        assert "unreviewed, g a" in screen.text
        await screen.press("G", "k")
        await screen.until_text("g a shows what waits;")
        assert "decisions/retry.md" in view.page.text
        await screen.press("g", "g", "j", "j", "j", "j")
        await screen.until_text("an unreviewed change")
        await screen.press("g", "a")
        await screen.until(lambda: order(view) == [PREFS, RETRY, TODO])
        assert engine.rows[Address.parse(RETRY)].trust == REVIEWED
        await screen.press("G", "k", "g", "a")
        await screen.until(lambda: isinstance(screen.app.screen, ReviewScreen))
        await screen.press("enter")
        await screen.until(lambda: screen.app.screen is view)
        await screen.until(lambda: "waits for your review" not in screen.text)
        assert not [row for row in engine.rows.values() if row.trust == BROUGHT]


async def test_another_client_sees_what_its_scopes_allow() -> None:
    async with shown(hot_engine(), settings={"access": RULES}) as screen:
        view = await hot(screen)
        assert [one.door.client for one in view.shares] == ["", "codex", "gemini", "other"]
        assert "Given to every other agent" in screen.text
        await screen.press("c")
        await screen.until_text("Given to codex")
        assert order(view) == [PREFS, RETRY, TODO]
        await screen.press("c")
        await screen.until_text("off for it: project, workspace")
        assert order(view) == [PREFS]
        await screen.press("c")
        await screen.until_text("Nothing is given by memtui to other")
        assert "Access to memories is switched off for other." in screen.text
        assert order(view) == []
        await screen.press("c")
        await screen.until(lambda: order(view) == [PREFS, RETRY, TODO])


async def test_a_hook_gives_less() -> None:
    engine = hot_engine({"memtui:global/large.md": "line of text\n" * 1000})
    async with shown(engine) as screen:
        view = await hot(screen)
        assert view.given is not None
        await screen.press("b")
        await screen.until_text("Would be given to every agent by memtui's hook, which takes 10,000 characters")
        assert view.context is not None
        assert 0 < hook_characters(view.context) <= 10_000
        assert "of 4.9 KiB" in screen.text


async def test_agents_that_are_switched_off_are_given_nothing() -> None:
    async with shown(hot_engine(), settings={"agents_enabled": False}) as screen:
        await screen.press("4")
        await screen.until_text("Agents' access to memories is switched off.")
        await screen.press("p")
        await screen.until_text("put the cursor on a memory first")


async def test_secrets_are_shown_masked_and_copied_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_with({"memtui:global/keys.md": "DB_PASSWORD=hunter2hunter2\n"})
    engine.pin("memtui:global/keys.md")
    copied: list[str] = []
    monkeypatch.setattr(
        "memtui.workbench.browse.operations.put_on_clipboard", lambda _, text, what: copied.append(text)
    )
    async with shown(engine) as screen:
        await hot(screen)
        await screen.until_text("[masked: ")
        assert "1 secret masked" in screen.text
        assert "hunter2" not in screen.text
        await screen.press("y", "c")
        await screen.until(lambda: bool(copied))
        assert "[masked: " in copied[0]
        assert "hunter2" not in copied[0]


async def test_an_empty_store_says_that_nothing_is_given() -> None:
    async with shown(engine_with({})) as screen:
        view = await hot(screen)
        assert order(view) == []
        assert "memories [........] 0 of 8" in screen.text
        await screen.until_text("p in the tree pins")


# --- live


async def test_an_agents_use_ranks_anew_after_a_quiet_moment_without_moving_the_cursor() -> None:
    engine = hot_engine()
    async with shown(engine) as screen:
        view = await hot(screen)
        await screen.press("j")
        assert under_cursor(view) == RETRY
        engine.use(TODO, 9)
        await screen.until(lambda: order(view) == [PREFS, TODO, RETRY])
        assert under_cursor(view) == RETRY
