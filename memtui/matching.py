"""Search queries, and their matches in a text.

Plain words, `"quoted phrases"` and `-excluded` ones, in any case and either spelling of an accent. There is no pattern
engine, so no text can make it slow, and a half-typed query is valid: a sign without meaning yet is literal.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple
from unicodedata import normalize

from memtui.errors import UsageError

LIMIT = 1_000
"""The longest query, in characters."""
PLACES = 1_000
"""The number of matches searched in one text by default."""

_LIKE, _LIKE_FROM_THE_FIRST = 0.8, 0.7
"""The similarity from which a name counts as a slip for another: for any, and for those that begin alike."""
EXACT, PREFIX, INFIX = range(3)
"""How a word matches: as a whole word, at the beginning of one, inside one."""

Span = tuple[int, int]
"""Character offsets (start, end)."""


def fold(text: str) -> str:
    """Return the form in which texts are compared: case folded, with one space between words."""
    return " ".join(text.casefold().split())


def holds_all(data: bytes, words: Iterable[str]) -> bool:
    """Return whether a text may hold all of some words (NFKC, case folded) and is worth a closer look."""
    if data.isascii():
        plain = data.lower()
        return all(word.isascii() and word.encode() in plain for word in words)
    folded = normalize("NFKC", data.decode("utf-8", "replace")).casefold()
    return all(word in folded for word in words)


def slips(wrong: str, names: Iterable[str], sign: str = "") -> list[str]:
    """Return up to three names that a wrong one is probably a slip for, the nearest first.

    `sign` separates parts of a name, such as `:` in `memtui:global`: common first parts then do not count, and the last
    part may stand for the name.
    """
    from difflib import SequenceMatcher

    def likeness(name: str) -> float:
        one, two = ([wrong], [name]) if not sign else (wrong.split(sign), name.split(sign))
        while len(one) > 1 and len(two) > 1 and one[0] == two[0]:
            del one[0], two[0]
        ways = {sign.join(two), two[-1]}
        mine = sign.join(one)
        found = max((SequenceMatcher(None, mine, way).ratio(), mine[:1] == way[:1]) for way in ways)
        return found[0] if found[0] >= (_LIKE_FROM_THE_FIRST if found[1] else _LIKE) else 0

    known = {name: likeness(name) for name in names}
    return sorted(filter(known.get, known), key=lambda name: -known[name])[:3]


def meant(wrong: str, names: Iterable[str]) -> str | None:
    """Return the root a wrong name is probably a slip for; an agent alone means its folder for the project."""
    names = tuple(names)
    of_project = f"{wrong.rstrip(':')}:project"
    return of_project if of_project in names else next(iter(slips(wrong, names, ":")), None)


class Term(NamedTuple):
    """A word, or several in sequence, to search for."""

    forms: tuple[str, ...]
    """Folded, in each Unicode spelling: `é` is one character in some files and two in others."""

    @property
    def phrase(self) -> bool:
        """Whether it has several words, so that only a text from `fold` can hold it."""
        return " " in self.forms[0]

    def is_in(self, folded: str) -> bool:
        """Return whether a folded text holds it."""
        return any(form in folded for form in self.forms)

    def grade(self, folded: str) -> int | None:
        """Return the best match in a folded text: `EXACT`, `PREFIX` or `INFIX`; None without a match."""
        best: int | None = None
        for form in self.forms:
            at = folded.find(form)
            while at >= 0:
                if at and folded[at - 1].isalnum():
                    found = INFIX
                else:
                    found = PREFIX if folded[at + len(form) : at + len(form) + 1].isalnum() else EXACT
                if found == EXACT:
                    return EXACT
                best = found if best is None else min(best, found)
                at = folded.find(form, at + 1)
        return best


class Query(NamedTuple):
    """A parsed query."""

    terms: tuple[Term, ...]
    """All must occur; at least one."""
    without: tuple[Term, ...] = ()
    whole: Term | None = None
    """All words in sequence, when there are several: such a match ranks first."""

    @property
    def phrases(self) -> bool:
        """Whether any term is a phrase, which only a text from `fold` can hold."""
        return self.whole is not None or any(term.phrase for term in (*self.terms, *self.without))

    def allows(self, *folded: str) -> bool:
        """Return whether none of these texts holds an excluded term."""
        return not any(term.is_in(text) for term in self.without for text in folded)

    def spans(self, text: str, limit: int = PLACES) -> list[Span]:
        """Return every match in a text as it was written, in order, without overlaps, up to `limit` per term."""
        return self.spans_in(text, text.casefold(), limit)

    def spans_in(self, text: str, folded: str, limit: int = PLACES) -> list[Span]:
        """Like `spans`, given the case-folded text as well."""
        found: list[Span] = []
        flat: _Flat | None = None
        for term in self.terms:
            for form in term.forms:
                if " " in form:
                    flat = flat or _Flat(folded)
                    found += flat.places(form, limit)
                else:
                    found += _places(folded, form, limit)
        if len(folded) != len(text):
            back = _Unfolded(text, folded)
            found = [(back.start(start), back.end(end)) for start, end in found]
        return _merged(sorted(found))


class Literal(NamedTuple):
    """A text to find exactly as typed, including spaces."""

    text: str

    def spans(self, text: str, limit: int = PLACES) -> list[Span]:
        """Return every match, ignoring case unless it has a capital letter; see `Query.spans`."""
        if not self.text:
            return []
        if self.text != self.text.casefold() and any(letter.isupper() for letter in self.text):
            return list(_places(text, self.text, limit))
        folded = text.casefold()
        back = _Unfolded(text, folded)
        return _merged([(back.start(a), back.end(b)) for a, b in _places(folded, self.text.casefold(), limit)])


def parse(query: str) -> Query:
    """Parse a query; raises `E_QUERY` when it is empty or longer than 1,000 characters."""
    if len(query) > LIMIT:
        raise UsageError(
            f"The search text has {len(query):,} characters; {LIMIT:,} are the most.",
            code="E_QUERY",
            hint="Search for a few words.",
            details={"limit": LIMIT},
        )
    found = typed(query)
    if found is None:
        raise UsageError("The search text is empty.", code="E_QUERY", hint="Write a word to look for.")
    return found


def typed(text: str) -> Query | None:
    """Parse a query while it is being typed; None while there is nothing to search for."""
    wanted: list[str] = []
    without: list[str] = []
    for words, excluded in _cut(text[:LIMIT].casefold()):
        (without if excluded else wanted).append(words)
    if not wanted:  # Signs alone, or nothing to take away from: look for what was typed as it stands.
        wanted, without = text[:LIMIT].casefold().split(), []
    if not wanted:
        return None
    wanted = list(dict.fromkeys(wanted))
    whole = _term(" ".join(wanted)) if len(wanted) > 1 else None
    return Query(tuple(map(_term, wanted)), tuple(_term(words) for words in dict.fromkeys(without)), whole)


def _cut(text: str) -> list[tuple[str, bool]]:
    found = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        excluded = text[position] == "-" and (
            text[position + 1 : position + 2] == '"' or text[position + 1 : position + 2].isalnum()
        )
        start = position + excluded
        if text[start] == '"':
            end = text.find('"', start + 1)
            end = end if end >= 0 else len(text)
            words = " ".join(text[start + 1 : end].split())
            position = end + 1
        else:
            end = start
            while end < len(text) and not text[end].isspace():
                end += 1
            words, position = text[start:end], end
        if words and words != "-":
            found.append((words, excluded))
    return found


def _term(words: str) -> Term:
    if words.isascii():
        return Term((words,))
    from unicodedata import normalize  # Of the query only: on a long text it can be made to take quadratic time.

    return Term(tuple(dict.fromkeys((words, normalize("NFC", words), normalize("NFD", words)))))


def _places(text: str, form: str, limit: int) -> list[Span]:
    found: list[Span] = []
    at = text.find(form)
    while at >= 0 and len(found) < limit:
        found.append((at, at + len(form)))
        at = text.find(form, at + len(form))
    return found


def _merged(spans: list[Span]) -> list[Span]:
    out: list[Span] = []
    for start, end in spans:
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


class _Flat:
    """A folded text with one space between words, and the position of each word in the original."""

    def __init__(self, folded: str) -> None:
        self._folded = folded
        self._words = folded.split()
        self._text = " ".join(self._words)
        self._flat: list[int] = []
        """Where each word begins in the flat text."""
        self._real: list[int] = []
        """Where it begins in the folded one."""

    def places(self, form: str, limit: int) -> list[Span]:
        found = _places(self._text, form, limit)
        if not found:
            return found
        simple = _places(self._folded, form, limit)
        if len(simple) == len(found):  # Mostly there is one space between them: that is much quicker.
            return simple
        if not self._flat:
            self._place()
        return [(self._back(start), self._back(end - 1) + 1) for start, end in found]

    def _place(self) -> None:
        flat = real = 0
        for word in self._words:
            real = self._folded.index(word, real)
            self._flat.append(flat)
            self._real.append(real)
            flat += len(word) + 1
            real += len(word)

    def _back(self, at: int) -> int:
        word = bisect_right(self._flat, at) - 1
        return self._real[word] + at - self._flat[word]


class _Unfolded:
    """Maps positions in the folded text to the text itself; they differ for letters that grow, such as ß."""

    def __init__(self, text: str, folded: str) -> None:
        self._starts: list[int] = []
        """Where each letter that grew begins in the folded text."""
        self._grown: list[tuple[int, int]] = []
        """Its position in the text, and its length in the folded text."""
        if len(folded) == len(text):  # Folding only ever grows, so nothing grew.
            return
        sizes = {letter: len(letter.casefold()) for letter in set(text)}
        grown = sorted(at for letter, size in sizes.items() if size > 1 for at, _ in _places(text, letter, len(text)))
        shift = 0
        for at in grown:
            size = sizes[text[at]]
            self._starts.append(at + shift)
            self._grown.append((at, size))
            shift += size - 1

    def start(self, at: int) -> int:
        index = bisect_right(self._starts, at) - 1
        if index < 0:
            return at
        letter, size = self._grown[index]
        beyond = at - self._starts[index]
        return letter if beyond < size else letter + 1 + beyond - size

    def end(self, at: int) -> int:
        return self.start(at - 1) + 1
