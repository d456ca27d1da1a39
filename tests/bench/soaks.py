"""An agent that writes fifty memories a second while somebody works: keys, memory, and whether the screen is the disk.

At the end the whole tree is read from the screen, row by row, and compared with the files: names and texts.
"""

import itertools
import os
import random
import re
import threading
import time
from collections.abc import Iterator, Mapping

import pyte

from tests.bench import starts, world
from tests.bench.case import Case, Figure, Plan, latency, number
from tests.bench.screen import Screen
from tests.bench.terminal import running
from tests.bench.watches import in_place, replace
from tests.terminal import for_pyte

COUNT, RATE = 3_000, 50
WIDE = (200, 60)
"""A screen on which a row has room for the whole description, which names the text."""
KEY_MS, GROWTH = 50.0, 1.3
CURSOR = b">"
"""What only the row under the cursor begins with."""
AFTER = 4.0
"""Seconds without a byte after which nothing more is expected; a file that vanished is believed to be gone before."""
_ROW = re.compile(r"^[> ][ *]\s+(\S+\.md)\s.*What number (\d+) is about")
_SEEDS = itertools.count(3_000_000)


def cases(plan: Plan) -> Iterator[Case]:
    """One soak, three figures."""
    ours = starts.workbench(world.make(plan.folder, "soak"), world.environment(plan.folder), COUNT)
    starts.recorded(ours)
    with running(ours, WIDE) as screen:
        soak = Soak(screen, os.path.join(plan.folder, "soak", "notes"), plan.pick(5, 20))
        size = f"{RATE} writes a second"
        yield Case("key to cursor, others writing", size, soak.keys, KEY_MS, "ms")
        yield Case("memory, grown", size, soak.grown, GROWTH)
        yield Case("rows that are not the disk", f"{COUNT:,} rows", soak.lost, 0, "")


class Soak:
    """A writer, a user, and what is left of both."""

    def __init__(self, screen: Screen, notes: str, seconds: int) -> None:
        """Note what is used before."""
        self._screen, self._notes, self._seconds = screen, notes, seconds
        self._before = screen.memory()
        self._writes = 0
        self._zoomed = False

    def keys(self) -> Figure:
        """How long the cursor takes to move meanwhile."""
        ended = threading.Event()
        writer = threading.Thread(target=self._write, args=(ended,))
        writer.start()
        times = []
        try:
            end = time.monotonic() + self._seconds
            for turn in itertools.count():
                if time.monotonic() >= end:
                    break
                seen = len(self._screen.raw)
                pressed = self._screen.press("up" if turn % 40 >= 20 else "down")
                times.append(self._screen.wait_for(CURSOR, after=seen) - pressed)
                self._screen.watch(0.1)
        finally:
            ended.set()
            writer.join()
        self._screen.settle(AFTER, seconds=60)
        return latency(times, of=f"p95 of {len(times)} keys, {self._writes:,} writes")

    def _write(self, ended: threading.Event) -> None:
        """Write until told to stop, then make, delete and rename some; never quicker than the rate."""
        choose = random.Random(next(_SEEDS))
        started = time.monotonic()
        while not ended.is_set():
            path = os.path.join(self._notes, f"memory-{choose.randrange(COUNT):05d}.md")
            (in_place if self._writes % 2 else replace)(path, _text())
            self._writes += 1
            time.sleep(max(0.0, started + self._writes / RATE - time.monotonic()))
        names = sorted(os.listdir(self._notes))
        for turn, name in enumerate(choose.sample(names, 3 * RATE)):
            path = os.path.join(self._notes, name)
            if turn % 3 == 0:
                os.unlink(path)
            elif turn % 3 == 1:
                os.rename(path, os.path.join(self._notes, f"moved-{next(_SEEDS)}.md"))
            else:
                replace(os.path.join(self._notes, f"new-{next(_SEEDS)}.md"), _text())
            self._writes += 1
            time.sleep(1 / RATE)

    def grown(self) -> Figure:
        """How many times the memory is used that was used before."""
        now = self._screen.memory()
        value = now / self._before
        return Figure(value, value, value, f"{number(now / 2**20)} MiB", f"before {number(self._before / 2**20)} MiB")

    def lost(self) -> Figure:
        """How many rows the screen does not show as they are on disk, or shows though they are not there."""
        there = {name: _number(os.path.join(self._notes, name)) for name in os.listdir(self._notes)}
        shown = self._shown(len(there))
        wrong = sum(shown.get(name) != there.get(name) for name in shown.keys() | there.keys())
        return Figure(wrong, wrong, wrong, f"{len(shown):,} rows", f"{len(there):,} files")

    def _shown(self, expected: int) -> Mapping[str, str]:
        """Read the tree from the screen, page by page to its end: names, and the numbers of their texts."""
        screen = self._screen
        picture = pyte.Screen(*WIDE)
        stream = pyte.ByteStream(picture)
        found: dict[str, str] = {}
        taken = 0
        zoom = [] if self._zoomed else ["z"]
        self._zoomed = True
        for key in (*zoom, "home", *["pagedown"] * (expected // (WIDE[1] // 2))):
            screen.press(key)
            if not screen.pump(2.0) and key == "pagedown":
                break  # the end of the list
            screen.settle(0.15)
            stream.feed(for_pyte(bytes(screen.raw[taken:])))
            taken = len(screen.raw)
            for line in picture.display:
                if row := _ROW.match(line):
                    found[row[1]] = row[2]
        return found


def _text() -> bytes:
    """Another text each time."""
    return world.text(900, next(_SEEDS)).encode()


def _number(path: str) -> str:
    """The number of a text."""
    with open(path, encoding="utf-8") as file:
        return file.read().split("What number ", 1)[1].split(" ", 1)[0]
