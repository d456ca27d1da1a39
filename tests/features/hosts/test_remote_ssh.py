"""The same by OpenSSH itself, against a real server on this machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.examples import sized, tried
from tests.features.hosts.test_verbs import cutting, saved_once

NAME = "memtui:global/a b'$(x)`y`;.md"


def test_verbs_are_done_there_over_one_connection(sshd: Path, cli: Cli) -> None:
    made = cli("--on", "build", "create", NAME, "-", stdin=b"Use tabs.\n")
    assert made.status == 0, made.err
    assert cli("--on", "build", "ls", "--names").lines == [NAME]
    masters = list((Path.home() / ".memtui-test" / "run").iterdir())
    assert [each.is_socket() for each in masters] == [True]
    assert cli("--on", "build", "seen", "--all").status == 5  # a person's, and there is no terminal there


def test_a_machine_whose_key_nobody_saw_is_not_asked(sshd: Path, cli: Cli) -> None:
    kept = sshd.read_text()
    sshd.write_text("")
    assert "E_HOST" in cli("--on", "build", "ls").err
    sshd.write_text(" ".join(kept.split()[:2]) + " " + (sshd.parent / "own.pub").read_text().split()[1])
    assert "E_HOST" in cli("--on", "build", "ls").err
    client = sshd.parent / "ssh_config"
    client.write_text(client.read_text().replace(" Port ", " Port 1 #"))
    assert cli("--on", "build", "ls", "--json").error["code"] == "E_OFFLINE"


def test_nothing_of_ours_is_forwarded(
    sshd: Path, config: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, agent = tmp_path / "environment", tmp_path / "agent"
    if len(str(agent)) > 85:
        pytest.skip("the test's folder has too long a path for a socket")
    config.write_text(f"[hosts.build]\ncommand = {json.dumps(['sh', '-c', f'env >{found}'])}\n")
    with subprocess.Popen(["ssh-agent", "-D", "-a", agent], stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None
            running.stdout.readline()
            monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
            assert cli("--on", "build", "ls").status == 7
            assert "SSH_CONNECTION" in found.read_text()
            assert "SSH_AUTH_SOCK" not in found.read_text()
        finally:
            running.terminate()


def test_an_agents_tool_here_reaches_the_memories_there(sshd: Path, cli: Cli) -> None:
    calls = [
        {"command": "create", "path": "/memories/global/b.md", "file_text": "Use tabs.\n"},
        {"command": "view", "path": "/memories/global/b.md"},
    ]
    words = [sys.executable, "-P", "-m", "memtui", "--on", "build", "tool", "--client", "x"]
    given = "".join(json.dumps(call) + "\n" for call in calls)
    done = subprocess.run(words, input=given, capture_output=True, text=True, check=False)
    assert [json.loads(line)["ok"] for line in done.stdout.splitlines()] == [True, True], done.stderr
    assert cli("--on", "build", "ls", "--json").items[0]["actor"] == "tool:x"
    assert cli("ls").out == ""


def test_a_save_whose_connection_is_cut_is_made_once(
    sshd: Path, config: Path, cli: Cli, tmp_path: Path, far_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.features.hosts.remote.RETRY_DELAYS", (0.0, 0.0))
    told = {"command": cutting(tmp_path, far_home), "project": str(far_home)}
    config.write_text("[hosts.build]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in told.items()))
    saved_once(cli, tmp_path, far_home, sized(9, 500))
    tried(cuts_over_ssh=sized(9, 500))
