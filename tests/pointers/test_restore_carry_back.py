"""Entries come back into an index as they were, wherever it has gone since, and no line of it goes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtui.pointers.index import parse
from memtui.pointers.restore import bring_back
from memtui.pointers.rewrite import rewrite

BEFORE = b"# Index\n\n- [A](a.md) - one\n- [B](b.md) - two\n  more of it\n\n## Rest\n\n- [C](c.md)\n- [D](d.md)"


def without(data: bytes, *names: str) -> bytes:
    """An index out of which memories went."""
    return rewrite(data, "MEMORY.md", dict.fromkeys(names), index=True).data


def back(now: bytes, *names: str, before: bytes = BEFORE, **renamed: str) -> bytes:
    """Bring memories back."""
    wanted = {name: name for name in names} | {f"{old}.md": new for old, new in renamed.items()}
    return bring_back(before, now, "MEMORY.md", wanted).data


def test_what_went_comes_back_byte_for_byte() -> None:
    for names in (["a.md"], ["b.md"], ["d.md"], ["c.md", "d.md"], ["a.md", "b.md", "c.md", "d.md"]):
        assert back(without(BEFORE, *names), *names) == BEFORE


def test_one_after_the_other_comes_back_in_any_order() -> None:
    for order in (["a.md", "b.md", "d.md"], ["d.md", "b.md", "a.md"], ["b.md", "d.md", "a.md"]):
        now = without(BEFORE, *order)
        for name in order:
            now = back(now, name)
        assert now == BEFORE


def test_an_entry_comes_behind_the_line_it_was_behind() -> None:
    now = b"# Index\n\nNew words.\n\n- [C](c.md)\n- [A](a.md) - one\n- [N](n.md)\n"
    assert back(now, "b.md") == now.replace(b"- [N]", b"- [B](b.md) - two\n  more of it\n- [N]")
    assert back(now, "d.md") == now.replace(b"(c.md)\n", b"(c.md)\n- [D](d.md)\n")


def test_an_entry_without_lines_above_comes_before_the_one_below_and_else_behind_the_last() -> None:
    before = b"\xef\xbb\xbf- [A](a.md)\r\n- [B](b.md)\r\n"
    assert back(b"\xef\xbb\xbf- [B](b.md)\r\n", "a.md", before=before) == before
    assert back(b"x\r\n- [N](n.md)\r\n\r\nend\r\n", "a.md", before=before) == (
        b"x\r\n- [N](n.md)\r\n- [A](a.md)\r\n\r\nend\r\n"
    )
    assert back(b"", "a.md", before=before) == b"- [A](a.md)\r\n"
    assert back(b"- [N](n.md)", "a.md", before=before).splitlines() == [b"- [N](n.md)", b"- [A](a.md)"]


def test_what_is_named_stays_alone() -> None:
    now = without(BEFORE, "a.md") + b"\n- [Anew](a.md)\n"
    assert bring_back(BEFORE, now, "MEMORY.md", {"a.md": "a.md"}) == (now, 0, ())
    assert bring_back(BEFORE, b"x\n", "MEMORY.md", {"other.md": "other.md"}) == (b"x\n", 0, ())
    commented = BEFORE.replace(b"- [D](d.md)", b"<!--\n- [D](d.md)\n-->\n")
    assert bring_back(BEFORE, commented, "MEMORY.md", {"d.md": "d.md"}) == (commented, 0, ("d.md",))


def test_a_memory_that_is_called_otherwise_now_is_named_so() -> None:
    now = without(BEFORE, "a.md").replace(b"- [B]", b"- [New](a.md)\n- [B]")
    assert back(now, a="a-restored.md") == now.replace(b"- [New]", b"- [A](a-restored.md) - one\n- [New]")


@given(
    st.lists(st.sampled_from([b"- [A](a.md) - x", b"- [B](b.md)", b"- [C](c.md)", b"", b"# H", b"text"]), max_size=9),
    st.sets(st.sampled_from(["a.md", "b.md", "c.md"]), min_size=1),
    st.lists(st.sampled_from([b"", b"# H", b"new", b"- [N](n.md)"]), max_size=3),
    st.integers(0, 9),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
)
def test_nothing_goes_and_what_had_an_entry_is_named(
    lines: list[bytes], names: set[str], more: list[bytes], at: int, end: bytes, closed: bool
) -> None:
    before = end.join(lines) + end * closed
    cut = without(before, *names)
    if not names & {one.path for one in parse(cut, "MEMORY.md")}:
        assert back(cut, *names, before=before) == before
    rows = cut.splitlines(keepends=True)
    now = b"".join((*rows[:at], *(line + end for line in more), *rows[at:]))
    found = bring_back(before, now, "MEMORY.md", {name: name for name in names})
    kept = iter(found.data.splitlines())
    assert all(line in kept for line in now.splitlines())
    gone = {one.path for one in parse(before, "MEMORY.md")} - {one.path for one in parse(now, "MEMORY.md")}
    assert gone & names <= {one.path for one in parse(found.data, "MEMORY.md")} | set(found.left)
    assert not set(found.left) & {one.path for one in parse(found.data, "MEMORY.md")}
