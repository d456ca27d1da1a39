"""Plain search: the query as a substring, else every one of its words, in names, descriptions and bodies.

There is no query language, so nothing anybody types can be an error of syntax, and no pattern engine, so no text can
make it slow: every step is one linear pass. It reads no files; whoever asks hands it the texts.
"""

from memtui.engine.model import Hit, Memory
from memtui.errors import UsageError
from memtui.values import NamedTuple

LIMIT = 1_000
"""The longest query, in characters."""
SNIPPET = 160
"""The longest snippet, in characters."""

_FIELDS = ("name", "description", "body")
_COUNTED = 100


class Match(NamedTuple):
    """How one memory matched; of two matches the smaller `rank` is the better one."""

    rank: tuple[int, int, int, int]
    """The field that had to be read to find all of it; the whole query before its words; whole words before parts, and
    the file's name before its folders; how often."""
    field: str
    """The best field that matched: `name`, `description` or `body`."""
    line: int | None
    """From 1, for `body`."""
    snippet: str
    """One line around the match, at most 160 characters and an ellipsis at each end; may hold hostile text."""


class _Place(NamedTuple):
    rank: tuple[int, int, int, int]
    field: int
    at: int
    length: int


Forms = tuple[str, ...]
"""One text to look for, in each way Unicode can spell it: `é` is one character in some files and two in others."""


class Query(NamedTuple):
    """A query, made ready once for many memories."""

    phrase: Forms
    words: tuple[Forms, ...]

    def score(self, name: str, description: str, body: str) -> Match | None:
        """Look for the query in one memory.

        Args:
            name: its path.
            description: one line.
            body: the text of which lines are counted; the whole file, or what is below its front matter.

        Returns:
            How it matched; None when some word is in none of the three.
        """
        originals = (name, description, body)
        texts = (name.casefold(), description.casefold(), body.casefold())
        place = self._together(texts) or self._apart(texts)
        if place is None:
            return None
        line, snippet = _snippet(originals[place.field], texts[place.field], place)
        return Match(place.rank, _FIELDS[place.field], line if place.field == 2 else None, snippet)

    def _together(self, texts: tuple[str, ...]) -> _Place | None:
        """Look for the whole query as one substring."""
        for field, text in enumerate(texts):
            at, form = _find(text, self.phrase, last=field == 0)
            if at >= 0:
                loose = int(not _is_whole(text, at, len(form))) + 2 * (field == 0 and "/" in text[at:])
                return _Place((field, 0, loose, -min(text.count(form), _COUNTED)), field, at, len(form))
        return None

    def _apart(self, texts: tuple[str, ...]) -> _Place | None:
        """Look for every word, wherever each is."""
        if len(self.words) < 2:
            return None
        places: list[tuple[int, int, int]] = []
        for forms in self.words:
            for field, text in enumerate(texts):
                at, form = _find(text, forms)
                if at >= 0:
                    places.append((field, -len(form), at))
                    break
            else:
                return None
        best, length, at = min(places)
        together = sum(field == best for field, _, _ in places)
        return _Place((max(places)[0], 1, best, -together), best, at, -length)


def parse(query: str) -> Query:
    """Make a query ready.

    Args:
        query: what the user typed; every character is only itself.

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
    words = query.casefold().split()
    if not words:
        raise UsageError("The search text is empty.", code="E_QUERY", hint="Write a word to look for.")
    return Query(_forms(" ".join(words)), tuple(_forms(word) for word in dict.fromkeys(words)))


def find(query: Query, memory: Memory, text: str) -> tuple[tuple[int, int, int, int], Hit] | None:
    """Look for a query in a memory.

    Args:
        query: from `parse`.
        memory: its row.
        text: all of its text; empty when it has none that can be read.

    Returns:
        The rank (smaller is better) and the hit; None when it does not match.
    """
    match = query.score(memory.address.path, memory.description, text)
    return match and (match.rank, Hit(memory, match.field, match.line, match.snippet))


def _forms(text: str) -> Forms:
    if text.isascii():
        return (text,)
    from unicodedata import normalize  # Of the query only: on a long text it can be made to take quadratic time.

    return tuple(dict.fromkeys((text, normalize("NFC", text), normalize("NFD", text))))


def _find(text: str, forms: Forms, *, last: bool = False) -> tuple[int, str]:
    for form in forms:
        at = text.rfind(form) if last else text.find(form)
        if at >= 0:
            return at, form
    return -1, ""


def _is_whole(text: str, at: int, length: int) -> bool:
    """Whether a match begins and ends where words do."""
    before, after = text[at - 1 : at] if at else "", text[at + length : at + length + 1]
    return not (before.isalnum() or after.isalnum())


def _snippet(original: str, folded: str, place: _Place) -> tuple[int, str]:
    """The line of the match, from 1, and what to show of it; folding never changes how many lines there are."""
    number = folded.count("\n", 0, place.at)
    column = place.at - (folded.rfind("\n", 0, place.at) + 1)
    start = 0
    for _ in range(number):
        start = original.index("\n", start) + 1
    end = original.find("\n", start)
    line = original[start : end if end >= 0 else len(original)]
    column = _unfolded(line, column)
    first = max(0, min(column - SNIPPET // 4, len(line) - SNIPPET))
    blank = line.rfind(" ", first, column)
    if first and blank >= 0:  # Begin with a whole word.
        first = blank + 1 if column - blank > SNIPPET // 8 else first
    shown = line[first : first + SNIPPET].strip()
    return number + 1, ("…" if first else "") + shown + ("…" if first + SNIPPET < len(line) else "")


def _unfolded(line: str, column: int) -> int:
    """Where a column of the folded line is in the line itself; they differ for letters such as ß."""
    if line.isascii():
        return column
    length = 0
    for index, character in enumerate(line):
        if length >= column:
            return index
        length += len(character.casefold())
    return len(line)
