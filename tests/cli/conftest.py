"""The command line, run inside the test's own process, piped or on a terminal that is not there."""

import io
import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from memtui.cli.main import run
from memtui.ui.action import Action
from memtui.wire.session import Session


class Result(NamedTuple):
    """What one command line did."""

    status: int
    raw: bytes
    """Everything on stdout."""
    err: str

    @property
    def out(self) -> str:
        """What is on stdout, as text."""
        return self.raw.decode()

    @property
    def lines(self) -> list[str]:
        """The lines of stdout."""
        return self.out.splitlines()

    @property
    def json(self) -> "dict[str, object]":
        """The one document on stdout."""
        found = json.loads(self.raw)
        assert isinstance(found, dict)
        return found

    @property
    def items(self) -> "list[dict[str, object]]":
        """The rows of a list."""
        items = self.json["items"]
        assert isinstance(items, list)
        return items

    @property
    def error(self) -> "dict[str, object]":
        """The error object."""
        error = self.json["error"]
        assert isinstance(error, dict)
        return error


class Tty(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Piped(io.TextIOWrapper):
    """A stream that says it is none."""

    def isatty(self) -> bool:
        return False


class FakeWorkbench:
    """Stands where the workbench would open, and remembers that it did."""

    def __init__(self) -> None:
        self.opened: list[tuple[Session, bool]] = []
        self.served: list[tuple[list[str], int]] = []
        self.tested: list[Sequence[Action]] = []
        self.then: Callable[[Session], int] = lambda session: 0

    def open(self, session: Session, *, demo: bool) -> int:
        self.opened.append((session, demo))
        return self.then(session)

    def test_keys(self, actions: Sequence[Action], *, no_color: bool) -> int:
        self.tested.append(actions)
        return 0

    def serve(
        self, words: Sequence[str], *, port: int, ready: Callable[[str, str], None], narrate: Callable[[str], None]
    ) -> None:
        self.served.append((list(words), port))
        ready("http://127.0.0.1:1/?token=x", "http://127.0.0.1:1/?code=y")
        narrate("said by a workbench")


Person = Callable[[str], Callable[[], str]]
"""Types at the controlling terminal; see the fixture `person`."""


class Cli(Protocol):
    """Runs one command line."""

    def __call__(self, *words: str, stdin: bytes | None = b"", terminal: bool = False) -> Result:
        """Run it; `terminal` makes all three streams terminals."""


@pytest.fixture
def config(home: Path) -> Path:
    """Where the settings file is looked for; not there yet."""
    (home / ".memtui-test").mkdir()
    return home / ".memtui-test" / "config.toml"


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch) -> FakeWorkbench:
    """A workbench that opens nothing."""
    made = FakeWorkbench()
    monkeypatch.setattr("memtui.workbench.app.run_workbench", made.open)
    monkeypatch.setattr("memtui.ui.keys.keytest.run", made.test_keys)
    monkeypatch.setattr("memtui.web.server.serve", made.serve)
    return made


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line."""

    def call(*words: str, stdin: bytes | None = b"", terminal: bool = False) -> Result:
        kind = Tty if terminal else Piped
        out, err = io.BytesIO(), io.BytesIO()
        streams = [kind(io.BytesIO(stdin or b""), "utf-8"), kind(out, "utf-8"), kind(err, "utf-8", write_through=True)]
        with monkeypatch.context() as patch:
            for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
                patch.setattr(sys, name, stream)
            status = run(words)
            for stream in streams[1:]:
                stream.flush()
        result = Result(status, out.getvalue(), err.getvalue().decode())
        for stream in streams:
            stream.detach()
        return result

    return call


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with three memories; `--root notes=work/notes` names it from the working directory."""
    folder = tmp_path / "work" / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "plain.md").write_text("---\ndescription: How we write\n---\nUse tabs.\n")
    (folder / "bare.md").write_text("No front matter.\n")
    (folder / "deep" / "down.md").write_text("Below.\n")
    for path in folder.rglob("*.md"):
        os.utime(path, (1_750_000_000, 1_750_000_000))  # long settled
    return folder


@pytest.fixture
def here(cli: Cli, notes: Path) -> Cli:
    """The command line with `notes` as a root, and no agent's folders."""

    def call(*words: str, stdin: bytes | None = b"", terminal: bool = False) -> Result:
        return cli("--root", f"notes={notes}", "--only-root", *words, stdin=stdin, terminal=terminal)

    return call


Editor = Callable[..., Path]
"""Sets an editor, and gives the file that lists what it was opened with."""


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    """Sets an editor that runs one shell line for each time it is opened; `$1` is the file."""

    def set_up(*lines: str) -> Path:
        script, log = tmp_path / "editor.sh", tmp_path / "opened"
        cases = "\n".join(f"{number}) {line} ;;" for number, line in enumerate(lines, start=1))
        script.write_text(
            f'echo "$1" >> "{log}"\ncp "$1" "{log}.$(wc -l < "{log}" | tr -d " ")"\n'
            f'case $(wc -l < "{log}" | tr -d " ") in\n{cases}\nesac\n'
        )
        monkeypatch.setenv("MEMTUI_EDITOR", shlex.join(["sh", str(script)]))
        return log

    return set_up


def left_overs(home: Path) -> list[Path]:
    """Copies for an editor that are still there."""
    return [path for path in (home / ".memtui-test" / "edits").rglob("[!.]*") if path.is_file()]
