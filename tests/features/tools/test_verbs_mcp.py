"""mcp, as a client starts it: a process whose output is the protocol and nothing else, and that ends when it should."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import Implementation, TextContent

from tests.cli.conftest import Cli
from tests.mcp_server.talk import OBSERVE, Store
from tests.terminal import Terminal

RUN = "import sys; from memtui.__main__ import main; sys.exit(main())"
NOISY = f"""
import logging, os, subprocess, sys, warnings
from memtui.memory_tool.scoped import ScopedTool
from memtui.memory_tool.call import Result

def call(tool, fields):
    print("printed")
    sys.__stdout__.write("written\\n")
    os.write(1, b"by number\\n")
    subprocess.run(["echo", "by a child"], check=True)
    warnings.warn("warned")
    logging.getLogger("x").warning("logged %s", fields["secret"])
    return Result(ok=True, text=repr(sys.stdin.read()))

ScopedTool.call = call
{RUN}
"""


@pytest.fixture
def store(home: Path) -> Store:
    """Memories of the test's own home."""
    return Store(home)


def hello(name: str = "codex") -> dict[str, Any]:
    info = {"name": name, "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def memory(number: int, **fields: object) -> dict[str, Any]:
    params = {"name": "memory", "arguments": fields}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def lines(*messages: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def run(said: bytes, *words: str, code: str = RUN) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", code, "mcp", *words], input=said, capture_output=True, timeout=100)


def test_a_file_of_messages_is_answered_to_the_last(store: Store, tmp_path: Path) -> None:
    said = lines(
        hello(),
        memory(2, command="create", path="/memories/global/a.md", file_text="one\n"),
        memory(3, command="view", path="/memories/global/a.md"),
    )
    done = run(said)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, b"")
    assert [answer["id"] for answer in answers if "id" in answer] == [1, 2, 3]
    assert store.rows()["memtui:global/a.md"].uses == 2
    file, out = tmp_path / "said", tmp_path / "answered"
    file.write_bytes(said)
    with file.open("rb") as source, out.open("wb") as target:
        subprocess.run([sys.executable, "-c", RUN, "mcp"], stdin=source, stdout=target, check=True, timeout=100)
    assert len(out.read_bytes().splitlines()) >= 3


def test_the_output_is_the_protocol_and_nothing_else(store: Store) -> None:
    done = run(lines(hello(), memory(2, secret="the text of a memory")), code=NOISY)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["jsonrpc"] for answer in answers] == ["2.0"] * len(answers)
    assert answers[-1]["result"]["content"][0]["text"] == "''"  # who reads standard input gets its end
    for noise in (b"printed", b"written", b"by number", b"by a child", b"warned", b"logged"):
        assert noise in done.stderr
        assert noise not in done.stdout
    assert b"the text of a memory" not in done.stderr


def test_a_signal_ends_it_and_the_uses_are_kept(store: Store) -> None:
    store.write("global/a.md", "one\n")
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(lines(hello(), memory(2, command="view", path="/memories/global/a.md")))
    child.stdin.flush()
    while json.loads(child.stdout.readline()).get("id") != 2:
        pass
    child.send_signal(signal.SIGTERM)
    assert child.wait(100) == 0
    assert child.stderr is not None
    assert child.stderr.read() == b""
    child.stdin.close()
    child.stdout.close()
    child.stderr.close()
    assert store.rows()["memtui:global/a.md"].uses == 1


HELD = f"""
import os, sys

def hold(event, given):
    if event == "import" and given[0] == "mcp":
        os.close(os.open(os.environ["GATE"], os.O_RDONLY))

sys.addaudithook(hold)
{RUN}
"""
"""The protocol's library cannot be loaded before somebody opens the gate."""


def started(code: str = RUN) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_tools_are_there_before_the_library_is(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write("global/a.md", "one\n")
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    monkeypatch.setenv("GATE", str(gate))
    with started(HELD) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        tools = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        view = memory(3, command="view", path="/memories/global/a.md")
        child.stdin.write(lines(hello(), ready, view, tools))
        child.stdin.flush()
        greeting, listed = json.loads(child.stdout.readline()), json.loads(child.stdout.readline())
        assert "/memories/global/a.md" in greeting["result"]["instructions"]
        assert listed["id"] == 2
        assert [tool["name"] for tool in listed["result"]["tools"]] == [
            "memory",
            "memory_search",
            "memory_recall",
            *OBSERVE,
        ]
        os.close(os.open(gate, os.O_WRONLY))
        assert "one" in json.loads(child.stdout.readline())["result"]["content"][0]["text"]
        out, err = child.communicate(timeout=100)
        assert (child.returncode, out, err) == (0, b"", b"")


def test_settings_that_cannot_be_read_are_said_to_the_client(store: Store) -> None:
    store.configure("this is no TOML")
    tools = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    done = run(lines(hello(), tools, memory(3, command="view", path="/memories")))
    greeting, listed, called = [json.loads(line)["result"] for line in done.stdout.splitlines()]
    said = "E_CONFIG: the configuration cannot be read. The user can find out why: memtui doctor."
    assert greeting["instructions"] == f"Memories are not available: {said}"
    assert listed == {"tools": []}
    assert (called["isError"], called["content"][0]["text"]) == (True, said)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_library_s_own_client_in_both_protocols(store: Store, mode: str) -> None:
    # The client gives a server few variables of its own accord.
    server = StdioServerParameters(command=sys.executable, args=["-c", RUN, "mcp"], env=dict(os.environ))
    name = Implementation(name="tester", version="1")
    async with Client(stdio_client(server), mode=mode, client_info=name) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "memory",
            "memory_search",
            "memory_recall",
            *OBSERVE,
        ]
        fields = {"command": "create", "path": "/memories/global/a b.md", "file_text": "one\n"}
        assert not (await client.call_tool("memory", fields)).is_error
        (one,) = (await client.list_resources()).resources
        assert one.uri == "memory:///memories/global/a%20b.md"
        assert "one" in (await client.read_resource(one.uri)).contents[0].model_dump_json()
        found = await client.call_tool("memory_search", {"query": "one"})
        assert isinstance(found.content[0], TextContent)
        assert "/memories/global/a b.md" in found.content[0].text
    assert store.rows()["memtui:global/a b.md"].actor == "mcp:tester"


def test_without_the_package_it_says_what_to_install() -> None:
    code = f"import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = None\n{RUN}"
    done = run(b"", code=code)
    assert (done.returncode, done.stdout) == (5, b"")
    assert b"E_EXTRA" in done.stderr
    assert b"Serving MCP clients needs memtui[mcp], which is not installed." in done.stderr
    assert b"python3 -m pip install 'memtui[mcp]'" in done.stderr
    assert b"mcp_types" not in done.stderr
    assert json.loads(run(b"", "--json", code=code).stdout)["error"]["code"] == "E_EXTRA"


def test_the_context_is_left_to_a_hook_that_gives_it(store: Store) -> None:
    store.write("global/seen-in-the-index.md", "one\n")

    def instructions(*words: str) -> str:
        said: str = json.loads(run(lines(hello()), *words).stdout.splitlines()[0])["result"]["instructions"]
        return said

    without = instructions("--no-context", "--access", "ro")
    assert "seen-in-the-index" not in without
    assert "view /memories" in without
    assert "seen-in-the-index" in instructions("--short-context")


def test_a_bug_of_ours_is_not_taken_for_a_missing_package() -> None:
    code = f"import sys; sys.modules['memtui.mcp_server.connection'] = None\n{RUN}"
    assert b"E_EXTRA" not in run(b"", code=code).stderr


def test_in_a_terminal_it_says_what_it_is() -> None:
    with Terminal([sys.executable, "-c", RUN, "mcp"]) as terminal:
        terminal.wait_for("an MCP client starts it")


def test_an_access_that_is_none_is_a_usage_error(cli: Cli) -> None:
    assert cli("mcp", "--access", "all").status == 2


def test_what_was_done_before_a_signal_was_answered(store: Store) -> None:
    """Three hundred calls wait in the pipe: as many files are there afterwards as answers say so."""
    calls = [memory(n, command="create", path=f"/memories/global/{n}.md", file_text="x\n") for n in range(2, 302)]
    with subprocess.Popen(
        [sys.executable, "-c", RUN, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(lines(hello(), *calls))
        child.stdin.flush()
        seen = [json.loads(child.stdout.readline()) for _ in range(20)]
        child.send_signal(signal.SIGINT)
        seen += [json.loads(line) for line in child.stdout]
        assert child.wait(100) == 130
    answered = {answer["id"] for answer in seen if "result" in answer and answer["id"] != 1}
    files = {int(path.stem) for path in (store.folder / "global").iterdir()}
    assert answered == files
    assert 10 < len(files) < 300
