"""What is typed is always a query, every place that is found holds it, and no place that holds it is missed."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtui.errors import UsageError
from memtui.matching import EXACT, INFIX, LIMIT, PREFIX, Literal, Term, fold, meant, parse, slips, typed
from tests.growth import growth

LETTERS = st.text('aAbBßẞİiıſsSσςΣéÉe\u0301ŉﬁ \n\t-"\u2028\xa0日𝒜\u0345', max_size=40)
"""Letters that grow, shrink, combine or have several lower cases, and every sign a query knows."""


@pytest.mark.parametrize(
    ("text", "terms", "without"),
    [
        ("blue button", ["blue", "button"], []),
        ('"blue button" deploy', ["blue button", "deploy"], []),
        ('"blue   button', ["blue button"], []),
        ("blue -red", ["blue"], ["red"]),
        ('blue -"red thing"', ["blue"], ["red thing"]),
        ("blue -", ["blue"], []),
        ('blue "', ["blue"], []),
        ('blue ""', ["blue"], []),
        ("blue --json", ["blue", "--json"], []),
        ("a -> b", ["a", "->", "b"], []),
        ("don't 5\" x-y", ["don't", '5"', "x-y"], []),
        ("-draft", ["-draft"], []),
        ("-", ["-"], []),
        ('"', ['"'], []),
        ('""', ['""'], []),
        ("Straße STRASSE", ["strasse"], []),
    ],
)
def test_what_is_typed(text: str, terms: list[str], without: list[str]) -> None:
    query = typed(text)
    assert query is not None
    assert [term.forms[0] for term in query.terms] == terms
    assert [term.forms[0] for term in query.without] == without
    assert (query.whole is not None) == (len(terms) > 1)


@given(st.text(max_size=30))
@example('"')
@example("- ")
@example("\x00")
def test_half_typed_text_never_raises(text: str) -> None:
    query = typed(text)
    assert (query is None) == (not text.split())
    if query is not None:
        assert query.terms
        query.spans(text)


@pytest.mark.parametrize("query", ["", " ", "\n\t ", "\u2003"])
def test_an_empty_query_is_refused(query: str) -> None:
    assert typed(query) is None
    with pytest.raises(UsageError) as refused:
        parse(query)
    assert refused.value.code == "E_QUERY"


def test_a_query_over_the_limit_is_refused_but_may_be_typed() -> None:
    assert parse("x" * LIMIT)
    assert typed("x" * 100_000) == typed("x" * LIMIT)
    with pytest.raises(UsageError) as refused:
        parse("x" * (LIMIT + 1))
    assert refused.value.code == "E_QUERY"


def test_grades() -> None:
    term = Term(("tab",))
    assert term.grade("use a tab, please") == EXACT
    assert term.grade("tabs") == PREFIX
    assert term.grade("stab, tabs") == PREFIX
    assert term.grade("stab") == INFIX
    assert term.grade("stable tab") == EXACT
    assert term.grade("none") is None
    assert Term(("(",)).grade("a(b") == INFIX


def test_places_are_those_of_the_text_as_it_was_written() -> None:
    query = parse('tabs "blue button"')
    text = "Tabs, TABS\nthe Blue\n   button, blue-button"
    assert [text[a:b] for a, b in query.spans(text)] == ["Tabs", "TABS", "Blue\n   button"]
    assert query.spans("nothing") == []
    assert len(parse("a").spans("a" * 5_000, limit=7)) == 7


def test_letters_that_grow_keep_their_place() -> None:
    text = "Maß ﬁn İstanbul ŉx ende"
    for word, shown in (("mass", "Maß"), ("fin", "ﬁn"), ("istanbul", None), ("ende", "ende"), ("s", "ß")):
        spans = parse(word).spans(text)
        if shown is not None:
            assert text[slice(*spans[0])] == shown
    assert [text[a:b] for a, b in parse("i").spans(text)] == ["ﬁ", "İ"]


def test_overlapping_places_are_one() -> None:
    assert parse("abc bcd").spans("xabcdx") == [(1, 5)]


@given(LETTERS, LETTERS)
@example("ss", "aßb")
@example("i", "İ")
@example("é", "e\u0301")
@example('"a b"', "a\n b")
def test_every_place_holds_it_and_none_is_missed(text: str, body: str) -> None:
    query = typed(text)
    if query is None:
        return
    spans = query.spans(body)
    for start, end in spans:
        assert 0 <= start < end <= len(body)
        assert any(term.is_in(fold(body[start:end])) for term in query.terms)
    covered = list(spans)
    assert covered == sorted(covered)
    held = any(form in fold(body) for term in query.terms for form in term.forms)
    assert bool(spans) == held


@given(LETTERS, LETTERS, LETTERS)
def test_a_word_put_into_a_text_is_found_in_either_spelling(word: str, before: str, after: str) -> None:
    words = word.replace('"', "").replace("-", "").split()
    if not words:
        return
    for form in ("NFC", "NFD"):
        spelled = unicodedata.normalize(form, words[0].casefold())
        assert parse(words[0]).spans(before + spelled + after), (form, words[0])


@given(LETTERS, LETTERS, LETTERS)
def test_a_literal_text_is_found_as_it_stands(needle: str, before: str, after: str) -> None:
    found = Literal(needle).spans(before + needle + after)
    assert bool(found) == bool(needle)
    for start, end in found:
        assert needle.casefold() in (before + needle + after)[start:end].casefold()


def test_a_capital_letter_makes_a_literal_exact() -> None:
    assert len(Literal("tabs").spans("Tabs tabs TABS")) == 3
    assert Literal("Tabs").spans("Tabs tabs TABS") == [(0, 4)]


HOSTILE = {
    "almost": ("a" * 30 + "!", "a"),
    "long almost": ("a" * 999 + "!", "a"),
    "alternating": ("ab" * 400 + "c", "ab"),
    "period": ("aab" * 300, "aab" * 290 + "aac"),
    "many words": (" ".join(f"{n}{n % 7}" for n in range(200)), "0123456789 "),
    "a phrase of one letter": ('"' + "a " * 400 + 'b"', "a "),
    "folding": ("ss" * 400, "ßs"),
    "spaces": ('"a b"', "a" + " " * 300),
    "lines": ("needle", "\n"),
    "marks": ("e\u0301x", "e\u0301\u0327"),
}


@pytest.mark.parametrize(("query", "unit"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_linear(query: str, unit: str) -> None:
    ready = parse(query)

    def look(size: int) -> None:
        body = (unit * (size // len(unit.encode()) + 1)) + query[:-1]
        ready.spans(body)
        Literal(query).spans(body)

    assert growth(look, 64 * 1024, 512 * 1024) < 24


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("memtui:projekt", "memtui:project"),
        ("memtu:global", "memtui:global"),
        ("project", "memtui:project"),
        ("node", None),
        ("memtui:nope", None),
        ("nots", "notes"),
        ("memtui", "memtui:project"),
        ("memtui:", "memtui:project"),
        ("", None),
    ],
)
def test_a_slip_in_a_name_is_recognised_by_what_differs(wrong: str, near: str | None) -> None:
    assert meant(wrong, ["memtui:global", "memtui:project", "memtui:workspace", "notes"]) == near
    assert meant(wrong, []) is None


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("serch", ["search"]), ("lst", ["ls"]), ("opne", ["open"]), ("colour", []), ("recover", []), ("", []),
        ("retain", []), ("versions", ["retention.versions"]), ("retention.version", ["retention.versions"]),
    ],
)  # fmt: skip
def test_only_near_words_are_offered(wrong: str, near: list[str]) -> None:
    """Half of a word in common is a word of its own, not a slip."""
    assert slips(wrong, ["open", "ls", "search", "recall", "theme", "roots", "retention.versions"], ".") == near
