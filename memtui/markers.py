"""Markers of text not to be kept, `<private>…</private>` and `<no-memory>`: one reading for every front.

It fails closed: an unclosed tag hides all that follows, and tags count in any case, with attributes, look-alike letters
and invisible characters. It takes linear time.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, normalize

PRIVATE = "[private]"
"""Replaces what was cut out."""


class Cut(NamedTuple):
    """A text without what its writer marked."""

    text: str
    """Empty when nothing of it may be kept."""
    spans: tuple[tuple[int, int], ...]
    """Offsets of what was cut in the given text, tags included; in order, not overlapping."""
    no_memory: bool = False
    """Whether nothing of the whole turn, or entry, may be kept."""
    open: int | None = None
    """Offset of the first unclosed `<private>`, which hides all behind it."""


class _Tag(NamedTuple):
    start: int
    end: int
    name: str
    closes: bool
    in_code: bool


OPENERS = "<＜﹤‹〈⟨\u2329\u3008《≺˂"
"""Characters that a reader takes for `<`."""
_MORE = ">＞﹥›〉⟩\u232a\u3009》≻˃"
_TAG = rf"(?<!\\)[{OPENERS}]([^{OPENERS}{_MORE}]{{1,240}}+)[{_MORE}]"
_NAME = r"(?s)\s*(/?)\s*([a-z0-9_-]+)\s*(?:/\s*)?(?:\s.*)?"
_LETTERS = str.maketrans("рԁіѵаеоптмуρινατεομ0１1", "pdivaeontmypivateom" + "oii")
"""Letters of other alphabets, and digits, that look like those of the two names."""
_FENCE = r"(?m)^ {0,3}(`{3,}|~{3,})"
_WORD = "(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])[A-Za-z0-9]{4,}(?![A-Za-z0-9])"
"""A word that is likely a number or a password."""
_PHRASE = 6
"""A private line of at least this many characters is also cut where it is repeated."""
_QUOTED = "(?m)^ {0,3}>.*+"


def cut(text: str) -> Cut:
    """Cut what its writer marked out of a message, an entry or a note, given whole."""
    if text.isascii() and "<" not in text:
        return Cut(text, ())
    tags = list(_tags(text))
    if not tags:
        return Cut(text, ())
    spans, left = _pairs(tag for tag in tags if tag.name == "private")
    ends = [tag.start for tag in left if not tag.in_code]
    spans += [(start, len(text)) for start in ends]
    quoted = _covered(text, (match.span() for match in re.finditer(_QUOTED, text)))
    meant = [tag for tag in tags if tag.name == "nomemory" and not tag.in_code and not quoted[tag.start]]
    unkept, alone = _pairs(meant)
    merged = _merged(spans + unkept)
    if alone:
        return Cut("", merged, no_memory=True)
    pieces, end = [], 0
    for start, stop in merged:
        pieces += [text[end:start], PRIVATE]
        end = stop
    return Cut("".join((*pieces, text[end:])), merged, open=min(ends, default=None))


def phrases(text: str, spans: Iterable[tuple[int, int]]) -> list[str]:
    """Return the lines cut from a text that must not be repeated: of 6 characters, or with a word with a digit."""
    lines = (line.strip() for start, end in spans for line in re.sub("<[^<>]*>", "\n", text[start:end]).splitlines())
    return [line for line in lines if len(line) >= _PHRASE or re.search(_WORD, line)]


def cut_again(text: str, private: Sequence[str]) -> tuple[str, int]:
    """Cut the output of `phrases` out of a text, in any case and wrapping; also return how often it occurred.

    Words of 4 or more characters with a digit are also cut by themselves, as whole words.
    """
    if not private:
        return text, 0
    lines, words = _repeats(tuple(private))
    text, count = lines.subn(PRIVATE, text) if lines is not None else (text, 0)
    found = sum(match[0].casefold() in words for match in re.finditer(_WORD, text))
    if found:
        text = re.sub(_WORD, lambda match: PRIVATE if match[0].casefold() in words else match[0], text)
    return text, count + found


@lru_cache(8)
def _repeats(private: tuple[str, ...]) -> tuple[re.Pattern[str] | None, frozenset[str]]:
    """Return a pattern for the lines, the longest first, and the words with a digit in them."""
    lines = sorted((line for line in private if len(line) >= _PHRASE), key=len, reverse=True)
    found = "|".join(r"\s+".join(map(re.escape, line.split())) for line in lines)
    words = frozenset(word.casefold() for line in private for word in re.findall(_WORD, line))
    return re.compile(found, re.IGNORECASE) if found else None, words


def _tags(text: str) -> Iterator[_Tag]:
    code = bytearray()
    for match in re.finditer(_TAG, text):
        found = re.fullmatch(_NAME, _plain(match[1]))
        name = found[2].replace("-", "").replace("_", "") if found else ""
        if found and name in ("private", "nomemory"):
            code = code or _covered(text, _code(text))
            yield _Tag(match.start(), match.end(), name, bool(found[1]), bool(code[match.start()]))


def _plain(text: str) -> str:
    text = "".join(sign for sign in normalize("NFKD", text) if category(sign) not in ("Cf", "Mn", "Me", "Cn"))
    return text.casefold().translate(_LETTERS)


def _pairs(tags: Iterable[_Tag]) -> tuple[list[tuple[int, int]], list[_Tag]]:
    """Match tags by depth: return the spans of pairs, and the unclosed opening tags.

    An opening tag in code is only talked about, as long as the end outside of code can belong to another.
    """
    spans: list[tuple[int, int]] = []
    code: list[_Tag] = []
    plain: list[_Tag] = []
    for tag in tags:
        if not tag.closes:
            (code if tag.in_code else plain).append(tag)
            continue
        first, second = (code, plain) if tag.in_code else (plain, code)
        opened = first or second
        if opened:
            opener = opened.pop()
            spans.append((opener.start, tag.end))
            while code and code[-1].start > opener.start:
                code.pop()
    return spans, plain + code


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _covered(text: str, spans: Iterable[tuple[int, int]]) -> bytearray:
    found = bytearray(len(text))
    for start, end in spans:
        found[start:end] = b"\1" * (end - start)
    return found


def _code(text: str) -> Iterator[tuple[int, int]]:
    """Yield fenced code and code spans of Markdown; an unclosed fence is none, so that it hides no tag."""
    at, opened = 0, None
    for match in re.finditer(_FENCE, text):
        fence = match[1]
        if opened is None:
            opened = match
        elif fence[0] == opened[1][0] and len(fence) >= len(opened[1]):
            yield from _spans(text, at, opened.start())
            yield opened.start(), match.end()
            at, opened = match.end(), None
    yield from _spans(text, at, len(text))


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield code spans between two offsets: from a run of backticks to the next of equal length in the paragraph."""
    while start < end:
        blank = re.compile(r"\n[ \t]*\n").search(text, start, end)
        stop = blank.start() if blank else end
        runs = list(re.compile("`+").finditer(text, start, stop))
        nexts: dict[int, int] = {}
        follows = [0] * len(runs)
        for at in range(len(runs) - 1, -1, -1):
            length = len(runs[at][0])
            follows[at] = nexts.get(length, 0)
            nexts[length] = at
        at = 0
        while at < len(runs):
            if follows[at]:
                yield runs[at].start(), runs[follows[at]].end()
                at = follows[at]
            at += 1
        start = blank.end() if blank else end
