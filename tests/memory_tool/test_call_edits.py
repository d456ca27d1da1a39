"""The edits on bytes: exactly what was asked for changes, and not one byte more."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memtui.memory_tool.call import (
    Matches,
    NoSuchLine,
    NotText,
    NotUnique,
    SecretTouched,
    check_masks,
    find,
    insert,
    is_text,
    str_replace,
)
from tests.examples import examples

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
LINES = st.text(alphabet=st.sampled_from("ab\r\n\ufeff\u2028\x0c é"), max_size=12)


@pytest.mark.parametrize(
    ("data", "text", "matches"),
    [
        (b"aaa", b"aa", Matches(2, (1,))),
        (b"a\nb\na\n", b"a", Matches(2, (1, 3))),
        (b"a\na\na", b"a\na", Matches(2, (1, 2))),
        (b"x", b"y", Matches(0, ())),
        (b"a\n" * 50, b"a", Matches(50, tuple(range(1, 21)))),
    ],
)
def test_every_occurrence_counts_also_where_they_overlap(data: bytes, text: bytes, matches: Matches) -> None:
    assert find(data, text) == matches


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        (b"a b c", "b", "", b"a  c"),
        (b"cost: x", "x", "$& $1 $` $' \\1 \\g<0> %s {0}", b"cost: $& $1 $` $' \\1 \\g<0> %s {0}"),
        (b"one\r\ntwo\r\n", "one\ntwo", "1\n2\n3", b"1\r\n2\r\n3\r\n"),
        (b"one\r\ntwo\r\n", "one\r\ntwo", "1\n2", b"1\r\n2\r\n"),
        (b"one\r\ntwo\r\n", "one", "1\n2\r\n3", b"1\r\n2\r\n3\r\ntwo\r\n"),
        (b"one\r\ntwo\n", "one", "1\n2", b"1\n2\r\ntwo\n"),
        (b"\xef\xbb\xbfone", "one", "two", b"\xef\xbb\xbftwo"),
        (b"no end", "no", "the", b"the end"),
        ("e\u0301 \u00e9".encode(), "\u00e9", "e", "e\u0301 e".encode()),
        (b"a\xc2\xa0b\x0cc\xe2\x80\xa8d", "b\x0cc", "x", b"a\xc2\xa0x\xe2\x80\xa8d"),
    ],
)
def test_a_replacement_is_literal_and_keeps_the_rest(data: bytes, old: str, new: str, after: bytes) -> None:
    assert str_replace(data, old, new) == after


@pytest.mark.parametrize(
    ("data", "old", "times"),
    [(b"aaa", "aa", 2), (b"abc", "x", 0), (b"a\nb\r\n", "a\r\nb", 0), (b"x\ny\r\nx\r\ny\n", "x\ny", 1)],
)
def test_what_is_not_there_once_is_refused(data: bytes, old: str, times: int) -> None:
    if times == 1:
        assert str_replace(data, old, "") == data.replace(old.encode(), b"", 1)
        return
    with pytest.raises(NotUnique) as caught:
        str_replace(data, old, "y")
    assert caught.value.matches.times == times


@pytest.mark.parametrize("data", [b"\xff", b"caf\xe9", b"a\0b", "text".encode("utf-16"), b"\xed\xa0\x80"])
def test_what_is_no_text_is_never_rewritten(data: bytes) -> None:
    assert not is_text(data)
    for edit in (lambda: str_replace(data, "a", "b"), lambda: insert(data, 0, "x")):
        with pytest.raises(NotText):
            edit()


@pytest.mark.parametrize(
    ("data", "line", "text", "after"),
    [
        (b"one\ntwo\n", 1, "x\n", b"one\nx\ntwo\n"),
        (b"one\ntwo\n", 2, "x\ny", b"one\ntwo\nx\ny\n"),
        (b"one\ntwo\n", 3, "x", b"one\ntwo\n\nx"),
        (b"one", 1, "x", b"one\nx"),
        (b"", 0, "x", b"x\n"),
        (b"one\n", 0, "\n", b"\none\n"),
        (b"one\r\ntwo\r\n", 1, "x\ny\r\n", b"one\r\nx\r\ny\r\ntwo\r\n"),
        (b"one\r\ntwo", 2, "x\ny", b"one\r\ntwo\r\nx\r\ny"),
        (b"one\r\ntwo\n", 1, "x", b"one\r\nx\ntwo\n"),
        (b"\xef\xbb\xbfone\n", 0, "x", b"\xef\xbb\xbfx\none\n"),
        (b"\xef\xbb\xbf", 0, "x", b"\xef\xbb\xbfx\n"),
        (b"a\rb\x0cc\xe2\x80\xa8d\n", 1, "x", b"a\rb\x0cc\xe2\x80\xa8d\nx\n"),
    ],
)
def test_lines_are_inserted_where_view_counts_them(data: bytes, line: int, text: str, after: bytes) -> None:
    assert insert(data, line, text)[0] == after


@pytest.mark.parametrize(("data", "line", "last"), [(b"", 1, 0), (b"a", 2, 1), (b"a\n", 3, 2), (b"a", 10**30, 1)])
def test_a_line_that_is_not_there_is_refused(data: bytes, line: int, last: int) -> None:
    with pytest.raises(NoSuchLine) as caught:
        insert(data, line, "x")
    assert caught.value.last == last


@given(before=TEXTS, after=TEXTS, new=TEXTS)
def test_whatever_is_put_in_comes_back(before: str, after: str, new: str) -> None:
    mark = "\u2603 the one place \u2603"
    data = (before + mark + after).encode()
    if data.count(mark.encode()) == 1:
        assert str_replace(data, mark, new) == (before + new + after).encode()


def lines(text: bytes) -> list[bytes]:
    """Lines without their ends; a CR at the very end is no line end."""
    *whole, last = text.split(b"\n")
    return [*(one.removesuffix(b"\r") for one in whole), last]


@settings(max_examples=examples(300))
@given(text=LINES, new=LINES, data=st.data())
def test_an_insertion_takes_nothing_away(text: str, new: str, data: st.DataObject) -> None:
    raw = text.encode()
    mark = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
    before = lines(raw.removeprefix(mark))
    line = data.draw(st.integers(0, len(before) if raw != mark else 0))
    assume(not raw.endswith(b"\r") or line < len(before))  # a CR at the very end becomes a part of the line end
    after, count = insert(raw, line, new)
    assert after.startswith(mark)
    found = lines(after.removeprefix(mark))
    assert len(found) == len(before) + count
    assert found[:line] + found[line + count :] == before
    assert b"\n".join(found[line : line + count]).replace(b"\r", b"") == (
        new.removesuffix("\n").encode().replace(b"\r", b"")
    )
    if raw.count(b"\n") == raw.count(b"\r\n") > 0:
        assert after.count(b"\n") == after.count(b"\r\n")


KEY = "-----BEGIN PRIVATE KEY-----\n" + "Qx9z" * 16 + "\n-----END PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "old", "new", "refused"),
    [
        ("token: gh" + "p_" + "a1B2" * 9, "token: ", "token: x", False),
        ("token: gh" + "p_" + "a1B2" * 9, "token: ", "the token: ", False),
        ("DB_PASSWORD=Tr0ub4dor-horse", "DB_PASSWORD=", "it = ", True),
        ("DB_PASSWORD=Tr0ub4dor-horse\nDB_PASSWORD=Hunter2-stapler", "DB_PASSWORD=Tr0ub4dor-horse\n", "", False),
        (f"a\n{KEY}\nb", "a\n-----BEGIN", "a\nBEGIN", True),
    ],
)
def test_no_edit_beside_a_secret_takes_its_mask_off(text: str, old: str, new: str, refused: bool) -> None:
    after = str_replace(text.encode(), old, new)
    assert after != text.encode()
    if refused:
        with pytest.raises(SecretTouched):
            check_masks(text.encode(), after)
    else:
        check_masks(text.encode(), after)
