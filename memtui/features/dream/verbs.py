"""`memtui dream`: look through all memories now, or say what would come of it; and how dreaming is, for `status`."""

from memtui.features.dream.gates import KIND, gate
from memtui.features.dream.work import look
from memtui.features.tasks.work import working_in
from memtui.features.workers.propose import begins, last_json, run
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.session import Session
from memtui.wire.times import rfc3339


def dream(call: Call) -> int:
    """Tidy up: find what can be, and propose it."""
    return run(call, KIND, {}, look)


def status(session: Session) -> Json:
    """Say when memtui dreamed last, what came of it, and what the next one waits for."""
    waits = gate(working_in(session, session.settings))
    until = rfc3339(waits.until) if waits.until is not None else None
    name = {"": "nothing", "disabled": None}.get(waits.name, waits.name)
    return {"begins": begins(session.settings, KIND), **last_json(session, KIND), "waits for": name, "until": until}
