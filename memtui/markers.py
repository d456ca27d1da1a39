"""What a person marks as not to be kept: `<private>…</private>`, and `<no-memory>`; one reading for every door.

It fails closed: a tag that is never closed hides all that follows, and tags count in any case, with attributes, with
look-alike letters and with characters nobody sees. It takes time in proportion to the text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, normalize

PRIVATE = "[private]"
"""What stands where something was cut out."""


class Cut(NamedTuple):
    """A text without what its writer marked."""

    text: str
    """Empty when nothing of it may be kept."""
    spans: tuple[tuple[int, int], ...]
    """What was cut, tags included: offsets in the text as it was given, in order, none over another."""
    no_memory: bool = False
    """Whether nothing of the whole turn, or entry, may be kept."""
    open: int | None = None
    """Where the first `<private>` begins that hides all behind it, because it has no end."""


class _Tag(NamedTuple):
    """One tag of ours."""

    start: int
    end: int
    name: str
    closes: bool
    in_code: bool


OPENERS = "<＜﹤‹〈⟨\u2329\u3008《≺˂"
"""Signs that a reader takes for `<`."""
_MORE = ">＞﹥›〉⟩\u232a\u3009》≻˃"
_TAG = rf"(?<!\\)[{OPENERS}]([^{OPENERS}{_MORE}]{{1,240}}+)[{_MORE}]"
_NAME = r"(?s)\s*(/?)\s*([a-z0-9_-]+)\s*(?:/\s*)?(?:\s.*)?"
_LETTERS = str.maketrans("рԁіѵаеоптмуρινατεομ0１1", "pdivaeontmypivateom" + "oii")
"""Letters of other alphabets, and digits, that look like those of the two names."""
_FENCE = r"(?m)^ {0,3}(`{3,}|~{3,})"
_WORD = "(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])[A-Za-z0-9]{4,}(?![A-Za-z0-9])"
"""A word that is likely a number or a password."""
_PHRASE = 6
"""Characters of a private line from which on it is also cut where it is said again."""
_QUOTED = "(?m)^ {0,3}>.*+"


def cut(text: str) -> Cut:
    """Take out of a message, an entry or a note what its writer marked.

    Args:
        text: the whole of it: a tag without end hides what follows, and its end is sought in all of it.
    """
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
    """The lines in spans that were cut from a text, which are not to be kept where they are said again.

    Lines of less than 6 characters are left out unless a word of 4 and more in them has a digit.
    """
    lines = (line.strip() for start, end in spans for line in re.sub("<[^<>]*>", "\n", text[start:end]).splitlines())
    return [line for line in lines if len(line) >= _PHRASE or re.search(_WORD, line)]


def cut_again(text: str, private: Sequence[str]) -> tuple[str, int]:
    """Take out of a text what `phrases` gave, in any case and wrapped in any way; also says how often it was there.

    Words of 4 characters and more with a digit in it are taken out by themselves, too, as whole words.
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
    """What finds lines again, the longest first, and the words with a digit in them."""
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
    """The letters a reader sees in a short text, in lower case."""
    text = "".join(sign for sign in normalize("NFKD", text) if category(sign) not in ("Cf", "Mn", "Me", "Cn"))
    return text.casefold().translate(_LETTERS)


def _pairs(tags: Iterable[_Tag]) -> tuple[list[tuple[int, int]], list[_Tag]]:
    """Match tags by depth.

    Returns:
        From the start of each pair to its end; and the opening tags without an end. An opening tag in code is one that
        is talked about, as long as the end outside of code can belong to another.
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
    """Find fenced code and code spans as Markdown has them; a fence without end is none, so that it hides no tag."""
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
    """Find code spans between two offsets: from a run of backticks to the next of its length in the same paragraph."""
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
