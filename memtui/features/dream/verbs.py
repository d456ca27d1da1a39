"""`memtui dream`, and its part of `memtui status`."""

from memtui.features.dream.gates import GATE_REASONS, KIND, gate
from memtui.features.tasks.work import working_in
from memtui.features.workers.propose import begins, last_json, run
from memtui.transcripts.sessions import ASK, OFF
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.session import Session
from memtui.wire.times import rfc3339


def dream(call: Call) -> int:
    """Find and propose cleanups."""
    from memtui.features.dream.work import look

    return run(call, KIND, {}, look)


def status(session: Session) -> Json:
    """Return the last dream and what the next one waits for."""
    waits = gate(working_in(session, session.settings))
    until = rfc3339(waits.until) if waits.until is not None else None
    name = {"": "nothing", "disabled": None}.get(waits.name, waits.name)
    unread = waits.name.endswith(("session", "sessions")) and session.settings.transcripts_read in (ASK, OFF)
    why = (
        "agents' sessions may not be read, so none counts: memtui sessions" if unread else GATE_REASONS.get(waits.name)
    )
    gated = {"waits for": name, "because": why, "until": until}
    return {"begins": begins(session.settings, KIND), **last_json(session, KIND), **gated}
