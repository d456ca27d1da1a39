"""The rows of the health view as values: roots with findings, and under each its findings, worst first.

A row that somebody else's change takes away stays under the cursor, and says that it is over, until the cursor leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memtui.engine.model import Address, Root
from memtui.features.health.model import BELOW, CUT, KINDS, LONG, IndexFinding, IndexReport
from memtui.safe_text import cell_width
from memtui.ui.draw import bars
from memtui.ui.draw.spans import Run
from memtui.ui.draw.words import count_words, end_of_line, fit

Reports = Mapping[str, tuple[IndexReport, ...]]

WORDS = {
    "broken": ("broken index", "broken indexes"),
    "dangling": ("dangling pointer", "dangling pointers"),
    "unnamed": ("unnamed memory", "unnamed memories"),
    "duplicate": ("duplicate", "duplicates"),
    "long": ("long line", "long lines"),
    "outside": ("pointer out of the folder", "pointers out of the folder"),
    "cut": ("cut line", "cut lines"),
    "below": ("memory below the cut", "memories below the cut"),
}
"""Kinds as nouns: one, and several."""

QUIET = (BELOW, LONG)
"""Kinds that are counted apart: a long line loses nothing yet, and below a cut the cut itself is counted."""

LEAST_PATH, MOST_PATH = 12, 60
"""Cells of the column of paths."""
LEAST_TEXT = 20
"""Cells below which the path has the room of the words: the page beside the list says them as well."""


ORPHAN = "orphan"
"""The kind of a project that is gone."""


class Stray(NamedTuple):
    """Memories that are not where their project is."""

    kind: str
    """`orphan`, `shared` or `split`."""
    root: str
    """Where to go."""
    path: str
    """The project, as far as it is known."""
    text: str
    lines: tuple[str, ...]
    """What is known, in sentences."""


STRAYS = "projects"
"""The row above those about projects."""


class Row(NamedTuple):
    """One row."""

    key: tuple[object, ...]
    root: str
    report: IndexReport | None = None
    """The index it is about; None for a root."""
    finding: IndexFinding | None = None
    over: bool = False
    """It is not so any more."""
    stray: Stray | None = None
    """What it is about instead."""

    @property
    def heads(self) -> bool:
        """Whether it stands above the rows it is about."""
        return self.report is None and self.stray is None


class Board:
    """All rows."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.words: tuple[str, ...] = ()
        self.reports: Reports = {}
        self.strays: tuple[Stray, ...] = ()
        self.shown: Callable[[Address], str] = str
        """Names a memory for the eye."""
        self._roots: Mapping[str, Root] = {}
        self.counts = ""
        """How many findings there are, in words."""
        self.widest = LEAST_PATH
        """Cells of the longest path."""

    def load(self, reports: Reports, roots: Mapping[str, Root], stay: Row | None = None) -> None:
        """Take in what was found.

        Args:
            reports: by root.
            roots: every root by its id.
            stay: the row under the cursor; it stays where it is, also when it is over.
        """
        before = self.rows
        self.counts = found_words(every(reports), len(self.strays))
        self.reports, self._roots = reports, roots
        paths = (finding.path for some in reports.values() for report in some for finding in report.findings)
        self.widest = max((cell_width(path) if path.isascii() else 2 * len(path) for path in paths), default=0)
        self.widest = max(min(self.widest, MOST_PATH), LEAST_PATH)
        self.rows = list(self._listed())
        if stay is not None and stay.finding is not None:
            self._keep(stay, before)

    def filter(self, words: tuple[str, ...]) -> None:
        """Show only findings that have all these words."""
        self.words = words
        self.rows = list(self._listed())

    def _keep(self, stay: Row, before: Sequence[Row]) -> None:
        there = {row.key: place for place, row in enumerate(self.rows)}
        if stay.key in there:
            return
        place = next((place for place, row in enumerate(before) if row.key == stay.key), 0)
        above = next((there[row.key] + 1 for row in reversed(before[:place]) if row.key in there), 0)
        self.rows.insert(above, stay._replace(over=True))

    def drop_over(self, but: int) -> None:
        """Forget rows that are over, except the one at a place."""
        self.rows = [row for place, row in enumerate(self.rows) if not row.over or place == but]

    @property
    def has_over(self) -> bool:
        """Whether there is a row that is over."""
        return any(row.over for row in self.rows)

    def _listed(self) -> Iterator[Row]:
        for root, reports in self.reports.items():
            seen: Counter[tuple[object, ...]] = Counter()
            found = []
            for report in reports:
                if report.problem and self._passes(root, report.address.path, report.problem):
                    found.append(Row(("problem", *report.address), root, report))
                for finding in report.findings:
                    if not self._passes(root, finding.kind, finding.path, finding.text):
                        continue
                    what = (finding.kind, *finding.address, finding.path)
                    seen[what] += 1
                    found.append(Row((*what, seen[what]), root, report, finding))
            if found:
                yield Row(("root", root), root)
                yield from found
        strays = [stray for stray in self.strays if self._passes(stray.root, stray.kind, stray.path, stray.text)]
        if strays:
            yield Row(("root", STRAYS), STRAYS)
        for stray in strays:
            yield Row((stray.kind, stray.root, stray.path), stray.root, stray=stray)

    def _passes(self, root: str, *texts: str) -> bool:
        if not self.words:
            return True
        label = self._roots[root].label if root in self._roots else ""
        text = "\n".join((root, label, *texts)).casefold()
        return all(word in text for word in self.words)

    def label(self, root: str) -> str:
        """What a root is called."""
        if root == STRAYS:
            return "Projects"
        found = self._roots.get(root)
        return found.label or root if found is not None else root

    def name(self, root: str) -> str:
        """The short name of a root."""
        return self.shown(Address(root, "")).rstrip("/: ")

    def fixable(self, root: str, kinds: Iterable[str]) -> tuple[IndexFinding, ...]:
        """What can be fixed together in a root."""
        wanted = frozenset(kinds)
        return tuple(
            finding
            for report in self.reports.get(root, ())
            for finding in report.findings
            if finding.kind in wanted and finding.fix is not None and not finding.fix.offered
        )

    def indexes(self, root: str) -> tuple[Address, ...]:
        """The indexes of a root that have findings."""
        return tuple(report.address for report in self.reports.get(root, ()) if report.findings)


def every(reports: Reports) -> tuple[IndexFinding, ...]:
    """All findings of all roots."""
    return tuple(finding for some in reports.values() for report in some for finding in report.findings)


def found_words(findings: Iterable[IndexFinding], projects: int = 0) -> str:
    """Count findings as the tab does, then the others: `4 findings, 9 below, 2 long`.

    Args:
        findings: of indexes.
        projects: findings about projects.
    """
    counts = Counter(finding.kind for finding in findings)
    loud = sum(count for kind, count in counts.items() if kind not in QUIET)
    said = [f"{counts[kind]:,} {kind}" for kind in QUIET if counts[kind]]
    said += [count_words(projects, "project")] if projects else []
    return ", ".join([count_words(loud, "finding"), *said] if loud or not said else said)


def kind_words(findings: Iterable[IndexFinding]) -> str:
    """Count findings by kind: `4 dangling pointers, 2 duplicates`."""
    counts = Counter(finding.kind for finding in findings)
    return ", ".join(f"{counts[kind]:,} {WORDS[kind][counts[kind] > 1]}" for kind in KINDS if counts[kind])


def row_runs(row: Row, board: Board, width: int, *, plain: bool) -> Sequence[Run]:
    """Draw a row, exactly so many cells wide."""
    if row.stray is not None:
        return _stray_runs(row.stray, board, width, plain=plain)
    if row.report is None:
        return _root_runs(row, board, width, plain=plain)
    if row.finding is None:
        return [(fit(f" ?          {row.report.address.path}  {row.report.problem}", width, plain=plain), "problem")]
    finding = row.finding
    sign = " " if finding.fix is None or row.over else "?" if finding.fix.offered else "f"
    kind = "over" if row.over else finding.kind
    style = "dim" if row.over else "conflict" if finding.kind == CUT else "warning"
    line = f"{finding.line:,}" if finding.line is not None else ""
    room = max(width - 20, 8)
    path_room = min(board.widest, room * 3 // 5)
    if room - path_room < LEAST_TEXT:
        path_room = min(board.widest, room)
    path = end_of_line(finding.path, path_room, plain=plain)
    return [
        (f"{sign} ", "key"),
        (f"{kind:<10}", style),
        (path + " " * (path_room - cell_width(path)), "dim" if row.over else "name"),
        (f"{line:>6}  ", "number"),
        (fit(finding.text, room - path_room, plain=plain), "dim" if row.over else "description"),
    ]


def _stray_runs(stray: Stray, board: Board, width: int, *, plain: bool) -> Sequence[Run]:
    room = max(width - 12, 8)
    path_room = min(max(board.widest, 30), room * 3 // 5)
    path = end_of_line(stray.path, path_room, plain=plain)
    return [
        ("  ", "key"),
        (f"{stray.kind:<10}", "warning"),
        (path + " " * (path_room - cell_width(path)), "name"),
        (fit(f"  {stray.text}", room - path_room, plain=plain), "description"),
    ]


def _root_runs(row: Row, board: Board, width: int, *, plain: bool) -> Sequence[Run]:
    if row.root == STRAYS:
        tail = count_words(len(board.strays), "finding")
        return bars.spread([("Projects that moved, or share memories", "scope")], [(tail, "dim")], width)
    reports = board.reports.get(row.root, ())
    findings = [finding for report in reports for finding in report.findings]
    tail = found_words(findings) if findings else "not looked at"
    if any(report.rebuilt for report in reports):
        tail = f"made anew by the agent | {tail}"
    if any(report.off for report in reports):
        tail = f"switched off | {tail}"
    room = max(width - cell_width(tail) - 2, 8)
    label, name = board.label(row.root), board.name(row.root)
    words = label if label in (name, row.root) else f"{label}  {name}"
    return bars.spread([(fit(words, room, plain=plain).rstrip(), "scope")], [(tail, "dim")], width)
