"""A budget of a team: over by calls in flight at most, one alert, and a guess while the server is away."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.errors import MemtuiError
from memtui.features.budgets.limits import admit, debit, state
from memtui.features.team.postgres import TeamServer, outage, require_server, store_name
from memtui.features.team.verbs import team_json
from memtui.wire.session import Options, Session, open_session
from tests.examples import sized, tried
from tests.team_server import MEMBERS, Server, needed

pytestmark = needed
CALL, LIMIT = 10, sized(600, 6_000)
Machine = Callable[[int], Session]


@pytest.fixture
def machine(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Machines that joined, with a budget for all; each has an own connection, as processes do."""
    opened: list[Session] = []

    def make(number: int) -> Session:
        home = tmp_path / str(number)
        home.mkdir()
        (home / "config.toml").write_text(
            f'[budgets.org]\nlimit = {LIMIT}\nunit = "tokens"\nwindow = "month"\nalert = "ops"\n[delivery.ops]\n'
            f'kind = "webhook"\nurl = "https://hooks.example.org/x"\n[team]\nurl = "{server.url(MEMBERS[number % 3])}'
            f'&fallback_application_name=m{number}"\n'
        )
        monkeypatch.setenv("MEMTUI_HOME", str(home))
        found = open_session(load_settings(read_environment()), Options(only_roots=True), lock_wait=5)
        opened.append(found)
        found.engine.journal.add("team", {"joined": "x"})
        require_server(found.settings).call("join_as", store_name(found.engine, found.settings))
        return found

    yield make
    for one in opened:
        require_server(one.settings).close()
        one.engine.close()


def allowed(session: Session) -> bool:
    return admit(session.engine, session.settings, lane="l").allowed


def use(session: Session, ref: str, tokens: int = CALL, *, real: bool = True) -> None:
    debit(session.engine, ["org"], ref, tokens, real=real)


def spent(session: Session) -> tuple[int, int]:
    found = state(session.engine, session.settings, "org", ask=True).spent
    return found.real, found.estimate


def test_eight_spenders_go_over_by_calls_in_flight_at_most_and_one_alert_is_sent(machine: Machine) -> None:
    machines = [machine(number) for number in range(8)]

    def spend(number: int) -> int:
        count = 0
        while allowed(machines[number]):
            use(machines[number], f"{number}-{count}")
            count += 1
        return count

    with ThreadPoolExecutor(8) as pool:
        calls = sum(pool.map(spend, range(8)))
    assert LIMIT <= calls * CALL <= LIMIT + 8 * CALL
    assert {spent(one) for one in machines} == {(calls * CALL, 0)}
    alerts = [task.request["content"] for one in machines for task in one.engine.tasks.all()]
    assert 1 <= len(alerts) <= 2  # at 75 and at 95 per cent, each once
    assert len({str(one).partition(" %")[0] for one in alerts}) == len(alerts)
    tried(spenders=8, calls=calls, alerts=len(alerts))


def test_while_the_server_is_away_what_others_spent_warns_and_declines_nobody(server: Server, machine: Machine) -> None:
    first, second = machine(0), machine(1)
    use(first, "a", LIMIT - CALL)
    use(first, "b", CALL, real=False)
    assert spent(first) == (LIMIT - CALL, CALL)
    use(first, "b", CALL)  # the real number
    assert not allowed(first)
    assert not allowed(second)
    server.stop()
    try:
        there = admit(second.engine, second.settings, lane="l")
        assert (there.allowed, there.advisory) == (True, True)
        assert not allowed(first)  # it knows by itself
        use(second, "c")
        away = outage(second.engine)
        assert away is not None
        assert away[1] == "E_OFFLINE"
    finally:
        server.start()
    require_server(second.settings).close()
    assert spent(second) == (LIMIT + CALL, 0)
    assert team_json(second)["away"] is None


@pytest.mark.parametrize("amount", [0, -5, 10**30, "NaN"])
def test_a_number_that_is_none_is_refused(server: Server, amount: object) -> None:
    eve = TeamServer(server.url("eve"))
    with pytest.raises(MemtuiError):
        eve.call("debit", json.dumps([{"key": "org", "ref": "x", "at": 1, "amount": amount, "real": 1}]))
    eve.close()
    assert server.sql("SELECT * FROM memtui.spend") == []
