"""Building blocks of hygiene rules: the rule, the scanned text and the finding."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

SEVERITIES = ("E", "W", "I")
"""Gravest first: somebody gets what they must not; look at it; usually harmless, listed on request."""
_MARKS = re.compile(
    r"<!--|(?<!`)(`{1,2})(?!`)[^`\n]{1,400}+\1(?!`)|^[ \t>]{0,12}+(?:[-*+][ \t]++)?+(`{3,}+|~{3,}+)", re.M
)

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]++([^\n]{1,200}+)", re.M)
_ATTACKS = re.compile(
    r"(?i)\b(?:security|attack|injection|threat|jailbreak|malicious|exploit|phishing|red.?team|adversar\w|untrusted"
    r"|sicherheit|angriff|sécurité|attaque|seguridad|ataque)|安全|攻击|注入|セキュリティ|攻撃"
)
"""Words in headings above examples of attacks, in six languages."""

_OFTEN = 200


class GuardResult(NamedTuple):
    """A guard's verdict on a match."""

    said: str = ""
    """The decoded text; empty: show the match itself."""
    severity: str = ""
    """Overrides the rule's severity unless empty."""


class ScannedText:
    """A text with its code spans, headings and lines, each computed when first needed."""

    def __init__(self, text: str, *, instructs: bool = False) -> None:
        """Wrap a text; `instructs` marks the user's own rules, which may tell an agent what to do."""
        self.text, self.instructs = text, instructs
        self._code: tuple[list[int], list[int]] | None = None
        self._headings: tuple[list[int], list[bool]] | None = None
        self._written: dict[str, bool] = {}
        self._line = 0, 0
        self._has: tuple[object, bool] | None = None
        self._asked = 0
        self._begins: dict[re.Pattern[str], list[int]] = {}

    def in_code(self, place: int) -> bool:
        """Return whether a character is in a closed fence or between backticks."""
        if self._code is None:
            spans = list(_code(self.text))
            self._code = [start for start, _ in spans], [end for _, end in spans]
        starts, ends = self._code
        at = bisect_right(starts, place) - 1
        return at >= 0 and place < ends[at]

    def about_attacks(self, place: int) -> bool:
        """Return whether a character is below a heading about security or attacks."""
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
        """Return start and end of a character's line; cheap when asked for in order."""
        start, end = self._line
        if not start <= place < end:
            end = self.text.find("\n", place)
            self._line = start, end = self.text.rfind("\n", 0, place) + 1, len(self.text) if end < 0 else end
        return start, end

    def line_has(self, pattern: "re.Pattern[str]", place: int) -> bool:
        """Return whether the line of a character matches a pattern."""
        key = pattern, self.line_of(place)
        if self._has is None or self._has[0] != key:
            self._has = key, pattern.search(self.text, *key[1]) is not None
        return self._has[1]

    def near(self, pattern: "re.Pattern[str]", start: int, end: int) -> bool:
        """Return whether a pattern matches between two offsets; frequent callers get all matches indexed."""
        self._asked += 1
        if self._asked < _OFTEN:
            return pattern.search(self.text, max(0, start), end) is not None
        if pattern not in self._begins:
            self._begins[pattern] = [one.start() for one in pattern.finditer(self.text)]
        begins = self._begins[pattern]
        at = bisect_left(begins, start)
        return at < len(begins) and begins[at] < end

    def shows(self, place: int) -> bool:
        """Return whether a character is in code or below a heading about attacks."""
        return self.in_code(place) or self.about_attacks(place)

    def writes(self, script: str) -> bool:
        """Return whether the text has 3 words of one script alone; `script` is a range of characters."""
        if script not in self._written:
            own = re.findall(rf"(?<![^\W\d_])[{script}]{{3,}}+(?![^\W\d_])", self.text)
            self._written[script] = len(own) >= 3
        return self._written[script]


class Rule(NamedTuple):
    """One thing to look for."""

    id: str
    what: str
    severity: str
    spares: str
    """What is not reported though it looks alike; a severity after a colon: reported as that."""
    fix: str
    """`mask`, `strip`, `cut` or `set` the match, or `open`: a person decides."""
    pattern: str = ""
    """Linear in time; empty where `memtui.mask` or `memory_scan` finds it."""
    judge: Callable[[ScannedText, "re.Match[str]"], GuardResult | None] | None = None
    """The guard; returns None for a match to spare. Without one every match counts."""
    anchors: tuple[str, ...] = ()
    """Lower-case texts of which every match contains one; empty: none is known."""
    begins: tuple[str, ...] = ()
    """Lower-case prefixes of every match, of words their first four letters."""
    needs: re.Pattern[str] | None = None
    """A quicker pattern that every matching text contains."""


class Hazard(NamedTuple):
    """One finding in a text."""

    rule: Rule
    severity: str
    start: int
    end: int
    """Byte offsets; `end` is exclusive."""
    line: int
    """From 1."""
    text: str
    """The match or what it decodes to, masked, safe to draw, on one line."""
    new: str | None = None
    """Replacement for the fix `set`; None: a person writes it."""
    lines: bytes = b""
    """Digest of the lines it is in, for a claim also of its words; empty: `text` identifies it."""


def _code(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of code; markers within comments open none."""
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
