"""The team's server, and a ledger that joined."""

import json
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.errors import MemtuiError, StorageError
from memtui.features.team import postgres
from memtui.features.team.postgres import TeamServer, _connection_options, team_server_of
from memtui.features.team.verbs import findings
from memtui.wire.session import Options, Session, open_session
from tests import team_server
from tests.conftest import ROOT
from tests.examples import sized, tried
from tests.house.interpreter import loaded_by_command
from tests.team_server import MEMBERS, Server, needed

pytestmark = needed


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO memtui.claim VALUES ('k', 'ann', 'h', 1, 1, 1, '')",
        "UPDATE memtui.schedule SET words = '[]'",
        "DELETE FROM memtui.claim",
        "TRUNCATE memtui.schedule",
        "CREATE TABLE memtui.mine ()",
        "CREATE OR REPLACE FUNCTION memtui.clock_ms() RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'",
        "SET SESSION AUTHORIZATION ann",
        "SET ROLE ann",
    ],
)
def test_a_member_touches_no_table_and_is_nobody_else(server: Server, statement: str) -> None:
    with pytest.raises(Exception, match=r"permission denied|must be owner"):
        server.sql(statement, "eve")


def test_a_claim_and_a_schedule_are_of_whoever_signed_in(server: Server) -> None:
    ann, bob = (team_server_of(server.url(name)) for name in MEMBERS[:2])
    assert ann.value("take", "k", "h", "") == 1
    assert bob.value("take", "k", "h", "") is None
    assert not bob.value("hold", "k", "h", 1, 1000)
    assert not bob.value("finish", "k", "h", 1, "ok")
    assert ann.value("take", "k", "h", "") == 2  # a lost answer is asked for again
    assert not ann.value("finish", "k", "h", 1, "ok")
    assert ann.value("finish", "k", "h", 2, "ok")
    assert ann.value("finish", "k", "h", 2, "ok")
    number = ann.value("add_schedule", "one", "* * * * *", "UTC", '["check"]', "", "")
    assert not bob.value("remove_schedule", number)
    with pytest.raises(MemtuiError, match="E_EXISTS"):
        bob.call("add_schedule", "one", "* * * * *", "UTC", '["check"]', "", "")
    assert ann.value("remove_schedule", number)
    assert ann.login == "ann"


def test_temporary_objects_of_a_member_are_not_what_functions_use(server: Server) -> None:
    server.sql("CREATE TEMP TABLE claim (); SELECT memtui.take('k', 'h', '')", "eve")
    assert server.sql("SELECT login FROM memtui.claim") == [("eve",)]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("postgresql://ann:secret@/team", "E_CONFIG"),
        ("postgresql://ann@db.example/team?sslmode=require", "E_CONFIG"),
        ("nonsense with blanks", "E_CONFIG"),
        ("postgresql://ann@/team?host=/nowhere", "E_OFFLINE"),
    ],
)
def test_an_address_that_is_none_or_not_safe_is_refused(url: str, code: str) -> None:
    with pytest.raises(MemtuiError) as refused:
        TeamServer(url).call("known")
    assert refused.value.code == code
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "name", "value"),
    [
        ("postgresql://ann@/team", "PGHOST", "db.example"),
        ("postgresql://ann@/team?host=/run", "PGHOSTADDR", "192.0.2.1"),
        ("postgresql://ann@localhost/team?hostaddr=192.0.2.1", "PGSSLMODE", "disable"),
        ("postgresql://ann@/team", "PGSSLMODE", "disable"),
    ],
)
def test_an_address_that_is_led_elsewhere_is_only_spoken_to_with_its_certificate(
    monkeypatch: pytest.MonkeyPatch, url: str, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert _connection_options(url)["sslmode"] == "verify-full"
    assert "sslmode" not in _connection_options("postgresql://ann@localhost/team") or name == "PGHOSTADDR"


@pytest.mark.parametrize(("url", "name"), [("postgresql:///team?service=x", "X"), ("postgresql:///team", "PGSERVICE")])
def test_no_service_file_says_where_the_server_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, name: str
) -> None:
    (tmp_path / "services").write_text("[x]\nhost=db.example\nsslmode=disable\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    monkeypatch.setenv(name, "x")
    with pytest.raises(MemtuiError, match="E_CONFIG"):
        _connection_options(url)


def test_who_is_no_member_and_where_no_team_is_it_is_said_so(server: Server) -> None:
    server.sql("REVOKE memtui_member FROM eve")
    for url, code in (
        (server.url("eve"), "E_ACCESS"),
        (server.url("ann").replace("/team", "/postgres"), "E_NOT_FOUND"),
    ):
        asked = TeamServer(url)
        with pytest.raises(MemtuiError) as refused:
            asked.call("schedules")
        asked.close()
        assert refused.value.code == code
    server.sql("UPDATE memtui.meta SET version = 3")
    with pytest.raises(MemtuiError, match="version 3"):
        TeamServer(server.url("ann")).call("known")


def test_what_somebody_is_asked_comes_before_however_many_requests_of_others(server: Server) -> None:
    ann, bob = (team_server_of(server.url(name)) for name in MEMBERS[:2])
    ann.call("join_as", "s")
    first = ann.value("ask", "s", 0, "x", "for bob", "", '["bob"]', 9_999_999_999_999)
    for number in range(1, 202):
        ann.call("ask", "s", number, "x", "for eve", "", '["eve"]', 9_999_999_999_999)
    assert bob.call("requests")[0][0] == first
    assert len(bob.call("requests")) == 200


def test_the_journal_of_a_team_is_read_as_it_came_whatever_the_numbers_of_each_ledger(server: Server) -> None:
    for name, count in (("ann", 30), ("bob", 3), ("eve", 20)):
        server.sql(
            f"INSERT INTO memtui.journal SELECT '{name}', 's', n, n, 'note', '', '', '', {9 - count // 10}"
            f" FROM generate_series(1, {count}) n"
        )
    found = [(row[0], row[2]) for row in team_server_of(server.url("ann")).call("records", 24)]
    eves = [("eve", number) for number in range(1, 21)]
    assert found == [("ann", 30), *eves, ("bob", 1), ("bob", 2), ("bob", 3)]


def test_a_number_that_is_too_large_counts_as_the_largest_and_stops_no_other(server: Server) -> None:
    ann = team_server_of(server.url("ann"))
    spent = [
        {"key": "org", "ref": ref, "at": 1, "amount": amount, "real": 1} for ref, amount in (("a", 10**12), ("b", 7))
    ]
    ann.call("debit", json.dumps(spent))
    assert ann.call("spent", "org", 0, 2) == [(10**9 + 7, 0)]


def test_what_nobody_waits_for_any_more_is_not_gone_on_with(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.sql(
        "CREATE TABLE memtui.late (); CREATE OR REPLACE FUNCTION memtui.clock_ms() RETURNS bigint LANGUAGE plpgsql"
        " SECURITY DEFINER AS 'BEGIN PERFORM pg_sleep(4); INSERT INTO memtui.late DEFAULT VALUES; RETURN 1; END'"
    )
    monkeypatch.setattr(postgres, "ANSWER_S", 1)
    asked = TeamServer(server.url("ann"))
    with pytest.raises(MemtuiError, match="E_OFFLINE"):
        asked.value("clock_ms")
    active = "SELECT 1 FROM pg_stat_activity WHERE usename = 'ann' AND state = 'active'"
    while server.sql(active, "root"):
        pass
    assert server.sql("SELECT * FROM memtui.late") == []


def asked(server: TeamServer, *words: str | int | bool) -> object:
    """Ask until there is an answer: the server may fail over meanwhile."""
    while True:
        try:
            return server.value(str(words[0]), *words[1:])
        except StorageError:
            server.close()


def test_when_the_server_fails_over_no_claim_is_had_twice_and_no_vote_is_lost() -> None:
    seed = random.Random(16)
    with team_server.made() as first, first.standby() as second:
        first.fresh()
        urls = [f"postgresql://{name}@/team?host={first.socket},{second.socket}" for name in MEMBERS]
        ann = TeamServer(urls[0])
        ann.call("join_as", "s")
        request = int(str(asked(ann, "ask", "s", 1, "x", "t", "p", '["bob", "eve"]', 9_999_999_999_999)))
        keys = [f"k{number}" for number in range(sized(50, 500))]

        def work(number: int) -> tuple[list[tuple[str, str]], list[bool]]:
            server, taken, voted = TeamServer(urls[number]), list[tuple[str, str]](), list[bool]()
            for key in random.Random(number).sample(keys, len(keys)):
                holder = uuid4().hex
                if asked(server, "take", key, holder, "") is not None:
                    taken.append((key, holder))
                if number and len(voted) < 40:
                    voted.append(seed.random() < 0.5)
                    asked(server, "cast_vote", request, voted[-1])
            server.close()
            return taken, voted

        with ThreadPoolExecutor(3) as pool:
            working = [pool.submit(work, number) for number in range(3)]
            most = seed.randrange(len(keys) // 4, len(keys) // 2)
            while int(str(first.sql("SELECT count(*) FROM memtui.claim", "root")[0][0])) < most:
                pass
            first.kill()
            second.run("pg_ctl", "-D", str(second.data), "-w", "promote")
            ended = [one.result() for one in working]
        ann.close()
        had = sorted(one for taken, _ in ended for one in taken)
        assert [key for key, _ in had] == sorted(keys)  # each once
        assert second.sql('SELECT key, holder FROM memtui.claim ORDER BY key COLLATE "C"', "root") == had
        for number, name in ((1, "bob"), (2, "eve")):
            rows = second.sql(f"SELECT answer FROM memtui.vote WHERE person = '{name}' ORDER BY id", "root")
            kept = iter([bool(row[0]) for row in rows])  # one whose answer was lost may be there twice
            assert all(yes in kept for yes in ended[number][1])
            assert len(rows) <= 41
        tried(claims_over_a_failover=len(had), votes_over_a_failover=sum(len(voted) for _, voted in ended))


def at_home(folder: Path, url: str, monkeypatch: pytest.MonkeyPatch, more: str = "") -> Session:
    """A machine that joined, with a journal."""
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(f'[team]\nurl = "{url}"\n{more}\n')
    monkeypatch.setenv("MEMTUI_HOME", str(folder))
    found = open_session(load_settings(read_environment()), Options(only_roots=True), lock_wait=5)
    found.engine.journal.add("team", {"joined": "x"})
    team_server_of(url).call("join_as", postgres.store_name(found.engine, found.settings))
    return found


def records(server: Server) -> list[tuple[object, ...]]:
    return server.sql("SELECT login, store, n, body, encode(hash, 'hex') FROM memtui.journal ORDER BY 1, 2, n")


def test_all_records_are_there_once_whoever_is_killed_and_however_often_it_is_sent(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes = [at_home(tmp_path / str(n), server.url(MEMBERS[n % 2]), monkeypatch) for n in range(5)]
    for one in homes:
        with one.engine.claims.together():
            for number in range(sized(40, 500)):
                one.engine.journal.add("note", {"number": number, "said": "\x1b[31m ../x \u202e \0"})
    sends = (
        "from memtui.features.team.postgres import push; from memtui.wire.session import *;"
        "from memtui.config.read import *;"
    )
    sends += "s = open_session(load_settings(read_environment()), Options(only_roots=True), lock_wait=5);"
    sends += "[push(s.engine, s.settings) for _ in iter(int, 1)]"  # until it is killed
    seed = random.Random(16)

    def killed(number: int) -> None:
        environment = {"MEMTUI_HOME": str(tmp_path / str(number % 5)), "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
        child = subprocess.Popen([sys.executable, "-c", sends], env=environment)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(seed.uniform(0.2, 0.7))
        child.send_signal(signal.SIGKILL)
        child.wait()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(killed, range(sized(10, 50))))
        list(pool.map(lambda one: postgres.push(one.engine, one.settings), homes))
    for one in homes:
        name = postgres.store_name(one.engine, one.settings)
        mine = [(record.n, record.body, record.hash.hex()) for record in one.engine.journal.records(-1, limit=10_000)]
        assert [row[2:] for row in records(server) if row[1] == name] == mine
    assert len(records(server)) == len({row[:3] for row in records(server)})
    tried(stores=len(homes), records=len(records(server)), kills=sized(10, 50))


def test_nothing_that_is_withheld_and_no_word_of_a_setting_leaves(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = at_home(tmp_path / "one", server.url("ann"), monkeypatch)
    here.engine.journal.add("change", {"operation": "observed", "path": "private.md"})
    here.engine.journal.add("setting", {"operation": "setting", "said": "x = 1, at /dev/pts/7"})
    for more in range(2):
        here.engine.journal.add("note", {"number": more})
        postgres.push(here.engine, here.settings)
    sent = records(server)
    assert [row[4] for row in sent] == [one.hash.hex() for one in here.engine.journal.records(-1, limit=9)]
    assert "{}" in [row[3] for row in sent]
    assert not any(word in str(sent) for word in ("observed", "private", "pts"))


def test_a_copied_home_and_a_forged_record_are_refused_and_a_new_name_goes_on(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.url("ann")
    first = at_home(tmp_path / "one", url, monkeypatch)
    assert postgres.push(first.engine, first.settings) == 2
    name = postgres.store_name(first.engine, first.settings)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    second = at_home(tmp_path / "two", url, monkeypatch)
    first.engine.journal.add("note", {"of": "the first"})
    first.engine.journal.add("note", {"of": "the first"})
    second.engine.journal.add("note", {"of": "the copy"})
    assert postgres.push(first.engine, first.settings) == 4
    for _ in range(2):
        postgres.begin(second, second.settings)
        assert (postgres.outage(second.engine) or ("", ""))[1] == "E_CHAIN"
        second.engine.journal.add("note", {"of": "the copy"})
    assert "another past" in next(findings(second)).text
    assert len(records(server)) == 4
    anew = at_home(tmp_path / "two", url, monkeypatch, 'store = "two"')
    postgres.begin(anew, anew.settings)
    assert postgres.outage(anew.engine) is None
    assert [row[1] for row in records(server)] == [name] * 4 + ["two"] * len(anew.engine.journal.records(-1, limit=100))
    _, two = anew.engine.journal.records(-1, limit=2)
    forged = two._replace(body='{"of":"another"}')
    later = forged._replace(n=5, prev=first.engine.journal.records(limit=1)[0].hash)
    other = later._replace(prev=bytes(32))
    for wrong in (forged._replace(hash=forged.made()), later, other._replace(hash=other.made())):
        sent = json.dumps([wrong._asdict() | {"prev": wrong.prev.hex(), "hash": wrong.hash.hex()}])
        with pytest.raises(MemtuiError, match="E_CHAIN"):
            team_server_of(url).call("push", name, sent)
    with pytest.raises(MemtuiError, match="did not join"):
        team_server_of(server.url("eve")).call("push", name, "[]")
    team_server_of(url).call("leave", name)
    assert postgres.push(first.engine, first.settings) == 0


def test_no_save_and_no_read_waits_for_a_server_that_hangs(tmp_path: Path, config: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (tmp_path / "text").write_text("one\n")
    with socket.socket(socket.AF_UNIX) as hangs:  # it listens, and never answers
        folder = tempfile.mkdtemp(prefix="memtui-")
        hangs.bind(f"{folder}/.s.PGSQL.5432")
        hangs.listen()
        config.write_text(f'[team]\nurl = "postgresql://ann@/team?host={folder}"\n[budgets.org]\nlimit = 1\n')
        config.write_text(config.read_text() + 'unit = "tokens"\nwindow = "day"\n')
        for words in (["create", "notes/a.md", "--file", str(tmp_path / "text")], ["view", "notes/a.md"]):
            done, loaded = loaded_by_command([f"--root=notes={notes}", "--only-root", *words], str(tmp_path / "loaded"))
            assert done.returncode == 0, done.stderr
            assert not any(name.startswith(("psycopg", "memtui.features.team")) for name in loaded)
        asked = TeamServer(f"postgresql://ann@/team?host={folder}")
        for _ in range(2):  # the second one at once
            with pytest.raises(MemtuiError, match="E_OFFLINE"):
                asked.call("known")
    shutil.rmtree(folder)
    assert (notes / "a.md").read_text() == "one\n"
