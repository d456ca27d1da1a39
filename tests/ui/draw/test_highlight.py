"""Marks stand on the characters they mean, whatever is hidden before them, and the first one is always seen."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.matching import Literal, parse
from memtui.safe_text import cell_width
from memtui.ui.draw.pages import MATCH, PageLine, by_line, fitted, marked, text_page

TEXT = st.text("ab日\u200b\x1b\t \n", max_size=60)


def held(runs: list[tuple[str, str]]) -> list[str]:
    return [text for text, style in runs if style == MATCH]


@given(TEXT)
def test_marked_pieces_are_the_text_and_the_places(text: str) -> None:
    spans = Literal("ab").spans(text)
    runs = marked(text, "name", spans)
    assert "".join(piece for piece, _ in runs) == text
    assert held(runs) == ["ab"] * len(spans)


def test_what_was_looked_for_is_seen_however_far_it_is() -> None:
    line = "word " * 40 + "needle" + " tail" * 40
    for room in (12, 30, 60):
        runs = fitted(marked(line, "name", Literal("needle").spans(line)), room)
        assert held(runs) == ["needle"]
        assert sum(cell_width(text) for text, _ in runs) <= room
        assert runs[0][0].startswith("…")
    assert fitted([("short", "name")], 20) == [("short", "name")]
    assert fitted([("a longer text", "name")], 8, plain=True) == [("a lon...", "name")]


@given(TEXT.map(lambda text: text.replace("\n", " ")), st.integers(4, 40), st.booleans())
def test_it_always_fits(text: str, room: int, plain: bool) -> None:
    runs = fitted(marked(text, "name", Literal("b").spans(text)), room, plain=plain)
    assert sum(cell_width(piece) for piece, _ in runs) <= room
    assert all(piece.isprintable() or "\u200d" in piece for piece, _ in runs)


def test_places_by_line() -> None:
    text = "one blue\nbutton\n\nblue button\n"
    assert by_line(text, parse('"blue button"').spans(text)) == {1: [(4, 8)], 2: [(0, 6)], 4: [(0, 11)]}
    assert by_line("", []) == {}


def held_in(page: tuple[PageLine, ...]) -> list[str]:
    return [piece for line in page for piece in held(list(line.runs))]


def test_a_page_marks_places_also_where_it_is_folded_or_hides_characters() -> None:
    text = "\tthe\u200b blue needle " + "word " * 20 + "needle\n"
    places = by_line(text, Literal("needle").spans(text))
    page = text_page(text.encode(), 40, places=places)
    assert held_in(page) == ["needle", "needle"]
    cut = "x" * 30 + "needle" + "y" * 30
    page = text_page(cut.encode(), 40, places=by_line(cut, Literal("needle").spans(cut)))
    assert "".join(held_in(page)) == "needle"


@given(st.text("ab 日\u200b\t", max_size=120), st.integers(12, 50))
def test_a_page_with_marks_shows_what_it_shows_without(text: str, width: int) -> None:
    places = by_line(text, Literal("ab").spans(text))
    plain, with_marks = text_page(text.encode(), width), text_page(text.encode(), width, places=places)
    shown = ["".join(piece for piece, _ in line.runs) for line in plain]
    assert ["".join(piece for piece, _ in line.runs) for line in with_marks] == shown
    assert "".join(held_in(with_marks)) == "ab" * len(Literal("ab").spans(text))
