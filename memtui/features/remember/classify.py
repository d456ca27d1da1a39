"""Rules that classify a text to remember: type, reasons and name; nothing is invented.

The types and the lines `Why:` and `How to apply:` are those of Claude Code and Qwen Code
(`packages/core/src/memory/entries.ts`).
"""

import re
from typing import NamedTuple
from unicodedata import normalize

from memtui import markers, mask, phrases
from memtui.engine.frontmatter.read import split
from memtui.errors import RefusedError, UsageError
from memtui.features.transfer.model import slug_of
from memtui.safe_text import has_hidden, pieces, without_escapes

USER, FEEDBACK, PROJECT, REFERENCE = "user", "feedback", "project", "reference"
LIMIT = 65_536
"""Maximum size of a stripped text in bytes, as in Qwen Code's daemon."""
_NAME, _DESCRIPTION = 60, 150
_REASON = re.compile(r"(?:[-*+] )?(?:\*\*)?(why|how[ _]to[ _]apply)(?:\*\*)?: ?(?:\*\*)?(.+)", re.IGNORECASE)
_INLINE = re.compile(r"(?<=[.!?;])[ \t]+(?=(?:Why|How to apply): )")
"""A reason on the line of its statement."""
_SENTENCE = re.compile(r"(?<![.\s]\w)[.!?]+(?=\s|$)|[。！？]")
_CLAUSE = re.compile(r"[,;:]\s|[，；：]|\s[—–-]\s|\sbecause\s|\sso that\s")
_REFERENCE = re.compile(
    r"https?://|\b(?:grafana|dashboards?|runbooks?|tickets?|docs|documentation|wiki|notion|jira)\b", re.IGNORECASE
)
_USER = re.compile(
    r"\b[Ii] (?:am|prefer|like|love|hate|need|want|know|use|speak|work|live|have)\b|\bI'm\b"
    r"|\b[Tt]he user (?:is|prefers|likes|wants)\b"
    r"|\b(?:[Mm]y|[Mm]eine?) (?:name|role|job|background|preferred|favou?rite|time ?zone|language|editor)\b"
    r"|\b[Ii]ch (?:bin|mag|bevorzuge|arbeite)\b|\b[Jj]e (?:suis|préfère)\b|\b(?:[Pp]refiero|[Ss]oy)\b"
    r"|我(?:是|喜欢|偏好)|私は"
)
_FEEDBACK = re.compile(
    r"\b(?:always|never|don'?t|do not|avoid|must|should|instead|stop|make sure|prefer|rather than|first(?=[,.;]|$))\b"
    r"|\b(?:immer|nie|niemals|toujours|jamais|siempre|nunca)\b|不要|必须|总是|必ず|しないで",
    re.IGNORECASE,
)
_OF_PROJECT = re.compile(r"\b(?:this|the|our) (?:project|repo|repository|codebase)\b", re.IGNORECASE)


class CheckedText(NamedTuple):
    """A text that may be stored."""

    text: str
    cut: int = 0
    headed: bool = False


class Fact(NamedTuple):
    """What is to be remembered."""

    type: str
    """`user`, `feedback`, `project` or `reference`."""
    text: str
    why: str
    how: str
    """The text after `How to apply:`, as `why` after `Why:`; empty without one."""
    name: str
    description: str
    slug: str
    """Name as a path part, without suffix."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Its reasons as lines."""
        return reason_lines(self.why, self.how)

    @property
    def body(self) -> str:
        """The whole text of the memory."""
        return "\n\n".join((self.text, *self.reasons)) + "\n"


def checked(text: str, *, secrets: bool = False) -> CheckedText:
    """Check a text before anything of it is stored, and strip what is not stored.

    That is outer blanks, front matter, escape sequences, hidden characters and private parts. `secrets`: a person
    confirmed that it may hold any. Raises UsageError when nothing is left, `E_TOO_BIG`, `E_TEXT`, or `E_SECRET` with
    the kind only.
    """
    text = text.strip()
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        size = -1
    if size < 0 or "\0" in text:
        what = "a NUL" if size >= 0 else "half a character (a lone surrogate)"
        raise RefusedError(f"The text holds {what}, which cannot be stored.", code="E_TEXT", hint="Take it out.")
    if size > LIMIT:
        raise RefusedError(
            f"The text has {size:,} bytes; at most {LIMIT:,} are remembered at once.",
            code="E_TOO_BIG",
            hint="Write it as a memory: memtui create.",
            details={"limit": LIMIT},
        )
    text = _without_hidden(text)
    head = split(text.encode()).body
    text = text.encode()[head:].decode().strip() if head else text
    found = markers.cut(text)
    kept = found.text.replace(markers.PRIVATE, "").strip() if found.spans else found.text
    if not any(sign.isalnum() for sign in kept):
        why = "It is marked as not to be remembered." if found.spans or found.no_memory else "There is nothing in it."
        raise UsageError(why, hint="Give the text to remember.")
    secret = () if secrets else mask.secrets(kept)
    if secret:
        kinds = ", ".join(dict.fromkeys(one.kind for one in secret))
        raise RefusedError(
            f"The text looks as if it holds a secret: {kinds}.",
            code="E_SECRET",
            hint="Agents read memories: say where the secret is kept, not what it is.",
            details={"kind": secret[0].kind},
        )
    return CheckedText(kept, len(found.spans), bool(head))


def _without_hidden(text: str) -> str:
    if not has_hidden(text):
        return text
    shown = pieces(without_escapes(text), keep_newlines=True, keep_tabs=True)
    return "".join(piece for piece, hidden in shown if not hidden).strip()


def classify(text: str, wanted: str = "") -> Fact:
    """Classify a checked text; `wanted` overrides its type."""
    plain, why, how = split_reasons(text)
    sentence = first_sentence(plain)
    clause = next(
        (sentence[: found.start()] for found in _CLAUSE.finditer(sentence) if " " in sentence[: found.start()]), ""
    )
    name = _shortened(clause or sentence, _NAME)
    return Fact(wanted or type_of(plain), plain, why, how, name, _shortened(sentence, _DESCRIPTION), slug_of(name))


def type_of(text: str) -> str:
    """Return the first type that matches: reference, user, feedback, else project."""
    if _REFERENCE.search(text):
        return REFERENCE
    if _USER.search(text):
        return USER
    if _FEEDBACK.search(text) or phrases.corrects(text):
        return FEEDBACK
    return PROJECT


def scope_of(fact: Fact, project: str | None) -> str:
    """Return `global` for facts about the user and feedback that does not name the project, else `project`."""
    if fact.type == USER:
        return "global"
    named = bool(project) and re.search(rf"(?<!\w){re.escape(project or '')}(?!\w)", fact.text, re.IGNORECASE)
    here = named or _OF_PROJECT.search(fact.text)
    return "global" if fact.type == FEEDBACK and not here else "project"


def reason_lines(why: str, how: str) -> tuple[str, ...]:
    """Return the lines that give reasons, without empty ones."""
    return tuple(f"{name}: {value}" for name, value in (("Why", why), ("How to apply", how)) if value)


def split_reasons(text: str) -> tuple[str, str, str]:
    """Split a text into (text, why, how to apply); the first line of each kind counts."""
    rest: list[str] = []
    found: dict[str, str] = {}
    for line in _INLINE.sub("\n", text.replace("\r\n", "\n")).split("\n"):
        match = _REASON.fullmatch(line.strip())
        kind = match[1][:3].lower() if match else ""
        if match is None or kind in found:
            rest.append(line)
        else:
            found[kind] = " ".join(match[2].split())
    plain = re.sub(r"\n{3,}", "\n\n", "\n".join(rest)).strip()
    return (plain, found.get("why", ""), found.get("how", "")) if plain else (text, "", "")


def first_sentence(text: str) -> str:
    """Return the first sentence on one line, without Markdown before it."""
    line = next((line for line in text.splitlines() if any(sign.isalnum() for sign in line)), text)
    line = " ".join(line.split()).lstrip("#>-*+ ") or text.strip()
    line = "".join(sign for sign in line if sign.isprintable())
    end = _SENTENCE.search(line)
    return line[: end.start()] if end and any(sign.isalnum() for sign in line[: end.start()]) else line


def same(text: str) -> str:
    """Normalize a text so that two that say the same are equal: no case, blanks or final punctuation."""
    return " ".join(normalize("NFKC", text).casefold().split()).rstrip(".!?;:,。！？；，、… ")


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text.rstrip(" ,;:")
    head = text[:most]
    return (head.rpartition(" ")[0] if " " in head[most // 2 :] else head[:-1]).rstrip(" ,;:—–-") + "…"
