"""Conversion between RFC 3339 in UTC and milliseconds since the epoch."""

import time

_FIRST = -62_135_596_800_000
_LAST = 253_402_300_799_999
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def rfc3339(ms: int) -> str:
    """Write a time in milliseconds, such as `2026-11-20T10:04:06.120Z`; clamped to the years 1 to 9999."""
    seconds, fraction = divmod(min(max(ms, _FIRST), _LAST), 1000)
    year, month, day, hour, minute, second = time.gmtime(seconds)[:6]
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z"


def parse_time(text: str, now: int) -> int | None:
    """Parse RFC 3339, a date (midnight UTC), or an age such as `90m`, `2h`, `3d`, `1w`; None for anything else."""
    number, unit = text[:-1], text[-1:]
    if unit in _UNITS and number.isascii() and number.isdigit() and len(number) <= 9:
        return now - int(number) * _UNITS[unit] * 1000
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
