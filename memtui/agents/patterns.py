"""Patterns in agents' settings, matched in bounded time: a repository may have written them.

Shell patterns as the agents' own library (picomatch) reads them, without its rarer signs; and regular expressions, of
which only those are understood that say no more than a shell pattern does. None is ever run as a regular expression.
"""

LONGEST = 1_024
"""Characters of a pattern; a longer one names nothing."""
CHOICES = 50
"""So many of the paths that `{a,b}` stands for are tried."""


def is_named(path: str, pattern: str) -> bool:
    """Whether a shell pattern names an absolute path.

    Args:
        path: absolute.
        pattern: `*` stays within a folder, `**/` is any number of folders, `{a,b}` is either, hidden names count.
    """
    if len(pattern) > LONGEST:
        return False
    parts = path.split("/")
    return any(_leads_to(parts, one.split("/")) for one in _choices(pattern.replace("\\", "/")))


def shell_patterns(regex: str) -> tuple[str, ...] | None:
    """Say what a regular expression names as a whole in shell patterns, in which `*` also goes across folders.

    Returns:
        One for each of its choices; None when it says more than shell patterns can.
    """
    if len(regex) > LONGEST:
        return None
    found: list[str] = []
    current, at = "", 0
    while at < len(regex):
        if regex[at] == "|":
            found.append(current)
            current, at = "", at + 1
        elif (regex[at] == "^" and not current) or (regex[at] == "$" and regex[at + 1 : at + 2] in ("", "|")):
            at += 1
        else:
            atom, at = _atom(regex, at)
            if not atom:
                return None
            current += atom
    return (*found, current)


def _choices(pattern: str) -> list[str]:
    waiting = [pattern]
    found: list[str] = []
    while waiting and len(found) < CHOICES:
        one = waiting.pop()
        end = one.find("}")
        start = one.rfind("{", 0, end) if end >= 0 else -1
        if start < 0 or "," not in one[start:end]:
            found.append(one)
        else:
            waiting += [one[:start] + choice + one[end + 1 :] for choice in one[start + 1 : end].split(",")]
    return found


def _leads_to(parts: list[str], wanted: list[str]) -> bool:
    """Whether folder after folder is as wanted; only the last `**` is ever tried again."""
    at = here = 0
    begin, resume = -1, 0
    while at < len(parts):
        if here < len(wanted) and wanted[here] == "**":
            here += 1
            begin, resume = here, at
        elif here < len(wanted) and _is_like(parts[at], wanted[here]):
            at, here = at + 1, here + 1
        elif begin >= 0:
            resume += 1
            at, here = resume, begin
        else:
            return False
    return all(rest == "**" for rest in wanted[here:])


def _is_like(name: str, wanted: str) -> bool:
    if name == wanted:
        return True
    from fnmatch import fnmatchcase  # brings the pattern engine, which a command that matches nothing does without

    return bool(name) and fnmatchcase(name, wanted.replace("[^", "[!"))


def _atom(regex: str, at: int) -> tuple[str, int]:
    """Give one character's shell pattern, with what repeats it, and where the next begins; empty: not understood."""
    sign = regex[at]
    if sign == "\\":
        sign = regex[at + 1 : at + 2]
        atom, at = "" if sign.isalnum() or not sign else f"[{sign}]" if sign in "*?[" else sign, at + 2
    elif sign == "[":
        end = regex.find("]", at + 2)
        inner = regex[at + 1 : end] if end >= 0 else "!"
        unclear = inner[0] == "!" or "\\" in inner or "[" in inner
        atom, at = "" if unclear else f"[!{inner[1:]}]" if inner[0] == "^" else f"[{inner}]", end + 1
    else:
        atom, at = "" if sign in "()*+?{}^$" else "?" if sign == "." else sign, at + 1
    repeat = regex[at : at + 1]
    if repeat and repeat in "*+" and atom == "?":
        lazy = regex[at + 1 : at + 2] == "?"
        return "*" if repeat == "*" else "?*", at + 1 + lazy
    return "" if repeat and repeat in "*+?{" else atom, at
