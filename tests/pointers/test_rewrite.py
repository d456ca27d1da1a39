"""Only what refers to a memory changes in a text, and entries return to where they stood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.pointers.links import parse_index, parse_links
from memtui.pointers.rewrite import Rewritten, bring_back, rewrite
from tests.pointers.samples import LIMIT, LONG, files, growth, texts


def rewritten(text: str, changed: dict[str, str | None], here: str = "MEMORY.md", **options: object) -> str:
    """The new text."""
    return done(text, changed, here, **options).data.decode()


def done(text: str, changed: dict[str, str | None], here: str = "MEMORY.md", **options: object) -> Rewritten:
    """All of it."""
    return rewrite(text.encode(), here, changed, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- [A](a.md) — one\r\n- [B](x.md)", "- [A](new.md) — one\r\n- [B](x.md)"),
        ("[a.md](a.md) [a](a.md) [A](a.md)", "[new.md](new.md) [new](new.md) [A](new.md)"),
        ("[A](./a.md#part 'title') [A](<a.md>)", "[A](./new.md#part 'title') [A](<new.md>)"),
        ("[[a]] [[a.md]] [[a|shown]] [[a#part]]", "[[new]] [[new.md]] [[new|shown]] [[new#part]]"),
        ("mem:a, `mem:a` and mem:ab", "mem:new, `mem:new` and mem:ab"),
        ("@a.md, @./a.md. (@a.md)", "@new.md, @./new.md. (@a.md)"),
        ("[ref]: a.md\n[ref]: <a.md>", "[ref]: new.md\n[ref]: <new.md>"),
        ("`[A](a.md)`\n```\n[A](a.md)\n```\n<!-- [A](a.md) -->", None),
        ("[A](../a.md) [A](/a.md) [A](https://x/a.md) a.md", None),
    ],
)
def test_a_renamed_memory_is_named_as_before(before: str, after: str | None) -> None:
    assert rewritten(before, {"a.md": "new.md"}) == (after or before)


@pytest.mark.parametrize(
    ("here", "before", "after"),
    [
        ("MEMORY.md", "[A](a.md) [[a]] mem:a @a.md", "[A](x/y.md) [[x/y]] mem:x/y @x/y.md"),
        ("x/MEMORY.md", "[A](../a.md) [[a]] @../a.md", "[A](y.md) [[y]] @y.md"),
        ("z/MEMORY.md", "[A](../a.md) [[a]]", "[A](../x/y.md) [[y]]"),
    ],
)
def test_a_memory_that_moves_to_another_folder_is_found_there(here: str, before: str, after: str) -> None:
    assert rewritten(before, {"a.md": "x/y.md"}, here) == after


def test_a_memory_that_moves_takes_its_own_links_along() -> None:
    before = "[A](a.md) [B](b.md#p) [none](none.md) [[b]] [web](https://x/b.md) @b.md"
    after = "[A](../c.md) [B](../b.md#p) [none](none.md) [[b]] [web](https://x/b.md) @../b.md"
    changed: dict[str, str | None] = {"a.md": "c.md", "me.md": "x/me.md"}
    assert rewritten(before, changed, "me.md", to="x/me.md", known=["a.md", "b.md", "me.md"]) == after


def test_a_name_that_means_another_memory_is_left_alone() -> None:
    known = ["x/a.md", "a.md"]
    assert rewritten("[[a]]", {"a.md": "b.md"}, "x/MEMORY.md", known=known) == "[[a]]"
    assert rewritten("[[a]]", {"a.md": "b.md"}, "y/MEMORY.md", known=known) == "[[b]]"
    assert rewritten("[[a]]", {"x/a.md": "x/b.md"}, "y/MEMORY.md", known=known) == "[[a]]"
    assert rewritten("[[a]]", {"x/a.md": "x/b.md"}, "y/MEMORY.md", known=known[:1]) == "[[b]]"


def test_what_cannot_be_spelled_the_old_way_is_left_and_said() -> None:
    found = done("mem:a [[a]] @a.md [A](a.md)", {"a.md": "x|y z.txt"})
    assert found.data == b"mem:a [[a]] @x|y\\ z.txt [A](x|y%20z.txt)"
    assert [link.kind for link in found.left] == ["mem", "name"]
    assert found.carried == 2


def test_a_shown_name_is_not_followed_into_what_would_end_the_link() -> None:
    assert rewritten("[a.md](a.md)", {"a.md": "b].md"}) == "[a.md](b%5D.md)"


def test_what_follows_in_an_entry_that_goes_is_not_written() -> None:
    changed = {"a.md": None, "b.md": "c.md"}
    assert rewritten("- [A](a.md) — see mem:b\n- [X](x.md)\n", changed, index=True) == "- [X](x.md)\n"


def test_a_folder_that_moves_takes_what_names_it_along() -> None:
    changed: dict[str, str | None] = {"topics/": "themes/", "topics/a.md": "themes/a.md"}
    assert rewritten("[all](topics/) [A](topics/a.md)", changed) == "[all](themes/) [A](themes/a.md)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# M\n\n- [A](a.md) — one\n- [B](b.md)\n", "# M\n\n- [B](b.md)\n"),
        ("\ufeff- [A](a.md)\r\n- [B](b.md)", "\ufeff- [B](b.md)"),
        ("- [B](b.md)\n* ★ [A](a.md) — no end", "- [B](b.md)\n"),
        ("- [[a]] — by name\n- [B](b.md)\n", "- [B](b.md)\n"),
        ("- [A](a.md) — one\n  and more of it\n- [B](b.md)\n", "- [B](b.md)\n"),
        ("- [A](a.md)\n## B\n", "## B\n"),
        ("- [A](a.md) · [B](b.md) · [C](c.md)\r\n", "- [B](b.md) · [C](c.md)\r\n"),
        ("- [B](b.md) · [A](a.md) — x · y\n", "- [B](b.md)\n"),
        ("- [B](b.md) — x · ★ [A](a.md) · [A](a.md) · [C](c.md)\n", "- [B](b.md) — x · [C](c.md)\n"),
        ("- [A](a.md) — x · [[B]](b.md) · [C](c.md)\n", "- [[B]](b.md) · [C](c.md)\n"),
        ("- [A](a.md) · [A](a.md)\n", ""),
    ],
)
def test_the_entry_of_a_memory_that_went_goes(before: str, after: str) -> None:
    found = done(before, {"a.md": None}, index=True)
    assert found.data.decode() == after
    assert found.carried
    assert not found.left


@pytest.mark.parametrize(
    "text",
    [
        "Read [A](a.md) first.\n",
        "- Read [A](a.md) first.\n",
        "- [A](a.md)\n  - [B](b.md)\n",
        "- [A](a.md)\nlazily goes on\n",
        "- [A](a.md)\n\n  another paragraph\n",
        "- [A](a.md)\n  ```\n  code\n  ```\n",
        "- [A](a.md), [B](b.md)\n",
        "- [A](a.md) · [[x]] · [C](c.md)\n",
        "- [A](a.md)\rText\r",
        "| [A](a.md) | table |\n",
        "@a.md\n",
    ],
)
def test_what_is_no_entry_of_its_own_stays_and_is_said(text: str) -> None:
    found = done(text, {"a.md": None}, index=True)
    assert (found.data.decode(), found.carried, len(found.left)) == (text, 0, 1)


def test_a_link_in_prose_to_what_went_stays_and_is_said() -> None:
    found = done("- [A](a.md)\n[[a]]\n", {"a.md": None}, "notes.md")
    assert (found.data, len(found.left)) == (b"- [A](a.md)\n[[a]]\n", 2)


def masked(data: bytes, paths: set[str]) -> bytes:
    """A text without the names of these memories."""
    pieces = []
    at = 0
    for link in parse_links(data, "x/here.md"):
        if link.path in paths or (link.kind == "name" and link.target.partition("|")[0] in STEMS):
            for begin, end in sorted(
                (link.text, (link.at, link.at + len(link.target.encode("utf-8", "surrogateescape"))))
            ):
                if begin >= at and end > begin:
                    pieces.append(data[at:begin])
                    at = end
    return b"".join((*pieces, data[at:]))


STEMS = {"a", "topics/b", "b c", "x/b c", "d", "x/d", "x/a"}


@given(files)
def test_nothing_but_the_names_changes(data: bytes) -> None:
    changed: dict[str, str | None] = {"x/a.md": "x/b c.md", "x/topics/b.md": "x/d.md"}
    found = rewrite(data, "x/here.md", changed)
    old, new = {"x/a.md", "x/topics/b.md"}, {"x/b c.md", "x/d.md"}
    assert masked(data, old | new) == masked(found.data, old | new)
    assert not any(
        link.path in old and link not in found.left for link in parse_links(found.data, "x/here.md") if not found.left
    )


@given(texts)
def test_renaming_there_and_back_gives_the_old_text(data: bytes) -> None:
    there = rewrite(data, "MEMORY.md", {"a.md": "n-1.md"})
    back = rewrite(there.data, "MEMORY.md", {"n-1.md": "a.md"})
    assert back.data == data
    assert there.carried == back.carried


@given(files, st.booleans())
def test_a_removal_only_takes_away(data: bytes, index: bool) -> None:
    found = rewrite(data, "MEMORY.md", {"a.md": None, "topics/b.md": None}, index=index)
    rest = iter(data)
    assert all(byte in rest for byte in found.data)
    assert index or found.data == data


@given(files)
def test_where_nothing_is_named_nothing_changes(data: bytes) -> None:
    assert rewrite(data, "MEMORY.md", {"nothing-names-this.md": None}, index=True) == Rewritten(data)


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("new", ["b.md", None])
def test_time_grows_with_the_size_only(name: str, new: str | None) -> None:
    assert growth(lambda data: rewrite(data, "MEMORY.md", {"a.md": new}, index=True), LONG[name]) < LIMIT


@pytest.mark.parametrize(
    ("before", "after", "old"),
    [
        ("[t](n#1.md)", "[t](z.md)", "n#1.md"),
        ("[t](m%20x.md)", "[t](z.md)", "m%20x.md"),
        ("[t](m%20x.md#part)", "[t](z.md#part)", "m%20x.md"),
        ("[t](m%20x.md#part)", "[t](z.md#part)", "m x.md"),
        ("[[n#1]] [[n#1|shown]] [[n]]", "[[z]] [[z|shown]] [[n]]", "n#1.md"),
    ],
)
def test_a_name_that_is_written_as_it_is_follows(before: str, after: str, old: str) -> None:
    assert rewritten(before, {old: "z.md"}, known={old, "z.md"}) == after


def test_the_usual_reading_is_meant_when_both_are_there() -> None:
    known = {"m x.md", "m%20x.md"}
    assert rewritten("[t](m%20x.md)", {"m%20x.md": "z.md"}, known=known) == "[t](m%20x.md)"


def test_the_entry_of_a_name_that_is_written_as_it_is_goes() -> None:
    assert rewritten("- [t](n#1.md)\n- [b](b.md)\n", {"n#1.md": None}, index=True) == "- [b](b.md)\n"


@pytest.mark.parametrize("text", ["[a.md](a.md)", "[[a]]", "@a.md"])
def test_no_invalid_byte_comes_into_a_clean_text(text: str) -> None:
    found = done(text, {"a.md": "b\udcff.md"})
    assert (found.data, len(found.left)) == (text.encode(), 1)


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
    if not names & {one.path for one in parse_index(cut, "MEMORY.md")}:
        assert back(cut, *names, before=before) == before
    rows = cut.splitlines(keepends=True)
    now = b"".join((*rows[:at], *(line + end for line in more), *rows[at:]))
    found = bring_back(before, now, "MEMORY.md", {name: name for name in names})
    kept = iter(found.data.splitlines())
    assert all(line in kept for line in now.splitlines())
    gone = {one.path for one in parse_index(before, "MEMORY.md")} - {one.path for one in parse_index(now, "MEMORY.md")}
    assert gone & names <= {one.path for one in parse_index(found.data, "MEMORY.md")} | set(found.left)
    assert not set(found.left) & {one.path for one in parse_index(found.data, "MEMORY.md")}
