"""Gateways over HTTP: only those that the settings name say who asked and where, and only for their channels."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest

from memtui.engine.model import Address, Write
from memtui.engine.proposal import Evidence
from memtui.features.proposals.value import proposal
from tests.daemon.running import Machine
from tests.daemon.test_client import free_port

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
    with machine.serve("--port", str(free_port())) as running:
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
