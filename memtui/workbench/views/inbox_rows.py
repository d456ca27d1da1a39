"""The rows of the inbox as runs: who, when, what, where; every sign is a word or a letter, colour only repeats it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from memtui.engine.model import Change
from memtui.features.actors import KINDS, common_place, who_words
from memtui.features.changes.bursts import Burst
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.draw.spans import Run
from memtui.ui.draw.times import Look, ago, since
from memtui.ui.draw.words import count_words, end_of_line, fit
from memtui.workbench.views.inbox import Item

KIND_STYLES = {"modified": "agent", "created": "add", "deleted": "del", "renamed": "agent"}
Counts = Mapping[Change, tuple[int, int]]
"""Lines that came and went, where they were counted."""


def row_runs(item: Item, width: int, look: Look, *, opened: bool, counts: Counts) -> list[Run]:
    """Draw a row, without the sign of the cursor and the mark.

    Args:
        item: the row.
        width: cells there are.
        look: the clock, and whether only ASCII is drawn.
        opened: whether the changes of a burst are shown.
        counts: lines that came and went.
    """
    if item.vanished is not None:
        root = item.vanished.root
        words = f"  folder gone: {root.label or root.id}, {count_words(item.vanished.memories, 'memory')} were in it"
        return [(one_line(words, width, ascii_tokens=look.ascii), "warning")]
    if item.change is None and item.burst is not None:
        return _burst_runs(item.burst, width, look, opened=opened)
    assert item.change is not None
    assert item.burst is not None
    lead: list[Run] = [("    ", "dim")]
    if item.alone:
        who = _who(item.burst, width, look)
        lead = [("  ", "dim"), (f"{ago(item.at, look.now):>4} ", "dim"), (who, "strong")]
    return _change_runs(item.change, lead, width, look, counts)


def _who_width(width: int) -> int:
    return 10 if width < 70 else 22


def _who(burst: Burst, width: int, look: Look) -> str:
    """The writer in a column of its own; whose folder it was only where there is room, because the address says it."""
    words = who_words(burst.actor, burst.agent if width >= 70 else "")
    return fit(words, _who_width(width), plain=look.ascii) + " "


def _burst_runs(burst: Burst, width: int, look: Look, *, opened: bool) -> list[Run]:
    arrow = ("v " if opened else "> ") if look.ascii else ("▾ " if opened else "▸ ")
    lead: list[Run] = [
        (arrow, "dim"),
        (f"{ago(burst.end, look.now):>4} ", "dim"),
        (_who(burst, width, look), "strong"),
    ]
    used = sum(cell_width(text) for text, _ in lead)
    return [*lead, (one_line(look.named(burst_words(burst)), max(width - used, 1), ascii_tokens=look.ascii), "name")]


def burst_words(burst: Burst) -> str:
    """Say what a burst is: how many, what happened to them, and where."""
    if burst.moved is not None:
        old, new = burst.moved
        return f"{len(burst.changes):,} renamed: {visible(old.path) or '.'}/ -> {visible(new.path) or '.'}/"
    kinds = Counter(change.kind for change in burst.changes)
    parts = ", ".join(f"{kinds[kind]:,} {word}" for kind, word in KINDS.items() if kinds[kind])
    place = common_place([change.address for change in burst.changes])
    return f"{parts}{f'  in {visible(place)}' if place else ''}"


def _change_runs(change: Change, lead: list[Run], width: int, look: Look, counts: Counts) -> list[Run]:
    kind: Run = (f"{KINDS[change.kind]:<7} ", KIND_STYLES[change.kind])
    came, went = counts.get(change, (0, 0))
    tail = f"  +{came} -{went}" if came or went else ""
    used = sum(cell_width(text) for text, _ in lead) + len(kind[0]) + len(tail)
    room = max(width - used, 8)
    name = look.named(str(change.address))
    if change.old_address is not None:
        name += f" (was {change.old_address.path})" if room > 40 else ""
    shown = end_of_line(name, room, plain=look.ascii)
    return [*lead, kind, (shown, "name"), (" " * max(room - cell_width(shown), 0), "dim"), (tail, "dim")]


def heading(change: Change, agent: str, since_seen: list[tuple[str, int]], at: int, now: int) -> list[str]:
    """Say above a difference who did it and when, the old name, and who else wrote since the user looked.

    Args:
        change: what happened.
        agent: whose folder it is in.
        since_seen: the versions since the one last seen, newest first: writer and time.
        at: when the change was made.
        now: the clock.
    """
    word = {"modified": "Changed", "created": "Created", "deleted": "Deleted", "renamed": "Renamed"}[change.kind]
    actor, moment = change.actor, at
    if change.kind == "created" and len(since_seen) > 1:
        actor, moment = since_seen[-1]  # who made it, not who wrote it last
    lines = [f"{word} by {who_words(actor, agent)}, {since(moment, now)}."]
    if change.old_address is not None:
        lines.append(f"You last saw it as {change.old_address.path}.")
    if len(since_seen) > 1:
        told = ", ".join(f"{who_words(actor)} {ago(when, now)}" for actor, when in since_seen[:4])
        more = f" and {len(since_seen) - 4} more" if len(since_seen) > 4 else ""
        lines.append(f"{len(since_seen)} versions since you looked: {told}{more}.")
    return lines
