"""What was said in the session that is being written: lines with some words, and the turns around one of them.

It is for an agent that forgot the beginning of its own session. The session's file is read again each time, in parts,
and nothing of it is kept. Secrets are masked and private spans cut as in cards; what memtui gave, and what tools gave
back but for failures, is not looked at. It is apart from cards because no card is made.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtui import markers
from memtui.agents.projects import main_checkout
from memtui.errors import NotFoundError
from memtui.features.observations.answers import HEADING, day, within
from memtui.features.observations.model import SessionReach
from memtui.features.observations.sessions.files import PART, REST_MS, project_of
from memtui.features.observations.sessions.turns import CleanText, is_ours, is_typed
from memtui.given import neutral
from memtui.matching import Query, fold, parse
from memtui.transcripts.event import AGENT, SUMMARY, TOOL, USER, SessionEvent
from memtui.transcripts.follow import follow
from memtui.transcripts.sessions import READERS, allowed_files, home_of

LIMIT, MOST = 10, 50
TURNS, MOST_TURNS = 8, 25
GREP_TOKENS, DESCRIBE_TOKENS = 1_500, 3_000
_AROUND = 240
"""Characters of a line that are shown."""
_SAID = 2_000
"""Characters of what somebody said that are shown of a turn."""
_LETTERS = 8
_RANKS = {SUMMARY: 0, USER: 1, AGENT: 1, TOOL: 2}


class OpenSession(NamedTuple):
    """A session file, and which agent writes it."""

    agent: str
    path: str


class _Said(NamedTuple):
    """One thing of a session as it may be shown."""

    who: str
    """A key of `_RANKS`."""
    text: str
    at: int
    offset: int
    session: str
    typed: bool


def open_sessions(reach: SessionReach, agents: Sequence[str], *, now: int, newest: bool) -> list[OpenSession]:
    """The session files of some agents in the project, written just now; or only the newest one, however old it is.

    Args:
        reach: what may be read.
        agents: their ids.
        now: milliseconds since the epoch.
        newest: whether age does not matter.
    """
    place = reach.place
    project = os.path.realpath(main_checkout(place.project))
    since = 0 if newest else now - REST_MS
    listed = allowed_files(reach.settings, place, since=since) if reach.allowed else []
    found: list[tuple[int, OpenSession]] = []
    for agent, path in listed:
        if agent not in agents:
            continue
        one = OpenSession(agent, path)
        at = _written(path)
        if found and newest and at <= found[0][0]:
            continue
        cwd = _folder(one)
        cwd = cwd or home_of(agent, path, [place.project]) or ""
        if cwd and project_of(cwd, reach) == project:
            found = [*([] if newest else found), (at, one)]
    return [one for _, one in sorted(found, reverse=True)]


def grep(files: Sequence[OpenSession], words: str, limit: int = LIMIT) -> str:
    """Lines of sessions with all of some words: of summaries first, then of people and answers, then of calls.

    Raises:
        UsageError: `E_QUERY`, there is nothing to look for.
    """
    query = parse(words)
    if not files:
        return "No session of yours is being written in this project."
    hits: list[tuple[int, int, str]] = []
    for one in files:
        for said in _all(one):
            for line in said.text.splitlines():
                if _holds(query, line):
                    shown = neutral.line(_cut(line, query))
                    name = f"{said.session[:_LETTERS]}-{said.offset}"
                    hits.append((_RANKS[said.who], -said.at, f"- {name} {day(said.at)} {said.who}: {shown}"))
                    break
    hits.sort(key=lambda hit: hit[:2])
    lines = within([text for _, _, text in hits[: max(1, min(limit, MOST))]], GREP_TOKENS - 60)
    if not lines:
        return "No line of this session has these words."
    more = [f"({len(hits) - len(lines)} more)"] if len(hits) > len(lines) else []
    return "\n".join((f"{len(lines)} place{'s' * (len(lines) > 1)} {HEADING}:", *lines, *more))


def describe(files: Sequence[OpenSession], name: str, turns: int = TURNS) -> str:
    """The turns around a place that `grep` named; those before it, where it is a summary.

    Raises:
        NotFoundError: there is no such place.
    """
    session, _, place = name.strip().rpartition("-")
    if session and place.isascii() and place.isdigit():
        for one in files:
            found = _around(one, session, int(place), max(1, min(turns, MOST_TURNS)))
            if found:
                return f"Turns {HEADING}:\n" + _fitting(*found)
    raise NotFoundError(f"There is no place {name} in this session.", hint="context_grep names places.")


def _fitting(blocks: Sequence[str], at: int) -> str:
    """As many turns around one as there is room for; of that one as many lines."""
    first, last = at, at + 1
    kept = ["\n".join(within(blocks[at].splitlines(), DESCRIBE_TOKENS - 80))]
    for step in range(1, len(blocks)):
        for number in (at - step, at + step):
            if not first - 1 <= number <= last or not 0 <= number < len(blocks):
                continue
            wider = [blocks[number], *kept] if number < first else [*kept, blocks[number]]
            if len(within(wider, DESCRIBE_TOKENS - 80)) == len(wider):
                kept, first, last = wider, min(first, number), max(last, number + 1)
    left = len(blocks) - len(kept)
    return "\n".join((*kept, *([f"({left} more turns)"] if left else [])))


def _around(one: OpenSession, session: str, place: int, turns: int) -> tuple[list[str], int] | None:
    """The turns around a place, and which of them it is in; None when it is not there."""
    before: deque[str] = deque(maxlen=turns)
    block: list[str] = []
    after: list[str] | None = None
    wanted = turns // 2
    for said in _all(one):
        if (said.typed or said.who == SUMMARY) and block:
            if after is None:
                before.append("\n".join(block))
            else:
                after.append("\n".join(block))
                if len(after) > wanted:
                    break
            block = []
        if said.offset == place and said.session.startswith(session) and after is None:
            wanted = 0 if said.who == SUMMARY else wanted
            after = []
        block.append(f"{said.who}: {neutral.body(said.text[:_SAID])}")
    if after is None:
        return None
    if block and len(after) <= wanted:
        after.append("\n".join(block))
    kept = list(before)[-(turns - 1 if wanted == 0 else (turns - 1) // 2) :] if turns > 1 else []
    return [*kept, *after], len(kept)


def _all(one: OpenSession) -> Iterator[_Said]:
    """All of a session that may be shown, in order; a person's words first make private what is cut from then on."""
    private: list[str] = []
    typed = skips = 0
    for event in _events(one):
        if event.sidechain or (event.meta and event.tool != SUMMARY) or (event.role == TOOL and is_ours(event)):
            continue
        if is_typed(event):
            unkept = markers.cut(neutral.without_given(event.text)).no_memory
            if unkept and not typed:
                return
            typed, skips = typed + 1, unkept
        if skips:
            continue
        clean = CleanText(private)
        text = event.text
        if event.role == TOOL:
            text = f"{event.tool} {event.target}" + (f"\nfailed: {event.text}" if event.failed else "")
        text = clean.of(text)
        private = clean.private
        who = SUMMARY if event.tool == SUMMARY and event.role == USER else event.role
        if text.strip():
            yield _Said(who, text, event.at, event.offset, event.session, is_typed(event))


def _events(one: OpenSession) -> Iterator[SessionEvent]:
    """The events of a session; those of turns that are rolled back later in it are among them."""
    cursor, seen = None, 0
    while True:
        part = follow(one.path, READERS[one.agent], cursor, most=PART)
        if part.skipped or part.cursor is None or not part.lines:
            return
        yield from (event for event in part.events if event.offset >= seen)
        cursor, seen = part.cursor, part.cursor.offset
        if one.path.endswith(".json"):
            return


def _folder(one: OpenSession) -> str:
    """The folder in which a session stands, as its first lines say."""
    part = follow(one.path, READERS[one.agent], most=1)
    found = next((event.cwd for event in part.events if event.cwd), "")
    return found or next((event.cwd for event in _events(one) if event.cwd), "")


def _holds(query: Query, line: str) -> bool:
    folded = fold(line)
    return query.allows(folded) and all(term.grade(folded) is not None for term in query.terms)


def _cut(line: str, query: Query) -> str:
    if len(line) <= _AROUND:
        return line.strip()
    start = max(0, next((start for start, _ in query.spans(line, 1)), 0) - _AROUND // 3)
    return f"{'…' if start else ''}{line[start : start + _AROUND].strip()}…"


def _written(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0  # it went since it was listed
