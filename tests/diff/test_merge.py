"""Merging: everything of the three texts is in the hunks, overlaps are conflicts, every choice gives what it says."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.diff.differences import split_lines
from memtui.diff.merge import (
    BASE,
    BOTH,
    BOTH_THEIRS_FIRST,
    CONFLICT,
    SAME,
    THEIRS,
    YOURS,
    Choice,
    Edited,
    Merge,
    joined,
    merge3,
    read_back,
    same_places,
)

SWAPPED = {"yours": "theirs", "theirs": "yours"}

line = st.sampled_from(["a", "b", "c", "", "=======", "<<<<<<< YOURS", ">>>>>>> AGENT", "a\r"])
text = st.builds(lambda lines, end: "\n".join(lines) + end, st.lists(line, max_size=8), st.sampled_from(["", "\n"]))


@st.composite
def related(draw: st.DrawFn) -> tuple[str, str, str]:
    """A base and two texts made from it by a few changes."""
    lines = draw(st.lists(st.sampled_from("abcdefghij"), max_size=12))

    def changed() -> str:
        copy = list(lines)
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(copy)))
            copy[at : at + draw(st.integers(0, 2))] = draw(st.lists(st.sampled_from("abcxyz"), max_size=2))
        return "\n".join(copy) + draw(st.sampled_from(["\n", "\n", ""]))

    return "\n".join(lines) + "\n", changed(), changed()


three = st.one_of(related(), st.tuples(text, text, text))


def kinds(merge: Merge) -> list[str]:
    return [hunk.kind for hunk in merge.hunks]


def everywhere(merge: Merge, choice: str) -> str:
    return merge.result(dict.fromkeys(range(len(merge.hunks)), choice))


def test_changes_apart_are_merged() -> None:
    merge = merge3("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\nE\n")
    assert kinds(merge) == ["yours", "same", "theirs"]
    assert merge.conflicts == 0
    assert merge.result() == "A\nb\nc\nD\nE\n"


def test_overlapping_and_touching_changes_are_one_conflict() -> None:
    merge = merge3("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nb\nC\nd\n")
    assert kinds(merge) == ["same", "conflict", "same"]
    assert merge.hunks[1][1:4] == (("b\n", "c\n"), ("B\n", "c\n"), ("b\n", "C\n"))
    assert merge.hunks[1][4:] == (1, 1, 1)


def test_equal_lines_at_the_ends_are_not_in_conflict() -> None:
    merge = merge3("x\n", "new\none\nend\n", "new\ntwo\nend\n")
    assert kinds(merge) == ["both-equal", "conflict", "both-equal"]
    assert merge.hunks[1][1:4] == (("x\n",), ("one\n",), ("two\n",))
    assert merge.conflicts == 1


def test_the_same_change_on_both_sides_is_no_conflict() -> None:
    merge = merge3("a\nb\n", "a\nB\n", "a\nB\n")
    assert kinds(merge) == ["same", "both-equal"]
    assert merge.result() == "a\nB\n"


def test_deleting_against_editing_is_a_conflict() -> None:
    assert merge3("a\nb\nc\n", "a\nc\n", "a\nB\nc\n").conflicts == 1
    assert merge3("a\n", "", "a\nb\n").conflicts == 1


def test_the_final_newline_is_a_change_like_any_other() -> None:
    assert merge3("a\nb\n", "a\nb", "A\nb\n").conflicts == 1
    assert merge3("a\nx\nb\n", "a\nx\nb", "A\nx\nb\n").result() == "A\nx\nb"
    assert merge3("a", "a", "a\nb").result() == "a\nb"


def test_blanks_only_is_said() -> None:
    merge = merge3("a\n", "a b\r\n", "  a  b\n")
    assert [hunk.whitespace_only for hunk in merge.hunks] == [True]
    assert not merge3("a\n", "b\n", "c\n").hunks[0].whitespace_only


def test_every_choice_gives_what_it_says() -> None:
    merge = merge3("s\nx\ne", "s\nmine\ne", "s\nother\ne")
    at = kinds(merge).index("conflict")
    expected: dict[str | Edited, str] = {
        YOURS: "s\nmine\ne",
        THEIRS: "s\nother\ne",
        BASE: "s\nx\ne",
        BOTH: "s\nmine\nother\ne",
        BOTH_THEIRS_FIRST: "s\nother\nmine\ne",
        Edited("own\ntext"): "s\nown\ntext\ne",
        Edited(""): "s\ne",
    }
    for choice, result in expected.items():
        assert merge.result({at: choice}) == result
    with pytest.raises(ValueError, match="open"):
        merge.result()
    with pytest.raises(ValueError, match="nonsense"):
        merge.result({at: "nonsense"})
    assert merge.open({}) == (at,)
    assert merge.open({at: YOURS}) == ()


def test_lines_without_an_end_never_run_together() -> None:
    merge = merge3("", "mine", "other")
    assert merge.result({0: BOTH}) == "mine\nother"
    assert merge.result({0: BOTH_THEIRS_FIRST}) == "other\nmine"
    assert merge3("", "a\r\nmine", "b\r\nother").result({0: BOTH}) == "a\r\nmine\r\nb\r\nother"


def test_an_automatic_part_can_be_overruled() -> None:
    merge = merge3("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n")
    assert merge.result({0: BASE, 2: YOURS}) == "a\nb\nc\n"


def test_markers_show_all_three_sides() -> None:
    merge = merge3("s\nx\n", "s\nmine\n", "s\nother")
    written = merge.text(("YOURS", "BASE", "AGENT"))
    assert written == "s\n<<<<<<< YOURS\nmine\n||||||| BASE\nx\n=======\nother\n>>>>>>> AGENT\n"
    assert merge.has_markers(written)
    assert merge.has_markers("s\nmine\n=======\n")
    assert not merge.has_markers("s\nmine\n")
    assert not merge.has_markers(merge.text(choices={1: YOURS}))


def test_content_that_looks_like_markers_is_harmless() -> None:
    ugly = "<<<<<<< YOURS\nmine\n||||||| BASE\n=======\n>>>>>>> AGENT\nTitle\n============\n"
    merge = merge3(ugly, ugly + "one\n", ugly + "two\n")
    assert merge.conflicts == 1
    assert not merge.has_markers(ugly)
    written = merge.text()
    assert written.startswith(ugly)
    assert merge.has_markers(written)
    assert "<" * 13 + " YOURS\none\n" in written


@given(three)
def test_the_hunks_are_the_texts(texts: tuple[str, str, str]) -> None:
    merge = merge3(*texts)
    at = [0, 0, 0]
    for hunk in merge.hunks:
        assert list(hunk[4:]) == at
        at = [place + len(side) for place, side in zip(at, hunk[1:4], strict=True)]
    for side, whole in enumerate(texts, start=1):
        assert "".join("".join(hunk[side]) for hunk in merge.hunks) == whole  # type: ignore[arg-type]
    for choice, whole in zip((BASE, YOURS, THEIRS), texts, strict=True):
        assert everywhere(merge, choice) == whole


@given(three)
def test_kinds_say_what_the_texts_say(texts: tuple[str, str, str]) -> None:
    merge = merge3(*texts)
    for hunk in merge.hunks:
        assert hunk.base or hunk.yours or hunk.theirs
        assert {
            "same": hunk.base == hunk.yours == hunk.theirs,
            "yours": hunk.base == hunk.theirs != hunk.yours,
            "theirs": hunk.base == hunk.yours != hunk.theirs,
            "both-equal": hunk.yours == hunk.theirs != hunk.base,
            "conflict": hunk.yours != hunk.theirs,
        }[hunk.kind]
        if hunk.kind == "conflict" and hunk.yours and hunk.theirs:
            assert hunk.yours[0] != hunk.theirs[0]
            assert hunk.yours[-1] != hunk.theirs[-1]
    for one, other in zip(kinds(merge), kinds(merge)[1:], strict=False):
        assert "same" in (one, other) or "both-equal" in (one, other)
        assert one != other


@given(text, text)
def test_one_side_alone_is_taken_whole(base: str, changed: str) -> None:
    assert merge3(base, base, changed).result() == changed
    assert merge3(base, changed, base).result() == changed
    assert merge3(base, changed, changed).result() == changed


@given(three)
def test_it_is_symmetric(texts: tuple[str, str, str]) -> None:
    base, yours, theirs = texts
    merge, mirror = merge3(base, yours, theirs), merge3(base, theirs, yours)
    assert kinds(mirror) == [SWAPPED.get(kind, kind) for kind in kinds(merge)]
    decided = dict.fromkeys(merge.open({}), BASE)
    assert merge.result(decided) == mirror.result(decided)


@given(three, st.sampled_from([YOURS, THEIRS, BOTH, BOTH_THEIRS_FIRST, BASE]))
def test_every_line_of_a_result_is_of_one_of_the_texts(texts: tuple[str, str, str], choice: str) -> None:
    merge = merge3(*texts)
    result = merge.result(dict.fromkeys(merge.open({}), choice))
    known = {line.rstrip("\r") for whole in texts for line in whole.split("\n")}
    assert {line.rstrip("\r") for line in result.split("\n")} <= known | {""}
    assert not merge.has_markers(result)
    assert merge.has_markers(merge.text()) == bool(merge.conflicts)


@given(three, text)
def test_decisions_survive_a_third_writer_where_they_fit(texts: tuple[str, str, str], again: str) -> None:
    base, yours, theirs = texts
    old = merge3(base, yours, theirs)
    itself = same_places(old, old)
    assert set(old.open({})) <= itself.keys()
    assert all(before == now for before, now in itself.items())
    new = merge3(base, yours, again)
    for before, now in same_places(old, new).items():
        assert old.hunks[before][1:4] == new.hunks[now][1:4]


def test_only_the_conflict_that_changed_is_reopened() -> None:
    base, yours = "a\n-\nb\n-\nc\n", "A\n-\nB\n-\nC\n"
    old = merge3(base, yours, "x\n-\ny\n-\nc\n")
    new = merge3(base, yours, "x\n-\ny!\n-\nc\n")
    found = same_places(old, new)
    kept = {found[at]: YOURS for at in old.open({}) if at in found}
    assert len(old.open({})) == 2
    assert kept == {0: YOURS}
    assert new.open(kept) == (2,)


def test_100_kb_merge_at_once() -> None:
    rolls = random.Random(3)
    base = [
        f"- {rolls.choice(['use', 'avoid', 'see', ''])} {rolls.randrange(900)} and more words\n" for _ in range(4200)
    ]

    def changed() -> str:
        lines = list(base)
        for _ in range(300):
            lines[rolls.randrange(len(lines))] = f"changed {rolls.randrange(10**6)}\n"
            lines.insert(rolls.randrange(len(lines)), "\n")
        return "".join(lines)

    yours, theirs = changed(), changed()
    assert len(yours) > 90_000
    start = time.thread_time()
    merge = merge3("".join(base), yours, theirs)
    assert time.thread_time() - start < 1
    assert everywhere(merge, YOURS) == yours


BASE_TEXT = "head\n\none\n\ntwo\n\nthree\nend\n"
THREE = merge3(BASE_TEXT, BASE_TEXT.replace("e\n", "e mine\n"), BASE_TEXT.replace("e\n", "e theirs\n"))
"""Two conflicts (one, three), unchanged lines around them."""

lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "x\r\n", "=======\n"]), max_size=8)
whole = st.tuples(lines, st.sampled_from(["", "end"])).map(lambda pair: "".join(pair[0]) + pair[1])


def sides(merge: Merge) -> tuple[str, ...]:
    texts = zip(*((hunk.base, hunk.yours, hunk.theirs) for hunk in merge.hunks), strict=True)
    return tuple("".join(line for lines in side for line in lines) for side in texts) or ("", "", "")


def decided(merge: Merge, seed: int) -> dict[int, Choice]:
    chance = random.Random(seed)
    choices: tuple[Choice | None, ...] = (YOURS, THEIRS, BASE, BOTH, Edited("own\n"), None)
    some = {n: chance.choice(choices) for n, hunk in enumerate(merge.hunks) if hunk.kind != SAME}
    return {n: choice for n, choice in some.items() if choice is not None}


def conflicts(merge: Merge) -> list[int]:
    return [n for n, hunk in enumerate(merge.hunks) if hunk.kind == CONFLICT]


def test_an_untouched_text_changes_nothing() -> None:
    first, second = conflicts(THREE)
    every: list[dict[int, Choice]] = [{}, {first: YOURS}, {first: BOTH, second: Edited("own\n")}]
    for choices in every:
        read = read_back(THREE, choices, THREE.text(choices=choices))
        assert read.merge == THREE
        assert read.choices == choices
        assert read.left == {}


def test_resolving_one_conflict_leaves_the_other_open() -> None:
    block = THREE.marked()[conflicts(THREE)[0]]
    read = read_back(THREE, {}, THREE.text().replace("".join(block), "by hand\n"))
    first, second = conflicts(THREE)
    assert read.choices == {first: Edited("by hand\n")}
    assert read.merge.open(read.choices) == (second,)
    assert read.left == {}


def test_taking_a_side_in_the_editor_is_that_decision() -> None:
    first, second = conflicts(THREE)
    parts = THREE.marked()
    text = THREE.text().replace("".join(parts[first]), "one theirs\n")
    text = text.replace("".join(parts[second]), "three mine\nthree theirs\n")
    assert read_back(THREE, {}, text).choices == {first: THEIRS, second: BOTH}


def test_an_edit_between_conflicts_is_a_place_of_its_own() -> None:
    text = THREE.text().replace("two\n", "two by hand\nand more\n")
    read = read_back(THREE, {}, text)
    assert list(read.choices.values()) == [Edited("two by hand\nand more\n")]
    assert len(read.merge.open(read.choices)) == 2
    assert sides(read.merge) == sides(THREE)


def test_a_marker_left_behind_is_still_open_and_keeps_what_was_typed() -> None:
    first, _ = conflicts(THREE)
    text = THREE.text().replace("<<<<<<< YOURS\n", "", 1)
    read = read_back(THREE, {}, text)
    assert first in read.merge.open(read.choices)
    assert read.left[first].startswith("one mine\n|||||||")


def test_lines_typed_between_unchanged_ones_can_be_taken_out_again() -> None:
    choices: dict[int, Choice] = dict.fromkeys(conflicts(THREE), YOURS)
    text = THREE.text(choices=choices).replace("head\n", "head\nnew\n")
    read = read_back(THREE, choices, text)
    (place,) = (n for n, choice in read.choices.items() if choice == Edited("new\n"))
    assert read.merge.result(read.choices) == text
    assert read.merge.result({**read.choices, place: YOURS}) == THREE.result(choices)


@given(whole, whole, whole, whole, st.integers())
def test_whatever_comes_back_is_the_result(base: str, yours: str, theirs: str, edit: str, seed: int) -> None:
    merge = merge3(base, yours, theirs)
    choices = decided(merge, seed)
    read = read_back(merge, choices, edit)
    assert sides(read.merge) == (base, yours, theirs)
    if not read.left:
        assert read.merge.result(read.choices) == edit
    assert set(read.left) <= set(read.merge.open(read.choices))


@given(whole, whole, whole, st.integers())
def test_a_few_changed_lines_decide_only_what_they_touch(base: str, yours: str, theirs: str, seed: int) -> None:
    merge = merge3(base, yours, theirs)
    choices = decided(merge, seed)
    shown = split_lines(merge.text(choices=choices))
    chance = random.Random(seed)
    at = chance.randrange(len(shown) + 1)
    if any(line.startswith(merge.signs) for line in shown[max(at - 1, 0) : at + 1]):
        return
    edit = "".join([*shown[:at], "typed by hand\n", *shown[at:]])
    if at == len(shown) and shown and not shown[-1].endswith("\n"):
        return
    read = read_back(merge, choices, edit)
    if not read.merge.open(read.choices):
        assert read.merge.result(read.choices) == edit
    assert not read.left or merge.open(choices)
    assert sides(read.merge) == (base, yours, theirs)


@given(whole, whole, whole, st.integers(0, 9), st.integers(0, 9))
def test_joining_keeps_the_three_texts(base: str, yours: str, theirs: str, one: int, other: int) -> None:
    merge = merge3(base, yours, theirs)
    size = len(split_lines(base))
    start, end = sorted((min(one, size), min(other, size)))
    cut, place = joined(merge, start, end)
    assert sides(cut) == (base, yours, theirs)
    hunk = cut.hunks[place]
    assert hunk.kind == CONFLICT
    assert hunk.base_line <= start
    assert hunk.base_line + len(hunk.base) >= end
    at = 0
    for part in cut.hunks:
        assert part.base_line == at
        at += len(part.base)
