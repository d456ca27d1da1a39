"""What channels, schedules, deliveries, hosts and teams promise, by their own tests at the sizes it is stated for.

A run of the tests tries the same with less. What a machine lacks (OpenSSH, PostgreSQL) is skipped, and said so.
"""

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

from tests.examples import STATED
from tests.faults.report import Campaign, Result, Tally

CHECKOUT = Path(__file__).parents[2]
PATIENCE = 5_400
"""Seconds for one test."""
_FEATURES = "tests/features"
TESTS = {
    "journal": ("tests/engine/test_ledger_journal.py",),
    "attribution": (f"{_FEATURES}/attribution",),
    "schedules": (f"{_FEATURES}/schedules/test_due.py::{{year}}", f"{_FEATURES}/schedules/test_due_team.py::{{year}}"),
    "deliveries": (f"{_FEATURES}/delivery",),
    "hosts": (f"{_FEATURES}/hosts/test_verbs.py::{{cut}}", f"{_FEATURES}/hosts/test_remote_ssh.py"),
    "team": (f"{_FEATURES}/team", f"{_FEATURES}/budgets/test_team.py"),
}
"""The tests of each campaign; in the short form only the first, as small as a run of the tests has it."""
_NAMES = {
    "year": "test_each_due_time_of_a_year_ran_once_or_is_told_as_missed",
    "cut": "test_a_save_whose_connection_is_cut_is_made_once",
}


def run(name: str, base: Path, short: bool, seed: int) -> Result:
    """Run the tests of a campaign, and add up what they say they tried."""
    tally, said = Tally(name, "tests", "failed", "skipped", seed=seed), base / "tried"
    said.touch()
    tests = [one.format(**_NAMES) for one in TESTS[name]][: 1 if short else None]
    sizes = {} if short else {STATED: f"{seed}:{said}"}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-rfs", f"--timeout={PATIENCE}"]
    done = subprocess.run(
        [*command, f"--basetemp={base / 'tests'}", *tests],
        cwd=CHECKOUT,
        env={**os.environ, **sizes, "COLUMNS": "300"},
        capture_output=True,
        text=True,
    )
    for count, how in re.findall(r"(\d+) (passed|failed|skipped)", done.stdout.rpartition("\n=")[2]):
        tally.add("skipped" if how == "skipped" else "tests", int(count))
    for line in said.read_text().splitlines():
        count, _, what = line.partition(" ")
        tally.add(what, int(count))
    tally.blame_tests(done)
    return tally.result()


CAMPAIGNS: dict[str, Campaign] = {name: partial(run, name) for name in TESTS}
