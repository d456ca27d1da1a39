"""Messages as values: what is sent where, and what an answer means; each vendor's file is made of these.

Text of strangers is made harmless here: it can mention nobody and hides no address behind other words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from memtui.safe_text import visible

PART, TITLE = 3_500, 20
"""Characters of one part, and of a title."""
_FENCE = "```"
_MENTION = re.compile(r"@(?=\w)|<(?=/?\s*at\b)", re.IGNORECASE)
_ROW = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*\|?\s*")
LONGEST_S = 43_200
"""No answer makes us wait longer than 12 hours."""


class DeliveryPlace(NamedTuple):
    """Where something is sent, with the secret itself: never shown, kept or logged."""

    name: str
    kind: str
    to: str
    app: str
    secret: str
    url: str
    cool_app: str = ""


class MessagePart(NamedTuple):
    """One part of a message."""

    key: str
    """The claim: the same for every try."""
    title: str
    text: str
    """Markdown without tables."""


class Posting(NamedTuple):
    """One request, always a POST."""

    url: str
    headers: Mapping[str, str]
    body: bytes


class PostAnswer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """By their names in small letters."""
    body: bytes


class SendVerdict(NamedTuple):
    """What an answer means."""

    what: str
    """`sent`, `again`, `refresh`, `convert`, `refused` or `unknown`."""
    why: str = ""
    """The vendor's code and sentence, for people."""
    after: int = 0
    """For `again`: how many seconds it asks for; 0: it does not say."""


class MessageKind(NamedTuple):
    """How one vendor is spoken to; all functions are pure."""

    request: Callable[[DeliveryPlace, MessagePart, str, int], Posting]
    """Of a place, a part, a token (or what a webhook has instead: nothing) and the time in milliseconds."""
    judge: Callable[[PostAnswer], SendVerdict]
    token: Callable[[DeliveryPlace], Posting | None]
    """What asks for a token; None where there is none."""
    token_of: Callable[[PostAnswer], tuple[str, int]]
    """The token and for how many seconds it holds; an empty one when the answer has none."""
    safe: Callable[[DeliveryPlace], bool]
    """Whether the same part may be sent again when no answer came."""


def usual(answer: PostAnswer) -> SendVerdict | None:
    """What the status alone says, the same for all vendors; None where the body has to be read."""
    if answer.status == 429 or (answer.status == 503 and "retry-after" in answer.headers):
        return SendVerdict("again", f"HTTP {answer.status}", wait_of(answer.headers.get("retry-after", "")))
    if answer.status == 401:
        return SendVerdict("refresh", "HTTP 401")
    if answer.status >= 500:
        return SendVerdict("unknown", f"HTTP {answer.status}")
    return SendVerdict("refused", f"HTTP {answer.status}, a redirect") if 300 <= answer.status < 400 else None


def wait_of(text: str) -> int:
    """Read a `Retry-After` in seconds, `LONGEST_S` at most; 0 for anything else, so that our own pause counts."""
    return min(int(text.strip()[:12]), LONGEST_S) if text.strip().isdecimal() and text.isascii() else 0


def inert(text: str) -> str:
    """Make a text harmless: it mentions nobody, shows what is hidden, and no link is behind other words."""
    shown = "\n".join(visible(line) for line in text.split("\n"))
    return _MENTION.sub(lambda match: {"@": "＠", "<": "＜"}[match[0]], shown).replace("](", "] (")


def parts(text: str, most: int = PART) -> tuple[str, ...]:
    """Cut a text at ends of lines; a fence is closed at the end of a part and opened again, tables become lines."""
    found, lines, fence = list[str](), list[str](), ""
    for line in inert(text).split("\n"):
        plain = line if fence else _untabled(line)
        if plain is None:
            continue
        for piece in [plain[at : at + most // 2] for at in range(0, len(plain), most // 2)] or [""]:
            if lines and sum(map(len, lines)) + len(lines) + len(piece) + len(_FENCE) > most:
                found.append("\n".join([*lines, *([_FENCE] if fence else [])]))
                lines = [fence] if fence else []
            lines.append(piece)
        if plain.lstrip().startswith(_FENCE):
            fence = "" if fence else plain.strip()[:40]
    return tuple(part for part in (*found, "\n".join([*lines, *([_FENCE] if fence else [])])) if part.strip())


def _untabled(line: str) -> str | None:
    if "|" not in line or not line.strip().startswith("|"):
        return line
    return None if _ROW.fullmatch(line) else "  ".join(cell.strip() for cell in line.strip().strip("|").split("|"))
