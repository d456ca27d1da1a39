"""Collection of real usage from gateways' turns and agents' session files, as far as they may be read."""

from __future__ import annotations

from datetime import timedelta

from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.features.budgets.limits import JOBS, admit, debit, keys_of
from memtui.features.tasks.work import workspace_of
from memtui.transcripts.follow import follow
from memtui.transcripts.sessions import allowed_files, consent
from memtui.transcripts.usage import READERS
from memtui.wire.session import Session

CONSUMER = "usage"
MAX_WINDOW_MS = round(timedelta(days=32).total_seconds() * 1_000)
"""Upper bound of a window; older files are not read."""
_TURNS = 10_000


def begin(session: Session, settings: Settings) -> None:
    """Collect new usage and send due alerts, where there are budgets."""
    if settings.entries("budgets") and not session.options.read_only and not settings.worker:
        collect(session.engine, settings, session.surroundings)
        send_alerts(session.engine, settings, workspace_of(session.surroundings).id)


def send_alerts(engine: Engine, settings: Settings, lane: str) -> None:
    """Send the due alerts of every named budget."""
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
        reader, cursor = READERS.get(agent), engine.tasks.cursors.get(CONSUMER, path)
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
