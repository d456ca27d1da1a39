"""Remembering as a task of a client: its access counts when it is done, and its request is read strictly."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine.model import Address
from memtui.engine.observation import ObservationMark
from memtui.engine.task import Task
from memtui.features.remember.work import KIND, RememberRequest, request_of, wanted_of
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.work import workspace_of
from memtui.wire.session import Options, Session, open_session

TEXT = "Never mock the database"


@pytest.fixture
def session() -> Iterator[Session]:
    found = open_session(load_settings(read_environment()), Options(only_roots=True), lock_wait=5)
    yield found
    found.engine.close()


def done(session: Session, request: dict[str, object], client: str = "http:page") -> Task:
    """Ask, and have it done."""
    lane = workspace_of(session.surroundings)
    task = session.engine.tasks.enqueue(KIND, lane.id, client, request, trigger="manual")
    assert work_off(session, workspace=lane, stop=lambda: False) == 1
    return session.engine.tasks.get(task.id)


def outcome(task: Task) -> object:
    """What came of it, or the code of why nothing did."""
    return (task.result or {}).get("outcome") if task.error is None else task.error[0]


def test_what_a_client_may_not_read_is_not_told_and_what_it_may_not_write_is_not_written(session: Session) -> None:
    config = Path(session.settings.config_file)
    config.parent.mkdir(parents=True, exist_ok=True)
    assert outcome(done(session, request_of(RememberRequest(TEXT, "global")))) == "saved"
    assert outcome(done(session, request_of(RememberRequest(TEXT)))) == "known"
    config.write_text('[access."http:page"]\nglobal = "off"\n', encoding="utf-8")
    assert outcome(done(session, request_of(RememberRequest(TEXT, "project")))) == "saved"
    assert outcome(done(session, request_of(RememberRequest("Another text", "global")))) == "E_NO_ROOT"
    assert outcome(done(session, request_of(RememberRequest("Another text", to="memtui:global")))) == "E_ACCESS"
    assert outcome(done(session, request_of(RememberRequest("Another text", "global")), "cli")) == "saved"


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({}, "E_USAGE"),
        ({"content": 7}, "E_USAGE"),
        ({"content": TEXT, "contextMode": "Clean"}, "E_USAGE"),
        ({"content": TEXT, "scope": "root"}, "E_USAGE"),
        ({"content": TEXT, "type": "secret"}, "E_USAGE"),
        ({"content": TEXT, "root": "../x"}, "E_NO_ROOT"),
        ({"content": "password: hunter2-hunter2-9"}, "E_SECRET"),
    ],
)
def test_a_request_that_is_none_fails_with_a_code(session: Session, request_: dict[str, object], code: str) -> None:
    assert outcome(done(session, request_)) == code


def test_a_request_says_what_was_asked() -> None:
    wanted = RememberRequest(TEXT, "user", "n", "project", clean=True)
    assert wanted_of(request_of(wanted)) == wanted
    kept = request_of(RememberRequest("password: hunter2-hunter2-9"), secrets=True)
    assert wanted_of(kept).text == "password: hunter2-hunter2-9"


def test_it_is_one_step_of_undo_recorded_for_who_asked(session: Session) -> None:
    task = done(session, request_of(RememberRequest(TEXT, "global")))
    (record,) = session.engine.history.audit(txn=task.txn)
    assert (record.actor, record.operation) == ("http:page", "created")
    session.engine.undo.undo(actor=session.options.actor)
    assert session.engine.rows.some([Address("memtui:global", record.address.path)]) == {}


def test_only_a_person_is_told_that_a_withheld_memory_says_it(session: Session) -> None:
    done(session, request_of(RememberRequest(TEXT, "global")))
    (row,) = session.engine.rows.list(["memtui:global"]).items
    (uid,) = (uid for uid, name in session.engine.roots.names().items() if name == "memtui:global")
    mark = ObservationMark(b"n" * 10, 0, uid, row.address.path, b"", b"k" * 10, b"", 1)
    session.engine.observations.put(mark, actor="cli")
    assert outcome(done(session, request_of(RememberRequest(TEXT, "global")), "cli")) == "known"
    assert outcome(done(session, request_of(RememberRequest(TEXT, "global")))) == "saved"
