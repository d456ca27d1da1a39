"""What the search says beside its hits: how many there are, what is looked in, and what to try when there are none.

Pure functions of values, so that what they say is tested without a screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from memtui.engine.model import Found, Hit
from memtui.matching import Query
from memtui.ui.draw import bars
from memtui.ui.draw.spans import Line
from memtui.ui.draw.words import count_words

WIDE = 76
"""Cells from which it is said what must not be there."""


class Sources(NamedTuple):
    """What is looked in."""

    bodies: bool = True
    versions: bool = False
    everywhere: bool = False
    """In every project."""


def count_line(found: Found | None, *, searching: bool) -> Line:
    """How much was found."""
    line: Line = [("searching... ", "dim")] if searching else []
    if found is None:
        return line
    shown = len(found.hits)
    of = f"{shown:,} of {found.total:,}" if found.total > shown else f"{found.total:,}"
    words = "1 hit" if found.total == 1 else f"{of} hits"
    return [*line, (words + " ", "strong" if found.total else "warning")]


def state_line(sources: Sources, query: Query | None, key: Callable[[str], str], width: int) -> Line:
    """What is looked in, each source ticked or not behind the key that changes it; and what must not be there.

    What cannot be changed here, because its key is off, is left out.

    Args:
        sources: what is looked in.
        query: what is looked for.
        key: gives the key of an action.
        width: cells there are.
    """
    parts: Line = []
    for id_, what, is_on in (
        ("search_texts", "texts", sources.bodies),
        ("search_versions", "old versions", sources.versions),
        ("search_projects", "every project", sources.everywhere),
    ):
        if key(id_):
            parts += [(f" {key(id_)}", "key"), (f" {'[x]' if is_on else '[ ]'} {what} ", "strong" if is_on else "dim")]
    if query is None or not query.without or width < WIDE:
        return parts
    words = ", ".join(term.forms[0] for term in query.without)
    return bars.spread(parts, [(f"without {words} "[: width // 3], "warning")], width)


def empty_lines(past: Sequence[str]) -> list[Line]:
    """What can be typed."""
    lines: list[Line] = [
        [],
        [("  Type words: memories that hold all of them are listed.", "name")],
        [('  "two words"', "key"), ("  side by side", "name")],
        [("  -word", "key"), ("        nowhere in it", "name")],
    ]
    if past:
        lines += [
            [],
            [("  Before: ", "dim"), (past[-1], "name"), ("   ", "dim"), ("up", "key"), (" repeats it", "dim")],
        ]
    return lines


def nothing_lines(sources: Sources, key: Callable[[str], str]) -> list[Line]:
    """What to try when nothing was found; `key` gives the key of an action, empty when it is off."""
    lines: list[Line] = [[], [("  Nothing holds these words.", "name")]]
    for id_, words, done in (
        ("search_texts", "looks into the texts as well", sources.bodies),
        ("search_versions", "looks into old versions and deleted memories", sources.versions),
        ("search_projects", "looks into every project", sources.everywhere),
    ):
        if not done and key(id_):
            lines.append([(f"  {key(id_)}", "key"), (f" {words}", "name")])
    return lines


def page_title(hit: Hit | None) -> tuple[str, Line]:
    """The title of the text beside the list, and what it says at its right end."""
    if hit is None:
        return "Text", []
    words = str(hit.memory.address)
    if hit.version is not None:
        words += f" version {hit.version.sha256[:8]}"
    return words, [(count_words(hit.places, "place"), "title")] if hit.places else []
