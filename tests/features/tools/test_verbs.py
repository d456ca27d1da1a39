"""tool: a call a line in, an answer a line out, whatever the line holds."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.features.tools import verbs as tool
from tests.cli.conftest import Cli

VIEW = b'{"command": "view", "path": "/memories/global/a.md"}\n'
CREATE = b'{"command": "create", "path": "/memories/global/a.md", "file_text": "one\\ntwo"}\n'
START = "import sys; from memtui.__main__ import main; sys.exit(main())"


def answers(out: bytes) -> list[dict[str, object]]:
    """The answers, one a line."""
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """A real one, with pipes."""
    command = [sys.executable, "-c", START, "tool", "--client", "probe"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as found:
        try:
            yield found
        finally:
            found.kill()


def test_every_call_is_answered_on_its_line(cli: Cli) -> None:
    result = cli("tool", stdin=VIEW + CREATE + VIEW.strip())
    assert answers(result.raw) == [
        {"ok": False, "error": "No memory file or directory at /memories/global/a.md"},
        {"ok": True, "output": "Created /memories/global/a.md"},
        {"ok": True, "output": "1\tone\n2\ttwo"},
    ]
    assert (result.status, result.err) == (0, "")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"view /memories", "Expecting value"),
        (b"[]", "it is not an object"),
        (b'"view"', "it is not an object"),
        (b"null", "it is not an object"),
        (b'{"command": "view"', "Expecting"),
        (b'{"command": "view"} {"command": "view"}', "Extra data"),
        (b'{"command": "view", "command": "delete"}', "a key is there twice"),
        (b'{"offset": NaN}', "NaN is no JSON"),
        (b'{"offset": -Infinity}', "-Infinity is no JSON"),
        (b"\xff\xfe{}", "it is not UTF-8"),
        (b"\xef\xbb\xbf{}", "it begins with a byte-order mark"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"command": ' + b'{"a":' * 100_000, "it is nested too deeply"),
        (b'{"offset": 1' + b"0" * 10_000 + b"}", "a number has too many digits"),
        (b'{"command": "' + b"x" * tool.LONGEST + b'"}', "it is longer than 4,194,304 bytes"),
        (b'{"command": "a\tb"}', "control character"),
    ],
)
def test_a_line_that_is_no_call_is_answered_and_the_next_one_too(line: bytes, why: str, cli: Cli) -> None:
    first, second = answers(cli("tool", stdin=line + b"\n" + CREATE).raw)
    assert first["ok"] is False
    assert str(first["error"]).startswith("Invalid call: the line is no JSON object")
    assert why in str(first["error"])
    assert second["ok"] is True


def test_values_that_only_python_knows_do_no_harm(cli: Cli) -> None:
    text = b'{"command": "view", "path": "/memories/global/a.md", "offset": 1e999}\n{"command": ["view"]}\n'
    assert ["must be" in str(answer["error"]) for answer in answers(cli("tool", stdin=text).raw)] == [True, True]


@pytest.mark.parametrize(("access", "error"), [("ro", True), ("rw", False), ("plan", False)])
def test_the_flag_says_what_may_be_changed(access: str, error: bool, cli: Cli) -> None:
    (found,) = answers(cli("tool", "--access", access, stdin=CREATE).raw)
    assert ("error" in found) is error
    if error:
        sentence = "The global memory scope is read-only for this agent; only 'view' is allowed."
        assert found == {"ok": False, "error": sentence}


def test_changes_and_uses_have_the_clients_name(cli: Cli) -> None:
    cli("tool", "--client", "probe", stdin=CREATE + VIEW * 3)
    cli("tool", "--actor", "agent:x", stdin=VIEW)
    (row,) = cli("ls", "memtui:global", "--json").items
    assert (row["actor"], row["uses"], row["unseen"]) == ("tool:probe", 5, True)


def test_a_blank_line_is_no_call(cli: Cli) -> None:
    result = cli("tool", stdin=b"\n" + CREATE + b"\n  \t\r\n" + VIEW + b"\n")
    assert [answer["ok"] for answer in answers(result.raw)] == [True, True]


@pytest.mark.parametrize("text", ["[agents]\nenabled = false\n", "[access]\n'*' = 'off'\n"])
def test_agents_that_are_switched_off_are_told_so_at_each_call(cli: Cli, text: str) -> None:
    home = Path(os.environ["MEMTUI_HOME"])
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text)
    for stdin, lines in ((VIEW + b"nonsense\n" + CREATE, 3), (b"", 0)):
        result = cli("tool", stdin=stdin)
        found = answers(result.raw)
        assert (result.status, len(found)) == (5, lines)
        assert not any(answer["ok"] for answer in found)
        assert all(str(answer["error"]).startswith("E_DISABLED: ") for answer in found)
        assert "E_DISABLED" in result.err
        assert str(home) not in result.err + result.out


def test_each_answer_is_out_before_the_next_call(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    assert process.stdout
    for call in (CREATE, VIEW, b"nonsense\n"):
        process.stdin.write(call)
        process.stdin.flush()
        assert answers(process.stdout.readline())
    process.stdin.close()
    assert process.wait(100) == 0


def test_a_reader_that_went_away_ends_it(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    process.stdin.write(CREATE + VIEW)
    process.stdin.flush()
    assert process.wait(100) == 141
    assert process.stderr.read() == b""


def ask(process: subprocess.Popen[bytes], call: bytes) -> dict[str, object]:
    """One call and its answer."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(call)
    process.stdin.flush()
    (found,) = answers(process.stdout.readline())
    return found


def test_the_switch_and_the_table_count_at_the_next_call_of_a_running_tool(process: subprocess.Popen[bytes]) -> None:
    config = Path(os.environ["MEMTUI_HOME"]) / "config.toml"
    assert ask(process, CREATE)["ok"] is True
    for text, code in (
        ("[agents]\nenabled = false\n", "E_DISABLED"),
        ("[access]\nprobe = 'off'\n", "E_DISABLED"),
        ("nonsense", "E_CONFIG"),
    ):
        config.write_text(text)
        for call in (VIEW, CREATE):
            found = ask(process, call)
            assert (found["ok"], str(found["error"])[: len(code)]) == (False, code)
            assert "user can" in str(found["error"])
            assert str(config.parent) not in str(found["error"])
    config.write_text("[access]\nprobe = 'ro'\n")
    assert ask(process, VIEW)["ok"] is True
    assert "read-only" in str(ask(process, CREATE)["error"])
    config.unlink()
    assert ask(process, CREATE.replace(b"a.md", b"b.md"))["ok"] is True
    assert process.stdin
    process.stdin.close()
    assert process.wait(100) == 0


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)], ids=str
)
def test_what_was_done_before_a_signal_was_answered(
    number: int, status: int, process: subprocess.Popen[bytes], home: Path
) -> None:
    """Three hundred calls wait in the pipe: as many files are there afterwards as answers say so."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"".join(CREATE.replace(b"a.md", b"%d.md" % count) for count in range(300)))
    process.stdin.flush()
    found = [process.stdout.readline() for _ in range(20)]
    process.send_signal(number)
    found += process.stdout.readlines()
    assert process.wait(100) == status
    done = [answer for answer in answers(b"".join(found)) if answer["ok"]]
    assert len(done) == len(list((home / ".memtui-test/memory/global").iterdir()))
    assert 20 <= len(done) < 300
