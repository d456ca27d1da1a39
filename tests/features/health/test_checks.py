"""The fixes that findings bring: in the file's own style, never taking more than one entry, and for any text at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Policy
from memtui.features.health.checks import FULL, UNREAD, UNWRITABLE, CheckedIndex, check, named
from memtui.features.health.model import (
    BELOW,
    BULK,
    CUT,
    DANGLING,
    DUPLICATE,
    LONG,
    TOGETHER,
    UNNAMED,
    IndexFinding,
    IndexReport,
    apply_edits,
)
from tests.features.health.folders import LINKS

INDEX = Address("notes", "MEMORY.md")


def checked(
    data: bytes | str, memories: dict[str, str] | None = None, policy: Policy = LINKS, at: Address = INDEX
) -> IndexReport:
    raw = data.encode() if isinstance(data, str) else data
    known = {at.path: "", **(memories or {})}
    mine = tuple(sorted(known.keys() - named(raw, at.path) - {at.path}))
    return check(CheckedIndex(at, raw, policy, known, mine=mine))


def fixed(data: bytes | str, memories: dict[str, str] | None = None, policy: Policy = LINKS, *only: str) -> str:
    raw = data.encode() if isinstance(data, str) else data
    found = checked(raw, memories, policy).findings
    wanted = [one.fix for one in found if one.fix is not None and one.kind in (only or BULK)]
    return apply_edits(raw, [edit for fix in wanted for edit in fix.edits]).decode()


def the(kind: str, found: IndexReport) -> IndexFinding:
    (one,) = [finding for finding in found.findings if finding.kind == kind]
    return one


@pytest.mark.parametrize(
    ("before", "memories", "after"),
    [
        ("# Top\n\n- [a](a.md) — one\n\nText.\n", {}, "# Top\n\n\nText.\n"),
        ("- [a](a.md) — one\n- [A](a.md) — two\n", {"a.md": ""}, "- [a](a.md) — one\n"),
        ("\ufeff- [a](a.md)\n- [b](b.md)\n", {"b.md": ""}, "\ufeff- [b](b.md)\n"),
        (
            "1. [x.md](x.md)\n",
            {"x.md": "", "b.md": "", "a.md": ""},
            "1. [x.md](x.md)\n2. [a.md](a.md)\n3. [b.md](b.md)\n",
        ),
    ],
)
def test_dangling_and_later_lines_go_and_new_ones_come_in_order(
    before: str, memories: dict[str, str], after: str
) -> None:
    assert fixed(before, memories) == after


def test_a_mention_in_text_is_no_duplicate() -> None:
    assert not checked("- [a](a.md) — one\n\nSee [a](a.md) first.\n", {"a.md": ""}).findings


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("See [a](a.md) first.\n", "The line is text that mentions it, not an entry of its own."),
        ("- [a](a.md), [b](b.md)\n", "The line names other memories too."),
        ("- [a](a.md) — goes\n  on here\n", "The entry goes on in the next line."),
        ("- [a](a.md) — goes\non here\n", "The entry goes on in the next line."),
        ("- [a](a.md)\n  - below it\n", "The entry goes on in the next line."),
        ("- [a](a.md) <!-- begins\n- [b](b.md) ends -->\n", "The line holds a comment."),
        ("- [a](a.md) — gone\rText that stays\r", "The line holds carriage returns, so it may be several."),
    ],
)
def test_text_that_is_more_than_the_entry_is_left_to_a_person(data: str, why: str) -> None:
    found = the(DANGLING, checked(data, {"b.md": ""}))
    assert (found.fix, found.why) == (None, why)


@pytest.mark.parametrize("following", ["- [b](b.md)\n", "\ntext\n", "# Head\n", "```\ncode\n```\n", "", "<!-- x -->\n"])
def test_what_follows_an_entry_without_belonging_to_it_stays(following: str) -> None:
    assert fixed("- [a](a.md) — gone\n" + following, {"b.md": ""}, LINKS, DANGLING) == following


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- [x.md](x.md) — hook\n", "- [x.md](x.md) — hook\n- [my_note.md](my_note.md) — What it is\n"),
        ("- [An x](x.md) — hook\n", "- [An x](x.md) — hook\n- [My note](my_note.md) — What it is\n"),
        ("* [x.md](x.md): hook\n", "* [x.md](x.md): hook\n* [my_note.md](my_note.md): What it is\n"),
        ("9. [x.md](x.md) - hook\n", "9. [x.md](x.md) - hook\n10. [my_note.md](my_note.md) - What it is\n"),
        ("- [x.md](x.md) — hook\r\n", "- [x.md](x.md) — hook\r\n- [my_note.md](my_note.md) — What it is\r\n"),
        ("- [x.md](x.md) — hook", "- [x.md](x.md) — hook\n- [my_note.md](my_note.md) — What it is"),
        ("- [x.md](x.md)\n\nText.\n", "- [x.md](x.md)\n- [my_note.md](my_note.md) — What it is\n\nText.\n"),
        ("- [x.md](x.md) — a\n  b\n\n", "- [x.md](x.md) — a\n  b\n- [my_note.md](my_note.md) — What it is\n\n"),
        ("# Top\n", "# Top\n- [My note](my_note.md) — What it is\n"),
        ("", "- [My note](my_note.md) — What it is\n"),
    ],
)
def test_a_new_line_is_written_as_the_file_writes_its_own(before: str, after: str) -> None:
    assert (
        fixed(before, {"my_note.md": "What it is", "x.md": ""} if "x.md" in before else {"my_note.md": "What it is"})
        == after
    )


def test_a_new_line_is_kept_to_the_agents_length_at_a_word() -> None:
    after = fixed("", {"a.md": "word " * 60})
    assert len(after.rstrip("\n")) <= 150
    assert after.endswith("word…\n")


def test_a_new_line_leads_from_the_index_it_is_in() -> None:
    at = Address("notes", "one/MEMORY.md")
    found = the(UNNAMED, checked("", {"one/deep/a.md": ""}, at=at))
    assert found.fix is not None
    assert found.fix.edits[0].new == b"- [A](deep/a.md)\n"


def test_names_with_blanks_and_brackets_are_written_so_that_they_are_found_again() -> None:
    memories = {"a b.md": "", "c(d).md": "", "[e].md": ""}
    after = fixed("- [x.md](x.md)\n", {"x.md": "", **memories})
    assert not [one for one in checked(after, {"x.md": "", **memories}).findings if one.kind in TOGETHER]


def test_a_description_brings_no_link_and_no_comment_along() -> None:
    memories = {"a.md": "see [b](b.md) <!-- and"}
    after = fixed("", memories)
    assert not checked(after, memories).findings


def test_where_a_line_would_not_be_read_none_is_added() -> None:
    for data in ("```\ncode\n", "<!-- open\n"):
        found = the(UNNAMED, checked(data, {"a.md": ""}))
        assert (found.fix, found.why) == (None, UNREAD)


def test_a_long_line_is_cut_at_a_word_and_keeps_its_link_and_line_end() -> None:
    after = fixed("- [a](a.md) — " + "word " * 60 + "\r\n- [b](b.md)\r\n", {"a.md": "", "b.md": ""})
    first, second = after.split("\r\n")[:2]
    assert first.startswith("- [a](a.md) — word")
    assert first.endswith("word…")
    assert 140 < len(first) <= 150
    assert second == "- [b](b.md)"


def test_a_link_that_is_too_long_itself_is_left() -> None:
    name = "x" * 200 + ".md"
    found = the(LONG, checked(f"- [a]({name}) — hook\n", {name: ""}))
    assert found.fix is None
    assert found.why


def test_a_long_line_with_several_links_is_one_finding() -> None:
    found = checked("- [a](a.md), [b](b.md) " + "x" * 150 + "\n", {"a.md": "", "b.md": ""})
    assert [one.kind for one in found.findings] == [LONG]


def test_a_line_from_below_the_cut_is_moved_before_the_first_entry() -> None:
    policy = LINKS._replace(index_lines=4)
    data = "# Top\n\n- [a](a.md)\n- [b](b.md)\n- [c](c.md)"
    found = the(BELOW, checked(data, {"a.md": "", "b.md": "", "c.md": ""}, policy))
    assert found.fix is not None
    assert found.fix.offered
    after = apply_edits(data.encode(), found.fix.edits).decode()
    assert after == "# Top\n\n- [c](c.md)\n- [a](a.md)\n- [b](b.md)\n"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_of_a_long_first_line_that_is_loaded_that_stands_below_which_does(mark: str) -> None:
    policy = LINKS._replace(index_lines=None, index_bytes=None, index_units=40)
    data = mark + "- [a](a.md) " + "x" * 40 + " [b](b.md)\n- [c](c.md)\n"
    found = checked(data, {"a.md": "", "b.md": "", "c.md": ""}, policy).findings
    texts = [one.text for one in found if one.kind == BELOW]
    assert texts == ["line 1: what of it is loaded ends before this link", "line 2 is not loaded"]
    assert "2 memories) is not loaded" in the(CUT, checked(data, {"a.md": "", "b.md": "", "c.md": ""}, policy)).text


NAMES = st.sampled_from(["a.md", "b.md", "sub/c.md", "d e.md", "gone.md", "../out.md", "https://x.y/z.md"])
LINES = st.one_of(
    st.builds("- [{0}](<{0}>) — {1}".format, NAMES, st.text(alphabet="ab c[]()<>`#*\r—", max_size=30)),
    st.builds("* [{0}](<{0}>)".format, NAMES),
    st.builds("- [x](<{0}>) {1}".format, NAMES, st.text(alphabet="word ", min_size=140, max_size=200)),
    st.builds("See [{0}](<{0}>) and [{1}](<{1}>)".format, NAMES, NAMES),
    st.sampled_from(["", "# Head", "  more text", "```", "---", "<!-- [a](a.md)", "-->", "  - below", "| [t](a.md) |"]),
)
FILES = st.builds(
    lambda lines, end, last, mark: mark + end.join(lines) + last,
    st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n"]),
    st.sampled_from(["", "\ufeff", "---\nname: x\n---\n"]),
)
MEMORIES = {"a.md": "First", "b.md": "Second one", "sub/c.md": "", "d e.md": "With a blank", "f.md": "x" * 190}


@given(FILES, st.integers(1, 8))
def test_fixing_everything_leaves_nothing_to_fix_and_no_other_byte(text: str, limit: int) -> None:
    policy = LINKS._replace(index_lines=limit)
    data = text.encode()
    found = checked(data, MEMORIES, policy).findings
    edits = [edit for one in found if one.fix is not None and one.kind in BULK for edit in one.fix.edits]
    after = apply_edits(data, edits)
    kept = data
    for edit in sorted(edits, reverse=True):
        kept = kept[: edit.start] + kept[edit.end :]
    for edit in sorted(edits, key=lambda edit: -len(edit.new)):
        assert edit.new in after
        after = after.replace(edit.new, b"", 1) if edit.new else after
    assert len(kept) <= len(after) <= len(kept) + sum(len(edit.lead) for edit in edits)
    again = checked(apply_edits(data, edits), MEMORIES, policy).findings
    assert not [one for one in again if one.fix is not None and one.kind in BULK]


@given(FILES, st.integers(1, 6))
def test_moving_a_line_up_loses_no_line(text: str, limit: int) -> None:
    data = text.encode()
    for one in checked(data, MEMORIES, LINKS._replace(index_lines=limit)).findings:
        if one.kind == BELOW and one.fix is not None:
            after = apply_edits(data, one.fix.edits)
            assert after[:3] == data[:3] or not text.startswith("\ufeff")
            assert sorted(after.decode().strip("\ufeff").split()) == sorted(text.strip("\ufeff").split())


@given(st.binary(max_size=300))
def test_any_bytes_at_all_are_checked(data: bytes) -> None:
    found = checked(data, MEMORIES, LINKS._replace(index_lines=2))
    for one in found.findings:
        if one.fix is not None:
            apply_edits(data, one.fix.edits)
    assert {one.path for one in found.findings if one.kind == UNNAMED} <= MEMORIES.keys()


def test_the_same_target_is_found_twice() -> None:
    found = checked("- [a](a.md)\n- [a](./a.md)\n- [b](b.md)\n", {"a.md": "", "b.md": ""})
    assert [(one.kind, one.line) for one in found.findings] == [(DUPLICATE, 2)]


def test_an_index_that_is_larger_than_memtui_writes_gets_no_line_and_says_why() -> None:
    data = "- [gone](gone.md) — one\n- [a](a.md)\n"
    policy = LINKS._replace(write_bytes=len(data.encode()))
    assert the(UNNAMED, checked(data, {"a.md": "", "b.md": ""}, policy)).fix is not None
    found = checked(data, {"a.md": "", "b.md": ""}, policy._replace(write_bytes=policy.write_bytes - 1))
    assert the(UNNAMED, found).fix is None
    assert the(UNNAMED, found).why == FULL.format(policy.write_bytes - 1)
    assert the(DANGLING, found).fix is not None


def test_no_control_comes_from_a_description() -> None:
    hook = "a\x00b \x1b[31mred\x9b \udcff\u2028end"
    assert fixed("- [x](x.md) — hook\n", {"x.md": "", "a.md": hook}, LINKS, UNNAMED).endswith(" — a b [31mred end\n")


@pytest.mark.parametrize("name", ["a\udcff.md", "a\x9b.md", "a\x1b.md", "a\nb.md"])
def test_a_name_that_cannot_be_written_gets_no_line(name: str) -> None:
    found = the(UNNAMED, checked("# Top\n", {name: ""}))
    assert (found.fix, found.why) == (None, UNWRITABLE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- [g](g.md) — gone", "- [My note](my_note.md) — What it is"),
        ("\ufeff- [g](g.md) — gone", "\ufeff- [My note](my_note.md) — What it is"),
        ("\ufeff", "\ufeff- [My note](my_note.md) — What it is\n"),
        ("# Top\n- [g](g.md) — gone", "# Top\n- [My note](my_note.md) — What it is"),
        ("# Top\r\rText\r", "# Top\r\rText\r- [My note](my_note.md) — What it is\r"),
        ("# Top\r\rText", "# Top\r\rText\r- [My note](my_note.md) — What it is"),
        ("# Top\r\nText", "# Top\r\nText\r\n- [My note](my_note.md) — What it is"),
    ],
)
def test_lines_end_as_they_do_in_the_file(before: str, after: str) -> None:
    assert fixed(before, {"my_note.md": "What it is"}) == after
