"""`--on HOST`: verbs are done there, by that memtui; nothing that comes back is believed, lost or made twice."""

import json
import os
import random
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.table import CLIENTS
from memtui.engine import Engine
from memtui.engine.model import Address, Root
from memtui.errors import UsageError
from memtui.features.hosts.machines import RemoteHost, pack, unpack
from memtui.features.hosts.remote import _UNKNOWN, RemoteCall, call
from tests.cli.conftest import Cli
from tests.examples import sized, tried
from tests.features.hosts.conftest import settings_of

NAME = "memtui:global/a.md"
OLD, NEW, THEIRS = b"Use tabs.\n", b"Use spaces.\n" * 8_000, b"Use both.\n"
ABSENT = "absent"


@given(st.lists(st.text(max_size=50), max_size=6), st.none() | st.binary(max_size=50))
def test_no_shell_can_read_anything_into_what_is_asked(words: list[str], text: bytes | None) -> None:
    packed = pack("abc123", words, text)
    assert packed.removeprefix("--asked=").replace("-", "").replace("_", "").isalnum()
    line, found = unpack(packed)
    assert line == "memtui answers abc123"
    assert (found if text is None else found[1:]) == words


@pytest.mark.parametrize("word", ["--asked=", "--asked=W10", "--asked=*", "--asked=WzEsMl0", "--asked=WyJhXG5iIiwiIl0"])
def test_what_nobody_packed_is_no_command(word: str) -> None:
    with pytest.raises(UsageError):
        unpack(word)


def test_a_verb_is_done_there_with_a_text_from_here(build: Path, cli: Cli, tmp_path: Path) -> None:
    hostile = "memtui:global/a b'$(touch x)`;.md"
    (tmp_path / "work" / "own.md").write_bytes(OLD)
    made = cli("--on", "build", "create", "--file", "own.md", hostile)
    assert made.status == 0, made.err
    assert cli("ls").out == ""
    assert cli("--on", "build", "view", "--", hostile).raw == OLD
    (row,) = cli("--on", "build", "ls", "--json").items
    assert (row["address"], row["unseen"]) == (hostile, True)
    assert str(row["actor"]).startswith("ssh:")
    assert cli("--on", "build", "view", "memtui:global/none.md").status == 4
    assert cli("--on", "build", "--version").out.startswith("memtui ")
    refused = cli("--on", "build", "save", hostile, "-", "--expect", "0" * 64, stdin=NEW)
    assert (refused.status, "E_CONFLICT" in refused.err) == (3, True)
    assert cli("host", "--json").items[0]["name"] == "build"
    assert cli("host", "test", "build").out.endswith(" 3 roots\n")


def test_an_agent_is_named_and_gets_no_terminal_there(
    build: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, person: object
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setattr("memtui.wire.session.SESSION_HOSTS", ())
    assert cli("--on", "build", "create", NAME, "-", stdin=OLD).status == 0
    assert cli("--on", "build", "ls", "--json").items[0]["actor"] == "agent:claude-code"
    shut = cli("--on", "build", terminal=True)
    assert "E_PERSON" in shut.err


def test_an_agent_that_is_shut_out_here_is_shut_out_there(build: Path, cli: Cli) -> None:
    build.write_text(build.read_text() + "[agents]\nenabled = false\n")
    assert "E_DISABLED" in cli("--on", "build", "tool", stdin=b"").err
    assert "E_DISABLED" in cli("--on", "build", "mcp", stdin=b"").err


@pytest.mark.parametrize("client", CLIENTS)
def test_an_agent_gets_the_memories_there_beside_those_of_here(client: str, build: Path, cli: Cli, home: Path) -> None:
    assert cli("install", client, "--on", "nobody", "--write").status == 5
    assert cli("install", client, "--on", "build", "--write").status == 0
    (file,) = [
        path for path in home.rglob("*") if path.suffix in (".json", ".toml") and b"--on=build" in path.read_bytes()
    ]
    text = file.read_text()
    assert "memtui-build" in text
    assert "hook" not in text
    assert cli("install", client, "--write").status == 0
    assert "as it should be" in cli("install", client, "--on", "build").err
    assert cli("uninstall", client, "--on", "build", "--write").status == 0
    assert "memtui-build" not in file.read_text()
    assert "as it should be" in cli("install", client).err


FAKE = """
import re, sys, base64, json, time
packed = next(word for word in sys.argv if word.startswith("--asked="))[8:]
mark = json.loads(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))[0]
def both(text):
    sys.stdout.write(text); sys.stderr.write(text); sys.stdout.flush(); sys.stderr.flush()
begin = "memtui answers " + mark + "\\n"
"""
BAD = {
    "a login that prints and then answers": ('both("noise " * 9999 + "\\n" + begin); print("{}")', 0, ""),
    "a login that prints without end": ('both("noise " * 400000); both(begin)', 7, "E_REMOTE"),
    "no memtui": ("sys.exit(127)", 7, "E_REMOTE"),
    "an older one": ('sys.exit("memtui has no option --asked")', 7, "E_REMOTE"),
    "a mark that somebody guessed": ('both("memtui answers 0000\\n")', 7, "E_REMOTE"),
    "half of an answer": ("both(begin + '{\"items\": ['); import os; os.kill(os.getpid(), 9)", 6, "E_OFFLINE"),
    "an unknown key": ('sys.stderr.write("Host key verification failed.\\n"); sys.exit(255)', 5, "E_HOST"),
    "no route": ('sys.stderr.write("No route\\x1b[31m to host\\n"); sys.exit(255)', 6, "E_OFFLINE"),
    "a line of controls": ('both(begin)\nprint("{}\\x1b[2J\\u202e\\ta")', 0, ""),
    "an answer without end": ('both(begin)\nwhile True: sys.stdout.write("x" * 999999)', 7, "E_REMOTE"),
}


@pytest.mark.parametrize("kind", BAD)
def test_nothing_of_the_other_machine_is_believed(kind: str, config: Path, cli: Cli, tmp_path: Path) -> None:
    does, status, code = BAD[kind]
    (tmp_path / "fake.py").write_text(FAKE + does)
    config.write_text(f"[hosts.build]\nargv = {json.dumps([sys.executable, str(tmp_path / 'fake.py')])}\n")
    found = cli("--on", "build", "ls", "--json")
    assert found.status == status
    assert "\x1b" not in found.err + found.out
    assert found.error["code"] == code if code else found.out[:2] == "{}"
    if code == "E_OFFLINE":
        assert found.error["unharmed"] == ("Nothing was changed." if "route" in kind else _UNKNOWN)
        assert cli("--on", "build", "rm", "x.md", "--json").error["unharmed"] == _UNKNOWN


def test_a_text_is_read_there_from_here(build: Path, cli: Cli) -> None:
    words = [sys.executable, "-P", "-m", "memtui", "--on", "build", "check", "-"]
    done = subprocess.run(words, input=b"The key is AKIAIOSFODNN7EXAMPLQ\n", capture_output=True, check=False)
    assert done.returncode == 8, done.stderr
    assert cli("--on", "build", "serve").status == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_call_ends_with_us(tmp_path: Path, number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_DFL)
    does = "import os\nopen(sys.argv[1], 'w').write(str(os.getpid()))\nboth(begin + 'x')\ntime.sleep(99)"
    (tmp_path / "fake.py").write_text(FAKE + does)
    argv = [sys.executable, str(tmp_path / "fake.py"), str(tmp_path / "pid")]
    with pytest.raises(SystemExit, match=str(128 + number)):
        call(RemoteCall(RemoteHost("build", "", tuple(argv), (), "", ""), ()), lambda _: os.kill(os.getpid(), number))
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert signal.signal(number, before) is signal.SIG_DFL


@pytest.mark.parametrize("name", ["-oProxyCommand=x", "a b", "$(x)", ""])
def test_a_host_cannot_be_an_option_of_ssh(name: str, config: Path, cli: Cli) -> None:
    config.write_text(f'[hosts.build]\nssh = "{name}"\n')
    assert cli("host").status == 2
    config.write_text(f'[hosts."{name}"]\n')
    assert cli("host").status == 2


CUT = """
import io, os, pathlib, sys
plan, file, *words = sys.argv[1:]
cuts = pathlib.Path(plan).read_text().split()
pathlib.Path(plan).write_text(" ".join(cuts[1:]))
where, _, at = (cuts or ["none:0"])[0].partition(":")
given = sys.stdin.buffer.read()
if where == "before":
    os._exit(255)
if where == "in":
    given = given[: int(at)]
out = io.BytesIO()
sys.stdin = io.TextIOWrapper(io.BytesIO(given))
sys.stdout = io.TextIOWrapper(out, write_through=True)
from memtui.cli.main import run
status = run(words)
if where == "theirs":
    pathlib.Path(file).write_bytes(b"Use both.\\n")
if where == "undone":
    run(["undo"])
os.write(1, out.getvalue()[: int(at)] if where in ("out", "theirs", "undone") else out.getvalue())
os._exit(status if where == "none" else 255)
"""


def test_a_save_whose_connection_is_cut_is_made_once(
    config: Path, cli: Cli, tmp_path: Path, far_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.features.hosts.remote.RETRY_DELAYS", (0.0, 0.0))
    config.write_text(settings_of(far_home, command=cutting(tmp_path, far_home)))
    saved_once(cli, tmp_path, far_home, sized(10, 100))
    tried(cuts=sized(10, 100))


def cutting(folder: Path, far_home: Path) -> list[str]:
    """Give the words that run memtui there, and cut its connection as the plan in a folder says."""
    (folder / "cut.py").write_text(CUT)
    return [sys.executable, str(folder / "cut.py"), str(folder / "plan"), str(far_file(far_home))]


def far_file(far_home: Path) -> Path:
    return far_home / ".memtui" / "memory" / "global" / "a.md"


def saved_once(cli: Cli, folder: Path, far_home: Path, many: int) -> None:
    """Save again and again, each time cut elsewhere, and look there what came of it."""
    plan, file, chosen = folder / "plan", far_file(far_home), random.Random(7)
    kinds = ["before:0", "in:0", f"in:{len(NEW) - 1}", "out:0", "out:30", "out:9999", "undone:0", "theirs:0"]
    for count in range(many):
        cut = kinds[count] if count < len(kinds) else f"{chosen.choice(['in', 'out'])}:{chosen.randrange(2_000)}"
        data = b"%d\n" % count + NEW
        plan.write_text("")
        before = file.read_bytes() if file.exists() else None
        expected = sha256(before).hexdigest() if before is not None else "absent"
        plan.write_text(cut)
        found = cli("--on", "build", "save", NAME, "-", "--expect", expected, stdin=data)
        if cut.startswith("theirs"):
            assert (found.status, file.read_bytes()) == (3, THEIRS), cut
        elif cut.startswith("undone"):
            assert (found.status, file.read_bytes()) == (3, before), (cut, found.err)
        else:
            assert found.status == 0, (cut, found.err)
            assert file.read_bytes() == data, cut
        with Engine.open((Root("memtui:global", str(file.parent)),), state_dir=str(far_home / ".memtui")) as engine:
            made = engine.history.of(Address("memtui:global", "a.md"))
        assert [one.sha256 for one in made if not one.note].count(sha256(data).hexdigest()) == 1, cut
