"""Decisions of a conflict: nothing is invented, nothing is lost, everything can be taken back."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.diff.differences import split_lines
from memtui.workbench.edit.merge.decisions import (
    CHOICES,
    VERSION,
    MergeSession,
    ScreenPosition,
    decode_decisions,
    encode_decisions,
    shown_text,
    typed_text,
)

WORDS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "<<<<<<< YOURS\n", "=======\n", "x\r\n"]), max_size=8)
TEXT = st.tuples(WORDS, st.sampled_from(["", "last"])).map(lambda pair: "".join(pair[0]) + pair[1])


def state_of(merged: MergeSession) -> tuple[object, ...]:
    return merged.open, [merged.lines(index) for index in range(len(merged.chunks))]


def session(base: str, yours: str, agent: str) -> MergeSession:
    return MergeSession.of(base.encode(), yours.encode(), agent.encode())


@given(TEXT, TEXT, TEXT)
def test_all_three_texts_can_be_rebuilt(base: str, yours: str, agent: str) -> None:
    chunks = session(base, yours, agent).chunks
    assert "".join(line for chunk in chunks for line in chunk.base) == base
    assert "".join(line for chunk in chunks for line in chunk.yours) == yours
    assert "".join(line for chunk in chunks for line in chunk.theirs) == agent


@given(TEXT, TEXT, TEXT)
def test_taking_one_side_everywhere_gives_that_side(base: str, yours: str, agent: str) -> None:
    for choice, text in (("yours", yours), ("theirs", agent), ("base", base)):
        merged = session(base, yours, agent)
        merged.decide(merged.hunks, choice)
        assert merged.result == text
        assert not merged.open


@given(TEXT, TEXT, TEXT, st.integers())
def test_every_line_of_the_result_comes_from_somewhere(base: str, yours: str, agent: str, seed: int) -> None:
    chance = random.Random(seed)
    merged = session(base, yours, agent)
    for index in merged.hunks:
        merged.decide([index], chance.choice(list(CHOICES)), "edited by hand\n")
    known = {line.rstrip("\r\n") for text in (base, yours, agent) for line in split_lines(text)} | {"edited by hand"}
    assert all(line.rstrip("\r\n") in known for line in split_lines(merged.result))


@given(TEXT, TEXT, TEXT, st.integers())
def test_undo_and_redo_go_all_the_way(base: str, yours: str, agent: str, seed: int) -> None:
    chance = random.Random(seed)
    merged = session(base, yours, agent)
    results = [state_of(merged)]
    for index in merged.hunks:
        merged.decide([index], chance.choice(["yours", "theirs", "both", ""]))
        results.append(state_of(merged))
    for state in reversed(results[:-1]):
        assert merged.undo()
        assert state_of(merged) == state
    assert not merged.undo()
    for state in results[1:]:
        assert merged.redo()
        assert state_of(merged) == state
    assert not merged.redo()


@given(TEXT, TEXT, TEXT)
def test_markers_are_told_from_text_that_looks_like_them(base: str, yours: str, agent: str) -> None:
    merged = session(base, yours, agent)
    assert merged.merge.has_markers(merged.with_markers()) == bool(merged.open)
    assert not any(merged.merge.has_markers(text) for text in (base, yours, agent))


def test_changes_in_different_places_are_merged_without_asking() -> None:
    merged = session("one\ntwo\nthree\n", "ONE\ntwo\nthree\n", "one\ntwo\nTHREE\n")
    assert merged.open == ()
    assert merged.result == "ONE\ntwo\nTHREE\n"
    assert merged.counts == (0, 2, 0)


def test_an_overlap_is_open_until_it_is_decided() -> None:
    merged = session("one\ntwo\n", "mine\ntwo\n", "theirs\ntwo\n")
    assert merged.counts == (1, 0, 0)
    merged.decide(merged.open, "both")
    assert merged.result == "mine\ntheirs\ntwo\n"
    assert merged.sources() == {"both": 2}


def test_both_never_runs_two_lines_together() -> None:
    merged = session("base", "mine", "theirs")
    merged.decide([0], "both-theirs-first")
    assert merged.result == "theirs\nmine"


def test_a_third_writer_keeps_the_decisions_that_still_fit() -> None:
    base = "one\n=\ntwo\n=\nthree\n"
    merged = session(base, "1\n=\n2\n=\n3\n", "I\n=\nII\n=\nIII\n")
    first, second, third = merged.hunks
    merged.decide([first], "theirs")
    again = merged.carry_over(session(base, "1\n=\n2\n=\n3\n", "I\n=\nchanged\n=\nIII\n"))
    assert again.open == (second, third)
    assert again.again == {second}
    assert again.undo()
    assert again.is_open(first)
    more = again.carry_over(session(base, "1\n=\n2\n=\n3\n", "I\n=\nchanged\n=\nnew\n"))
    assert more.again == {second, third}


def test_what_was_edited_for_a_place_a_third_writer_touched_is_what_its_edit_begins_with() -> None:
    merged = session("one\n=\n", "1\n=\n", "I\n=\n")
    merged.decide(merged.hunks, "edited", "by hand\n")
    again = merged.carry_over(session("one\n=\n", "1\n=\n", "II\n=\n"))
    (place,) = again.open
    assert again.start_text(place) == "by hand\n"
    assert again.start_text(place) == again.carry_over(session("one\n=\n", "1\n=\n", "III\n=\n")).start_text(place)


def test_a_reopened_automatic_place_stays_open_through_a_third_writer() -> None:
    merged = session("one\n=\ntwo\n", "1\n=\ntwo\n", "one\n=\nII\n")
    mine, theirs = merged.hunks
    merged.decide([mine], "")
    again = merged.carry_over(session("one\n=\ntwo\n", "1\n=\ntwo\n", "one\n=\nIII\n"))
    assert again.open == (mine,)
    assert again.choice(theirs)
    assert theirs not in again.places
    assert not again.again


def test_an_edited_whole_decides_what_it_touched_as_one_step() -> None:
    merged = session("one\n=\ntwo\n", "1\n=\n2\n", "I\n=\nII\n")
    first, second = merged.hunks
    merged.decide([first], "yours")
    before = state_of(merged)
    merged.read_back(merged.with_markers().split("<")[0] + "by hand\n")
    assert merged.result == "1\n=\nby hand\n"
    assert merged.choice(first) == "yours"
    assert merged.choice(second) == "edited"
    assert merged.undo()
    assert state_of(merged) == before
    assert merged.redo()
    assert merged.result == "1\n=\nby hand\n"


def test_an_edit_that_cut_places_anew_survives_a_third_writer_elsewhere() -> None:
    base = "one\n=\ntwo\n=\nthree\nx\ny\n"
    merged = session(base, "1\n=\n2\n=\nthree\nx\ny\n", "I\n=\nII\n=\nthree\nx\ny\n")
    merged.decide(merged.hunks, "yours")
    merged.read_back(merged.with_markers().replace("1\n=\n2\n", "all\nnew\n"))
    assert merged.result == "all\nnew\n=\nthree\nx\ny\n"
    again = merged.carry_over(session(base, "1\n=\n2\n=\nthree\nx\ny\n", "I\n=\nII\n=\nthree\nx\nY\n"))
    assert again.result == "all\nnew\n=\nthree\nx\nY\n"
    assert not again.again


def test_an_untouched_whole_is_no_step() -> None:
    merged = session("one\n", "mine\n", "theirs\n")
    merged.decide([0], "")
    merged.read_back(merged.with_markers())
    assert merged.undo()
    assert not merged.undo()


def test_the_log_says_how_each_place_was_decided() -> None:
    merged = session("one\n=\ntwo\n=\n", "1\n=\ntwo\n=\n", "I\n=\nII\n=\n")
    merged.decide(merged.open, "both-theirs-first")
    assert merged.log() == ("line 1 both", "line 3 agent merged")


def test_a_thousand_decisions_are_undone_one_by_one() -> None:
    sides = ("".join(f"{side} {n}\n=\n" for n in range(1_000)) for side in ("base", "mine", "theirs"))
    merged = session(*sides)
    for index in merged.hunks:
        merged.decide([index], "yours")
    assert merged.open == ()
    while merged.undo():
        pass
    assert len(merged.open) == 1_000


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_get_the_ends_of_their_place(end: str) -> None:
    merged = session(f"a{end}=\n", f"b{end}=\n", f"c{end}=\n")
    assert shown_text(merged.start_text(0)) == "b\n"
    assert typed_text("x\ny", merged.chunks, 0) == f"x{end}y{end}"


def test_a_place_without_line_ends_takes_the_nearest() -> None:
    merged = session("=\r\na\r\n", "=\r\n", "=\r\nb\r\n")
    assert typed_text("x", merged.chunks, 1) == "x"
    merged = session("=\r\nlast", "=\r\nmine", "=\r\ntheirs")
    assert typed_text("x\ny", merged.chunks, 1) == "x\r\ny"


def test_the_last_line_may_be_without_an_end() -> None:
    merged = session("=\na", "=\nb", "=\nc")
    assert typed_text("x", merged.chunks, 1) == "x"
    merged.decide([1], "edited", typed_text("x", merged.chunks, 1))
    assert merged.result == "=\nx"


def test_nothing_typed_takes_the_lines_out() -> None:
    merged = session("a\n=\n", "b\n=\n", "c\n=\n")
    merged.decide([0], "edited", typed_text("", merged.chunks, 0))
    assert merged.result == "=\n"


SPOT = ScreenPosition(place=3, view="result", pair=2, rounds=1, editing="half typed\n")


def again(merged: MergeSession, fresh: MergeSession) -> tuple[MergeSession, ScreenPosition]:
    found = decode_decisions(encode_decisions(merged, SPOT), fresh)
    assert found is not None
    return found


@given(TEXT, TEXT, TEXT, st.integers(), TEXT)
def test_everything_comes_back(base: str, yours: str, agent: str, seed: int, typed: str) -> None:
    chance = random.Random(seed)
    merged = session(base, yours, agent)
    for _ in range(6):
        chance.choice(
            [
                lambda: merged.decide(chance.sample(merged.hunks, min(2, len(merged.hunks))), "edited", typed),
                lambda: merged.decide(merged.hunks[:1], chance.choice([*CHOICES, ""])),
                lambda: merged.read_back(typed),
                merged.undo,
                merged.redo,
            ]
        )()
    back, spot = again(merged, session(base, yours, agent))
    assert spot == SPOT
    assert state_of(back) == state_of(merged)
    assert (back.merge, back.places, back.started, back.again, back.recut) == (
        merged.merge,
        merged.places,
        merged.started,
        merged.again,
        merged.recut,
    )
    while merged.undo():
        assert back.undo()
        assert state_of(back) == state_of(merged)
    assert not back.undo()
    while merged.redo():
        assert back.redo()
        assert state_of(back) == state_of(merged)
    assert not back.redo()


def test_decisions_about_other_texts_are_not_believed() -> None:
    merged = session("one\n", "mine\n", "theirs\n")
    merged.decide([0], "yours")
    assert decode_decisions(encode_decisions(merged, SPOT), session("one\n", "mine\n", "others\n")) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "7", '{"version": 1}', "\x00", '{"version": "1"}'])
def test_what_is_not_ours_is_nothing(text: str) -> None:
    assert decode_decisions(text, session("one\n", "mine\n", "theirs\n")) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", VERSION + 1),
        ("places", [[0, "nonsense", 0]]),
        ("places", [["x", "yours", 0]]),
        ("places", [[99, "yours", 0]]),
        ("cut", [["conflict", 9, 9, 9]]),
        ("undo", [{"cut": 3}]),
        ("spot", [1, 2, 3, 4, 5, 6, 7]),
        ("again", None),
    ],
)
def test_damage_is_nothing(key: str, value: object) -> None:
    merged = session("one\n", "mine\n", "theirs\n")
    merged.decide([0], "yours")
    found = json.loads(encode_decisions(merged, SPOT))
    found[key] = value
    assert decode_decisions(json.dumps(found), session("one\n", "mine\n", "theirs\n")) is None
