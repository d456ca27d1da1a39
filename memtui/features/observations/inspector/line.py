"""What is typed above the cards, as a filter: words, and `name:value` for what a card is, where it comes from and when.

It is apart because it is tried without a screen, and the keys that filter write into the same line.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memtui.engine.observation import STATES
from memtui.features.observations.model import TYPES
from memtui.features.observations.store.find import CardFilter
from memtui.wire.times import parse_time

KINDS = ("memory", "note", "session")
SHOWN = (*STATES, "deleted", "brought")
"""What `state:` can be; the last two are no states of their own."""
NAMES = ("type", "state", "kind", "agent", "path", "since", "until")
_TOKEN = re.compile(rf"(?:^|(?<=\s))({'|'.join(NAMES)}):(\S*)(?:\s+|$)")


class LineRead(NamedTuple):
    """A line that was read."""

    words: str
    """What is looked for in texts."""
    wanted: CardFilter
    problem: str = ""
    """What of it means nothing, as a sentence."""


def read_line(line: str, wanted: CardFilter, now: int) -> LineRead:
    """Read a line; what is half typed filters nothing.

    Args:
        line: as it is typed.
        wanted: what is looked at without it.
        now: milliseconds since the epoch.
    """
    given = {name: value for name, value in _TOKEN.findall(line) if value}
    problem = ""
    for name, values in (("type", TYPES), ("state", SHOWN), ("kind", KINDS)):
        if name in given and given[name] not in values:
            problem = f"{name}: is one of {', '.join(values)}."
            del given[name]
    times = {name: parse_time(given[name], now) for name in ("since", "until") if name in given}
    if None in times.values():
        problem = "since: and until: take a date, or an age such as 2h, 3d."
    wanted = wanted._replace(
        types=(given["type"],) if "type" in given else (),
        state=given.get("state", ""),
        kind=given.get("kind", ""),
        agent=given.get("agent", ""),
        file=given.get("path", ""),
        since=times.get("since") or wanted.since,
        until=times.get("until") or wanted.until,
        hidden=wanted.hidden or given.get("state") in ("suppressed", "redacted", "deleted"),
    )
    return LineRead(_TOKEN.sub("", line).strip(), wanted, problem)


def with_next(line: str, name: str, values: tuple[str, ...]) -> str:
    """Give a line with the next value of a name; behind the last one it has none."""
    now = next((value for one, value in _TOKEN.findall(line) if one == name), "")
    at = values.index(now) + 1 if now in values else 0
    rest = re.sub(rf"(?:^|(?<=\s)){name}:\S*(?:\s+|$)", "", line).strip()
    return f"{name}:{values[at]} {rest}".strip() if at < len(values) else rest
