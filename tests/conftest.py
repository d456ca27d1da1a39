"""Every test's own world: home, configuration, working directory and clock are fresh, and no network is in reach.

It exists so that no test can read the developer's own memories, write outside its folder, or depend on the machine's
environment, and so that a set-up that quietly points at nothing fails at once.
"""

import gc
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

from memtui.wire import output
from tests.examples import examples

ROOT = Path(__file__).resolve().parent.parent
"""The checkout."""

KEPT_VARIABLES = frozenset({"PATH", "TMPDIR", "VIRTUAL_ENV", "PYTHONPYCACHEPREFIX", "CI"})
"""What a test sees of the environment it was started in (with everything of pytest's own): the
thousands of commands that tests start keep their byte code."""

START = 1_767_225_600_000
"""The test clock's start, in milliseconds: 2026-01-01T00:00:00Z."""

# A shell or a CI that starts things in the background has them ignore signals, and programs inherit that: the tests of
# signals need programs that do not.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _ignored in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(_ignored) is signal.SIG_IGN:
        signal.signal(_ignored, signal.SIG_DFL)

# What a test starts is started by a person, also when an agent runs the tests: the search for an agent ends at a
# terminal multiplexer, and that is what this process calls itself. Tests that want an agent put one in between.
with suppress(OSError), open("/proc/self/comm", "w", encoding="ascii") as _title:
    _title.write("tmux: server")

# Tests write and sync hundreds of thousands of small files, of which nothing is kept: in memory, where there is room
# and nobody chose another place.
MEMORY, ROOM = "/dev/shm", 2 << 30
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ["TMPDIR"] = tempfile.tempdir = MEMORY

# What tests make while they are collected, and what asks the C library, is in the same zone as what a test starts.
os.environ["TZ"] = "UTC"
time.tzset()

gc.disable()  # until all tests are collected: nothing of what that makes goes before the end

settings.register_profile("memtui", max_examples=examples(100), deadline=None, database=None, print_blob=True)
settings.load_profile("memtui")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """How many processes share the tests: none for some tests, which start faster alone.

    Tests of the screen wait for a part of their time, so that two processes more than cores keep the cores busy.
    """
    whole = config.args_source is not pytest.Config.ArgsSource.ARGS and not config.option.keyword
    return (os.cpu_count() or 1) + 2 if whole else 0


def pytest_collection_finish(session: pytest.Session) -> None:
    """Have no test pay for going over what ten thousand collected tests hold, again and again."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # a test makes much that goes at its end
    gc.enable()


class Clock:
    """A clock that stands still until it is told to move. Call it for milliseconds since the epoch."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, *, seconds: float = 0, days: float = 0) -> int:
        """Move forward and return the new time in milliseconds."""
        self.now += round(seconds * 1000 + days * 86_400_000)
        return self.now


class NetworkUsedError(Exception):
    """A test reached for the network."""


@pytest.fixture
def clock() -> Clock:
    """A clock at `START` that only the test moves."""
    return Clock()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own HOME, with every memtui and XDG folder below it and the working directory beside it."""
    for name in list(os.environ):
        if name not in KEPT_VARIABLES and not name.startswith(("PYTEST_", "COV_", "TEXTUAL_SNAPSHOT_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    places = {
        "HOME": folder,
        "USERPROFILE": folder,
        "MEMTUI_HOME": folder / ".memtui-test",
        "XDG_CONFIG_HOME": folder / ".config",
        "XDG_DATA_HOME": folder / ".local/share",
        "XDG_STATE_HOME": folder / ".local/state",
        "XDG_CACHE_HOME": folder / ".cache",
        "XDG_RUNTIME_DIR": folder / ".run",
    }
    work = tmp_path / "work"
    for made in (folder, work):
        made.mkdir()
    for name, place in places.items():
        monkeypatch.setenv(name, str(place))
    for name, value in {"LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(work)
    monkeypatch.setattr(output, "TERMINAL", os.devnull + "/none")  # nobody is asked at the developer's own
    assert Path.home() == folder
    assert Path.cwd() == work
    assert (ROOT / "memtui" / "__init__.py").is_file()
    return folder


def is_near(address: object, family: int) -> bool:
    """Whether a socket address stays on this machine."""
    if family == getattr(socket, "AF_UNIX", None):
        return True
    host = address[0] if isinstance(address, tuple) and address else address
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    return host in {None, "", "localhost", "::1", "0.0.0.0", "::"} or (
        isinstance(host, str) and host.startswith("127.")
    )


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Callable[[], str]]]:
    """Somebody at a terminal of their own, who types what the test says before they are asked; gives what reads it."""
    master, slave = os.openpty()

    def types(text: str) -> Callable[[], str]:
        monkeypatch.setattr(output, "TERMINAL", os.ttyname(slave))
        os.write(master, text.encode())
        return lambda: os.read(master, 65_536).decode()

    yield types
    os.close(master)
    os.close(slave)


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Refuse connections and name look-ups that leave this machine; fail the test even if it hid the refusal."""
    refused: list[str] = []

    def refuse(what: str) -> None:
        refused.append(what)
        raise NetworkUsedError(f"a test reached for the network: {what}")

    def guard(name: str) -> None:
        original: Callable[..., object] = getattr(socket.socket, name)

        def guarded(self: socket.socket, *arguments: object) -> object:
            if not is_near(arguments[-1], self.family):
                refuse(f"{name} {arguments[-1]}")
            return original(self, *arguments)

        monkeypatch.setattr(socket.socket, name, guarded)

    for name in ("connect", "connect_ex", "sendto"):
        guard(name)
    look_up = socket.getaddrinfo

    def getaddrinfo(host: str | bytes | None, *arguments: object, **options: object) -> object:
        if not is_near((host,), 0):
            refuse(f"getaddrinfo {host!r}")
        return look_up(host, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield refused
    assert not refused, f"this test reached for the network: {refused}"
