"""Schedules of the team: each due time once whoever comes to it, also when its owner sleeps or is killed."""

import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine import Engine
from memtui.engine.ledger.schedules import PlannedRun
from memtui.engine.task import OPEN
from memtui.errors import MemtuiError
from memtui.features.schedules import due
from memtui.features.schedules.due import TeamSchedules
from memtui.features.schedules.plan import add
from memtui.features.schedules.verbs import schedule_json
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.work import workspace_of
from memtui.features.team.postgres import outage, team_server_of
from memtui.features.team.verbs import findings
from memtui.wire.session import Options, Session, open_session
from tests.conftest import ROOT, Clock
from tests.examples import chosen_seed, sized, tried
from tests.features.schedules.test_due import DAY, SPECS, ZONES, until
from tests.team_server import MEMBERS, Server, needed

pytestmark = needed
Machine = Callable[..., Session]


@pytest.fixture
def machine(server: Server, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Machines of members, each with its own home; all have the job `say`, which writes down that it ran."""
    opened: list[Session] = []

    def make(login: str, more: str = "", job: str = "echo ran >> $0; echo done") -> Session:
        home = tmp_path / f"{login}-{len(opened)}"
        home.mkdir()
        argv = json.dumps(["/bin/sh", "-c", job, str(tmp_path / "ran")])
        (home / "config.toml").write_text(
            f'[jobs.say]\nargv = {argv}\ncwd = "{tmp_path}"\n[team]\nurl = "{server.url(login)}"\n{more}\n'
        )
        monkeypatch.setenv("MEMTUI_HOME", str(home))
        found = open_session(load_settings(read_environment()), Options(only_roots=True), lock_wait=5)
        engine = Engine.open(found.roots, state_dir=found.settings.state_dir, clock=clock)
        opened.append(found._replace(engine=engine))
        return opened[-1]

    yield make
    for one in opened:
        one.engine.close()


def made(session: Session, server: Server, *words: str) -> None:
    """Make a daily schedule that is due since midnight."""
    found = TeamSchedules(team_server_of(session.settings.team_url))
    words = words or ("job", "say", "text")
    wanted = PlannedRun(0, "one", "0 0 * * *", "UTC", words, "", "", "cli", "x", 0, 0)
    add(session.engine, session.settings, wanted, table=found)
    server.sql("UPDATE memtui.schedule SET upto = upto - 86400000")


def again(server: Server) -> None:
    """Have it due once more, as if nobody had run it."""
    server.sql("DELETE FROM memtui.claim; UPDATE memtui.schedule SET upto = upto - 86400000")


def table(server: Server, login: str) -> TeamSchedules:
    return TeamSchedules(team_server_of(server.url(login)))


def look(session: Session) -> list[str]:
    """Queue what is due for the team, and work it off."""
    lane = workspace_of(session.surroundings)
    due.queue_team_due(session.engine, session.settings, lane.id)
    work_off(session, workspace=lane, stop=bool)
    return [str((task.result or {}).get("summary", task.state)) for task in session.engine.tasks.all()]


def ran(tmp_path: Path) -> int:
    return len((tmp_path / "ran").read_text().splitlines()) if (tmp_path / "ran").exists() else 0


def test_a_due_time_runs_on_one_machine_of_whom_it_names(server: Server, machine: Machine, tmp_path: Path) -> None:
    first, second, other = machine("ann"), machine("ann"), machine("bob")
    made(first, server)
    assert look(other) == []  # bob's settings do not name ann
    assert look(first) == ["one: done"]
    assert look(second) == []
    assert ran(tmp_path) == 1
    again(server)
    assert look(machine("bob", 'runs = ["ann"]')) == ["one: done"]
    assert ran(tmp_path) == 2
    (row,) = table(server, "eve").all()
    assert (row.creator, row.failures, row.paused) == ("team:ann", 0, "")
    assert [outage(one.engine) for one in (first, second, other)] == [None] * 3


def test_one_member_stops_no_schedule_of_another(server: Server, machine: Machine) -> None:
    first, eve = machine("ann"), team_server_of(server.url("eve"))
    for number, words in enumerate(("[", "5", "[]", "[5]", '[["job"]]', "x" * 20_001)):
        with pytest.raises(MemtuiError):
            eve.call("add_schedule", f"bad{number}", "0 0 * * *", "UTC", words, "", "")
    for name, spec, zone in (("a", "0 0 * * *", "Nowhere/X"), ("b", "* *", "UTC"), ("c", "@once 9999-99", "UTC")):
        eve.call("add_schedule", name, spec, zone, '["job"]', "", "")
    made(first, server)
    number = table(server, "ann").get("one").id
    for wrong in (f"run:{number}:4102444800000", f"run:{number}:{10**17}", f"run:{number}:x", "run:"):
        assert eve.value("take", wrong, "h", "") is None
    server.sql(f"INSERT INTO memtui.claim VALUES ('run:{number}:4102444800000', 'eve', 'h', 1, 1, 1, '')")
    assert eve.value("finish_run", number, 4_102_444_800_000, "h", 1, "ok", "")
    assert look(first) == ["one: done"]
    rows = table(server, "bob").all()
    assert [row.name for row in rows if "cannot be read" in row.paused] == ["a", "b", "c"]
    assert [schedule_json(first, row)["next"] is None for row in rows] == [True] * 3 + [False]
    server.sql("UPDATE memtui.schedule SET upto = 4102444800000")
    table(server, "bob").pause(number, "")
    assert table(server, "bob").get("one").upto < 4_102_444_800_000


def test_who_slept_or_was_killed_is_followed_by_another_and_says_nothing(
    server: Server, machine: Machine, tmp_path: Path
) -> None:
    first, second = machine("ann"), machine("ann")
    made(first, server)
    lane = workspace_of(first.surroundings)
    due.queue_team_due(first.engine, first.settings, lane.id)  # it took the due time, and sleeps
    assert look(second) == []
    server.sql("UPDATE memtui.claim SET until = 0")
    assert look(second) == ["one: done"]
    assert look(first) == ["one: another machine took it over."]
    assert ran(tmp_path) == 1
    again(server)
    takes_over = f'PYTHONPATH={ROOT} {sys.executable} -c \'import psycopg; psycopg.connect("{server.url("owner")}", '
    takes_over += 'autocommit=True).execute("UPDATE memtui.claim SET fence = 9")\'; echo done'
    assert look(machine("ann", job=takes_over)) == ["one: another machine took it over."]  # while it ran
    assert server.sql("SELECT state FROM memtui.claim") == [("",)]


def test_what_fails_five_times_is_paused_and_a_machine_that_cannot_run_it_leaves_it(
    server: Server, machine: Machine, clock: Clock
) -> None:
    first = machine("ann", job="exit 3")
    made(first, server)
    server.sql("UPDATE memtui.schedule SET failures = 4")
    assert look(first) == ["queued"]  # again in a minute
    for minutes in (2, 6):
        clock.advance(seconds=60 * minutes)
        assert look(first) == ["queued"]
    clock.advance(seconds=1000)
    assert look(first) == ["failed"]
    (row,) = table(server, "bob").all()
    assert "5 times" in row.paused
    table(server, "bob").pause(row.id, "")
    again(server)
    config = Path(first.settings.config_file)
    config.write_text(config.read_text().replace("jobs.say", "jobs.other"))
    assert look(first._replace(settings=load_settings(read_environment()))) == ["failed"]


def test_while_the_server_is_away_schedules_wait_and_it_is_told(server: Server, machine: Machine, clock: Clock) -> None:
    first = machine("ann")
    made(first, server)
    lane = workspace_of(first.surroundings)
    due.queue_team_due(first.engine, first.settings, lane.id)
    server.stop()
    try:
        assert look(first) == ["queued"]
        (finding,) = findings(first)
        assert "since 2026-01-01T00:00:00.000Z: The team's server cannot be used now" in finding.text
    finally:
        server.start()
    clock.advance(seconds=61)
    team_server_of(server.url("ann")).close()
    assert look(first) == ["one: done"]
    assert list(findings(first)) == []


def test_each_due_time_of_a_year_ran_once_or_is_told_as_missed(
    server: Server, machine: Machine, clock: Clock, tmp_path: Path
) -> None:
    """The server's clock is stepped; of three owners each may die once it took a due time, and another follows."""
    seed = chosen_seed()
    chance = random.Random(seed)
    owners = [machine(login, 'runs = ["*"]') for login in MEMBERS]
    server.sql(
        f"CREATE TABLE memtui.stepped AS SELECT {clock.now}::bigint AS ms;"
        "CREATE OR REPLACE FUNCTION memtui.clock_ms() RETURNS bigint LANGUAGE sql SECURITY DEFINER"
        " AS 'SELECT ms FROM memtui.stepped'"
    )
    found = table(server, "ann")
    for number, spec in enumerate(SPECS * sized(1, 5)):
        words, zone = ("job", "say", "text"), ZONES[number % 5]
        wanted = PlannedRun(0, f"s{number}", spec, zone, words, "", "", "cli", "x", 0, 0)
        add(owners[0].engine, owners[0].settings, wanted, table=found)
    made, ran, kills = found.all(), list[tuple[int, int]](), 0
    begin, end = clock.now, clock.now + 365 * DAY
    while clock.now < end:
        clock.advance(seconds=chance.choice((60, 20_000, 90_000, 700_000)))
        server.sql(f"UPDATE memtui.stepped SET ms = {clock.now}")
        for one in chance.sample(owners, chance.randrange(4)):
            due.queue_team_due(one.engine, one.settings, "l")
            assert outage(one.engine) is None
            for task in one.engine.tasks.all(None, OPEN):
                one.engine.tasks.cancel(task.id)
                run = due.team_run(one.settings, task.request)
                assert run is not None
                if chance.random() < 0.1:
                    kills += 1
                elif run.finish("ok"):
                    ran.append((run.id, run.due))
    assert len(ran) == len(set(ran)) > len(made), f"seed {seed}: a due time ran twice"
    finished = server.sql("SELECT key, note FROM memtui.claim WHERE state = 'ok'")
    for each in found.all():
        missed = sum(int(str(note).split()[0].rstrip("+")) for key, note in finished if note and _of(key) == each.id)
        coming = until(each.upto, due.due_times(each.spec, each.zone, begin))
        mine = [at for number, at in ran if number == each.id]
        assert set(mine) <= set(coming), f"seed {seed}"
        assert len(mine) + missed == len(coming), f"seed {seed}: {each.spec} {each.zone}"
    tried(schedules_on_postgresql=len(made), runs_on_postgresql=len(ran), kills_on_postgresql=kills)


def _of(key: object) -> int:
    return int(str(key).split(":")[1])
