"""Rows of the task list for deliveries that cannot be used, with the reason; never a secret."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.features.delivery.verbs import problem_of
from memtui.features.tasks.view_rows import StandingRow


def standing(engine: Engine, settings: Settings, lane: str) -> Iterator[StandingRow]:
    """Yield a row for each delivery that cannot be used."""
    del engine, lane
    for name in settings.entries("delivery"):
        if why := problem_of(settings, name):
            yield StandingRow("Deliveries", name, "unusable", "problem", why, None, partial(_shown, name, why))


def _shown(name: str, why: str, engine: Engine) -> Iterator[tuple[str, str]]:
    del engine
    yield "Why", why
    yield "Then", f"memtui delivery test {name}"
