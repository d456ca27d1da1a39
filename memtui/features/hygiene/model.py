"""What the rules of hygiene are made of: a rule as data, the text it looks at, and what it finds there."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

SEVERITIES = ("E", "W", "I")
"""Somebody gets what they must not; look at it; counted, and listed on request. The gravest first."""
_MARKS = re.compile(
    r"<!--|(?<!`)(`{1,2})(?!`)[^`\n]{1,400}+\1(?!`)|^[ \t>]{0,12}+(?:[-*+][ \t]++)?+(`{3,}+|~{3,}+)", re.M
)

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]++([^\n]{1,200}+)", re.M)
_ATTACKS = re.compile(
    r"(?i)\b(?:security|attack|injection|threat|jailbreak|malicious|exploit|phishing|red.?team|adversar\w|untrusted"
    r"|sicherheit|angriff|sécurité|attaque|seguridad|ataque)|安全|攻击|注入|セキュリティ|攻撃"
)
"""What a heading has over examples of attacks, in six languages."""

_OFTEN = 200


class Judged(NamedTuple):
    """What a guard says of a match that it does not spare."""

    said: str = ""
    """What hidden or coded text says, decoded; empty: the match itself is shown."""
    severity: str = ""
    """Another one than the rule's; empty: the rule's."""


class Scanned:
    """A text, and which parts of it are code, which its reader sees as it is written."""

    def __init__(self, text: str, *, instructs: bool = False) -> None:
        """Keep the text; code and headings are looked for when they are first asked about.

        Args:
            text: what is looked through.
            instructs: these are rules of the user's own: a file of instructions, or feedback that was written here.
        """
        self.text, self.instructs = text, instructs
        self._code: tuple[list[int], list[int]] | None = None
        self._headings: tuple[list[int], list[bool]] | None = None
        self._written: dict[str, bool] = {}
        self._line = 0, 0
        self._has: tuple[object, bool] | None = None
        self._asked = 0
        self._begins: dict[re.Pattern[str], list[int]] = {}

    def in_code(self, place: int) -> bool:
        """Whether a character stands in a closed fence or between backticks; in an unclosed fence nothing does."""
        if self._code is None:
            spans = list(_code(self.text))
            self._code = [start for start, _ in spans], [end for _, end in spans]
        starts, ends = self._code
        at = bisect_right(starts, place) - 1
        return at >= 0 and place < ends[at]

    def about_attacks(self, place: int) -> bool:
        """Whether the heading a character stands under, or one above that, is about security or attacks."""
        if self._headings is None:
            path: list[tuple[int, bool]] = []
            self._headings = [], []
            for found in _HEADING.finditer(self.text):
                if not self.in_code(found.start()):
                    path = [one for one in path if one[0] < len(found[1])]
                    path.append((len(found[1]), _ATTACKS.search(found[2]) is not None))
                    self._headings[0].append(found.end())
                    self._headings[1].append(any(about for _, about in path))
        at = bisect_right(self._headings[0], place) - 1
        return at >= 0 and self._headings[1][at]

    def line_of(self, place: int) -> tuple[int, int]:
        """Where the line of a character begins and ends; asked for in order, each line is looked for once."""
        start, end = self._line
        if not start <= place < end:
            end = self.text.find("\n", place)
            self._line = start, end = self.text.rfind("\n", 0, place) + 1, len(self.text) if end < 0 else end
        return start, end

    def line_has(self, pattern: "re.Pattern[str]", place: int) -> bool:
        """Whether the line of a character holds something."""
        key = pattern, self.line_of(place)
        if self._has is None or self._has[0] != key:
            self._has = key, pattern.search(self.text, *key[1]) is not None
        return self._has[1]

    def near(self, pattern: "re.Pattern[str]", start: int, end: int) -> bool:
        """Whether something stands between two places; who asks often has the text looked through for it once."""
        self._asked += 1
        if self._asked < _OFTEN:
            return pattern.search(self.text, max(0, start), end) is not None
        if pattern not in self._begins:
            self._begins[pattern] = [one.start() for one in pattern.finditer(self.text)]
        begins = self._begins[pattern]
        at = bisect_left(begins, start)
        return at < len(begins) and begins[at] < end

    def shows(self, place: int) -> bool:
        """Whether a character stands in code, or under a heading about attacks."""
        return self.in_code(place) or self.about_attacks(place)

    def writes(self, script: str) -> bool:
        """Whether 3 words stand here that have letters of one script alone; `script` is a range of characters."""
        if script not in self._written:
            own = re.findall(rf"(?<![^\W\d_])[{script}]{{3,}}+(?![^\W\d_])", self.text)
            self._written[script] = len(own) >= 3
        return self._written[script]


def _found(page: Scanned, found: "re.Match[str]") -> Judged:  # noqa: ARG001 - a guard that spares nothing
    return Judged()


class Rule(NamedTuple):
    """One thing to look for."""

    id: str
    what: str
    severity: str
    spares: str
    """What is not found though it looks alike; a severity behind a colon: found as that."""
    fix: str
    """`mask` the value, `strip` the characters, `cut` the words, `set` others, or `open`: a person decides."""
    pattern: str = ""
    """Empty: `memtui.mask` finds it, or `look`. Takes time in proportion to the text."""
    judge: Callable[[Scanned, "re.Match[str]"], Judged | None] = _found
    """The guard: None spares a match."""
    anchors: tuple[str, ...] = ()
    """Lower-case texts one of which is there whenever the pattern matches; none: always looked for."""
    begins: tuple[str, ...] = ()
    """Lower-case words and other texts with one of which every match begins, of longer words the first four letters."""
    needs: re.Pattern[str] | None = None
    """What is there whenever the pattern matches, and quicker to look for."""


class Hazard(NamedTuple):
    """One place somebody should look at."""

    rule: Rule
    severity: str
    start: int
    end: int
    """Offsets in bytes; `end` is behind the last one."""
    line: int
    """From 1."""
    text: str
    """What stands there, or what it says: masked, safe to draw, on one line."""
    new: str | None = None
    """Of the fix `set`: the words to put there; None: a person finds them."""
    lines: bytes = b""
    """A digest of the whole lines it stands in, of a claim with its own words; empty: it is about what it says."""


def _code(text: str) -> Iterator[tuple[int, int]]:
    """Find code from top to bottom; marks inside comments open none, because nobody sees them."""
    at, unclosed = 0, {"`": len(text), "~": len(text)}
    while (mark := _MARKS.search(text, at)) is not None:
        at = mark.end()
        if mark[1]:
            yield mark.span()
        elif fence := mark[2]:
            if len(fence) >= unclosed[fence[0]]:
                continue
            end = re.compile(rf"^[ \t>]{{0,12}}+{fence}{fence[0]}*+[ \t\r]*+$", re.M).search(text, at)
            if end is None:
                unclosed[fence[0]] = len(fence)
            else:
                at = end.end()
                yield mark.start(), at
        else:
            end_of_comment = text.find("-->", at)
            at = len(text) if end_of_comment < 0 else end_of_comment + 3
