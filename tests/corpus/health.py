"""The indexes of the archive: what is wrong with each, counted, and every fix made and undone.

`MEMTUI_CORPUS=FILE python -m tests.corpus.health > docs/index-health.md` writes the page; a test compares it.
"""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memtui.agents.discovery import discover
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Root
from memtui.features.health.apply import Chosen, apply, choose, prepare
from memtui.features.health.model import BELOW, BULK, KINDS, IndexReport
from memtui.features.health.survey import IndexChecker, has_index
from tests.agents.machine import Machine
from tests.corpus import ARCHIVE, journey
from tests.corpus.standing import STANDINGS, Standing, place

ME = Actor("cli")

HEAD = """\
# The health of real indexes

What `memtui health` finds in the indexes of a collection of real memory folders, which agents wrote and people made
public. Some folders hold only a part of what their repository does, so that a few pointers dangle here that lead
somewhere there. Each fix was made and undone, alone and together with all of its kind, and every time the folder had
its old bytes back. The page is made by a command and compared by a test:

```sh
MEMTUI_CORPUS=corpus.tar.gz python -m tests.corpus.health > docs/index-health.md
```
"""

WORDS = """\
A line that holds several pointers, or goes on in the next one, is found but left to a person; so `fixed` can be less
than what is found. Offers are decided one by one: lines that can be moved up from below the cut, and pointers out of
the folder that can be made text.

| kind | means |
| --- | --- |
"""


class Line(NamedTuple):
    """One index, and what became of it."""

    folder: str
    agent: str
    path: str
    """Of the index."""
    lines: int
    bytes: int
    found: Counter[str]
    fixed: int
    offered: int


def look(machine: Machine, source: Path, standing: Standing) -> list[Line]:
    """Put a folder in its place, look at its indexes, and make and undo every fix.

    Raises:
        AssertionError: an undo did not give the old bytes back, or a fix left its finding.
    """
    place(machine, source, standing)
    surroundings = machine.surroundings("app", project=str(machine.path(standing.project)))
    roots = [root for root in discover(surroundings) if has_index(root) and root.agent != "memtui"]
    lines = []
    with Engine.open(roots, state_dir=str(machine.folder / "state")) as engine:
        for root in roots:
            for report in IndexChecker().look(engine, [root]):
                fixed, offered = _there_and_back(engine, root, report)
                found = Counter(finding.kind for finding in report.findings)
                index = os.path.join(_short(machine, root), report.address.path)
                measured = report.measure
                lines.append(
                    Line(standing.folder, root.agent, index, measured.lines, measured.bytes, found, fixed, offered)
                )
    return lines


def _short(machine: Machine, root: Root) -> str:
    """Where a root was in the folder, as far as it can be said without the machine's own names."""
    path = Path(root.path)
    if path.is_relative_to(machine.app):
        return path.relative_to(machine.app).as_posix()
    return path.name if root.scope == "project" else path.relative_to(machine.home).as_posix()


def _there_and_back(engine: Engine, root: Root, report: IndexReport) -> tuple[int, int]:
    """Make each fix alone, then all of a kind, then all; undo each; return how many there were, and how many offers."""
    ways = [Chosen(report, (finding,)) for finding in report.findings if finding.fix is not None]
    offered = sum(way.findings[0].fix.offered for way in ways if way.findings[0].fix is not None)
    fixed = len(ways) - offered
    for kinds in ((kind,) for kind in BULK):
        ways += choose([report], kinds)
    ways += choose([report], BULK)
    for way in ways:
        before = _disk(root)
        apply(engine, prepare(engine, [way]), actor=ME)
        assert _disk(root) != before, f"{report.address}: nothing was done"
        if all(finding.kind != BELOW for finding in way.findings):  # the next one falls below instead
            _is_gone(engine, root, way, report.address)
        engine.undo.undo(actor=ME)
        assert _disk(root) == before, f"{report.address}: the old bytes did not come back"
    return fixed, offered


def _is_gone(engine: Engine, root: Root, way: Chosen, index: Address) -> None:
    (after,) = [one for one in IndexChecker().look(engine, [root]) if one.address == index]
    left = Counter((one.kind, one.path) for one in after.findings)
    was = Counter((one.kind, one.path) for one in way.report.findings)
    for finding in way.findings:
        key = (finding.kind, finding.path)
        assert left[key] < was[key], f"{index}: {finding.kind} {finding.path} is still there"


def _disk(root: Root) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path(root.path).rglob("*")) if path.is_file()}


def every(archive: Path, base: Path) -> Iterator[Line]:
    """Every index of an archive."""
    folders = {folder.name: folder for folder in journey.unpack(archive, base / "folders")}
    for number, standing in enumerate(STANDINGS):
        home = base / f"machine-{number}" / "home"
        home.mkdir(parents=True)
        yield from look(Machine(home, home.parent), folders[standing.folder], standing)


def page(lines: list[Line]) -> str:
    """The page."""
    kinds = [kind for kind in KINDS if kind != "below"]
    rows = [
        f"| {line.folder} | {line.agent} | `{line.path}` | {line.lines:,} | {line.bytes:,} | "
        + " | ".join(str(line.found[kind] or "") for kind in kinds)
        + f" | {line.fixed} | {line.offered or ''} |"
        for line in lines
    ]
    total = Counter[str]()
    for line in lines:
        total.update(line.found)
    last = f"| all {len(lines)} | | | {sum(line.lines for line in lines):,} | {sum(line.bytes for line in lines):,} | "
    last += " | ".join(str(total[kind] or "") for kind in kinds)
    last += f" | {sum(line.fixed for line in lines)} | {sum(line.offered for line in lines) or ''} |"
    head = f"| folder | agent | index | lines | bytes | {' | '.join(kinds)} | fixed | offers |"
    rule = f"| --- | --- | --- | ---: | ---: | {' | '.join('---:' for _ in kinds)} | ---: | ---: |"
    means = [f"| `{kind}` | {words} |" for kind, words in KINDS.items()]
    return "\n".join([HEAD, head, rule, *rows, last, "", WORDS + "\n".join(means)]) + "\n"


def main() -> int:
    """Print the page."""
    if ARCHIVE is None:
        print("MEMTUI_CORPUS names no archive", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="memtui-corpus-") as base:
        sys.stdout.write(page(list(every(Path(ARCHIVE), Path(base)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
