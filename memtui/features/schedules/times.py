"""Due times: five cron fields in a time zone, a word such as `@daily`, or one time.

cronsim computes the calendar and handles clock changes as Debian's cron does: a skipped time runs at the next minute
that exists, and a repeated one runs once.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from memtui.errors import UsageError

WORDS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *"}
ONCE = "@once"
MAX_COUNTED = 1_000
"""Limit up to which missed times are counted."""
_BACK = (timedelta(hours=2), timedelta(days=2), timedelta(days=40))
"""How far to look back for the newest time before scanning everything."""


class Due(NamedTuple):
    """The newest due time, and the number of times missed before it."""

    at: int
    """Milliseconds since the epoch."""
    missed: int = 0
    """`MAX_COUNTED` stands for more."""


def missed_words(missed: int) -> str:
    """Write how many times were missed; empty for none."""
    return f"{missed}{'+' * (missed >= MAX_COUNTED)} earlier times went by" if missed else ""


def check(spec: str, zone: str, now: int) -> str:
    """Validate a time and normalize it; raises `E_SCHEDULE` for an invalid or past one, or an unknown zone."""
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise invalid(f"{zone!r} is no time zone.", "Write one such as Europe/Berlin.") from None
    first, _, rest = spec.strip().partition(" ")
    if first == ONCE:
        once = f"{ONCE} {_once(rest.strip(), zone)}"
        if next(due_times(once, zone, now), None) is None:
            raise invalid(f"{rest.strip()!r} went by already.", "Write a time that comes.")
        return once
    fields = WORDS.get(spec.strip(), spec).split()
    if len(fields) != 5:
        raise invalid(
            f"{spec!r} is no time: it has {len(fields)} fields.",
            f"Write minute, hour, day, month and weekday, or {', '.join(WORDS)}, {ONCE} TIME.",
        )
    try:
        next(CronSim(" ".join(fields), datetime.fromtimestamp(now / 1_000, ZoneInfo(zone))))
    except (CronSimError, StopIteration) as error:
        raise invalid(
            f"{spec!r} is no time that comes: {error}.", "`0 9 * * 1-5` is nine o'clock on weekdays."
        ) from None
    return WORDS.get(spec.strip(), " ".join(fields))


def _once(text: str, zone: str) -> str:
    try:
        return datetime.fromtimestamp(_ms(text, zone) / 1_000, ZoneInfo(zone)).isoformat(timespec="minutes")
    except (ValueError, OverflowError, OSError):
        raise invalid(f"{text!r} is no time.", f"Write {ONCE} 2026-12-24T18:00.") from None


def _ms(text: str, zone: str) -> int:
    found = datetime.fromisoformat(text)
    return round((found if found.tzinfo else found.replace(tzinfo=ZoneInfo(zone))).timestamp() * 1_000)


def invalid(message: str, hint: str) -> UsageError:
    """Make the error for an invalid schedule."""
    return UsageError(message, code="E_SCHEDULE", unharmed="No schedule was made or changed.", hint=hint)


def due_times(spec: str, zone: str, after: int) -> Iterator[int]:
    """Yield the times after one, in order; `spec` as `check` wrote it."""
    if spec.startswith(ONCE):
        at = _ms(spec.partition(" ")[2], zone)
        yield from [at] if at > after else []
        return
    begin = datetime.fromtimestamp(after / 1_000, ZoneInfo(zone))
    for found in CronSim(spec, begin):
        at = round(found.timestamp() * 1_000)
        if at > after:  # where an hour comes twice, cronsim may give its first one from within the second
            yield at


def newest_due(spec: str, zone: str, after: int, now: int) -> Due | None:
    """Return the newest time after `after` and up to `now`; None for none."""
    first = [*islice(takewhile(lambda at: at <= now, due_times(spec, zone, after)), MAX_COUNTED + 1)]
    if len(first) <= MAX_COUNTED:
        return Due(first[-1], len(first) - 1) if first else None
    for back in (*_BACK, timedelta.max):
        begin = max(after, now - round(back.total_seconds() * 1_000))
        newest = [*takewhile(lambda at: at <= now, due_times(spec, zone, begin))][-1:]
        if newest:
            return Due(newest[0], MAX_COUNTED)
    raise AssertionError("the last look begins at `after`")
