"""The workbench as a user feels it, through a pseudo-terminal: badges, a burst, keys, typing, and nothing while idle.

A write counts from its end to the first byte of its row; a key from when it is sent to the last byte before the screen
is still. What a person waits is given in milliseconds; the bytes per key are what a slow line must carry.
"""

import contextlib
import itertools
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator

from tests.bench import world
from tests.bench.case import Case, Figure, Plan, latency, number
from tests.bench.commands import START, start
from tests.bench.screen import ROWS, Screen
from tests.bench.watches import PAUSE, in_place, replace

COUNT = 3_000
BURST = 1_000
BADGE_MS = 50.0
LARGE = 102_400
ANSWER = 0.03
"""Seconds without a byte after which a key is answered; what follows later is the preview, which waits on purpose."""
FILTERED = 0.015
"""The same for the filter, where box and list are the answer and the preview of another row follows at once."""
HEADS = 5
"""Rows above the memories, which are no memories: the pane beside them is drawn at once."""
IN_VIEW = 25
"""So many memories are on the screen, so that nothing has to scroll for them."""
IDLE_CPU = 0.5
_SEEDS = itertools.count(2_000_000)


def cases(plan: Plan) -> Iterator[Case]:
    """What others write, what the user presses, and nothing at all."""
    with workbench(plan, "badges", BURST) as (screen, notes):
        yield Case("write to badge", f"{BURST:,} memories", badges(screen, notes, plan.pick(12, 80)), BADGE_MS, "ms")
        yield Case("burst, badges missed", f"{BURST:,} writes", burst(screen, notes), 0, "")
    with workbench(plan, "keys", COUNT) as (screen, _):
        size, presses = f"{COUNT:,} rows", plan.pick(12, 60)
        # Absolute times are held on a quiet machine only; what is sent is the same everywhere.
        held = not plan.short
        for what, key, skipped, milliseconds, most in (
            ("down", "down", HEADS, 10.0, 2_048),
            ("down, scrolling", "down", ROWS, 10.0, None),
            ("pagedown", "pagedown", 0, 16.0, 10_240),
        ):
            pressing = Pressing(screen, key, min(presses, IN_VIEW if key == "down" else presses), skipped)
            yield Case(f"{what}, to last byte", size, pressing.times, milliseconds if held else None, "ms")
            yield Case(f"{what}, bytes", size, pressing.sizes, most, "B")
        letters = ["m", "e", "m", "o", *"00", *["backspace"] * 6]
        yield Case("filter, letter", size, filtering(screen, letters), 25.0 if held else None, "ms")
        yield Case("idle, bytes sent", size, still(screen, plan.pick(2, 10)), 0, "B")
        yield Case("idle, processor", size, idle(screen, plan.pick(5, 10)), IDLE_CPU if held else None, "%")
    with workbench(plan, "typing", 3, large=True) as (screen, _):
        yield Case("typing a letter", "100 KB", typing(screen, plan.pick(12, 60)), 35.0 if held else None, "ms")


@contextlib.contextmanager
def workbench(plan: Plan, name: str, count: int, *, large: bool = False) -> Iterator[tuple[Screen, str]]:
    """The workbench on one flat root, with everything recorded and the screen still."""
    folder = world.make(plan.folder, name)
    env = world.environment(folder)
    notes = world.make(folder, "notes")
    if large:
        with open(os.path.join(notes, "large.md"), "w", encoding="utf-8") as file:
            file.write(world.text(LARGE, 1))
    world.memories(notes, count, folders=0)
    words = [f"--root=notes={notes}", "--only-root"]
    start(START, [*words, "changes"], env)  # records what is there, so that it is no news
    with Screen([sys.executable, "-c", START, *words], env) as screen:
        screen.wait_for(b"memory-00001", b"help")
        screen.settle(0.7)
        yield screen, notes


def badges(screen: Screen, notes: str, writes: int) -> Callable[[], Figure]:
    """Write memories that are in view, one at a time, and wait for each row."""

    def measure() -> Figure:
        choose = random.Random(next(_SEEDS))
        times = []
        for turn in range(writes):
            name = f"memory-{turn % (ROWS // 2):05d}.md"
            data, seen = world.text(900, next(_SEEDS)).encode(), len(screen.raw)
            (in_place if turn % 2 else replace)(os.path.join(notes, name), data)
            written = time.monotonic()
            times.append(screen.wait_for(name.encode(), after=seen) - written)
            screen.watch(choose.uniform(*PAUSE))
        return latency(times, of=f"p95 of {writes} writes")

    return measure


def burst(screen: Screen, notes: str) -> Callable[[], Figure]:
    """Write every memory once, as fast as it goes; the header counts what the user has not seen."""

    def measure() -> Figure:
        for turn in range(BURST):
            data = world.text(900, next(_SEEDS)).encode()
            (in_place if turn % 2 else replace)(os.path.join(notes, f"memory-{turn:05d}.md"), data)
        written = time.monotonic()
        last = screen.settle(1.5)
        shown = re.findall(rb"A([\d,]+) agent edits", screen.raw)
        missed = BURST - int(shown[-1].replace(b",", b"")) if shown else BURST
        return Figure(missed, missed, missed, f"{number((last - written) * 1000)} ms", "until the screen is still")

    return measure


def answers(screen: Screen, pressed: list[str], gap: float = ANSWER) -> tuple[list[float], list[int]]:
    """Press keys one after the other; gives the seconds and the bytes of each answer, which ends with a gap."""
    times, sizes = [], []
    for key in pressed:
        before = len(screen.raw)
        then = screen.press(key)
        assert screen.pump(2.0), f"no answer to {key}"
        times.append(screen.settle(gap) - then)
        sizes.append(len(screen.raw) - before)
        screen.settle(0.15)
    return times, sizes


class Pressing:
    """One key many times from the top: how long the answers take, and how large they are."""

    def __init__(self, screen: Screen, key: str, presses: int, skipped: int) -> None:
        """Press nothing yet; so many presses are not measured."""
        self._screen, self._keys, self._skipped = screen, [key] * presses, skipped
        self._sizes: list[int] = []

    def times(self) -> Figure:
        """How long the answers take."""
        self._screen.press("home")
        self._screen.settle()
        for key in self._keys[:1] * self._skipped:
            self._screen.press(key)
        self._screen.settle()
        times, self._sizes = answers(self._screen, self._keys)
        return latency(times, of=f"p95 of {len(times)} keys")

    def sizes(self) -> Figure:
        """How many bytes the largest answer of the last try has."""
        sizes = sorted(self._sizes)
        return Figure(sizes[-1], sizes[0], sizes[-1], f"median {sizes[len(sizes) // 2]:,} B", f"of {len(sizes)} keys")


def filtering(screen: Screen, letters: list[str]) -> Callable[[], Figure]:
    """Type into the filter and take it back."""

    def measure() -> Figure:
        answers(screen, ["/"])
        times, _ = answers(screen, letters, FILTERED)
        screen.press("esc")
        screen.settle(0.5)
        return latency(times, of=f"p95 of {len(letters)} keys")

    return measure


def typing(screen: Screen, letters: int) -> Callable[[], Figure]:
    """Type into the large memory."""

    def measure() -> Figure:
        if not opened:
            for key in ("/", *"large", "enter", "enter"):
                screen.press(key)
                screen.settle(0.25)
            opened.append(True)
        return latency(answers(screen, ["x"] * letters)[0], of=f"p95 of {letters} letters")

    opened: list[bool] = []
    return measure


def still(screen: Screen, seconds: int) -> Callable[[], Figure]:
    """How many bytes are sent while nothing happens."""

    def measure() -> Figure:
        screen.settle(1.0)
        found = screen.watch(seconds)
        return Figure(found, found, found, f"{found} B", f"in {seconds} s")

    return measure


def idle(screen: Screen, seconds: int) -> Callable[[], Figure]:
    """How much of a core is used while nothing happens and everything is watched."""

    def measure() -> Figure:
        screen.settle(0.5)
        before, then = screen.processor(), time.monotonic()
        screen.watch(seconds)
        used = (screen.processor() - before) / (time.monotonic() - then) * 100
        return Figure(used, used, used, f"{number(used)} %", f"of a core in {seconds} s")

    return measure
