"""Cards of agents' sessions: which files are behind, and the deterministic rules that derive cards from whole turns.

A turn is what a person typed and everything up to the next prompt; memtui's own output is never captured again. Newest
files come first and are continued at the last cursor. Cards and cursor are one transaction, so a kill repeats nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from memtui import markers, mask
from memtui.agents.layout import main_checkout
from memtui.config.surroundings import find_checkout
from memtui.engine.observation import NORMAL
from memtui.features.observations import rules
from memtui.features.observations.model import (
    SESSION,
    Card,
    CardDecisions,
    DerivedCard,
    SessionProgress,
    SessionScope,
    decided_turn,
    keyed_hash,
    new_card,
)
from memtui.given import neutral
from memtui.phrases import LONGEST, asks_to_remember, corrects
from memtui.safe_text import visible
from memtui.transcripts.event import (
    AGENT,
    OPENED,
    SUMMARY,
    TOOL,
    USER,
    WRITES,
    SessionEvent,
    as_string,
    command_of,
    only_reads,
    touched,
)
from memtui.transcripts.readers import READERS
from memtui.transcripts.sessions import GONE, Consent, Slice, allowed_files, back, consent, follow, home_of

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.engine import Engine
    from memtui.features.observations.progress import DeriveLimits
    from memtui.features.observations.store.card_file import CardWriter

IDLE_MS = 600_000
"""Idle time after which the last turn counts as finished."""
READ_BYTES, MAX_TURN_BYTES = 4 * 1_048_576, 64 * 1_048_576
"""Bytes per read, and the most for one turn, which is divided when longer."""
TEMPORARY: tuple[str, ...] = ("/tmp", "/var/tmp", "/private/tmp", "/private/var", "/var/folders", "/dev/shm")
"""Folders for temporary files, which belong to no project."""
DAY_MS = 86_400_000
_EARLIEST = 978_307_200_000
_NOWHERE = 1 << 62


class ObservedSession(NamedTuple):
    """A session file of an agent."""

    agent: str
    path: str
    size: int
    written: int
    """Modification time in nanoseconds."""


class SessionFiles:
    """One comparison of session files with a file of cards."""

    def __init__(self, engine: Engine, writer: CardWriter, reach: SessionScope) -> None:
        self._writer, self._reach = writer, reach
        self._table = engine.observations
        self._seq = self._table.newest()
        self._decided = CardDecisions.of(self._table.secret(), self._table.marks())
        self._now = engine.tasks.clock()
        self._since = max(self._now - reach.settings.observe_days * DAY_MS, int(str(writer.meta("horizon") or 0)))
        self._consent = consent(reach.settings, reach.place)
        self._known = writer.session_progress()
        roots = engine.roots.all()
        self._homes = list(dict.fromkeys([reach.place.project, *(one.project for one in roots if one.project)]))
        self._projects: dict[str, str | None] = {}
        files = session_files(reach, self._since)
        self.total = len(files)
        self.todo = sorted(filter(self._is_behind, files), key=lambda one: (-one.written, one.path))
        self.failed: dict[str, str] = {}

    def work(self, limits: DeriveLimits) -> int:
        """Derive what is behind, and return how many files are left."""
        for number, one in enumerate(self.todo):
            limits.progress(f"{self.total - len(self.todo) + number:,} of {self.total:,} sessions")
            if limits.reached() or not self._file(one, limits):
                return len(self.todo) - number
        return 0

    def _is_behind(self, one: ObservedSession) -> bool:
        known = self._known.get(one.path)
        if known is None or (known.size, known.written) != (one.size, one.written):
            return True
        rested = not known.settled and self._rests(one)
        return rested or (bool(known.covers) and self._consent.project not in known.covers)

    def _rests(self, one: ObservedSession) -> bool:
        return self._now - one.written // 1_000_000 > IDLE_MS

    def _file(self, one: ObservedSession, limits: DeriveLimits) -> bool:
        """Derive the new turns of a file; return whether it was finished."""
        known = self._known.get(one.path) or SessionProgress(one.agent)
        project = self._consent.project
        covers = tuple(sorted({*known.covers, project})) if project else ()
        at = known.cursor if known.covers == covers and not known.whole else None
        home = home_of(one.agent, one.path, self._homes)
        if home is None:
            return True  # its project is unknown
        going = TurnRules(self._reach.place.home or "", interrupted=known.interrupted)
        began, most = known.began if at is not None else 0, READ_BYTES
        while True:
            cursor = None if one.path.endswith(".json") else at
            part = follow(
                one.path, READERS[one.agent], cursor, most=most, calls=True, now=self._now, stop=limits.cancelled
            )
            if limits.cancelled():
                return False
            if part.skipped or part.cursor is None:
                self._note_failure(one, covers, part)
                return True
            if part.whole:
                going, began = TurnRules(self._reach.place.home or ""), part.events[0].at if part.events else 0
            start = 0 if part.whole else cursor.offset if cursor is not None else 0
            ended = not part.lines or part.cursor.offset >= one.size
            found = turns([event if event.cwd else event._replace(cwd=home) for event in part.events])
            if not ended and _typed(found) < 2 and most < MAX_TURN_BYTES:
                most *= 4
                continue
            read, made = self._derived(one, part, found, going, SessionProgress(one.agent, covers, began), ended=ended)
            at, most = read.cursor, READ_BYTES
            if ended:
                read = read._replace(size=one.size, written=one.written)
            cards = [card for card in (self._card(one, part, card, covers) for card in made) if card]
            self._write(one, read, cards, start)
            if ended or limits.reached():
                return ended

    def _derived(
        self,
        one: ObservedSession,
        part: Slice,
        found: Sequence[SessionTurn],
        going: TurnRules,
        read: SessionProgress,
        *,
        ended: bool,
    ) -> tuple[SessionProgress, list[TurnCard]]:
        waits = found[-1] if found and (ended or _typed(found) > 1) else None
        made: list[TurnCard] = []
        typed = 0 if part.whole else 1
        for turn, after in zip(found, [*found, None][1:], strict=True):
            if turn is waits:
                read = read._replace(interrupted=going.interrupted, settled=ended and self._rests(one))
                if not read.settled:
                    break
            made += going.cards(turn, after, first=turn.asked is not None and not typed)
            typed += turn.asked is not None
        cursor = part.cursor
        if waits is not None and cursor is not None:
            first = part.whole and not _typed(found[:-1])
            cursor = None if first else back(one.path, cursor, waits.start, part.leaves.get(waits.start, ""))
        whole = bool(going.private) or going.unkept
        return read._replace(cursor=cursor, whole=whole, settled=read.settled or (ended and waits is None)), made

    def _card(
        self, one: ObservedSession, part: Slice, made: TurnCard, covers: Sequence[str]
    ) -> tuple[Card, str] | None:
        """Return a card with its project, or None where none is allowed."""
        derived, cwd, secret = made.derived, made.cwd, self._decided.secret
        if cwd not in self._projects:
            self._projects[cwd] = project_of(cwd, self._reach)
        project = self._projects[cwd]
        when = min(max(derived.at or 0, _EARLIEST), self._now + DAY_MS)
        if project is None or when <= self._since or (covers and not any(Consent("", at).covers(cwd) for at in covers)):
            return None
        parts = (SESSION, one.agent, made.uuid, made.part)
        name = keyed_hash(secret, *(word.encode("utf-8", "replace") for word in parts))
        text_key = keyed_hash(secret, b"text", derived.text.encode("utf-8", "surrogatepass"))
        address = rules.clean(f"session {part.events[0].session[:12]}")
        card = new_card(derived, name, b"", text_key, SESSION, (0, one.path), address, one.agent, when)
        return card, project

    def _write(
        self, one: ObservedSession, read: SessionProgress, cards: Iterable[tuple[Card, str]], start: int
    ) -> None:
        with self._writer.batch():
            # A decision made from here on waits for this transaction, and is then applied to what this writes.
            seq, newer = self._table.decided_after(self._seq)
            if newer:
                self._seq, self._decided = seq, CardDecisions.of(self._decided.secret, self._table.marks())
            placed = [(decided_turn(self._decided, card), project) for card, project in cards]
            self._writer.replace_session(one.path, read, placed, start=start)

    def _note_failure(self, one: ObservedSession, covers: tuple[str, ...], part: Slice) -> None:
        if part.skipped == GONE:
            return
        self.failed[one.path] = said = f"{visible(one.path)}: it cannot be read ({part.skipped})."
        read = self._known.get(one.path) or SessionProgress(one.agent, covers, settled=True)
        read = read._replace(size=one.size, written=one.written, cursor=None)
        with self._writer.batch():
            self._writer.replace_session(one.path, read, (), start=_NOWHERE, failed=said)


def project_of(cwd: str, reach: SessionScope) -> str | None:
    """Return the project of a working directory, joining worktrees; None for temporary and memtui's own folders."""
    if not os.path.isabs(cwd) or "\0" in cwd:
        return None
    here = os.path.normpath(cwd)
    home = f"{os.path.realpath(reach.place.home)}/" if reach.place.home else ""
    outside = (*(one for one in TEMPORARY if not home.startswith(f"{one}/")), reach.settings.state_dir)
    if any(f"{here}/".startswith(folder.rstrip("/") + "/") for folder in outside):
        return None
    checkout = find_checkout(here)
    return os.path.realpath(main_checkout(checkout)) if checkout is not None else os.path.realpath(here)


def _typed(found: Sequence[SessionTurn]) -> int:
    return sum(turn.asked is not None for turn in found)


def session_files(reach: SessionScope, since: int) -> list[ObservedSession]:
    """Return the session files that may be read and were written since a time in milliseconds."""
    files = []
    for agent, path in allowed_files(reach.settings, reach.place, since=since):
        with suppress(OSError):  # it went since it was listed
            found = os.stat(path, follow_symlinks=False)
            files.append(ObservedSession(agent, path, found.st_size, found.st_mtime_ns))
    return files


def prune(engine: Engine, writer: CardWriter, settings: Settings) -> None:
    """Remove old or excess session cards, once a day."""
    now, most = engine.tasks.clock(), settings.observe_megabytes * 1_048_576
    last = writer.meta("pruned_at")
    if isinstance(last, int) and now - last < DAY_MS:
        return
    kept = {mark.name for mark in engine.observations.marks() if mark.withholds or mark.patch or mark.state != NORMAL}
    with writer.batch():
        writer.prune(now - settings.observe_days * DAY_MS, kept, most)
        writer.set_meta("pruned_at", now)
    if writer.meta("scrub_due"):
        writer.erase()


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
    """Cleans texts of secrets and private spans, and counts them; `private` collects the phrases of private spans."""

    def __init__(self, private: list[str]) -> None:
        self.private = private
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
        # What is private in this turn is known before anything the agent said in it is taken.
        said = clean.of(turn.asked.text) if turn.asked is not None else ""
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
        yield from self._plans(events, after)
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
            same_call = (one.tool, one.target)
            again = (at for at, each in enumerate(later) if (each.tool, each.target) == same_call and not each.failed)
            mended = next(again, None)
            changed = [path for each in later[: mended or 0] for path in self._paths(each, WRITES)]
            files = tuple(dict.fromkeys(changed))[: rules.MAX_FILES]
            how = f"Mended by changing {', '.join(files)}." if files else "It went well when it was done again."
            told = [one.text, f"{one.tool}: {one.target}", how if mended is not None else ""]
            kind = "error" if mended is None else "fix"
            same = f"{kind}\n{one.tool}\n{first}"
            yield self._card(one, "failed", kind, same, told, files=files, cwd=one.cwd or asked.cwd)
            if len(known) == MAX_FAILURES:
                return

    def _plans(self, events: Sequence[SessionEvent], after: SessionTurn | None) -> Iterator[TurnCard]:
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
                path, clean = os.path.relpath(one.path, call.cwd), CleanText([*self.private])
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
        take: Sequence[Callable[[str], str]] = (),
        files: tuple[str, ...] = (),
        title: str = "",
        cwd: str = "",
    ) -> TurnCard:
        clean = CleanText(self.private)
        kept = [clean.of(text) for text in told]
        for number, shorter in enumerate(take):
            kept[number] = shorter(kept[number])
        body = "\n\n".join(filter(None, (text.strip() for text in kept)))[:MAX_TEXT]
        span, counts = (event.offset, event.offset + event.length), (clean.masked, clean.cut)
        derived = rules.compose_card(body, kind, span, title=title, same=same or body, files=files, counts=counts)
        return TurnCard(event.uuid, part, cwd or event.cwd, derived._replace(at=event.at))


def _stops(event: SessionEvent) -> bool:
    if event.role == USER:
        return event.meta and event.text.startswith(_INTERRUPTED)
    return event.failed and _REFUSED.search(event.text[:200]) is not None


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _paragraph(text: str) -> str:
    parts = [part.strip() for part in re.split(r"\n[ \t]*\n", text)]
    return next((part for part in parts if part and not (part.startswith("#") and "\n" not in part)), "")
