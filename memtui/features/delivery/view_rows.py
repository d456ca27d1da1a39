"""Places to which nothing can be sent, as they stand in the list of tasks: which, and why; never a secret."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from memtui.features.delivery.verbs import why_not
from memtui.features.tasks.view_rows import StandingRow

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.engine import Engine


def standing(engine: Engine, settings: Settings, lane: str) -> Iterator[StandingRow]:
    """Give the places of the settings that cannot be used."""
    del engine, lane
    for name in settings.entries("delivery"):
        if why := why_not(settings, name):
            yield StandingRow("Deliveries", name, "unusable", "problem", why, None, partial(_shown, name, why))


def _shown(name: str, why: str, engine: Engine) -> Iterator[tuple[str, str]]:
    del engine
    yield "Why", why
    yield "Then", f"memtui delivery test {name}"
