"""Completion scripts, run by the shells that are here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.cli.completion import script
from memtui.features.table import verbs
from memtui.wire.params import GLOBALS
from tests.cli.conftest import Cli

VERBS = verbs()

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: Path) -> None:
    """`memtui` on the PATH, with the notes as a root named in the settings."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "memtui"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m memtui "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    home = Path(os.environ["MEMTUI_HOME"])
    home.mkdir()
    (home / "config.toml").write_text(f'[[roots]]\nname = "my:notes"\ndir = "{notes}"\n')


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_knows_every_verb_and_option(cli: Cli, shell: str) -> None:
    text = cli("completion", shell).out
    assert text == script(shell) == cli("completion", shell, "--json").json["script"]
    assert not [verb.name for verb in VERBS if verb.name not in text]
    names = {param.name for param in GLOBALS} | {param.name for verb in VERBS for param in verb.options}
    assert not [name for name in names if name.removeprefix("--") not in text]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_sound(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n"], input=script(shell), capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def complete(line: str) -> list[str]:
    """What bash would offer at the end of a line."""
    program = (
        f'{script("bash")}\nCOMP_WORDBREAKS=$\' \\t\\n"><=;|&(:\'; COMP_LINE="$1"; COMP_POINT=${{#COMP_LINE}}; '
        "_memtui; printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    done = subprocess.run(["bash", "-c", program, "bash", line], capture_output=True, text=True, timeout=30, check=True)
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


@pytest.mark.usefixtures("on_path")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("memtui red", ["redo", "redact"]),
        ("memtui --json un", ["undo", "unpin", "uninstall"]),
        ("memtui --home /x l", ["ls", "log"]),
        ("memtui ls --sort ", ["name", "uses", "age", "size", "changed"]),
        ("memtui ls --pin", ["--pinned"]),
        ("memtui completion ", ["bash", "zsh", "fish"]),
        ("memtui view my:notes/pl", ["notes/plain.md"]),
        ("memtui view my", ["my:notes/bare.md", "my:notes/deep/down.md", "my:notes/plain.md", "my:notes"]),
        ("memtui roots --accept my", ["my:notes"]),
        ("memtui rm my:notes/bare.md --json my:notes/pl", ["notes/plain.md"]),
        ("memtui help wa", ["watch"]),
        ("memtui create x --file /dev/nul", ["/dev/null"]),
    ],
)
def test_bash_offers_what_fits(line: str, offered: list[str]) -> None:
    assert complete(line) == offered
