"""An earlier memtui and this one, each serving an agent, on one state folder: no answer that said yes is lost.

The earlier version comes from the history of this checkout; it has the ledger open while the newer one changes its
schema, and goes on. One that starts afterwards only reads, and says so.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which
from subprocess import PIPE, Popen

from tests.faults.report import Result, Tally

EARLIER = "4766e0dc"
"""The last commit before the rebuilt house."""
HERE = Path(__file__).parents[2]
FILE = "/memories/global/shared.md"


def available() -> bool:
    """Tell whether this checkout has the earlier version in its history."""
    command = ["git", "cat-file", "-e", f"{EARLIER}^{{commit}}"]
    return which("git") is not None and subprocess.run(command, cwd=HERE, capture_output=True).returncode == 0


def unpack(folder: Path) -> None:
    """Write the earlier version's package into a folder."""
    command = ["git", "archive", EARLIER, "memtui"]
    archive = subprocess.run(command, cwd=HERE, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")


def _program(tree: Path, base: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the environment of a version whose state and home are below `base`."""
    command = [sys.executable, "-P", "-m", "memtui", "--home", str(base / "home"), *words]
    return command, {**os.environ, "PYTHONPATH": str(tree), "HOME": str(base)}


class Server:
    """A `memtui tool` of one version."""

    def __init__(self, tree: Path, base: Path) -> None:
        """Start it; its memories and its state are below `base`."""
        words, environ = _program(tree, base, "--project", str(base), "tool")
        self._process = Popen(words, env=environ, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)

    def call(self, command: str, **fields: object) -> dict[str, object]:
        """Send one call and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"command": command, "path": FILE, **fields}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, object] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> str:
        """End it, and return what it wrote to standard error."""
        return self._process.communicate(timeout=60)[1]


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign: two servers of the earlier version and two of this one insert lines into one memory at once."""
    tally = Tally("versions", "calls", "refused", "lost", "errors", seed=seed)
    earlier = base / "earlier"
    unpack(earlier)
    servers = {"earlier-1": Server(earlier, base)}
    servers["earlier-1"].call("create", file_text="begin\n")
    servers |= {"earlier-2": Server(earlier, base)}
    servers["earlier-2"].call("view")
    servers |= {"this-1": Server(HERE, base), "this-2": Server(HERE, base)}
    calls = 10 if short else 300

    def insert_lines(name: str) -> list[str]:
        lines = [f"{name} call {number}" for number in range(calls)]
        return [line for line in lines if servers[name].call("insert", insert_line=0, insert_text=line)["ok"]]

    with ThreadPoolExecutor() as pool:
        saved = [line for lines in pool.map(insert_lines, servers) for line in lines]
    tally.add("calls", calls * len(servers))
    tally.add("refused", calls * len(servers) - len(saved))
    if len(saved) < calls * len(servers) // 2:
        tally.blame("errors", f"only {len(saved)} calls were not refused")
    late = _command(earlier, base, "create", "memtui:global/late.md", "-")
    if late.returncode == 0 or "newer" not in late.stderr:
        tally.blame("errors", f"the earlier version changes the newer ledger: {late.stdout}{late.stderr}")
    if _command(earlier, base, "ls").returncode:
        tally.blame("errors", "the earlier version does not read the newer ledger")
    for name, server in servers.items():
        trace = server.close()
        if "Traceback" in trace:
            tally.blame("errors", f"{name}: {trace}")
    _look_for(saved, tally, base)
    return tally.result()


def _command(tree: Path, base: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command, environ = _program(tree, base, *words)
    return subprocess.run(command, env=environ, cwd=base, input="text\n", capture_output=True, text=True)


def _look_for(saved: list[str], tally: Tally, base: Path) -> None:
    """Count each saved line that is not in the memory, and each change that is not in the audit."""
    (path,) = base.rglob("shared.md")
    lines = path.read_text().splitlines()
    for line in saved:
        if lines.count(line) != 1:
            tally.blame("lost", line)
    log = _command(HERE, base, "log", "--limit", "100000", "--json")
    changes = len(json.loads(log.stdout)["items"])
    if changes < len(saved) + 1:
        tally.blame("lost", f"{len(saved) + 1} changes are {changes} in the audit")
