"""Team schedules: stored on the team's server, each due time run by the one machine that owns its claim.

The claim has a fence: an owner that slept past its end finds another owner and discards its result. A machine claims
only what it can run: jobs and deliveries of its own settings, of members that these name.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.database import new_id
from memtui.engine.ledger.schedules import OnceClaim, PlannedRun
from memtui.engine.task import OPEN, Task
from memtui.errors import NotFoundError, RefusedError, UsageError
from memtui.features.schedules import times
from memtui.features.tasks.work import TaskContext
from memtui.features.team.postgres import TeamServer, team_of
from memtui.features.team.store import require_server, tolerate_outage

KIND = "scheduled"
TEAM = "team"
"""The lane of schedules that any machine may run."""
CLAIM_MS, RENEW_S = 30_000, 10.0
"""Duration of a claim, and seconds between renewals."""

_FAR_MS = 32_503_680_000_000
"""The year 3000."""
_BROKEN = "it cannot be read; who made it can remove it"


class TeamSchedules:
    """The team's schedules by name; the counterpart of `ScheduleTable`."""

    def __init__(self, server: TeamServer) -> None:
        self._server = server
        self.lasts: dict[int, OnceClaim] = {}
        """The newest run of each, by id, as of the last `all`."""

    def all(self) -> tuple[PlannedRun, ...]:
        """Return all schedules in order of creation."""
        found = []
        for *row, run, state, note in self._server.call("schedules"):
            found.append(_read(row))
            if run is not None and _is_time(int(run.rpartition(":")[2])):
                self.lasts[row[0]] = OnceClaim(run, 0, state, 0, note)
        return tuple(found)

    def get(self, name: str) -> PlannedRun:
        """Return the schedule of this name; raises `E_NOT_FOUND`."""
        for one in self.all():
            if one.name == name:
                return one
        raise NotFoundError(f"The team has no schedule {name!r}.", hint="`memtui schedule ls` lists them.")

    def clock(self) -> int:
        """Return the server's time in milliseconds."""
        return int(self._server.value("clock_ms"))

    def add(self, made: PlannedRun) -> PlannedRun:
        """Add a schedule of the current login."""
        words = json.dumps(made.words)
        self._server.call("add_schedule", made.name, made.spec, made.zone, words, made.target, made.label)
        return self.get(made.name)

    def remove(self, schedule: int) -> None:
        """Remove a schedule; raises `E_ACCESS` for one that somebody else made."""
        if not self._server.value("remove_schedule", schedule):
            raise RefusedError("Only who made it, or the team's owner, removes it.", code="E_ACCESS")

    def pause(self, schedule: int, why: str) -> None:
        """Pause a schedule; an empty reason resumes it."""
        self._server.call("pause_schedule", schedule, why)


def all_schedules(
    engine: Engine, settings: Settings, *, ask: bool = True
) -> tuple[tuple[PlannedRun, OnceClaim | None], ...]:
    """Return all schedules with their newest runs: this machine's, then the team's while its server answers."""
    found = [(one, newest_run(engine, one)) for one in engine.schedules.all()]
    if ask and (server := team_of(settings)) is not None:
        with tolerate_outage(engine):
            table = TeamSchedules(server)
            found += [(one, table.lasts.get(one.id)) for one in table.all()]
    return tuple(found)


def newest_run(engine: Engine, one: PlannedRun) -> OnceClaim | None:
    """Return the newest run of a schedule of this machine."""
    return next(iter(engine.claims.of(f"run:{one.id}:", 1)), None) if one.workspace != TEAM else None


def _read(row: Sequence[Any]) -> PlannedRun:
    """Parse a row; an invalid one becomes a schedule that never runs and says so."""
    number, name, spec, zone, words, target, label, creator, made, upto, paused, failures = row
    by, said, known = f"{TEAM}:{creator}", None, _is_time(made) and _is_time(upto)
    with suppress(ValueError, RecursionError, UsageError):
        said = json.loads(words) if known and times.check(spec, zone, 0) == spec else None
    if isinstance(said, list) and said and all(isinstance(word, str) for word in said):
        return PlannedRun(number, name, spec, zone, tuple(said), target, label, by, TEAM, made, upto, paused, failures)
    return PlannedRun(number, name, f"{times.ONCE} 1970-01-01", "UTC", ("",), "", label, by, TEAM, 0, 0, _BROKEN)


def _is_time(ms: int) -> bool:
    return 0 <= ms < _FAR_MS


class TeamRun(NamedTuple):
    """A due time that this machine claimed."""

    server: TeamServer
    id: int
    due: int
    holder: str
    fence: int

    def hold(self, ms: int = 0) -> bool:
        """Renew the claim for its duration plus `ms`; return False when another machine owns it."""
        key = f"run:{self.id}:{self.due}"
        return bool(self.server.value("hold", key, self.holder, self.fence, CLAIM_MS + ms))

    def finish(self, how: str, why: str = "") -> bool:
        """End the run as `ok`, `failed` or `skipped`; return False when another machine owns it."""
        return bool(self.server.value("finish_run", self.id, self.due, self.holder, self.fence, how, why))

    def renewing(self, context: TaskContext) -> TaskContext:
        """Renew the claim whenever the run polls for cancellation, and cancel it when the claim is lost."""
        begun, lost, asked = time.monotonic(), False, context.cancelled

        def cancelled() -> bool:
            nonlocal begun, lost
            if not lost and time.monotonic() - begun > RENEW_S:
                begun = time.monotonic()
                with tolerate_outage(context.engine):  # away: the claim ends by itself, and `finish` finds that
                    lost = not self.hold()
            return lost or asked()

        return context._replace(cancelled=cancelled)


def team_run(settings: Settings, request: Mapping[str, object]) -> TeamRun | None:
    """Return the claim that a task owns; None for schedules of this machine."""
    if "fence" not in request:
        return None
    number, due, fence = (int(str(request.get(name))) for name in ("id", "due", "fence"))
    return TeamRun(require_server(settings), number, due, str(request.get("holder")), fence)


def queue_due(engine: Engine, settings: Settings, lane: str) -> None:
    """Queue due times of the team that can run here."""
    server = team_of(settings)
    if server is None:
        return
    with tolerate_outage(engine):
        table = TeamSchedules(server)
        now = table.clock()
        for one in table.all():
            found = None if one.paused or not _runs_here(settings, server, one) else _due(one, now)
            if found is not None:
                take(engine, server, one, found, lane=lane)


def _due(one: PlannedRun, now: int) -> times.Due | None:
    return times.newest_due(one.spec, one.zone, one.upto, now)


def _runs_here(settings: Settings, server: TeamServer, one: PlannedRun) -> bool:
    named = {server.login, *settings.team_runs}
    by = one.creator.partition(":")[2]
    job = one.words[0] != "job" or one.words[1] in settings.entries("jobs")
    return (by in named or "*" in named) and job and (not one.target or one.target in settings.entries("delivery"))


def take(
    engine: Engine, server: TeamServer, one: PlannedRun, due: times.Due, *, lane: str, trigger: str = "auto"
) -> Task | None:
    """Claim a due time on the server, then queue it here; return None when it is claimed already."""
    waiting = (task.request for task in engine.tasks.all(None, OPEN))
    if any("fence" in request and (request["id"], request["due"]) == (one.id, due.at) for request in waiting):
        return None
    holder = new_id()
    note = times.missed_words(due.missed)
    fence = server.value("take", f"run:{one.id}:{due.at}", holder, note)
    if fence is None:
        return None
    request = {"schedule": one.name, "id": one.id, "due": due.at, "holder": holder, "fence": fence}

    def queue() -> Task:
        return engine.tasks.enqueue(KIND, lane, f"schedule:{one.name}", request, trigger=trigger)

    return engine.claims.once(claim_key(one.id, due.at, fence), queue, note=note)


def claim_key(schedule: int, due: int, fence: int) -> str:
    """Return the name of this machine's record of a due time that it claimed."""
    return f"{TEAM}:{schedule}:{due}:{fence}"
