"""Index terms of texts and FTS5 expressions of queries, with the folding of the memory search.

It is apart because the writer and the reader of cards must agree and do not import each other.
"""

import re
from collections.abc import Iterator, Sequence

from memtui.engine.find import index
from memtui.features.observations.store import schema
from memtui.matching import Query
from memtui.safe_text import visible

_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_WORD = re.compile(r"\w{2,}")
_HUMP = re.compile(r"[a-z\d][A-Z]")
_LONGEST = 80
_RUN = re.compile(rf"[{index.UNSPACED}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def utf8(text: str) -> str:
    """Replace lone surrogates by their visible form."""
    return text if text.isascii() else _SURROGATE.sub(lambda found: visible(found[0]), text)


def index_text(text: str) -> str:
    """Return the index terms of a text: folded words, bigrams of unspaced scripts, parts of `camelCase`."""
    if not text:
        return ""
    folded = text.casefold()
    words = index.words(folded).words
    if folded == text and text.isascii():
        return " ".join(words)
    found = dict.fromkeys(words)
    if folded != text:
        mixed = [word for word in _WORD.findall(text) if len(word) <= _LONGEST and _HUMP.search(word)]
        found.update((part.casefold(), None) for word in mixed for part in _CAMEL.findall(word))
    if not text.isascii():
        found.update((run[-1], None) for run in _RUN.findall(index.plain(folded)))
    return " ".join(found)


def expressions(query: Query, *, begun: bool = False) -> list[str]:
    """Return an FTS5 expression for each term, quoted so that no word is an operator.

    With `begun` the last word also matches as a prefix, because it may still be typed.
    """
    found = []
    for number, term in enumerate(query.terms, start=1):
        forms = {tuple(index.words(form).words) for form in term.forms} - {()}
        last = begun and number == len(query.terms)
        some = [" AND ".join(_asked(words, last)) for words in sorted(forms)]
        if some:
            found.append(f"({' OR '.join(f'({one})' for one in some)})")
    return found


def _asked(words: Sequence[str], begun: bool) -> Iterator[str]:
    for number, word in enumerate(words, start=1):
        alone = len(word) == 1 and _RUN.fullmatch(word)
        unfinished = begun and number == len(words) and len(word) >= schema.PREFIX
        yield f'"{word}" *' if alone or unfinished else f'"{word}"'
