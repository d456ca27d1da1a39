"""Every campaign in its short form, and a counter-check: one that finds something says so and fails."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.faults import __main__ as entry
from tests.faults import children
from tests.faults.report import Result, Tally
from tests.races import versions


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", entry.CAMPAIGNS)
def test_a_campaign_breaks_no_promise(name: str, tmp_path: Path) -> None:
    if name == "versions" and not versions.available():
        pytest.skip("this clone has no history")
    command = [sys.executable, "-m", "tests.faults", name, "--short", "--seed", "1", "--dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{name}: ")
    assert "seed 1" in done.stdout


def test_a_broken_promise_is_printed_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(base: Path, short: bool, seed: int) -> Result:
        tally = Tally("kills", "kills", "lost", seed=seed)
        tally.add("kills", 3)
        tally.blame("lost", "a.md")
        return tally.result()

    monkeypatch.setitem(entry.CAMPAIGNS, "kills", broken)
    monkeypatch.setattr(sys, "argv", ["faults", "kills", "--seed", "7", "--dir", str(tmp_path)])
    assert entry.main() == 1
    said = capsys.readouterr()
    assert said.out.startswith("kills: 3 kills, 1 lost, seed 7")
    assert "lost: a.md" in said.err


def test_an_unknown_campaign_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["faults", "nonsense"])
    with pytest.raises(SystemExit):
        entry.main()


def test_figures_are_said_after_the_counts() -> None:
    result = Result("x", Counter({"b": 2, "a": 1_000}), ("b", "c"), (), 1, ("p99 1 ms",))
    assert result.line == "x: 2 b, 0 c, 1,000 a, seed 1 (p99 1 ms)"


def test_a_child_s_end_is_known() -> None:
    assert children.run(lambda: 42) == (False, 42, "")
    assert children.run(lambda: os.kill(os.getpid(), 9)).killed
    assert "ZeroDivisionError" in children.run(lambda: 1 // 0).trace
