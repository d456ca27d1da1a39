"""Every row of the peer's fields, limits and codes, and every bad input, against a real daemon."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from memtui.daemon.routes import (
    CODES,
    MODES,
    SCOPES,
    RequestError,
    client_of,
    forget_fields,
    remember_fields,
    request_error,
)
from memtui.engine.model import Address, Write
from memtui.engine.proposal import Evidence
from memtui.errors import CODES as KNOWN
from memtui.errors import MemtuiError
from memtui.features.proposals.value import proposal
from tests.daemon.running import JSON, Machine, Running

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from([*MODES, *SCOPES]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
)
NAMES = st.sampled_from(["content", "contextMode", "scope", "root", "query", "ids", "apply", ""])


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_what_is_taken_has_known_fields_only(body: dict[str, object]) -> None:
    with suppress(RequestError):
        kept = remember_fields(body)
        assert set(kept) <= {"content", "contextMode", "scope", "cut"}
        assert str(kept["content"]).strip() == kept["content"] != ""
        assert kept["contextMode"] in MODES
        assert kept.get("scope", "user") in SCOPES
    with suppress(RequestError):
        wanted = forget_fields(body)
        assert wanted.get("query") or wanted["ids"]
        assert wanted["ids"] or not wanted["apply"]


def test_what_is_marked_as_private_is_cut_out_and_counted() -> None:
    kept = remember_fields({"content": "Tea at four. <private>With Ann.</private> In the kitchen."})
    assert "Ann" not in str(kept["content"])
    assert kept["cut"] == 1


@given(st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=140))
def test_a_client_is_named_by_plain_signs(name: str) -> None:
    request = Request({"type": "http", "headers": [(b"x-qwen-client-id", name.encode("latin-1"))]})
    plain = 0 < len(name) <= 128 and all(sign.isascii() and (sign.isalnum() or sign in "._:-") for sign in name)
    if plain or not name:
        assert client_of(request, ()) == (name or None)
        return
    with pytest.raises(RequestError):
        client_of(request, ())


@pytest.mark.parametrize("code", KNOWN)
def test_every_error_has_an_answer_that_names_no_folder(code: str) -> None:
    answer = request_error(MemtuiError("It is so.", code=code), "remember")
    assert (code in CODES) == ((answer.status, answer.code) != (500, "remember_failed"))
    assert answer.text
    assert "E_" not in answer.text


REMEMBER = "/workspace/memory/remember"
MOST = 65_536


@pytest.fixture(autouse=True)
def queue_stays_short(running: Running) -> Iterator[None]:
    yield
    with running.machine.engine() as (engine, workspace):
        for task in engine.tasks.all(workspace.id, ("queued",)):
            engine.tasks.cancel(task.id)


def post(running: Running, body: object, path: str = REMEMBER, **headers: str) -> tuple[int, str | None]:
    """Send a body; bytes as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = running.http.post(path, content=data, headers={**JSON, **headers})
    found = answer.json()
    if answer.status_code >= 400:
        assert set(found) == {"error", "code"}
        assert found["error"].endswith(".")
    return answer.status_code, found.get("code")


def test_the_answer_to_a_request_is_the_peers(running: Running) -> None:
    answer = running.http.post(
        REMEMBER,
        json={"content": " Deploys go through staging first. ", "contextMode": "clean", "scope": "project"},
        headers={"X-Qwen-Client-Id": "client-1"},
    )
    assert answer.status_code == 202
    first = answer.json()
    assert re.fullmatch(r"remember-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", first["taskId"])
    assert (first["status"], first["contextMode"], first["scope"]) == ("queued", "clean", "project")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first["createdAt"])
    assert (first["result"], first["error"]) == (None, None)
    done = running.done(first["taskId"], **{"X-Qwen-Client-Id": "client-1"})
    assert (done["status"], done["error"], done["createdAt"]) == ("completed", None, first["createdAt"])
    assert done["updatedAt"] >= first["createdAt"]
    assert (done["contextMode"], done["scope"]) == ("clean", "project")
    result = done["result"]
    assert (result["touchedScopes"], result["outcome"]) == (["project"], "saved")
    assert all(path.startswith("~/proj/.memtui/memory/") for path in result["filesTouched"])
    assert result["undo"].isdecimal()
    assert "staging" not in result["summary"].replace(result["addresses"][0], "")
    again = running.http.post(REMEMBER, json={"content": "deploys go through staging FIRST"}).json()
    assert running.done(again["taskId"])["result"]["outcome"] == "known"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid_json"),
        (b"nonsense", "invalid_json"),
        (b"[]", "invalid_json"),
        (b'{"content":"a","content":"b"}', "invalid_json"),
        (b'{"content":NaN}', "invalid_json"),
        (b'{"content":"\xff"}', "invalid_json"),
        (b"[" * 10_000, "invalid_json"),
        (b'{"content":' + b"[" * 10_000, "invalid_json"),
        ({}, "invalid_content"),
        ({"content": "   "}, "invalid_content"),
        ({"content": 7}, "invalid_content"),
        ({"content": "a\0b"}, "invalid_content"),
        ({"content": "\ud800"}, "invalid_content"),
        ({"content": "é" * (MOST // 2) + "a"}, "invalid_content"),
        ({"content": "<no-memory>\nthis"}, "invalid_content"),
        ({"content": "<private>this</private>"}, "invalid_content"),
        ({"content": "the key is ghp_" + "a1B2" * 9}, "invalid_content"),
        ({"content": "a", "contextMode": "Clean"}, "invalid_context_mode"),
        ({"content": "a", "contextMode": None}, "invalid_context_mode"),
        ({"content": "a", "scope": "User"}, "invalid_scope"),
        ({"content": "a", "scope": ["user"]}, "invalid_scope"),
        ({"content": "a", "root": "memtui:project"}, "invalid_field"),
        ({"content": "a", "more": 1}, "invalid_field"),
    ],
)
def test_a_bad_body_is_refused_and_repeated_nowhere(running: Running, body: object, code: str) -> None:
    assert post(running, body) == (400, code)


def test_the_longest_text_is_taken(running: Running) -> None:
    with running.machine.at_work():
        assert post(running, {"content": "a" * MOST}) == (202, None)
        assert post(running, {"content": f"  {'a' * MOST}\n"}) == (202, None)
        assert post(running, {"content": "a" * (MOST + 1)}) == (400, "invalid_content")
        assert post(running, {"content": "é" * (MOST // 2)}) == (202, None)


def test_a_body_that_is_too_large_or_of_another_kind_is_refused(running: Running) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * (1 << 20)

    answer = running.http.post(REMEMBER, content=pieces(), headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert post(running, b" " * (1 << 20)) == (413, "body_too_large")
    assert post(running, b"a=b", **{"Content-Type": "application/x-www-form-urlencoded"})[0] == 415
    assert post(running, b"x", **{"Content-Encoding": "gzip"})[0] == 415
    assert post(running, {"content": "a"}, **{"Content-Type": "application/json; charset=utf-8"})[0] == 202


def test_a_body_that_comes_a_byte_at_a_time_is_not_waited_for(running: Running) -> None:
    head = b"POST /workspace/memory/remember HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    began = time.monotonic()

    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(running.where["socket"])
        connection.sendall(head + b"Content-Length: 900\r\n\r\n{")
        assert connection.recv(65_536).split()[1] == b"408"
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("name", ["a" * 129, "a/b", "a,b", "a b"])
@pytest.mark.parametrize("header", ["X-Qwen-Client-Id", "X-Memtui-Client-Id"])
def test_an_id_that_is_none_is_refused(running: Running, name: str, header: str) -> None:
    assert post(running, {"content": "a"}, **{header: name}) == (400, "invalid_client_id")
    answer = running.http.get(f"{REMEMBER}/remember-missing", headers={header: name})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_client_id")


def test_everything_that_is_no_task_of_this_client_is_the_same_404(running: Running) -> None:
    mine = {"X-Memtui-Client-Id": "one"}
    with running.machine.at_work():
        task = running.remember("Tea at four.", **mine).json()["taskId"]
        free = running.remember("Tea at five.").json()["taskId"]
        with running.machine.engine() as (engine, workspace):
            other = engine.tasks.enqueue("forget", workspace.id, "http", {"query": "x"}, trigger="manual").id
            typed = engine.tasks.enqueue("remember", workspace.id, "cli", {"content": "x"}, trigger="manual").id
        assert running.http.get(f"{REMEMBER}/{task}", headers=mine).status_code == 200
        assert running.http.get(f"{REMEMBER}/{free}").status_code == 200
        answers = {
            running.http.get(f"{REMEMBER}/{wanted}", headers=headers).text
            for wanted, headers in (
                (task, {}),
                (task, {"X-Memtui-Client-Id": "two"}),
                (free, mine),
                (other, {}),
                (typed, {}),
                ("remember-missing", {}),
                ("..%2fx", {}),
                ("a" * 10_000, {}),
                (f"{task}/x", mine),
            )
        }
    assert len(answers) == 1
    assert json.loads(answers.pop())["code"] == "remember_task_not_found"
    listed = running.http.get("/workspace/memory/tasks", headers=mine).json()["tasks"]
    assert [(one["taskId"], one["kind"]) for one in listed] == [(task, "remember")]


def test_a_key_means_one_task(running: Running) -> None:
    with running.machine.at_work():
        first, again = (running.remember("Tea.", **{"Idempotency-Key": "k1"}).json()["taskId"] for _ in range(2))
        assert first == again
        assert post(running, {"content": "Coffee."}, **{"Idempotency-Key": "k1"}) == (409, "idempotency_conflict")
        assert post(running, {"content": "Tea."}, **{"Idempotency-Key": "a b"}) == (400, "invalid_idempotency_key")
        other = running.remember("Coffee.", **{"Idempotency-Key": "k1", "X-Memtui-Client-Id": "x"}).json()["taskId"]
        assert other != first


def test_sixteen_may_wait(running: Running) -> None:
    with running.machine.at_work():
        assert [post(running, {"content": f"Tea {n}."})[0] for n in range(16)] == [202] * 16
        answer = running.remember("One more.")
        assert (answer.status_code, answer.json()["code"]) == (429, "remember_queue_full")
        assert int(answer.headers["Retry-After"]) > 0


def test_a_task_that_waits_is_cancelled_and_one_that_ended_stays(running: Running) -> None:
    with running.machine.at_work():
        task = running.remember("Tea at six.").json()["taskId"]
        cancelled = running.http.delete(f"{REMEMBER}/{task}").json()
        assert (cancelled["status"], cancelled["error"]["code"]) == ("failed", "remember_cancelled")
        assert running.http.delete(f"{REMEMBER}/{task}", headers={"X-Qwen-Client-Id": "x"}).status_code == 404
    done = running.done(running.remember("Tea at seven.").json()["taskId"])
    assert running.http.delete(f"{REMEMBER}/{done['taskId']}").json() == done


def test_a_poll_waits_as_long_as_it_is_told(running: Running) -> None:
    with running.machine.at_work():
        task = running.remember("Tea at eight.").json()["taskId"]
        began = time.monotonic()
        assert running.http.get(f"{REMEMBER}/{task}?wait=1").json()["status"] == "queued"
        assert time.monotonic() - began >= 1
        for wait in ("-1", "a", "1&wait=2", "100000"):
            answer = running.http.get(f"{REMEMBER}/{task}?wait={wait}")
            assert (answer.status_code, answer.json()["code"]) == (400, "invalid_field")


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("forget", {}, "invalid_query"),
        ("forget", {"query": " "}, "invalid_query"),
        ("forget", {"query": "a\0"}, "invalid_query"),
        ("forget", {"query": "a" * (MOST + 1)}, "invalid_query"),
        ("forget", {"ids": "a"}, "invalid_field"),
        ("forget", {"query": "a", "apply": True}, "invalid_field"),
        ("forget", {"query": "a", "apply": 1, "ids": ["a"]}, "invalid_field"),
        ("forget", {"query": "a", "scope": 7}, "invalid_scope"),
        ("dream", {"x": 1}, "invalid_field"),
        ("recall", {"query": ""}, "invalid_query"),
        ("recall", {"query": "a", "limit": True}, "invalid_field"),
        ("recall", {"query": "a", "exclude": [1]}, "invalid_field"),
    ],
)
def test_other_requests_are_checked_as_well(running: Running, path: str, body: object, code: str) -> None:
    assert post(running, body, f"/workspace/memory/{path}") == (400, code)


def test_recall_is_answered_at_once_without_what_is_private_or_left_out(machine: Machine) -> None:
    for name, text in (("berths", "Berths: the key is ghp_" + "a1B2" * 9), ("ferry", "The ferry berths at six.")):
        (machine.base / f"{name}.txt").write_text(text)
        machine.memtui("create", f"memtui:global/{name}.md", "--file", str(machine.base / f"{name}.txt"))
    path = "/workspace/memory/recall"
    with machine.serve() as running:
        found = running.http.post(path, json={"query": "when does the ferry berth"}).json()
        assert (found["strategy"], found["items"][0]["address"]) == ("heuristic", "memtui:global/ferry.md")
        assert "The ferry berths at six." in found["block"]
        found = running.http.post(path, json={"query": "berths", "exclude": ["memtui:global/ferry.md"]}).json()
        assert [one["address"] for one in found["items"]] == ["memtui:global/berths.md"]
        assert "ghp_" not in json.dumps(found)
        for nothing in ({"query": "zzz"}, {"query": "ferry", "limit": 0}):
            assert running.http.post(path, json=nothing).json()["strategy"] == "none"
        machine.configure("[lifecycle]\nrecall = false\n")
        answer = running.http.post(path, json={"query": "ferry"})
        assert (answer.status_code, answer.json()["code"]) == (409, "managed_memory_unavailable")
        machine.configure("[access]\nhttp = 'off'\n")
        assert running.http.post(path, json={"query": "ferry"}).status_code == 409


def test_a_workspace_is_named_by_its_id(running: Running) -> None:
    found = running.http.get("/capabilities").json()
    (workspace,) = found["workspaces"]
    assert workspace["name"] == "proj"
    assert (found["modes"], found["limits"]["contentBytes"]) == (["workspace", "clean"], MOST)
    assert "workspace_memory_remember" in found["features"]
    base = f"/workspaces/{workspace['id']}/memory"
    answer = running.http.post(f"{base}/remember", json={"content": "The harbour office opens at nine."})
    assert answer.status_code == 202
    assert running.done(answer.json()["taskId"])["status"] == "completed"
    for path in ("/workspaces/0123456789abcdef/memory/tasks", "/workspaces/x/memory/remember/y"):
        answer = running.http.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "workspace_not_found")


def test_what_no_route_is_for_is_said_in_the_same_words(running: Running) -> None:
    for method, path, code in (
        ("GET", "/", "not_found"),
        ("GET", "/health/", "not_found"),
        ("PUT", "/health", "method_not_allowed"),
        ("POST", "/workspace/memory/accept", "not_found"),
    ):
        answer = running.http.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == ({"not_found": 404}.get(code, 405), code)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost", ""])
def test_no_page_reaches_it(running: Running, origin: str) -> None:
    before = running.http.get("/workspace/memory/tasks").json()
    headers = {"Origin": origin} if origin else {"Sec-Fetch-Site": "cross-site"}
    assert post(running, {"content": "From a page."}, **headers) == (403, "origin_refused")
    assert running.http.get("/workspace/memory/tasks").json() == before


def test_requests_that_are_none_are_refused(running: Running) -> None:
    assert b" 400 " in running.raw(b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").split(b"\r\n")[0]
    assert b" 400 " in running.raw(b"GET /health HTTP/1.1\r\n\r\n").split(b"\r\n")[0]
    assert running.http.get("/health").json() == {"status": "ok"}


def test_settings_count_at_the_next_request(machine: Machine) -> None:
    def answers(text: str, **headers: str) -> tuple[int, int, str | None]:
        machine.configure(text)
        status, code = post(running, {"content": "Tea at nine."}, **headers)
        return status, running.http.get("/workspace/memory/tasks", headers=headers).status_code, code

    shut = (409, 409, "managed_memory_unavailable")
    with machine.serve() as running, machine.at_work():
        assert answers("") == (202, 200, None)
        assert answers("[daemon]\nenabled = false\n") == shut
        assert answers("[agents]\nenabled = false\n") == shut
        assert answers("nonsense") == shut
        assert answers("[lifecycle]\nenabled = false\n") == (409, 200, shut[2])
        assert answers("[access]\nhttp = 'ro'\n") == (409, 200, shut[2])
        assert answers("[access]\neditor = 'ro'\n") == (202, 200, None)
        editor = {"X-Memtui-Client-Id": "editor"}
        assert answers("[access]\neditor = 'ro'\n", **editor) == (409, 200, shut[2])
        assert answers("[access]\neditor = 'off'\n", **editor) == shut
        assert running.http.get("/capabilities", headers=editor).status_code == 409
        assert answers("[daemon]\nclients = ['page']\n", **editor) == (400, 400, "invalid_client_id")
        assert answers("[daemon]\nclients = ['editor']\n", **editor) == (202, 200, None)
        assert running.http.get("/health").status_code == 200


def test_what_a_client_may_do_counts_again_when_it_is_done(machine: Machine) -> None:
    with machine.serve() as running:
        with machine.at_work():
            task = running.remember("Tea at ten.").json()["taskId"]
            machine.configure("[access]\nhttp = 'ro'\n")
        done = running.done(task)
    assert (done["status"], done["error"]["code"]) == ("failed", "remember_refused")
    assert not list(machine.state.rglob("tea*.md"))


def test_nothing_that_is_remembered_or_asked_stands_in_arguments_or_in_what_the_daemon_says(machine: Machine) -> None:
    """Any user of the machine can list the arguments of programs, and logs are copied into bug reports."""
    arguments = machine.base / "arguments"
    script = machine.base / "worker.sh"
    script.write_text(f"cat /proc/$$/cmdline /proc/$PPID/cmdline | tr '\\0' ' ' >>{arguments}\necho '{{}}'\n")
    machine.configure(f"[lifecycle]\nworker = 'command'\ncommand = ['/bin/sh', '{script}']\n")
    with machine.serve() as running:
        running.done(running.remember("The ferry to Zanzibar leaves at nine.").json()["taskId"])
        assert post(running, {"query": "Zanzibar"}, "/workspace/memory/recall")[0] == 200
        assert post(running, {"content": "Zanzibar", "scope": "Zanzibar"})[0] == 400
        status, said = running.stop()
    assert status == 0
    assert "worker.sh" in (given := arguments.read_text())
    assert "zanzibar" not in f"{given}{said}".lower()


def test_a_worker_that_names_what_it_was_not_shown_writes_nothing(machine: Machine) -> None:
    answer = {"summary": "", "operations": [{"op": "add", "name": "../../.ssh/x", "text": "Tea."}]}
    machine.configure(f"[lifecycle]\nworker = 'command'\ncommand = ['/bin/echo', {json.dumps(json.dumps(answer))}]\n")
    with machine.serve() as running:
        done = running.done(running.remember("Tea at eleven.").json()["taskId"])
    assert (done["status"], done["error"]["code"]) == ("failed", "remember_path_escape")
    assert not list(machine.state.rglob("tea*.md"))


BOT = {"X-Memtui-Client-Id": "bot", "Content-Type": "application/json"}
AT = Address("memtui:global", "a.md")
TEAM = {"channel": "team-eng", "chat": "c1"}


def test_a_bot_tells_its_turns_and_others_may_not(machine: Machine) -> None:
    machine.configure('[gateways.bot]\nchannels = ["team-eng"]\n')
    with machine.serve() as running:

        def post(place: str, body: Mapping[str, object], **headers: str) -> tuple[int, dict[str, object]]:
            answer = running.http.post(place, json=body, headers={**BOT, **headers})
            return answer.status_code, answer.json()

        asked = {**TEAM, "session": "s", "person": "u1", "name": "Ann"}
        for refused in (
            post("/turns/request", asked, **{"X-Memtui-Client-Id": "other"}),
            post("/turns/request", {**asked, "channel": "board"}),
        ):
            assert (refused[0], refused[1]["code"]) == (403, "E_ACCESS")
        status, turn = post("/turns/request", asked)
        assert status == 200
        named = {"turn": str(turn["turn"])}
        assert post("/turns/begin", named)[1]["marker"] == "[Ann] "
        assert post("/turns/begin", named)[0] == 409
        assert post("/turns/end", {**named, "in": 5, "out": 1, "model": "m"})[1]["state"] == "ended"
        assert post("/turns/end", {"turn": "none"})[0] == 404
        assert post("/turns/request", {**asked, "chat": ""})[0] == 403
        assert post("/turns/request", {**asked, "more": 1})[0] == 400
        assert post("/channels/remember", {**TEAM, "text": "Tea"})[1]["outcome"] == "saved"
        assert "Tea" in str(post("/channels/open", {**TEAM, "session": "s"})[1]["text"])
        assert post("/channels/say", {**TEAM, "person": "u1", "text": "/memory"})[1] == {
            "reply": "- Tea",
            "action": None,
        }
        found = running.http.post("/workspace/memory/recall", json={"query": "tea"}, headers=BOT).json()
        assert "Tea" not in str(found)  # no agent's door is opened on that chat


def test_who_configures_nothing_has_no_gateway(machine: Machine) -> None:
    with machine.serve() as running:
        answer = running.http.post("/channels/open", json={**TEAM, "session": "s"}, headers=BOT)
        assert answer.status_code == 403


def test_what_an_agent_runs_is_no_gateway(machine: Machine) -> None:
    machine.configure('[gateways.bot]\nchannels = ["team-eng"]\n')
    asked = {**TEAM, "text": "Tea"}
    script = (
        "import httpx2, sys\n"
        "to = httpx2.Client(base_url='http://localhost', transport=httpx2.HTTPTransport(uds=sys.argv[1]))\n"
        f"print(to.post('/channels/remember', json={asked!r}, headers={BOT!r}).status_code)\n"
    )
    with machine.serve() as running:
        agent = machine.base / "claude"
        words = shlex.join([sys.executable, "-c", script, running.where["socket"]])
        agent.write_text(f"#!/bin/sh\n{words}\necho\n")
        agent.chmod(0o755)
        assert subprocess.run([agent], capture_output=True, text=True, check=True).stdout.split() == ["403"]
        alone = {**os.environ, "CLAUDECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", script, running.where["socket"]], env=alone, capture_output=True, check=True
        )
        assert done.stdout.split() == [b"403"]
        assert running.http.post("/channels/remember", json=asked, headers=BOT).status_code == 200


def test_who_has_the_token_of_the_port_is_no_gateway_by_that(machine: Machine) -> None:
    machine.configure('[gateways.bot]\nchannels = ["team-eng"]\n')
    with machine.serve("--port", "0") as running:
        token = Path(running.where["token_file"]).read_text("ascii")
        headers = {**BOT, "Authorization": f"Bearer {token}"}
        for place, body in (("remember", {**TEAM, "text": "Tea"}), ("say", {**TEAM, "person": "ann", "text": "/who"})):
            answer = httpx2.post(f"{running.where['url']}/channels/{place}", json=body, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "E_ACCESS")


@pytest.mark.parametrize(("name", "saved"), [("bot", False), ("'*'", False), ("other", True)])
def test_a_gateway_does_no_more_than_its_access(machine: Machine, name: str, saved: bool) -> None:
    rule = '[approvals.team]\nof = ["team-eng:ann"]\n[gateways.bot]\nchannels = ["team-eng"]\n'
    machine.configure(f'{rule}[access]\n{name} = "ro"\n')
    with machine.engine() as (engine, _):
        made = proposal(engine, kind="add", steps=[Write(AT, b"two\n", None)], by="claude", why="so",
                        evidence=[Evidence("turn", "s")])  # fmt: skip
        (number,) = (one.id for one in engine.proposals.add([made]))
    with machine.serve() as running:

        def post(place: str, text: str) -> httpx2.Response:
            return running.http.post(place, json={**TEAM, "person": "ann", "text": text}, headers=BOT)

        said = [
            post("/channels/say", text).json()["reply"] for text in ("/remember Milk", f"/approve {number}", "/who")
        ]
        assert ("Remembered." in said[0], "is applied" in said[1]) == (saved, saved)
        assert "Session" in said[2]
        answer = running.http.post("/channels/remember", json={**TEAM, "text": "Tea"}, headers=BOT)
        assert answer.status_code == (200 if saved else 403)
    with machine.engine() as (engine, _):
        assert (engine.proposals.get(number).state == "applied") is saved
        assert (engine.proposals.get(number).state == "open") is not saved
