"""Steps as text, and back: byte for byte, whatever a name or a text holds."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Address, Remove, Rename, Step, Write
from memtui.engine.task import steps_from, steps_json

NAMES = st.binary(min_size=1, max_size=12).map(os.fsdecode)
ADDRESSES = st.builds(Address, st.text(max_size=8), NAMES)
SHAS = st.none() | st.text("0123456789abcdef", min_size=64, max_size=64)
STEPS = st.one_of(
    st.builds(Write, ADDRESSES, st.binary(max_size=40), SHAS),
    st.builds(Rename, ADDRESSES, ADDRESSES, SHAS),
    st.builds(Remove, ADDRESSES, SHAS),
)


@given(st.lists(STEPS, max_size=4))
def test_steps_come_back_as_they_were(steps: list[Step]) -> None:
    text = steps_json(steps)
    text.encode("ascii")
    assert steps_from(text) == tuple(steps)


@pytest.mark.parametrize(
    "step",
    [
        {},
        {"step": "write"},
        {"step": "chmod", "at": ["r", "a"], "expects": None},
        {"step": "remove", "at": "r/a", "expects": None},
        {"step": "write", "at": ["r", "a"], "expects": None, "data": "no base64"},
    ],
)
def test_what_is_no_step_is_refused(step: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        steps_from(json.dumps([step]))
