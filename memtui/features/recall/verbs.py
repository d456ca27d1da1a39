"""`memtui recall`: rows for people, the block for scripts, and the prompt hook of agents, which always answers."""

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import NamedTuple

from memtui.engine import Engine, now_ms
from memtui.errors import MemtuiError, UsageError
from memtui.features.recall.find import BM25, LIMIT, SWITCHES, build_block, rows_given
from memtui.features.recall.find import recall as find
from memtui.telemetry import tell
from memtui.wire import outcomes, values
from memtui.wire.access import open_agent_session, switched_off
from memtui.wire.call import LOCK_WAIT, Call
from memtui.wire.output import Column

HOOK_SECONDS = 0.3
"""Seconds a hook may take after process start."""
_INPUT = 1_048_576
"""Maximum bytes of hook input."""
_EVENTS = ("UserPromptSubmit", "BeforeAgent")
_DEEP = 50
"""Candidates among which those not yet given to the session are chosen."""


class TooLateError(Exception):
    """The hook's time is over."""


class HookPrompt(NamedTuple):
    """Input of a hook."""

    text: str
    event: str
    session: str


def recall(call: Call) -> int:
    """Recall memories for a request, or answer a hook."""
    if call.args.flag("hook"):
        return _hook(call)
    request = " ".join(call.args.texts("query"))
    if not request.strip():
        raise UsageError("There is no request.", hint="Write what you want to know: memtui recall how do we deploy")
    for key in SWITCHES:
        if not call.settings.value(key):
            raise switched_off(key)
    client, scorer = call.args.text("client"), call.args.text("scorer") or BM25
    if client is not None:
        with open_agent_session(call.settings, call.options, client=client, lock_wait=LOCK_WAIT).engine as engine:
            return _rows(call, engine, request, scorer, client)
    return _rows(call, call.engine, request, scorer, call.agent or None)


def _rows(call: Call, engine: Engine, request: str, scorer: str, client: str | None) -> int:
    engine.rows.lift_limits()
    began = now_ms()
    found = find(engine, request, limit=call.args.number("limit", LIMIT), scorer=scorer, agent=client)
    tell(call.settings.telemetry, "recall", (began, now_ms()), found.counts)
    prompt = call.args.flag("prompt")  # a block leaves out the same by itself
    items = found.items if client is None or prompt else rows_given(engine, found.items)
    if prompt:
        call.out.raw(build_block(engine, items, now_ms()).text.encode())
    elif call.out.json:
        rows = [
            values.memory(one.row) | {"recall": {"score": round(one.score, 3), "words": list(one.words)}}
            for one in items
        ]
        call.out.document(values.listing(rows))
    else:
        if not items and call.out.terminal:
            call.out.say("No memory helps with that.")
        call.out.table(
            (Column("SCORE"), Column("ADDRESS", flexible=True, names=True), Column("WORDS", flexible=True)),
            [(f"{one.score:.1f}", str(one.row.address), ", ".join(one.words)) for one in items],
        )
    call.out.flush()
    engine.search.settle()  # a hook has no time to make the index
    if found.waiting:
        call.out.say(f"{found.waiting} more came with a checkout, and wait for a review: memtui roots.")
    return outcomes.DONE


def _hook(call: Call) -> int:
    answer: dict[str, object] = {}
    opened: list[Engine] = []
    try:
        with _in_time():
            answer = _answer(call, opened)
    except TooLateError:
        call.out.say("memtui: recall took too long; `memtui recall` with any words makes the index it needs.")
    except MemtuiError as error:
        call.out.say(f"memtui: {error}")
    call.out.raw(f"{json.dumps(answer, ensure_ascii=False)}\n".encode("utf-8", "replace"))
    call.out.flush()
    for engine in opened:
        engine.close()
    return outcomes.DONE


def _answer(call: Call, opened: list[Engine]) -> dict[str, object]:
    """Build the hook's answer; the caller closes the engines in `opened` after answering."""
    settings = call.settings
    on = settings.agents_enabled and all(map(settings.value, SWITCHES)) and not settings.worker
    prompt = _prompt() if on else None
    if prompt is None:
        return {}
    client = call.args.text("client") or ""
    engine = open_agent_session(settings, call.options, client=client, lock_wait=LOCK_WAIT).engine
    opened.append(engine)
    began = now_ms()
    recalled = find(engine, prompt.text, limit=_DEEP, agent=client, asked=False)
    tell(settings.telemetry, "recall", (began, now_ms()), recalled.counts)
    private = settings.lifecycle_private
    found = tuple(one for one in recalled.items if not any(fnmatchcase(str(one.row.address), each) for each in private))
    if prompt.session:
        fresh = engine.pins.not_given(prompt.session, [one.row for one in found])
        found = tuple(one for one in found if one.row in fresh)
    built = build_block(engine, found[:LIMIT], now_ms())
    if prompt.session and built.rows:
        engine.pins.record_given(prompt.session, built.rows)
    if not built.text:
        return {}
    return {"hookSpecificOutput": {"hookEventName": prompt.event, "additionalContext": built.text}}


def _prompt() -> HookPrompt | None:
    if sys.stdin is None or sys.stdin.isatty():
        return None
    try:
        told = json.loads(sys.stdin.buffer.read(_INPUT))
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not isinstance(told.get("prompt"), str):
        return None
    event, session = told.get("hook_event_name"), told.get("session_id")
    session = session[:200].encode("utf-8", "replace").decode() if isinstance(session, str) else ""
    return HookPrompt(told["prompt"], event if event in _EVENTS else _EVENTS[0], session)


@contextmanager
def _in_time() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLateError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, HOOK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
