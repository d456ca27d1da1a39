"""Search: every query is only text, the best field is named first, and no text makes it slow."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Memory
from memtui.engine.search import LIMIT, SNIPPET, Match, find, parse
from memtui.errors import UsageError


def score(query: str, *, name: str = "", description: str = "", body: str = "") -> Match | None:
    return parse(query).score(name, description, body)


def order(query: str, *memories: tuple[str, str, str]) -> list[str]:
    """The names of those that match, the best first."""
    found = [(match.rank, name) for name, about, body in memories if (match := parse(query).score(name, about, body))]
    return [name for _, name in sorted(found)]


def test_a_substring_in_any_case_matches() -> None:
    assert score("PREF", name="notes/preferences.md") is not None
    assert score("strasse", body="Die STRAẞE, die Straße") is not None
    assert score("ΣΊΣΥΦΟΣ", body="σίσυφος") is not None
    assert score("other", name="preferences.md", description="about tabs", body="text") is None


def test_every_word_must_be_somewhere() -> None:
    texts = {"name": "deploy.md", "description": "how releases go out", "body": "line one\nuse the blue button\n"}
    match = score("blue deploy", **texts)
    assert match is not None
    assert match.field == "name"
    assert score("blue absent", **texts) is None
    far = score("button   LINE", **texts)
    assert far is not None
    assert (far.field, far.line, far.snippet) == ("body", 2, "use the blue button")


def test_names_come_before_descriptions_before_bodies() -> None:
    assert order(
        "tabs",
        ("in-body.md", "", "we use tabs tabs tabs"),
        ("in-description.md", "about tabs", ""),
        ("tabs/in-folder.md", "", ""),
        ("tabs.md", "", ""),
        ("no.md", "", ""),
    ) == ["tabs.md", "tabs/in-folder.md", "in-description.md", "in-body.md"]


def test_the_whole_query_comes_before_its_words_and_whole_words_before_parts() -> None:
    assert order(
        "blue button",
        ("words.md", "", "the button is blue"),
        ("part.md", "", "the blue buttons"),
        ("whole.md", "", "the blue button"),
        ("often.md", "", "blue button, blue button"),
    ) == ["often.md", "whole.md", "part.md", "words.md"]


def test_line_and_snippet_are_those_of_the_match() -> None:
    match = score("needle", body="one\n\n  the Needle here \r\nneedles\n")
    assert match is not None
    assert (match.field, match.line, match.snippet) == ("body", 3, "the Needle here")
    match = score("x", description="only x")
    assert match is not None
    assert (match.line, match.snippet) == (None, "only x")


def test_a_long_line_is_cut_around_the_match() -> None:
    for before, after in ((0, 5000), (5000, 0), (3000, 3000), (30, 100), (2, 200)):
        match = score("needle", body="first\n" + "word " * (before // 5) + "Needle" + " tail" * (after // 5))
        assert match is not None
        assert "Needle" in match.snippet
        assert len(match.snippet) <= SNIPPET + 2
        assert match.snippet.startswith("…") == (before > SNIPPET)
        assert match.line == 2


def test_letters_that_grow_when_folded_do_not_move_the_snippet() -> None:
    match = score("needle", body="ß" * 1000 + "needle" + "ß" * 1000)
    assert match is not None
    assert "needle" in match.snippet


def test_both_spellings_of_an_accent_match() -> None:
    for query in ("café", "cafe\u0301"):
        for body in ("Café", "CAFE\u0301"):
            assert score(query, body=body) is not None, (query, body)


@pytest.mark.parametrize(
    "query", ['"', "AND", "*", "(", "t:", "-x", "NEAR(a", "(" * 500, "%", "_", "\\", "[", "a OR", "'; --", "\x00"]
)
def test_signs_are_only_themselves(query: str) -> None:
    assert score(query, body=f"text {query} text") is not None
    assert score(query, body="") is None


@pytest.mark.parametrize("query", ["", " ", "\n\t ", "\u2003"])
def test_an_empty_query_is_refused(query: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(query)
    assert refused.value.code == "E_QUERY"


def test_a_query_over_the_limit_is_refused() -> None:
    assert parse("x" * LIMIT)
    for query in ("x" * (LIMIT + 1), "(" * 2000, "x" * 100_000):
        with pytest.raises(UsageError) as refused:
            parse(query)
        assert refused.value.code == "E_QUERY"


def test_a_hit_carries_its_memory() -> None:
    memory = Memory(Address("r", "a/prefs.md"), "global", "files", 1, 0, "0" * 64, description="about tabs")
    found = find(parse("tabs"), memory, "body")
    assert found is not None
    assert found[1].memory is memory
    assert found[1].field == "description"
    assert find(parse("nothing"), memory, "body") is None


@given(st.text(min_size=1, max_size=20), st.text(max_size=50), st.text(max_size=50))
def test_what_is_in_the_body_is_found(query: str, before: str, after: str) -> None:
    if not query.split():
        return
    body = before + " ".join(query.split()) + after
    match = score(query, body=body)
    assert match is not None
    assert match.field == "body"
    assert match.line is not None
    assert 1 <= match.line <= body.count("\n") + 1
    assert "\n" not in match.snippet


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=60), st.text(max_size=12))
def test_any_query_on_any_text_gives_an_answer(name: str, description: str, body: str, query: str) -> None:
    if not query.split():
        return
    match = parse(query).score(name, description, body)
    if match is not None:
        assert match.field in ("name", "description", "body")
        assert (match.line is None) == (match.field != "body")


HOSTILE = {
    "almost": ("a" * 30 + "!", "a"),
    "long almost": ("a" * 999 + "!", "a"),
    "alternating": ("ab" * 400 + "c", "ab"),
    "period": ("aab" * 300, "aab" * 290 + "aac"),
    "many words": (" ".join(f"{n}{n % 7}" for n in range(200)), "0123456789 "),
    "base64": ("A" * 500 + "=", "QUJD"),
    "folding": ("ss" * 400, "ßs"),
    "lines": ("needle", "\n"),
    "marks": ("e\u0301x", "e\u0301\u0327"),
    "descending marks": ("é", "\u0301\u0327"),
}


@pytest.mark.parametrize(("query", "unit"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_linear(query: str, unit: str) -> None:
    """At most 100 ms for each 256 KiB, and no more than the text's growth."""

    def took(size: int) -> float:
        body = (unit * (size // len(unit.encode()) + 1)) + query[:-1]
        times = []
        for _ in range(3):
            start = time.perf_counter()
            ready.score("name", "description", body)
            times.append(time.perf_counter() - start)
        return min(times)

    ready = parse(query)
    small, large = took(64 * 1024), took(256 * 1024)
    assert large < 0.1
    assert large < max(16 * small, 0.005)
