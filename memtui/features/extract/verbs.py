"""`memtui extract`: what sessions newly say becomes proposals; what would be proposed or sent; the queueing hook."""

from __future__ import annotations

import os

from memtui.engine import now_ms
from memtui.engine.model import Write
from memtui.engine.proposal import Proposal
from memtui.errors import MemtuiError, UsageError
from memtui.features.extract.collect import Where, collect
from memtui.features.extract.work import KIND, WEEK_MS, News, asks, by_rules
from memtui.features.tasks.lanes import refuse_off
from memtui.features.tasks.verbs import waited
from memtui.features.tasks.workspace import workspace_of
from memtui.features.workers.ask import who_works
from memtui.wire import outcomes, results, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session
from memtui.wire.times import parse_time, rfc3339

AUTO = "auto"


def extract(call: Call) -> int:
    """Look through sessions, or say what would come of it."""
    if call.args.flag("hook"):
        return _hook(call)
    refuse_off(call.settings, KIND)
    request = _request(call)
    if call.args.flag("dry_run") or call.args.flag("show_prompt"):
        return _look(call, request)
    lane = workspace_of(call.session.surroundings)
    tasks = call.engine.tasks
    task = waited(call.session, tasks.enqueue(KIND, lane.id, call.actor.name, request, trigger="manual"))
    if task.error is not None:
        raise MemtuiError(task.error[1], code=task.error[0])
    found = task.result or {}
    ids = found.get("proposals")
    made = [call.engine.proposals.get(str(one)) for one in ids] if isinstance(ids, list) else []
    notes = found.get("notes")
    return _answer(call, made, found.get("skipped"), [*map(str, notes if isinstance(notes, list) else ())])


def status(session: Session) -> Json:
    """Say when sessions were looked through last, what came of it, and who helps."""
    lane = workspace_of(session.surroundings)
    last = next(iter(session.engine.tasks.runs(lane.id, KIND, 1)), None)
    return {
        "begins": {AUTO: "by itself", "off": "never"}.get(session.settings.lifecycle_extract, "when you ask"),
        "last": rfc3339(last.at) if last is not None else None,
        "outcome": last.outcome if last is not None else None,
        "counts": dict(last.counts) if last is not None else None,
        "worker": who_works(session.settings),
    }


def _request(call: Call) -> dict[str, object]:
    """The request of a task."""
    since, now = call.args.text("since"), now_ms()
    at = now - WEEK_MS if since is None else parse_time(since, now)
    if at is None:
        raise UsageError(f"--since: {since!r} is no time.", hint="Write RFC 3339, a date, or an age such as 2h, 3d.")
    session = call.args.text("session")
    return {"since": at, **({"session": os.path.realpath(session)} if session else {})}


def _look(call: Call, request: dict[str, object]) -> int:
    """Say what would be proposed by rules, or what a worker would be sent; nothing is kept."""
    session = call.session
    where = Where(
        session.engine, call.settings, session.surroundings, session.roots, workspace_of(session.surroundings)
    )
    since = request["since"]
    heard = collect(where, session=str(request.get("session") or ""), since=since if isinstance(since, int) else 0)
    news = News(where, heard)
    if call.args.flag("show_prompt"):
        question = asks(news)
        call.out.raw(f"{question.sent}\n".encode() if question else b"")
        results.beside(call.out, "" if question else "Nobody said anything new: nothing would be sent.")
        return outcomes.DONE
    by_rules(news)
    return _answer(call, news.made, dict(+news.skipped), ["Nothing was kept: this is what rules would propose."])


def _hook(call: Call) -> int:
    """Answer an agent's hook at once: queue the work, where it may begin by itself."""
    call.out.raw(b"{}\n")
    call.out.flush()
    try:
        settings = call.settings
        on = settings.agents_enabled and settings.lifecycle_enabled and settings.lifecycle_extract == AUTO
        if on and not settings.worker:
            lane = workspace_of(call.session.surroundings)
            call.engine.tasks.enqueue(KIND, lane.id, call.args.text("client") or "hook", {}, trigger=AUTO)
    except MemtuiError as error:
        call.out.say(f"memtui: {error}")
    return outcomes.DONE


def _answer(call: Call, made: list[Proposal], skipped: object, notes: list[str]) -> int:
    counts = skipped if isinstance(skipped, dict) else {}
    if call.out.json:
        call.out.document(values.listing(map(_row, made)) | {"skipped": counts, "notes": notes})
        return outcomes.DONE
    call.out.table(
        (Column("ID"), Column("BY"), Column("SURE"), Column("ADDRESS", optional=True), Column("SAID", wraps=True)),
        [(one.id or "-", one.by, f"{one.confidence:.0%}", one.targets[0], one.evidence[0].quote) for one in made],
    )
    if counts:
        call.out.say("Passed over: " + ", ".join(f"{what} {many}" for what, many in sorted(counts.items())))
    if "not_asked" in counts:
        call.out.say("Nobody was asked yet whether agents' sessions may be read: memtui sessions on")
    for note in notes:
        call.out.say(note)
    if made and made[0].id:
        call.out.say("Nothing is written until you decide: memtui review")
    return outcomes.DONE


def _row(one: Proposal) -> Json:
    first = next((step for step in one.steps if isinstance(step, Write)), None)
    return {
        "id": one.id or None,
        "kind": one.kind,
        "by": one.by,
        "state": one.state,
        "targets": list(one.targets),
        "text": first.data.decode("utf-8", "replace") if first else "",
        "why": one.why,
        "confidence": one.confidence,
        "evidence": [{"session": shown.name, "turn": shown.place, "quote": shown.quote} for shown in one.evidence],
        "note": one.note,
    }
