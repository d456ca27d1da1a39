"""The verbs `digest` and `delivery`, the text of a digest, and the status of deliveries; never a secret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from memtui.config.settings import Settings
from memtui.diff.differences import hunks
from memtui.engine import Engine
from memtui.engine.ledger.database import DAY_MS, new_id
from memtui.engine.model import MARKS, Address, AuditRecord, Finding
from memtui.engine.task import FAILED, Task
from memtui.errors import MemtuiError, UsageError
from memtui.features.actors import who_words
from memtui.features.delivery.outbox import KIND, queue, usable_entry
from memtui.features.delivery.vendors import target_of
from memtui.features.feature import parts
from memtui.features.tasks.shown import describe_task, state_label, task_json
from memtui.features.tasks.verbs import end_status, waited
from memtui.features.tasks.work import StandingRow, workspace_of
from memtui.ui.draw.text import count_words
from memtui.wire import outcomes, results, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session
from memtui.wire.times import parse_time


def digest(call: Call) -> int:
    """Print the digest, or send it."""
    now = call.engine.tasks.clock()
    given = call.args.text("since")
    since = now - DAY_MS if given is None else parse_time(given, now)
    if since is None:
        raise UsageError(f"{given!r} is not a time.", hint="Write 2h, 3d, 2026-11-20 or 2026-11-20T09:30:00Z.")
    text, target = digest_text(call.session, since), call.args.text("to")
    if target is None:
        if call.out.json:
            call.out.document({"text": text})
        else:
            call.out.text(f"{text or 'Nothing changed.'}\n")
        return outcomes.DONE
    if text:
        return _send(call, target, "digest", text)
    call.out.document(values.listing(())) if call.out.json else call.out.say("Nothing changed, so nothing was sent.")
    return outcomes.DONE


def delivery(call: Call) -> int:
    """List deliveries, or send a test message to one."""
    name = call.args.text("name")
    if (call.args.text("action") or "ls") == "test":
        if name is None:
            raise UsageError("memtui delivery test needs a name.", hint="`memtui delivery` lists them.")
        return _send(call, name, "memtui", "memtui can send messages here.")
    rows = [(one, _problem_of(call.settings, one)) for one in call.settings.entries("delivery")]
    items = ({"name": one, "usable": not why, "why": why or None} for one, why in rows)
    cells = ((one, why or "usable") for one, why in rows)
    columns = (Column("NAME"), Column("HOW", wraps=True))
    return results.listed(call.out, items, columns, cells, "There are no deliveries.")


def _problem_of(settings: Settings, name: str) -> str:
    """Return why a delivery cannot be used, as far as can be told without sending; empty when it can."""
    try:
        target_of(usable_entry(settings, name), settings.home)
    except MemtuiError as error:
        return error.message
    return ""


def _send(call: Call, target: str, title: str, text: str) -> int:
    if call.options.read_only:
        call.engine.history.check_settable()
    lane = workspace_of(call.session.surroundings).id
    cause = f"{title}-{new_id()}"
    with call.engine.claims.together():
        made = queue(call.engine, call.settings, target, cause, title, text, workspace=lane, client=call.actor.name)
    table = call.engine.tasks

    def await_end(task: Task) -> Task:
        return waited(call.session, task, lambda: table.get(task.id).not_before > table.clock() + 15_000)

    ended = list(map(await_end, made))
    if call.out.json:
        call.out.document(values.listing(map(task_json, ended)))
    for task in ended if not call.out.json else ():
        call.out.line(f"{task.id} {state_label(task)}: {describe_task(task)}")
    return next((end_status(task) for task in ended if task.error is not None), outcomes.DONE)


def status(session: Session) -> Json:
    """Return the status of deliveries; empty where there are none."""
    known = session.settings.entries("delivery")
    if not known:
        return {}
    failed = [task for task in session.engine.tasks.all(None, (FAILED,)) if task.kind == KIND]
    return {
        "places": len(known),
        "cannot be used": [f"{name}: {why}" for name in known if (why := _problem_of(session.settings, name))],
        "failed": [f"{task.seq}: {describe_task(task)}" for task in failed[:5]],
    }


def findings(session: Session) -> Iterator[Finding]:
    """Yield the findings of `memtui doctor` about deliveries."""
    for name in session.settings.entries("delivery"):
        why = _problem_of(session.settings, name)
        if why:
            yield Finding("warning", "delivery", f"{name} cannot be used: {why}", "memtui delivery test sends one.")
    for task in session.engine.tasks.all(None, (FAILED,)):
        if task.kind == KIND:
            advice = f"`memtui tasks retry {task.seq}` sends it again."
            yield Finding("warning", "delivery", describe_task(task), advice)


# --- the digest: names and counts, never the text of a memory

MAX_NAMED, MAX_RECORDS = 40, 2_000
"""Limits for memories that are named, and for audit records that are read."""


def digest_text(session: Session, since: int, *, notes: Sequence[str] = ()) -> str:
    """Write the digest since a time in milliseconds, as Markdown, below `notes`; empty when there is nothing to say.

    Names of memories are not escaped: the outbox defuses the text.
    """
    changed = _changed(session.engine, since)
    failed = [
        task
        for task in session.engine.tasks.all(None, (FAILED,))
        if task.updated >= since and task.kind in (KIND, "scheduled")
    ]
    if not changed and not failed and not notes:
        return ""
    lines = [*notes]
    if changed:
        lines += [f"**{count_words(len(changed), 'memory')} changed**"]
        for address, records in [*changed.items()][:MAX_NAMED]:
            who = ", ".join(dict.fromkeys(who_words(one.actor, one.address.root) for one in records))
            lines.append(f"- {address}  {who}  {_lines(session.engine, records)}")
        if len(changed) > MAX_NAMED:
            lines.append(f"- and {len(changed) - MAX_NAMED:,} more")
    if failed:
        lines += ["**Failed**", *(f"- {task.client}: {task.kind}, {(task.error or ('',))[0]}" for task in failed[:10])]
        lines += [f"- and {len(failed) - 10} more"] * (len(failed) > 10)
    waits = [f"- {part}: {words}" for part, status in parts("status").items() if (words := _counts(status(session)))]
    return "\n".join([*lines, *(["**How it is**", *waits] if waits else [])])


def _changed(engine: Engine, since: int) -> Mapping[Address, list[AuditRecord]]:
    found: dict[Address, list[AuditRecord]] = {}
    for record in engine.history.audit(since=since, limit=MAX_RECORDS):
        if record.state == "done" and record.operation not in MARKS and record.before != record.after:
            found.setdefault(record.new_address or record.address, []).append(record)
    return found


def _lines(engine: Engine, records: Sequence[AuditRecord]) -> str:
    """Count added and removed lines between the oldest and the newest text: `+3 -1`; empty where one is gone."""
    old, new = records[-1], records[0]
    try:
        before = b"" if old.before is None else engine.history.read_audited(old.seq, old.before)
        after = b"" if new.after is None else engine.history.read_audited(new.seq, new.after)
    except MemtuiError:
        return ""  # pruned or redacted
    places = hunks(before, after)
    went, came = (sum(end - begin for begin, end in side) for side in zip(*places, strict=True)) if places else (0, 0)
    return f"+{came} -{went}"


def _counts(block: Mapping[str, object]) -> str:
    """Summarize a status block by numbers alone, because its words could be anybody's text."""
    counts = {name: len(one) if isinstance(one, (list, tuple)) else one for name, one in block.items()}
    return ", ".join(f"{name} {one}" for name, one in counts.items() if type(one) is int and one)


# --- rows of the list of tasks


def standing(engine: Engine, settings: Settings, lane: str) -> Iterator[StandingRow]:
    """Yield a row for each delivery that cannot be used."""
    del engine, lane
    for name in settings.entries("delivery"):
        if why := _problem_of(settings, name):
            yield StandingRow("Deliveries", name, "unusable", "problem", why, None, partial(_shown, name, why))


def _shown(name: str, why: str, engine: Engine) -> Iterator[tuple[str, str]]:
    del engine
    yield "Why", why
    yield "Then", f"memtui delivery test {name}"
