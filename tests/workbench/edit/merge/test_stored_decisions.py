"""Decisions survive a restart: places, undo and redo, and where the user was; nothing that does not fit is believed."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.workbench.edit.merge.decisions import (
    CHOICES,
    VERSION,
    MergeSession,
    ScreenPosition,
    decode_decisions,
    encode_decisions,
)
from tests.workbench.edit.merge.test_decisions import TEXT, session, state_of

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
