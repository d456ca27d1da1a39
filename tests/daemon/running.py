"""A real `memtui serve` in a process of its own, on a machine of its own, and what to ask it with."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from memtui.config.read import load_settings
from memtui.config.surroundings import surroundings_from
from memtui.engine import Engine
from memtui.features.tasks.work import Workspace, workspace_of
from memtui.wire.session import Options, Session, open_in
from tests.conftest import ROOT

JSON = {"Content-Type": "application/json"}
CURL = shutil.which("curl")


class Machine:
    """A home folder with one project, below a path that is short enough for a socket."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.project = base / "h/proj"
        self.project.mkdir(parents=True)
        self.state = base / "h/m"
        self.state.mkdir()
        self.socket = self.state / "run/memtui.sock"

    def environ(self, **more: str) -> dict[str, str]:
        own = {"HOME": str(self.base / "h"), "MEMTUI_HOME": str(self.state), "PYTHONPATH": str(ROOT)}
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC", **own, **more}

    def configure(self, text: str) -> None:
        (self.state / "config.toml").write_text(text)

    def memtui(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "memtui", *words],
            cwd=self.project, env=self.environ(**environ), capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def session(self) -> Session:
        settings = load_settings(self.environ())
        return open_in(surroundings_from(settings, cwd=str(self.project)), settings, Options(), lock_wait=5)

    @contextmanager
    def engine(self) -> Iterator[tuple[Engine, Workspace]]:
        """An engine of this process on the same memories, and the workspace."""
        session = self.session()
        with session.engine:
            yield session.engine, workspace_of(session.surroundings)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Hold the lane, so that nothing that is queued begins."""
        with self.engine() as (engine, workspace):
            while True:
                with engine.tasks.lane(workspace.id) as held:
                    if held:
                        yield
                        return

    @contextmanager
    def serve(self, *words: str, **environ: str) -> Iterator[Running]:
        running = Running(self, words, environ)
        try:
            yield running
        finally:
            running.stop()


class Running:
    """A daemon that listens."""

    def __init__(
        self,
        machine: Machine,
        words: tuple[str, ...],
        environ: Mapping[str, str],
        before: Callable[[], object] | None = None,
    ) -> None:
        self.machine = machine
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memtui", "--json", "serve", *words],
            cwd=machine.project, env=machine.environ(**environ), text=True, preexec_fn=before,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said, self.process.communicate()
        self.where: dict[str, Any] = json.loads(said)
        self.http = self.client()

    def client(self) -> httpx2.Client:
        transport = httpx2.HTTPTransport(uds=self.where["socket"]) if self.where["socket"] else None
        return httpx2.Client(
            base_url="http://localhost" if transport else self.where["url"],
            transport=transport, trust_env=False, timeout=60,
        )  # fmt: skip

    def remember(self, content: str, **headers: str) -> httpx2.Response:
        return self.http.post("/workspace/memory/remember", json={"content": content}, headers=headers)

    def done(self, task: str, **headers: str) -> dict[str, Any]:
        found: dict[str, Any] = {"status": "queued"}
        while found["status"] in ("queued", "running"):
            found = self.http.get(f"/workspace/memory/remember/{task}?wait=60", headers=headers).json()
        return found

    def raw(self, data: bytes) -> bytes:
        """Send bytes, and read until the daemon closes."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.where["socket"])
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65_536), b""))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> tuple[int, str]:
        """End it as a service manager does; its status and what it said."""
        self.http.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate()
        return self.process.returncode, said


@contextmanager
def machine() -> Iterator[Machine]:
    """Make a machine, and take it away."""
    base = Path(tempfile.mkdtemp(prefix="mt-"))
    try:
        yield Machine(base)
    finally:
        shutil.rmtree(base)
