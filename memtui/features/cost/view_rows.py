"""Rows of the start cost view and the page beside each.

Shares are numbers and signs as well as colours; a cut has a row of its own below its file.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents import loaded_text
from memtui.agents.agent import CUT_OFF, MATCHING, SKIPPED, WHOLE
from memtui.agents.loaded_text import DROPPED, line_of
from memtui.config.surroundings import Surroundings
from memtui.errors import MemtuiError
from memtui.features.cost import start_cost
from memtui.features.cost.start_cost import MEMTUI, Cost, CountedFile, short
from memtui.pointers.lines import lines_with_text
from memtui.safe_text import cell_width
from memtui.ui.draw import bars
from memtui.ui.draw.pages import Page, PageLine, fitted, text_page, words_page
from memtui.ui.draw.text import Line, Run, both_ends, count_words, fit, meter, size_words

if TYPE_CHECKING:
    from memtui.engine import Engine

AGENT, ALL, ITEM, CUT = "agent", "all", "item", "cut"
"""Kinds of rows: an agent, everything it loads, a file, the cut below a file."""
_LABEL = 18
_STYLES = {"cut": "warning", "needs approval": "warning", "missing": "problem", "skipped": "problem"}

COSTLIEST = 8
"""Number of files named on an agent's page."""


class CostRow(NamedTuple):
    """One row."""

    kind: str
    cost: Cost
    item: CountedFile | None = None
    number: int = 0
    """Position in the order of loading; 0 for a file that is not loaded."""
    again: int = 0
    """Number of earlier rows of the same file: some agents load a file as often as it is imported."""

    @property
    def key(self) -> Hashable:
        """Identity across reloads."""
        path = (self.item.loaded.path, self.item.loaded.label, self.again) if self.item is not None else ()
        return (self.kind, self.cost.agent, path)


def item_rows(found: Cost) -> tuple[CostRow, ...]:
    """Return one agent's rows: everything, then its files, with a cut row below those that are cut."""
    rows = [CostRow(ALL, found)]
    number = 0
    times: dict[str, int] = {}
    for item in found.items:
        number += item.loaded.at_start
        again = times[item.loaded.path] = times.get(item.loaded.path, -1) + 1
        rows.append(CostRow(ITEM, found, item, number if item.loaded.at_start else 0, again))
        if item.below:
            rows.append(CostRow(CUT, found, item, again=again))
    return tuple(rows)


def percent(part: int, whole: int) -> str:
    """Format a share: `12 %`, `<1 %`."""
    if not part or not whole:
        return ""
    exact = 100 * part / whole
    return "<1 %" if exact < 1 else f"{exact:.0f} %"


def row_runs(row: CostRow, most: int, width: int, around: Surroundings, *, plain: bool) -> Sequence[Run]:
    """Draw a row; `most` is the token count of the costliest agent."""
    if row.kind == AGENT:
        runs: Sequence[Run] = _agent_runs(row.cost, most, width, plain=plain)
    elif row.kind == ALL:
        cost = row.cost
        words = f"{count_words(cost.files, 'file')}, {size_words(cost.bytes)}, {cost.tokens:,} tokens "
        runs = bars.spread([(" Everything", "scope")], [(words, "name")], width)
    elif row.kind == CUT and row.item is not None:
        rule = "-" if plain else "─"
        words = f"     {rule * 2} cut: {size_words(row.item.below)} of it are not loaded "
        runs = [(words + rule * max(width - cell_width(words) - 1, 0), "warning")]
    else:
        assert row.item is not None
        runs = _item_runs(row, row.item, width, around, plain=plain)
    return fitted(runs, width, plain=plain)


def _agent_runs(cost: Cost, most: int, width: int, *, plain: bool) -> list[Run]:
    cells = 6 if width < 60 else 12
    tail: Line = [(f"{cost.tokens:>8,} tok ", "name"), (meter(cost.tokens, most, cells), "good")]
    if width >= 60:
        tail = [(f" {size_words(cost.bytes):>7}", "description"), *tail]
    if width >= 74:
        tail = [(f" {count_words(cost.files, 'file'):>9}", "description"), *tail]
    cut: Line = [(f" cut {size_words(cost.below)}", "warning")] if cost.below else []
    used = sum(cell_width(text) for text, _ in (*tail, *cut)) + 1
    title = f"{cost.title}, where installed" if cost.agent == MEMTUI.id else cost.title
    return [(" " + fit(title, max(width - used - 1, 6), plain=plain), "scope"), *cut, *tail]


def agents_words(found: Sequence[Cost]) -> str:
    """Count the agents, and mention memtui's own row."""
    words = count_words(sum(one.agent != MEMTUI.id for one in found), "agent")
    return f"{words} and memtui" if any(one.agent == MEMTUI.id for one in found) else words


def _item_runs(row: CostRow, item: CountedFile, width: int, around: Surroundings, *, plain: bool) -> list[Run]:
    loaded = item.loaded
    lead: Line = [(f"{row.number:>3} " if row.number else " -- ", "number" if row.number else "dim")]
    indent = "  " * min(loaded.depth, 5)
    tail = _tail(row.cost, item, width)
    label: Line = []
    if width >= 76:
        label = [(fit(loaded.label, _LABEL, plain=plain) + " ", "description")]
    room = max(width - sum(cell_width(text) for text, _ in (*lead, *label, *tail)) - len(indent) - 1, 12)
    path = both_ends(short(loaded.path, around), room, plain=plain)
    style = "name" if loaded.at_start else "description"
    return [*lead, *label, (indent + path + " " * (room - cell_width(path)) + " ", style), *tail]


def _tail(cost: Cost, item: CountedFile, width: int) -> Line:
    loaded = item.loaded
    if not loaded.at_start:
        word = "matching files" if width < 90 and loaded.mark == MATCHING else loaded.mark
        return [(word + " ", _STYLES.get(loaded.mark, "dim"))]
    notes: Line = [(f"{loaded.mark} ", "warning")] if loaded.mark == CUT_OFF else []
    if loaded.mark not in (WHOLE, CUT_OFF):
        notes = [(f"{loaded.mark} ", "description")]
    if loaded.mark == WHOLE and loaded.why:
        notes = [("! ", "warning")]
    part = percent(item.tokens, cost.tokens)
    cells = 0 if width < 52 else 5 if width < 90 else 10
    bar: Line = [(f" {meter(item.tokens, cost.tokens, cells)}", "good")] if cells else []
    return [*notes, (f"{item.tokens:>6,} tok", "name"), *bar, (f" {part:>5}", "description")]


def summary_lines(found: Sequence[Cost], opened: Cost | None, width: int, key: str, *, plain: bool) -> list[Line]:
    """Return the two lines above the list: sums, and how tokens were counted."""
    if opened is None:
        words: Line = [(" What agents load when a session starts", "strong")]
        words.append((f"; {agents_words(found)} in use here", "dim"))
    else:
        at = [one.agent for one in found].index(opened.agent) + 1 if opened in found else 0
        words = [(" ", "dim"), (opened.title, "strong"), (" starts with ", "dim")]
        words += [(f"{opened.tokens:,} tokens", "strong"), (f", {opened.bytes:,} bytes", "name")]
        if opened.below:
            words.append((f"; {opened.below:,} bytes are cut off", "warning"))
        words.append((f"   {at} of {len(found)}, ", "dim"))
        words += [(key, "key"), (" for the next", "dim")]
    said = found[0].method_words if found else ""
    return [fitted(words, width, plain=plain), fitted([(f" {said}", "dim")], width, plain=plain)]


# What is worked out, and the text beside a row


class Worked(NamedTuple):
    """Costs of all agents in use."""

    costs: tuple[Cost, ...]
    seen: tuple[int, ...]
    """For each a hash of what it loads."""
    texts_of: str = ""
    """The agent whose texts are included."""


def load(engine: Engine, around: Surroundings, opened: str) -> Worked:
    """Compute all costs, keeping only the texts of the agent `opened`."""
    found, seen = [], []
    for cost in start_cost.of_all(engine, around):
        seen.append(hash(cost.problem or tuple(item.loaded for item in cost.items)))
        found.append(cost if cost.agent == opened else _without_texts(cost))
    return Worked(tuple(found), tuple(seen), opened)


def changed(engine: Engine, around: Surroundings, agent: str, seen: int) -> bool:
    """Return whether an agent would load something else than what had this hash."""
    known = start_cost.agent_named(agent)
    try:
        return hash(start_cost.look(engine, around, known)) != seen
    except Exception as error:  # noqa: BLE001 - told in the agent's row, and again only when it is another one
        return hash(start_cost.problem_words(known, error)) != seen


def _without_texts(cost: Cost) -> Cost:
    return cost._replace(items=tuple(item._replace(loaded=item.loaded._replace(raw=b"")) for item in cost.items))


def page(
    engine: Engine, row: CostRow, around: Surroundings, width: int, *, plain: bool
) -> tuple[Page, tuple[int, ...]]:
    """Return the page of a row, and its lines at which loading ends."""
    if row.kind in (AGENT, ALL):
        return _sums(row.cost, around, width, plain=plain), ()
    assert row.item is not None
    return _text(engine, row.item, width, plain=plain)


def _sums(cost: Cost, around: Surroundings, width: int, *, plain: bool) -> Page:
    where, files = short(cost.project, around), count_words(cost.files, "file")
    sums = f"{cost.title}, started in {where}, loads {files}: {cost.bytes:,} bytes, {cost.tokens:,} tokens."
    lines = [sums, cost.note]
    if cost.below:
        lines.append(f"{cost.below:,} bytes are past its limits and not loaded.")
    for mark, words in (
        ("on demand", "to be read on demand, not at the start"),
        ("only when matching files are touched", "loaded only when matching files are touched"),
        ("needs approval", "outside of the project, waiting for your approval, and not read here"),
        ("missing", "named and missing"),
    ):
        if cost.marked(mark):
            lines.append(f"{count_words(cost.marked(mark), 'file')} {words}.")
    for why, count in cost.reasons(SKIPPED).items():
        lines.append(f"{count_words(count, 'file')} skipped. {why}".strip())
    head = words_page(*filter(None, lines), width=width)
    top = sorted((item for item in cost.items if item.tokens), key=lambda item: -item.tokens)[:COSTLIEST]
    if not top:
        return head
    rows = [PageLine(((_costly(item, cost, around, width, plain=plain), "name"),)) for item in top]
    title = words_page("What costs most:", style="heading", width=width)
    return (*head, PageLine(()), *title, *rows)


def _costly(item: CountedFile, cost: Cost, around: Surroundings, width: int, *, plain: bool) -> str:
    part = percent(item.tokens, cost.tokens)
    words = f" {item.tokens:>7,} {meter(item.tokens, cost.tokens, 10)} {part:>5}  "
    path = short(item.loaded.path, around)
    return words + both_ends(path, max(width - len(words) - 1, 12), plain=plain)


def _text(engine: Engine, item: CountedFile, width: int, *, plain: bool) -> tuple[Page, tuple[int, ...]]:
    """Return a file's page: lines below a cut are marked `x`, dropped ones `-`."""
    loaded = item.loaded
    head = _head(item, width)
    if loaded.raw or loaded.made:
        return _marked(item, head, width, plain=plain)
    if item.address is None:
        return head, ()
    try:
        data = engine.read_bytes(item.address)
    except MemtuiError as error:
        return (*head, *words_page(error.message, width=width)), ()
    note = words_page("Its text, which is not loaded at the start:", style="dim", width=width)
    return (*head, *note, *text_page(data, width, plain=plain)), ()


def _head(item: CountedFile, width: int) -> Page:
    loaded = item.loaded
    words = f"{loaded.label}: {loaded.mark or 'loaded whole'}"
    sums = f"{item.bytes:,} of {loaded.size:,} bytes, {item.tokens:,} tokens." if loaded.at_start else ""
    style = "problem" if loaded.mark not in ("", "names only", "on demand") else "description"
    found = words_page(" ".join(filter(None, (words + ".", sums))), style=style, width=width)
    why = words_page(loaded.why, style=style, width=width) if loaded.why else ()
    return (*found, *why, PageLine(()))


def _marked(item: CountedFile, head: Page, width: int, *, plain: bool) -> tuple[Page, tuple[int, ...]]:
    loaded = item.loaded
    signs: dict[int, str] = {}
    rules: dict[int, str] = {}
    for gap in loaded.gaps:
        first, last = line_of(loaded.raw, gap.start), line_of(loaded.raw, max(min(gap.end, len(loaded.raw)) - 1, 0))
        if gap.kind == loaded_text.CUT and gap.start < len(loaded.raw) and _begins_inside(loaded.raw, gap.start):
            first += 1
        sign = {loaded_text.CUT: "x", DROPPED: "-"}[gap.kind]
        signs |= dict.fromkeys(range(first, last + 1), sign)
        if gap.kind == loaded_text.CUT:
            below = loaded.raw[gap.start : gap.end].split(b"\n")
            lines = lines_with_text(below[1:] if _begins_inside(loaded.raw, gap.start) else below)
            rules[first] = f"cut here: {count_words(lines, 'line')}, {gap.end - gap.start:,} bytes are not loaded"
    drawn = text_page(loaded.raw, width, plain=plain)
    return _with_rules(head, drawn, signs, rules, width, plain=plain)


def _begins_inside(data: bytes, offset: int) -> bool:
    return offset > 0 and data[offset - 1 : offset] != b"\n"


def _with_rules(
    head: Page, drawn: Page, signs: dict[int, str], rules: dict[int, str], width: int, *, plain: bool
) -> tuple[Page, tuple[int, ...]]:
    found: list[PageLine] = list(head)
    starts: list[int] = []
    seen = 0
    for line in drawn:
        number = line.source
        if number is not None and number != seen and number in rules:
            starts.append(len(found))
            found.append(_rule(rules[number], width, plain=plain))
        seen = number or seen
        sign = signs.get(number or 0)
        if sign is not None and number is not None:
            first, *rest = line.runs
            runs = [(text, "number" if style == "number" else "dim") for text, style in rest]
            line = PageLine(((sign, "warning"), (first[0][1:], "number"), *runs), number)  # noqa: PLW2901
        found.append(line)
    if rules and not starts:
        starts.append(len(found))
        found.append(_rule(next(iter(rules.values())), width, plain=plain))
    return tuple(found), tuple(starts)


def _rule(words: str, width: int, *, plain: bool) -> PageLine:
    sign = "-" if plain else "─"
    text = f"{sign * 2} {words} "
    return PageLine(((text + sign * max(width - len(text) - 1, 0), "warning"),))


def copied(rows: Sequence[CostRow], row: CostRow) -> str:
    """Return what is loaded for a row, for the clipboard."""
    if row.item is not None:
        return row.item.loaded.text.decode("utf-8", "replace")
    if row.kind == ALL:
        texts = [one.item.loaded.text for one in rows if one.item is not None and one.kind == ITEM]
        return b"\n".join(text for text in texts if text).decode("utf-8", "replace")
    return ""
