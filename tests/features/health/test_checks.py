"""The fixes that findings bring: never more than one entry, for any text at all, and in linear time; and splitting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Policy
from memtui.features.health.apply import preview
from memtui.features.health.checks import (
    FULL,
    HOOK,
    MISREAD,
    NO_PLACE,
    NO_ROOM,
    UNREAD,
    UNWRITABLE,
    CheckedIndex,
    check,
    filled,
    named,
    split,
)
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
from memtui.pointers.lines import measure, spans, surplus
from tests.features.health.folders import LINKS, entry
from tests.growth import growth

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


FEW, MANY = 400, 4_000
MOST = 25
"""How many times as long; twice and a half what it is on a quiet machine."""


def index(size: int) -> CheckedIndex:
    """An index of which every line dangles, beside as many memories that it does not name."""
    data = "".join(entry(f"gone{number}.md") for number in range(size)).encode()
    memories = {f"m{number}.md": "About it" for number in range(size)}
    return CheckedIndex(
        Address("notes", "MEMORY.md"), data, LINKS, {**memories, "MEMORY.md": ""}, mine=tuple(sorted(memories))
    )


def test_checking_grows_with_the_lines() -> None:
    given = {size: index(size) for size in (FEW, MANY)}
    assert len(check(given[MANY]).findings) == 2 * MANY + 1
    assert growth(lambda size: check(given[size]), FEW, MANY) < MOST


def test_the_preview_of_all_fixes_grows_with_the_lines() -> None:
    given = {size: index(size) for size in (FEW, MANY)}
    found = {size: check(given[size]).findings for size in (FEW, MANY)}

    def shown(size: int) -> object:
        return preview(given[size].address, given[size].data, found[size], LINKS, rebuilt=False)

    assert growth(shown, FEW, MANY) < MOST


def test_checking_grows_with_the_pointers_of_one_line() -> None:
    given = {}
    for size in (FEW, MANY):
        data = ("- " + " ".join(f"[m{number}](m{number}.md)" for number in range(size)) + "\n").encode()
        given[size] = CheckedIndex(Address("notes", "MEMORY.md"), data, LINKS, {"MEMORY.md": ""})
    assert growth(lambda size: check(given[size]), FEW, MANY) < MOST


MEMORY, REST = "MEMORY.md", "MEMORY-more.md"
LINE = f"- [{REST}]({REST}) — {HOOK}\n"


def parted(
    text: str | bytes, policy: Policy, known: Sequence[str] = (), rests: Mapping[str, bytes] | None = None
) -> dict[str, bytes]:
    """What the files hold afterwards; nothing where there is no fix."""
    data, held = text.encode() if isinstance(text, str) else text, rests or {}
    fix, why = split(data, MEMORY, policy, known, held)
    assert (fix is None) is bool(why)
    if fix is None:
        return {}
    files = {piece.path: filled(data, piece, held.get(piece.path, b"")) for piece in fix.pieces}
    return {MEMORY: apply_edits(data, fix.edits), **files}


def texts(*given: object) -> dict[str, str]:
    """The same as text."""
    return {path: data.decode() for path, data in parted(*given).items()}  # type: ignore[arg-type]


def lines(first: int, last: int) -> str:
    """Entries of an index."""
    return "".join(entry(f"m{number}.md") for number in range(first, last))


def worded(data: bytes) -> list[bytes]:
    """The lines that are not blank."""
    return [line for line in data.split(b"\n") if line.strip()]


def limited(count: int) -> Policy:
    return LINKS._replace(index_lines=count)


def test_the_rest_goes_to_a_file_beside_it_that_a_line_names() -> None:
    assert texts(lines(0, 6), limited(4)) == {MEMORY: lines(0, 3) + LINE, REST: lines(3, 6)}


def test_no_more_goes_than_has_to() -> None:
    policy = LINKS._replace(index_bytes=len((lines(0, 4) + LINE).encode()) - 1)
    assert texts(lines(0, 50), policy)[MEMORY] == lines(0, 4) + LINE


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("* [A b](a.md): one\r\n* [C](c.md): two\r\n", f"* [MEMORY more]({REST}): {HOOK}\r\n"),
        ("1. [a.md](a.md)\n2. [c.md](c.md)\n", f"3. [{REST}]({REST}) — {HOOK}\n"),
    ],
)
def test_the_line_is_written_as_the_file_writes_its_own(head: str, line: str) -> None:
    files = texts(head + head, limited(3))
    assert files == {MEMORY: head + line, REST: head}


def test_where_blank_lines_are_enough_no_second_file_is_made() -> None:
    text = "# Top\n\n\n\n" + entry("a.md") + "\n\r\n" + entry("b.md") + "\n" + entry("c.md")
    less = "# Top\n\n" + entry("a.md") + "\n" + entry("b.md") + "\n" + entry("c.md")
    assert texts(text, limited(7)) == {MEMORY: less}
    assert list(texts(text + lines(0, 6), limited(9))) == [MEMORY, REST]


def test_blank_lines_in_code_and_before_what_is_indented_stay() -> None:
    text = "```\na\n\n\nb\n```\n- a\n\n\n  more\n<!-- x\n\n\ny -->\n- b\n\n\n- c\n"
    assert surplus(text.encode(), spans(text.encode())) == [16]


def test_a_heading_goes_with_what_it_is_over() -> None:
    text = "# Top\n\n" + entry("a.md") + "\n## Below\n\n" + entry("b.md") + entry("c.md")
    assert texts(text, limited(7)) == {
        MEMORY: "# Top\n\n" + entry("a.md") + "\n" + LINE,
        REST: "## Below\n\n" + entry("b.md") + entry("c.md"),
    }


def test_front_matter_and_a_byte_order_mark_stay() -> None:
    head = "\ufeff---\nname: x\n---\n"
    assert texts(head + lines(0, 5), limited(2)) == {MEMORY: head + lines(0, 1) + LINE, REST: lines(1, 5)}


@pytest.mark.parametrize("known", [(REST,), ("memory-MORE.md",), (REST, "MEMORY-more-3.md")])
def test_a_name_that_is_taken_is_left_alone(known: tuple[str, ...]) -> None:
    assert list(texts(lines(0, 6), limited(4), known)) == [MEMORY, "MEMORY-more-2.md"]


def test_a_file_for_the_rest_that_is_named_already_takes_in_more() -> None:
    head = lines(0, 2) + LINE
    held = {REST: lines(3, 6).encode().rstrip()}
    files = texts(head + lines(6, 9), limited(4), (REST,), held)
    assert files == {MEMORY: head + lines(6, 7), REST: lines(3, 6) + lines(7, 9)}
    fix, _ = split((head + lines(6, 9)).encode(), MEMORY, limited(4), (REST,), held)
    assert fix is not None
    assert [piece.sha256 for piece in fix.pieces] == [sha256(held[REST]).hexdigest()]


def test_one_that_is_named_only_below_the_line_goes_with_the_rest() -> None:
    files = texts(lines(0, 6) + LINE, limited(4), (REST,), {REST: b"- [x](x.md)\n"})
    assert files[MEMORY].endswith(f"[MEMORY-more-2.md](MEMORY-more-2.md) — {HOOK}\n")
    assert files["MEMORY-more-2.md"] == lines(3, 6) + LINE


def test_one_that_is_full_or_ends_in_a_comment_gets_nothing_more() -> None:
    head = lines(0, 2) + LINE
    full = {REST: b"x" * 1_000}
    files = texts(head + lines(6, 9), limited(4)._replace(write_bytes=1_050), (REST,), full)
    assert list(files) == [MEMORY, "MEMORY-more-2.md"]
    data = (head + lines(6, 9)).encode()
    assert split(data, MEMORY, limited(4), (REST,), {REST: b"<!-- open\n"}) == (None, MISREAD)


def test_a_rest_that_is_more_than_may_be_written_goes_to_several_files() -> None:
    policy = limited(20)._replace(write_bytes=1_000)
    files = texts(lines(0, 200), policy)
    rests = [path for path in files if path != MEMORY]
    assert rests[:2] == [REST, "MEMORY-more-2.md"]
    assert all(len(files[path].encode()) <= 1_000 for path in rests)
    kept = "".join(line for line in files[MEMORY].splitlines(keepends=True) if "MEMORY-more" not in line)
    assert kept + "".join(files[path] for path in rests) == lines(0, 200)
    assert all(f"({path})" in files[MEMORY] for path in rests)


@pytest.mark.parametrize(
    ("text", "policy", "why"),
    [
        ("```\n" + "code\n" * 9 + "```\n", limited(4), NO_PLACE),
        ("<!-- open\n" + lines(0, 9), LINKS._replace(index_lines=4, index_uncounted=()), NO_PLACE),
        ("- [a](a.md) " + "x" * 30_000, LINKS, NO_PLACE),
        ("word\n" * 9, LINKS._replace(index_lines=4, write_bytes=20), NO_PLACE),
        (lines(0, 9), LINKS._replace(index_bytes=60), NO_ROOM),
        (lines(0, 9), limited(1), NO_ROOM),
    ],
)
def test_where_there_is_none_it_is_said_why(text: str, policy: Policy, why: str) -> None:
    assert split(text.encode(), MEMORY, policy, (), {}) == (None, why)


@given(FILES, st.integers(1, 8), st.sampled_from([10_000, 120]))
def test_nothing_is_lost_and_all_that_is_left_is_loaded(text: str, limit: int, most: int) -> None:
    policy = LINKS._replace(index_lines=limit, write_bytes=most)
    data = text.encode()
    if measure(data, policy).cut is None:
        return
    files = parted(data, policy)
    if not files:
        return
    index = files.pop(MEMORY)
    assert measure(index, policy).cut is None
    if not files:
        assert worded(index) == worded(data)
        assert named(index, MEMORY) == named(data, MEMORY)
        return
    assert all(0 < len(rest) <= most for rest in files.values())
    moved = b"".join(files.values())
    kept = data.removesuffix(moved)
    assert kept + moved == data
    added = index.removeprefix(kept)
    assert kept + added == index
    assert added.count(b"MEMORY-more") == 2 * len(files) or added.count(b"](MEMORY-more") == len(files)
    assert named(index, MEMORY).union(*(named(rest, path) for path, rest in files.items())) == named(data, MEMORY) | (
        files.keys()
    )


@given(st.binary(max_size=400), st.integers(1, 5))
def test_any_bytes_at_all_are_parted_or_not(data: bytes, limit: int) -> None:
    policy = LINKS._replace(index_lines=limit)
    if measure(data, policy).cut is not None:
        files = parted(data, policy)
        index = files.pop(MEMORY, data)
        assert data.endswith(b"".join(files.values()))
        assert files or worded(index) == worded(data)
        assert (measure(index, policy).cut is None) is (index != data)
