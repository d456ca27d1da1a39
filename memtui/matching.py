"""What somebody typed to look for, and every place where a text holds it.

Plain words, `"quoted phrases"` and `-excluded` ones, in any case and either spelling of an accent. There is no pattern
engine, so no text can make it slow, and a half-typed query is a query: a sign that means nothing yet is only itself.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple
from unicodedata import normalize

from memtui.errors import UsageError

LIMIT = 1_000
"""The longest query, in characters."""
PLACES = 1_000
"""So many places of one text are looked for, unless more are asked for."""

_LIKE, _LIKE_FROM_THE_FIRST = 0.8, 0.7
"""How much of two names must be the same for one to be a slip for the other: of any, of those that begin alike."""
EXACT, PREFIX, INFIX = range(3)
"""How a word is held: as a whole word, at the beginning of one, inside one."""

Span = tuple[int, int]
"""From the first character up to the one after the last."""


def fold(text: str) -> str:
    """The form in which texts are compared: case folded, with one space between words, wherever lines end."""
    return " ".join(text.casefold().split())


def holds_all(data: bytes, words: Iterable[str]) -> bool:
    """Whether a text may hold all of some words (NFKC, case folded), so that it is worth a closer look."""
    if data.isascii():
        plain = data.lower()
        return all(word.isascii() and word.encode() in plain for word in words)
    folded = normalize("NFKC", data.decode("utf-8", "replace")).casefold()
    return all(word in folded for word in words)


def slips(wrong: str, names: Iterable[str], sign: str = "") -> list[str]:
    """The names that a wrong one is probably a slip for, at most three, the nearest first; none that is only alike.

    Args:
        wrong: what was written.
        names: those there are.
        sign: what divides them into parts, such as `:` in `memtui:global`. The parts that both begin with then say
            nothing, and a name's last part stands for the name.
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
    """The root that a wrong name is probably a slip for; an agent alone means the folder it has for the project."""
    names = tuple(names)
    of_project = f"{wrong.rstrip(':')}:project"
    return of_project if of_project in names else next(iter(slips(wrong, names, ":")), None)


class Term(NamedTuple):
    """One thing to look for: a word, or several one after the other."""

    forms: tuple[str, ...]
    """Folded, in each way Unicode can spell it: `é` is one character in some files and two in others."""

    @property
    def phrase(self) -> bool:
        """Whether it has several words, so that only a text from `fold` can hold it."""
        return " " in self.forms[0]

    def is_in(self, folded: str) -> bool:
        """Whether a folded text holds it."""
        return any(form in folded for form in self.forms)

    def grade(self, folded: str) -> int | None:
        """How a folded text holds it: the best of `EXACT`, `PREFIX` and `INFIX`; None when it does not."""
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
    """What is looked for."""

    terms: tuple[Term, ...]
    """All of them must be there; at least one."""
    without: tuple[Term, ...] = ()
    """None of them may be there."""
    whole: Term | None = None
    """All words one after the other, when there are several: where they stand together is found first."""

    @property
    def phrases(self) -> bool:
        """Whether anything in it is only held by a text from `fold`."""
        return self.whole is not None or any(term.phrase for term in (*self.terms, *self.without))

    def allows(self, *folded: str) -> bool:
        """Whether none of these texts holds what must not be there."""
        return not any(term.is_in(text) for term in self.without for text in folded)

    def spans(self, text: str, limit: int = PLACES) -> list[Span]:
        """Every place where a text, as it was written, holds one of the terms; in order, without overlaps.

        Args:
            text: the original.
            limit: look for so many of each term at most.
        """
        return self.spans_in(text, text.casefold(), limit)

    def spans_in(self, text: str, folded: str, limit: int = PLACES) -> list[Span]:
        """The same, for a caller who has the case-folded text already."""
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
    """A text to find exactly as it is typed, spaces and all."""

    text: str

    def spans(self, text: str, limit: int = PLACES) -> list[Span]:
        """Every place of it, in any case unless it has a capital letter; see `Query.spans`."""
        if not self.text:
            return []
        if self.text != self.text.casefold() and any(letter.isupper() for letter in self.text):
            return list(_places(text, self.text, limit))
        folded = text.casefold()
        back = _Unfolded(text, folded)
        return _merged([(back.start(a), back.end(b)) for a, b in _places(folded, self.text.casefold(), limit)])


def parse(query: str) -> Query:
    """Make a query ready.

    Raises:
        UsageError: `E_QUERY`, when it is empty or longer than 1,000 characters.
    """
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
    """Make ready what somebody is typing; None as long as there is nothing to look for."""
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
    """Words and quoted phrases, and whether each is excluded."""
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
    """Join spans that overlap; they come in order."""
    out: list[Span] = []
    for start, end in spans:
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


class _Flat:
    """A folded text with one space between words, and where each word stands in the text."""

    def __init__(self, folded: str) -> None:
        self._folded = folded
        self._words = folded.split()
        self._text = " ".join(self._words)
        self._flat: list[int] = []
        """Where each word begins in the flat text."""
        self._real: list[int] = []
        """Where it begins in the folded one."""

    def places(self, form: str, limit: int) -> list[Span]:
        """Where the folded text holds a form, whatever is between its words."""
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
    """Where a place of the folded text is in the text itself; they differ for letters that grow, such as ß."""

    def __init__(self, text: str, folded: str) -> None:
        self._starts: list[int] = []
        """Where each letter that grew begins in the folded text."""
        self._grown: list[tuple[int, int]] = []
        """Where it is in the text, and how many letters it has become."""
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
        """The letter that a place of the folded text belongs to."""
        index = bisect_right(self._starts, at) - 1
        if index < 0:
            return at
        letter, size = self._grown[index]
        beyond = at - self._starts[index]
        return letter if beyond < size else letter + 1 + beyond - size

    def end(self, at: int) -> int:
        """Behind the letter that the last one before a place belongs to."""
        return self.start(at - 1) + 1
