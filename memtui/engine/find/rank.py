"""Ranking of hits, and what is shown of them.

Names come before descriptions before bodies, adjacent words before scattered ones, whole words before beginnings before
parts. It reads no files. It is apart so that ranking is tested on texts alone.
"""

from typing import NamedTuple

from memtui import markers, mask
from memtui.engine.frontmatter.read import describe
from memtui.engine.model import Hit, Memory, Version
from memtui.matching import INFIX, Query, Span, Term, fold

SNIPPET = 160

NAME, DESCRIPTION, BODY = range(3)
_FIELDS = ("name", "description", "body")
_STEP = 2 * (INFIX + 1)
"""Grades of one field; a name has twice as many, for matches only in its folders."""
_MASKED = 1_024
"""Characters after the match that are searched for secrets; far more than a snippet has."""
_CONSIDERED = 200
"""Matches of a body among which the displayed line is chosen."""


class Match(NamedTuple):
    """How one memory matched; the smaller `rank` is the better one."""

    rank: int
    field: str
    line: int | None
    """From 1, for `body`."""
    column: int | None
    """From 1, in characters, for `body`."""
    snippet: str
    """One line around the match, secrets masked, at most 160 characters and an ellipsis at each end; may be hostile."""
    marks: tuple[Span, ...]
    places: int


def level(field: int, grade: int) -> int:
    """Combine a field and a grade (`Term.grade`, `grade_name`) into one number; smaller is better."""
    return field * _STEP + grade


def grade_name(term: Term, folded: str) -> int | None:
    """Grade a folded path: a match in its last component is better than one in its folders."""
    found = term.grade(folded.rpartition("/")[2])
    if found is not None:
        return found
    found = term.grade(folded)
    return None if found is None else found + INFIX + 1


def rank(levels: list[int], whole: int | None) -> int:
    """Rank a hit from the best level of each term, and of all words in a row.

    The worst field that was needed counts first, then whether the words are adjacent.
    """
    worst = max(levels)
    apart = 2 * (worst - worst % _STEP) + worst % _STEP + (_STEP if len(levels) > 1 else 0)
    if whole is None:
        return apart
    return min(apart, 2 * (whole - whole % _STEP) + whole % _STEP)


def _best(term: Term, name: str, description: str, body: str) -> int | None:
    grade = grade_name(term, name)
    if grade is not None:
        return level(NAME, grade)
    for field, text in ((DESCRIPTION, description), (BODY, body)):
        grade = term.grade(text)
        if grade is not None:
            return level(field, grade)
    return None


def match(query: Query, name: str, description: str, body: str) -> Match | None:
    """Match a query against one memory; None when a term is missing, or an excluded one is there."""
    folded = body.casefold()
    texts = (fold(name), fold(description), " ".join(folded.split()) if query.phrases else folded)
    if not query.allows(*texts):
        return None
    levels = []
    for term in query.terms:
        found = _best(term, *texts)
        if found is None:
            return None
        levels.append(found)
    whole = _best(query.whole, *texts) if query.whole is not None else None
    good = rank(levels, whole)
    places = query.spans_in(body, folded)
    field = min(levels) // _STEP if whole is None or good % (2 * _STEP) >= _STEP else whole // _STEP
    if field != BODY:
        snippet, marks = _one_line(query, (name, description)[field])
        return Match(good, _FIELDS[field], None, None, snippet, marks, len(places))
    start, line, column = _line(query, body, places)
    snippet, marks = _shown(body, start, places, column)
    return Match(good, _FIELDS[field], line, column + 1, snippet, marks, len(places))


def find(query: Query, memory: Memory, text: str, version: Version | None = None) -> Hit | None:
    """Match a query against a memory, or an old version of it.

    Of an old `version` the text must hold the query, or what the memory's name leaves of it.
    """
    name, about = memory.address.path, "" if version is not None else memory.description
    found = match(query, name, about, text)
    if found is None or (version is not None and not found.places):
        return None
    hit = Hit(memory, found.field, found.line, found.snippet, found.column, found.marks, found.places, version)
    return hit if version is None or found.field == "body" else _in_body(query, hit, text)


def find_given(query: Query, memory: Memory, text: str) -> Hit | None:
    """Match a query against what an agent may see of a memory, so that no secret is found by its beginning."""
    shown = given_text(text)
    about = memory.description if shown is text else describe(shown.encode("utf-8", "replace")).description
    return find(query, memory._replace(description=mask.shown(about)), shown)


def given_text(text: str) -> str:
    """Mask secrets and cut private parts of a text, keeping its lines; returns the same object if there are none."""
    cut = markers.cut(text)
    spans = [(start, end, markers.PRIVATE) for start, end in cut.spans]
    spans += [(one.start, one.end, f"{mask.BEGIN}{one.kind}]") for one in mask.secrets(text)]
    if cut.no_memory or not spans:
        return "" if cut.no_memory else text
    pieces, at = [], 0
    for start, end, said in sorted(spans):
        if end > at:
            pieces += [text[at:start], said, "\n" * text.count("\n", max(start, at), end)]
            at = end
    return mask.shown("".join((*pieces, text[at:])))


def given_texts(*files: bytes | None) -> list[bytes | None]:
    """Prepare versions of a file for an agent to compare: each as `given_text`, without private parts of any."""
    texts = [(data or b"").decode("utf-8", "replace") for data in files]
    private = [line for text in texts for line in markers.phrases(text, markers.cut(text).spans)]
    given = (markers.cut_again(given_text(text), private)[0].encode("utf-8", "replace") for text in texts)
    return [None if data is None else text for data, text in zip(files, given, strict=True)]


def _in_body(query: Query, hit: Hit, text: str) -> Hit:
    """Return the hit shown at its text: an old version is about its text, whatever its name is."""
    places = query.spans(text)
    start, line, column = _line(query, text, places)
    snippet, marks = _shown(text, start, places, column)
    return hit._replace(field="body", line=line, column=column + 1, snippet=snippet, marks=marks)


def _line(query: Query, body: str, places: list[Span]) -> tuple[int, int, int]:
    """Return the line to show: its start, its number from 1, and the column (from 0) of its first match.

    The first one with all words adjacent, else the first one with the most of them.
    """
    best = (-1, -1)
    chosen = places[0][0]
    seen = -1
    for at, _ in places[:_CONSIDERED] if len(query.terms) > 1 else ():
        start = body.rfind("\n", 0, at) + 1
        if start == seen:
            continue
        seen = start
        end = body.find("\n", start)
        folded = fold(body[start : end if end >= 0 else len(body)][: 20 * SNIPPET])
        held = [term for term in query.terms if term.is_in(folded)]
        together = query.whole is not None and query.whole.is_in(folded)
        value = (len(held) + together, sum(len(term.forms[0]) for term in held))
        if value > best:
            best, chosen = value, at
    start = body.rfind("\n", 0, chosen) + 1
    return start, body.count("\n", 0, chosen) + 1, chosen - start


def _one_line(query: Query, text: str) -> tuple[str, tuple[Span, ...]]:
    places = query.spans(text)
    return _shown(text, 0, places, places[0][0] if places else 0)


def _shown(text: str, start: int, places: list[Span], column: int) -> tuple[str, tuple[Span, ...]]:
    """Return a masked snippet of the line that begins at `start`, and where it matches."""
    end = text.find("\n", start)
    end = end if end >= 0 else len(text)
    masked = mask.around(text, start, min(end, start + column + _MASKED))
    line = masked.text + text[start + column + _MASKED : end]
    if masked.secrets:
        places = [masked.moved(one - start, other - start) for one, other in places if start <= one < end]
        column, start = masked.moved(column, column + 1)[0], 0
    first = max(0, min(column - SNIPPET // 4, len(line) - SNIPPET))
    blank = line.rfind(" ", first, column)
    if first and blank >= 0 and column - blank > SNIPPET // 8:  # Begin with a whole word.
        first = blank + 1
    piece = line[first : first + SNIPPET]
    shown = piece.strip()
    lead = "…" if first else ""
    begin = start + first + len(piece) - len(piece.lstrip())
    marks = []
    for one, other in places:
        left, right = max(one - begin, 0), min(other - begin, len(shown))
        if left < right:
            marks.append((left + len(lead), right + len(lead)))
        elif one > begin + len(shown):
            break
    return lead + shown + ("…" if first + SNIPPET < len(line) else ""), tuple(marks)
