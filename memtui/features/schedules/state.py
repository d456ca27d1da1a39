"""Status of schedules for `memtui status` and the prompt, without loading what runs them."""

from memtui.wire.outcomes import Json
from memtui.wire.session import Session

BY_HAND = "by hand"
"""The reason of a pause made by a person."""


def status(session: Session) -> Json:
    """Return the status of schedules; empty where there are none."""
    found = session.engine.schedules.all()
    if not found:
        return {}
    return {
        "schedules": len(found),
        "wait for you": [one.name for one in found if one.waits],
        "paused": [f"{one.name}: {one.paused}" for one in found if one.paused],
    }


def short(session: Session) -> str:
    """Count those that wait for a person or were paused after failures: `S1`."""
    count = sum(one.waits or one.paused not in ("", BY_HAND) for one in session.engine.schedules.all())
    return f"S{count}" if count else ""
