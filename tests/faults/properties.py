"""Every property on all of its examples, of which a run of the tests tries an eighth."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.examples import ALL
from tests.faults.report import Result, Tally

CHECKOUT = Path(__file__).parents[2]
SHORT = ("tests/test_matching.py",)
PATIENCE = 1_200
"""Seconds for one property."""


def run(base: Path, short: bool, seed: int) -> Result:
    """Run them all, or in the short form those of one file.

    Args:
        base: a folder for everything that is written.
        short: whether to be short.
        seed: of the examples.
    """
    tally = Tally("properties", "properties", "failed", seed=seed)
    command = [sys.executable, "-m", "pytest", "-m", "hypothesis", "-p", "no:cacheprovider", "-rf"]
    command += [f"--hypothesis-seed={seed}", f"--timeout={PATIENCE}", f"--basetemp={base / 'tests'}"]
    done = subprocess.run(
        [*command, *(SHORT if short else ())],
        cwd=CHECKOUT,
        env={**os.environ, ALL: "1"},
        capture_output=True,
        text=True,
    )
    tally.add("properties", sum(int(count) for count in re.findall(r"(\d+) (?:passed|failed)", done.stdout)))
    tally.blame_tests(done)
    return tally.result()
