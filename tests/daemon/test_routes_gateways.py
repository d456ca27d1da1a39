"""Gateways over HTTP: only those that the settings name say who asked and where, and only for their channels."""

from collections.abc import Mapping

from tests.daemon.running import Machine

BOT = {"X-Memtui-Client-Id": "bot", "Content-Type": "application/json"}
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
