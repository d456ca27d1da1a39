"""Take memtui's measurements and print a line for each: `python -m tests.bench [NAME ...] [--short] [--json FILE]`.

Limits are ratios to a yardstick of the same run (or what a user waits, in milliseconds); A and B take turns, medians
of the rounds' ratios count, and a limit is broken when the best of three tries is over it. Exit 1: a limit is broken,
by more than `--slack` where a machine shared with others is only asked whether something became much slower; what is
broken there is measured once more at the end, and the last line names what stays so.
"""

import argparse
import contextlib
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib import import_module

from tests.bench.case import Line, Measurement, Plan, number, room, settle

NAMES = {
    "save": "saves",
    "team": "teams",
    "read": "reads",
    "list": "lists",
    "command": "commands",
    "watch": "watches",
    "terminal": "terminal",
    "screen": "screens",
    "soak": "soaks",
    "load": "loads",
    "search": "searches",
    "merge": "merges",
    "context": "contexts",
    "mcp": "servers",
    "serve": "daemons",
    "agents-tool": "sdk_tool",
    "home": "homes",
    "dream": "dreams",
    "observations": "observations",
    "task": "tasks",
    "task-soak": "task_soak",
}
"""Each measurement and its module, which has a function `cases`; imported when it is taken."""


def run(name: str, plan: Plan) -> list[Line]:
    """Take one measurement and print its lines."""
    cases: Measurement = import_module(f"tests.bench.{NAMES[name]}").cases
    lines = []
    start = time.monotonic()
    with contextlib.closing(cases(plan)) as found:  # type: ignore[type-var]
        for case in found:
            lines.append(settle(name, case, plan.slack))
            print(lines[-1], flush=True)
    print(f"-- {name}: {time.monotonic() - start:.0f} s", flush=True)
    return lines


def excess(line: Line) -> float:
    """By which factor a line is over its limit; one that is over a limit of nothing is so without end."""
    if line.value is None or not line.limit:
        return math.inf
    if line.at_least:
        return line.limit / line.value if line.value else math.inf
    return line.value / line.limit


def broken(lines: Iterable[Line], slack: float) -> list[Line]:
    """The lines that are over their limit by more than a factor."""
    return [line for line in lines if line.verdict == "OVER" and excess(line) > room(line.unit, slack)]


def again(lines: list[Line], slack: float, take: Callable[[str], list[Line]]) -> list[Line]:
    """Measure what is broken once more, as what kept the machine busy may be over, and keep the better of the two."""
    broke = [line for line in broken(lines, slack) if not math.isinf(excess(line))]
    if broke:
        print("-- broken so far, so measured again:")
    anew = [line for name in dict.fromkeys(line.name for line in broke) for line in take(name)]
    better = {line[:3]: line for line in anew}
    return [min(line, better[line[:3]], key=excess) if line in broke else line for line in lines]


def named(line: Line) -> str:
    """What broke, and by how much."""
    over = "" if math.isinf(excess(line)) else f", {number(excess(line))} times its limit"
    value, limit = (f"{number(one or 0)}{line.unit}" for one in (line.value, line.limit))
    return f"{' '.join(f'{line.name}: {line.what} {line.size}'.split())}: {value}, limit {limit}{over}"


def main(words: list[str] | None = None) -> int:
    """Take the measurements asked for; the exit status says whether every limit holds."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; all if none is given")
    parser.add_argument("--short", action="store_true", help="smaller sizes: the whole in about five minutes")
    parser.add_argument("--json", metavar="FILE", help="write the lines there as well")
    parser.add_argument("--posting", metavar="PATH", help="the program `posting`, to compare the start with")
    parser.add_argument("--slack", type=float, default=1.0, help="exit 1 only when over a limit by this factor")
    parser.add_argument("--dir", metavar="DIR", help="where to write; the default is the folder for temporary files")
    chosen = parser.parse_args(words)
    if unknown := set(chosen.names) - NAMES.keys():
        parser.error(f"no measurement {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    start, slack = time.monotonic(), chosen.slack

    def take(name: str) -> list[Line]:
        with tempfile.TemporaryDirectory(prefix="memtui-bench-", dir=chosen.dir) as folder:
            return run(name, Plan(folder, chosen.short, chosen.posting, slack))

    lines = [line for name in chosen.names or NAMES for line in take(name)]
    if slack > 1:
        lines = again(lines, slack, take)
    over = [line for line in lines if line.verdict == "OVER"]
    skipped = [line for line in lines if line.value is None]
    print(f"{len(lines)} measured, {len(over)} over, {len(skipped)} skipped, in {time.monotonic() - start:.0f} s")
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump([line._asdict() for line in lines], file, indent=1)
    broke = broken(over, slack)
    if broke:
        print("broken:", "; ".join(map(named, broke)))
    return 1 if broke else 0


if __name__ == "__main__":
    sys.exit(main())
