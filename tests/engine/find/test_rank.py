"""Search: the best field is named first, whole words come before parts, and what is shown holds what was found."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.find.rank import SNIPPET, Match, match
from memtui.matching import fold, parse

LETTERS = st.text('aAbßİsSéE\u0301ﬁ \n-"日', max_size=60)


def score(query: str, *, name: str = "", description: str = "", body: str = "") -> Match | None:
    return match(parse(query), name, description, body)


def order(query: str, *memories: tuple[str, str, str]) -> list[str]:
    """Return the names of those that match, the best first."""
    found = [(hit.rank, name) for name, about, body in memories if (hit := match(parse(query), name, about, body))]
    return [name for _, name in sorted(found)]


def test_a_substring_in_any_case_matches() -> None:
    assert score("PREF", name="notes/preferences.md") is not None
    assert score("strasse", body="Die STRAẞE, die Straße") is not None
    assert score("ΣΊΣΥΦΟΣ", body="σίσυφος") is not None
    assert score("other", name="preferences.md", description="about tabs", body="text") is None


def test_every_word_must_be_somewhere() -> None:
    texts = {"name": "deploy.md", "description": "how releases go out", "body": "line one\nuse the blue button\n"}
    found = score("blue deploy", **texts)
    assert found is not None
    assert found.field == "name"
    assert found.places == 1
    assert score("blue absent", **texts) is None
    far = score("button   LINE", **texts)
    assert far is not None
    assert (far.field, far.line, far.column, far.snippet) == ("body", 2, 14, "use the blue button")


def test_a_phrase_must_stand_together_and_may_go_over_a_line_end() -> None:
    assert score('"blue button"', body="the blue\n   button") is not None
    assert score('"blue button"', body="the button is blue") is None
    assert score('"blue button"', name="blue.md", body="button") is None
    found = score('"blue button"', body="one\nthe Blue\n   button")
    assert found is not None
    assert (found.line, found.column, found.snippet) == (2, 5, "the Blue")
    assert [found.snippet[a:b] for a, b in found.marks] == ["Blue"]


def test_an_excluded_word_may_be_nowhere() -> None:
    assert score("blue -red", body="blue") is not None
    for field in ("name", "description", "body"):
        texts = {"name": "", "description": "", "body": "blue"} | {field: "blue RED"}
        assert score("blue -red", **texts) is None
    assert score('blue -"red thing"', body="blue red\nthing") is None
    assert score('blue -"red thing"', body="blue thing red") is not None


def test_names_come_before_descriptions_before_bodies() -> None:
    assert order(
        "tabs",
        ("in-body.md", "", "we use tabs tabs tabs"),
        ("in-description.md", "about tabs", ""),
        ("tabs/in-folder.md", "", ""),
        ("tabs.md", "", ""),
        ("no.md", "", ""),
    ) == ["tabs.md", "tabs/in-folder.md", "in-description.md", "in-body.md"]


def test_the_whole_query_comes_before_its_words_and_whole_words_before_beginnings_before_parts() -> None:
    assert order(
        "blue button",
        ("words.md", "", "the button is blue"),
        ("part.md", "", "the skyblue buttons"),
        ("begin.md", "", "the blue buttons"),
        ("whole.md", "", "the blue button"),
    ) == ["whole.md", "begin.md", "part.md", "words.md"]
    assert order("tab", ("c.md", "", "stab"), ("b.md", "", "tabs"), ("a.md", "", "a tab")) == ["a.md", "b.md", "c.md"]


def test_line_column_and_snippet_are_those_of_the_match() -> None:
    found = score("needle", body="one\n\n  the Needle here \r\nneedles\n")
    assert found is not None
    assert (found.field, found.line, found.column, found.snippet) == ("body", 3, 7, "the Needle here")
    assert found.marks == ((4, 10),)
    assert found.places == 2
    found = score("x", description="only x")
    assert found is not None
    assert (found.line, found.column, found.snippet, found.marks) == (None, None, "only x", ((5, 6),))


def test_the_line_with_the_most_of_the_words_is_shown() -> None:
    body = "a button\n" * 3 + "blue\nthe button that is blue\nthe blue button\n"
    found = score("blue button", body=body)
    assert found is not None
    assert found.line == 6


def test_a_long_line_is_cut_around_the_match() -> None:
    for before, after in ((0, 5000), (5000, 0), (3000, 3000), (30, 100), (2, 200)):
        found = score("needle", body="first\n" + "word " * (before // 5) + "Needle" + " tail" * (after // 5))
        assert found is not None
        assert [found.snippet[a:b] for a, b in found.marks] == ["Needle"]
        assert len(found.snippet) <= SNIPPET + 2
        assert found.snippet.startswith("…") == (before > SNIPPET)
        assert found.line == 2


def test_letters_that_grow_when_folded_do_not_move_the_snippet() -> None:
    found = score("needle", body="ß" * 1000 + "needle" + "ß" * 1000)
    assert found is not None
    assert [found.snippet[a:b] for a, b in found.marks] == ["needle"]
    assert found.column == 1001


@given(LETTERS, LETTERS, LETTERS, LETTERS)
def test_a_hit_holds_every_term_and_nothing_with_all_of_them_is_missed(
    query: str, name: str, description: str, body: str
) -> None:
    if not query.split():
        return
    asked = parse(query)
    texts = [fold(text) for text in (name, description, body)]
    expected = all(any(term.is_in(text) for text in texts) for term in asked.terms) and asked.allows(*texts)
    found = match(asked, name, description, body)
    assert (found is not None) == expected
    if found is None:
        return
    assert "\n" not in found.snippet or found.field != "body"
    assert len(found.snippet) <= SNIPPET + 2
    for start, end in found.marks:
        assert 0 <= start < end <= len(found.snippet)
    assert (found.line is None) == (found.column is None) == (found.field != "body")
    if found.line is not None and found.column is not None:
        line = body.split("\n")[found.line - 1]
        assert asked.spans(body)
        assert found.column <= len(line)
        assert any(
            start == len("\n".join(body.split("\n")[: found.line - 1])) + (found.line > 1) + found.column - 1
            for start, _ in asked.spans(body)
        )
