"""From a command line to an exit number."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memtui import __version__
from memtui.wire.session import Session
from tests.cli.conftest import Cli, FakeWorkbench


def test_the_version_is_told(cli: Cli) -> None:
    assert cli("--version").out == f"memtui {__version__}\n"
    assert cli("-V", "--json").json == {"version": __version__}


def test_bare_memtui_opens_the_workbench(cli: Cli, workbench: FakeWorkbench) -> None:
    workbench.then = lambda session: 3
    assert cli("--read-only", "--calm", terminal=True).status == 3
    ((session, demo),) = workbench.opened
    assert demo is False
    assert (session.options.read_only, session.options.calm, session.options.ascii) == (True, True, False)


def test_the_workbench_is_not_drawn_on_a_dumb_terminal(
    cli: Cli, workbench: FakeWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    result = cli(terminal=True)
    assert result.status == 2
    assert "TERM is dumb" in result.err
    assert workbench.opened == []


def test_the_workbench_needs_a_terminal(cli: Cli, workbench: FakeWorkbench) -> None:
    assert cli().status == 2
    assert cli("--json").error["code"] == "E_USAGE"
    assert workbench.opened == []


@pytest.mark.parametrize("words", [["fly"], ["view"], ["ls", "--sort", "x"], ["--home"], ["help", "fly"]])
def test_usage_errors_are_json_too(cli: Cli, words: list[str]) -> None:
    result = cli(*words, "--json")
    assert result.status == 2
    assert result.error["code"] == "E_USAGE"
    assert {"code", "message", "hint", "unharmed"} <= result.error.keys()
    assert result.err == ""
    plain = cli(*words)
    assert (plain.status, plain.raw) == (2, b"")
    assert "[E_USAGE]" in plain.err


def test_a_fault_of_ours_is_told_in_words_and_shown_when_debugging(
    cli: Cli, workbench: FakeWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(session: Session) -> int:
        raise RuntimeError("oh \x1b[2J no")

    workbench.then = fail
    result = cli(terminal=True)
    assert result.status == 1
    assert "RuntimeError: oh ␛[2J no [E_INTERNAL]" in result.err
    assert "Traceback" not in result.err
    (noted,) = [each for each in cli("doctor", "--json").items if each["topic"] == "faults"]
    assert str(noted["text"]).startswith("1 fault of memtui itself, the last at 20")
    kept = Path(str(noted["text"]).rpartition(": ")[2]).read_text()
    assert " cli RuntimeError < " in kept
    assert "oh" not in kept
    monkeypatch.setenv("MEMTUI_DEBUG", "1")
    with pytest.raises(RuntimeError):
        cli(terminal=True)


def test_ctrl_c_is_exit_130_without_a_word(cli: Cli, workbench: FakeWorkbench) -> None:
    def interrupt(session: Session) -> int:
        raise KeyboardInterrupt

    workbench.then = interrupt
    result = cli(terminal=True)
    assert (result.status, result.err) == (130, "")


def test_a_broken_configuration_is_an_error_with_a_place(cli: Cli, home: Path) -> None:
    folder = home / ".memtui-test"
    folder.mkdir()
    (folder / "config.toml").write_text("calm = maybe\n")
    result = cli("ls", "--json")
    assert (result.status, result.error["code"]) == (2, "E_CONFIG")
    assert "config.toml" in str(result.error["message"])
    assert cli("--version").status == cli("completion", "bash").status == cli("ls", "--help").status == 0


def memtui(*words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "memtui", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_reader_that_goes_away_is_no_drama(notes: Path) -> None:
    for number in range(2_000):
        (notes / f"{number:04}-a-rather-long-name-to-fill-the-pipe.md").write_text("x")
    process = memtui("--root", f"notes={notes}", "--only-root", "ls")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=100)
    assert (process.returncode, err) == (141, b"")


def test_a_full_disk_behind_stdout_is_an_error_without_a_traceback() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    with full.open("wb") as target:
        done = subprocess.run(
            [sys.executable, "-m", "memtui", "--version"],
            stdout=target,
            stderr=subprocess.PIPE,
            timeout=30,
            check=False,
        )
    assert done.returncode == 7
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_fault_and_its_number_is_no_files(notes: Path, closed: str) -> None:
    words = f"-m memtui --root notes={shlex.quote(str(notes))} --only-root"
    (notes / "text").write_text("Tabs.")
    lines = (
        f"{shlex.quote(sys.executable)} {words} create notes/a.md --file {shlex.quote(str(notes / 'text'))} {closed}",
        f"{shlex.quote(sys.executable)} {words} view notes/gone.md {closed}",
        f"{shlex.quote(sys.executable)} {words} create notes/b.md - {closed}",
    )
    done = [
        subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
        for line in lines
    ]
    assert [each.returncode for each in done] == [0, 4, 2 if "<" in closed else 0]
    assert not [each for each in done if b"Traceback" in each.stderr or b"E_INTERNAL" in each.stderr]
    assert (notes / "a.md").read_text() == "Tabs."


def test_the_whole_program_answers_errors_as_json() -> None:
    process = memtui("view", "memtui:global/gone.md", "--json")
    out, err = process.communicate(timeout=100)
    assert process.returncode == 4
    assert json.loads(out)["error"]["code"].startswith("E_")
    assert err == b""


def test_sigint_while_waiting_is_130(notes: Path) -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "memtui", "--root", f"notes={notes}", "--only-root", "create", "notes/a.md", "-"],
        stdin=reader,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(reader)
    os.write(writer, b"part of a text")
    wait_until_it_reads(process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100)
    os.close(writer)
    assert process.returncode == 130
    assert not re.search(rb"Traceback", err)
    assert not (notes / "a.md").exists()


def wait_until_it_reads(process: "subprocess.Popen[bytes]") -> None:
    """Wait until a process sleeps in a read from its standard input."""
    place = Path(f"/proc/{process.pid}/syscall")
    if not place.exists():
        pytest.skip("this system does not tell what a process waits for")
    while not place.read_text().startswith(("0 0x0 ", "63 0x0 ")):
        assert process.poll() is None
