"""Commands of the main screen that are off say why."""

from __future__ import annotations

from memtui.config.settings import Terminal
from tests.workbench.shown import Shown, engine_with, make_app

RETRY = "memtui:project/decisions/retry.md"


async def test_point_29_a_browser_lends_its_screen_to_no_other_program() -> None:
    engine = engine_with()
    app = make_app(engine, settings={"terminal": Terminal(web=True)})
    async with app.run_test(size=(120, 40)) as pilot:
        screen = Shown(app, pilot, engine)
        await screen.until_text("preferences.md")
        await screen.go(RETRY)
        await screen.press("f4")
        await screen.until_text("A browser cannot lend its screen to another program: e edits here.")
