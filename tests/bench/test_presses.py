"""How keys are timed, on programs whose answers are known, and how a tree is read from the screen."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench import soaks, world
from tests.bench.case import Plan
from tests.bench.presses import Pressed, answer, still
from tests.bench.screen import Screen

ECHO = """
import os, sys, time, tty
tty.setraw(0)
print("ready", end="", flush=True)
while True:
    key = os.read(0, 1)
    time.sleep({pause})
    os.write(1, key * {size})
"""


@pytest.fixture
def screens(tmp_path: Path) -> Iterator[tuple[Screen, Screen]]:
    """A slow program with long answers, and a quick one with short ones."""
    env = world.environment(str(tmp_path))
    slow = [sys.executable, "-c", ECHO.format(pause=0.06, size=50)]
    quick = [sys.executable, "-c", ECHO.format(pause=0.01, size=5)]
    with Screen(slow, env) as one, Screen(quick, env, size=(80, 24)) as two:
        one.wait_for(b"ready")
        two.wait_for(b"ready")
        yield one, two


def test_an_answer_has_a_time_and_a_size(screens: tuple[Screen, Screen]) -> None:
    seconds, size = answer(screens[0], "x")
    assert size == 50
    assert 0.06 <= seconds < 5


def test_one_measurement_gives_three_figures(screens: tuple[Screen, Screen]) -> None:
    begun = []
    pressed = Pressed(screens[0], ["x"] * 4, screens[1], before=lambda: begun.append(True), less=0.01)
    times, sizes, ratio = pressed.times(), pressed.sizes(), pressed.ratio()
    assert begun == [True]
    assert times.low >= 50
    assert (sizes.value, sizes.low) == (50, 50)
    assert ratio.value > 1
    pressed.ratio()
    assert begun == [True, True], "a second try is measured anew"


def test_a_still_screen_sends_nothing(screens: tuple[Screen, Screen]) -> None:
    assert still(screens[0], 1)().value == 0


def test_sizes_follow_the_form_of_the_run() -> None:
    assert Plan("", short=True).sizes((1,), (2, 3)) == (1,)
    assert Plan("").sizes((1,), (2, 3)) == (2, 3)


def test_rows_that_are_not_the_disk_are_counted(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    world.memories(str(tmp_path / "notes"), 4, folders=0)

    class Blind(soaks.Soak):
        """Reads a screen that is given."""

        def __init__(self) -> None:
            self._notes = os.fspath(tmp_path / "notes")

        def _shown(self, expected: int) -> dict[str, str]:
            assert expected == 4
            return {"memory-00000.md": "0", "memory-00001.md": "7", "memory-00002.md": "2", "gone.md": "9"}

    assert Blind().lost().value == 3


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            ">       memory-00007.md    A   What number 12 is about, in one line    now",
            ("memory-00007.md", "12"),
        ),
        (" *    new-3000007.md             What number 3 is about, in one line            1h", ("new-3000007.md", "3")),
        ("    v notes                          3,000 files  2.7 MB", None),
    ],
)
def test_a_row_is_read_from_the_screen(line: str, found: tuple[str, str] | None) -> None:
    row = soaks._ROW.match(line)
    assert (row and row.groups()) == found
