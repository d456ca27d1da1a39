"""What the health view reads and writes, run in a thread: the text beside a finding, and applying fixes.

Everything it draws comes from the same preview that is written, so that no key does something else than was shown.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from memtui.engine.model import Policy
from memtui.errors import ConflictError, MemtuiError
from memtui.features.health.apply import Chosen, apply, choose, prepare
from memtui.features.health.model import CUT, KINDS, LONG, TOGETHER, IndexFinding, IndexReport, Preview
from memtui.pointers.cutline import Measure
from memtui.safe_text import visible
from memtui.ui.draw.difference import Look, compare, fold_runs
from memtui.ui.draw.pages import LINE_CHARACTERS, Page, PageLine, words_page
from memtui.ui.draw.spans import Run
from memtui.ui.draw.words import count_words
from memtui.workbench.views.health_rows import STRAYS, Row, kind_words

if TYPE_CHECKING:
    from memtui.engine.model import Actor
    from memtui.features.health.apply import Applied
    from memtui.workbench.bridge import Engine

AROUND = 2
"""Lines shown before the one a finding is about."""
SHOWN = 300
"""Lines shown from there on."""
ABOUT_STRAYS = (
    "Some agents name a folder of memories by its project's path: they stay behind when the project moves.",
    "Two projects can also end in one folder, when their paths make the same name.",
    "g p on one that is gone moves its memories to where the project is now; enter goes to the folder in the tree.",
    "memtui orphans lists the same.",
)
OLD = "It changed a moment ago, and is being looked at again."


def page(engine: Engine, row: Row, reports: Sequence[IndexReport], look: Look, name: str = "") -> Page:
    """Draw what belongs to a row.

    Args:
        engine: reads the index.
        row: which.
        reports: those of the row's root.
        look: how it is drawn.
        name: of the index the row is about, for the eye.
    """
    if row.stray is not None:
        return words_page(*row.stray.lines, style="name", width=look.width)
    if row.root == STRAYS:
        return words_page(*ABOUT_STRAYS, width=look.width)
    if row.report is None:
        return _root_page(engine, reports, look, row.finding.kind if row.finding is not None else "")
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
            top = (*top, PageLine(()), *_context(engine, finding, row.report, look, shown=2 * AROUND))
        return (*top, *_difference(prepare(engine, [Chosen(row.report, (finding,))]), look, [row.report.off]))
    except ConflictError:
        return (*top, *words_page(OLD, style="problem", width=look.width))
    except MemtuiError as error:
        return (*top, *words_page(error.message, error.hint, style="problem", width=look.width))


def fix(engine: Engine, chosen: Sequence[Chosen], actor: Actor) -> Applied:
    """Make fixes, as one step of undo; nothing when an index is another one by now."""
    return apply(engine, prepare(engine, chosen), actor=actor)


def _heading(finding: IndexFinding, row: Row, name: str, width: int) -> Page:
    where = f"line {finding.line:,} of {name}" if finding.line is not None else name
    lines = [f"{finding.path}: {finding.text}." if finding.kind != CUT else finding.text[:1].upper() + finding.text[1:]]
    said = [*words_page(*lines, style="name", width=width), *words_page(f"In {where}.", width=width)]
    if row.over:
        return (*said, *words_page("It is no longer so: the files changed.", style="good", width=width))
    if row.report is not None and row.report.off:
        said += words_page(row.report.off, style="problem", width=width)
    if finding.fix is None:
        return (*said, *words_page(finding.why or KINDS[finding.kind], style="dim", width=width))
    how = "d f can " if finding.fix.offered else "d f: "
    return (*said, *words_page(f"{how}{finding.fix.label}.", style="good", width=width))


def _difference(previews: Sequence[Preview], look: Look, said: Collection[str] = ()) -> Page:
    """What would be written, index by index; what is said above already is not said again."""
    lines: list[PageLine] = []
    for shown in previews:
        if len(previews) > 1:
            lines += [PageLine(()), *words_page(shown.address.path, style="heading", width=look.width)]
        notes = [note for note in shown.notes if note not in said]
        if notes:
            lines += words_page(*notes, style="problem", width=look.width)
        lines += compare(shown.before, shown.after, look)[1]
    return tuple(lines)


def _root_page(engine: Engine, reports: Sequence[IndexReport], look: Look, kind: str = "") -> Page:
    """How full each index is, what is wrong in all, and what would be fixed at once.

    Args:
        engine: reads the indexes.
        reports: those of the root.
        look: how it is drawn.
        kind: what is asked about besides; of a kind that is fixed with no other, what would be done comes first.
    """
    width = look.width
    off = dict.fromkeys(report.off for report in reports if report.off)
    lines = [*words_page(*off, style="problem", width=width)] if off else []
    lines += () if kind in TOGETHER else _kind_page(engine, reports, look, kind)
    for report in reports:
        if report.findings or len(reports) == 1:
            lines += words_page(
                f"{report.address.path}: {_full(report.measure, report.policy)}.", style="name", width=width
            )
    found = [finding for report in reports for finding in report.findings]
    lines += words_page(f"{kind_words(found)}.", width=width)
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


def _kind_page(engine: Engine, reports: Sequence[IndexReport], look: Look, kind: str) -> Page:
    """What would be done to all of one kind."""
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
    """How full an index is: `215 of 200 lines, 12,345 of 25,000 bytes`."""
    limits = (
        (found.lines, policy.index_lines, "lines"),
        (found.bytes, policy.index_bytes, "bytes"),
        (found.units, policy.index_units, "characters"),
    )
    said = [f"{used:,} of {most:,} {word}" for used, most, word in limits if most is not None]
    return ", ".join(said) if said else count_words(found.lines, "line")


def _context(engine: Engine, finding: IndexFinding, report: IndexReport, look: Look, *, shown: int = SHOWN) -> Page:
    """The index around the line a finding is about, with the cut line where it is in sight."""
    if report.sha256 is None or finding.line is None:
        return ()
    data = engine.read_bytes(finding.address)
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    start = max(finding.line - 1 - AROUND, 0)
    cut = report.measure.cut
    found: list[PageLine] = []
    for number in range(start, min(len(lines), start + shown)):
        if number == cut:
            rule = ("-" if look.plain else "─") * 2
            words = f" {rule} not loaded from here on "
            found.append(PageLine(((words + rule[0] * max(look.width - len(words) - 1, 0), "rule"),)))
        found += _numbered(lines[number], number + 1, marked=number + 1 == finding.line, look=look)
    return tuple(found)


def _numbered(text: str, number: int, *, marked: bool, look: Look) -> list[PageLine]:
    shown = visible(text[:LINE_CHARACTERS].removesuffix("\r"), keep_tabs=True, ascii_tokens=look.plain)
    style = "name" if marked else "description"
    sign: Run = (">" if marked else " ", "agent")
    parts = fold_runs([(shown, style)], max(look.width - 8, 8), plain=look.plain)
    first = PageLine((sign, (f"{number:>5}  ", "number"), *parts[0]), number)
    return [first, *(PageLine(((" " * 8, "number"), *part), number) for part in parts[1:])]
