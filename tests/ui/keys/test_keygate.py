"""Pastes run nothing, people's keys all run, and a key held down writes once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtui.ui.keys.keygate import HOLD, KeyGate, Verdict

WRITES = frozenset("punrdUxe")
MOVES = frozenset("jkhlG{}t")


class Typist:
    """Feeds keys at given times and remembers what ran."""

    def __init__(self) -> None:
        self.gate = KeyGate()
        self.ran: list[str] = []
        self.burst = False
        self.last = 0.0

    def press(self, key: str, at: float) -> None:
        if at - self.last >= HOLD:
            self.ran += self.gate.due()
        self.last = at
        match self.gate.feed(key, at, moves=key in MOVES, writes=key in WRITES):
            case Verdict.RUN:
                self.ran.append(key)
            case Verdict.BURST:
                self.burst = True
            case _:
                pass

    def rest(self) -> None:
        self.ran += self.gate.due()


def typed(text: str, gap: float, start: float = 10.0) -> Typist:
    """Type a text with a fixed gap between keys."""
    typist = Typist()
    for index, key in enumerate(text):
        typist.press(key, start + index * gap)
    typist.rest()
    return typist


@given(st.text("abcdefghijklmnopqrstuvwxyz /:.", min_size=8, max_size=200), st.floats(0, 0.0012))
def test_a_paste_never_writes(text: str, gap: float) -> None:
    typist = typed(text, gap)
    if len(set(text)) > 2:
        assert not [key for key in typist.ran if key in WRITES] or not typist.burst
    if len(set(text[:7])) > 2:
        assert typist.burst
        assert not [key for key in typist.ran if key not in MOVES]


def test_a_sentence_does_nothing_but_perhaps_move_once() -> None:
    typist = typed("please undo and rename this", 0.001)
    assert typist.burst
    assert not typist.ran


@given(st.text("jkpdunwt", min_size=1, max_size=60))
def test_keys_at_the_speed_of_people_all_run_in_order(text: str) -> None:
    typist = typed(text, 0.16)
    assert "".join(typist.ran) == text
    assert not typist.burst


def test_a_held_arrow_letter_runs_on_however_it_arrives() -> None:
    assert "".join(typed("j" * 30, 0.0).ran) == "j" * 30


def test_a_held_writing_key_writes_once() -> None:
    assert typed("p" * 30, 0.033).ran == ["p"]


def test_a_writing_key_pressed_again_writes_again() -> None:
    assert typed("uuu", 0.2).ran == ["u", "u", "u"]


def test_after_a_paste_keys_work_again() -> None:
    typist = typed("something pasted", 0.001)
    typist.press("j", 12.0)
    assert typist.ran == ["j"]


def test_what_comes_with_the_key_that_filters_is_text_for_its_line() -> None:
    gate = KeyGate()
    verdicts = [gate.feed(key, 10.0, moves=False, filters=key == "/") for key in "/session*dt"]
    assert set(verdicts) == {Verdict.HOLD}
    assert "".join(gate.due()) == "/session*dt"
    assert not gate.pasting(10.001)
    assert [gate.feed(key, 10.001, moves=False) for key in "*dt"] == [Verdict.BURST, Verdict.DROP, Verdict.DROP]
    later = [gate.feed(key, 11.0, moves=False, filters=key == "/") for key in "a path/of words"]
    assert Verdict.BURST in later


def test_a_key_that_comes_again_after_it_was_held_is_no_second_one() -> None:
    gate = KeyGate()
    for _ in range(3):
        assert {gate.feed(key, 10 + index * 0.001, moves=False) for index, key in enumerate("wjdt")} == {Verdict.HOLD}
        assert gate.due() == ("w", "j", "d", "t")


def test_a_fast_pair_runs_in_order() -> None:
    assert typed("dt", 0.002).ran == ["d", "t"]


def test_a_key_within_a_paste_is_part_of_it_until_it_is_quiet() -> None:
    gate = KeyGate()
    assert not gate.pasting(9.9)
    for index, key in enumerate("a line of text"):
        gate.feed(key, 10 + index * 0.001, moves=False)
    assert gate.pasting(10.1)
    assert gate.pasting(10.2)
    assert not gate.pasting(10.4)
