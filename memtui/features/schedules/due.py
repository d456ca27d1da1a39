"""Due times of schedules, this machine's and the team's: their calendar, and claiming each of them once.

After a sleep only the newest missed time runs, and the claim's note counts the others. After the clock was set back,
nothing is due again within a day; beyond that the claims refuse what already ran. The claim of a team's due time has a
fence: an owner that slept past its end finds another owner and discards its result.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.database import DAY_MS, new_id
from memtui.engine.ledger.schedules import OnceClaim, PlannedRun, ScheduleTable
from memtui.engine.task import OPEN, Task
from memtui.errors import NotFoundError, RefusedError, UsageError
from memtui.features.tasks.work import TaskContext, workspace_of
from memtui.features.team.postgres import TeamServer, require_server, team_of, tolerate_outage
from memtui.wire.session import Session

WORDS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *"}
ONCE = "@once"
MAX_COUNTED = 1_000
"""Limit up to which missed times are counted."""
_BACK = (timedelta(hours=2), timedelta(days=2), timedelta(days=40))
"""How far to look back for the newest time before scanning everything."""


class Due(NamedTuple):
    """The newest due time, and the number of times missed before it."""

    at: int
    """Milliseconds since the epoch."""
    missed: int = 0
    """`MAX_COUNTED` stands for more."""


def _missed_words(missed: int) -> str:
    return f"{missed}{'+' * (missed >= MAX_COUNTED)} earlier times went by" if missed else ""


def check(spec: str, zone: str, now: int) -> str:
    """Validate a time and normalize it; raises `E_SCHEDULE` for an invalid or past one, or an unknown zone."""
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise invalid(f"{zone!r} is no time zone.", "Write one such as Europe/Berlin.") from None
    first, _, rest = spec.strip().partition(" ")
    if first == ONCE:
        once = f"{ONCE} {_once(rest.strip(), zone)}"
        if next(due_times(once, zone, now), None) is None:
            raise invalid(f"{rest.strip()!r} went by already.", "Write a time that comes.")
        return once
    fields = WORDS.get(spec.strip(), spec).split()
    if len(fields) != 5:
        raise invalid(
            f"{spec!r} is no time: it has {len(fields)} fields.",
            f"Write minute, hour, day, month and weekday, or {', '.join(WORDS)}, {ONCE} TIME.",
        )
    try:
        next(CronSim(" ".join(fields), datetime.fromtimestamp(now / 1_000, ZoneInfo(zone))))
    except (CronSimError, StopIteration) as error:
        raise invalid(
            f"{spec!r} is no time that comes: {error}.", "`0 9 * * 1-5` is nine o'clock on weekdays."
        ) from None
    return WORDS.get(spec.strip(), " ".join(fields))


def _once(text: str, zone: str) -> str:
    try:
        return datetime.fromtimestamp(_ms(text, zone) / 1_000, ZoneInfo(zone)).isoformat(timespec="minutes")
    except (ValueError, OverflowError, OSError):
        raise invalid(f"{text!r} is no time.", f"Write {ONCE} 2026-12-24T18:00.") from None


def _ms(text: str, zone: str) -> int:
    found = datetime.fromisoformat(text)
    return round((found if found.tzinfo else found.replace(tzinfo=ZoneInfo(zone))).timestamp() * 1_000)


def invalid(message: str, hint: str) -> UsageError:
    """Make the error for an invalid schedule."""
    return UsageError(message, code="E_SCHEDULE", unharmed="No schedule was made or changed.", hint=hint)


def due_times(spec: str, zone: str, after: int) -> Iterator[int]:
    """Yield the times after one, in order; `spec` as `check` wrote it.

    cronsim handles clock changes as Debian's cron does: a skipped time runs at the next minute that exists, and a
    repeated one runs once.
    """
    if spec.startswith(ONCE):
        at = _ms(spec.partition(" ")[2], zone)
        yield from [at] if at > after else []
        return
    begin = datetime.fromtimestamp(after / 1_000, ZoneInfo(zone))
    for found in CronSim(spec, begin):
        at = round(found.timestamp() * 1_000)
        if at > after:  # where an hour comes twice, cronsim may give its first one from within the second
            yield at


def newest_due(spec: str, zone: str, after: int, now: int) -> Due | None:
    """Return the newest time after `after` and up to `now`; None for none."""
    first = [*islice(takewhile(lambda at: at <= now, due_times(spec, zone, after)), MAX_COUNTED + 1)]
    if len(first) <= MAX_COUNTED:
        return Due(first[-1], len(first) - 1) if first else None
    for back in (*_BACK, timedelta.max):
        begin = max(after, now - round(back.total_seconds() * 1_000))
        newest = [*takewhile(lambda at: at <= now, due_times(spec, zone, begin))][-1:]
        if newest:
            return Due(newest[0], MAX_COUNTED)
    raise AssertionError("the last look begins at `after`")


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


def table_of(engine: Engine, settings: Settings, *, team: bool) -> ScheduleTable | TeamSchedules:
    """Return the schedules of the team or of this machine; raises `E_DISABLED` where there is no team."""
    return TeamSchedules(require_server(settings)) if team else engine.schedules


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
        said = json.loads(words) if known and check(spec, zone, 0) == spec else None
    if isinstance(said, list) and said and all(isinstance(word, str) for word in said):
        return PlannedRun(number, name, spec, zone, tuple(said), target, label, by, TEAM, made, upto, paused, failures)
    return PlannedRun(number, name, f"{ONCE} 1970-01-01", "UTC", ("",), "", label, by, TEAM, 0, 0, _BROKEN)


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


# --- claiming


def begin(session: Session, settings: Settings) -> None:
    """Queue what is due in the lane of this session."""
    if not session.options.read_only and settings.lifecycle_enabled and not settings.worker:
        lane = workspace_of(session.surroundings).id
        queue_due(session.engine, lane)
        queue_team_due(session.engine, settings, lane)


def queue_due(engine: Engine, workspace: str) -> tuple[Task, ...]:
    """Queue the due times of a lane as tasks."""
    now, queued = engine.schedules.clock(), []
    for one in engine.schedules.all(workspace):
        upto = one.upto if one.upto <= now + DAY_MS else now - DAY_MS  # the clock was far ahead when it was taken
        due = None if one.paused or one.waits else newest_due(one.spec, one.zone, upto, now)
        queued.append(None if due is None else _take(engine, one, due))
    return tuple(task for task in queued if task is not None)


def queue_team_due(engine: Engine, settings: Settings, lane: str) -> None:
    """Queue due times of the team that can run here."""
    server = team_of(settings)
    if server is None:
        return
    with tolerate_outage(engine):
        table = TeamSchedules(server)
        now = table.clock()
        for one in table.all():
            runs = not one.paused and _runs_here(settings, server, one)
            if runs and (due := newest_due(one.spec, one.zone, one.upto, now)) is not None:
                _take_for_team(engine, server, one, due, lane)


def take_now(engine: Engine, settings: Settings, one: PlannedRun, lane: str) -> Task | None:
    """Claim this moment and queue its task, which runs in `lane` for one of the team; None when it was just begun."""
    if one.workspace != TEAM:
        return _take(engine, one, Due(engine.schedules.clock()), "manual")
    server = require_server(settings)
    return _take_for_team(engine, server, one, Due(TeamSchedules(server).clock()), lane, "manual")


def _runs_here(settings: Settings, server: TeamServer, one: PlannedRun) -> bool:
    """Whether its job and delivery are in our settings, and its maker is among the members that these name."""
    named = {server.login, *settings.team_runs}
    by = one.creator.partition(":")[2]
    job = one.words[0] != "job" or one.words[1] in settings.entries("jobs")
    return (by in named or "*" in named) and job and (not one.target or one.target in settings.entries("delivery"))


def _take(engine: Engine, one: PlannedRun, due: Due, trigger: str = "auto") -> Task | None:
    """Claim a due time and queue its task in one transaction; return None when it is already claimed."""
    request = {"schedule": one.name, "id": one.id, "due": due.at}
    return _queued(engine, one, request, trigger, one.workspace, _missed_words(due.missed))


def _take_for_team(
    engine: Engine, server: TeamServer, one: PlannedRun, due: Due, lane: str, trigger: str = "auto"
) -> Task | None:
    """Claim a due time on the server, then queue it here; return None when it is claimed already."""
    waiting = (task.request for task in engine.tasks.all(None, OPEN))
    if any("fence" in request and (request["id"], request["due"]) == (one.id, due.at) for request in waiting):
        return None
    holder, note = new_id(), _missed_words(due.missed)
    fence = server.value("take", f"run:{one.id}:{due.at}", holder, note)
    if fence is None:
        return None
    request = {"schedule": one.name, "id": one.id, "due": due.at, "holder": holder, "fence": fence}
    return _queued(engine, one, request, trigger, lane, note)


def _queued(
    engine: Engine, one: PlannedRun, request: dict[str, object], trigger: str, lane: str, note: str
) -> Task | None:
    def queue() -> Task:
        if trigger == "auto" and one.workspace != TEAM:
            engine.schedules.reached(one.id, int(str(request["due"])))
        return engine.tasks.enqueue(KIND, lane, f"schedule:{one.name}", request, trigger=trigger)

    return engine.claims.once(claim_key(request), queue, note=note)


def claim_key(request: Mapping[str, object]) -> str:
    """Return the name of the claim of a task's due time, on this machine."""
    if "fence" in request:
        return f"{TEAM}:{request['id']}:{request['due']}:{request['fence']}"
    return f"run:{request['id']}:{request['due']}"


def due_of(run: OnceClaim) -> int:
    """Return the due time that a claim is about, in milliseconds."""
    return int(run.key.rpartition(":")[2])
