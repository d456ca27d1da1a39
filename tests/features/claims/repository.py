"""Repositories made by script: any history at once, by `git fast-import`."""

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from memtui.engine import Engine
from memtui.engine.model import Actor, Memory, Root
from memtui.features.claims.find import finder
from memtui.features.hygiene.model import Hazard
from tests.conftest import Clock

ME = Actor("cli")
DAY = 86_400_000
_WHO = ("-c", "user.name=Somebody", "-c", "user.email=somebody@localhost", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str, stdin: bytes = b"", at: int | None = None) -> bytes:
    """Run git in a folder; `at` is the time of what it commits, in milliseconds."""
    dates = {} if at is None else {f"GIT_{who}_DATE": f"{at // 1000} +0000" for who in ("AUTHOR", "COMMITTER")}
    command = ["git", *_WHO, *words]
    done = subprocess.run(
        command, cwd=folder, input=stdin, check=True, capture_output=True, env={**os.environ, **dates}
    )
    return done.stdout


def repository(folder: Path, commits: Iterable[tuple[int, Mapping[str, str | None]]]) -> Path:
    """Make a repository with a branch `main`.

    Args:
        folder: where; it is made.
        commits: the time of each in milliseconds, and the text of each file it changes; None: it is removed.
    """
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    stream = bytearray()
    for at, files in commits:
        stream += f"commit refs/heads/main\ncommitter S <s@localhost> {at // 1000} +0000\ndata 1\nx\n".encode()
        for path, text in files.items():
            data = (text or "").encode()
            stream += f"D {path}\n".encode() if text is None else b"M 100644 inline %s\n" % path.encode()
            stream += b"" if text is None else b"data %d\n%s\n" % (len(data), data)
    git(folder, "fast-import", "--quiet", stdin=bytes(stream))
    git(folder, "reset", "-q", "--hard")
    return folder


def findings(engine: Engine, now: int) -> dict[tuple[str, int], list[Hazard]]:
    """What is found, by path and line."""
    rows: tuple[Memory, ...] = engine.rows.list().items
    find = finder(engine, rows, now)
    found: dict[tuple[str, int], list[Hazard]] = {}
    for row in rows:
        for one in find(row, engine.read_bytes(row.address)):
            found.setdefault((row.address.path, one.line), []).append(one)
    return found


def open_engine(tmp_path: Path, clock: Clock, project: Path | None, *, inside: bool = False) -> Engine:
    """An engine on notes of a project, beside it or inside its checkout."""
    path = project if inside and project is not None else tmp_path / "notes"
    path.mkdir(exist_ok=True)
    root = Root("notes", str(path), project=None if project is None else str(project), in_checkout=inside)
    return Engine.open([root], state_dir=str(tmp_path / "state"), clock=clock)
