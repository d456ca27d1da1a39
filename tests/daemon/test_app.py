"""The daemon as a process: what the peer's own requests get, who else may come, and how it ends and begins again."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from memtui.engine.model import Actor
from memtui.engine.task import Task
from tests.daemon.running import CURL, Machine, Running, machine

EVENTS = "/workspace/memory/events"
REMEMBER = "http://localhost/workspace/memory/remember"
curl_is_there = pytest.mark.skipif(CURL is None, reason="there is no curl")


def curl(running: Running, *words: str) -> tuple[int, dict[str, object]]:
    """What the peer's documentation shows, sent by curl."""
    done = subprocess.run(
        ["curl", "-s", "-w", "\n%{http_code}", "--unix-socket", running.where["socket"], *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    body, _, status = done.stdout.rpartition("\n")
    return int(status), json.loads(body)


def client_events(running: Running, name: str) -> Iterator[dict[str, object]]:
    """The data of the events of one name, from the first one on."""
    with running.client() as http, http.stream("GET", EVENTS, headers={"Last-Event-ID": "0-0"}) as answer:
        yield from (json.loads(one.data)["data"] for one in httpx2.EventSource(answer) if one.event == name)


@curl_is_there
def test_the_peers_requests_by_curl_get_the_peers_answers(machine: Machine) -> None:
    json_ = ("-H", "Content-Type: application/json", "-H", "X-Qwen-Client-Id: client-1")
    body = '{"content": "The user prefers dark mode in all editors", "contextMode": "workspace"}'
    with machine.serve() as running:
        status, task = curl(running, "-X", "POST", REMEMBER, *json_, "-H", "Authorization: Bearer any", "-d", body)
        assert (status, task["status"], task["contextMode"]) == (202, "queued", "workspace")
        status, done = curl(running, f"{REMEMBER}/{task['taskId']}?wait=60", "-H", "X-Qwen-Client-Id: client-1")
        assert (status, done["status"], done["error"]) == (200, "completed", None)
        result = done["result"]
        assert isinstance(result, dict)
        assert result["touchedScopes"] == ["user"]
        assert len(result["filesTouched"]) == 1
        with machine.engine() as (engine, _):
            files = [Path(name.replace("~", str(machine.base / "h"))) for name in result["filesTouched"]]
            assert all(file.exists() for file in files)
            assert {one.actor for one in engine.history.audit(txn=str(result["undo"]))} == {"http:client-1"}
            engine.undo.undo(actor=Actor("cli"))
            assert not any(file.exists() for file in files)
        assert curl(running, f"{REMEMBER}/{task['taskId']}")[0] == 404
        assert curl(running, "-X", "POST", REMEMBER, *json_, "-d", "")[1]["code"] == "invalid_json"


@curl_is_there
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="nothing tells who is at the other end")
def test_what_an_agents_command_asks_is_the_agents_and_only_proposed(machine: Machine) -> None:
    with machine.serve() as running:
        words = ["curl", "-s", "--unix-socket", running.where["socket"], REMEMBER, "-H", "X-Memtui-Client-Id: me",
                 "-H", "Content-Type: application/json", "-d", '{"content": "Always push to main."}']  # fmt: skip
        agent = machine.base / "claude"
        agent.write_text(f"#!/bin/sh\n{shlex.join(words)}\necho\n")
        agent.chmod(0o755)
        task = json.loads(subprocess.run([agent], capture_output=True, text=True, check=True).stdout)["taskId"]
        with machine.engine() as (engine, workspace):
            while (found := engine.tasks.get(task)).state not in ("completed", "failed"):
                pass
            assert (found.client, found.workspace) == ("agent:claude-code/me", workspace.id)
            assert found.result is not None
            assert found.result["outcome"] == "proposed"
            (waiting,) = engine.proposals.all()
            told = next(client_events(running, "proposals"))
            assert (told["taskId"], told["proposals"]) == (task, [waiting.id])
            assert (waiting.by, waiting.state) == ("agent:claude-code/me", "open")
            assert not engine.rows.list().items


@pytest.mark.parametrize("seed", range(3))
def test_ten_queued_tasks_survive_kills_and_are_done_once(machine: Machine, seed: int) -> None:
    choose = random.Random(seed)
    names = [f"Berth {chr(97 + number) * 5} is for the {seed} o'clock ferry." for number in range(10)]
    with machine.serve() as running:
        with machine.at_work():
            tasks = [running.remember(name, **{"Idempotency-Key": name[6:11]}).json()["taskId"] for name in names]
        for _ in range(choose.randrange(3)):
            running.http.get(f"/workspace/memory/remember/{choose.choice(tasks)}?wait=1")
        running.kill()
    for _ in range(choose.randrange(2)):  # a task that kills three in a row is given up
        with machine.serve() as running:
            running.http.get(f"/workspace/memory/remember/{choose.choice(tasks)}?wait=1")
            running.kill()
    with machine.serve() as running:
        done = [running.done(task) for task in tasks]
        assert [one["status"] for one in done] == ["completed"] * 10
        assert running.remember(names[0], **{"Idempotency-Key": names[0][6:11]}).json()["taskId"] == tasks[0]
    assert len({one["result"]["undo"] for one in done}) == 10
    with machine.engine() as (engine, _):
        kept = [row for row in engine.rows.list().items if row.description and "Berth" in row.description]
        assert len(kept) == 10
        for _ in names:
            engine.undo.undo(actor=Actor("cli"))
        assert not [row for row in engine.rows.list().items if not row.missing]


def test_a_signal_ends_it_and_what_is_queued_waits(machine: Machine) -> None:
    with machine.serve() as running, machine.at_work():
        task = running.remember("Tea at four.").json()["taskId"]
        with running.client() as follower, follower.stream("GET", "/workspace/memory/events") as events:
            lines = events.iter_lines()
            assert next(lines) == ": memtui"
            status, said = running.stop()
            assert list(lines)[-1] == ""
    assert (status, said) == (0, "ctrl+c ends it; what is queued waits.\n")
    assert not machine.socket.exists()
    with machine.engine() as (engine, _):
        assert engine.tasks.get(task).state == "queued"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
def test_another_user_who_opened_the_way_is_hung_up_on(machine: Machine) -> None:
    with machine.serve() as running:
        for path in (machine.socket, machine.socket.parent):
            path.chmod(0o777)
        child = os.fork()
        if not child:
            answer = b"?"
            # From within its folder: the folders above it may be closed to others, as a temporary one often is.
            os.chdir(machine.socket.parent)
            os.setuid(65_534)
            try:
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(machine.socket.name)
                    connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
                    answer = connection.recv(100)
            except (ConnectionResetError, BrokenPipeError):
                answer = b""
            finally:
                os._exit(len(answer))
        assert os.waitpid(child, 0)[1] == 0
        assert running.http.get("/health").status_code == 200


def test_one_that_is_to_outlive_its_terminal_does(machine: Machine) -> None:
    running = Running(machine, (), {}, before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    running.process.send_signal(signal.SIGHUP)
    assert running.http.get("/health").status_code == 200
    assert running.stop()[0] == 0


def test_a_dream_begins_by_itself_once_it_is_due_and_not_again(machine: Machine) -> None:
    machine.configure("[lifecycle]\ndream = 'auto'\ndream_sessions = 0\n[transcripts]\nread = 'off'\n")
    found: tuple[Task, ...] = ()
    for _ in range(2):
        with machine.serve(), machine.engine() as (engine, workspace):
            while not found or found[0].state != "completed":
                found = engine.tasks.all(workspace.id)
    assert [(task.kind, task.client, task.trigger) for task in found] == [("dream", "lifecycle:dream", "auto")]


def test_a_second_one_names_the_first(machine: Machine) -> None:
    with machine.serve() as running:
        done = machine.memtui("serve")
        assert done.returncode == 6
        assert f"process {running.process.pid}" in done.stderr
        assert running.http.get("/health").status_code == 200


def test_it_begins_only_where_it_may(machine: Machine) -> None:
    machine.configure("[daemon]\nenabled = false\n")
    assert (machine.memtui("serve").returncode, machine.socket.exists()) == (5, False)
    machine.configure("")
    assert machine.memtui("serve", "--no-socket").returncode == 2
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert machine.memtui("serve", "--port", str(taken.getsockname()[1])).returncode == 7
    machine.socket.parent.mkdir(0o700, exist_ok=True)
    machine.socket.write_text("mine")
    assert machine.memtui("serve").returncode == 3
    assert machine.socket.read_text() == "mine"


def test_a_ledger_that_cannot_be_written_is_said(machine: Machine) -> None:
    import apsw

    with machine.engine() as (engine, _):
        engine.tasks.last_event()
    with apsw.Connection(str(machine.state / "state.db")) as database:
        database.execute("PRAGMA user_version = 9999")
    with machine.serve() as running:
        answer = running.remember("Tea at four.")
        assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
        assert running.http.post("/workspace/memory/recall", json={"query": "tea"}).status_code == 200


def test_a_ledger_that_is_gone_is_made_anew(machine: Machine) -> None:
    with machine.serve() as running:
        running.done(running.remember("Tea at four.").json()["taskId"])
        for file in machine.state.glob("state.db*"):
            file.unlink()
        found = running.http.post("/workspace/memory/recall", json={"query": "tea"}).json()["items"]
        assert len(found) == 1
        assert running.done(running.remember("Coffee at nine.").json()["taskId"])["status"] == "completed"


def test_each_project_has_a_lane_of_its_own(machine: Machine) -> None:
    second = machine.base / "h/blog"
    second.mkdir()
    with machine.serve("--project", str(second), "--project", str(machine.project)) as running:
        first, other = running.http.get("/capabilities").json()["workspaces"]
        assert (first["name"], other["name"]) == ("blog", "proj")
        body = {"content": "Tags are lower case.", "scope": "project"}
        with machine.at_work():  # which is proj
            slow = running.http.post(f"/workspaces/{other['id']}/memory/remember", json=body).json()["taskId"]
            task = running.http.post("/workspace/memory/remember", json=body).json()["taskId"]
            assert running.done(task)["result"]["filesTouched"][0].startswith("~/blog/")
            path = f"/workspaces/{other['id']}/memory/remember/{slow}"
            assert running.http.get(path).json()["status"] == "queued"
        assert running.http.get(f"{path}?wait=60").json()["result"]["filesTouched"][0].startswith("~/proj/")


def test_without_its_packages_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "starlette.py").write_text("raise ModuleNotFoundError(name='starlette')\n")
    with machine() as made:
        done = made.memtui("serve", PYTHONPATH=f"{tmp_path}:{made.environ()['PYTHONPATH']}")
    assert done.returncode == 5
    assert "memtui[serve]" in done.stderr


def test_a_ledger_that_may_only_be_read_is_said(machine: Machine) -> None:
    with machine.engine() as (engine, _):
        engine.tasks.last_event()
    ledger = machine.state / "state.db"
    ledger.chmod(0o400)
    if os.access(ledger, os.W_OK):
        pytest.skip("permission bits do not bind the superuser")
    with machine.serve() as running:
        answer = running.remember("Tea at four.")
        assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
        assert running.http.post("/workspace/memory/recall", json={"query": "tea"}).status_code == 200
