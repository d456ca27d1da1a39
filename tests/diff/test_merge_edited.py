"""A merge edited as a whole: the edit is the result, it decides what it touched, and nothing else changes."""

import random

from hypothesis import given
from hypothesis import strategies as st

from memtui.diff.differences import split_lines
from memtui.diff.merge import (
    BASE,
    BOTH,
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
)

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
