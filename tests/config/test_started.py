"""How a process was started, read from real processes."""

import json
import os
import subprocess
import sys

import pytest

from memtui.config.started import Started, read_peer, read_started
from tests.terminal import Terminal

TELL = (
    "import json; from memtui.config.started import read_peer, read_started as r; s = r();"
    "print(json.dumps([s.terminal, [[p.title, list(p.names), p.login] for p in s.programs[:2]]]))"
)
pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there is no /proc")


def test_the_program_above_and_its_script_are_known() -> None:
    launch = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", launch, sys.executable, "-c", TELL],
        capture_output=True, check=True, start_new_session=True,
    )  # fmt: skip
    terminal, (_, (title, names, login)) = json.loads(done.stdout)
    assert (terminal, login) == ("", False)
    assert title.startswith("python")
    assert names[0] == os.path.basename(sys.executable)


def test_another_process_is_known_by_those_above_it_and_the_environment_it_was_started_with() -> None:
    environ = {**os.environ, "CLAUDECODE": "1"}
    command = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # before it begins, it has no environment
        found = read_peer(process.pid)
        assert found.programs[1:] == read_started().programs
        assert (dict(found.environ), found.terminal) == (environ, "")
        process.communicate(b"\n")
    assert read_peer(process.pid) == Started()


def test_a_login_shell_is_told_by_its_first_letter() -> None:
    done = subprocess.run(
        ["-sh", "-c", f'"{sys.executable}" -c "$0"; true', TELL], executable="/bin/sh", capture_output=True, check=True
    )
    _, (_, (_, names, login)) = json.loads(done.stdout)
    assert (names, login) == (["sh"], True)


def test_the_controlling_terminal_has_a_name() -> None:
    with Terminal([sys.executable, "-c", TELL], columns=200) as terminal:
        terminal.wait_exit()
        assert '["pts/' in terminal.text


def test_the_environment_is_part_of_it_and_the_search_ends_at_the_first_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    started = read_started()
    assert dict(started.environ)["CLAUDECODE"] == "1"
    assert started.programs[0].title == "tmux: server"  # what the tests call themselves
