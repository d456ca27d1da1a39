"""`memtui extract`: propose from new session turns, preview that, or queue it from a hook."""

from __future__ import annotations

import os

from memtui.engine import now_ms
from memtui.errors import MemtuiError, UsageError
from memtui.features.extract.entry import KIND
from memtui.features.tasks.work import workspace_of
from memtui.features.workers.ask import who_works
from memtui.features.workers.propose import begins, last_json, run
from memtui.wire import outcomes
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.session import Session
from memtui.wire.times import parse_time

AUTO = "auto"


def extract(call: Call) -> int:
    """Extract from sessions, or preview it."""
    if call.args.flag("hook"):
        return _hook(call)
    from memtui.features.extract.work import look

    return run(call, KIND, _request(call), look)


def status(session: Session) -> Json:
    """Return when sessions were read last, with what result, and the worker."""
    return {"begins": begins(session.settings, KIND), **last_json(session, KIND), "worker": who_works(session.settings)}


def _request(call: Call) -> dict[str, object]:
    since, session = call.args.text("since"), call.args.text("session")
    at = parse_time(since, now_ms()) if since is not None else None
    if since is not None and at is None:
        raise UsageError(f"--since: {since!r} is no time.", hint="Write RFC 3339, a date, or an age such as 2h, 3d.")
    asked = {"since": at, "session": os.path.realpath(session) if session else None}
    return {name: value for name, value in asked.items() if value is not None}


def _hook(call: Call) -> int:
    """Answer an agent's hook at once, and queue the work where it may start by itself."""
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
