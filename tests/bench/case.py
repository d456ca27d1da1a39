"""What one measurement is, and how it is taken: ours and the yardstick in turn, and the middle of the rounds' ratios.

A machine that is busy slows both sides of a round alike, so a ratio survives what an absolute time does not. A limit
counts as broken only when three tries are over it; the best try is what is printed.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

TRIES = 3


class SkippedError(Exception):
    """What is needed for this measurement is not here; counted, never a failure."""


class Figure(NamedTuple):
    """One try."""

    value: float
    """What is compared with the limit, in the case's unit."""
    low: float
    high: float
    ours: str
    """For people, with its unit."""
    yardstick: str = ""
    """For people, with its name."""


class Case(NamedTuple):
    """One line: what is measured, how, and what it may come to."""

    what: str
    size: str
    """Of the input."""
    measure: Callable[[], Figure]
    limit: float | None
    """The largest value; None: shown only."""
    unit: str = "x"
    """`x` of the yardstick, `ms`, `%` of a core, `B` or `lost`."""
    at_least: bool = False
    """The limit is the smallest value instead."""


class Line(NamedTuple):
    """The outcome of one case."""

    name: str
    """The measurement it belongs to."""
    what: str
    size: str
    ours: str
    yardstick: str
    value: float | None
    """None when it was skipped."""
    low: float
    high: float
    unit: str
    limit: float | None
    verdict: str
    """`ok`, `OVER`, `shown`, or `skipped: why`."""
    at_least: bool = False
    """The limit is the smallest value."""

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.what:<34} {self.size:<22} {self.verdict}"
        spread = f"{number(self.value)}{self.unit} [{number(self.low)}..{number(self.high)}]"
        limit = "" if self.limit is None else f"limit {number(self.limit)}{self.unit}"
        return (
            f"{self.what:<34} {self.size:<22} {self.ours:>12}  {self.yardstick:<36} {spread:<26} {limit:<14}"
            f" {self.verdict}"
        )


def number(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == 0 else f"{value:.3g}"


def duration(seconds: float) -> str:
    """Write a time with a readable unit."""
    if seconds < 0.001:
        return f"{seconds * 1e6:,.0f} us"
    return f"{number(seconds * 1000)} ms" if seconds < 1 else f"{seconds:,.2f} s"


def room(unit: str, slack: float) -> float:
    """By which factor a figure may be over its limit on a machine that does other things.

    A ratio is slowed on both sides. What is counted in time alone has nothing beside it that is as slow, and other
    programs move the one keystroke in twenty that counts first: there the factor counts twice.
    """
    return slack * slack if unit in ("ms", "%") else slack


def settle(name: str, case: Case, slack: float = 1.0) -> Line:
    """Take a case until it is within its limit, or this factor of it, at most `TRIES` times, and keep the best try."""
    best: Figure | None = None
    factor = room(case.unit, slack)
    try:
        for _ in range(TRIES):
            found = case.measure()
            if best is None or (found.value > best.value if case.at_least else found.value < best.value):
                best = found
            if case.limit is None or within(case, best.value * factor if case.at_least else best.value / factor):
                break
    except SkippedError as reason:
        return Line(name, case.what, case.size, "", "", None, 0, 0, case.unit, case.limit, f"skipped: {reason}")
    assert best is not None
    verdict = "shown" if case.limit is None else "ok" if within(case, best.value) else "OVER"
    return Line(
        name, case.what, case.size, best.ours, best.yardstick, best.value, best.low, best.high, case.unit, case.limit,
        verdict, case.at_least,
    )  # fmt: skip


def within(case: Case, value: float) -> bool:
    """Whether a value keeps the case's limit."""
    if case.limit is None:
        return True
    return value >= case.limit if case.at_least else value <= case.limit


def compare(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    rounds: int,
    name: str,
    batch: int = 1,
    less: Callable[[], float] | None = None,
    clock: "Callable[[Callable[[], object], int], float] | None" = None,
) -> Figure:
    """Run two jobs in turn and give the median of the rounds' ratios.

    Args:
        ours: one job of ours.
        theirs: the yardstick.
        rounds: how often each is run; which one goes first changes every round, and one round before is not counted.
        name: what the yardstick is.
        batch: how often a job is repeated inside one timing, for jobs of microseconds.
        less: seconds to take off ours: work the limit allows on top of the yardstick.
        clock: how long a batch of a job takes, in seconds, for jobs that begin and end before and behind what counts.
    """
    clock = clock or timed
    own: list[float] = []
    other: list[float] = []
    with _quiet():
        for round_ in range(rounds + 1):
            pair = [(ours, own), (theirs, other)]
            for job, times in pair if round_ % 2 else reversed(pair):
                times.append(clock(job, batch))
    del own[0], other[0]
    allowed = less() if less is not None else 0.0
    ratios = [(mine - allowed) / yardstick for mine, yardstick in zip(own, other, strict=True)]
    return Figure(
        statistics.median(ratios),
        min(ratios),
        max(ratios),
        duration(statistics.median(own)),
        f"{name} {duration(statistics.median(other))}" + (f", work {duration(allowed)}" if less is not None else ""),
    )


def timed(job: Callable[[], object], batch: int = 1) -> float:
    """Seconds one run of a job takes."""
    start = time.perf_counter_ns()
    for _ in range(batch):
        job()
    return (time.perf_counter_ns() - start) / batch / 1e9


def median_of(job: Callable[[], object], rounds: int) -> float:
    """The median of the seconds a job takes."""
    with _quiet():
        return statistics.median([timed(job) for _ in range(rounds)])


def latency(seconds: Sequence[float], *, of: str) -> Figure:
    """The 95th percentile of latencies, in milliseconds, with the median beside it."""
    ordered = sorted(seconds)
    return Figure(
        percentile(ordered, 0.95) * 1000,
        ordered[0] * 1000,
        ordered[-1] * 1000,
        f"p50 {duration(statistics.median(ordered))}",
        of,
    )


def percentile(ordered: Sequence[float], part: float) -> float:
    """The value that this part of sorted values does not exceed."""
    return ordered[min(len(ordered) - 1, round(part * (len(ordered) - 1)))]


class _Quiet:
    """No garbage collection while something is timed."""

    def __enter__(self) -> None:
        gc.collect()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        gc.enable()


def _quiet() -> _Quiet:
    return _Quiet()


Measurement = Callable[["Plan"], Iterator[Case]]
"""Yields cases; what they need lives until the next one is asked for."""


class Plan(NamedTuple):
    """How a run is done."""

    folder: str
    """An empty folder on a disk, for everything that is written."""
    short: bool = False
    posting: str | None = None
    """The path of another Textual program to compare the start with."""
    slack: float = 1.0
    """A limit that is broken by less than this factor is not tried again."""

    def pick(self, short: int, long: int) -> int:
        """A size or a count of rounds, by the form of the run."""
        return short if self.short else long

    def sizes(self, short: Sequence[int], long: Sequence[int]) -> Sequence[int]:
        """Sizes of inputs, by the form of the run."""
        return short if self.short else long
