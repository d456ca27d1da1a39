"""Lanes: what a kind plans is written once and whole, and every way a task can end leaves what it should."""

import errno
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine.ledger.creation import LATEST
from memtui.engine.model import Actor, Address, Write
from memtui.engine.proposal import Evidence
from memtui.engine.task import Run, Task, steps_json
from memtui.errors import BusyError, RefusedError, StorageError
from memtui.features.proposals.value import proposal
from memtui.features.tasks import lanes
from memtui.features.tasks.lanes import MAX_ATTEMPTS, work_off
from memtui.features.tasks.work import TaskContext, TaskPlan, Workspace, workspace_of
from memtui.wire.session import Options, Session, open_session
from tests.workbench.memories import failing

HERE = "tests.features.tasks.test_lanes:"
WORKS = {kind: HERE + kind for kind in ("remember", "dream", "forget")}


def remember(working: TaskContext) -> TaskPlan:
    """What the request says to do."""
    ask = working.task.request
    working.progress("at it")
    if "wait" in ask:
        Path(str(ask["wait"])).touch()
        deadline = threading.Event()
        while not working.cancelled():
            deadline.wait(0.01)
    if "fault" in ask:
        raise ZeroDivisionError("by zero")
    if "refuse" in ask:
        raise RefusedError("No.", code="E_TEXT", hint="Else.")
    if "busy" in ask:
        raise BusyError("Locked.")
    writes: dict[str, str] = ask.get("files", {})  # type: ignore[assignment]
    steps = tuple(Write(Address("notes", path), text.encode(), None) for path, text in writes.items())
    ids = (f"run-{working.task.id}", working.task.id, "remember", working.workspace.id)
    run = Run(*ids, "manual", "none", "", "", "completed", {}, working.now, 0)
    proposals = [
        proposal(working.engine, kind="note", steps=(), by="rule:test", why=why, evidence=[Evidence("request", "t")])
        for why in ask.get("suggest", [])  # type: ignore[attr-defined]
    ]
    return TaskPlan(steps, Actor("cli"), "remember", {"addresses": list(writes)}, tuple(proposals), run)


dream = forget = remember


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setattr(lanes, "works", lambda: WORKS)
    (tmp_path / "notes").mkdir()
    found = opened(tmp_path)
    yield found
    found.engine.close()


def opened(tmp_path: Path) -> Session:
    options = Options(roots=(f"notes={tmp_path}/notes",), only_roots=True)
    return open_session(load_settings(read_environment()), options, lock_wait=5)


def lane(session: Session) -> Workspace:
    return workspace_of(session.surroundings)


def ask(session: Session, kind: str = "remember", client: str = "cli", **request: Any) -> Task:
    return session.engine.tasks.enqueue(kind, lane(session).id, client, request, trigger="manual")


def work(session: Session, stop: Callable[[], bool] = lambda: False) -> int:
    return work_off(session, workspace=lane(session), stop=stop)


def code_of(session: Session, task: Task) -> str:
    error = now(session, task).error
    return error[0] if error else ""


def now(session: Session, task: Task) -> Task:
    return session.engine.tasks.get(task.id)


def files(tmp_path: Path) -> Mapping[str, str]:
    return {path.name: path.read_text() for path in (tmp_path / "notes").iterdir()}


def configure(session: Session, text: str) -> None:
    Path(session.settings.config_file).parent.mkdir(parents=True, exist_ok=True)
    Path(session.settings.config_file).write_text(text)


def test_the_lane_is_the_project_folder_by_its_real_path(session: Session, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(session.surroundings.project)
    by_link = workspace_of(session.surroundings._replace(project=str(link)))
    assert by_link == lane(session)
    assert (len(by_link.id), by_link.name) == (16, "work")


def test_what_is_planned_is_one_step_of_undo(session: Session, tmp_path: Path) -> None:
    task = ask(session, files={"a.md": "a", "b.md": "b"})
    assert work(session) == 1
    done = now(session, task)
    assert (done.state, done.result, done.txn) == (
        "completed",
        {"addresses": ["a.md", "b.md"]},
        session.engine.undo.next(),
    )
    assert files(tmp_path) == {"a.md": "a", "b.md": "b"}
    assert [run.task for run in session.engine.tasks.runs()] == [task.id]
    session.engine.undo.undo(actor=Actor("cli"))
    assert files(tmp_path) == {}
    assert work(session) == 0


def test_what_is_suggested_waits_once_with_the_task_that_did(session: Session) -> None:
    first, second = ask(session, suggest=["one", "two"], files={"a.md": "a"}), ask(session, suggest=["two"])
    work(session)
    one, two = session.engine.proposals.all()
    assert [one.why, two.why] == ["one", "two"]
    assert now(session, first).result == {"addresses": ["a.md"], "proposals": [one.id, two.id]}
    assert now(session, second).result == {"addresses": [], "proposals": [two.id]}


def test_nothing_to_write_is_done_without_a_step(session: Session) -> None:
    task = ask(session)
    work(session)
    assert (now(session, task).state, now(session, task).txn) == ("completed", None)
    assert session.engine.undo.next() is None


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"refuse": 1}, ("E_TEXT", "No. Else.")),
        ({"fault": 1}, ("E_INTERNAL", "A fault of memtui's own: ZeroDivisionError: by zero")),
        ({"files": {"../x.md": "x"}}, None),
    ],
)
def test_what_fails_says_so_keeps_its_text_and_stops_nothing_else(
    session: Session, tmp_path: Path, request_: dict[str, Any], error: tuple[str, str] | None
) -> None:
    bad, good = ask(session, **request_), ask(session, files={"a.md": "a"})
    assert work(session) == 2
    ended = now(session, bad)
    assert (ended.state, ended.request) == ("failed", request_)
    assert ended.error
    assert ended.error == (error or ended.error)
    assert now(session, good).state == "completed"
    assert files(tmp_path) == {"a.md": "a"}


def test_a_memory_that_came_meanwhile_is_kept(session: Session, tmp_path: Path) -> None:
    (tmp_path / "notes" / "a.md").write_text("theirs")
    task = ask(session, files={"b.md": "b", "a.md": "ours"})
    work(session)
    assert now(session, task).error is not None
    assert files(tmp_path) == {"a.md": "theirs"}


def test_what_is_locked_is_tried_again_later_and_not_for_ever(session: Session) -> None:
    task = ask(session, busy=1)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        assert now(session, task).state == "queued"
        session.engine.tasks._change(task.id, "not_before = 0", (), "1", ())
        work(session)
        assert now(session, task).attempt == attempt
    ended = now(session, task)
    assert (ended.state, ended.error and ended.error[0]) == ("failed", "E_LOCKED")


def test_cancelling_a_running_task_ends_it_and_nothing_is_written(session: Session, tmp_path: Path) -> None:
    task = ask(session, wait=str(tmp_path / "begun"), files={"a.md": "a"})
    worker = threading.Thread(target=work, args=(session,))
    worker.start()
    while not (tmp_path / "begun").exists():
        worker.join(0.01)
    assert now(session, task).progress == "at it"
    session.engine.tasks.cancel(task.id)
    worker.join()
    assert now(session, task).state == "cancelled"
    assert files(tmp_path) == {}


def test_ending_memtui_lets_a_task_wait_again(session: Session, tmp_path: Path) -> None:
    task = ask(session, wait=str(tmp_path / "begun"))
    assert work(session, (tmp_path / "begun").exists) == 0
    assert (now(session, task).state, now(session, task).attempt) == ("queued", 0)


@pytest.mark.parametrize(
    ("config", "kind", "code"),
    [
        ("lifecycle.enabled = false", "remember", "E_DISABLED"),
        ('lifecycle.dream = "off"', "dream", "E_DISABLED"),
        ("lifecycle = 3", "remember", "E_CONFIG"),
        ("", "extract", "E_TASK"),
    ],
)
def test_what_is_switched_off_or_unknown_fails(session: Session, config: str, kind: str, code: str) -> None:
    task = ask(session, kind)
    configure(session, config)
    work(session)
    assert code_of(session, task) == code


@pytest.mark.parametrize(("text", "code"), [("lifecycle.enabled = false", "E_DISABLED"), ("lifecycle = [", "E_CONFIG")])
def test_switching_off_ends_what_runs(session: Session, tmp_path: Path, text: str, code: str) -> None:
    task = ask(session, wait=str(tmp_path / "begun"), files={"a.md": "a"})
    worker = threading.Thread(target=work, args=(session,))
    worker.start()
    while not (tmp_path / "begun").exists():
        worker.join(0.01)
    configure(session, text)
    worker.join()
    assert code_of(session, task) == code
    assert files(tmp_path) == {}


def test_what_a_client_may_do_counts_when_it_is_done(session: Session, tmp_path: Path) -> None:
    task = ask(session, client="http:page", files={"a.md": "a"})
    configure(session, 'access.page = "ro"')
    work(session)
    assert code_of(session, task) == "E_ACCESS"
    assert files(tmp_path) == {}


@pytest.mark.parametrize(("stopping", "state"), [(False, "completed"), (True, "cancelled")])
def test_what_a_dead_process_left_is_done_or_ended(session: Session, stopping: bool, state: str) -> None:
    task = ask(session)
    session.engine.tasks.start(task.id)
    if stopping:
        session.engine.tasks.cancel(task.id)
    assert work(session) == 1
    assert now(session, task).state == state


def test_what_was_written_whole_is_not_written_again(session: Session, tmp_path: Path) -> None:
    """Its process died just before the end; somebody has changed the memory since."""
    task, engine = ask(session), session.engine
    steps = (Write(Address("notes", "a.md"), b"a", None),)
    engine.tasks.start(task.id)
    plan = {"steps": json.loads(steps_json(steps)), "actor": "cli", "label": "remember", "result": {}}
    engine.tasks.keep_plan(task.id, json.dumps(plan))
    done = engine.together.do(steps, actor=Actor("cli"), label="remember", cause=task.id)
    (tmp_path / "notes" / "a.md").write_text("theirs")
    assert work(session) == 1
    assert (now(session, task).state, now(session, task).txn) == ("completed", done.txn)
    assert files(tmp_path) == {"a.md": "theirs"}


def test_what_kills_every_process_is_given_up(session: Session) -> None:
    task = ask(session)
    for _ in range(MAX_ATTEMPTS):
        session.engine.tasks.start(task.id)
    work(session)
    assert now(session, task).state == "failed"


def full(session: Session) -> Callable[[], object]:
    """Let the ledger have no more pages; returns what gives it more."""
    database = session.engine._ledger.connection()
    (pages,) = next(iter(database.execute("PRAGMA page_count")))
    database.execute(f"PRAGMA max_page_count={pages}")
    return lambda: database.execute("PRAGMA max_page_count=1000000")


def test_a_full_disk_refuses_what_is_asked_and_what_is_planned_waits(session: Session, tmp_path: Path) -> None:
    task = ask(session, files={"a.md": "a" * 50_000})
    more = full(session)
    with pytest.raises(StorageError) as caught:
        ask(session, content="x" * 50_000)
    assert caught.value.code == "E_DISK_FULL"
    assert len(session.engine.tasks.all()) == 1
    for _ in range(MAX_ATTEMPTS + 1):
        with pytest.raises(StorageError):
            work(session)
        assert (now(session, task).state, now(session, task).attempt) == ("queued", 0)
        more()
        session.engine.tasks._change(task.id, "not_before = 0", (), "1", ())
        more = full(session)
    more()
    assert work(session) == 1
    assert now(session, task).state == "completed"
    assert files(tmp_path) == {"a.md": "a" * 50_000}


def test_a_full_disk_refuses_what_is_planned_and_keeps_the_text(session: Session, tmp_path: Path) -> None:
    task = ask(session, files={"a.md": "a", "b.md": "b"}, content="Keep both.")
    with failing(errno.ENOSPC, "link", "rename", "rename_noreplace", of="b.md"):
        work(session)
    assert (now(session, task).state, code_of(session, task)) == ("failed", "E_DISK_FULL")
    assert files(tmp_path) == {}, "half of it was taken back"
    assert now(session, task).request["content"] == "Keep both."
    session.engine.tasks.retry(task.id)
    assert work(session) == 1
    assert files(tmp_path) == {"a.md": "a", "b.md": "b"}


def test_a_ledger_of_a_newer_memtui_takes_no_task_and_shows_those_there_are(session: Session, tmp_path: Path) -> None:
    task = ask(session, files={"a.md": "a"})
    session.engine._ledger.connection().execute(f"PRAGMA user_version={LATEST + 1}")
    session.engine.close()
    newer = opened(tmp_path)
    with pytest.raises(StorageError) as caught:
        ask(newer)
    assert caught.value.code == "E_STORE"
    assert [one.id for one in newer.engine.tasks.all()] == [task.id]
    with pytest.raises(StorageError):
        work(newer)
    assert files(tmp_path) == {}
    newer.engine.close()


def test_read_only_works_nothing_off(session: Session, tmp_path: Path) -> None:
    ask(session, files={"a.md": "a"})
    options = session.options._replace(read_only=True)
    looking = open_session(session.settings, options, lock_wait=5)
    assert work(looking) == 0
    assert files(tmp_path) == {}
    looking.engine.close()


def test_one_lane_has_one_worker_and_another_goes_on(session: Session, tmp_path: Path) -> None:
    task = ask(session)
    with session.engine.tasks.lane(lane(session).id), session.engine.tasks.lane("other"):
        assert work(session) == 0
        assert now(session, task).state == "queued"
        elsewhere = Workspace("elsewhere", "elsewhere", "/")
        session.engine.tasks.enqueue("remember", elsewhere.id, "cli", {}, trigger="manual")
        assert work_off(session, workspace=elsewhere, stop=lambda: False) == 1
