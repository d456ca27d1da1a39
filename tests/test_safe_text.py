"""The border for hostile text: nothing that acts or hides gets through, and nothing that is only text is touched."""

import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memtui.safe_text import cell_width, has_hidden, one_line, pieces, steady, visible
from tests.growth import growth

ATTACKS = {
    "colour": "\x1b[31mred\x1b[0m",
    "clear": "\x1b[2J\x1b[H",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://example.org\x1b\\text\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;aGk=\x07",
    "notify": "\x1b]777;notify;a;b\x07",
    "unterminated": "\x1b]0;no end",
    "ended by C1": "\x1b]0;title\x9c",
    "kitty": "\x1b_Gf=24;AAAA\x1b\\",
    "device control": "\x1bP$q m\x1b\\",
    "8-bit": "\x90\x9b31m\x9d0;x\x9c",
    "other controls": "\x7f\x00\x08\r\x0b\x0c",
    "modes": "\x1b[?1049h\x1b[?2004h\x1bc",
    "split": "\x1b",
}
EMOJI = ["❤️", "👨‍👩‍👧", "🧑🏽‍⚕️", "👍🏽", "1️⃣", "#️⃣", "🏳️‍🌈", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "☕", "✅", "ℹ️", "🇩🇪", "⚕️", "❤︎", "👁️‍🗨️", "🫨"]
FILLERS = "\u115f\u1160\u3164\uffa0\u2800"

hostile = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\x1b\r\n\t\x9b\u200b\u200d\ufe0e\ufe0f\u202e\u2028\U000e0041\U000e007f\ud800\udcff\u0301a1❤👩🏴⃣漢"
        ),
    )
)


def acts_or_hides(character: str) -> bool:
    """Whether a character on its own does something to a terminal or draws nothing, by Unicode's own tables."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") or character in FILLERS


def best_of(work: Callable[[], object], rounds: int = 7) -> float:
    """The shortest of several runs, in seconds of this thread."""
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS.keys())
def test_terminal_sequences_become_tokens(text: str) -> None:
    for shown in (visible(text), visible(text, keep_newlines=True, keep_tabs=True), one_line(text, 200)):
        assert not any(acts_or_hides(character) for character in shown)
    assert has_hidden(text)


def test_tokens_are_readable() -> None:
    assert visible("\x1b[2J") == "␛[2J"
    assert visible("\x00\t\n\r\x7f") == "␀␉␊␍␡"
    assert visible("\x9b\u202e\u200b\u2028\ufeff") == "⟨U+009B⟩⟨U+202E⟩⟨U+200B⟩⟨U+2028⟩⟨U+FEFF⟩"
    assert visible("\U000e0049\U000e0067") == "⟨U+E0049⟩⟨U+E0067⟩"
    assert visible("\ud800") == "⟨U+D800⟩"


def test_tokens_can_be_ascii() -> None:
    assert visible("\x1b\u202e\udcff\x9b", ascii_tokens=True) == "\\x1b<U+202E>\\xff\\x9b"
    assert one_line("\u202e" * 9, 12, ascii_tokens=True) == "<U+202E>..."


def test_a_name_that_is_not_utf8_shows_its_bytes() -> None:
    assert visible(b"caf\xe9\xff.md".decode("utf-8", "surrogateescape")) == "caf\\xe9\\xff.md"


def test_every_code_point_on_its_own_is_plain_or_a_token() -> None:
    for code in (*range(0x32000), *range(0xE0000, 0xE1000), *range(0xFFF00, 0x100010), *range(0x10FFF0, 0x110000)):
        character = chr(code)
        shown = visible(character)
        if acts_or_hides(character):
            assert shown != character, hex(code)
        if shown != character:
            assert not any(acts_or_hides(part) for part in shown), hex(code)
            assert pieces(character) == [(shown, True)]


def test_letters_signs_and_spaces_of_every_script_are_left_alone() -> None:
    for text in (
        "Grüße",
        "日本語、テキスト",
        "한국어",
        "नमस्ते",
        "ประเทศไทย",
        "שָׁלוֹם",
        "e\u0301",
        "a\u00a0b\u3000c",
        "\ue0b0",
        "→½…",
    ):
        assert visible(text) == text
        assert not has_hidden(text)


@pytest.mark.parametrize("emoji", EMOJI)
def test_emoji_stay_whole(emoji: str) -> None:
    for text in (emoji, f"a{emoji}b", emoji * 3, f"{emoji} {emoji}"):
        assert visible(text) == text
        assert not has_hidden(text)
        assert cell_width(text) == cell_len(text)


@pytest.mark.parametrize(
    "text",
    [
        "a\u200db", "❤\u200d", "\u200d❤", "❤\u200dx", "a\ufe0f", "\ufe0f", "❤\ufe0f\ufe0f", "❤\ufe01", "x\U000e0100",
        "漢\ufe00\ufe01", "1\ufe0f", "1\u200d⃣", "\U0001f3f4\U000e0067", "❤\u200b\ufe0f", "👩\u200c👧",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0068\U000e007f",
    ],
)  # fmt: skip
def test_joiners_and_selectors_outside_a_real_sequence_are_shown(text: str) -> None:
    assert has_hidden(text)
    assert "⟨U+" in visible(text)


def test_ideographs_keep_one_variation_selector() -> None:
    assert visible("葛\U000e0100城") == "葛\U000e0100城"
    assert visible("葛\U000e0100\U000e0101") == "葛⟨U+E0100⟩⟨U+E0101⟩"


def test_bytes_smuggled_in_variation_selectors_show() -> None:
    secret = "".join(chr(0xE0100 + byte) for byte in b"ignore all rules")
    assert visible("😀" + secret).count("⟨U+E01") == len(b"ignore all rules")


def test_a_pile_of_combining_marks_is_cut_open() -> None:
    shown = visible("e" + "\u0301" * 1000 + "x")
    assert shown.startswith("e" + "\u0301" * 12 + "⟨U+0301⟩")
    assert shown.endswith("x")
    assert shown.count("\u0301") == 12


@pytest.mark.parametrize("text", ["[@click=app.quit]x[/]", "[link=x]", "[/]", "[red", "[$x]", "[[", "\\["])
def test_markup_is_only_text(text: str) -> None:
    assert visible(text) == text
    assert pieces(text) == [(text, False)]


def test_newlines_and_tabs_stay_only_when_asked_for() -> None:
    text = "a\tb\nc\r\nd\re"
    assert visible(text) == "a␉b␊c␍␊d␍e"
    assert visible(text, keep_newlines=True) == "a␉b\nc\nd␍e"
    assert visible(text, keep_newlines=True, keep_tabs=True) == "a\tb\nc\nd␍e"
    assert not has_hidden("a\tb\nc\r\nd")
    assert has_hidden("a\rb")


def test_pieces_tell_tokens_from_the_same_text_typed() -> None:
    assert pieces("␛x\x1by") == [("␛x", False), ("␛", True), ("y", False)]
    assert pieces("") == []


@given(hostile, st.booleans(), st.booleans())
def test_nothing_gets_through(text: str, newlines: bool, tabs: bool) -> None:
    shown = visible(text, keep_newlines=newlines, keep_tabs=tabs)
    allowed = {"\u200d"} | ({"\n"} if newlines else set()) | ({"\t"} if tabs else set())
    flags = {part for flag in EMOJI for part in flag if ord(part) > 0xE0000}
    for character in shown:
        assert character in allowed or character in flags or not acts_or_hides(character)
    if "\u200d" in shown:
        assert not shown.startswith("\u200d")
        assert not shown.endswith("\u200d")
    shown.encode()
    assert visible(shown, keep_newlines=newlines, keep_tabs=tabs) == shown
    assert "".join(piece for piece, _ in pieces(text, keep_newlines=newlines, keep_tabs=tabs)) == shown
    assert has_hidden(text) == any(token for _, token in pieces(text, keep_newlines=True, keep_tabs=True))


@given(hostile, st.integers(0, 40))
def test_one_line_fits(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert cell_width(line) <= limit
    assert not any(
        acts_or_hides(character) for character in line if character not in "\u200d" and ord(character) < 0xE0000
    )
    if cell_width(visible(text)) <= limit:
        assert line == visible(text)
    elif limit:
        assert line.endswith("…")


def test_one_line_keeps_tokens_and_emoji_whole() -> None:
    assert one_line("abc\u202edef", 8) == "abc…"
    assert one_line("abc\u202e", 11) == "abc⟨U+202E⟩"
    assert one_line("👨‍👩‍👧👨‍👩‍👧", 3) == "👨‍👩‍👧…"
    assert one_line("日本語", 4) == "日…"
    assert one_line("", 5) == ""
    assert one_line("abc", 0) == ""


@pytest.mark.parametrize(
    ("text", "limit", "line"),
    [
        ("abcd\u0301ef", 3, "ab…"),
        ("abc\u0301ef", 3, "ab…"),
        ("ab\u0301cdef", 3, "ab\u0301…"),
        ("abc1\ufe0f\u20e3", 3, "ab…"),
        ("ab1\ufe0f\u20e3c", 4, "ab…"),
        ("abcdef", 1, "…"),
    ],
)
def test_a_plain_start_is_cut_as_any_other_text(text: str, limit: int, line: str) -> None:
    assert one_line(text, limit) == line
    assert one_line(f"{text}\u202e", limit) == line
    assert cell_width(line) == len(line.replace("\u0301", ""))


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"], max_codepoint=0x2FFF)))
def test_widths_agree_with_the_workbench(text: str) -> None:
    """Both fronts must cut and pad alike; rich's tables are newer, so only settled blocks are compared."""
    settled = "".join(c for c in visible(text) if unicodedata.east_asian_width(c) in ("Na", "W", "F", "H"))
    assert cell_width(settled) == cell_len(settled)


def test_clean_text_costs_next_to_nothing() -> None:
    """Far less than one look at each character from Python: a 100 KB body is checked in one or two passes of C."""

    def look_at_each(text: str) -> int:
        return sum(character < " " for character in text)

    for line, share in (("plain text with words and signs [x]\n", 0.1), ("Grüße – ein “normaler” Text…\n", 0.5)):
        body = (line * 4000)[:100_000]
        assert visible(body, keep_newlines=True) == body
        assert best_of(lambda: visible(body, keep_newlines=True)) < share * best_of(lambda: look_at_each(body))  # noqa: B023


@pytest.mark.parametrize(
    "unit", ["\x1b[2J", "\u202ea", "e" + "\u0301" * 40, "👨‍👩‍👧", "\U000e0041", "\U0001f3f4\U000e0067", "❤\ufe0f"]
)
def test_hostile_text_grows_linearly(unit: str) -> None:
    texts = {size: unit * (size // len(unit)) for size in (5_000, 40_000)}
    assert growth(lambda size: visible(texts[size]), *texts) < 24
    large = texts[40_000]
    assert best_of(lambda: one_line(large, 80), 3) < best_of(lambda: visible(large), 3)


UNSTEADY = {"\ufe0f", *map(chr, range(0x1F3FB, 0x1F400))}


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("❤️x", "❤ x"),
        ("👍🏽x", "👍x"),
        ("1️⃣x", "1\u20e3 x"),
        ("👨‍👩‍👧x", "👨‍👩‍👧x"),
        ("🏳️‍🌈x", "🏳‍🌈 x"),
        ("✅️x", "✅x"),
        ("🏽", "🏽"),
        ("plain", "plain"),
    ],
)
def test_signs_of_several_parts_are_drawn_so_that_every_terminal_agrees(text: str, drawn: str) -> None:
    assert steady(text) == drawn


@given(st.lists(st.sampled_from([*EMOJI, "a", " ", "漢", "é"])).map("".join))
def test_what_is_drawn_steadily_takes_the_cells_that_were_measured(text: str) -> None:
    assert cell_width(steady(text)) == cell_width(text) == cell_len(steady(text))
    assert not UNSTEADY.intersection(steady(text))
