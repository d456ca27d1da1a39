"""Asking the worker of the settings: what is sent and heard is kept, one more try, few at a time, nobody when none."""

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.errors import BusyError
from memtui.features.tasks.work import TaskContext, task_context, workspace_of
from memtui.features.workers.ask import MAX_CONCURRENT, MAX_RUNS_PER_DAY, ask, one_of_few
from memtui.features.workers.command import MARK
from memtui.features.workers.prompts import WorkerPrompt, WorkSlice, prompt
from memtui.wire.session import Options, open_session

GOOD = json.dumps({"summary": "Nothing.", "operations": []})
PROMPT: WorkerPrompt = prompt("remember", WorkSlice(request="Use tabs."), ())


@pytest.fixture
def context(tmp_path: Path) -> Iterator[TaskContext]:
    """A task that is being worked on."""
    (tmp_path / "notes").mkdir()
    options = Options(roots=(f"notes={tmp_path}/notes",), only_roots=True)
    session = open_session(load_settings(read_environment()), options, lock_wait=5)
    here = workspace_of(session.surroundings)
    with session.engine as engine:
        task = engine.tasks.enqueue("remember", here.id, "cli", {}, trigger="manual")
        yield task_context(session, session.settings)._replace(task=task)


def answering(context: TaskContext, tmp_path: Path, *answers: str) -> TaskContext:
    """Have the worker be a script that notes what it is given, and answers this; the last one for ever."""
    for number, text in enumerate(answers):
        (tmp_path / f"answer{number}").write_text(text)
    script = tmp_path / "worker"
    script.write_text(
        f"#!/bin/sh\ncd {tmp_path}; n=$(cat count 2>/dev/null || echo 0)\ncat > given$n\n"
        f"echo $((n < {len(answers) - 1} ? n + 1 : n)) > count\ncat answer$n\n"
    )
    script.chmod(0o700)
    settings = context.settings._replace(lifecycle_worker="command", lifecycle_command=(str(script),))
    return context._replace(settings=settings)


def test_with_no_worker_nothing_is_started_and_nothing_leaves(
    context: TaskContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trap(*_: object, **__: object) -> object:
        raise AssertionError("something was to leave the machine")

    monkeypatch.setattr(socket, "socket", trap)
    monkeypatch.setattr(subprocess, "Popen", trap)
    found = ask(context, lambda: [PROMPT], "remember")
    assert (found.replies, found.error) == ((), None)
    assert (found.run.worker, found.run.sent, found.run.outcome) == ("none", "", "completed")


def test_what_is_sent_and_heard_is_kept_to_the_byte(context: TaskContext, tmp_path: Path) -> None:
    found = ask(answering(context, tmp_path, GOOD), lambda: [PROMPT], "remember")
    assert [reply for _, reply in found.replies] == [("Nothing.", (), 0)]
    given = (tmp_path / "given0").read_text()
    assert given == found.run.sent == PROMPT.sent
    assert (found.run.reply, found.run.worker, found.run.outcome) == (GOOD, "command", "completed")
    context.engine.tasks.add_run(found.run)
    assert context.engine.tasks.runs() == (found.run,)


def test_a_reply_that_breaks_a_rule_is_asked_for_once_more(context: TaskContext, tmp_path: Path) -> None:
    found = ask(answering(context, tmp_path, "I would add it.", GOOD), lambda: [PROMPT], "remember")
    assert found.replies
    assert "There is no object of JSON in it. Answer again." in (tmp_path / "given1").read_text()
    assert found.run.sent.endswith("Answer again.")
    assert found.run.reply == f"I would add it.{GOOD}"


@pytest.mark.parametrize(
    ("answer", "code"),
    [("{", "E_REPLY"), ('{"operations": [{"op": "add", "name": "../x", "text": "y"}]}', "E_NAME")],
)
def test_a_second_bad_reply_leaves_the_rules(answer: str, code: str, context: TaskContext, tmp_path: Path) -> None:
    found = ask(answering(context, tmp_path, answer), lambda: [PROMPT], "remember")
    assert not found.replies
    assert found.error is not None
    assert (found.error.code, found.run.outcome, found.run.reply) == (code, code, answer * 2)


def test_a_worker_inside_a_worker_is_not_asked(context: TaskContext, tmp_path: Path) -> None:
    inside = answering(context, tmp_path, GOOD)
    settings = load_settings({**read_environment(), MARK: "1"})
    found = ask(
        inside._replace(settings=inside.settings._replace(worker=settings.worker)), lambda: [PROMPT], "remember"
    )
    assert found.run.outcome == "E_WORKER"
    assert not (tmp_path / "given0").exists()


def test_a_worker_is_asked_so_often_a_day(context: TaskContext, tmp_path: Path) -> None:
    asked = answering(context, tmp_path, GOOD)
    for number in range(MAX_RUNS_PER_DAY):
        context.engine.tasks.add_run(ask(asked, lambda: [PROMPT], "remember").run._replace(id=f"r{number}", sent="x"))
        (tmp_path / "given0").unlink()
    found = ask(asked, lambda: [PROMPT], "remember")
    assert (found.replies, found.run.outcome) == ((), "E_WORKER")
    assert not (tmp_path / "given0").exists()
    later = asked._replace(now=asked.now + 86_400_001)
    assert ask(later, lambda: [PROMPT], "remember").replies


def test_few_workers_run_at_once_and_one_in_a_workspace(tmp_path: Path) -> None:
    state = str(tmp_path / "state")

    def deeper(number: int) -> int:
        try:
            with one_of_few(state, f"w{number}"):
                return deeper(number + 1)
        except BusyError:
            return number

    assert deeper(0) == MAX_CONCURRENT
    with one_of_few(state, "w0"), pytest.raises(BusyError), one_of_few(state, "w0"):
        pass
    with one_of_few(state, "w0"):
        pass
