"""What a person marks as private is cut, however it is spelled, and what only talks of it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.markers import OPENERS, PRIVATE, Cut, cut, cut_again, phrases
from tests.growth import growth


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE  reason='x'>b\n\nc</ Private > d", "a [private] d"),
        ("a < private >b</private>", "a [private]"),
        ("a <private/>b", "a [private]"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>b</private> c <private>d</private>", "a [private] c [private]"),
        ("a <private>b", "a [private]"),
        ("a <private>b <private>c</private> d", "a [private]"),
        ("a </private> b", "a </private> b"),
        ("a &lt;private>b</private>", "a &lt;private>b</private>"),
        ("a \\<private>b</private>", "a \\<private>b</private>"),
        ("a <privateer>b</privateer>", "a <privateer>b</privateer>"),
        ("a <рrіvаtе>b</private> c", "a [private] c"),
        ("a <pri\u200bvate>b</priv\u00adate> c", "a [private] c"),
        ("a ＜ｐｒｉｖａｔｅ＞b</private> c", "a [private] c"),
        ("`<private>b</private>` c", "`[private]` c"),
        ("write `<private>` around it", "write `<private>` around it"),
        ("`<private>` is a tag. <private>b</private> c", "`<private>` is a tag. [private] c"),
        ("<private>b `<private>` d</private> e", "[private] e"),
        ("```\n<private>\n```\nc", "```\n<private>\n```\nc"),
        ("```\n<private>\nb\n</private>\n```\nc", "```\n[private]\n```\nc"),
        ("```\n<private>\nnever closed", "```\n[private]"),
        ("a ` b\n\n<private>c\n\nd ` e", "a ` b\n\n[private]"),
        ("a ``x ` <private> y`` b", "a ``x ` <private> y`` b"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("", ""),
    ],
)
def test_private_is_cut(text: str, left: str) -> None:
    found = cut(text)
    assert found.text == left
    assert not found.no_memory
    assert len(found.spans) == left.count(PRIVATE)
    assert (found.open is not None) == (left.endswith(PRIVATE) and not text.rstrip("`\n ").endswith("</private>"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <no-memory> b", Cut("", (), no_memory=True)),
        ("a <No_Memory/> b", Cut("", (), no_memory=True)),
        ("a <no-memory>b</no-memory> c", Cut("a [private] c", ((2, 26),))),
        ("a `<no-memory>` b", Cut("a `<no-memory>` b", ())),
        ("> a <no-memory> b\nc", Cut("> a <no-memory> b\nc", ())),
        ("```\n<no-memory>\n```", Cut("```\n<no-memory>\n```", ())),
        ("a </no-memory> b", Cut("a </no-memory> b", ())),
        ("<private>x</private> <no-memory>", Cut("", ((0, 20),), no_memory=True)),
    ],
)
def test_no_memory_is_about_the_whole_turn_or_a_span(text: str, expected: Cut) -> None:
    assert cut(text) == expected


@given(st.lists(st.sampled_from(["<private>", "</private>", "`", "```\n", "\n\n", "> ", "x", "<no-memory>", "<", "é"])))
def test_what_is_left_is_what_was_not_cut(parts: list[str]) -> None:
    text = "".join(parts)
    found = cut(text)
    ends = [0, *(place for span in found.spans for place in span), len(text)]
    assert ends == sorted(ends)
    if not found.no_memory:
        kept = [text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)]
        assert found.text == PRIVATE.join(kept)


PLAIN = st.text(st.characters(exclude_characters=OPENERS), max_size=40)


@given(PLAIN, PLAIN.filter(lambda text: not text.endswith("\\")), PLAIN)  # an escaped tag is none
def test_nothing_marked_is_left(before: str, inside: str, after: str) -> None:
    text = f"{before} <private>{inside}</private> {after}"
    assert cut(text) == Cut(f"{before} [private] {after}", ((len(before) + 1, len(text) - len(after) - 1),))


@pytest.mark.parametrize(
    "unit", ["<", "<private>", "</private>", "`", "```\n", "` ``", "<no-memory ", "< /", "\n\n", "> <"]
)
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    assert growth(lambda size: cut("<private>" + unit * (size // len(unit))), 16 * 1024, 128 * 1024) < 24


@pytest.mark.parametrize(
    ("private", "again", "left"),
    [
        ("the quokka burrow", "I dug The Quokka\n\tburrow.", "I dug [private]."),
        (
            "pin 4711",
            "4711, x_4711, 端口4711号 and 47110, a4711",
            "[private], x_[private], 端口[private]号 and 47110, a4711",
        ),
        ("use ab1c twice", "AB1C is it", "[private] is it"),
        ("Anna", "Anna came", "Anna came"),
        ("x1", "x1 came", "x1 came"),
        ("数据库连接池", "用数据库连接池吧", "用[private]吧"),
    ],
)
def test_what_was_private_is_cut_where_it_is_said_again(private: str, again: str, left: str) -> None:
    text = f"a <private>{private}</private>"
    assert cut_again(again, phrases(text, cut(text).spans))[0] == left
