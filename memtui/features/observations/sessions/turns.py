"""Rules that derive cards from the turns of a session, deterministically.

A turn is what a person typed and everything up to the next prompt; memtui's own output is never captured again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtui import markers, mask
from memtui.features.observations import rules
from memtui.features.observations.model import DerivedCard
from memtui.given import neutral
from memtui.phrases import LONGEST, asks_to_remember, corrects
from memtui.transcripts.calls import OPENED, WRITES, command_of, only_reads, touched
from memtui.transcripts.event import AGENT, SUMMARY, TOOL, USER, SessionEvent, as_string

MAX_TEXT = 2_000
MAX_FAILURES = 2
_CHECK = re.compile(
    r"(?<![\w/.-])(?:pytest|(?:npm|pnpm|yarn|bun)(?: run)? test|cargo test|go test|make test|tsc|mypy|ruff|eslint)\b"
)
_REFUSED = re.compile(
    r"(?i)user (?:doesn't|does not) want|rejected by (?:the )?user|user (?:rejected|declined|cancelled)"
)
"""Beginning of the result of a call that a person refused, in Claude Code 2.1 and Codex 0.169."""
_INTERRUPTED = ("[Request interrupted", "[interrupted]")
_PLANS = {"exitplanmode", "exit_plan_mode"}
"""Tools of Claude Code, Gemini CLI and Qwen Code that end with a plan and succeed when a person accepts it."""
_DECISION = re.compile(
    r"(?im)^[\s>*_-]{0,8}(?:decision|entscheidung|décision|decisión|决定|決定)[*_]{0,2}\s*[:：]\s*(\S.+)$"
)
_OURS = re.compile(
    r"(?i)mcp__?memtui|memtui[._]|memory_(?:search|recall|timeline|details|propose)|context_(?:grep|desc)"
)
_OUR_COMMAND = re.compile(r"(?:^|[;&|(]\s*)(?:\S{0,200}/)?memtui\b|-m memtui\b")
_BETWEEN = re.compile(r"[/_.-]+")


class SessionTurn(NamedTuple):
    """A prompt and the events up to the next one."""

    start: int
    """Offset of its first line in bytes."""
    asked: SessionEvent | None
    """The prompt; None for events before the first one."""
    events: tuple[SessionEvent, ...]


class TurnCard(NamedTuple):
    """A card and what identifies it."""

    uuid: str
    """Of its event, which copies of the session share."""
    part: str
    """Which card of the event it is."""
    cwd: str
    derived: DerivedCard


def turns(events: Sequence[SessionEvent]) -> list[SessionTurn]:
    """Divide events into turns."""
    starts = [at for at, event in enumerate(events) if is_typed(event)]
    before = tuple(events[: starts[0] if starts else None])
    found = [SessionTurn(before[0].offset, None, before)] if before else []
    for start, end in zip(starts, [*starts, None][1:], strict=True):
        found.append(SessionTurn(events[start].offset, events[start], tuple(events[start + 1 : end])))
    return found


def is_typed(event: SessionEvent) -> bool:
    """Whether a person typed the event."""
    return event.typed and not event.program


def is_ours(event: SessionEvent) -> bool:
    """Whether a call used memtui, so that its result is an echo."""
    return bool(_OURS.search(event.tool) or _OUR_COMMAND.search(command_of(event)))


class CleanText:
    """Cleans texts of secrets and private spans, and counts what it removed."""

    def __init__(self, private: Sequence[str] = ()) -> None:
        self.private = list(private)
        self.masked = self.cut = 0

    def of(self, text: str) -> str:
        """Return what may be kept of a whole text."""
        text = neutral.without_given(text)
        found = markers.cut(text)
        self.private += [one for one in markers.phrases(text, found.spans) if one not in self.private]
        hidden = mask.mask(found.text)
        kept, again = markers.cut_again(hidden.text, self.private)
        self.masked, self.cut = self.masked + len(hidden.secrets), self.cut + len(found.spans) + again
        return kept


class TurnRules:
    """Derives the cards of a session's turns in order."""

    def __init__(self, home: str, *, interrupted: bool = False) -> None:
        self._home = home
        self.interrupted = interrupted
        """Whether a person stopped or refused what the previous turn did."""
        self.private: list[str] = []
        self.unkept = False
        """Whether the first message forbids keeping the session."""

    def cards(self, turn: SessionTurn, after: SessionTurn | None, *, first: bool) -> list[TurnCard]:
        """Return the cards of a turn; `after` is the next turn, which may accept its decisions."""
        interrupted, self.interrupted = self.interrupted, any(map(_stops, turn.events[-6:]))
        if turn.asked is not None and markers.cut(neutral.without_given(turn.asked.text)).no_memory:
            self.unkept = self.unkept or first
            return []
        events = [one for one in turn.events if not (one.sidechain or one.program or is_ours(one))]
        if self.unkept:
            return []
        clean = CleanText(self.private)
        said = clean.of(turn.asked.text) if turn.asked is not None else ""
        self.private = clean.private  # of this turn, too, before anything the agent said in it is taken
        made = [*self._made(turn.asked, said, events, after, interrupted=interrupted, first=first)]
        cut = max((clean.cut, *(one.derived.cut for one in made)))  # what is private in a turn makes all of it private
        return [one._replace(derived=one.derived._replace(cut=one.derived.cut or cut)) for one in made]

    def _made(
        self,
        asked: SessionEvent | None,
        said: str,
        events: Sequence[SessionEvent],
        after: SessionTurn | None,
        *,
        interrupted: bool,
        first: bool,
    ) -> Iterator[TurnCard]:
        for event in events:
            if event.tool == SUMMARY and event.role == USER:
                yield self._card(event, "summary", "summary", "", [event.text], title="Summary of the session so far")
        if asked is None:
            return
        calls = [one for one in events if one.role == TOOL]
        wanted = asks_to_remember(said)
        corrected = corrects(said) or (interrupted and len(said) <= LONGEST)
        if said.strip() and len(said) <= LONGEST and (wanted or (corrected and not first)):
            kind = "preference" if wanted else "correction"
            yield self._card(asked, "said", kind, asked.text, [asked.text])
        yield from self._failures(asked, calls)
        yield from self._plans(asked, events, after)
        wrote = [path for one in calls for path in self._paths(one, WRITES)]
        failed = bool(calls) and calls[-1].failed and not _stops(calls[-1])
        if wrote or failed or any(_CHECK.search(command_of(one)) for one in calls):
            read = [path for one in calls for path in self._paths(one, (OPENED,))]
            answer = next((one.text for one in reversed(events) if one.role == AGENT), "")
            text = [_first_line, _paragraph]
            failure = f"Failed: {calls[-1].tool}: {calls[-1].text}" if failed else ""
            files = tuple(dict.fromkeys((*wrote, *read)))[: rules.MAX_FILES]
            yield self._card(asked, "turn", "change", "", [asked.text, answer, failure], take=text, files=files)

    def _failures(self, asked: SessionEvent, calls: Sequence[SessionEvent]) -> Iterator[TurnCard]:
        known: set[tuple[str, str]] = set()
        for number, one in enumerate(calls):
            first = _first_line(one.text)
            if not one.failed or not first or _stops(one) or only_reads(one) or (one.tool, first) in known:
                continue
            known.add((one.tool, first))
            later = calls[number + 1 :]
            mended = next((at for at, each in enumerate(later) if _is_same(each, one) and not each.failed), None)
            changed = [path for each in later[: mended or 0] for path in self._paths(each, WRITES)]
            files = tuple(dict.fromkeys(changed))[: rules.MAX_FILES]
            how = f"Mended by changing {', '.join(files)}." if files else "It went well when it was done again."
            told = [one.text, f"{one.tool}: {one.target}", how if mended is not None else ""]
            kind = "error" if mended is None else "fix"
            same = f"{kind}\n{one.tool}\n{first}"
            yield self._card(one, "failed", kind, same, told, files=files, cwd=one.cwd or asked.cwd)
            if len(known) == MAX_FAILURES:
                return

    def _plans(
        self, asked: SessionEvent, events: Sequence[SessionEvent], after: SessionTurn | None
    ) -> Iterator[TurnCard]:
        del asked
        for one in events:
            plan = as_string(one.asked.get("plan")) if one.tool.lower() in _PLANS and not one.failed else ""
            if plan:
                yield self._card(one, "plan", "plan", plan, [plan])
        if after is not None and after.asked is not None and (self.interrupted or corrects(after.asked.text)):
            return
        for one in events:
            for number, found in enumerate(_DECISION.finditer(one.text) if one.role == AGENT else ()):
                yield self._card(one, f"decided {number}", "decision", found[1], [found[1]])

    def _paths(self, call: SessionEvent, kinds: Sequence[str]) -> Iterator[str]:
        inside = call.cwd.rstrip("/") + "/"
        for one in touched(call, self._home):
            if one.kind in kinds and call.cwd and one.path.startswith(inside):
                path, clean = os.path.relpath(one.path, call.cwd), CleanText(self.private)
                spaced = clean.of(_BETWEEN.sub(" ", path))  # a phrase is written with them in a name
                path = clean.of(path)
                if spaced and not clean.cut:
                    yield path

    def _card(
        self,
        event: SessionEvent,
        part: str,
        kind: str,
        same: str,
        told: Sequence[str],
        *,
        take: Sequence[object] = (),
        files: tuple[str, ...] = (),
        title: str = "",
        cwd: str = "",
    ) -> TurnCard:
        clean = CleanText(self.private)
        kept = [clean.of(text) for text in told]
        for number, shorter in enumerate(take):
            kept[number] = shorter(kept[number])  # type: ignore[operator]
        self.private = clean.private
        body = "\n\n".join(filter(None, (text.strip() for text in kept)))[:MAX_TEXT]
        span, counts = (event.offset, event.offset + event.length), (clean.masked, clean.cut)
        derived = rules.compose_card(body, kind, span, title=title, same=same or body, files=files, counts=counts)
        return TurnCard(event.uuid, part, cwd or event.cwd, derived._replace(at=event.at))


def _stops(event: SessionEvent) -> bool:
    if event.role == USER:
        return event.meta and event.text.startswith(_INTERRUPTED)
    return event.failed and _REFUSED.search(event.text[:200]) is not None


def _is_same(one: SessionEvent, other: SessionEvent) -> bool:
    return (one.tool, one.target) == (other.tool, other.target)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _paragraph(text: str) -> str:
    parts = [part.strip() for part in re.split(r"\n[ \t]*\n", text)]
    return next((part for part in parts if part and not (part.startswith("#") and "\n" not in part)), "")
