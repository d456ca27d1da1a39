"""tasks and status: what is listed, shown, ended and tried again, and what a prompt is told."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine.task import Run
from memtui.features.tasks.shown import format_value, summarize_result
from memtui.wire.session import Session
from tests.cli.conftest import Cli, Result
from tests.features.tasks.test_lanes import ask, lane, session, work

__all__ = ["session"]


@pytest.fixture
def run(cli: Cli, tmp_path: Path) -> Callable[..., Result]:
    return lambda *words, **rest: cli(*words, "--only-root", "--root", f"notes={tmp_path}/notes", **rest)


def test_tasks_are_listed_newest_first_of_this_project(session: Session, run: Callable[..., Result]) -> None:
    assert run("tasks").out == ""
    ask(session, files={"a.md": "a"})
    bad = ask(session, refuse=1, content="Deploys go\n through staging")
    work(session)
    ask(session, content="Deploys go\n through \x1b]0;x\x07")
    session.engine.tasks.enqueue("dream", "elsewhere", "cli", {}, trigger="auto")
    rows = [line.split("\t") for line in run("tasks").lines]
    assert [row[1:4] for row in rows] == [
        ["queued", "remember", '"Deploys go through ␛]0;x␇"'],
        ["failed", "remember", "E_TEXT: No. Else."],
        ["done", "remember", "a.md"],
    ]
    assert run("tasks", "--all-projects", "--json").items[0]["kind"] == "dream"
    shown = run("tasks", "--json", "--limit", "2").items[1]
    assert (shown["id"], shown["error"], shown["request"]) == (
        bad.id,
        {"code": "E_TEXT", "message": "No. Else."},
        {"refuse": 1, "content": "Deploys go\n through staging"},
    )


def test_what_was_sent_and_replied_is_shown_to_the_byte(session: Session, run: Callable[..., Result]) -> None:
    task = ask(session, "dream")
    sent = "one\r\ntwo \x1b[31m é"
    at = session.engine.tasks.clock()
    kept = Run("r", task.id, "dream", lane(session).id, "manual", "claude", sent, "{}", "failed", {"n": 1}, at, at)
    session.engine.tasks.add_run(kept)
    (shown,) = json.loads(run("tasks", "show", task.id, "--json").raw)["runs"]
    assert (shown["sent"], shown["reply"], shown["counts"]) == (sent, "{}", {"n": 1})
    rows = [line.split("\t") for line in run("tasks", "show", str(task.seq)).lines]
    assert ["sent", "two ␛[31m é"] in rows
    assert ["run", "r: failed, worker claude, n 1"] in rows


def test_a_task_that_waits_is_cancelled_and_tried_again(
    session: Session, run: Callable[..., Result], tmp_path: Path
) -> None:
    task = ask(session, files={"a.md": "a"})
    assert run("tasks", "cancel", task.id[:14]).out == f"{task.id} is cancelled\n"
    assert run("tasks", "cancel", task.id).out == f"{task.id} is cancelled\n"
    assert work(session) == 0
    assert run("tasks", "retry", task.id, "--later").out.startswith(f"{task.id} queued")
    assert run("tasks", "cancel", task.id).status == 0
    again = run("tasks", "retry", task.id)
    assert (again.status, again.out) == (0, f"{task.id} done: a.md\n")
    assert (tmp_path / "notes" / "a.md").read_text() == "a"
    refused = run("tasks", "retry", task.id, "--json")
    assert (refused.status, refused.error["code"]) == (4, "E_TASK")


def test_an_agent_cancels_and_retries_only_what_it_asked_for_itself(
    session: Session, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    yours, lane_id = ask(session, files={"a.md": "a"}), lane(session).id
    its = session.engine.tasks.enqueue("remember", lane_id, "agent:claude-code", {"refuse": 1}, trigger="manual")
    monkeypatch.setenv("CLAUDECODE", "1")
    for action in ("cancel", "retry"):
        refused = run("tasks", action, yours.id, "--json")
        assert (refused.status, refused.error["code"]) == (5, "E_PERSON")
    assert run("tasks", "cancel", its.id).out == f"{its.id} is cancelled\n"
    assert run("tasks", "retry", its.id, "--later").status == 0
    assert session.engine.tasks.get(yours.id) == yours


def test_what_fails_again_has_its_own_exit_status(session: Session, run: Callable[..., Result]) -> None:
    task = ask(session, refuse=1)
    work(session)
    again = run("tasks", "retry", task.id)
    assert (again.status, "E_TEXT" in again.err) == (5, True)
    assert run("tasks", "retry", task.id, "--json").status == 5


@pytest.mark.parametrize("given", [("show", "dream-1"), ("show", "99"), ("cancel", "../x"), ("retry", "remember-")])
def test_what_is_no_task_is_said(session: Session, run: Callable[..., Result], given: tuple[str, str]) -> None:
    ask(session)
    ask(session)
    refused = run("tasks", *given, "--json")
    assert (refused.status, refused.error["code"]) == (4, "E_TASK")


def test_an_action_needs_a_task_and_read_only_changes_none(session: Session, run: Callable[..., Result]) -> None:
    assert run("tasks", "cancel").status == 2
    task = ask(session)
    assert run("tasks", "cancel", task.id, "--read-only").status == 5
    assert session.engine.tasks.get(task.id).state == "queued"


def test_status_says_how_the_lane_is_and_a_prompt_what_waits(session: Session, run: Callable[..., Result]) -> None:
    assert run("status", "--short").out == "\n"
    ask(session, files={"a.md": "a"})
    work(session)
    dream = ask(session, "dream")
    ask(session)
    assert run("status", "--short").out == "T2\n"
    session.engine.tasks.start(dream.id)
    session.engine.tasks.note_progress(dream.id, "2 of 3")
    assert run("status", "--short", "--json").json == {"waiting": {"tasks": "T2 dreaming"}}
    with session.engine.tasks.lane(lane(session).id):
        block = run("status", "--json").json["tasks"]
    assert isinstance(block, dict)
    assert block["workspace"] == lane(session).path
    assert (block["waiting"], block["running"], block["worked on now"]) == (1, ["dream 2 of 3"], True)
    assert block["done last"] == "remember: a.md"
    assert "tasks\tworked on now\tno" in run("status").lines


def test_status_says_since_when_a_worker_is_sent_texts(cli: Cli, config: Path) -> None:
    asked = json.loads(cli("status", "--json").raw)
    assert asked["tasks"]["lifecycle.worker"] == "none"
    assert (asked["dream"]["begins"], asked["dream"]["waits for"]) == ("when you ask", None)
    config.write_text('lifecycle.worker = "claude"\nlifecycle.apply = ["exact"]\n')
    first = json.loads(cli("status", "--json").raw)["tasks"]
    assert first["lifecycle.worker"].startswith("claude since 20")
    assert json.loads(cli("status", "--json").raw)["tasks"] == first, "it is recorded once"
    noted = [str(row["note"]) for row in cli("log", "--json").items]
    assert sorted(noted) == ["lifecycle.apply = exact", "lifecycle.worker = claude"]
    config.write_text("")
    assert json.loads(cli("status", "--json").raw)["tasks"]["lifecycle.worker"].startswith("none since 20")


def test_what_came_of_a_task_is_said_once_and_in_words() -> None:
    said = "4 proposed, 0 applied."
    assert summarize_result({"summary": said, "proposals": ["1", "2", "3", "4"]}) == said
    assert summarize_result({"summary": "Saved.", "proposals": ["1"]}) == "Saved.  1 proposed"
    assert format_value({"found": {"exact": 2, "near": 1}, "left": 0, "skipped": {}}) == "found exact 2, near 1, left 0"
    assert [format_value(one) for one in ([], None, True, ["a", "b"])] == ["", "", "yes", "a, b"]
