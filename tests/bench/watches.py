"""From an outside write to the line of `memtui watch --json` that tells of it, in place and by replacing.

A write counts from the moment it is finished to the line with its own sha-256, which comes after the text was seen
twice; the time between writes is random, so that none locks onto a step of the watcher.
"""

import hashlib
import itertools
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from types import TracebackType
from typing import Any, Self

from tests.bench import world
from tests.bench.case import Case, Figure, Plan, latency
from tests.bench.commands import START

LIMIT_MS = 250.0
PAUSE = (0.05, 0.4)
"""Seconds between two writes, from and to."""
PATIENCE = 10.0
_SEEDS = itertools.count(1_000_000)


def cases(plan: Plan) -> Iterator[Case]:
    """Two sizes of root, two styles of writing."""
    env = world.environment(plan.folder)
    writes = plan.pick(8, 60)
    for count in (100, 10_000):
        notes = world.make(plan.folder, f"notes-{count}")
        paths = world.memories(notes, count)
        with Follower(notes, env) as follower:
            for style, write in (("in place", in_place), ("replaced", replace)):
                size = f"{count:,} memories, {style}"
                yield Case("write to event", size, followed(follower, notes, paths, write, writes), LIMIT_MS, unit="ms")


def followed(
    follower: "Follower", notes: str, paths: list[str], write: Callable[[str, bytes], None], writes: int
) -> Callable[[], Figure]:
    """Write this often, each time another memory, and wait for each to be told."""

    def measure() -> Figure:
        choose = random.Random(next(_SEEDS))
        sent: dict[str, float] = {}
        for _ in range(writes):
            data = world.text(900, next(_SEEDS)).encode()
            write(os.path.join(notes, choose.choice(paths)), data)
            sent[hashlib.sha256(data).hexdigest()] = time.monotonic()
            time.sleep(choose.uniform(*PAUSE))
        told = follower.wait_for(sent.keys(), PATIENCE)
        missed = f", {len(sent) - len(told)} MISSED" if len(told) < len(sent) else ""
        times = [told.get(sha, PATIENCE + at) - at for sha, at in sent.items()]
        return latency(times, of=f"p95 of {writes} writes{missed}")

    return measure


def in_place(path: str, data: bytes) -> None:
    """Write over a file, as many agents do."""
    with open(path, "wb") as file:
        file.write(data)


def replace(path: str, data: bytes) -> None:
    """Write beside a file and rename over it, as careful agents do."""
    folder, name = os.path.split(path)
    temp = os.path.join(folder, f".{name}.tmp")
    with open(temp, "wb") as file:
        file.write(data)
    os.replace(temp, path)


class Follower:
    """`memtui watch --json` as a child, its lines read as they come."""

    def __init__(self, notes: str, env: Mapping[str, str]) -> None:
        """Start it and wait until the watch stands."""
        self._told: dict[str, float] = {}
        self._news = threading.Condition()
        self._standing = False
        self._child = subprocess.Popen(
            [sys.executable, "-c", START, f"--root=notes={notes}", "--only-root", "watch", "--json"],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=env["HOME"],
        )
        threading.Thread(target=self._read, daemon=True).start()
        with self._news:
            assert self._news.wait_for(lambda: self._standing, timeout=60), "the watch does not stand"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.terminate()
        self._child.communicate()

    @property
    def pid(self) -> int:
        """The child's process."""
        return self._child.pid

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            now = time.monotonic()
            batch: dict[str, Any] = json.loads(line)
            with self._news:
                for change in batch["changes"]:
                    self._told.setdefault(change["after"], now)
                self._standing |= bool(batch["health"]) and batch["health"]["state"] == "watching"
                self._news.notify_all()

    def wait_for(self, shas: AbstractSet[str], seconds: float) -> dict[str, float]:
        """Wait until each of these versions was told; gives when, for those that were."""
        with self._news:
            self._news.wait_for(lambda: shas <= self._told.keys(), timeout=seconds)
            return {sha: self._told[sha] for sha in shas if sha in self._told}
