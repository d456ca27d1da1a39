"""Phrases of people in several languages: relative days, wishes that something be remembered, and corrections.

Days such as `next Friday` are found in English, German, French, Spanish and Chinese, and made absolute. Recurring days
(`every Friday`, `on Fridays`, `not on Friday`, `the Friday boats`) are not days. Every pattern takes linear time.
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
    """Find days relative to when a text was written (ms, local time); a weekday is the next one unless it says else."""
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


LONGEST = 600
"""Longest message that counts as a correction, in characters."""

_START = r"(?:^|(?<=[.!?。！？\n]))[\s\"'“(*>-]{0,8}+"
_REMEMBER = (
    (
        r"(?:please |pls |also |and |ok(?:ay)?,? |so ){0,3}+(?:always |do )?(?:remember|memori[sz]e|note|keep in mind)"
        r"(?:: |, | (?:that|to|this|we|i|the|our|my|all|every|never|always)\b)"
    ),
    r"(?:please )?(?:don'?t forget|(?:save|store|write) (?:this|that|it) [^.\n]{0,40}?\b(?:memory|memories|notes?))\b",
    r"(?:from now on|going forward|in (?:the )?future,|for future reference)",
    r"(?:bitte )?(?:merke? dir|denke? daran|vergiss nicht|notiere?)\b|ab jetzt|von jetzt an|ab sofort|künftig",
    r"(?:souviens-toi|rappelle-toi|retiens|mémorise|n'oublie pas|note)(?: que\b| bien\b| qu'|:)",
    r"désormais|dorénavant|à partir de maintenant",
    r"(?:por favor,? )?(?:recuerda|memoriza|no olvides|ten en cuenta|anota)(?: que\b|:)",
    r"a partir de ahora|de ahora en adelante",
    r"[请請]?(?:记住|記住|记得|記得|记下|記下|别忘|不要忘)|从现在开始|從現在開始|以后|以後|今后",
    r"覚えて(?:おいて)?|忘れないで|記憶して|今後は|これからは",
)
_WRONG = (
    r"(?:no|nope|nah)(?:[,.!:;]| ?[-—])(?! ?(?:thanks|thank you|problem|worries|need|rush))",
    r"(?:no|nope) (?:that|this|it|you|use|i (?:said|meant)|not)\b",
    r"(?:please )?(?:don'?t|do not|never|stop)(?: ever)? (?!worry|mind)[a-z]+|stop[.!]",
    r"actually,? (?:no|use|it|we|i|you|the|don)|(?:that|this|it)(?:'s| is| was) (?:wrong|not (?:what|right|how))",
    r"(?:please )?use [^\n.]{1,60}? (?:instead|not)\b|instead of [^\n]{1,80}?,|(?:wrong|revert|undo)[,.! ]",
    r"i (?:said|told you|meant|asked for)\b",
    r"nein\b|nicht [a-zäöüß]+|hör auf|lass das|das ist falsch|das stimmt nicht|falsch\b|stattdessen|eigentlich",
    r"non[,.! ]|ne [^\n]{1,40}? pas\b|n'[^\n]{1,40}? pas\b|arrête|c'est faux|en fait\b|plutôt",
    r"no, (?:no|usa|eso|quiero|está)\b|para de |deja de |eso está mal|está mal|incorrecto|en realidad|no uses|no hagas",
    r"不要(?!忘)|[别別](?!忘)|不对|不對|不是|错了|錯了|停|其实|應該|应该",
    r"いや|いいえ|違[うい]|ちがう|やめて|そうじゃな|ではなく|じゃなくて",
)
_EXPLICIT, _CORRECTION = (re.compile(f"{_START}(?:{'|'.join(some)})", re.IGNORECASE) for some in (_REMEMBER, _WRONG))


def asks_to_remember(text: str) -> bool:
    """Whether a sentence of a message asks to remember something; questions do not count."""
    return not _is_question(text) and _EXPLICIT.search(text) is not None


def corrects(text: str) -> bool:
    """Whether a short message begins by saying that the agent was wrong."""
    return len(text) <= LONGEST and not _is_question(text) and _CORRECTION.match(text) is not None


def _is_question(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))
