"""What is worked out from many memories: once after many news, after a while at the latest, while somebody looks."""

from __future__ import annotations

import pytest

from memtui.workbench.views import worked_out
from memtui.workbench.views.worked_out import WorkedOutScreen
from tests.workbench.shown import Shown, engine_with, shown

VIEWS = pytest.mark.parametrize("key", ["4", "8"])


async def opened(screen: Shown, key: str) -> WorkedOutScreen:
    await screen.press(key)
    view = screen.app.screen
    assert isinstance(view, WorkedOutScreen)
    await screen.until(lambda: view.known and view.due is None)
    return view


def loads_of(view: WorkedOutScreen, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One for each time it is worked out, from now on."""
    found: list[int] = []
    monkeypatch.setattr(view, "work_out", lambda: found.append(1))
    return found


@VIEWS
async def test_a_storm_of_news_is_worked_out_once_it_is_quiet(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown(engine_with()) as screen:
        view = await opened(screen, key)
        loads = loads_of(view, monkeypatch)
        for _ in range(20):
            view.news()
        assert not loads
        await screen.until(lambda: bool(loads))
        assert len(loads) == 1
        assert view.due is None


@VIEWS
async def test_a_storm_without_end_is_worked_out_all_the_same(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worked_out, "QUIET", 30)
    monkeypatch.setattr(worked_out, "PATIENCE", 0.2)
    async with shown(engine_with()) as screen:
        view = await opened(screen, key)
        loads = loads_of(view, monkeypatch)

        def more() -> bool:
            view.news()
            return bool(loads)

        await screen.until(more)


@VIEWS
async def test_news_wait_until_somebody_looks(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown(engine_with()) as screen:
        view = await opened(screen, key)
        await screen.press("1")
        loads = loads_of(view, monkeypatch)
        view.news()
        assert view.due is None
        await screen.press(key)
        await screen.until(lambda: bool(loads))
        assert len(loads) == 1
