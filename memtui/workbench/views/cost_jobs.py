"""What agents load at their start, worked out for the view, and the page beside each row.

Functions for the bridge, run in a thread. What is loaded is decided by `features/cost/` alone, so the view
shows what `memtui cost` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.agent import SKIPPED
from memtui.agents.loaded_text import CUT, DROPPED, line_of
from memtui.config.surroundings import Surroundings
from memtui.errors import MemtuiError
from memtui.features.cost import start_cost
from memtui.features.cost.start_cost import Cost, Item
from memtui.given.tokens import counter
from memtui.pointers.cutline import lines_with_text
from memtui.ui.draw.pages import Page, PageLine, text_page, words_page
from memtui.ui.draw.words import count_words, end_of_line
from memtui.workbench.views.cost_rows import AGENT, ALL, Row, percent, share

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine

COSTLIEST = 8
"""So many files are named beside everything an agent loads."""
REASONS = 3
"""So many reasons why files are skipped are said there."""


class Worked(NamedTuple):
    """What every agent in use starts with."""

    costs: tuple[Cost, ...]
    seen: tuple[int, ...]
    """For each a number that differs when anything it loads does."""
    texts_of: str = ""
    """The agent whose texts are here."""


def load(engine: Engine, around: Surroundings, opened: str, stop: Callable[[], bool]) -> Worked:
    """Work out what every agent in use here starts with; no use is counted.

    Args:
        engine: on the roots in reach.
        around: where sessions would start.
        opened: the agent whose texts are kept; those of others are not needed.
        stop: says whether nobody wants the answer any more.
    """
    count = counter()
    found, seen = [], []
    for cost in start_cost.of_all(engine, around, count=count, stop=stop):
        seen.append(hash(cost.problem or tuple(item.loaded for item in cost.items)))
        found.append(cost if cost.agent == opened else _without_texts(cost))
    return Worked(tuple(found), tuple(seen), opened)


def changed(engine: Engine, around: Surroundings, agent: str, seen: int) -> bool:
    """Whether an agent would load anything else by now than when it had this number."""
    known = start_cost.agent_named(agent)
    try:
        return hash(start_cost.look(engine, around, known)) != seen
    except Exception as error:  # noqa: BLE001 - told in the agent's row, and again only when it is another one
        return hash(start_cost.problem_words(known, error)) != seen


def _without_texts(cost: Cost) -> Cost:
    return cost._replace(items=tuple(item._replace(loaded=item.loaded._replace(raw=b"")) for item in cost.items))


def page(engine: Engine, row: Row, around: Surroundings, width: int, *, plain: bool) -> tuple[Page, tuple[int, ...]]:
    """Draw what belongs to a row.

    Returns:
        The page, and the lines of it at which loading ends.
    """
    if row.kind in (AGENT, ALL):
        return _sums(row.cost, around, width, plain=plain), ()
    assert row.item is not None
    return _text(engine, row.item, width, plain=plain)


def _sums(cost: Cost, around: Surroundings, width: int, *, plain: bool) -> Page:
    where, files = start_cost.short(cost.project, around), count_words(cost.files, "file")
    sums = f"{cost.title}, started in {where}, loads {files}: {cost.bytes:,} bytes, {cost.tokens:,} tokens."
    lines = [sums, cost.method_words, cost.note]
    if cost.below:
        lines.append(f"{cost.below:,} bytes fall below its limits and are not loaded.")
    for mark, words in (
        ("on demand", "to be read on demand, not at the start"),
        ("only when matching files are touched", "loaded only when matching files are touched"),
        ("needs approval", "outside of the project, waiting for your approval, and not read here"),
        ("missing", "named and missing"),
    ):
        if cost.marked(mark):
            lines.append(f"{count_words(cost.marked(mark), 'file')} {words}.")
    lines += _skipped(cost)
    head = words_page(*filter(None, lines), width=width)
    top = sorted((item for item in cost.items if item.tokens), key=lambda item: -item.tokens)[:COSTLIEST]
    if not top:
        return head
    rows = [PageLine(((_costly(item, cost, around, width, plain=plain), "name"),)) for item in top]
    title = words_page("What costs most:", style="heading", width=width)
    return (*head, PageLine(()), *title, *rows)


def _skipped(cost: Cost) -> list[str]:
    """How many files are skipped, by reason; of many reasons those of most files."""
    reasons = list(cost.reasons(SKIPPED).items())
    lines = [f"{count_words(count, 'file')} skipped. {why}".strip() for why, count in reasons[:REASONS]]
    others = sum(count for _, count in reasons[REASONS:])
    return [*lines, f"{count_words(others, 'file')} skipped for other reasons."] if others else lines


def _costly(item: Item, cost: Cost, around: Surroundings, width: int, *, plain: bool) -> str:
    """Its share, and the end of its path: names end in what tells them apart."""
    part = percent(item.tokens, cost.tokens)
    words = f" {item.tokens:>7,} {share(item.tokens, cost.tokens, 10)} {part:>5}  "
    path = start_cost.short(item.loaded.path, around)
    return words + end_of_line(path, max(width - len(words) - 1, 12), plain=plain)


def _text(engine: Engine, item: Item, width: int, *, plain: bool) -> tuple[Page, tuple[int, ...]]:
    """A file's text: what is cut off below a line and marked `x`, what is dropped marked `-`."""
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


def _head(item: Item, width: int) -> Page:
    loaded = item.loaded
    words = f"{loaded.label}: {loaded.mark or 'loaded whole'}"
    sums = f"{item.bytes:,} of {loaded.size:,} bytes, {item.tokens:,} tokens." if loaded.at_start else ""
    style = "problem" if loaded.mark not in ("", "names only", "on demand") else "description"
    found = words_page(" ".join(filter(None, (words + ".", sums))), style=style, width=width)
    why = words_page(loaded.why, style=style, width=width) if loaded.why else ()
    return (*found, *why, PageLine(()))


def _marked(item: Item, head: Page, width: int, *, plain: bool) -> tuple[Page, tuple[int, ...]]:
    loaded = item.loaded
    signs: dict[int, str] = {}
    rules: dict[int, str] = {}
    for gap in loaded.gaps:
        first, last = line_of(loaded.raw, gap.start), line_of(loaded.raw, max(min(gap.end, len(loaded.raw)) - 1, 0))
        if gap.kind == CUT and gap.start < len(loaded.raw) and _begins_inside(loaded.raw, gap.start):
            first += 1
        sign = {CUT: "x", DROPPED: "-"}[gap.kind]
        signs |= dict.fromkeys(range(first, last + 1), sign)
        if gap.kind == CUT:
            below = loaded.raw[gap.start : gap.end].split(b"\n")
            lines = lines_with_text(below[1:] if _begins_inside(loaded.raw, gap.start) else below)
            rules[first] = f"cut here: {count_words(lines, 'line')}, {gap.end - gap.start:,} bytes are not loaded"
    drawn = text_page(loaded.raw, width, plain=plain)
    return _with_rules(head, drawn, signs, rules, width, plain=plain)


def _begins_inside(data: bytes, offset: int) -> bool:
    """Whether a cut is inside a line, so that the beginning of the line is loaded."""
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


def copied(rows: Sequence[Row], row: Row) -> str:
    """What is loaded for a row, for the clipboard; nothing where nothing is."""
    if row.item is not None:
        return row.item.loaded.text.decode("utf-8", "replace")
    if row.kind == ALL:
        texts = [one.item.loaded.text for one in rows if one.item is not None and one.kind == "item"]
        return b"\n".join(text for text in texts if text).decode("utf-8", "replace")
    return ""
