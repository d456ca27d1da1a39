"""Rows of the search view: hits grouped by root, and the words around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from memtui.engine.model import Address, Hit, Root, SearchResult
from memtui.matching import Query
from memtui.safe_text import cell_width
from memtui.ui.draw import bars
from memtui.ui.draw.pages import fitted, marked
from memtui.ui.draw.text import Line, RowStyle, Run, ago, both_ends, fit

WIDE = 76
"""Cells from which excluded words are shown."""


class HitGroup(NamedTuple):
    """The heading of a root's hits."""

    root: str
    label: str
    shown: int
    total: int


class More(NamedTuple):
    """The last row, when not all hits are shown."""

    left: int


Item = HitGroup | Hit | More


def items_of(found: SearchResult, label: Callable[[str], str]) -> tuple[Item, ...]:
    """Group hits by root, best first; `label` names a root."""
    groups: dict[str, list[Hit]] = {}
    for hit in found.hits:
        groups.setdefault(hit.memory.address.root, []).append(hit)
    totals = dict(found.roots)
    items: list[Item] = []
    for root, hits in groups.items():
        items += [HitGroup(root, label(root), len(hits), max(totals.get(root, 0), len(hits))), *hits]
    left = found.total - len(found.hits)
    return (*items, More(left)) if left > 0 and found.complete else tuple(items)


def label_of(root: Root | None, names: Mapping[str, str]) -> str:
    """Name a root by its scope and its project or owner; `names` maps scopes to local names."""
    if root is None:
        return "elsewhere"
    here = names.get(root.scope, "") if root.agent == "memtui" else ""
    return " ".join(word for word in (root.scope.upper(), here or root.label or root.id) if word)


def name_room(items: Iterable[Item], width: int) -> int:
    """Return the cells for paths: the longest path, at most two fifths of the width."""
    longest = max((len(item.memory.address.path) for item in items if isinstance(item, Hit)), default=0)
    return max(min(longest, width * 2 // 5, 60), 12)


def hit_runs(hit: Hit, query: Query | None, width: int, room: int, look: RowStyle) -> list[Run]:
    """Draw a hit in `width` cells, of which `room` are for its path, with the matches marked."""
    path = hit.memory.address.path
    shown = both_ends(path, room, plain=look.ascii)
    name = marked(shown, "missing" if hit.memory.missing else "name", query.spans(shown) if query else ())
    lead: list[Run] = [*name, (" " * (room - cell_width(shown) + 1), "dim")]
    if hit.version is not None:
        sign = "gone" if hit.memory.missing else "old"
        lead.append((f"{sign} {hit.version.sha256[:8]} {ago(hit.version.at, look.now)} ", "agent"))
    else:
        lead.append((fit(str(hit.line or ""), 4, right=True) + " ", "number"))
    left = max(width - sum(cell_width(text) for text, _ in lead), 8)
    text = hit.snippet if hit.field != "name" else hit.memory.description
    marks: Sequence[tuple[int, int]] = hit.marks if hit.field != "name" else query.spans(text) if query else ()
    style = "description" if hit.field == "body" else "dim"
    return [*lead, *fitted(marked(text, style, marks), left, plain=look.ascii)]


def row_key(item: Item) -> tuple[Address | str, str]:
    """Return the identity of a row across reloads."""
    match item:
        case HitGroup():
            return item.root, "group"
        case More():
            return "", "more"
        case _:
            return item.memory.address, item.version.sha256 if item.version is not None else ""


def row_runs(item: Item, query: Query | None, width: int, room: int, look: RowStyle) -> list[Run]:
    """Draw a row, without the sign of the cursor."""
    match item:
        case HitGroup():
            of = f"{item.shown:,} of {item.total:,}" if item.total > item.shown else f"{item.total:,}"
            return [(fit(item.label, max(width - len(of) - 2, 8), plain=look.ascii), "scope"), (f" {of}", "dim")]
        case More():
            return [(f" {item.left:,} more: enter shows them, another word leaves fewer", "dim")]
        case _:
            return [(" ", "dim"), *hit_runs(item, query, width - 1, room, look)]


class Sources(NamedTuple):
    """Where to search."""

    bodies: bool = True
    versions: bool = False
    everywhere: bool = False
    """In every project."""


SWITCHES = (
    ("search_texts", "bodies", "texts", "looks into the texts as well"),
    ("search_versions", "versions", "old versions", "looks into old versions and deleted memories"),
    ("search_projects", "everywhere", "every project", "looks into every project"),
)
"""For each field of `Sources` its action, its name, and what it does, in words."""


def count_line(found: SearchResult | None, *, searching: bool) -> Line:
    """Write the number of hits."""
    line: Line = [("searching... ", "dim")] if searching else []
    if found is None:
        return line
    shown = len(found.hits)
    of = f"{shown:,} of {found.total:,}" if found.total > shown else f"{found.total:,}"
    words = "1 hit" if found.total == 1 else f"{of} hits"
    return [*line, (words + " ", "strong" if found.total else "warning")]


def state_line(sources: Sources, query: Query | None, key: Callable[[str], str], width: int) -> Line:
    """Draw the sources with their keys, and the excluded words; a source whose key is off is left out."""
    parts: Line = []
    for id_, field, what, _ in SWITCHES:
        is_on = getattr(sources, field)
        if key(id_):
            parts += [(f" {key(id_)}", "key"), (f" {'[x]' if is_on else '[ ]'} {what} ", "strong" if is_on else "dim")]
    if query is None or not query.without or width < WIDE:
        return parts
    words = ", ".join(term.forms[0] for term in query.without)
    return bars.spread(parts, [(f"without {words} "[: width // 3], "warning")], width)


HINTS: list[Line] = [
    [],
    [("  Type words: memories that hold all of them are listed.", "name")],
    [('  "two words"', "key"), ("  side by side", "name")],
    [("  -word", "key"), ("        nowhere in it", "name")],
]
"""Shown before anything is typed."""


def nothing_lines(sources: Sources, key: Callable[[str], str]) -> list[Line]:
    """Suggest what to try when nothing was found; `key` returns the key of an action, empty when it is off."""
    lines: list[Line] = [[], [("  Nothing holds these words.", "name")]]
    for id_, field, _, words in SWITCHES:
        if key(id_) and not getattr(sources, field):
            lines.append([(f"  {key(id_)}", "key"), (f" {words}", "name")])
    return lines
