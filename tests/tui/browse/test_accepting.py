"""The key that accepts what a checkout brought along."""

from __future__ import annotations

from memtui.engine.model import Listing, Problem
from tests.tui.fake_engine import FakeEngine
from tests.tui.shown import engine_with, shown


def unreviewed(engine: FakeEngine, root_id: str) -> None:
    """Make a root one that came with a checkout, until it is accepted."""
    original = engine.list

    def listed(*args: object) -> Listing:
        found = original()
        if ("accept_root", root_id) in engine.calls:
            return found
        roots = tuple(
            status._replace(accepted=False, problems=(Problem("unreviewed", "It lies in a checkout."),))
            if status.root.id == root_id
            else status
            for status in found.roots
        )
        return found._replace(roots=roots)

    engine.list = listed  # type: ignore[assignment, method-assign]


async def test_the_root_of_the_memory_under_the_cursor_is_accepted() -> None:
    engine = engine_with()
    unreviewed(engine, "memtui:project")
    async with shown(engine) as screen:
        await screen.go("memtui:project/decisions/auth.md")
        assert "g a accepts it" in screen.browser.root_problem("memtui:project")
        await screen.press("g", "a")
        await screen.until_text("memtui:project accepted")
        await screen.until(lambda: not screen.browser.root_problem("memtui:project"))
        await screen.press("g", "a")
        await screen.until_text("memtui:project needs no review.")
        assert [call for call in engine.calls if call[0] == "accept_root"] == [("accept_root", "memtui:project")]


async def test_nothing_is_accepted_that_needs_no_review() -> None:
    async with shown() as screen:
        await screen.go("memtui:global/preferences.md")
        await screen.press("g", "a")
        await screen.until_text("memtui:global needs no review.")
        assert not [call for call in screen.engine.calls if call[0] == "accept_root"]
