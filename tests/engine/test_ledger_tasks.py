"""Tasks in the ledger: what a lane takes, what becomes of a task, and what is kept of it for how long."""

import re
import threading
from collections.abc import Iterator

import pytest

from memtui.engine import Engine
from memtui.engine.ledger.tasks import MAX_EVENTS, MAX_RUNS, MAX_TASKS, TaskTable
from memtui.engine.model import Write
from memtui.engine.task import Run, Task, steps_json
from memtui.errors import BusyError, ConflictError, MemtuiError, NotFoundError
from tests.conftest import Clock
from tests.faults.world import ME, World, at, sha

LANE, OTHER = "0123456789abcdef", "fedcba9876543210"
TEXT = {"content": "The ferry code is tango-4711"}


@pytest.fixture
def engine(world: World, clock: Clock) -> Iterator[Engine]:
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        yield engine


@pytest.fixture
def tasks(engine: Engine) -> TaskTable:
    return engine.tasks


def ask(tasks: TaskTable, kind: str = "remember", lane: str = LANE, **rest: object) -> Task:
    given: dict[str, object] = {"request": TEXT, "trigger": "manual", **rest}
    return tasks.enqueue(kind, lane, "cli", **given)  # type: ignore[arg-type]


def test_a_request_survives_its_process_and_is_told(world: World, engine: Engine) -> None:
    task = ask(engine.tasks)
    assert (task.state, task.request, task.client, task.attempt, task.plan) == ("queued", TEXT, "cli", 0, None)
    assert re.fullmatch("remember-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", task.id)
    (event,) = engine.tasks.events_after(0)
    assert (event.kind, event.client, event.payload["task"], event.payload["state"]) == (
        "task",
        "cli",
        task.id,
        "queued",
    )
    assert "ferry" not in str(event)
    with world.engine() as other:
        assert other.tasks.get(task.id) == task
        with pytest.raises(NotFoundError) as caught:
            other.tasks.get("remember-../x")
        assert caught.value.code == "E_TASK"


def test_the_ledger_is_at_hand_unless_a_thread_is_at_it(tasks: TaskTable) -> None:
    task, met, go_on = ask(tasks), threading.Event(), threading.Event()

    def keep() -> None:
        with tasks.at_hand() as free:
            assert free
            met.set()
            go_on.wait(60)

    thread = threading.Thread(target=keep)
    thread.start()
    assert met.wait(60)
    with tasks.at_hand() as free:
        assert not free
    go_on.set()
    thread.join()
    with tasks.at_hand() as free:
        assert free
        assert tasks.get(task.id) == task


def test_a_full_lane_takes_no_more_and_others_do(tasks: TaskTable) -> None:
    for _ in range(8):
        ask(tasks, "forget")
    with pytest.raises(BusyError) as caught:
        ask(tasks, "forget")
    assert caught.value.code == "E_QUEUE_FULL"
    for _ in range(8):
        ask(tasks)
    with pytest.raises(BusyError):
        ask(tasks)
    assert len(tasks.all(LANE)) == 16
    ask(tasks, lane=OTHER)


def test_the_same_key_is_the_same_task_for_a_day(tasks: TaskTable, clock: Clock) -> None:
    first = ask(tasks, key="a")
    tasks.finish(first.id, "completed", result={})
    assert ask(tasks, key="a").id == first.id
    with pytest.raises(ConflictError) as caught:
        ask(tasks, key="a", request={"content": "else"})
    assert caught.value.code == "E_TASK"
    clock.advance(days=1, seconds=1)
    assert ask(tasks, key="a").id != first.id


def test_one_dream_and_one_extract_behind_the_one_that_runs(tasks: TaskTable) -> None:
    dream = ask(tasks, "dream")
    tasks.start(dream.id)
    assert ask(tasks, "dream").id == dream.id
    extract = ask(tasks, "extract")
    tasks.start(extract.id)
    trailing = ask(tasks, "extract")
    assert trailing.id != extract.id
    assert ask(tasks, "extract").id == trailing.id
    assert ask(tasks, "extract", request={"session": "else"}).id != trailing.id


def test_what_somebody_waits_for_is_due_first_and_nothing_before_its_time(tasks: TaskTable, clock: Clock) -> None:
    dream = ask(tasks, "dream")
    later = ask(tasks, not_before=clock() + 1)
    first, second = ask(tasks), ask(tasks)
    order = []
    while (due := tasks.next_due(LANE, clock())) is not None:
        order.append(due.id)
        tasks.finish(due.id, "completed")
    assert order == [first.id, second.id, dream.id]
    assert tasks.next_due(OTHER, clock() + 1) is None
    clock.advance(seconds=1)
    assert tasks.next_due(LANE, clock()) == later


@pytest.mark.parametrize("days", [-1, 365])
def test_a_clock_that_jumps_changes_no_order_and_no_time_goes_back(tasks: TaskTable, clock: Clock, days: float) -> None:
    first = ask(tasks)
    clock.advance(days=days)
    second = ask(tasks)
    assert [tasks.next_due(LANE, clock()), tasks.get(second.id).seq > first.seq] == [first, True]
    done = tasks.finish(first.id, "completed")
    assert done.updated >= done.created


def test_cancel_ends_what_waits_and_asks_what_runs_until_its_plan_is_kept(tasks: TaskTable) -> None:
    waits, runs, planned = ask(tasks), ask(tasks), ask(tasks)
    assert tasks.cancel(waits.id).state == "cancelled"
    tasks.start(runs.id)
    assert not tasks.is_stopping(runs.id)
    assert tasks.cancel(runs.id).stopping
    assert tasks.is_stopping(runs.id)
    assert not tasks.keep_plan(runs.id, "{}")
    tasks.start(planned.id)
    assert tasks.keep_plan(planned.id, "{}")
    assert not tasks.cancel(planned.id).stopping
    assert tasks.finish(planned.id, "completed").state == "completed"
    assert tasks.cancel(planned.id).state == "completed"


def test_what_was_asked_goes_with_success_and_stays_a_week_for_another_try(tasks: TaskTable, clock: Clock) -> None:
    good, bad = ask(tasks), ask(tasks)
    assert tasks.finish(good.id, "completed", result={"summary": "Saved."}).request == {}
    assert tasks.finish(bad.id, "failed", error=("E_REPLY", "No JSON.")).request == TEXT
    with pytest.raises(ConflictError):
        tasks.retry(good.id)
    clock.advance(days=6)
    again = tasks.retry(bad.id)
    assert (again.state, again.request, again.error, again.attempt) == ("queued", TEXT, None, 0)
    tasks.finish(bad.id, "failed", error=("E_REPLY", "No JSON."))
    clock.advance(days=7, seconds=1)
    tasks.finish(ask(tasks).id, "completed")
    assert tasks.get(bad.id).request == {}
    with pytest.raises(ConflictError, match="not kept"):
        tasks.retry(bad.id)
    clock.advance(days=30)
    tasks.finish(ask(tasks).id, "completed")
    with pytest.raises(NotFoundError):
        tasks.get(bad.id)


def test_of_tasks_runs_and_events_only_so_many_are_kept(tasks: TaskTable) -> None:
    waiting = ask(tasks)
    for _ in range(MAX_TASKS + 1):
        tasks.finish(ask(tasks).id, "completed")
    assert len(tasks.all(LANE, limit=9_999)) == MAX_TASKS
    assert tasks.get(waiting.id) == waiting
    for number in range(MAX_RUNS + 1):
        tasks.add_run(Run(str(number), "", "dream", LANE, "auto", "none", "", "", "completed", {"n": number}, 0, 0))
    tasks.add_run(Run("x", "", "extract", LANE, "auto", "none", "", "", "completed", {}, tasks.clock(), 0))
    assert [run.id for run in tasks.runs(LANE)] == ["x"], "those of 1970 are older than any that is kept"
    assert len(tasks.events_after(0, 9_999)) == MAX_EVENTS
    assert tasks.events_after(tasks.last_event() - 1)[0].seq == tasks.last_event()


def test_a_run_is_kept_to_the_byte_and_replaced_by_its_id(tasks: TaskTable) -> None:
    run = Run("r1", "t", "dream", LANE, "manual", "claude", "a\r\n\x00é", "{\n}", "failed", {"n": 1}, tasks.clock(), 2)
    tasks.add_run(run._replace(reply=""))
    tasks.add_run(run)
    assert tasks.runs(task="t") == (run,)
    assert tasks.runs(task="other") == ()


def test_a_lane_has_one_holder(world: World, tasks: TaskTable) -> None:
    with world.engine() as other, tasks.lane(LANE) as held:
        assert held
        with other.tasks.lane(LANE) as second, other.tasks.lane(OTHER) as elsewhere:
            assert (second, elsewhere) == (False, True)
        assert "memtui-lock" not in [thread.name for thread in threading.enumerate()], "nobody waits for it"
    with tasks.lane(LANE) as again:
        assert again


def test_the_ledger_knows_what_was_written_for_a_task(engine: Engine) -> None:
    assert engine.tasks.transaction_of("t1") is None
    engine.together.do([Write(at("a.md"), b"a\n", None)], actor=ME, label="save", cause="t1")
    cause = engine.tasks.transaction_of("t1")
    assert cause == (engine.undo.next(), True, ME.name)
    engine.undo.undo(actor=ME)
    assert engine.tasks.transaction_of("t1") == cause, "what a person took back is not done again"
    with pytest.raises(MemtuiError):
        engine.together.do([Write(at("../x"), b"", None)], actor=ME, label="save", cause="t2")
    assert engine.tasks.transaction_of("t2") is None


def test_half_of_what_was_written_is_taken_back_and_is_nothing_then(world: World, engine: Engine) -> None:
    engine.together.do([Write(at("a.md"), b"a\n", None)], actor=ME, label="save", cause="t1")
    engine._ledger.connection().execute("UPDATE txns SET whole = 0")  # as a process leaves it that dies before the end
    cause = engine.tasks.transaction_of("t1")
    assert cause is not None
    assert not cause.whole
    assert engine.together.take_back("t1") == frozenset()
    assert (engine.tasks.transaction_of("t1"), world.disk(), engine.undo.next()) == (None, {}, None)
    assert engine.together.take_back("t1") == frozenset()


def test_redaction_reaches_requests_plans_and_runs(engine: Engine) -> None:
    tasks, secret = engine.tasks, b"The ferry code is tango-4711\n"
    engine.memories.create(at("a.md"), secret, actor=ME)
    engine.memories.save(at("a.md"), b"no code\n", sha(secret), actor=ME)
    asked, planned, other = ask(tasks), ask(tasks, request={"n": 1}), ask(tasks, request={"content": "no such code"})
    tasks.start(planned.id)
    tasks.keep_plan(planned.id, f'{{"steps": {steps_json([Write(at("b.md"), secret, None)])}}}')
    for name, sent, reply in (("r1", "code is tango-4711", ""), ("r2", "", '{"a": "tango-4711"}'), ("r3", "x", "y")):
        tasks.add_run(
            Run(name, "", "remember", LANE, "manual", "claude", sent, reply, "completed", {}, tasks.clock(), 0)
        )
    engine.redaction.redact(at("a.md"), sha(secret), actor=ME, reason="a slip")
    for gone in (asked, planned):
        now = tasks.get(gone.id)
        assert (now.state, now.request, now.plan, now.error and now.error[0]) == ("failed", {}, None, "E_REDACTED")
    assert tasks.get(other.id) == other
    assert [(run.sent, run.reply) for run in tasks.runs()] == [("x", "y"), ("", ""), ("", "")]


def test_no_backup_keeps_what_was_asked_of_a_redacted_text(world: World, engine: Engine, clock: Clock) -> None:
    """The request is in the backup, and the version that somebody redacts is not."""
    ask(engine.tasks)
    engine.close()
    (backup,) = (world.state / "backups").iterdir()
    assert b"tango-4711" in backup.read_bytes()
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as again:
        secret = b"The ferry code is tango-4711\n"
        again.memories.create(at("a.md"), secret, actor=ME)
        again.memories.save(at("a.md"), b"no code\n", sha(secret), actor=ME)
        again.redaction.redact(at("a.md"), sha(secret), actor=ME, reason="a slip")
    assert not [path for path in world.state.rglob("*") if path.is_file() and b"tango-4711" in path.read_bytes()]


def test_a_damaged_ledger_is_mended_with_its_tasks_runs_and_events_each_once(world: World, engine: Engine) -> None:
    tasks = engine.tasks
    done, waits = ask(tasks), ask(tasks)
    txn = engine.together.do([Write(at("a.md"), b"a\n", None)], actor=ME, label="save", cause=done.id).txn
    tasks.finish(done.id, "completed", result={"addresses": ["notes/a.md"]}, txn=txn)
    tasks.add_run(
        Run("r", done.id, "remember", LANE, "manual", "none", "sent", "reply", "completed", {}, tasks.clock(), 0)
    )
    before = (tasks.all(), tasks.runs(), tasks.events_after(0), tasks.transaction_of(done.id))
    engine.close()
    ledger = world.state / "state.db"
    ledger.write_bytes(bytes(4096) + ledger.read_bytes()[4096:])
    with world.engine() as again:
        assert (again.tasks.all(), again.tasks.runs(), again.tasks.events_after(0)) == before[:3]
        assert again.tasks.transaction_of(done.id) == before[3]
        assert again.tasks.get(waits.id) == waits
        again.doctor.salvage(None)
        assert (again.tasks.all(), again.tasks.runs(), again.tasks.events_after(0)) == before[:3], (
            "what came back twice"
        )
