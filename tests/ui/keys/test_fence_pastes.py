"""Pastes run nothing, people's keys all run, and a key held down writes once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtui.ui.keys.fence import KEY_DELAY, PASTE_QUIET, PasteWatch, Verdict

WRITES = frozenset("punrdUxe")
MOVES = frozenset("jkhlG{}t")


class Typist:
    """Types keys at given times into the watch, as the fence does, and remembers what ran."""

    def __init__(self) -> None:
        self.watch = PasteWatch()
        self.waiting: list[tuple[float, str]] = []
        self.ran: list[str] = []
        self.burst = False
        self.quiet_until = 0.0

    def press(self, key: str, at: float) -> None:
        if self.waiting:
            self.give(min(at, self.waiting[-1][0] + KEY_DELAY))
        self.give(at)
        if at < self.quiet_until:
            self.quiet_until = at + PASTE_QUIET
            return
        self.waiting.append((at, key))
        self.give(at)

    def give(self, now: float) -> None:
        while self.waiting:
            key = self.waiting[0][1]
            match self.watch.judge(self.waiting, now, moves=key in MOVES, writes=key in WRITES):
                case Verdict.WAIT:
                    return
                case Verdict.PASTE:
                    self.burst, self.quiet_until = True, now + PASTE_QUIET
                    self.waiting.clear()
                case Verdict.RUN:
                    self.ran.append(self.waiting.pop(0)[1])
                case Verdict.DROP:
                    self.waiting.pop(0)

    def rest(self) -> None:
        while self.waiting:
            self.give(self.waiting[0][0] + KEY_DELAY)


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
    watch = PasteWatch()
    keys = [(10.0, key) for key in "/session*dt"]
    assert watch.judge(keys, 10.0, moves=False, filters=True) is Verdict.WAIT
    assert watch.judge(keys, 10.0 + KEY_DELAY, moves=False, filters=True) is Verdict.RUN
    assert watch.judge(keys[1:], 10.0 + KEY_DELAY, moves=False) is Verdict.PASTE  # where it opened no line
    later = [(11.0, key) for key in "a path/of words"]
    assert watch.judge(later, 11.0, moves=False) is Verdict.PASTE


def test_a_fast_pair_runs_in_order() -> None:
    assert typed("dt", 0.002).ran == ["d", "t"]
