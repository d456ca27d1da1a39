"""When a schedule is due: five fields of cron in a time zone, a word for them, or one time.

The calendar is cronsim's, which does as Debian's cron does when clocks change: a time that a day leaves out comes with
the next minute there is, and one that comes twice is due once. A star in minutes or hours follows the elapsed time.
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
COUNTED = 1_000
"""Times that went by are counted up to so many."""
_BACK = (timedelta(hours=2), timedelta(days=2), timedelta(days=40))
"""How far to look back for the newest time, before looking through all."""


class Due(NamedTuple):
    """The newest time that is due, and how many went by before it."""

    at: int
    """In milliseconds since the epoch, as all times here."""
    missed: int = 0
    """Earlier ones that are not made up for; `COUNTED` stands for more."""


def missed_words(missed: int) -> str:
    """Say how many times went by; nothing for none."""
    return f"{missed}{'+' * (missed >= COUNTED)} earlier times went by" if missed else ""


def check(spec: str, zone: str, now: int) -> str:
    """Check a time, and write it as it is kept; `now` in milliseconds.

    Raises:
        UsageError: `E_SCHEDULE`: it is no time, or never comes; the zone is none.
    """
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise _wrong(f"{zone!r} is no time zone.", "Write one such as Europe/Berlin.") from None
    first, _, rest = spec.strip().partition(" ")
    if first == ONCE:
        once = f"{ONCE} {_once(rest.strip(), zone)}"
        if next(comes(once, zone, now), None) is None:
            raise _wrong(f"{rest.strip()!r} went by already.", "Write a time that comes.")
        return once
    fields = WORDS.get(spec.strip(), spec).split()
    if len(fields) != 5:
        raise _wrong(
            f"{spec!r} is no time: it has {len(fields)} fields.",
            f"Write minute, hour, day, month and weekday, or {', '.join(WORDS)}, {ONCE} TIME.",
        )
    try:
        next(CronSim(" ".join(fields), datetime.fromtimestamp(now / 1_000, ZoneInfo(zone))))
    except (CronSimError, StopIteration) as error:
        raise _wrong(
            f"{spec!r} is no time that comes: {error}.", "`0 9 * * 1-5` is nine o'clock on weekdays."
        ) from None
    return WORDS.get(spec.strip(), " ".join(fields))


def _once(text: str, zone: str) -> str:
    try:
        return datetime.fromtimestamp(_ms(text, zone) / 1_000, ZoneInfo(zone)).isoformat(timespec="minutes")
    except (ValueError, OverflowError, OSError):
        raise _wrong(f"{text!r} is no time.", f"Write {ONCE} 2026-12-24T18:00.") from None


def _ms(text: str, zone: str) -> int:
    found = datetime.fromisoformat(text)
    return round((found if found.tzinfo else found.replace(tzinfo=ZoneInfo(zone))).timestamp() * 1_000)


def _wrong(message: str, hint: str) -> UsageError:
    return UsageError(message, code="E_SCHEDULE", unharmed="No schedule was made or changed.", hint=hint)


def comes(spec: str, zone: str, after: int) -> Iterator[int]:
    """Give the times after one, in order; `spec` as `check` wrote it."""
    if spec.startswith(ONCE):
        at = _ms(spec.partition(" ")[2], zone)
        yield from [at] if at > after else []
        return
    begin = datetime.fromtimestamp(after / 1_000, ZoneInfo(zone))
    for found in CronSim(spec, begin):
        at = round(found.timestamp() * 1_000)
        if at > after:  # where an hour comes twice, cronsim may give its first one from within the second
            yield at


def due(spec: str, zone: str, after: int, now: int) -> Due | None:
    """Find the newest time after one and up to another; None for none."""
    first = [*islice(takewhile(lambda at: at <= now, comes(spec, zone, after)), COUNTED + 1)]
    if len(first) <= COUNTED:
        return Due(first[-1], len(first) - 1) if first else None
    for back in (*_BACK, timedelta.max):
        begin = max(after, now - round(back.total_seconds() * 1_000))
        newest = [*takewhile(lambda at: at <= now, comes(spec, zone, begin))][-1:]
        if newest:
            return Due(newest[0], COUNTED)
    raise AssertionError("the last look begins at `after`")
