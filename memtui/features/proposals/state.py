"""Proposal counts for `memtui status` and prompts, which must not load the code that lists them."""

from memtui.engine.proposal import WAITING
from memtui.features.proposals.apply import to_decide, waiting
from memtui.wire.outcomes import Json
from memtui.wire.session import Session
from memtui.wire.times import rfc3339


def status(session: Session) -> Json:
    """Count open proposals by state, with the time of the oldest."""
    found = waiting(session.engine)
    counts: Json = {state: sum(one.state == state for one in found) for state in (*WAITING, "accepted")}
    oldest = min((one.at for one in found), default=None)
    return {**counts, "oldest": None if oldest is None else rfc3339(oldest)}


def short(session: Session) -> str:
    """Return how many proposals wait, such as `R4`."""
    count = to_decide(session.engine)
    return f"R{count}" if count else ""
