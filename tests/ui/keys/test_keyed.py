"""Two keys in a row: both together act, any other key cancels, and the choices are known."""

from __future__ import annotations

from memtui.ui.action import keymap
from memtui.ui.keys.keyed import Sequences
from memtui.workbench.actions import ACTIONS, BROWSER_ROOMS, BY_ID


def sequences() -> Sequences:
    return Sequences(keymap(BROWSER_ROOMS, ACTIONS))


def test_two_keys_make_one_action() -> None:
    keys = sequences()
    assert keys.feed("d").pending == "d"
    assert keys.feed("t").action is BY_ID["trash"]
    assert not keys.pending


def test_another_key_cancels_and_does_nothing_itself() -> None:
    keys = sequences()
    keys.feed("d")
    step = keys.feed("p")
    assert step.cancelled == "d"
    assert step.action is None


def test_the_confirming_key_is_not_the_asking_key() -> None:
    keys = sequences()
    keys.feed("d")
    assert keys.feed("d").action is None


def test_single_keys_act_at_once() -> None:
    assert sequences().feed("p").action is BY_ID["pin"]


def test_choices_after_a_first_key() -> None:
    choices = dict(sequences().choices("y"))
    assert list(choices) == ["p", "c", "d", "s"]
    assert choices["p"].id == "copy_path"


def test_cancel_forgets_the_first_key() -> None:
    keys = sequences()
    keys.feed("g")
    assert keys.cancel() == "g"
    assert keys.feed("g").pending == "g"
