"""Which names an agent can write as a part of a path, and why the others are refused: one rule for all doors.

A name that one door lists and another refuses is a memory that an agent sees and cannot open.
"""

_USUAL = str.maketrans("-_. ", "aaaa")
_ENCODED = ("%2e", "%2f", "%5c")
_STRUCTURE = frozenset('<>"')
"""What a list for an agent escapes, so that it is not the name any more."""


def problem(part: str) -> tuple[str, bool]:
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
    return not problem(part)[1] and part == part.strip()


def reachable_path(path: str) -> bool:
    """Whether a path below a root can be written below its scope, so that it names what has it on disk."""
    return all(map(reachable, path.split("/")))


def listable(path: str) -> bool:
    """Whether a path below a root is still the same in a list where markup is escaped."""
    return _STRUCTURE.isdisjoint(path) and reachable_path(path)
