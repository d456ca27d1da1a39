"""The journal on the team's server: all of it, in order, once; what was forged or copied is refused."""

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

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.errors import MemtuiError
from memtui.features.team import store
from memtui.features.team.postgres import TeamServer, team_server_of
from memtui.features.team.verbs import findings
from memtui.wire.session import Options, Session, open_session
from tests.conftest import ROOT
from tests.examples import sized, tried
from tests.house.interpreter import loaded_by_command
from tests.team_server import MEMBERS, Server, needed

pytestmark = needed


def at_home(folder: Path, url: str, monkeypatch: pytest.MonkeyPatch, more: str = "") -> Session:
    """A machine that joined, with a journal."""
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(f'[team]\nurl = "{url}"\n{more}\n')
    monkeypatch.setenv("MEMTUI_HOME", str(folder))
    found = open_session(load_settings(read_environment()), Options(only_roots=True), lock_wait=5)
    found.engine.journal.add("team", {"joined": "x"})
    team_server_of(url).call("join_as", store.store_name(found.engine, found.settings))
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
        "from memtui.features.team import store; from memtui.wire.session import *; from memtui.config.read import *;"
    )
    sends += "s = open_session(load_settings(read_environment()), Options(only_roots=True), lock_wait=5);"
    sends += "[store.push(s.engine, s.settings) for _ in iter(int, 1)]"  # until it is killed
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
        list(pool.map(lambda one: store.push(one.engine, one.settings), homes))
    for one in homes:
        name = store.store_name(one.engine, one.settings)
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
        store.push(here.engine, here.settings)
    sent = records(server)
    assert [row[4] for row in sent] == [one.hash.hex() for one in here.engine.journal.records(-1, limit=9)]
    assert "{}" in [row[3] for row in sent]
    assert not any(word in str(sent) for word in ("observed", "private", "pts"))


def test_a_copied_home_and_a_forged_record_are_refused_and_a_new_name_goes_on(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.url("ann")
    first = at_home(tmp_path / "one", url, monkeypatch)
    assert store.push(first.engine, first.settings) == 2
    name = store.store_name(first.engine, first.settings)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    second = at_home(tmp_path / "two", url, monkeypatch)
    first.engine.journal.add("note", {"of": "the first"})
    first.engine.journal.add("note", {"of": "the first"})
    second.engine.journal.add("note", {"of": "the copy"})
    assert store.push(first.engine, first.settings) == 4
    for _ in range(2):
        store.begin(second, second.settings)
        assert (store.outage(second.engine) or ("", ""))[1] == "E_CHAIN"
        second.engine.journal.add("note", {"of": "the copy"})
    assert "another past" in next(findings(second)).text
    assert len(records(server)) == 4
    anew = at_home(tmp_path / "two", url, monkeypatch, 'store = "two"')
    store.begin(anew, anew.settings)
    assert store.outage(anew.engine) is None
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
    assert store.push(first.engine, first.settings) == 0


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
