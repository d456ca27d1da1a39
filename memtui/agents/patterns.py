"""Patterns in agents' settings, matched in bounded time, because a repository may have written them.

Shell patterns as the agents' own library (picomatch) reads them, without its rarer syntax; and regular expressions that
say no more than a shell pattern does. None is ever run as a regular expression.
"""

from typing import TYPE_CHECKING

from memtui.agents.agent import BY_FOLDER, BY_NAME, Excluded
from memtui.agents.reader import is_within

if TYPE_CHECKING:
    import re

LONGEST = 1_024
"""Characters of a pattern; a longer one matches nothing."""
CHOICES = 50
"""Paths that are tried of those that `{a,b}` stands for."""
STEPS = 20_000_000
"""The cost of all comparisons of one look: about the number of characters compared."""
_COMPARING, _READING = 8, 200
"""Steps of one comparison; steps for each character of a new pattern."""


class Matching:
    """Compares many names with many patterns, at a bounded total cost."""

    def __init__(self, steps: int = STEPS) -> None:
        """Begin with a budget of steps; once it is used up, nothing matches any more."""
        self._left = steps
        self._choices: dict[str, tuple[tuple[list[str], ...], bool]] = {}
        self._signs: dict[str, re.Pattern[str] | None] = {}

    @property
    def is_spent(self) -> bool:
        """Whether the steps are used up, so that a `False` means nothing."""
        return self._left <= 0

    def names_path(self, path: str, pattern: str) -> bool:
        """Whether a shell pattern matches an absolute path.

        `*` stays within a folder, `**/` is any number of folders, `{a,b}` is either, hidden names count.
        """
        self._left -= _COMPARING
        if self.is_spent or len(pattern) > LONGEST:
            return False
        if pattern not in self._choices:
            found, is_all = _choices(pattern.replace("\\", "/"))
            self._left -= sum(map(len, found))
            self._choices[pattern] = tuple(one.split("/") for one in found), is_all
        parts = path.split("/")
        return any(self._leads_to(parts, one) for one in self._choices[pattern][0])

    def names(self, name: str, pattern: str) -> bool:
        """Whether a shell pattern matches a name; `*` crosses folders."""
        return bool(name) and self._is_like(name, pattern)

    def limit_of(self, pattern: str) -> str:
        """Explain why a pattern was not compared in full; empty when it was."""
        if len(pattern) > LONGEST:
            return f"it is longer than {LONGEST:,} characters and leaves out nothing"
        return (
            "" if self._choices.get(pattern, ((), True))[1] else f"only {CHOICES} of the paths it stands for are tried"
        )

    def _leads_to(self, parts: list[str], wanted: list[str]) -> bool:
        """Whether a path matches part by part; only the last `**` is tried again."""
        self._left -= len(wanted)
        if self.is_spent:
            return False
        at = here = 0
        begin, resume = -1, 0
        while at < len(parts):
            if here < len(wanted) and wanted[here] == "**":
                here += 1
                begin, resume = here, at
            elif here < len(wanted) and self._is_like(parts[at], wanted[here]):
                at, here = at + 1, here + 1
            elif begin >= 0 and not self.is_spent:
                resume += 1
                at, here = resume, begin
            else:
                return False
        return all(rest == "**" for rest in wanted[here:])

    def _is_like(self, name: str, wanted: str) -> bool:
        self._left -= _COMPARING
        if name == wanted:
            return True
        if wanted not in self._signs:
            self._signs[wanted] = self._read(wanted)
        signs = self._signs[wanted]
        if signs is None or not name or self.is_spent:
            return False
        self._left -= len(name) + len(wanted)
        return signs.match(name) is not None

    def _read(self, wanted: str) -> "re.Pattern[str] | None":
        """Compile the pattern of one name; None when it stands for itself, or the steps are used up."""
        if not set("*?[").intersection(wanted):
            return None
        self._left -= _READING * len(wanted)
        if self.is_spent:
            return None
        import re  # what matches nothing does without
        from fnmatch import translate

        return re.compile(translate(wanted.replace("[^", "[!")))


class Exclusions:
    """The files that an agent's own settings leave out."""

    def __init__(self, excluded: tuple[Excluded, ...], steps: int = STEPS) -> None:
        """Take the exclusions, in order."""
        self._excluded = excluded
        self._matching = Matching(steps)
        self._uncompared = 0
        self._stopped_at = ""

    def why_not(self, path: str, name: str) -> str:
        """Return why a file is left out, or an empty string; `name` is the agent's name for it, if any."""
        for one in self._excluded:
            if one.by == BY_FOLDER:
                is_meant = is_within(path, (one.pattern,))
            elif one.by == BY_NAME:
                is_meant = self._matching.names(name, one.pattern)
            else:
                is_meant = self._matching.names_path(path, one.pattern)
            if is_meant:
                return one.why
            if self._matching.is_spent and one.by != BY_FOLDER:
                self._stopped_at = self._stopped_at or one.file
                self._uncompared += 1
                return ""
        return ""

    def problems(self) -> tuple[tuple[str, str], ...]:
        """Return the settings files whose exclusions were not followed in full, each with the reason."""
        found = []
        for one in self._excluded:
            limit = self._matching.limit_of(one.pattern) if one.by not in (BY_FOLDER, BY_NAME) else ""
            if limit:
                found.append((one.file, f"Of a pattern that leaves files out: {limit}: {one.pattern[:100]}"))
        if self._uncompared:
            count = f"{self._uncompared:,} file{'s are' if self._uncompared > 1 else ' is'}"
            why = f"What it leaves out takes too long to find: {count} counted that it may leave out."
            found.append((self._stopped_at, why))
        return tuple(dict.fromkeys(found))


def shell_patterns(regex: str) -> tuple[str, ...] | None:
    """Translate a regular expression for whole names into shell patterns in which `*` crosses folders.

    There is one pattern for each alternative; None when it says more than shell patterns can.
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


def _choices(pattern: str) -> tuple[list[str], bool]:
    """Expand `{a,b}`; return the paths, and whether these are all of them."""
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
    return found, not waiting


def _atom(regex: str, at: int) -> tuple[str, int]:
    """Translate the element at an offset, with its repetition; return it (empty: not understood) and the next
    offset."""
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
