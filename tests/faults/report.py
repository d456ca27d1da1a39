"""What a campaign found: how much it tried, what broke, and the seed that tries it again."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple


class Result(NamedTuple):
    """One campaign, finished."""

    name: str
    counts: Counter[str]
    """What was tried and what was lost, in words: `kills`, `lost`, ..."""
    order: tuple[str, ...]
    """The counts to print, first to last; nought is said too."""
    broken: tuple[str, ...]
    """A sentence for each broken promise."""
    seed: int
    notes: tuple[str, ...] = ()
    """Measured figures, each said once."""

    @property
    def line(self) -> str:
        """The campaign in one line."""
        shown = [f"{self.counts[what]:,} {what}" for what in self.order]
        extra = [f"{count:,} {what}" for what, count in sorted(self.counts.items()) if what not in self.order]
        said = f"{self.name}: {', '.join(shown + extra)}, seed {self.seed}"
        return f"{said} ({'; '.join(self.notes)})" if self.notes else said


class Tally:
    """Counts while a campaign runs."""

    def __init__(self, name: str, *order: str, seed: int) -> None:
        """Begin with nothing."""
        self.name = name
        self.seed = seed
        self.order = order
        self.counts: Counter[str] = Counter()
        self.broken: list[str] = []
        self.notes: list[str] = []

    def add(self, what: str, count: int = 1) -> None:
        """Count something that was tried."""
        self.counts[what] += count

    def blame(self, what: str, sentence: str) -> None:
        """Count a broken promise, and keep what shows it."""
        self.counts[what] += 1
        self.broken.append(f"{what}: {sentence}")

    def blame_tests(self, done: CompletedProcess[str]) -> None:
        """Count the tests that failed in a run of pytest, as its summary names them."""
        for line in done.stdout.splitlines():
            if line.startswith(("FAILED ", "ERROR ")):
                self.blame("failed", line)
        if done.returncode and not self.broken:
            self.blame("failed", done.stdout[-2_000:] + done.stderr[-2_000:])

    def note(self, sentence: str) -> None:
        """Say a figure that was measured."""
        self.notes.append(sentence)

    def result(self) -> Result:
        """What was counted."""
        return Result(self.name, self.counts, self.order, tuple(self.broken), self.seed, tuple(self.notes))


Campaign = Callable[[Path, bool, int], Result]
"""(a folder of its own, whether to be short, the seed) to what it found."""
