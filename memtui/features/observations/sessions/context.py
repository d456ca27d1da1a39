"""Search in the session that is being written, and the turns around a hit, for an agent that lost its beginning.

Secrets and private spans are treated as in cards; memtui's own output and tool results except failures are skipped.
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
from memtui.features.observations.model import SessionScope
from memtui.features.observations.sessions.files import IDLE_MS, READ_BYTES, project_of
from memtui.features.observations.sessions.turns import CleanText, is_ours, is_typed
from memtui.given import neutral
from memtui.matching import Query, fold, parse
from memtui.transcripts.event import AGENT, SUMMARY, TOOL, USER, SessionEvent
from memtui.transcripts.follow import follow
from memtui.transcripts.readers import READERS
from memtui.transcripts.sessions import allowed_files, home_of

DEFAULT_HITS, MAX_HITS = 10, 50
DEFAULT_TURNS, MAX_TURNS = 8, 25
GREP_TOKENS, DESCRIBE_TOKENS = 1_500, 3_000
_AROUND = 240
_MESSAGE_CHARS = 2_000
_LETTERS = 8
_RANKS = {SUMMARY: 0, USER: 1, AGENT: 1, TOOL: 2}


class OpenSession(NamedTuple):
    """A session file and its agent."""

    agent: str
    path: str


class _Message(NamedTuple):
    who: str
    text: str
    at: int
    offset: int
    session: str
    typed: bool


def open_sessions(reach: SessionScope, agents: Sequence[str], *, now: int, newest: bool) -> list[OpenSession]:
    """Return the project's session files of some agents that are being written, or only the newest one."""
    place = reach.place
    project = os.path.realpath(main_checkout(place.project))
    since = 0 if newest else now - IDLE_MS
    listed = allowed_files(reach.settings, place, since=since) if reach.allowed else []
    found: list[tuple[int, OpenSession]] = []
    for agent, path in listed:
        if agent not in agents:
            continue
        one = OpenSession(agent, path)
        at = _written(path)
        if found and newest and at <= found[0][0]:
            continue
        cwd = _folder(one) or home_of(agent, path, [place.project]) or ""
        if cwd and project_of(cwd, reach) == project:
            found = [*([] if newest else found), (at, one)]
    return [one for _, one in sorted(found, reverse=True)]


def grep(files: Sequence[OpenSession], words: str, limit: int = DEFAULT_HITS) -> str:
    """Return lines of sessions that match all words, from summaries first, then messages, then calls."""
    query = parse(words)
    if not files:
        return "No session of yours is being written in this project."
    hits: list[tuple[int, int, str]] = []
    for one in files:
        for said in _messages(one):
            for line in said.text.splitlines():
                folded = fold(line)
                if query.allows(folded) and all(term.grade(folded) is not None for term in query.terms):
                    shown = neutral.line(_cut(line, query))
                    name = f"{said.session[:_LETTERS]}-{said.offset}"
                    hits.append((_RANKS[said.who], -said.at, f"- {name} {day(said.at)} {said.who}: {shown}"))
                    break
    hits.sort(key=lambda hit: hit[:2])
    lines = within([text for _, _, text in hits[: max(1, min(limit, MAX_HITS))]], GREP_TOKENS - 60)
    if not lines:
        return "No line of this session has these words."
    more = [f"({len(hits) - len(lines)} more)"] if len(hits) > len(lines) else []
    return "\n".join((f"{len(lines)} place{'s' * (len(lines) > 1)} {HEADING}:", *lines, *more))


def describe(files: Sequence[OpenSession], name: str, turns: int = DEFAULT_TURNS) -> str:
    """Return the turns around a place named by `grep`; for a summary, those before it."""
    session, _, place = name.strip().rpartition("-")
    if session and place.isascii() and place.isdigit():
        for one in files:
            found = _around(one, session, int(place), max(1, min(turns, MAX_TURNS)))
            if found:
                return f"Turns {HEADING}:\n" + _fitting(*found)
    raise NotFoundError(f"There is no place {name} in this session.", hint="context_grep names places.")


def _fitting(blocks: Sequence[str], at: int) -> str:
    """Return as many turns around one as the budget allows, or the leading lines of that one."""
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
    """Return the turns around a place and its index among them; None when it is not in this file."""
    before: deque[str] = deque(maxlen=turns)
    block: list[str] = []
    after: list[str] | None = None
    wanted = turns // 2
    for said in _messages(one):
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
        block.append(f"{said.who}: {neutral.body(said.text[:_MESSAGE_CHARS])}")
    if after is None:
        return None
    if block and len(after) <= wanted:
        after.append("\n".join(block))
    kept = list(before)[-(turns - 1 if wanted == 0 else (turns - 1) // 2) :] if turns > 1 else []
    return [*kept, *after], len(kept)


def _messages(one: OpenSession) -> Iterator[_Message]:
    """Yield what may be shown, in order; text marked private once is cut from then on."""
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
            yield _Message(who, text, event.at, event.offset, event.session, is_typed(event))


def _events(one: OpenSession) -> Iterator[SessionEvent]:
    """Yield a session's events, including those of turns that are rolled back later."""
    cursor, seen = None, 0
    while True:
        part = follow(one.path, READERS[one.agent], cursor, most=READ_BYTES)
        if part.skipped or part.cursor is None or not part.lines:
            return
        yield from (event for event in part.events if event.offset >= seen)
        cursor, seen = part.cursor, part.cursor.offset
        if one.path.endswith(".json"):
            return


def _folder(one: OpenSession) -> str:
    part = follow(one.path, READERS[one.agent], most=1)
    found = next((event.cwd for event in part.events if event.cwd), "")
    return found or next((event.cwd for event in _events(one) if event.cwd), "")


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
