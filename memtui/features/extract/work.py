"""The task that turns new session turns into proposals, by rules and then by a worker.

What a memory, a proposal or an earlier turn already says is not proposed again. The rules read what somebody told an
agent, sentence by sentence, with absolute dates. Their five kinds and exclusions follow Qwen Code's managed memory
(`packages/core/src/memory/`). Every pattern takes linear time.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from memtui import markers, phrases
from memtui.engine.frontmatter.read import split
from memtui.engine.model import Write
from memtui.engine.proposal import Evidence, Proposal
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.extract.entry import KIND as KIND
from memtui.features.proposals.value import judge_all, proposal
from memtui.features.recall.find import recall
from memtui.features.remember.classify import reason_lines, same, split_reasons
from memtui.features.remember.work import Known, RememberRequest, plan_remember
from memtui.features.tasks.work import TaskContext, TaskPlan, workspace_of
from memtui.features.workers.ask import FOLDER, WorkerAnswer, ask
from memtui.features.workers.prompts import (
    ADD,
    MAX_MEMORIES,
    Quote,
    Turn,
    WorkerPrompt,
    WorkSlice,
    prompt,
    rewritten,
    shown,
)
from memtui.features.workers.propose import RuleFindings
from memtui.given import neutral
from memtui.markers import PRIVATE
from memtui.mask import BEGIN, mask
from memtui.phrases import absolute, day_words
from memtui.transcripts.event import AGENT, TOOL, USER, SessionEvent
from memtui.transcripts.readers import READERS
from memtui.transcripts.sessions import Consent, allowed_files, consent, follow, home_of

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.engine.ledger.touches import SessionCursor
    from memtui.engine.model import Root
    from memtui.wire.session import Session

WEEK_MS = 7 * 86_400_000
"""Maximum age of sessions that were never read."""
IDLE_MS = 600_000
"""Idle time before a session is read by itself."""
MAX_TURNS = 40
"""Newest turns shown to a worker."""
_WORDS = 4_000
"""Characters of the turns by which related memories are found."""
_WRITES = re.compile(r"(?i)write|edit|create|replace|patch|insert|save|remember")
NOBODY_ASKED = "Nobody was asked yet whether agents' sessions may be read: memtui sessions on"


class UserTurn(NamedTuple):
    """A message of the user, or the agent's message before it."""

    event: SessionEvent
    text: str
    """Without secrets, private text and memtui's own insertions."""
    answers: bool = False


class CollectedTurns(NamedTuple):
    """Usable turns, session cursors and counts."""

    turns: tuple[UserTurn, ...] = ()
    read: tuple[tuple[str, str, SessionCursor], ...] = ()
    """Consumer, file and cursor."""
    skipped: Mapping[str, int] = {}


def collect(where: TaskContext, *, session: str = "", since: int = 0) -> CollectedTurns:
    """Read what is new in `session` (NotFoundError), or in files written after `since` (milliseconds)."""
    allowed = consent(where.settings, where.surroundings)
    if allowed.skipped:
        return CollectedTurns(skipped={allowed.skipped: 1})
    files = allowed_files(where.settings, where.surroundings, since=0 if session else since)
    if session:
        files = [one for one in files if os.path.realpath(one[1]) == os.path.realpath(session)]
        if not files:
            raise NotFoundError(
                f"{session} is no session file of an agent that memtui reads.", hint=f"It reads: {', '.join(READERS)}."
            )
    skipped: Counter[str] = Counter()
    turns: list[UserTurn] = []
    read = []
    consumer = f"extract:{where.workspace.id}"  # each lane reads for itself
    for agent, path in reversed(files):
        cursor = where.engine.tasks.cursors.get(consumer, path)
        part = follow(path, READERS[agent], cursor)
        if part.skipped:
            skipped[part.skipped] += 1
            continue
        if part.cursor is not None and part.cursor != cursor:
            read.append((consumer, path, part.cursor))
        if part.lines and part.unknown + part.broken == part.lines:
            skipped["unknown_format"] += 1
            continue
        home = home_of(agent, path, [where.workspace.path]) or ""
        # What was private before the place where this look begins is not to be kept where it is said again.
        early = follow(path, READERS[agent], most=cursor.offset).events if cursor is not None and part.events else ()
        private: list[str] = []
        for event in early:
            if event.typed:
                _kept(event.text, private)
        found = [*_turns(where, allowed, part.events, home, skipped, private)]
        turns += found
        if part.lines and not found and not any(event.typed for event in part.events):
            skipped["no_user_text"] += 1
    return CollectedTurns(tuple(turns), tuple(read), dict(skipped))


def _turns(
    where: TaskContext,
    allowed: Consent,
    events: Sequence[SessionEvent],
    home: str,
    skipped: Counter[str],
    private: list[str],
) -> Iterator[UserTurn]:
    """Yield the usable turns, each after the agent's message before it."""
    before: SessionEvent | None = None
    for number, event in enumerate(events):
        if event.role == AGENT and not event.sidechain:
            before = event
        if not event.typed:
            continue
        text = neutral.without_given(event.text)
        kept = _kept(text, private)
        cwd = event.cwd or home
        why = ""
        if cwd.startswith(os.path.join(where.settings.state_dir, FOLDER) + os.sep):
            why = "worker_session"
        elif not (allowed.covers(cwd) and _inside(cwd, where.workspace.path)):
            why = "other_project"
        elif not text.strip():
            why = "no_user_text"
        elif not kept.replace(markers.PRIVATE, "").strip():
            why = "private"
        elif _remembered(where.roots, (events[at] for at in range(number + 1, len(events)))):
            why = "memory_tool"
        if why:
            skipped[why] += 1
        else:
            if before is not None:
                yield UserTurn(before, _kept(before.text, private))
            yield UserTurn(event, kept, before is not None)
        before = None


def _kept(text: str, private: list[str]) -> str:
    """Mask secrets and cut private text; `private` collects phrases to cut wherever they recur."""
    found = markers.cut(text)
    private += [one for one in markers.phrases(text, found.spans) if one not in private]
    return markers.cut_again(mask(found.text).text, private)[0]


def _inside(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _remembered(roots: Sequence[Root], after: Iterable[SessionEvent]) -> bool:
    """Whether the agent wrote a memory in answer to the turn."""
    for event in after:
        if event.typed:
            return False
        wrote = event.role == TOOL and not event.failed and _WRITES.search(event.tool)
        if wrote and any(_inside(target, root.path) for target in event.target.splitlines() for root in roots):
            return True
    return False


# --- what is proposed


def extract(context: TaskContext) -> TaskPlan:
    """Extract proposals; raises as `collect`."""
    collected = _collected(context)
    extraction = Extraction(context, collected)
    context.progress(f"{extraction.typed} turns")
    by_rules(extraction)
    answer = ask(context, lambda: asks(extraction), KIND)
    extraction.skipped["not_said"] += sum(reply.dropped for _, reply in answer.replies)
    _by_worker(extraction, answer)
    made = [one._replace(run=answer.run.id) for one in judge_all(context.engine, extraction.made)]
    counts = {"turns": extraction.typed, "proposed": len(made), "skipped": dict(+extraction.skipped)}
    notes = [*answer.notes, *([] if "not_asked" not in extraction.skipped else [NOBODY_ASKED])]
    result = {**counts, "summary": extraction.summary, "notes": notes}
    run = answer.run._replace(counts=counts)
    return TaskPlan(label=KIND, result=result, run=run, proposals=tuple(made), read=collected.read)


def look(context: TaskContext) -> RuleFindings:
    """Return what rules would propose; nothing is stored."""
    extraction = Extraction(context, _collected(context))
    by_rules(extraction)
    counts = {"skipped": dict(+extraction.skipped), "summary": extraction.summary}
    return RuleFindings(extraction.made, counts, lambda: asks(extraction))


def _collected(context: TaskContext) -> CollectedTurns:
    request = context.task.request
    since = request.get("since")
    since = since if isinstance(since, int) else context.now - WEEK_MS
    return collect(context, session=str(request.get("session") or ""), since=since)


def begin(session: Session, settings: Settings) -> None:
    """Queue an extraction when a session was written since the last one and is idle."""
    if settings.lifecycle_extract != "auto" or session.options.read_only or settings.worker:
        return
    tasks, lane = session.engine.tasks, workspace_of(session.surroundings).id
    last = next(iter(tasks.runs(lane, KIND, 1)), None)
    now = tasks.clock()
    since = max(last.at if last is not None else 0, now - WEEK_MS)
    for _, path in allowed_files(settings, session.surroundings, since=since):
        with suppress(OSError):  # it went since it was listed
            if os.stat(path).st_mtime_ns <= (now - IDLE_MS) * 1_000_000:
                tasks.enqueue(KIND, lane, "lifecycle:extract", {}, trigger="auto")
                return


class Extraction:
    """Collects proposals that no memory, proposal or earlier turn has."""

    def __init__(self, where: TaskContext, collected: CollectedTurns) -> None:
        self.where = where
        self.made: list[Proposal] = []
        self.skipped = Counter(collected.skipped)
        known = where.engine.proposals.all()
        places = {(one.name, one.place) for each in known for one in each.evidence if one.kind == "turn"}
        self.turns = [one for one in collected.turns if (_evidence(one, "").name, one.event.uuid) not in places]
        self.skipped["known_turn"] += sum(turn.event.role == USER for turn in collected.turns) - self.typed
        others = [root.id for root in where.roots if root.kind != "memories"] if self.turns else []
        self._instructions = where.engine.rows.list(others).items if others else ()
        self._texts = {text for each in known if each.state != "applied" for text in _texts(each)}

    @property
    def typed(self) -> int:
        """Number of user turns."""
        return sum(turn.event.role == USER for turn in self.turns)

    @property
    def shown_turns(self) -> list[UserTurn]:
        """Turns that a worker is shown."""
        return [turn for turn in self.turns if turn.text][-MAX_TURNS:]

    @property
    def summary(self) -> str:
        """The result in one sentence."""
        past = ", ".join(f"{what.replace('_', ' ')} {many}" for what, many in sorted((+self.skipped).items()))
        return f"{len(self.made)} proposed from {self.typed} turns" + (f"; passed over: {past}." if past else ".")

    def add(
        self, wanted: RememberRequest, by: str, evidence: tuple[Evidence, ...], confidence: float, why: str = ""
    ) -> None:
        """Propose a new memory unless it is known or has no place."""
        engine = self.where.engine
        near = [one.row for one in recall(engine, wanted.text, limit=MAX_MEMORIES).items]
        try:
            plan = plan_remember(engine, self.where.roots, wanted, among=[*self._instructions, *near])
        except MemtuiError as refused:
            self.skipped[refused.code] += 1
            return
        if isinstance(plan, Known) or same(plan.fact.body) in self._texts:
            self.skipped["known"] += 1
            return
        self._texts.add(same(plan.fact.body))
        why = why or f"You said so in a session: {plan.fact.description}"
        made = proposal(engine, "add", plan.steps, by, why, evidence, confidence)
        if engine.proposals.refusal(made) is not None:
            self.skipped["refused"] += 1
            return
        self.made.append(made)


def by_rules(extraction: Extraction) -> None:
    """Propose what rules find."""
    for turn in extraction.turns:
        for said in sayings(turn.text, turn.event.at, answers=turn.answers) if turn.event.role == USER else ():
            evidence = (_evidence(turn, said.quote),)
            extraction.add(RememberRequest(said.text), f"rule:{said.rule}", evidence, said.confidence)


def asks(extraction: Extraction) -> list[WorkerPrompt]:
    """Return the worker's prompt; empty when no user turn exists."""
    where, turns = extraction.where, extraction.shown_turns
    words = "\n".join(turn.text for turn in turns if turn.event.role == USER)
    if not words:
        return []
    rows = [one.row for one in recall(where.engine, words[-_WORDS:], limit=MAX_MEMORIES).items]
    memories = shown(where.engine, where.roots, rows, where.settings.lifecycle_private)
    return [prompt(KIND, WorkSlice(turns=tuple(Turn(turn.event.role, turn.text) for turn in turns)), memories)]


def _by_worker(extraction: Extraction, answer: WorkerAnswer) -> None:
    for one, targets in answer.operations:
        evidence = tuple(_quotes(answer, extraction.shown_turns, one.evidence))
        text = "\n\n".join((one.text.strip(), *reason_lines(one.why, one.how_to_apply)))
        if one.op == ADD:
            wanted = RememberRequest(text, scope=one.scope, type=one.type)
            extraction.add(wanted, answer.run.worker, evidence, one.confidence, why=one.reason)
            continue
        engine, why = extraction.where.engine, one.reason or "What you said changes what it says."
        shown_by = (*evidence, Evidence("memory", str(targets[0].address), targets[0].sha256))
        steps = (rewritten(engine, targets[0], text),)
        extraction.made.append(proposal(engine, one.op, steps, answer.run.worker, why, shown_by, one.confidence))


def _quotes(answer: WorkerAnswer, sent: Sequence[UserTurn], quotes: Sequence[Quote]) -> Iterator[Evidence]:
    turns = answer.replies[0][0].limits.turns
    for one in quotes:
        text = (turns or {}).get(one.turn)
        if text is not None and " ".join(one.quote.split()) in " ".join(text.split()):
            yield _evidence(sent[int(one.turn[1:]) - 1], one.quote)


def _evidence(turn: UserTurn, quote: str) -> Evidence:
    return Evidence("turn", turn.event.session or turn.event.file, place=turn.event.uuid, quote=quote)


def _texts(one: Proposal) -> Iterator[str]:
    for step in one.steps:
        if isinstance(step, Write) and step.expected_sha256 is None:
            yield same(step.data[split(step.data).body :].decode("utf-8", "replace"))


# --- what a sentence of the user says


MIN_SENTENCE, MAX_SENTENCE = 12, 600
"""Characters of a sentence; a longer unrequested one is a task, or was pasted."""
SHORT_TURN = 2_000
"""Length of a turn up to which more than explicit requests are looked for."""


class Saying(NamedTuple):
    """A statement worth keeping."""

    rule: str
    """`explicit`, `correction`, `preference`, `reference` or `project`."""
    text: str
    quote: str
    confidence: float


CONFIDENCE = {"explicit": 0.95, "correction": 0.7, "preference": 0.6, "reference": 0.6, "project": 0.5}

_FIRST, _AFTER_NO = "first", "after no"
"""Position in a turn that answers the agent: first sentence, or first after a bare `No.`."""
_FENCED = re.compile(r"^[ \t]{0,3}(```|~~~).*?(?:^[ \t]{0,3}\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_SPLIT = re.compile(r"(?<=[.!?])[ \t]+(?=[\"'“(A-ZÀ-Þ0-9`])|(?<=[。！？])|\n+")
_ITEM = re.compile(r"^(?:[-*+>]|\d{1,3}[.)])[ \t]+")
_ASKED = re.compile(
    r"^(?:(?:please|pls|also|and|ok(?:ay)?|so|bitte|por favor)[,:]? )*"
    r"(?:(?:always |do )?(?:remember|memori[sz]e|note|keep in mind|don'?t forget)"
    r"(?: (?:that|this)(?=[:,])| that| to(?= )(?! me)|(?=[:,]| ))"
    r"|(?:save|store|write) (?:this|that|it) (?:to|in|into|as|for)\b[^.\n:]{0,40}\b(?:memory|memories|notes?)"
    r"|for future reference|merke? dir|denke? daran|vergiss nicht|notiere?|souviens-toi que|rappelle-toi que"
    r"|retiens que|n'oublie pas que|recuerda que|no olvides que|ten en cuenta que|anota que"
    r"|[请請]?(?:记住|記住|记得|記得|记下|記下|别忘了?|不要忘了?)|覚えておいて)(?:, dass |, das |[,:：，、]| )?\s*",
    re.IGNORECASE,
)
"""Requests to remember, which are cut from the memory; `from now on` stays because it carries meaning."""
_LEAD = re.compile(r"^(?:(?:no|nope|nah|actually|nein|non|不对|不對|不是)[ ,.!;:，。—-]+)+", re.IGNORECASE)
_POINTS = re.compile(
    r"\b(?:this|these|those|it|here|above|again|back|line|file|the (?:last|previous|first|other|same)|yet|still)\b"
    r"|\bthat(?=[.,;:!]|$| (?:one|part|test|code|thing|way)\b)"
    r"|\b(?:das|dies\w*|hier|nochmal|ça|cela|ici|esto|eso|aquí)\b|这|那|刚才",
    re.IGNORECASE,
)
_UNCLEAR = re.compile(
    r"^(?:(?:this|these|those) (?!project|repo|codebase|team|company|machine)|(?:it|this|that)\b(?! (?:project|repo)))"
    r"|^I(?:'ve|'m| have| just| am|(?: \w+ed| ran| made| did| was))\b",
    re.IGNORECASE,
)
"""Explicit requests about something only the speaker sees, or about what they just did."""
_TO_DO = re.compile(r"(?:^|[,.!] )note (?!that\b)", re.IGNORECASE)
"""Asks to note something down rather than to remember it."""
_RULE_WORDS = re.compile(
    r"\b(?:always|never|instead|rather|not|don'?t|stop|avoid|only|without|immer|nie|niemals|statt|stattdessen|toujours"
    r"|jamais|siempre|nunca)\b|不要|别|总是|应该|要用",
    re.IGNORECASE,
)
_TEMPORARY = re.compile(
    r"\b(?:today|now|currently|temporar(?:y|ily)|at the moment|for (?:this|the) (?:task|session|moment|branch|pr)"
    r"|this (?:session|task|time|once)|just this|heute|jetzt|gerade|vorerst)\b|现在|今天|暂时|這次|这次",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\b(?:i|we) (?:\w+ly |always |really |much |all )?(?:prefer|favou?r|hate|dislike|love)\b"
    r"(?! (?:it|this|that|the (?:first|second|third|last|other|former|latter|new|old))\b)"
    r"|\b(?:i|we) (?:always |really |generally |usually )?like (?!it\b|this\b|that\b|the\b|how\b|what\b|your\b)"
    r"|\b(?:i|we) (?:always |only |really )?(?:need|want) (?:all|every|each|any|no|only|short|small|plain|clear) "
    r"|\b(?:my|our) (?:preferred|favou?rite) |\bich (?:bevorzuge|mag)\b|\bje préfère\b|\bprefiero\b"
    r"|我(?:喜欢|偏好|更喜欢)",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"https?://|\b(?:grafana|dashboards?|runbooks?|ticket(?:s| system)?|docs|documentation|wiki|notion|jira|linear)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|lives?|sits?|was|were|begins?|starts?|ends?|ships?|moved|found|tracked|kept|documented|ist|sind|liegt|steht|beginnt|est|está)\b|在|是",
    re.IGNORECASE,
)
_LOCATED = re.compile(
    r"https?://|\b(?:is|are|lives?|sits?|found|tracked|kept|documented|keeps?|liegt|steht|est|está)\b[^.]{0,40}?"
    r" (?:in|at|on|under|below|im|unter|dans|en) |[在]",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:release|launch|deadline|freeze|incident|outage|milestone|go-live|cutover|migration)\b|发布|截止|冻结|事故",
    re.IGNORECASE,
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATED = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b{_MONTH} \d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th|\.)? {_MONTH}|\bq[1-4]\b|\d月\d",
    re.IGNORECASE,
)
_COMMANDS = re.compile(
    r"^(?:(?:please|pls|now|then|and|also|ok(?:ay)?|can you|could you|let'?s|bitte)[,:]? )*"
    r"(?:add|build|change|check|clean|click|clone|close|commit|compare|copy|create|debug|delete|deploy|do|download|draft"
    r"|explain|fetch|find|fix|follow|generate|get|give|go|help|implement|install|investigate|list|look|make"
    r"|merge(?! freeze)|move|open|plan|prepare|push|put|read|refactor|remove|rename|replace|review|run|search"
    r"|see|send|set|show|start|summari[sz]e|take|tell|test|try|update|upgrade|use|verify|why|what|how|where|when|who|which|is|are|does|did|write)\b",
    re.IGNORECASE,
)


def sayings(text: str, at: int, *, answers: bool) -> tuple[Saying, ...]:
    """Return what is worth keeping in one turn from time `at`; `answers`: the agent spoke before it."""
    plain = _FENCED.sub("\n", text)
    why = how = ""
    if phrases.asks_to_remember(plain):
        plain, why, how = split_reasons(plain)
    found: list[Saying] = []
    answer = _FIRST if answers and len(text) <= phrases.LONGEST else ""
    for sentence in _sentences(plain):
        rule = _rule(sentence, answer, short=len(text) <= SHORT_TURN)
        answer = _AFTER_NO if answer and not _LEAD.sub("", f"{sentence} ") else ""
        if not rule:
            continue
        kept = _ASKED.sub("", sentence) if rule == "explicit" else _LEAD.sub("", sentence)
        if len(kept) < (MIN_SENTENCE // 2 if rule == "explicit" else MIN_SENTENCE) or _UNCLEAR.match(kept):
            continue
        kept = kept[:1].upper() + kept[1:]
        body = "\n".join([absolute(kept, at), *(reason_lines(why, how) if rule == "explicit" else ())])
        found.append(Saying(rule, body, sentence, CONFIDENCE[rule]))
    return tuple(found)


def _sentences(text: str) -> list[str]:
    parts = (part.strip() for part in _SPLIT.split(text))
    return [
        _ITEM.sub("", part)
        for part in parts
        if part and not part.startswith(">") and PRIVATE not in part and BEGIN not in part
    ]


def _rule(sentence: str, answer: str, *, short: bool) -> str:
    """Return the rule that a sentence matches, or nothing; `answer` is its position in an answer to the agent."""
    if len(sentence) < MIN_SENTENCE or sentence.endswith(("?", "？")):
        return ""
    if phrases.asks_to_remember(sentence) and not _TO_DO.search(sentence):
        return "explicit"
    if not short or len(sentence) > MAX_SENTENCE or _TEMPORARY.search(sentence):
        return ""
    if answer == _AFTER_NO or (answer and phrases.corrects(sentence)):
        rest = _LEAD.sub("", sentence)
        if len(rest.split()) >= 3 or not rest.isascii():
            return "correction" if _RULE_WORDS.search(sentence) and not _POINTS.search(rest) else ""
        return ""
    if _PREFERENCE.search(sentence):
        return "preference"
    if _COMMANDS.match(sentence):
        return ""
    if _PLACE.search(sentence) and _STATES.search(sentence) and _LOCATED.search(sentence):
        return "reference"
    if _EVENT.search(sentence) and (_DATED.search(sentence) or day_words(sentence, 0)) and _STATES.search(sentence):
        return "project"
    return ""
