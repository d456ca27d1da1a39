"""A real PostgreSQL in a folder of its own, on a socket there, with logins `owner`, `ann`, `bob` and `eve`.

PostgreSQL refuses to run as root, so that it runs as `nobody` where the tests do. Nothing is reached over a network.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memtui.features.team.postgres import script, team_server_of

_SEARCH = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
"""The folders above a test's own one may be closed to everybody but root."""
MEMBERS = ("ann", "bob", "eve")
_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *_SEARCH)
_QUICK = (
    "-c fsync=off -c autovacuum=off -c listen_addresses= -c shared_buffers=1MB -c max_wal_size=64MB"
    " -c dynamic_shared_memory_type=mmap"  # in its own folder, so that nothing is left where it is killed
)


def _programs() -> str | None:
    places = [*sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True), None]
    return next((found for place in places if (found := shutil.which("initdb", path=place))), None)


INITDB = _programs()
needed = pytest.mark.skipif(INITDB is None, reason="no PostgreSQL server is installed here (initdb)")


class Server:
    """One server, and what is done to it."""

    def __init__(self, folder: Path, name: str = "one") -> None:
        self.folder, self.data = folder, folder / name
        self.socket = folder / f"s-{name}"
        self._start: subprocess.Popen[bytes] | None = None

    def run(self, program: str, *words: str) -> None:
        """Run a program of PostgreSQL as whoever may."""
        done = subprocess.run(self.command(program, *words), capture_output=True, cwd="/")
        assert done.returncode == 0, (done.stdout + done.stderr).decode()

    def command(self, program: str, *words: str) -> list[str]:
        """Give the words that run a program of PostgreSQL."""
        assert INITDB is not None
        return [*(_NOBODY if os.geteuid() == 0 else ()), str(Path(INITDB).with_name(program)), *words]

    def start(self, *options: str) -> None:
        """Start it, and wait until it answers."""
        self.socket.mkdir(mode=0o777, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(self.socket, "nobody")
        words = f"-k {self.socket} {_QUICK} {' '.join(options)}"
        self.run("pg_ctl", "-D", str(self.data), "-w", "-l", str(self.folder / "log"), "-o", words, "start")

    @property
    def pid(self) -> int:
        """Its first process."""
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def kill(self) -> None:
        """End its first process as a crash does; the others follow by themselves."""
        os.kill(self.pid, signal.SIGKILL)

    def pause(self) -> None:
        """Let its first process do nothing more: whoever connects is let in by the system, and gets no answer."""
        os.kill(self.pid, signal.SIGSTOP)

    def stop(self) -> None:
        """End it at once, if it runs, also while it is paused."""
        if (self.data / "postmaster.pid").exists():
            with contextlib.suppress(ProcessLookupError):  # one that was killed leaves its number behind
                os.kill(self.pid, signal.SIGCONT)
        subprocess.run(self.command("pg_ctl", "-D", str(self.data), "-m", "immediate", "stop"), capture_output=True)

    @contextmanager
    def standby(self) -> Iterator["Server"]:
        """Have another one follow it, synchronously: what is committed here is there."""
        second = Server(self.folder, "two")
        source = f"host={self.socket} user=root dbname=postgres application_name=two"
        self.run("pg_basebackup", "-D", str(second.data), "-R", "-d", source, "-c", "fast", "-N")
        try:
            second.start()
            self.sql("ALTER SYSTEM SET synchronous_standby_names = 'two'", "root", "postgres")
            self.sql("SELECT pg_reload_conf()", "root", "postgres")
            while self.sql("SELECT sync_state FROM pg_stat_replication", "root", "postgres") != [("sync",)]:
                pass
            yield second
        finally:
            second.stop()

    def url(self, login: str) -> str:
        """The address for a member."""
        return f"postgresql://{login}@/team?host={self.socket}"

    def sql(self, text: str, login: str = "owner", database: str = "team") -> list[tuple[object, ...]]:
        """Run statements as somebody."""
        import psycopg

        with psycopg.connect(f"postgresql://{login}@/{database}?host={self.socket}", autocommit=True) as connection:
            cursor = connection.execute(text.encode())
            return cursor.fetchall() if cursor.description is not None else []

    def fresh(self) -> None:
        """Make the team anew, with three members."""
        self.sql("DROP DATABASE IF EXISTS team WITH (FORCE)", "root", "postgres")
        self.sql("CREATE DATABASE team OWNER owner", "root", "postgres")
        self.sql(script())
        self.sql(f"GRANT memtui_member TO {', '.join(MEMBERS)}")


@contextmanager
def made() -> Iterator[Server]:
    """Make a server that ends with the block, with an owner who is no superuser, and logins."""
    folder = Path(tempfile.mkdtemp(prefix="memtui-pg-"))
    folder.chmod(0o755)
    server = Server(folder)
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")
        server.run("initdb", "-D", str(server.data), "-A", "trust", "-N", "-U", "root", "--no-locale", "-E", "UTF8")
        server.start()
        logins = "; ".join(f"CREATE ROLE {name} LOGIN" for name in MEMBERS)
        server.sql(f"CREATE ROLE owner LOGIN CREATEDB CREATEROLE; {logins}", "root", "postgres")
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def team_cluster() -> Iterator[Server]:
    """A server, one for all tests of a process."""
    with made() as found:
        yield found


@pytest.fixture
def server(team_cluster: Server) -> Iterator[Server]:
    """The server, with a team that is new."""
    team_cluster.fresh()
    yield team_cluster
    for one in (*MEMBERS, "owner"):
        team_server_of(team_cluster.url(one)).close()
