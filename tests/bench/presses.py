"""Keys sent to programs in pseudo-terminals, and their answers: how long, how large, how many times a yardstick.

An answer ends with the last byte before the screen is still; what is read later, such as a preview, waits on purpose
and is no part of it. Both programs run all the time and are asked in turn, so a busy machine slows both.
"""

import itertools
import statistics
import time
from collections.abc import Callable, Sequence

from tests.bench.case import Figure, duration, latency, number
from tests.bench.screen import Screen

GAP = 0.03
"""Seconds without a byte after which a key is answered."""
FILTERED = 0.015
"""The same for the filter, where box and list are the answer and the preview of another row follows at once."""
PAUSE = 0.15
"""Seconds without a byte before the next key: what follows an answer is over."""


def answer(screen: Screen, key: str, gap: float = GAP, pause: float = PAUSE) -> tuple[float, int]:
    """Press a key; gives the seconds and the bytes of its answer, which ends with a gap."""
    before = len(screen.raw)
    then = screen.press(key)
    assert screen.pump(5.0), f"no answer to {key}"
    seconds, size = screen.settle(gap) - then, len(screen.raw) - before
    if pause:
        screen.settle(pause)
    return seconds, size


class Pressed:
    """The same keys pressed in ours and in a yardstick, in turn; three figures of one measurement."""

    def __init__(
        self,
        ours: Screen,
        keys: Sequence[str],
        yardstick: Screen,
        *,
        theirs: Sequence[str] = (),
        name: str = "empty app",
        gap: float = GAP,
        less: float = 0.0,
        before: Callable[[], None] = lambda: None,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        """Press nothing yet.

        Args:
            ours: memtui.
            keys: one after the other.
            yardstick: the other program.
            theirs: what is pressed there; the same keys if not given.
            name: the yardstick's.
            gap: seconds without a byte that end an answer of ours.
            less: seconds ours waits on purpose before it answers.
            before: brings both to where the keys begin.
            after: brings ours back behind each key.
        """
        self._ours, self._keys = ours, keys
        self._yardstick, self._theirs, self._name = yardstick, theirs or keys, name
        self._gap, self._less, self._before, self._after = gap, less, before, after
        self._own: list[float] = []
        self._other: list[float] = []
        self._sizes: list[int] = []

    def _measure(self) -> None:
        self._own, self._other, self._sizes = [], [], []
        self._before()
        for own, other in zip(self._keys, self._theirs, strict=True):
            seconds, size = answer(self._ours, own, self._gap)
            self._own.append(seconds - self._less)
            self._sizes.append(size)
            self._after()
            self._other.append(answer(self._yardstick, other, self._gap, pause=0)[0])

    def times(self) -> Figure:
        """How long ours takes, in milliseconds."""
        self._measure()
        return latency(self._own, of=f"p95 of {len(self._own)} keys")

    def ratio(self) -> Figure:
        """How many times the yardstick's answer that is; of the last try, and taken anew when asked for again."""
        if not self._own:
            self._measure()
        own, other = self._own, self._other
        ratios = [one / two for one, two in zip(own, other, strict=True)]
        middle, against = statistics.median(own), statistics.median(other)
        self._own = []
        said = f"{self._name} {duration(against)}"
        return Figure(statistics.median(ratios), min(ratios), max(ratios), duration(middle), said)

    def sizes(self) -> Figure:
        """How many bytes the largest answer of the last try has."""
        sizes = sorted(self._sizes)
        return Figure(sizes[-1], sizes[0], sizes[-1], f"median {sizes[len(sizes) // 2]:,} B", f"of {len(sizes)} keys")


def go_to_top(*screens: Screen, below: int = 0, pages: int = 0) -> None:
    """Bring the cursor of each to so many rows below the first one, and then so many pages further."""
    for screen in screens:
        for key in ("home", *["down"] * below, *["pagedown"] * pages):
            screen.press(key)
            screen.settle(0.04)
        screen.settle(0.2)


def going_down(*screens: Screen, below: int, pages: int) -> Callable[[], None]:
    """Bring the cursors to rows nobody looked at at each try: the text of one that was is drawn with the cursor."""
    tries = itertools.count()

    def go() -> None:
        go_to_top(*screens, below=below, pages=pages * next(tries))

    return go


def filtering(screen: Screen, letters: Sequence[str]) -> Callable[[], Figure]:
    """Type into the filter and take it back."""

    def measure() -> Figure:
        answer(screen, "/")
        times = [answer(screen, letter, FILTERED)[0] for letter in letters]
        screen.press("esc")
        screen.settle(0.5)
        return latency(times, of=f"p95 of {len(letters)} keys")

    return measure


def still(screen: Screen, seconds: int) -> Callable[[], Figure]:
    """How many bytes are sent while nothing happens."""

    def measure() -> Figure:
        screen.settle(1.0)
        found = screen.watch(seconds)
        return Figure(found, found, found, f"{found} B", f"in {seconds} s")

    return measure


class Idle:
    """Programs that have nothing to do, looked at in the same seconds."""

    def __init__(self, screens: Sequence[Screen], seconds: int) -> None:
        """Watch nothing yet."""
        self._screens, self._seconds = screens, seconds
        self._used: dict[Screen, float] = {}

    def processor(self, screen: Screen) -> Callable[[], Figure]:
        """How much of a core one of them uses, of all its threads; of the last look, anew when asked for again."""

        def measure() -> Figure:
            if screen not in self._used:
                self._look()
            used = self._used.pop(screen)
            return Figure(used, used, used, f"{number(used)} %", f"of a core in {self._seconds} s")

        return measure

    def _look(self) -> None:
        for screen in self._screens:
            screen.settle(1.0)
        before, then = [screen.processor() for screen in self._screens], time.monotonic()
        time.sleep(self._seconds)
        passed = time.monotonic() - then
        for screen, used in zip(self._screens, before, strict=True):
            self._used[screen] = (screen.processor() - used) / passed * 100
            screen.pump(0)
