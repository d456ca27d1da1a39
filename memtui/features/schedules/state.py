"""How schedules are, for `memtui status` and a prompt, which are not to load what runs them."""

from memtui.wire.outcomes import Json
from memtui.wire.session import Session

BY_HAND = "by hand"
"""Why one is paused that a person paused."""


def status(session: Session) -> Json:
    """How schedules are; nothing where there are none."""
    found = session.engine.schedules.all()
    if not found:
        return {}
    return {
        "schedules": len(found),
        "wait for you": [one.name for one in found if one.waits],
        "paused": [f"{one.name}: {one.paused}" for one in found if one.paused],
    }


def short(session: Session) -> str:
    """Say how many wait for a person or were paused after failing: `S1`."""
    count = sum(one.waits or one.paused not in ("", BY_HAND) for one in session.engine.schedules.all())
    return f"S{count}" if count else ""
