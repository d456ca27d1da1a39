"""Times on the wire: RFC 3339 in UTC, from and to milliseconds since the epoch.

One place, so that no front writes local time, a naive time or a float by accident. Times far outside the calendar
are clamped: a file may carry any modification time, and a list must not fail because of one.
"""

import time

_FIRST = -62_135_596_800_000
_LAST = 253_402_300_799_999
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def rfc3339(ms: int) -> str:
    """Write a time, such as `2026-11-20T10:04:06.120Z`.

    Args:
        ms: milliseconds since the epoch; clamped to the years 1 to 9999.
    """
    seconds, fraction = divmod(min(max(ms, _FIRST), _LAST), 1000)
    year, month, day, hour, minute, second = time.gmtime(seconds)[:6]
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z"


def parse_time(text: str, now: int) -> int | None:
    """Read a time given by a person or a script.

    Args:
        text: RFC 3339, a date (midnight UTC), or an age such as `90m`, `2h`, `3d`, `1w`.
        now: milliseconds since the epoch, from which an age counts back.

    Returns:
        Milliseconds since the epoch, or None when the text is none of these.
    """
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
