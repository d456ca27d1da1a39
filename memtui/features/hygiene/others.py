"""What other features find in memories, by rules of their own, as their entries in the table say.

Apart from the rules of texts because those need no memory, and so that whoever lists findings asks one place for all.
"""

from collections.abc import Callable, Iterable, Mapping

from memtui.engine import Engine
from memtui.engine.model import Memory
from memtui.features.feature import Feature, load
from memtui.features.hygiene.model import Hazard, Rule
from memtui.features.hygiene.rules import RULES

_ENTRIES = "memtui.features.table:entries"
"""The table stands above all features, so it is named here and not imported."""

Finder = Callable[[Memory, bytes], tuple[Hazard, ...]]
"""Takes a memory and its text."""


def all_rules() -> tuple[Rule, ...]:
    """Give every rule: those of texts, and those of other features."""
    found: list[Rule] = list(RULES)
    for feature in _features():
        if feature.rules:
            found += load(feature.rules)()
    return tuple(found)


def finders(engine: Engine, rows: Iterable[Memory], now: int) -> tuple[Finder, ...]:
    """Make what finds by the rules of other features.

    Args:
        engine: knows what memories were.
        rows: every memory of the roots that are looked at.
        now: milliseconds since the epoch.
    """
    rows = tuple(rows)
    return tuple(load(feature.findings)(engine, rows, now) for feature in _features() if feature.findings)


def _features() -> Iterable[Feature]:
    entries: Mapping[str, Feature] = load(_ENTRIES)()
    return entries.values()
