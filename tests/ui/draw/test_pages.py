"""Texts as lines: numbered, folded, marked, and safe whatever is in them; diffs with signs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtui.matching import Literal, parse
from memtui.safe_text import cell_width
from memtui.ui.draw.difference import DiffStyle, compare, difference
from memtui.ui.draw.pages import (
    LINE_CHARACTERS,
    MATCH,
    SHOWN_BYTES,
    Page,
    PageLine,
    by_line,
    fields_page,
    fitted,
    fold,
    marked,
    revealed,
    text_page,
)
from tests.test_mask import GITHUB, KEY

WIDTH = 40


def lines(page: Page) -> list[str]:
    return ["".join(text for text, _ in line.runs).rstrip() for line in page]


def test_numbers_and_marks() -> None:
    page = text_page(b"one\ntwo\nthree\n", WIDTH, changed={2})
    assert lines(page) == ["   1  one", "A  2  two", "   3  three"]
    assert [line.source for line in page] == [1, 2, 3]


def test_an_empty_memory_says_so() -> None:
    assert lines(text_page(b"", WIDTH)) == [" (empty)"]
    assert lines(text_page(b"\xef\xbb\xbf", WIDTH)) == [" (empty)"]


def test_line_ends_and_a_byte_order_mark_are_not_shown() -> None:
    assert lines(text_page(b"\xef\xbb\xbfone\r\ntwo", WIDTH)) == ["   1  one", "   2  two"]


def test_long_lines_are_folded_at_spaces() -> None:
    page = text_page(b"The March outage came from nested retries: four layers\n", WIDTH)
    assert lines(page) == ["   1  The March outage came from nested", "      retries: four layers"]


def test_a_very_long_line_is_cut_and_says_by_how_much() -> None:
    page = text_page(b"x" * (LINE_CHARACTERS + 1_000), WIDTH)
    assert "1,000 more characters" in "".join(lines(page[-2:]))
    assert len(page) < 150


def test_what_cannot_be_shown_says_why() -> None:
    assert "Not UTF-8: byte 1" in lines(text_page(b"a\xff", WIDTH))[0]
    assert "Too large" in lines(text_page(b"x" * (SHOWN_BYTES + 1), WIDTH))[0]


def test_headings_front_matter_and_fences_look_different() -> None:
    page = text_page(b"---\na: b\n---\n# Title\n```\n# no title\n```\ntext\n", WIDTH)
    assert [line.runs[2][1] for line in page] == ["dim", "dim", "dim", "heading", "dim", "name", "dim", "name"]


@given(st.binary(max_size=400), st.integers(10, 60), st.booleans())
def test_nothing_hostile_reaches_the_screen(data: bytes, width: int, plain: bool) -> None:
    for page in (text_page(data, width, plain=plain), difference(data, data[::-1], DiffStyle(width, plain=plain))):
        for line in page:
            for text, _ in line.runs:
                assert not any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for letter in text)


@given(st.text(max_size=300), st.integers(8, 50))
def test_folding_keeps_every_word_and_the_width(text: str, width: int) -> None:
    from memtui.safe_text import visible

    safe = visible(text)
    parts = fold(safe, width)
    assert "".join(parts).replace(" ", "") == safe.replace(" ", "")
    assert all(cell_width(part) <= width for part in parts if part.isascii())


def test_a_difference_has_signs_numbers_and_context() -> None:
    before = b"".join(b"line %d\n" % number for number in range(1, 10))
    page = difference(before, before.replace(b"line 5\n", b"line five\n"), DiffStyle(WIDTH))
    assert lines(page)[2:] == [
        "   2   line 2",
        "   3   line 3",
        "   4   line 4",
        "   5 - line {5}",
        "   5 + line {five}",
        "   6   line 6",
        "   7   line 7",
        "   8   line 8",
    ]


def test_differences_of_nothing_of_newness_and_of_the_end() -> None:
    assert lines(difference(b"a", b"a", DiffStyle(WIDTH))) == [" No difference."]
    assert lines(difference(None, b"a\n", DiffStyle(WIDTH)))[2:] == ["   1 + a"]
    assert lines(difference(b"a\n", None, DiffStyle(WIDTH)))[2:] == ["   1 - a"]
    assert lines(difference(b"a\n", b"a", DiffStyle(WIDTH)))[-1] == "   1 + a  (no line end)"
    assert lines(difference(b"a\n", b"\xff", DiffStyle(WIDTH))) == [" Now: not UTF-8 at byte 0, 1 bytes."]


def test_fields_are_aligned_and_folded() -> None:
    page = fields_page([("path", "a.md"), ("Problems", ""), ("code", "word " * 12)], WIDTH)
    assert lines(page)[:3] == ["path       a.md", "Problems", "code       " + "word " * 5 + "word"]
    assert lines(page)[3].startswith(" " * 11)


SECRET = f"# Keys\n{KEY}\nfirst\ntoken {GITHUB} and deploy\n{'x' * 3990} {GITHUB}\n"


def test_secrets_are_masked_whole_before_anything_is_cut_and_revealed_line_by_line() -> None:
    values = [GITHUB[:12], *KEY.split("\n")[1:3]]
    later = SECRET.replace("first", "second")
    pages = [
        text_page(SECRET.encode(), WIDTH, places={7: [(0, 5), (6, 46), (51, 57)]}),
        difference(SECRET.encode(), None, DiffStyle(WIDTH)),
        compare(b"", SECRET.encode(), DiffStyle(WIDTH))[1],
        compare(f"{KEY}\nx\ny\nz".encode(), KEY.encode(), DiffStyle(WIDTH))[1],
        compare(b"first\n", SECRET.encode(), DiffStyle(WIDTH, words=True))[1],
        compare(SECRET.encode(), later.encode(), DiffStyle(WIDTH))[1],
    ]
    for page in pages:
        text = "\n".join(lines(page))
        assert not [value for value in values if value in text.replace("\n", "")]
        bare = "".join(text.strip() for line in revealed(page)[0] for text, _ in line.runs[-1:])
        assert [line.bare for line in page if line.bare is not None]
        assert KEY.split("\n")[2] in bare
        assert {line.source for line in revealed(page)[0]} >= {line.source for line in page}
    marks = [text for line in pages[0] for text, style in line.runs if style == "match"]
    assert "".join(marks) == "token[masked: GitHub token]deploy"
    assert "".join(lines(revealed(text_page(SECRET.encode(), WIDTH))[0])).count(GITHUB[:9]) == 2


def test_the_places_of_a_page_are_found_in_it_without_masks() -> None:
    page = text_page(f"{GITHUB + 'c3D4' * 40}\nplace\n".encode(), WIDTH)
    bare, (start,) = revealed(page, [len(page) - 1])
    assert "place" in lines(bare)[start]
    assert start > len(page) - 1


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
