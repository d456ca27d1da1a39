"""OpenTelemetry metrics about background work, if the user enabled them: numbers and memtui's own words.

memtui itself sends nothing. Run under `opentelemetry-instrument`, or in a program that sets providers, it emits a span,
a counter and a duration for each of `memtui.memory.{extract,dream,recall,remember,forget}`, with the fields of Qwen
Code's telemetry. It is apart because lanes, fronts and verbs use it, and none knows another.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram

FIELDS = frozenset(
    (
        "trigger", "status", "skipped_reason", "patches_count", "deduped_entries",
        "query_length", "docs_scanned", "docs_selected", "strategy",
    )
)  # fmt: skip
_WORD = re.compile(r"[a-z_]{1,24}")
"""A valid text value: no text of anybody's, no path, no name."""


def status(on: bool) -> str:
    """Return whether telemetry is on, in words."""
    if not on:
        return "off"
    return "on" if _installed() else "on, but not installed: pip install 'memtui[telemetry]'"


def _installed() -> bool:
    return find_spec("opentelemetry") is not None and find_spec("opentelemetry.trace") is not None


def tell(on: bool, kind: str, when: tuple[int, int], fields: Mapping[str, object]) -> None:
    """Emit one finished piece of work, if telemetry is `on` and the extra installed.

    `kind` is `extract`, `dream`, `recall`, `remember` or `forget`; `when` its start and end in milliseconds. Fields
    that are not in `FIELDS`, and values that are neither a number nor a word of memtui's own, are left out.
    """
    if not on or not _installed():
        return
    from opentelemetry.trace import get_tracer

    began, ended = when
    name = f"memtui.memory.{kind}"
    told: dict[str, str | int] = {
        key: value
        for key, value in fields.items()
        if key in FIELDS and (isinstance(value, int) or (isinstance(value, str) and _WORD.fullmatch(value)))
    }
    took = max(ended - began, 0)
    get_tracer("memtui").start_span(name, start_time=began * 1_000_000, attributes={**told, "duration_ms": took}).end(
        ended * 1_000_000
    )
    marks = {key: value for key, value in told.items() if isinstance(value, str)}
    counter, duration = _instruments(name)
    counter.add(1, marks)
    duration.record(took, marks)


@cache
def _instruments(name: str) -> "tuple[Counter, Histogram]":
    from opentelemetry.metrics import get_meter

    meter = get_meter("memtui")
    return meter.create_counter(f"{name}.count"), meter.create_histogram(f"{name}.duration", unit="ms")
