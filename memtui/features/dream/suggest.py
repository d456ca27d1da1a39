"""Memories worth a look: contradictory, past or misplaced ones; never a change.

Kinds and their limit are those of Qwen Code's governance (`packages/core/src/memory/governance.ts`).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from memtui.engine.proposal import Evidence
from memtui.features.dream.find import Cleanup, question
from memtui.features.hygiene.doubles import ReadMemory
from memtui.features.remember.classify import same

MAX_PER_RULE, MAX_FINDINGS = 5, 20
"""Findings per rule, and in total."""
_LATE_DAYS = 30
_DATE = re.compile(r"\b20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])\b")
_EVENT = re.compile(r"\b(?:deadline|due|release|freeze|launch|ship|sprint|until|by)\b", re.IGNORECASE)
_PASSING = re.compile(r"\b(?:temporar(?:y|ily)|for now|work[- ]in[- ]progress|WIP|for this (?:task|session))\b", re.I)
_PATH = re.compile(r"`((?:[\w.@-]+/)+[\w.@-]+\.[A-Za-z0-9]{1,6})`")


def suggest(memories: Iterable[ReadMemory], *, project: str, now: int) -> list[Cleanup]:
    """Return what is worth a look, at most `MAX_PER_RULE` per rule; paths are resolved below `project`."""
    texts = [one for one in memories if not one.row.pinned]
    found = (
        *_conflicts(texts),
        *_outdated(texts, now),
        *_stale_paths(texts, project),
        *_promoted(texts),
        *_past(texts),
    )
    counted: Counter[str] = Counter()
    kept = []
    for one in found:
        counted[one.rule] += 1
        if counted[one.rule] <= MAX_PER_RULE:
            kept.append(one)
    return kept[:MAX_FINDINGS]


def _note(rule: str, why: str, *shown: tuple[ReadMemory, str]) -> Cleanup:
    quotes = (Evidence("memory", str(one.row.address), one.sha256, quote=quote) for one, quote in shown)
    return question(rule, why, *quotes)


def _conflicts(texts: Iterable[ReadMemory]) -> Iterator[Cleanup]:
    groups: dict[tuple[tuple[str, str], str], list[ReadMemory]] = {}
    for one in texts:
        said = same(one.row.description)
        if said:
            groups.setdefault((one.key, said), []).append(one)
    for group in groups.values():
        if len({same(one.body.decode()) for one in group}) > 1:
            names = " and ".join(str(one.row.address) for one in group[:2])
            quotes = [(one, one.row.description) for one in group[:3]]
            yield _note("conflict", f"{names} are described alike and say different things: which holds?", *quotes)


def _outdated(texts: Iterable[ReadMemory], now: int) -> Iterator[Cleanup]:
    limit = str(datetime.fromtimestamp(now / 1000, UTC).date() - timedelta(days=_LATE_DAYS))
    for one in texts:
        for line in one.body.decode().splitlines():
            last = max((match[0] for match in _DATE.finditer(line)), default="")
            if "" < last < limit and _EVENT.search(line):
                why = f"{one.row.address} is about {last}, which is past: does it still matter?"
                yield _note("outdated", why, (one, line))
                break


def _stale_paths(texts: Iterable[ReadMemory], project: str) -> Iterator[Cleanup]:
    """Yield memories naming a missing file in an existing folder of the project."""
    for one in texts:
        for match in _PATH.finditer(one.body.decode()):
            path = os.path.join(project, match[1])
            if ".." not in match[1] and os.path.isdir(os.path.dirname(path)) and not os.path.lexists(path):
                yield _note("stale-path", f"{one.row.address} names {match[1]}, which is not there.", (one, match[0]))
                break


def _promoted(texts: Iterable[ReadMemory]) -> Iterator[Cleanup]:
    """Yield memories about the user or their way of working that several projects repeat."""
    groups: dict[str, dict[str, ReadMemory]] = {}
    for one in texts:
        if one.type in ("user", "feedback") and one.row.scope != "global":
            groups.setdefault(same(one.body.decode()), {}).setdefault(one.row.address.root, one)
    for group in groups.values():
        if len(group) > 1:
            first, second = list(group.values())[:2]
            why = f"{first.row.address} and {second.row.address} say the same: once, for all projects?"
            yield _note("promote", why, (first, first.row.description), (second, second.row.description))


def _past(texts: Iterable[ReadMemory]) -> Iterator[Cleanup]:
    for one in texts:
        text = one.body.decode()
        match = _PASSING.search(text)
        if match:
            line = text[text.rfind("\n", 0, match.start()) + 1 :].splitlines()[0]
            yield _note("forget", f"{one.row.address} says that it holds for a while: is it over?", (one, line))
