"""Another machine: a memtui of its own home, reached by a child process, or by a real sshd on this machine."""

import json
import os
import pwd
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
_PRIVATE = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /run && mkdir /run/sshd && exec "$@"', "sh")
"""As root sshd wants a folder below /run; here it is in a view of the files that nobody else has."""


@pytest.fixture
def far_home(tmp_path: Path) -> Path:
    made = tmp_path / "far"
    made.mkdir()
    return made


def settings_of(far_home: Path, *, before: tuple[str, ...] = (), **more: object) -> str:
    """The settings that name `build`, a child process with that home; `before` is run with what would be run."""
    argv = [*before, "env", "-u", "CLAUDECODE", f"HOME={far_home}", f"MEMTUI_HOME={far_home / '.memtui'}"]
    keys = {"argv": argv, "command": [sys.executable, "-P", "-m", "memtui"], "project": str(far_home), **more}
    return "[hosts.build]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())


@pytest.fixture
def build(config: Path, far_home: Path) -> Path:
    """The settings, with `build` in them."""
    config.write_text(settings_of(far_home))
    return config


@pytest.fixture
def sshd(tmp_path: Path, config: Path, far_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A real sshd with keys of its own, and settings in which `build` is that; gives the file of keys we trust."""
    if SSHD is None or shutil.which("ssh") is None:
        pytest.skip("OpenSSH's server and client are not installed")
    place = tmp_path / "ssh"
    place.mkdir(mode=0o700)
    for name in ("host", "own"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / name], check=True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    variables = {"HOME": far_home, "MEMTUI_HOME": far_home / ".memtui", "PYTHONPATH": ROOT}
    (place / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {place / 'host'}\nAuthorizedKeysFile {place / 'own.pub'}\n"
        f"PidFile none\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n"
        f"SetEnv {' '.join(f'{name}={value}' for name, value in variables.items())}\n"
    )
    command = [SSHD, "-D", "-e", "-f", str(place / "sshd_config")]
    log = place / "log"
    with log.open("wb") as written:
        server = subprocess.Popen(_PRIVATE + tuple(command) if os.geteuid() == 0 else command, stderr=written)
        try:
            while b"Server listening" not in log.read_bytes():
                if server.poll() is not None:
                    pytest.skip(f"sshd does not start here: {log.read_text()[-300:]}")
            known = place / "known"
            known.write_text(f"[127.0.0.1]:{port} {(place / 'host.pub').read_text()}")
            (place / "ssh_config").write_text(
                f"Host build\n HostName 127.0.0.1\n Port {port}\n User {pwd.getpwuid(os.geteuid()).pw_name}\n"
                f" IdentityFile {place / 'own'}\n IdentitiesOnly yes\n UserKnownHostsFile {known}\n"
                " GlobalKnownHostsFile /dev/null\n ForwardAgent yes\n"
            )
            wrapper = place / "bin" / "ssh"
            wrapper.parent.mkdir()
            real = shlex.quote(str(shutil.which("ssh")))
            wrapper.write_text(f'#!/bin/sh\necho "$@" >> {place}/calls\nexec {real} -F {place}/ssh_config "$@"\n')
            wrapper.chmod(0o755)
            monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
            tried = subprocess.run(
                [wrapper, "-o", "BatchMode=yes", "build", "exit 0"], capture_output=True, check=False
            )
            if tried.returncode:
                pytest.skip(f"this user cannot log in here: {tried.stderr.decode()[-200:]} {log.read_text()[-300:]}")
            with (place / "ssh_config").open("a") as written_too:
                written_too.write(
                    " IgnoreUnknown *\n RemoteCommand sh\n SessionType none\n ForkAfterAuthentication yes\n"
                )
            command = [sys.executable, "-P", "-m", "memtui"]
            config.write_text(
                f"[hosts.build]\ncommand = {json.dumps(command)}\nproject = {json.dumps(str(far_home))}\n"
            )
            yield known
        finally:
            run = config.parent / "run"
            for kept in run.iterdir() if run.exists() else ():
                subprocess.run(["ssh", "-O", "exit", "-o", f"ControlPath={kept.name}", "build"], cwd=run, check=False)
            server.terminate()
            server.wait()
