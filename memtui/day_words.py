"""Relative days in a text, such as `next Friday`: finding them, and making them absolute.

English, German, French, Spanish, Chinese. Recurring days (`every Friday`, `on Fridays`, `not on Friday`, `the Friday
boats`) are not days. Every pattern takes linear time.
"""

import re
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

_OFFSETS = {
    **dict.fromkeys(("today", "heute", "aujourd'hui", "hoy", "今天"), 0),
    **dict.fromkeys(("tomorrow", "morgen", "demain", "mañana", "明天"), 1),
    **dict.fromkeys(("yesterday", "gestern", "hier", "ayer", "昨天"), -1),
    **dict.fromkeys(("the day after tomorrow", "day after tomorrow", "übermorgen", "后天", "後天"), 2),
    **dict.fromkeys(("the day before yesterday", "day before yesterday", "vorgestern", "前天"), -2),
}
_WEEKDAYS = (
    *(("monday", "montag", "lundi", "lunes"), ("tuesday", "dienstag", "mardi", "martes")),
    *(("wednesday", "mittwoch", "mercredi", "miércoles"), ("thursday", "donnerstag", "jeudi", "jueves")),
    *(("friday", "freitag", "vendredi", "viernes"), ("saturday", "samstag", "samedi", "sábado")),
    ("sunday", "sonntag", "dimanche", "domingo"),
)
_NUMBER = {name: number for number, names in enumerate(_WEEKDAYS) for name in names}
_UNITS = {"day": 1, "week": 7}
_CHINESE = "今天|明天|昨天|后天|後天|前天"
_WORDS = "|".join(sorted((word for word in _OFFSETS if word[0].isascii() or word[0] == "ü"), key=len, reverse=True))
_PATTERN = re.compile(
    rf"(?<![\w-])(?:(?P<word>{_WORDS})"
    r"|(?:(?P<which>next|last|this|coming|nächsten?|letzten?|diesen?) )?(?P<weekday>" + "|".join(_NUMBER) + r")"
    r"|in (?P<ahead>[1-9][0-9]?) (?P<unit>day|week)s?|(?P<back>[1-9][0-9]?) (?P<past>day|week)s? ago"
    rf"|(?P<span>next|last|this) (?P<size>week|month))(?![\w-])|(?P<sign>{_CHINESE})",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"(?:every|each|any|jeden?|chaque|cada|todos los|every other|\bthe|\ba|\b(?:not|never|no) on)\s+$", re.IGNORECASE
)


class DayWord(NamedTuple):
    """A relative day in a text."""

    start: int
    end: int
    """Offsets in characters; `end` is behind the last one."""
    day: str
    """`2026-03-06`; `2026-03` for a month, `the week of 2026-03-02` for a week."""


def day_words(text: str, at: int) -> tuple[DayWord, ...]:
    """Find days relative to when the text was written (milliseconds, in this machine's time zone), in order.

    A weekday is the next one, unless `last` precedes it, or `this` on that day itself.
    """
    written = datetime.fromtimestamp(at / 1000, UTC).astimezone().date()
    return tuple(
        DayWord(match.start(), match.end(), _day(match, written))
        for match in _PATTERN.finditer(text)
        if not _AGAIN.search(text[max(0, match.start() - 12) : match.start()])
    )


def absolute(text: str, at: int) -> str:
    """Replace each relative day by its date; see `day_words`."""
    for found in reversed(day_words(text, at)):
        text = f"{text[: found.start]}{found.day}{text[found.end :]}"
    return text


def _day(match: re.Match[str], written: date) -> str:
    parts = {key: value.lower() for key, value in match.groupdict().items() if value}
    which = parts.get("which", "")
    if word := parts.get("word") or parts.get("sign"):
        days = _OFFSETS[word]
    elif weekday := parts.get("weekday"):
        days = (_NUMBER[weekday] - written.weekday()) % 7
        if which.startswith(("last", "letzt")):
            days -= 7
        elif not days and not which.startswith(("this", "dies")):
            days = 7
    elif "ahead" in parts:
        days = int(parts["ahead"]) * _UNITS[parts["unit"]]
    elif "back" in parts:
        days = -int(parts["back"]) * _UNITS[parts["past"]]
    else:
        away = {"last": -1, "this": 0, "next": 1}[parts["span"]]
        if parts["size"] == "month":
            year, month = divmod(written.year * 12 + written.month - 1 + away, 12)
            return f"{year:04}-{month + 1:02}"
        return f"the week of {written + timedelta(days=7 * away - written.weekday())}"
    return str(written + timedelta(days=days))
