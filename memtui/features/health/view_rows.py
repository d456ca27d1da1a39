"""Rows of the Health view, findings in texts grouped like those of indexes, and the page beside each row.

A row that no longer holds stays, marked, until the cursor leaves it. The page shows the same preview that is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Address, Memory, Policy, Root
from memtui.errors import ConflictError, MemtuiError
from memtui.features.health.apply import Chosen, choose, prepare
from memtui.features.health.model import (
    BELOW,
    CUT,
    KINDS,
    LONG,
    QUIET,
    TOGETHER,
    Fix,
    FixPreview,
    IndexFinding,
    IndexReport,
    Stray,
)
from memtui.features.hygiene.memory_scan import LABELS, NamedFinding
from memtui.mask import shown_bytes
from memtui.pointers.lines import Measure, measure
from memtui.safe_text import cell_width
from memtui.ui.draw import bars
from memtui.ui.draw.difference import DiffStyle, compare, fold_runs
from memtui.ui.draw.pages import LINE_CHARACTERS, Page, PageLine, words_page
from memtui.ui.draw.text import Run, both_ends, count_words, fit
from memtui.ui.list_view import ListRows

if TYPE_CHECKING:
    from memtui.engine import Engine

SECRETS, ORDERS, OUTDATED, DOUBLES = "secrets", "orders", "outdated", "doubles"
GROUPS = {
    SECRETS: (
        "Secrets",
        "Keys, tokens, passwords and numbers of people, masked here. d f puts a word in their place.",
        "Older versions, git and whoever was given the memory have them still: change the secret itself.",
    ),
    ORDERS: (
        "Hidden text and orders",
        "What nobody sees and an agent reads, and words that tell an agent what its user did not.",
        "A finding is a reason to look, no proof; a memory without one is not called safe.",
    ),
    OUTDATED: (
        "Outdated",
        "What memories say that was so when it was written, and is no longer: paths, commands, dependencies, links.",
        "e edits the memory at the line.",
    ),
    DOUBLES: (
        "Doubles",
        "Memories that say the same, and entries that stand twice in one file.",
        "memtui dream proposes which stays, and takes along what names the others.",
    ),
}
"""Title of each group and explanations, in display order."""
_FAMILIES = {"S": SECRETS, "P": SECRETS, "H": ORDERS, "I": ORDERS, "T": OUTDATED, "D": DOUBLES}
SIGNS = {SECRETS: "S", ORDERS: "h", OUTDATED: "o"}
_ALONE = ("H07", "H08", "H12", "I")
"""Rules whose fixes lose words, and are done one by one."""
_BY_HAND = {
    "open": "Only a person can tell whether it belongs there: enter opens the memory, e edits it.",
    "set": "What it should say only a person can tell: e edits the memory.",
    "D01": "memtui dream proposes which of them stays; enter goes to this one.",
}
_NOTHING = measure(b"", Policy())


def group_of(rule: str) -> str:
    """Return the group of a rule's findings."""
    return _FAMILIES[rule[0]]


def many_at_once(rule: str) -> bool:
    """Return whether several findings of a rule may be fixed at once: their fixes lose no words."""
    return rule[0] in "SP" or (rule[0] == "H" and rule < "H07")


def text_reports(found: Iterable[NamedFinding]) -> dict[str, tuple[IndexReport, ...]]:
    """Group findings, with a report for each memory; muted ones and those of severity I are left out."""
    groups: dict[str, dict[Memory, list[IndexFinding]]] = {name: {} for name in GROUPS}
    for one in found:
        if one.hazard.severity != "I" and not one.muted:
            groups[group_of(one.hazard.rule.id)].setdefault(one.row, []).append(_finding(one))
    return {
        name: tuple(
            IndexReport(row.address, row.sha256, _NOTHING, Policy(), tuple(some)) for row, some in findings.items()
        )
        for name, findings in groups.items()
        if findings
    }


def text_signs(reports: Mapping[str, tuple[IndexReport, ...]]) -> dict[Address, str]:
    """Return the sign of each memory with a finding that has one."""
    return {report.address: sign for name, sign in reversed(SIGNS.items()) for report in reports.get(name, ())}


def _finding(one: NamedFinding) -> IndexFinding:
    hazard, rule, address = one.hazard, one.hazard.rule, one.row.address
    said = f"{rule.what}: {hazard.text}"
    by_hand = rule.fix == "open" or (rule.fix == "set" and hazard.new is None)
    if by_hand or not one.row.writable:
        why = _BY_HAND.get(rule.id) or _BY_HAND.get(
            rule.fix if by_hand else "", "It is read-only, or no text that can be edited."
        )
        return IndexFinding(rule.id, address, hazard.line, address.path, said, None, why, address, hazard, one.id)
    fix = Fix(LABELS[rule.fix], (), offered=rule.id.startswith(_ALONE) or rule.fix == "set")
    return IndexFinding(rule.id, address, hazard.line, address.path, said, fix, "", address, hazard, one.id)


Reports = Mapping[str, tuple[IndexReport, ...]]
"""Reports by root, in the order of roots."""

GRAVE = {"E": "E: severe", "W": "W: worth a look", "I": "I: usually harmless"}

LINES_BEFORE = 2
LINES_AFTER = 300
ABOUT_STRAYS = (
    "Some agents name a folder of memories by its project's path: they stay behind when the project moves.",
    "Two projects can also end in one folder, when their paths make the same name.",
    "g p on one that is gone moves its memories to where the project is now; enter goes to the folder in the tree.",
    "memtui orphans lists the same.",
)
OLD = "It changed a moment ago, and is being looked at again."

_KIND_WIDTH = 11
MIN_PATH_WIDTH, MAX_PATH_WIDTH = 12, 60
MIN_TEXT_WIDTH = 12
"""Least width of the text column; below it the path takes its room."""

STRAYS = "projects"


class HealthRow(NamedTuple):
    """One row: a root, an index, a finding or a moved project."""

    key: tuple[object, ...]
    root: str
    report: IndexReport | None = None
    """None for a root."""
    finding: IndexFinding | None = None
    over: bool = False
    """Whether it no longer holds."""
    stray: Stray | None = None

    @property
    def heads(self) -> bool:
        """Whether it is a heading."""
        return self.report is None and self.stray is None

    @property
    def group(self) -> str:
        """The root of its heading."""
        return self.root if self.stray is None else STRAYS


class HealthRows(ListRows[HealthRow]):
    """All rows, the filtered ones, and one that may no longer hold."""

    def __init__(self) -> None:
        super().__init__(lambda row: row.key, self._text)
        self.reports: Reports = {}
        self.strays: tuple[Stray, ...] = ()
        self.name_of: Callable[[Address], str] = str
        self._roots: Mapping[str, Root] = {}
        self.counts = ""
        self.widest = MIN_PATH_WIDTH
        """Width of the longest path."""

    def update(self, reports: Reports, roots: Mapping[str, Root], stay: HealthRow | None = None) -> None:
        """Take in new reports; `stay` is the row under the cursor, which keeps its place."""
        before = self.shown
        self.counts = found_words(every(reports), len(self.strays))
        self.reports, self._roots = reports, roots
        paths = (self.path_of(finding) for finding in every(reports))
        self.widest = max((cell_width(path) if path.isascii() else 2 * len(path) for path in paths), default=0)
        self.widest = max(min(self.widest, MAX_PATH_WIDTH), MIN_PATH_WIDTH)
        self.load(self._listed())
        if stay is not None and stay.finding is not None:
            self._keep(stay, before)

    def filter(self, words: Iterable[str]) -> None:
        """Show the findings that contain all these words, each below its root."""
        super().filter(words)
        if self.words:
            kept = {("root", row.group) for row in self.shown} | {row.key for row in self.shown}
            self.shown = tuple(row for row in self.all if row.key in kept)

    @property
    def of_all(self) -> str:
        """Number of filtered findings, as in `3 of 12`."""
        shown, rows = (sum(not row.heads for row in some) for some in (self.shown, self.all))
        return f"{shown:,} of {rows:,}"

    def _text(self, row: HealthRow) -> str:
        if row.heads:
            return ""
        label = self._roots[row.root].label if row.root in self._roots else ""
        texts: tuple[str, ...] = ()
        if row.stray is not None:
            texts = row.stray.kind, row.stray.path, row.stray.text
        elif row.finding is not None:
            texts = row.finding.kind, row.finding.path, row.finding.text
        elif row.report is not None:
            texts = row.report.address.path, row.report.problem
        return "\n".join((row.root, label, *texts))

    def _keep(self, stay: HealthRow, before: Sequence[HealthRow]) -> None:
        there = {row.key: place for place, row in enumerate(self.shown)}
        if stay.key in there:
            return
        place = next((place for place, row in enumerate(before) if row.key == stay.key), 0)
        above = next((there[row.key] + 1 for row in reversed(before[:place]) if row.key in there), 0)
        self.shown = (*self.shown[:above], stay._replace(over=True), *self.shown[above:])

    def drop_over(self, but: int) -> None:
        """Drop rows that no longer hold, except the one at an index."""
        self.shown = tuple(row for place, row in enumerate(self.shown) if not row.over or place == but)

    @property
    def has_over(self) -> bool:
        """Whether a row no longer holds."""
        return any(row.over for row in self.shown)

    def _listed(self) -> Iterator[HealthRow]:
        for root, reports in self.reports.items():
            seen: Counter[tuple[object, ...]] = Counter()
            found = []
            for report in reports:
                if report.problem:
                    found.append(HealthRow(("problem", *report.address), root, report))
                for finding in report.findings:
                    what = (finding.kind, *finding.address, finding.path)
                    seen[what] += 1
                    found.append(HealthRow((*what, seen[what]), root, report, finding))
            if found:
                yield HealthRow(("root", root), root)
                yield from found
        if self.strays:
            yield HealthRow(("root", STRAYS), STRAYS)
        for stray in self.strays:
            yield HealthRow((stray.kind, stray.root, stray.path), stray.root, stray=stray)

    def path_of(self, finding: IndexFinding) -> str:
        """Return the memory's path, or in groups across roots its display name."""
        return finding.path if finding.hazard is None else self.name_of(finding.address)

    def label(self, root: str) -> str:
        """Return the label of a root."""
        if root == STRAYS:
            return "Projects"
        if root in GROUPS:
            return GROUPS[root][0]
        found = self._roots.get(root)
        return found.label or root if found is not None else root

    def name(self, root: str) -> str:
        """Return the short name of a root."""
        return self.name_of(Address(root, "")).rstrip("/: ")

    def fixable(self, root: str, kinds: Iterable[str]) -> tuple[IndexFinding, ...]:
        """Return the findings of these kinds in a root that can be fixed together."""
        wanted = frozenset(kinds)
        return tuple(
            finding
            for report in self.reports.get(root, ())
            for finding in report.findings
            if finding.kind in wanted and finding.fix is not None and not finding.fix.offered
        )


def every(reports: Reports) -> tuple[IndexFinding, ...]:
    """Return all findings."""
    return tuple(finding for some in reports.values() for report in some for finding in report.findings)


def found_words(findings: Iterable[IndexFinding], projects: int = 0) -> str:
    """Count findings as the tab does, then the others: `4 findings, 9 not loaded, 2 long`."""
    counts = Counter(finding.kind for finding in findings)
    loud = sum(count for kind, count in counts.items() if kind not in QUIET)
    said = [f"{counts[kind]:,} {'not loaded' if kind == BELOW else kind}" for kind in QUIET if counts[kind]]
    said += [count_words(projects, "project")] if projects else []
    return ", ".join([count_words(loud, "finding"), *said] if loud or not said else said)


def row_runs(row: HealthRow, rows: HealthRows, width: int, *, plain: bool) -> Sequence[Run]:
    """Draw a row in exactly `width` cells."""
    if row.stray is not None:
        return _stray_runs(row.stray, rows, width, plain=plain)
    if row.report is None:
        return _root_runs(row, rows, width, plain=plain)
    if row.finding is None:
        return [(fit(f" ?           {row.report.address.path}  {row.report.problem}", width, plain=plain), "problem")]
    finding = row.finding
    sign = " " if finding.fix is None or row.over else "?" if finding.fix.offered else "f"
    kind = "over" if row.over else finding.kind
    style = "dim" if row.over else "conflict" if finding.kind == CUT else "warning"
    line = f"{finding.line:,}" if finding.line is not None else ""
    room = max(width - 11 - _KIND_WIDTH, 8)
    path_room = min(rows.widest, room * 3 // 5)
    if room - path_room < MIN_TEXT_WIDTH:
        path_room = min(rows.widest, room)
    path = both_ends(rows.path_of(finding), path_room, plain=plain)
    text = finding.text
    if finding.hazard is not None and not row.over:
        kind, text = f"{kind} {finding.hazard.severity}", finding.hazard.text
        style = "conflict" if finding.hazard.severity == "E" else "warning"
    return [
        (f"{sign} ", "key"),
        (f"{kind:<{_KIND_WIDTH}}", style),
        (path + " " * (path_room - cell_width(path)), "dim" if row.over else "name"),
        (f"{line:>6}  ", "number"),
        (fit(text, room - path_room, plain=plain), "dim" if row.over else "description"),
    ]


def _stray_runs(stray: Stray, rows: HealthRows, width: int, *, plain: bool) -> Sequence[Run]:
    room = max(width - 2 - _KIND_WIDTH, 8)
    path_room = min(max(rows.widest, 30), room * 3 // 5)
    path = both_ends(stray.path, path_room, plain=plain)
    return [
        ("  ", "key"),
        (f"{stray.kind:<{_KIND_WIDTH}}", "warning"),
        (path + " " * (path_room - cell_width(path)), "name"),
        (fit(f"  {stray.text}", room - path_room, plain=plain), "description"),
    ]


def _root_runs(row: HealthRow, rows: HealthRows, width: int, *, plain: bool) -> Sequence[Run]:
    if row.root == STRAYS:
        tail = count_words(len(rows.strays), "finding")
        return bars.spread([("Projects that moved, or share memories", "scope")], [(tail, "dim")], width)
    reports = rows.reports.get(row.root, ())
    findings = [finding for report in reports for finding in report.findings]
    tail = found_words(findings) if findings else "not looked at"
    if any(report.rebuilt for report in reports):
        tail = f"made anew by the agent | {tail}"
    if any(report.off for report in reports):
        tail = f"switched off | {tail}"
    room = max(width - cell_width(tail) - 2, 8)
    label, name = rows.label(row.root), rows.name(row.root)
    words = label if label in (name, row.root) or row.root in GROUPS else f"{label}  {name}"
    return bars.spread([(fit(words, room, plain=plain).rstrip(), "scope")], [(tail, "dim")], width)


# The text beside a row


def page(engine: Engine, row: HealthRow, reports: Sequence[IndexReport], look: DiffStyle, name: str = "") -> Page:
    """Draw the page of a row; `reports` are those of its root, `name` is that of its index."""
    if row.stray is not None:
        return words_page(*row.stray.lines, style="name", width=look.width)
    if row.root == STRAYS:
        return words_page(*ABOUT_STRAYS, width=look.width)
    if row.report is None:
        kind = row.finding.kind if row.finding is not None else ""  # the rule that a pending key sequence is about
        if row.root not in GROUPS:
            return _root_page(engine, reports, look, kind)
        return (*_kind_page(engine, reports, look, kind), *words_page(*GROUPS[row.root][1:], width=look.width))
    if row.finding is None:
        return words_page(row.report.problem, style="problem", width=look.width)
    finding = row.finding
    top = _heading(finding, row, name or str(finding.address), look.width)
    if row.over:
        return top
    try:
        if finding.fix is None:
            return (*top, PageLine(()), *_context(engine, finding, row.report, look))
        if finding.kind == CUT:
            top = (*top, PageLine(()), *_context(engine, finding, row.report, look, shown=2 * LINES_BEFORE))
        return (*top, *_difference(prepare(engine, [Chosen(row.report, (finding,))]), look, [row.report.off]))
    except ConflictError:
        return (*top, *words_page(OLD, style="problem", width=look.width))
    except MemtuiError as error:
        return (*top, *words_page(error.message, error.hint, style="problem", width=look.width))


def _heading(finding: IndexFinding, row: HealthRow, name: str, width: int) -> Page:
    where = f"line {finding.line:,} of {name}" if finding.line is not None else name
    text = f"{finding.text[:1].upper()}{finding.text[1:]}"
    lines = [f"{finding.path}: {finding.text}." if finding.hazard is None and finding.kind != CUT else text]
    places = [
        f"In {where}." if (one := finding.hazard) is None else f"In {where}; rule {one.rule.id}, {GRAVE[one.severity]}."
    ]
    said = [*words_page(*lines, style="name", width=width), *words_page(*places, width=width)]
    if row.over:
        return (*said, *words_page("This no longer holds: the files changed.", style="good", width=width))
    if row.report is not None and row.report.off:
        said += words_page(row.report.off, style="problem", width=width)
    if finding.fix is None:
        return (*said, *words_page(finding.why or KINDS[finding.kind], style="dim", width=width))
    how = "d f can " if finding.fix.offered else "d f: "
    return (*said, *words_page(f"{how}{finding.fix.label}.", style="good", width=width))


def _difference(previews: Sequence[FixPreview], look: DiffStyle, said: Collection[str] = ()) -> Page:
    lines: list[PageLine] = []
    for shown in previews:
        if len(previews) > 1:
            lines += [PageLine(()), *words_page(shown.address.path, style="heading", width=look.width)]
        notes = [note for note in shown.notes if note not in said]
        if notes:
            lines += words_page(*notes, style="problem", width=look.width)
        lines += compare(shown.before, shown.after, look)[1]
    return tuple(lines)


def _root_page(engine: Engine, reports: Sequence[IndexReport], look: DiffStyle, kind: str = "") -> Page:
    """Summarize a root's indexes and show what `D r` would change; with `kind` also what `D k` would."""
    width = look.width
    off = dict.fromkeys(report.off for report in reports if report.off)
    lines = [*words_page(*off, style="problem", width=width)] if off else []
    lines += () if kind in TOGETHER else _kind_page(engine, reports, look, kind)
    for report in reports:
        if report.findings or len(reports) == 1:
            lines += words_page(
                f"{report.address.path}: {_full(report.measure, report.policy)}.", style="name", width=width
            )
    chosen = choose(reports, TOGETHER)
    count = sum(len(one.findings) for one in chosen)
    if count:
        lines += words_page(f"D r fixes {count_words(count, 'finding')} at once:", style="good", width=width)
    else:
        lines += words_page("There is nothing that can be fixed all at once.", style="dim", width=width)
    long = sum(len(one.findings) for one in choose(reports, (LONG,)))
    if long:
        words = f"Long lines are left as they are ({long:,}); with the cursor on one, D k shortens them."
        lines += words_page(words, style="dim", width=width)
    if choose(reports, (CUT,)):
        words = "What is not loaded stays where it is; with the cursor on cut, d f moves it to a second file."
        lines += words_page(words, style="dim", width=width)
    try:
        return (*lines, *_difference(prepare(engine, chosen), look, off))
    except ConflictError:
        return (*lines, *words_page(OLD, style="problem", width=width))


def _kind_page(engine: Engine, reports: Sequence[IndexReport], look: DiffStyle, kind: str) -> Page:
    chosen = choose(reports, (kind,))
    if not chosen:
        return ()
    count = sum(len(one.findings) for one in chosen)
    words = f"D k fixes {count_words(count, 'finding')} of the kind {kind}:"
    try:
        shown = _difference(prepare(engine, chosen), look, [report.off for report in reports])
    except ConflictError:
        shown = words_page(OLD, style="problem", width=look.width)
    return (*words_page(words, style="good", width=look.width), *shown, PageLine(()))


def _full(found: Measure, policy: Policy) -> str:
    """Describe an index against its limits: `215 of 200 lines, 12,345 of 25,000 bytes`."""
    limits = (
        (found.lines, policy.index_lines, "lines"),
        (found.bytes, policy.index_bytes, "bytes"),
        (found.units, policy.index_units, "characters"),
    )
    said = [f"{used:,} of {most:,} {word}" for used, most, word in limits if most is not None]
    return ", ".join(said) if said else count_words(found.lines, "line")


def _context(
    engine: Engine, finding: IndexFinding, report: IndexReport, look: DiffStyle, *, shown: int = LINES_AFTER
) -> Page:
    """Draw the index around the line of a finding, with the cut line."""
    if report.sha256 is None or finding.line is None:
        return ()
    data = shown_bytes(engine.read_bytes(finding.address))
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    start = max(finding.line - 1 - LINES_BEFORE, 0)
    cut = report.measure.cut
    found: list[PageLine] = []
    for number in range(start, min(len(lines), start + shown)):
        if number == cut:
            rule = ("-" if look.plain else "─") * 2
            words = f" {rule} not loaded from here on "
            found.append(PageLine(((words + rule[0] * max(look.width - len(words) - 1, 0), "rule"),)))
        found += _numbered(lines[number], number + 1, marked=number + 1 == finding.line, look=look)
    return tuple(found)


def _numbered(text: str, number: int, *, marked: bool, look: DiffStyle) -> list[PageLine]:
    style = "name" if marked else "description"
    sign: Run = (">" if marked else " ", "agent")
    parts = fold_runs([(text[:LINE_CHARACTERS].removesuffix("\r"), style)], max(look.width - 8, 8), plain=look.plain)
    first = PageLine((sign, (f"{number:>5}  ", "number"), *parts[0]), number)
    return [first, *(PageLine(((" " * 8, "number"), *part), number) for part in parts[1:])]
