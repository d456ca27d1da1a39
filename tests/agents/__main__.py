"""`python -m tests.agents [NAME...]`: run the newest agents, and compare what they load with what memtui says.

Needs npm and a gigabyte in `--scratch`. Ends with 1 when anything differs; no part of the tests that run for a change.
"""

import argparse
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tests.agents.facts import FIXTURES
from tests.agents.measured import Fact, Laid, compared, rows
from tests.agents.recorder import PROGRAMS, fetch, started


def main() -> int:
    """Compare the agents that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.agents", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(one.agent for one in PROGRAMS))
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir(), "memtui-agents"))
    chosen = parser.parse_args()
    every: list[Fact] = []
    for program in PROGRAMS:
        if chosen.names and program.agent not in chosen.names:
            continue
        fetched = fetch(program, chosen.scratch)
        facts: list[Fact] = []
        for fixture in FIXTURES:
            if fixture.agent == program.agent:
                with tempfile.TemporaryDirectory() as folder:
                    laid = Laid(fixture, Path(folder).resolve())
                    environ = {name: text.replace("@T@", str(laid.folder)) for name, text in fixture.environ.items()}
                    facts += compared(laid, started(fetched, laid.home, laid.start, environ))
        print(f"{program.agent} {fetched.version}, {datetime.now(UTC):%d %B %Y}")
        print("\n".join(rows(facts)), flush=True)
        every += facts
    print(f"{sum(fact.holds for fact in every)} of {len(every)} facts equal")
    return 0 if every and all(fact.holds for fact in every) else 1


if __name__ == "__main__":
    raise SystemExit(main())
