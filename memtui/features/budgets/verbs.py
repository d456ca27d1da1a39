"""The verb `budget`, its gateway route and its chat command; real usage is collected as far as it may be read."""

from __future__ import annotations

from datetime import timedelta

from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.engine.ledger.database import new_id
from memtui.errors import RefusedError, UsageError
from memtui.features.attribution.chat import ChatCommand, ChatReply, checked_id
from memtui.features.attribution.verbs import Fields, check_fields, text_field
from memtui.features.budgets.limits import (
    JOBS,
    Admission,
    BudgetState,
    admit,
    budget_words,
    debit,
    keys_of,
    refusal,
    shared,
    state,
    states,
)
from memtui.features.tasks.work import workspace_of
from memtui.transcripts.readers import USAGE_READERS
from memtui.transcripts.sessions import allowed_files, consent, follow
from memtui.wire import outcomes, results
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session
from memtui.wire.times import rfc3339


def budget(call: Call) -> int:
    """List budgets, admit a prompt or a job, record a debit, or reset."""
    action = call.args.text("action") or "ls"
    if action != "ls" and call.options.read_only:
        call.engine.history.check_settable()
    if not call.options.read_only:
        collect(call.engine, call.settings, call.session.surroundings)
    return {"ls": _list, "admit": _admit, "debit": _debit, "reset": _reset}[action](call)


def _list(call: Call) -> int:
    budgets = states(call.engine, call.settings, ask=True)
    columns = (Column("BUDGET"), Column("SPENT"), Column("RESETS", flexible=True))
    rows = ((one.key, budget_words(one), rfc3339(one.end)) for one in budgets)
    return results.listed(call.out, map(_budget_json, budgets), columns, rows, "There are no budgets.")


def _admit(call: Call) -> int:
    lane = workspace_of(call.session.surroundings).id
    channel, job = call.args.text("channel") or "", call.args.flag("job")
    found = admit(call.engine, call.settings, channel, job=job, lane=lane)
    if not found.allowed and not call.out.json:
        raise refusal(found.states)
    answer = _admission_json(found)
    call.out.fact(answer, "; ".join(("allowed", *found.warnings)))
    return outcomes.DONE if found.allowed else outcomes.REFUSED


def _debit(call: Call) -> int:
    args = call.args
    tokens = args.number("in", 0) + args.number("out", 0)
    if tokens <= 0:
        raise UsageError("memtui budget debit needs tokens.", hint="Give --in N and --out N.")
    keys = keys_of(call.settings, args.text("channel") or "", job=args.flag("job"))
    ref = f"told:{args.text('ref') or new_id()}"
    new = debit(call.engine, keys, ref, tokens, real=not args.flag("estimate"))
    for key in keys:
        state(call.engine, call.settings, key, ask=True)  # the team is told at once
    call.out.fact({"counted": new, "budgets": list(keys)}, "counted" if new else "nothing new")
    return outcomes.DONE


def _reset(call: Call) -> int:
    name, reason = call.args.text("name"), call.args.text("reason")
    if name not in call.settings.entries("budgets") or name == "channel:*" or not reason:
        raise UsageError("memtui budget reset needs a budget and --reason.", hint="`memtui budget` lists them.")
    if shared(call.settings, name):
        raise RefusedError("A budget of the team cannot begin anew.", code="E_ACCESS", hint="Raise its limit instead.")
    one = state(call.engine, call.settings, name)
    call.approve("begin a budget anew", f"{name} has {budget_words(one)}.", "raise its limit in the settings")
    for amount, real in ((one.spent.real, True), (one.spent.estimate, False)):
        if amount > 0:
            now = call.engine.spend.clock()
            call.engine.spend.debit(name, f"reset:{new_id()}", -amount, real=real, at=now, reason=reason)
    call.out.fact(_budget_json(state(call.engine, call.settings, name)), f"{name} begins anew")
    return outcomes.DONE


def _admission_json(found: Admission) -> Json:
    """Turn an admission into JSON, with the tightest budget."""
    tight = max(found.states, key=lambda one: one.share, default=None)
    known = {} if tight is None else _budget_json(tight)
    return {"allowed": found.allowed, "advisory": found.advisory, **known, "warnings": list(found.warnings)}


def _budget_json(one: BudgetState) -> Json:
    return {
        "budget": one.key,
        "spent_real": one.spent.real,
        "spent_estimate": one.spent.estimate,
        "limit": one.limit,
        "unit": "tokens",
        "since": rfc3339(one.begin),
        "until": rfc3339(one.end),
    }


def admit_prompt(session: Session, settings: Settings, client: str, fields: Fields) -> Json:
    """Return whether a prompt of a channel may begin, for a gateway."""
    del client  # what a gateway may speak for was looked at before
    check_fields(fields, "channel")
    channel = checked_id("channel", text_field(fields, "channel"))
    return _admission_json(admit(session.engine, settings, channel, lane=workspace_of(session.surroundings).id))


def answer(command: ChatCommand) -> ChatReply:
    """Answer `/budget` with what is spent and left."""
    states = admit(command.session.engine, command.settings, command.chat.channel).states
    lines = [f"{one.key}: {budget_words(one)}, until {rfc3339(one.end)}" for one in states]
    return ChatReply("\n".join(lines) or "No budget is set here.")


# --- real usage, from gateways' turns and agents' session files

CONSUMER = "usage"
MAX_WINDOW_MS = round(timedelta(days=32).total_seconds() * 1_000)
"""Upper bound of a window; older files are not read."""
_TURNS = 10_000


def begin(session: Session, settings: Settings) -> None:
    """Collect new usage and send due alerts, where there are budgets."""
    if settings.entries("budgets") and not session.options.read_only and not settings.worker:
        collect(session.engine, settings, session.surroundings)
        _send_alerts(session.engine, settings, workspace_of(session.surroundings).id)


def _send_alerts(engine: Engine, settings: Settings, lane: str) -> None:
    for name in settings.entries("budgets"):
        if name.startswith("channel:") and name != "channel:*":
            admit(engine, settings, name.partition(":")[2], lane=lane)
    admit(engine, settings, job=JOBS in settings.entries("budgets"), lane=lane)


def collect(engine: Engine, settings: Settings, place: Surroundings) -> int:
    """Record new usage; return the number of new replies and turns."""
    since = engine.spend.clock() - MAX_WINDOW_MS
    told, count = set[str](), 0
    for turn in engine.turns.all(since=since, limit=_TURNS):
        used = (turn.tokens_in or 0) + (turn.tokens_out or 0)
        if used and turn.ended is not None:
            told.add(turn.session)
            keys = keys_of(settings, turn.channel)
            count += debit(engine, keys, f"turn:{turn.id}", used, real=True, at=turn.ended)
    allowed = consent(settings, place)
    for agent, path in allowed_files(settings, place, since=since):
        reader, cursor = USAGE_READERS.get(agent), engine.tasks.cursors.get(CONSUMER, path)
        part = follow(path, reader, cursor, now=engine.spend.clock()) if reader is not None else None
        if part is None or part.cursor is None or part.cursor == cursor:
            continue
        with engine.claims.together():
            for event in part.events:
                if event.at < since or event.session in told or not allowed.covers(event.cwd):
                    continue
                room = engine.turns.read_session(event.session)
                keys = keys_of(settings, room[2].channel if room is not None else "")
                ref = f"reply:{agent}:{event.uuid}"
                count += debit(engine, keys, ref, int(event.text), real=True, at=event.at)
            engine.tasks.cursors.move(CONSUMER, path, part.cursor)
    return count
