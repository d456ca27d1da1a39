"""Workers: when they are asked, as a command and as a model."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest
from pydantic_ai import models
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from memtui.config.read import load_settings, read_environment
from memtui.errors import BusyError, MemtuiError, RefusedError
from memtui.features.tasks.work import TaskContext, task_context, workspace_of
from memtui.features.workers.ask import (
    FOLDER,
    MARK,
    MAX_CONCURRENT,
    MAX_RUNS_PER_DAY,
    PROGRAMS,
    WorkerPlace,
    answer,
    ask,
    ask_model,
    one_of_few,
    own,
    probe,
)
from memtui.features.workers.prompts import SCHEMA, ReplyLimits, WorkerPrompt, WorkSlice, prompt, read_reply
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


Put = Callable[[str, str], Path]
REPLY = '{"summary": "s", "operations": []}'
TELLS = """
import json, os, sys
told = {"argv": sys.argv[1:], "stdin": sys.stdin.read(), "cwd": os.getcwd(), "in it": os.listdir(),
        "mode": os.stat(".").st_mode & 0o777, "environ": dict(os.environ)}
told["schema"] = [open(word.lstrip("@")).read() for word in sys.argv if word.endswith("schema.json")]
print(json.dumps({"type": "result", "is_error": False, "structured_output": told} if "-p" in sys.argv else told))
"""


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Puts a program on the path: its name, and a script of the shell, or of Python when it imports something."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def write(name: str, body: str) -> Path:
        path = folder / name
        path.write_text(f"#!{sys.executable if 'import' in body else '/bin/sh'}\n{body}\n")
        path.chmod(0o700)
        return path

    return write


@pytest.fixture
def place(tmp_path: Path) -> WorkerPlace:
    """What workers are run with here."""
    kept = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    others = {
        "CLAUDECODE": "1",
        "AWS_REGION": "x",
        "OPENAI_API_KEY": "k",
        "MEMTUI_HOME": "/x",
        "DATABASE_URL": "secret",
    }
    return WorkerPlace(str(tmp_path / "state"), kept | others, lambda: False, seconds=20)


def helpful(body: str, flags: str) -> str:
    """A program that lists its options when it is asked to, and else does as it says."""
    if "import" in body:
        return (
            f"import sys\nif '--help' in sys.argv or '--version' in sys.argv:\n    sys.exit(print({flags!r}))\n{body}"
        )
    return f'case "$*" in *--help*|--version) echo "{flags}"; exit;; esac\n{body}'


def flags_of(worker: str) -> list[str]:
    return [word.partition("=")[0] for word in PROGRAMS[worker].words if word.startswith("-") and word != "-"]


def left(place: WorkerPlace) -> list[str]:
    return os.listdir(os.path.join(place.state_dir, FOLDER))


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody asked for counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("worker", PROGRAMS)
def test_a_worker_gets_every_flag_an_empty_folder_and_a_part_of_the_environment(
    worker: str, put: Put, place: WorkerPlace
) -> None:
    put(worker, helpful(TELLS, " ".join(flags_of(worker))))
    told = json.loads(answer(PROGRAMS[worker], "You tidy.", "Words — ü", place))
    assert set(flags_of(worker)) <= {word.partition("=")[0] for word in told["argv"]}
    assert json.dumps(SCHEMA) in (*told["schema"], *told["argv"])
    whole = told["stdin"] if worker != "claude" else f"{told['argv'][-1]}\n\n{told['stdin']}"
    assert whole == "You tidy.\n\nWords — ü"
    assert "Words" not in "".join(told["argv"])
    assert told["cwd"].startswith(os.path.join(place.state_dir, FOLDER))
    assert (told["in it"], told["mode"], left(place)) == ([], 0o700, [])
    got = told["environ"]
    assert (got["MEMTUI_WORKER"], got["HOME"], got["LC_ALL"]) == ("1", place.environ["HOME"], "C.UTF-8")
    assert not {"CLAUDECODE", "MEMTUI_HOME", "DATABASE_URL"} & set(got)
    assert ("AWS_REGION" in got, "OPENAI_API_KEY" in got) == (worker == "claude", worker != "claude")


@pytest.mark.parametrize(
    ("worker", "flag"), [(worker, flag) for worker in PROGRAMS for flag in sorted({*flags_of(worker)})]
)
def test_a_worker_that_lacks_a_flag_is_not_run(
    worker: str, flag: str, put: Put, place: WorkerPlace, tmp_path: Path
) -> None:
    listed = " ".join(f"{one}-more" if one == flag else one for one in flags_of(worker))
    put(worker, helpful(f"touch {tmp_path}/ran", listed))
    with pytest.raises(RefusedError, match=f"lacks {flag}, and is not run") as refused:
        answer(PROGRAMS[worker], "s", "t", place)
    assert refused.value.code == "E_WORKER"
    assert not (tmp_path / "ran").exists()


def test_a_program_is_looked_at_once_until_it_changes(put: Put, place: WorkerPlace, tmp_path: Path) -> None:
    looks = tmp_path / "looks"
    body = f'echo "$*" >> {looks}; ' + helpful(f"echo '{REPLY}'", " ".join(flags_of("qwen")))
    put("qwen", body)
    assert answer(PROGRAMS["qwen"], "s", "t", place) == answer(PROGRAMS["qwen"], "s", "t", place)
    assert looks.read_text().count("--help") == 1
    put("qwen", body.replace("--safe-mode", "--safe"))
    assert probe(PROGRAMS["qwen"], place).missing == ("--safe-mode",)


SAYS = 'echo $$ $! > "$HOME/pids.new"; mv "$HOME/pids.new" "$HOME/pids"\n'
STUBBORN = f"trap '' TERM\n(trap '' TERM; while :; do sleep 600; done) &\n{SAYS}"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("exec sleep 600", "no answer within 0.5 seconds"),
        ("exec cat /dev/zero", "printed more than"),
        ("exec cat /dev/zero >&2", "printed more than"),
        ("exec sleep 600", "cancelled"),
        (f"{STUBBORN}while :; do sleep 600; done", "cancelled"),
    ],
)
def test_a_worker_that_does_not_end_is_ended_with_all_it_started(
    body: str, fault: str, put: Put, place: WorkerPlace, tmp_path: Path
) -> None:
    there = tmp_path / "pids"
    limited = place._replace(seconds=0.5 if "within" in fault else 60)
    if fault == "cancelled":
        limited = limited._replace(cancelled=there.exists)
    started = monotonic()
    with pytest.raises(RefusedError, match=fault):
        answer(own([str(put("mine", f"{SAYS}{body}"))]), "s", "t" * 300_000, limited)
    assert monotonic() - started < 30
    pids = there.read_text().split() if there.exists() else []
    assert pids or "within" in fault
    assert not any(alive(int(pid)) for pid in pids)
    assert left(place) == []


def test_an_answer_counts_although_something_it_started_goes_on(put: Put, place: WorkerPlace, tmp_path: Path) -> None:
    path = put("mine", f"{STUBBORN}echo '{REPLY}'")
    assert answer(own([str(path)]), "s", "t", place).strip() == REPLY
    assert not any(alive(int(pid)) for pid in (tmp_path / "pids").read_text().split())


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("echo 'Please log in.' >&2; exit 3", "ended with 3: Please log in"),
        ('echo \'{"type": "result", "is_error": true, "result": "Please run /login"}\'', "failed: Please run /login"),
        ('echo \'{"type": "result", "result": "Please run /login"}\'; exit 1', "ended with 1: Please run /login"),
        ("echo key ghp_0123456789abcdefghijklmnopqrstuvwxyz >&2; exit 1", r"key \[masked: GitHub token\]"),
        ("exit 1", "it said nothing"),
        ("kill -9 $$", "ended with -9"),
    ],
)
def test_what_a_worker_complains_of_is_told(body: str, fault: str, put: Put, place: WorkerPlace) -> None:
    with pytest.raises(RefusedError, match=fault) as refused:
        answer(own([str(put("mine", body))]), "s", "t", place)
    assert refused.value.code == "E_WORKER"


@pytest.mark.parametrize("command", [[], ["no-such-program"], ["./mine"]])
def test_a_worker_that_is_not_there_is_named(command: list[str], place: WorkerPlace) -> None:
    Path("mine").write_text("#!/bin/sh\n")
    Path("mine").chmod(0o700)
    with pytest.raises(RefusedError, match="no program" if command else "lifecycle.command"):
        answer(own(command), "s", "t", place)


def test_a_long_prompt_reaches_a_worker_that_is_slow_to_read(put: Put, place: WorkerPlace) -> None:
    body = "import sys, time\ntime.sleep(0.3)\nprint(len(sys.stdin.read()))"  # it reads after the first look at it
    text = "x" * 300_000  # more than a pipe holds
    said = answer(own((str(put("slow", body)),)), "s", text, place._replace(seconds=10))
    assert int(said) > len(text)


def test_prose_and_the_envelope_of_an_agent_are_given_as_they_are(put: Put, place: WorkerPlace) -> None:
    assert answer(own([str(put("a", "cat; printf 'bad: \\377'"))]), "s", "t", place) == "s\n\ntbad: \ufffd"
    envelope = json.dumps({"type": "result", "result": REPLY})
    assert answer(own([str(put("b", f"echo '{envelope}'"))]), "s", "t", place) == REPLY


PLACE = WorkerPlace("", {}, lambda: False)
MODEL_REPLY = {"summary": "s", "operations": [{"op": "describe", "targets": ["m1"], "description": "d"}]}


@pytest.fixture(autouse=True)
def unreached(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No model of anybody is asked."""
    with monkeypatch.context() as patch:
        patch.setattr(models, "ALLOW_MODEL_REQUESTS", False)
        yield


def test_a_model_gets_the_prompt_and_no_tool() -> None:
    told = []

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.append((info.instructions, info.function_tools, str(messages[0].parts[0].content)))  # type: ignore[union-attr]
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, MODEL_REPLY)])

    answer = ask_model(FunctionModel(respond), "You tidy.", "Words", PLACE)
    assert told == [("You tidy.", [], "Words")]
    found = read_reply(answer, ReplyLimits(shown={"m1": False}))
    assert found.operations[0].description == "d"


def test_a_model_that_only_talks_is_asked_twice_at_most() -> None:
    asked = []

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(len(messages))
        return ModelResponse(parts=[TextPart("I would not change anything.")])

    with pytest.raises(MemtuiError, match="The model failed") as failed:
        ask_model(FunctionModel(respond), "s", "t", PLACE)
    assert (failed.value.code, len(asked)) == ("E_WORKER", 2)


@pytest.mark.parametrize("how", ["cancelled", "no answer within 0.2 seconds"])
def test_a_slow_model_is_ended(how: str) -> None:
    begun, ended = list[bool](), list[bool]()

    async def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        begun.append(True)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)
        return ModelResponse(parts=[TextPart("never")])

    place = PLACE._replace(cancelled=lambda: how == "cancelled" and bool(begun), seconds=0.2 if "within" in how else 60)
    with pytest.raises(MemtuiError, match=how):
        ask_model(FunctionModel(respond), "s", "t", place)
    assert ended


@pytest.mark.parametrize(("model", "why"), [("", "is empty"), ("nowhere:none", "Unknown"), ("openai:gpt-5", "failed")])
def test_a_model_that_cannot_be_asked_is_named(model: str, why: str) -> None:
    with pytest.raises(MemtuiError, match=why) as failed:
        ask_model(model, "s", json.dumps({}), PLACE)
    assert failed.value.code == "E_WORKER"
