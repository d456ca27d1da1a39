"""The filter line above the cards: words, and `name:value` pairs for type, state, source and time.

It is apart because it is tested without a screen and the filter keys edit the same line.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memtui.engine.observation import STATES
from memtui.features.observations.model import TYPES
from memtui.features.observations.store.find import CardFilter
from memtui.wire.times import parse_time

KINDS = ("memory", "note", "session")
STATE_VALUES = (*STATES, "deleted", "brought")
NAMES = ("type", "state", "kind", "agent", "path", "since", "until")
_TOKEN = re.compile(rf"(?:^|(?<=\s))({'|'.join(NAMES)}):(\S*)(?:\s+|$)")


class ParsedLine(NamedTuple):
    """A parsed filter line."""

    words: str
    wanted: CardFilter
    problem: str = ""


def parse_line(line: str, wanted: CardFilter, now: int) -> ParsedLine:
    """Parse a filter line onto the filter `wanted`; half-typed pairs are ignored."""
    given = {name: value for name, value in _TOKEN.findall(line) if value}
    problem = ""
    for name, values in (("type", TYPES), ("state", STATE_VALUES), ("kind", KINDS)):
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
    return ParsedLine(_TOKEN.sub("", line).strip(), wanted, problem)


def cycle_value(line: str, name: str, values: tuple[str, ...]) -> str:
    """Replace the value of `name` by the next one; after the last one remove it."""
    now = next((value for one, value in _TOKEN.findall(line) if one == name), "")
    at = values.index(now) + 1 if now in values else 0
    rest = re.sub(rf"(?:^|(?<=\s)){name}:\S*(?:\s+|$)", "", line).strip()
    return f"{name}:{values[at]} {rest}".strip() if at < len(values) else rest
