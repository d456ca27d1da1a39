"""Virtual paths: `/memories/<scope>/<path>`, judged from left to right; the disk is not asked.

It exists so that every command refuses the same paths in the same words, before anything is looked at.
"""

from memtui.memory_tool.result import Refusal, shown
from memtui.values import NamedTuple

ROOT = "/memories"
SCOPES = ("global", "project", "workspace")
"""In the order in which they are always shown."""

_USUAL = str.maketrans("-_. ", "aaaa")
_ENCODED = ("%2e", "%2f", "%5c")


class Place(NamedTuple):
    """What a virtual path names."""

    given: str
    """The path as it came, for messages."""
    scope: str | None
    """None: `/memories` itself."""
    parts: tuple[str, ...] = ()
    """Below the scope; empty for the scope itself."""
    doubt: str = ""
    """Why nothing may be given this path; what has it already can still be reached, because it is listed."""

    @property
    def path(self) -> str:
        """The path below the scope."""
        return "/".join(self.parts)

    @property
    def canonical(self) -> str:
        """The path as memtui writes it."""
        return "/".join((ROOT, *([self.scope] if self.scope else []), *self.parts))


def parse(given: str) -> Place:
    """Read a virtual path.

    Args:
        given: what the model wrote; spaces around it and slashes at its end mean nothing.

    Raises:
        Refusal: it breaks a rule.
    """
    text, what = given.strip().rstrip("/"), f"Invalid memory path '{shown(given)}'"
    if not text.startswith(ROOT):
        raise Refusal(f"{what}: paths must start with /memories/ (e.g. /memories/global/notes.md)")
    rest = text[len(ROOT) :]
    if not rest:
        return Place(given, None)
    if not rest.startswith("/"):
        raise Refusal(f"{what}: expected /memories/<scope>/...")
    scope, *parts = rest[1:].split("/")
    if scope not in SCOPES:
        raise Refusal(f"Invalid memory scope '{shown(scope)}': expected one of {', '.join(SCOPES)}")
    problems = [problem for problem in map(_problem, parts) if problem[0]]
    doubt = f"{what}: {problems[0][0]}" if problems else ""
    if any(hard for _, hard in problems):
        raise Refusal(doubt)
    return Place(given, scope, tuple(parts), doubt)


def _problem(part: str) -> tuple[str, bool]:
    """The first reason why a component is refused, and whether it is even where something has that name."""
    if ".." not in part and part[:1] != "." and part.translate(_USUAL).isalnum():
        return "", False  # as most names are; no rule below says anything about letters and digits
    found = [(reason, hard) for wrong, reason, hard in _rules(part) if wrong]
    return (found[0][0], any(hard for _, hard in found)) if found else ("", False)


def _rules(part: str) -> tuple[tuple[bool, str, bool], ...]:
    return (
        (part in ("", "."), "empty or '.' path segments are not allowed", True),
        (".." in part, "path traversal ('..') is not allowed", part.strip(". ") == ""),
        ("~" in part, "'~' is not allowed in memory paths", False),
        ("\\" in part, "backslashes are not allowed (use '/')", True),
        (any(c in part.lower() for c in _ENCODED), "URL-encoded traversal sequences are not allowed", False),
        (any(c < " " or c == "\x7f" for c in part), "control characters are not allowed", True),
        (any(c in part for c in '<>"'), "'<', '>' and '\"' are not allowed in memory paths", False),
        (part[:1] == ".", "names that begin with '.' are hidden, and hidden files are not memories", True),
        (any("\ud800" <= c <= "\udfff" for c in part), "it holds a character that has no UTF-8 form", True),
    )


def reachable(part: str) -> bool:
    """Whether a name on disk can be written as a component of a virtual path."""
    return not _problem(part)[1] and part == part.strip()
