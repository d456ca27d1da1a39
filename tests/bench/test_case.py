"""How a measurement is taken and judged, with jobs whose times are known."""

import json
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.bench import __main__ as program
from tests.bench import case, lists, world
from tests.bench.case import Case, Figure, Plan, SkippedError


def figures(*values: float) -> Callable[[], Figure]:
    """A measurement that gives these values, one for each try."""
    left = list(values)
    return lambda: Figure(left.pop(0), 0, 0, "1 ms")


@pytest.mark.parametrize(
    ("tries", "at_least", "value", "verdict"),
    [
        ((2.0,), False, 2.0, "ok"),
        ((3.0, 2.4), False, 2.4, "ok"),
        ((3.0, 2.7, 2.9), False, 2.7, "OVER"),
        ((90.0, 2.6), True, 90.0, "ok"),
        ((1.0, 2.0, 1.5), True, 2.0, "OVER"),
    ],
)
def test_the_best_of_three_tries_counts(tries: tuple[float, ...], at_least: bool, value: float, verdict: str) -> None:
    line = case.settle("save", Case("a save", "4 KB", figures(*tries), 2.5, at_least=at_least))
    assert (line.value, line.verdict) == (value, verdict)
    assert verdict in str(line)


@pytest.mark.parametrize(("tries", "at_least"), [((3.0,), False), ((2.0,), True), ((5.0, 2.4), False)])
def test_what_is_within_the_slack_is_over_but_not_tried_again(tries: tuple[float, ...], at_least: bool) -> None:
    line = case.settle("save", Case("a save", "4 KB", figures(*tries), 2.5, at_least=at_least), 1.5)
    assert line.value == tries[-1]
    assert line.verdict == ("OVER" if len(tries) == 1 else "ok")


def test_without_a_limit_one_try_is_shown() -> None:
    assert case.settle("save", Case("a save", "4 KB", figures(7.0), None)).verdict == "shown"


def test_what_is_not_installed_is_skipped_and_said() -> None:
    def missing() -> Figure:
        raise SkippedError("nobody has it")

    line = case.settle("save", Case("a save", "4 KB", missing, 2.0))
    assert line.value is None
    assert "skipped: nobody has it" in str(line)


def test_two_jobs_take_turns_and_the_middle_ratio_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    clock = iter(range(10_000))
    pace = {"ours": 6, "theirs": 2}
    now = 0

    def tick() -> int:
        next(clock)
        return now * 1_000_000

    def job(name: str) -> Callable[[], None]:
        def run() -> None:
            nonlocal now
            order.append(name)
            now += pace[name]

        return run

    monkeypatch.setattr(case, "time", SimpleNamespace(perf_counter_ns=tick))
    found = case.compare(job("ours"), job("theirs"), rounds=4, name="bare")
    assert (found.value, found.low, found.high) == (3.0, 3.0, 3.0)
    assert (found.ours, found.yardstick) == ("6 ms", "bare 2 ms")
    assert order == ["theirs", "ours", "ours", "theirs"] * 2 + ["theirs", "ours"]
    less = case.compare(job("ours"), job("theirs"), rounds=3, name="bare", less=lambda: 0.002)
    assert less.value == 2.0


def test_percentiles() -> None:
    assert case.percentile(range(101), 0.95) == 95
    assert case.percentile([4.0], 0.95) == 4.0
    found = case.latency([0.001] * 95 + [0.2] * 5 + [0.1], of="writes")
    assert found.value == pytest.approx(100)
    assert found.high == pytest.approx(200)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.12345, "0.123"), (3.14159, "3.14"), (1234.5, "1,234"), (99.96, "100")]
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert case.number(value) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.0000123, "12 us"), (0.0123, "12.3 ms"), (2.5, "2.50 s")])
def test_durations_have_a_unit(seconds: float, text: str) -> None:
    assert case.duration(seconds) == text


def test_a_memory_has_its_size_and_is_the_same_each_time() -> None:
    assert len(world.text(4096, 3).encode()) == 4096
    assert world.text(4096, 3) == world.text(4096, 3) != world.text(4096, 4)


def test_the_yardsticks_look_at_every_file(tmp_path: Path) -> None:
    paths = world.memories(str(tmp_path), 40, folders=3)
    assert lists.stats(str(tmp_path)) == len(lists.digests(str(tmp_path))) == len(set(paths)) == 40


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the program find one measurement, `save`, with these cases."""

    def take(*found: Case) -> None:
        def cases(plan: Plan) -> Iterator[Case]:
            assert Path(plan.folder).is_dir()
            yield from found

        monkeypatch.setattr(program, "import_module", lambda _: SimpleNamespace(cases=cases))

    return take


@pytest.mark.parametrize(("value", "status"), [(1.0, 0), (9.0, 1)])
def test_a_broken_limit_is_the_exit_status(
    value: float, status: int, measured: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured(Case("a save", "4 KB", figures(value, value, value), 2.5), Case("a look", "", figures(8.0), None))
    report = tmp_path / "report.json"
    assert program.main(["save", "--short", "--json", str(report), "--dir", str(tmp_path)]) == status
    said = capsys.readouterr().out
    assert f"2 measured, {status} over, 0 skipped" in said
    assert ("broken: save: a save 4 KB: 9x, limit 2.5x, 3.6 times its limit" in said) is bool(status)
    assert [line["value"] for line in json.loads(report.read_text())] == [value, 8.0]
    assert list(tmp_path.glob("memtui-bench-*")) == []


def test_every_measurement_has_its_module() -> None:
    for module in program.NAMES.values():
        assert callable(import_module(f"tests.bench.{module}").cases)


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program.main(["flight"])
    assert "no measurement flight" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "unit", "limit", "at_least", "slack", "expected"),
    [
        (1.4, "x", 1.3, False, 1.0, True),
        (1.4, "x", 1.3, False, 1.5, False),
        (2.0, "x", 1.3, False, 1.5, True),
        (2.0, "ms", 1.3, False, 1.5, False),
        (3.0, "ms", 1.3, False, 1.5, True),
        (1.4, "ms", 1.3, False, 1.0, True),
        (1.0, "", 0.0, False, 9.0, True),
        (80.0, "x", 100.0, True, 1.5, False),
        (50.0, "x", 100.0, True, 1.5, True),
    ],
)
def test_slack_forgives_a_busy_machine(
    value: float, unit: str, limit: float, at_least: bool, slack: float, expected: bool
) -> None:
    line = case.Line("n", "w", "s", "", "", value, 0, 0, unit, limit, "OVER", at_least)
    assert bool(program.broken([line], slack)) is expected
    assert not program.broken([line._replace(verdict="ok")], slack)


@pytest.mark.parametrize(
    ("tries", "status", "said"),
    [
        ((9.0,) * 3 + (2.0,), 0, ""),
        ((9.0,) * 3 + (4.0,), 0, ""),
        ((9.0,) * 3 + (9.5, 8.0, 9.9), 1, "broken: save: a save 4 KB: 8x, limit 2.5x, 3.2 times its limit"),
        ((9.0,) * 3 + (9.5, 9.6, 9.9), 1, "broken: save: a save 4 KB: 9x, limit 2.5x, 3.6 times its limit"),
    ],
)
def test_what_is_broken_beyond_the_slack_is_measured_again_and_named_at_the_end(
    tries: tuple[float, ...], status: int, said: str, measured: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    left = figures(*tries)
    measured(Case("a save", "4 KB", left, 2.5), Case("a look", "", lambda: Figure(1.0, 0, 0, ""), 1.0))
    assert program.main(["save", "--slack", "2"]) == status
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == said if status else last.startswith("2 measured")
    with pytest.raises(IndexError):
        left()  # all tries were taken


def test_what_is_over_a_limit_of_nothing_is_not_measured_again(
    measured: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    measured(Case("edits lost", "", figures(5, 3, 4), 0, " lost"))
    assert program.main(["save", "--slack", "9"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "broken: save: edits lost: 3 lost, limit 0 lost"
