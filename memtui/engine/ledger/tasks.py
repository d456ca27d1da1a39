"""Tasks in their lanes, their runs, and events for followers: all that must survive the worker.

One process, which holds the lane's lock, works on a lane; a task that is `running` while nobody holds it was a dead
process's. It is apart so that a command that queues nothing loads none of it.
"""

import json
import os
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from typing import Any

import apsw

from memtui.engine.disk import state_file
from memtui.engine.ledger.audit import taken_back
from memtui.engine.ledger.database import DAY_MS, Database, LedgerTable, checked, insert, listed, new_id
from memtui.engine.ledger.proposals import ProposalTable
from memtui.engine.ledger.touches import CursorTable, SessionCursor
from memtui.engine.proposal import WAITING, Proposal
from memtui.engine.task import CANCELLED, COMPLETED, ENDED, FAILED, OPEN, QUEUED, RUNNING, Cause, Run, Task, TaskEvent
from memtui.errors import BusyError, ConflictError, NotFoundError

MAX_TASKS, KEPT_MS, TEXT_MS = 1_000, 30 * DAY_MS, 7 * DAY_MS
"""Tasks kept in a workspace, how long ended ones are kept, and how long the request of a failed one is."""
MAX_RUNS, MAX_EVENTS = 200, 1_000
"""Runs of one kind kept in a workspace; events kept."""
KEY_MS = DAY_MS
"""How long the same key means the same task."""
MAX_WAITING, MAX_BACKGROUND = 16, 8
"""Waiting and running tasks of a workspace, and how many of them may be anything but `remember`."""
TIMED, MAX_TIMED = ("scheduled", "deliver"), 500
"""Kinds that wait for their time and take no room from others; how many of them may wait."""

_HOW = "json_patch('{}', json_object('contextMode', request ->> 'contextMode', 'scope', request ->> 'scope'))"
"""The part of a request that stays with its result."""
_TASK = (
    "id, seq, workspace, kind, state, client, request, created, updated, not_before, attempt, plan, txn, result,"
    " code, message, progress, trigger, stopping"
)
_TASK_KINDS = "tittttTiiiiTITTTttf"
_RUN = "id, task, kind, workspace, trigger, worker, sent, reply, outcome, counts, at, ended"


class TaskTable(LedgerTable):
    """Tasks, runs, and events about them."""

    def __init__(self, database: Database, proposals: ProposalTable, cursors: CursorTable) -> None:
        super().__init__(database)
        self._locks = os.path.join(database.directory, "locks")
        self._proposals = proposals
        self.cursors = cursors

    def enqueue(
        self,
        kind: str,
        workspace: str,
        client: str,
        request: Mapping[str, object],
        *,
        trigger: str,
        not_before: int = 0,
        key: str | None = None,
        most: int = MAX_WAITING,
    ) -> Task:
        """Put a request into a lane, durably, due at `not_before` (milliseconds).

        Returns the task: an existing one for the same key of a client within a day, for an open dream, and for a
        waiting extract with the same request. Its `turn` is the one that the door's session executes.

        Raises:
            BusyError: `E_QUEUE_FULL`. ConflictError: `E_TASK`, another request has the key.
        """
        text, now = _json(request), self.clock()
        digest = sha256(f"{kind}\0{text}".encode()).hexdigest()
        with self._database.transaction() as db:
            met = self._met(kind, workspace, client, key, digest, now)
            if met is not None:
                return met
            self._refuse_full(kind, workspace, most)
            task = f"{kind}-{new_id()}"
            if turn := self._proposals.turn(db):
                text = _json({**request, "turn": turn})
            asked = {"client": client, "trigger": trigger, "request": text, "digest": digest, "key": key}
            times = {"created": now, "updated": now, "not_before": not_before}
            insert(db, "tasks", id=task, workspace=workspace, kind=kind, state=QUEUED, **asked, **times)
            return self._tell(db, task)

    def _met(self, kind: str, workspace: str, client: str, key: str | None, digest: str, now: int) -> Task | None:
        if key is not None:
            same = self._find(
                "workspace = ? AND client = ? AND key = ? AND created > ?", workspace, client, key, now - KEY_MS
            )
            if same is not None:
                if self._find("id = ? AND digest = ?", same.id, digest):
                    return same
                raise ConflictError(
                    f"The key {key!r} was used for another request within a day.",
                    code="E_TASK",
                    hint="Use a new key for a new request.",
                )
        due = "workspace = ? AND kind = ? AND not_before <= ?"
        if kind == "dream":
            return self._find(f"{due} AND state IN (?, ?)", workspace, kind, now, *OPEN)
        if kind == "extract":
            return self._find(f"{due} AND state = ? AND digest = ?", workspace, kind, now, QUEUED, digest)
        return None

    def _refuse_full(self, kind: str, workspace: str, most: int = MAX_WAITING) -> None:
        most, most_background = (MAX_TIMED, MAX_TIMED) if kind in TIMED else (most, MAX_BACKGROUND)
        asked = self._database.row(
            "SELECT count(*), coalesce(sum(kind != 'remember'), 0) FROM tasks WHERE workspace = ? AND state IN (?, ?)"
            " AND (kind IN (?, ?)) = ?",
            (workspace, *OPEN, *TIMED, int(kind in TIMED)),
            kinds="ii",
        )
        count, background = asked or (0, 0)
        if count >= most or (kind != "remember" and background >= most_background):
            raise BusyError(
                f"{count} tasks wait here, and there is no room for more.",
                code="E_QUEUE_FULL",
                unharmed="Nothing was queued.",
                hint="Try again when some are done; `memtui tasks` lists them.",
                details={"waiting": count},
            )

    @checked
    def get(self, task: str) -> Task:
        """Return a task by id; raises `E_TASK`."""
        row = self._database.peek(f"SELECT {_TASK} FROM tasks WHERE id = ?", (task,), kinds=_TASK_KINDS)
        if row is None:
            raise NotFoundError(f"There is no task {task}.", code="E_TASK", hint="`memtui tasks` lists them.")
        return _task(*row)

    def all(self, workspace: str | None = None, states: Collection[str] = (), *, limit: int = 200) -> tuple[Task, ...]:
        """Return tasks of a lane or all, in some states or any, newest first."""
        lane = () if workspace is None else (workspace,)
        where = ["1", *("workspace = ?" for _ in lane)]
        if states:
            where.append(f"state IN ({', '.join('?' * len(states))})")
        return self._tasks(f"{' AND '.join(where)} ORDER BY seq DESC LIMIT ?", *lane, *states, limit)

    def next_due(self, workspace: str, now: int) -> Task | None:
        """Return the next task of a lane: those somebody waits for first, then by age."""
        return self._find(
            "workspace = ? AND state = ? AND not_before <= ?"
            " ORDER BY kind IN ('extract', 'dream', 'scheduled', 'deliver'), seq",
            workspace,
            QUEUED,
            now,
        )

    @contextmanager
    def at_hand(self) -> Iterator[bool]:
        """Keep other threads of this process from the ledger for a block; the value tells whether that succeeded."""
        guard = self._database.guard
        free = guard.acquire(blocking=False)
        try:
            yield free
        finally:
            if free:
                guard.release()

    def lane(self, workspace: str) -> AbstractContextManager[bool]:
        """Hold a lane for a block if nobody else does; the value tells whether it is held."""
        return state_file.hold_lock(self._locks, f"lane-{workspace}")

    def is_worked_on(self, workspace: str) -> bool:
        """Tell whether somebody holds a lane, by their own account."""
        return state_file.is_lock_signed(self._locks, f"lane-{workspace}")

    def start(self, task: str) -> Task | None:
        """Start a waiting task, or one that a dead process left running; None when it has ended."""
        return self._change(
            task, "state = ?, attempt = attempt + 1, progress = ''", (RUNNING,), "state IN (?, ?)", OPEN, durable=False
        )

    def keep_plan(
        self,
        task: str,
        plan: str,
        proposals: Iterable[Proposal] = (),
        read: Iterable[tuple[str, str, SessionCursor]] = (),
    ) -> bool:
        """Store what will be written and what is proposed; return false when the task was cancelled.

        Ids of waiting proposals become `proposals` of the result. `read`: consumer, file and position of the session
        files that were read for them.
        """
        with self._database.transaction():
            kept = self._change(task, "plan = ?", (plan,), "state = ? AND NOT stopping", (RUNNING,), tell=False)
            turn = str(kept.request.get("turn") or "") if kept else ""
            made = self._proposals.add(proposals, turn=turn) if kept else ()
            waiting = [one.id for one in made if one.state in WAITING]
            for place in read if kept else ():
                self.cursors.move(*place)
            if waiting:
                self._change(task, "result = ?", (_json({"proposals": waiting}),), "1", (), tell=False)
            return kept is not None

    def note_progress(self, task: str, text: str) -> None:
        """Store a progress text."""
        self._change(task, "progress = ?", (text,), "state = ?", (RUNNING,), durable=False, tell=False)

    def is_stopping(self, task: str) -> bool:
        """Tell whether a running task was cancelled, or ended by somebody else."""
        runs = "SELECT 1 FROM tasks WHERE id = ? AND state = ? AND NOT stopping"
        return self._database.peek(runs, (task, RUNNING)) is None

    def put_back(self, task: str, not_before: int, *, counted: bool) -> None:
        """Requeue a task, with its plan if it has one; `counted` tells whether this was an attempt."""
        back = "state = ?, not_before = ?, progress = '', attempt = max(0, attempt - ?)"
        self._change(task, back, (QUEUED, not_before, int(not counted)), "state = ?", (RUNNING,))

    def finish(
        self,
        task: str,
        state: str,
        *,
        result: Mapping[str, object] | None = None,
        error: tuple[str, str] | None = None,
        txn: str | None = None,
    ) -> Task:
        """End a task and write its event; one that has ended is returned unchanged.

        A request is kept for `TEXT_MS` unless it succeeded. `error` is a code and a sentence, `txn` the undo step it
        wrote.
        """
        code, message = error or (None, None)
        with self._database.transaction() as db:
            found = self.get(task)
            if found.state in ENDED:
                return found
            _prune(db, found.workspace, self.clock())
            said = {**(found.result or {}), **(result or {})} if state == COMPLETED else None
            ended = self._change(
                task,
                "state = ?, result = ?, code = ?, message = ?, txn = ?, plan = NULL, progress = '',"
                f" request = iif(? = 'completed', {_HOW}, request)",
                (state, None if said is None else _json(said), code, message, int(txn) if txn else None, state),
                "1",
                (),
            )
            return ended or found

    def cancel(self, task: str) -> Task:
        """Cancel a waiting task, or ask a running one to stop, unless it has a plan; return it."""
        said = ("E_STOPPED", "It was cancelled before it began.")
        with self._database.transaction():
            self.get(task)
            over = "state = ?, code = ?, message = ?, progress = ''"
            if not self._change(task, over, (CANCELLED, *said), "state = ? AND plan IS NULL", (QUEUED,)):
                self._change(task, "stopping = 1", (), "state = ? AND plan IS NULL", (RUNNING,))
            return self.get(task)

    def retry(self, task: str) -> Task:
        """Requeue a failed or cancelled task; raises `E_TASK`, `E_QUEUE_FULL`."""
        with self._database.transaction():
            found = self.get(task)
            if found.state in (FAILED, CANCELLED):
                self._refuse_full(found.kind, found.workspace)
            again = "state = ?, attempt = 0, not_before = 0, stopping = 0, code = NULL, message = NULL"
            here = "state IN (?, ?) AND request NOT NULL"
            queued = self._change(task, again, (QUEUED,), here, (FAILED, CANCELLED))
            if queued is None:
                why = f"Task {task} is {found.state}."
                if found.state in (FAILED, CANCELLED):
                    why = f"What task {task} asked for is not kept any more."
                raise ConflictError(why, code="E_TASK", hint="Ask for it anew.")
            return queued

    def add_run(self, run: Run) -> None:
        """Store a run, replacing an earlier state of it."""
        with self._database.transaction() as db:
            values = (*run[:9], _json(run.counts), run.at, run.ended)
            db.execute(
                f"INSERT INTO runs ({_RUN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
                " sent = excluded.sent, reply = excluded.reply, outcome = excluded.outcome, counts = excluded.counts,"
                " ended = excluded.ended",
                values,
            )
            db.execute(
                "DELETE FROM runs WHERE workspace = ?1 AND kind = ?2 AND (at < ?3 OR seq NOT IN"
                " (SELECT seq FROM runs WHERE workspace = ?1 AND kind = ?2 ORDER BY seq DESC LIMIT ?4))",
                (run.workspace, run.kind, self.clock() - KEPT_MS, MAX_RUNS),
            )

    @checked
    def runs(
        self, workspace: str | None = None, kind: str | None = None, limit: int = 50, *, task: str | None = None
    ) -> tuple[Run, ...]:
        """Return runs, newest first, of one lane, one kind or one task."""
        asked = {"workspace": workspace, "kind": kind, "task": task}
        chosen = {name: value for name, value in asked.items() if value is not None}
        where = " AND ".join(["1", *(f"{name} = ?" for name in chosen)])
        sql = f"SELECT {_RUN} FROM runs WHERE {where} ORDER BY seq DESC LIMIT ?"
        runs = self._all(Run, sql, *chosen.values(), limit, kinds="ttttttttttii")
        return tuple(run._replace(counts=_mapping(str(run.counts))) for run in runs)

    @checked
    def events_after(self, seq: int, limit: int = MAX_EVENTS) -> tuple[TaskEvent, ...]:
        """Return the kept events after an event, oldest first."""
        sql = "SELECT seq, at, kind, client, payload FROM task_events WHERE seq > ? ORDER BY seq LIMIT ?"
        return self._all(lambda *row: TaskEvent(*(*row[:4], _mapping(row[4]))), sql, seq, limit, kinds="iittt")

    def last_event(self) -> int:
        """Return the number of the newest event; 0 for none."""
        found = self._database.peek("SELECT coalesce(max(seq), 0) FROM task_events")
        return int(found[0]) if found else 0

    def transaction_of(self, cause: str) -> Cause | None:
        """Return what was written for a task or run, whole or in part; None when nothing of it stands."""
        return self._first(
            lambda txn, *more: Cause(str(txn), *more),
            "SELECT id, whole, actor FROM txns WHERE cause = ? AND (whole OR (effective AND NOT undone))"
            " ORDER BY whole DESC, id DESC",
            cause,
            kinds="ift",
        )

    def _change(
        self,
        task: str,
        what: str,
        values: tuple[str | int | None, ...],
        when: str,
        known: tuple[str, ...],
        *,
        durable: bool = True,
        tell: bool = True,
    ) -> Task | None:
        """Change a task that is in a state, and write an event; None when it is not in it."""
        with self._database.transaction(durable=durable) as db:
            db.execute(
                f"UPDATE tasks SET {what}, updated = max(updated, ?) WHERE id = ? AND {when}",
                (*values, self.clock(), task, *known),
            )
            if not db.changes():
                return None
            return self._tell(db, task) if tell else self.get(task)

    def _tell(self, db: apsw.Connection, task: str) -> Task:
        now = self.get(task)
        result = now.result or {}
        came = {key: result[key] for key in ("touchedScopes", "proposals") if result.get(key)}
        payload = {"task": now.id, "kind": now.kind, "state": now.state, "workspace": now.workspace, **came}
        db.execute(
            "INSERT INTO task_events (at, kind, client, payload) VALUES (?, 'task', ?, ?)",
            (self.clock(), now.client, _json(payload)),
        )
        db.execute("DELETE FROM task_events WHERE seq <= ?", (db.last_insert_rowid() - MAX_EVENTS,))
        return now

    def _find(self, where: str, *values: str | int) -> Task | None:
        return next(iter(self._tasks(f"{where} LIMIT 1", *values)), None)

    @checked
    def _tasks(self, where: str, *values: str | int) -> tuple[Task, ...]:
        tasks = self._all(_task, f"SELECT {_TASK} FROM tasks WHERE {where}", *values, kinds=_TASK_KINDS)
        wrote = [int(task.txn) for task in tasks if task.txn is not None]
        back = taken_back(self._database, min(wrote)) if wrote else ()
        return tuple(task._replace(undone=task.txn is not None and int(task.txn) in back) for task in tasks)


def _task(*row: Any) -> Task:
    *known, code, message, progress, trigger, stopping = row
    error = None if code is None else (code, message or "")
    task = Task(*(*known, error, progress, trigger, stopping))
    return task._replace(
        request=_mapping(row[6] or "{}"),
        txn=None if task.txn is None else str(task.txn),
        result=None if row[13] is None else _mapping(row[13]),
    )


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(dict(value), sort_keys=True)


def _mapping(text: str) -> dict[str, object]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"{type(found).__name__} instead of an object")
    return found


def _prune(db: apsw.Connection, workspace: str, now: int) -> None:
    ended = f"state IN ({listed(ENDED)})"
    db.execute(f"UPDATE tasks SET request = NULL WHERE {ended} AND request NOT NULL AND updated < ?", (now - TEXT_MS,))
    db.execute(f"DELETE FROM tasks WHERE {ended} AND updated < ?", (now - KEPT_MS,))
    ((count,),) = db.execute("SELECT count(*) FROM tasks WHERE workspace = ?", (workspace,))
    if count > MAX_TASKS:
        db.execute(
            "DELETE FROM tasks WHERE seq IN"
            f" (SELECT seq FROM tasks WHERE workspace = ? AND {ended} ORDER BY seq LIMIT ?)",
            (workspace, count - MAX_TASKS),
        )


def unquote(database: apsw.Connection, quotes: Callable[[str], bool]) -> None:
    """Clear in tasks, runs and events what holds a part of a redacted text; open tasks with it fail."""
    for seq, state, *texts in list(
        database.execute("SELECT seq, state, request, plan, result, message, progress FROM tasks")
    ):
        if quotes("\n".join(_strings(text) for text in texts if text)):
            database.execute(
                "UPDATE tasks SET request = NULL, plan = NULL, result = iif(result IS NULL, NULL, '{}'), progress = '',"
                " message = iif(code IS NULL, NULL, '') WHERE seq = ?",
                (seq,),
            )
            if state in OPEN:
                said = "What it was asked, or was to write, was removed on request."
                failed = "UPDATE tasks SET state = ?, code = 'E_REDACTED', message = ? WHERE seq = ?"
                database.execute(failed, (FAILED, said, seq))
    for seq, *texts in list(database.execute("SELECT seq, sent, reply, counts FROM runs")):
        if quotes("\n".join((*texts[:2], _strings(texts[2])))):
            database.execute("UPDATE runs SET sent = '', reply = '', counts = '{}' WHERE seq = ?", (seq,))


def _strings(text: str) -> str:
    """Return every string in JSON text, one a line; base64 of bytes decoded."""
    try:
        waiting, found = [json.loads(text)], list[str]()
    except ValueError:
        return text
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += [*one, *one.values()]
            if one.get("step") == "write":
                found.append(b64decode(one["data"]).decode("utf-8", "replace"))
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str):
            found.append(one)
    return "\n".join(found)
