"""Tasks in their lanes, the runs they led to, and what followers are told: all that must survive whoever works.

A lane is worked by the one process that holds its lock; what is `running` while nobody holds it was a dead process's.
It is apart so that a command that queues nothing loads none of it.
"""

import json
import os
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256

import apsw

from memtui.engine.disk import locks
from memtui.engine.ledger.activity import taken_back
from memtui.engine.ledger.database import DAY_MS, Database, LedgerTable, Row, checked, new_id
from memtui.engine.ledger.proposals import ProposalTable
from memtui.engine.ledger.touches import CursorTable, SessionCursor
from memtui.engine.proposal import WAITING, Proposal
from memtui.engine.task import CANCELLED, COMPLETED, ENDED, FAILED, OPEN, QUEUED, RUNNING, Cause, Run, Task, TaskEvent
from memtui.errors import BusyError, ConflictError, NotFoundError

KEPT, KEPT_MS, TEXT_MS = 1_000, 30 * DAY_MS, 7 * DAY_MS
"""Tasks of a workspace that are kept, how long ended ones are, and for how long what one that failed was asked."""
KEPT_RUNS, KEPT_EVENTS = 200, 1_000
"""Runs of one kind in a workspace; events."""
KEY_MS = DAY_MS
"""For how long the same key means the same task."""
WAITING_MOST, BACKGROUND_MOST = 16, 8
"""Tasks of a workspace that may wait and run; how many of them may be anything but `remember`."""
TIMED, TIMED_MOST = ("scheduled", "deliver"), 500
"""Kinds that wait for their time, which takes no room from what somebody waits for; how many of them may wait."""

_HOW = "json_patch('{}', json_object('contextMode', request ->> 'contextMode', 'scope', request ->> 'scope'))"
"""Of a request only how it was asked, which stays with what came of it."""
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
        """How far agents' session files were read."""
        self.clock = database.clock
        """Milliseconds since the epoch."""

    # --- what is asked

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
        most: int = WAITING_MOST,
        most_background: int = BACKGROUND_MOST,
    ) -> Task:
        """Put a request of JSON values into a lane, durably; due at `not_before`, in milliseconds.

        It is of the turn that the door's session executes, also where others work it off: `turn` of the request.

        Returns:
            The task; the one that is there already for the same key of a client within a day, for a dream while one
                waits or runs, and for an extract that waits with the same request.

        Raises:
            BusyError: `E_QUEUE_FULL`. ConflictError: `E_TASK`, another request has the key.
            StorageError: it cannot be kept; nothing was queued.
        """
        text, now = _json(request), self._database.clock()
        digest = sha256(f"{kind}\0{text}".encode()).hexdigest()
        with self._database.transaction() as db:
            met = self._met(kind, workspace, client, key, digest, now)
            if met is not None:
                return met
            self._refuse_full(kind, workspace, most, most_background)
            task = f"{kind}-{new_id()}"
            if turn := self._proposals.turn(db):
                text = _json({**request, "turn": turn})
            db.execute(
                "INSERT INTO tasks (id, workspace, kind, state, client, trigger, request, digest, key, created,"
                " updated, not_before) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (task, workspace, kind, QUEUED, client, trigger, text, digest, key, now, now, not_before),
            )
            return self._tell(db, task)

    def _met(self, kind: str, workspace: str, client: str, key: str | None, digest: str, now: int) -> Task | None:
        if key is not None:
            same = self._find(
                "workspace = ? AND client = ? AND key = ? AND created > ?", workspace, client, key, now - KEY_MS
            )
            if same is not None and not self._find("id = ? AND digest = ?", same.id, digest):
                raise ConflictError(
                    f"The key {key!r} was used for another request within a day.",
                    code="E_TASK",
                    hint="Use a new key for a new request.",
                )
            if same is not None:
                return same
        due = "workspace = ? AND kind = ? AND not_before <= ?"
        if kind == "dream":
            return self._find(f"{due} AND state IN (?, ?)", workspace, kind, now, *OPEN)
        if kind == "extract":
            return self._find(f"{due} AND state = ? AND digest = ?", workspace, kind, now, QUEUED, digest)
        return None

    def _refuse_full(self, kind: str, workspace: str, most: int, most_background: int) -> None:
        if kind in TIMED:
            most = most_background = TIMED_MOST
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
        """The task of this id.

        Raises:
            NotFoundError: `E_TASK`.
        """
        row = self._database.glance(f"SELECT {_TASK} FROM tasks WHERE id = ?", (task,), kinds=_TASK_KINDS)
        if row is None:
            raise NotFoundError(f"There is no task {task}.", code="E_TASK", hint="`memtui tasks` lists them.")
        return _task(row)

    @checked
    def all(self, workspace: str | None = None, states: Collection[str] = (), *, limit: int = 200) -> tuple[Task, ...]:
        """Tasks of a lane or of all, in some states or in any, the newest first."""
        where, values = ["1"], list[str | int]()
        if workspace is not None:
            where, values = ["workspace = ?"], [workspace]
        if states:
            where.append(f"state IN ({', '.join('?' * len(states))})")
            values += states
        return self._tasks(f"{' AND '.join(where)} ORDER BY seq DESC LIMIT ?", *values, limit)

    @checked
    def next_due(self, workspace: str, now: int) -> Task | None:
        """What is to be done next in a lane: what somebody waits for before what nobody does, older before newer."""
        return self._find(
            "workspace = ? AND state = ? AND not_before <= ?"
            " ORDER BY kind IN ('extract', 'dream', 'scheduled', 'deliver'), seq",
            workspace,
            QUEUED,
            now,
        )

    @contextmanager
    def at_hand(self) -> Iterator[bool]:
        """Keep this process's other threads from the ledger for a block, if none is at it; says whether that is so."""
        guard = self._database.guard
        free = guard.acquire(blocking=False)
        try:
            yield free
        finally:
            if free:
                guard.release()

    # --- what whoever holds the lane does

    def lane(self, workspace: str, who: str = "memtui") -> AbstractContextManager[bool]:
        """Hold a lane for a block if nobody else does; says whether it is held."""
        return locks.alone(self._locks, f"lane-{workspace}", who=who)

    def is_worked_on(self, workspace: str) -> bool:
        """Whether somebody says that they hold a lane."""
        return locks.is_signed(self._locks, f"lane-{workspace}")

    def start(self, task: str) -> Task | None:
        """Take a task that waits, or that a dead process left running; None when it has ended meanwhile."""
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
        """Keep what is to be written, before it is, and what is suggested; no when the task was cancelled meanwhile.

        The ids of the proposals that wait now are in the result, as `proposals`. `read` is how far session files were
        read for them: consumer, file and place.
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
        """Say how far it is."""
        self._change(task, "progress = ?", (text,), "state = ?", (RUNNING,), durable=False, tell=False)

    def is_stopping(self, task: str) -> bool:
        """Whether a task that runs was cancelled, or ended by somebody else."""
        runs = "SELECT 1 FROM tasks WHERE id = ? AND state = ? AND NOT stopping"
        return self._database.glance(runs, (task, RUNNING)) is None

    def put_back(self, task: str, not_before: int, *, counted: bool) -> None:
        """Let a task wait again, with its plan if it has one; `counted` says whether this was an attempt."""
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
        """End a task, in one transaction with its event; one that has ended stays as it is.

        The text of what was asked goes with success, and stays for `TEXT_MS` for another try otherwise. Followers are
        told `touchedScopes` of the result; `error` is a code and a sentence, `txn` the undo step it wrote.
        """
        code, message = error or (None, None)
        with self._database.transaction() as db:
            found = self.get(task)
            if found.state in ENDED:
                return found
            _prune(db, found.workspace, self._database.clock())
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

    # --- what people do

    def cancel(self, task: str) -> Task:
        """End a task that waits, and ask one that runs to end; once its plan is kept it is carried out.

        Returns:
            The task as it is now; `stopping` when it will end.
        """
        said = ("E_STOPPED", "It was cancelled before it began.")
        with self._database.transaction():
            self.get(task)
            over = "state = ?, code = ?, message = ?, progress = ''"
            if not self._change(task, over, (CANCELLED, *said), "state = ? AND plan IS NULL", (QUEUED,)):
                self._change(task, "stopping = 1", (), "state = ? AND plan IS NULL", (RUNNING,))
            return self.get(task)

    def retry(self, task: str) -> Task:
        """Queue a task again that failed or was cancelled.

        Raises:
            ConflictError: `E_TASK`: it did neither, or what was asked is not kept any more.
            NotFoundError: `E_TASK`. BusyError: `E_QUEUE_FULL`.
        """
        with self._database.transaction():
            found = self.get(task)
            if found.state in (FAILED, CANCELLED):
                self._refuse_full(found.kind, found.workspace, WAITING_MOST, BACKGROUND_MOST)
            again = "state = ?, attempt = 0, not_before = 0, stopping = 0, code = NULL, message = NULL"
            here = "state IN (?, ?) AND request NOT NULL"
            queued = self._change(task, again, (QUEUED,), here, (FAILED, CANCELLED))
            if queued is None:
                why = f"Task {task} is {found.state}."
                if found.state in (FAILED, CANCELLED):
                    why = f"What task {task} asked for is not kept any more."
                raise ConflictError(why, code="E_TASK", hint="Ask for it anew.")
            return queued

    # --- runs and events

    def add_run(self, run: Run) -> None:
        """Keep a run; one that is there already by its id is replaced."""
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
                (run.workspace, run.kind, self._database.clock() - KEPT_MS, KEPT_RUNS),
            )

    @checked
    def runs(
        self, workspace: str | None = None, kind: str | None = None, limit: int = 50, *, task: str | None = None
    ) -> tuple[Run, ...]:
        """Runs, the newest first; of one lane, one kind, one task."""
        asked = {"workspace": workspace, "kind": kind, "task": task}
        chosen = {name: value for name, value in asked.items() if value is not None}
        where = " AND ".join(["1", *(f"{name} = ?" for name in chosen)])
        rows = self._database.rows(
            f"SELECT {_RUN} FROM runs WHERE {where} ORDER BY seq DESC LIMIT ?",
            (*chosen.values(), limit),
            kinds="ttttttttttii",
        )
        return tuple(Run(*row)._replace(counts=_mapping(row[9])) for row in rows)

    @checked
    def events_after(self, seq: int, limit: int = KEPT_EVENTS) -> tuple[TaskEvent, ...]:
        """What happened after an event, oldest first; of what is kept."""
        found = self._database.rows(
            "SELECT seq, at, kind, client, payload FROM task_events WHERE seq > ? ORDER BY seq LIMIT ?",
            (seq, limit),
            kinds="iittt",
        )
        return tuple(TaskEvent(number, at, kind, client, _mapping(text)) for number, at, kind, client, text in found)

    def last_event(self) -> int:
        """The number of the newest event; 0 for none."""
        found = self._database.glance("SELECT coalesce(max(seq), 0) FROM task_events")
        return int(found[0]) if found else 0

    @checked
    def transaction_of(self, cause: str) -> Cause | None:
        """What was written for a task or a run, whole or in part; None when nothing stands that was."""
        found = self._database.row(
            "SELECT id, whole, actor FROM txns WHERE cause = ? AND (whole OR (effective AND NOT undone))"
            " ORDER BY whole DESC, id DESC",
            (cause,),
            kinds="ift",
        )
        return None if found is None else Cause(str(found[0]), *found[1:])

    # --- inside

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
        """Change a task that is in a state, and tell; None when it is not in it."""
        with self._database.transaction(durable=durable) as db:
            db.execute(
                f"UPDATE tasks SET {what}, updated = max(updated, ?) WHERE id = ? AND {when}",
                (*values, self._database.clock(), task, *known),
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
            (self._database.clock(), now.client, _json(payload)),
        )
        db.execute("DELETE FROM task_events WHERE seq <= ?", (db.last_insert_rowid() - KEPT_EVENTS,))
        return now

    def _find(self, where: str, *values: str | int) -> Task | None:
        found = self._tasks(f"{where} LIMIT 1", *values)
        return found[0] if found else None

    def _tasks(self, where: str, *values: str | int) -> tuple[Task, ...]:
        rows = self._database.rows(f"SELECT {_TASK} FROM tasks WHERE {where}", values, kinds=_TASK_KINDS)
        found = tuple(map(_task, rows))
        wrote = [int(task.txn) for task in found if task.txn is not None]
        back = taken_back(self._database, min(wrote)) if wrote else ()
        return tuple(task._replace(undone=task.txn is not None and int(task.txn) in back) for task in found)


def _task(row: Row) -> Task:
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
    """Remove old ended tasks, and what others were asked that nobody will try again."""
    ended = f"state IN ({', '.join(repr(state) for state in ENDED)})"
    db.execute(f"UPDATE tasks SET request = NULL WHERE {ended} AND request NOT NULL AND updated < ?", (now - TEXT_MS,))
    db.execute(f"DELETE FROM tasks WHERE {ended} AND updated < ?", (now - KEPT_MS,))
    ((count,),) = db.execute("SELECT count(*) FROM tasks WHERE workspace = ?", (workspace,))
    if count > KEPT:
        db.execute(
            "DELETE FROM tasks WHERE seq IN"
            f" (SELECT seq FROM tasks WHERE workspace = ? AND {ended} ORDER BY seq LIMIT ?)",
            (workspace, count - KEPT),
        )


def unquote(database: apsw.Connection, quotes: Callable[[str], bool]) -> None:
    """Take out of tasks, runs and events what holds a part of a text that is redacted; open tasks with it fail."""
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
    """Everything that JSON text says, in lines; base64 of bytes as what it stands for."""
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
