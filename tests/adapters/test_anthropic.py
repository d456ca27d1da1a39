"""What a user of the SDK's tools on local files relies on holds for ours, in both forms."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError
from anthropic.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    BetaAsyncLocalFilesystemMemoryTool,
    BetaLocalFilesystemMemoryTool,
)

from memtui.adapters.anthropic import AsyncMemoryTool, MemoryTool
from memtui.engine import Engine
from memtui.memory_tool.sdk import memory_root
from tests.adapters.conftest import Tool
from tests.faults.injector import hooked, meddling


def test_they_are_what_the_sdk_takes(tool: Tool) -> None:
    assert isinstance(tool.made, BetaAbstractMemoryTool | BetaAsyncAbstractMemoryTool)
    assert tool.made.to_dict() == {"type": "memory_20250818", "name": "memory"}
    assert tool.made.name == "memory"
    assert os.fspath(tool.made.memory_root) == str(tool.root)
    made = type(tool.made)(tool.base, state_dir=tool.base.parent / "state", cache_control={"type": "ephemeral"})
    assert made.to_dict()["cache_control"] == {"type": "ephemeral"}


def test_a_whole_life(tool: Tool) -> None:
    path = "/memories/notes/a.md"
    assert tool("create", path=path, file_text="one\n") == f"File created successfully at: {path}"
    assert tool("view", path=path).endswith("     1\tone\n     2\t")
    assert tool("view", path=path, view_range=[1, 1]).endswith("     1\tone")
    assert "     1\ttwo" in tool("str_replace", path=path, old_str="one", new_str="two")
    assert tool("insert", path=path, insert_line=1, insert_text="three") == f"The file {path} has been edited."
    assert tool("rename", old_path=path, new_path="/memories/b.md").startswith("Successfully renamed")
    assert (tool.root / "b.md").read_text() == "two\nthree\n"
    assert tool("delete", path="/memories/b.md") == "Successfully deleted /memories/b.md"
    tool("create", path=path, file_text="again")
    assert tool.wait(tool.made.clear_all_memory()) == "All memory cleared"
    assert os.listdir(tool.root) == []


def test_names_of_other_hosts_reach_the_tool(tool: Tool) -> None:
    tool("create", file_path="/memories/a.md", content="one\n")
    tool("str_replace", path="/memories/a.md", old_string="one", new_string="two")
    assert (tool.root / "a.md").read_text() == "two\n"


def test_a_failure_is_the_sdks_own_error(tool: Tool) -> None:
    with pytest.raises(ToolError) as caught:
        tool("view", path="/memories/gone.md")
    assert caught.value.content == "The path /memories/gone.md does not exist. Please provide a valid path."
    with pytest.raises(ToolError, match="got: /memoriesZ"):
        tool("delete", path="/memoriesZ")
    with pytest.raises(NotImplementedError, match="Unknown command: nonsense"):
        tool("nonsense")


def test_nothing_of_ours_lies_below_the_base(tool: Tool) -> None:
    tool("create", path="/memories/a.md", file_text="one\n")
    tool("insert", path="/memories/a.md", insert_line=0, insert_text="x")
    assert os.listdir(tool.base) == ["memories"]
    assert os.listdir(tool.root) == ["a.md"]


def test_folders_and_files_are_private_whatever_the_umask(
    kind: type[MemoryTool] | type[AsyncMemoryTool], tmp_path: Path
) -> None:
    for number, umask in enumerate((0, 0o277)):
        before = os.umask(umask)
        try:
            base = tmp_path / f"nested-{number}/memory"
            tool = Tool(kind(str(base), state_dir=tmp_path / f"state-{number}"), base)
            tool("create", path="/memories/a/b.md", file_text="x")
        finally:
            os.umask(before)
        for folder in (base.parent, base, base / "memories", base / "memories/a"):
            assert folder.stat().st_mode & 0o777 == 0o700, folder
        assert (base / "memories/a/b.md").stat().st_mode & 0o077 == 0


def test_the_folder_is_made_when_theirs_makes_it(tmp_path: Path) -> None:
    MemoryTool(tmp_path / "sync", state_dir=tmp_path / "state")
    assert (tmp_path / "sync/memories").is_dir()
    later = AsyncMemoryTool(tmp_path / "async", state_dir=tmp_path / "state")
    assert not (tmp_path / "async").exists()
    asyncio.run(later.call({"command": "view", "path": "/memories"}))
    assert (tmp_path / "async/memories").is_dir()


def test_the_default_place_is_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tool = MemoryTool()
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "x"})
    assert (tmp_path / "memory/memories/a.md").read_text() == "x"
    assert tool.base_path == BetaLocalFilesystemMemoryTool().base_path
    state = Path(os.environ["MEMTUI_HOME"])
    assert (state / "state.db").exists()


def test_versions_are_where_memtui_finds_them(tool: Tool, tmp_path: Path) -> None:
    tool("create", path="/memories/a.md", file_text="one\n")
    tool("str_replace", path="/memories/a.md", old_str="one", new_str="two")
    root = memory_root(str(tool.base))
    with Engine.open([root._replace(id="notes")], state_dir=str(tmp_path / "state")) as engine:
        address = next(iter(engine.rows.list().items)).address
        assert [version.actor for version in engine.history.of(address)] == ["agent:anthropic-sdk"] * 2


def test_an_open_tool_and_a_new_one_answer_alike_whatever_the_user_sets_meanwhile(
    kind: type[MemoryTool] | type[AsyncMemoryTool], tmp_path: Path
) -> None:
    config = Path(os.environ["MEMTUI_HOME"]) / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    old = Tool(kind(tmp_path / "base"), tmp_path / "base")
    old("create", path="/memories/a.md", file_text="x")
    for text, said in (
        ("[agents]\nenabled = false\n", "E_DISABLED"),
        ("[access]\nanthropic-sdk = 'off'\n", "E_DISABLED"),
        ("[access.anthropic-sdk]\nglobal = 'off'\n", "E_DISABLED"),
        ("nonsense", "E_CONFIG"),
    ):
        config.write_text(text)
        with pytest.raises(ToolError, match=said) as caught:
            old("view", path="/memories/a.md")
        assert str(tmp_path) not in str(caught.value)
        if said == "E_DISABLED":
            with pytest.raises(ToolError, match=said):
                Tool(kind(tmp_path / "base"), tmp_path / "base")("view", path="/memories/a.md")
    config.write_text("[access]\nanthropic-sdk = 'ro'\n")
    assert old("view", path="/memories/a.md").endswith("\tx")
    with pytest.raises(ToolError, match="E_ACCESS"):
        old("delete", path="/memories/a.md")
    config.unlink()
    old("delete", path="/memories/a.md")
    old.close()


def test_a_closed_tool_opens_again(tool: Tool) -> None:
    tool("create", path="/memories/a.md", file_text="x")
    tool.close()
    assert tool("view", path="/memories/a.md").endswith("\tx")


def test_many_calls_of_two_tools_at_once_all_land(tmp_path: Path) -> None:
    tools = [AsyncMemoryTool(tmp_path / "base", state_dir=tmp_path / "state") for _ in range(2)]

    def insert(number: int) -> Any:
        text = {"insert_line": 0, "insert_text": str(number)}
        return tools[number % 2].call({"command": "insert", "path": "/memories/a.md", **text})

    async def scene() -> None:
        await tools[0].call({"command": "create", "path": "/memories/a.md", "file_text": ""})
        await asyncio.gather(*map(insert, range(30)))

    asyncio.run(scene())
    assert sorted(map(int, (tmp_path / "base/memories/a.md").read_text().split())) == list(range(30))


def test_a_cancelled_call_happens_in_full_or_not_at_all(tmp_path: Path) -> None:
    tool = AsyncMemoryTool(tmp_path / "base", state_dir=tmp_path / "state")
    entered, go_on = threading.Event(), threading.Event()

    async def scene() -> None:
        await tool.call({"command": "create", "path": "/memories/a.md", "file_text": "one\n"})
        call = {"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "zero"}

        def hold() -> None:
            entered.set()
            go_on.wait(20)

        with hooked(meddling("exchange", hold)):
            task = asyncio.create_task(tool.call(call))
            await asyncio.to_thread(entered.wait, 20)
            task.cancel()
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            await tool.call({"command": "insert", "path": "/memories/a.md", "insert_line": 2, "insert_text": "two"})

    asyncio.run(scene())
    assert (tmp_path / "base/memories/a.md").read_text() == "zero\none\ntwo\n"


FORKED = """
import os, sys
from memtui.adapters.anthropic import MemoryTool
tool = MemoryTool(sys.argv[1], state_dir=sys.argv[2])
tool.call({"command": "create", "path": "/memories/a.md", "file_text": ""})
def edit(who, number):
    text = f"{who} {number}"
    tool.call({"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": text})
children = []
for who in range(3):
    child = os.fork()
    if not child:
        for number in range(10):
            edit(who, number)
        tool.close()
        os._exit(0)
    children.append(child)
for number in range(10):
    edit(3, number)
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
"""


def test_processes_that_were_forked_off_share_the_memories_not_the_ledger(tmp_path: Path) -> None:
    words = [sys.executable, "-c", FORKED, str(tmp_path / "base"), str(tmp_path / "state")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "base/memories/a.md").read_text().splitlines()
    assert sorted(lines) == sorted(f"{who} {number}" for who in range(4) for number in range(10))
    with Engine.open([memory_root(str(tmp_path / "base"))], state_dir=str(tmp_path / "state")) as engine:
        assert len(engine.history.of(next(iter(engine.rows.list().items)).address)) == 41


def test_uses_are_recorded_although_nobody_closes_the_tool(tmp_path: Path) -> None:
    program = (
        "import sys; from memtui.adapters.anthropic import MemoryTool; tool = MemoryTool(sys.argv[1], state_dir="
        "sys.argv[2]); tool.call({'command': 'create', 'path': '/memories/a.md', 'file_text': 'x'});"
        " tool.call({'command': 'view', 'path': '/memories/a.md'})"
    )
    words = [sys.executable, "-c", program, str(tmp_path / "base"), str(tmp_path / "state")]
    subprocess.run(words, check=True, timeout=60)
    with Engine.open([memory_root(str(tmp_path / "base"))], state_dir=str(tmp_path / "state")) as engine:
        assert [row.uses for row in engine.rows.list().items] == [2]


def test_without_the_sdk_the_import_says_what_to_install() -> None:
    program = "import sys; sys.modules['anthropic'] = None; import memtui.adapters.anthropic"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: memtui.adapters.anthropic needs Anthropic's SDK, 2.10 or newer")
    assert last.endswith("python3 -m pip install 'memtui[anthropic]'")


def test_every_public_method_of_theirs_is_ours() -> None:
    for ours, theirs in (
        (MemoryTool, BetaLocalFilesystemMemoryTool),
        (AsyncMemoryTool, BetaAsyncLocalFilesystemMemoryTool),
    ):
        missing = [name for name in dir(theirs) if not name.startswith("_") and not hasattr(ours, name)]
        assert not missing
        assert json.dumps(ours.__doc__)


def message(*content: dict[str, object]) -> dict[str, object]:
    stop = "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "x", "stop_sequence": None, "stop_reason": stop,
        "usage": usage, "content": list(content),
    }  # fmt: skip


def test_the_sdks_runner_drives_it_and_tells_the_model_of_a_failure(tmp_path: Path) -> None:
    turns = [
        message({"type": "tool_use", "id": "1", "name": "memory", "input": {"command": "view", "path": "/memories/x"}}),
        message(
            {
                "type": "tool_use",
                "id": "2",
                "name": "memory",
                "input": {"command": "create", "path": "/memories/x", "file_text": "coffee"},
            }
        ),
        message({"type": "text", "text": "done"}),
    ]
    asked: list[dict[str, Any]] = []

    class Model(BaseHTTPRequestHandler):
        """Gives the next turn, whatever it is asked."""

        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            body = json.dumps(turns[len(asked) - 1]).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        with (
            Anthropic(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}") as client,
            MemoryTool(tmp_path / "base", state_dir=tmp_path / "state") as tool,
        ):
            last = client.beta.messages.tool_runner(
                model="x", max_tokens=9, messages=[{"role": "user", "content": "Remember coffee."}], tools=[tool]
            ).until_done()
        server.shutdown()
        thread.join()
    assert last.stop_reason == "end_turn"
    assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [turn["messages"][-1]["content"][0] for turn in asked[1:]]
    assert results[0]["is_error"] is True
    assert "does not exist" in str(results[0]["content"])
    assert not results[1].get("is_error")
    assert (tmp_path / "base/memories/x").read_text() == "coffee"


READS: dict[str, dict[str, object]] = {
    "view": {},
    "str_replace": {"old_str": "outside", "new_str": "x"},
    "insert": {"insert_line": 0, "insert_text": "x"},
}
STEPS = ("open_file", "stat_path", "real_path", "hold_writers", "create_file", "exchange", "fsync_dir")
"""Where the attacker acts: just before the first such call of a command."""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What must neither be shown nor changed."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "notes.txt").write_text("outside")
    return folder


def attack(tool: Tool, step: str, act: Callable[[], object], command: str, path: str) -> str:
    """The answer to a command during which somebody acts once."""
    done = False

    def once() -> None:
        nonlocal done
        if not done:
            done = True
            act()

    with hooked(meddling(step, once)):
        try:
            return tool(command, path=path, **READS[command])
        except ToolError as error:
            return f"ToolError: {error}"


def unharmed(outside: Path) -> bool:
    """Whether everything outside is as it was."""
    return os.listdir(outside) == ["notes.txt"] and (outside / "notes.txt").read_text() == "outside"


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("command", READS)
def test_a_link_made_after_the_path_was_judged(tool: Tool, outside: Path, command: str, step: str) -> None:
    tool("view", path="/memories")
    link = tool.root / "notes.txt"
    answer = attack(tool, step, lambda: link.symlink_to(outside / "notes.txt"), command, "/memories/notes.txt")
    assert answer.startswith("ToolError: ")
    assert "outside" not in answer
    assert unharmed(outside)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("command", READS)
def test_a_file_exchanged_for_a_link_before_it_is_opened(tool: Tool, outside: Path, command: str, step: str) -> None:
    tool("create", path="/memories/notes.txt", file_text="inside outside\n")
    file = tool.root / "notes.txt"

    def swap() -> None:
        file.unlink()
        file.symlink_to(outside / "notes.txt")

    answer = attack(tool, step, swap, command, "/memories/notes.txt")
    assert "\toutside" not in answer
    assert unharmed(outside)
    if step == "open_file":
        assert answer == "ToolError: Path /memories/notes.txt would escape /memories directory"


@pytest.mark.parametrize("step", STEPS)
def test_a_link_to_a_folder_made_after_the_path_was_judged(tool: Tool, outside: Path, step: str) -> None:
    tool("view", path="/memories")
    answer = attack(tool, step, lambda: (tool.root / "dir").symlink_to(outside), "view", "/memories/dir")
    assert answer.startswith("ToolError: ")
    assert "notes.txt" not in answer


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("command", READS)
def test_a_link_that_is_turned_outwards_after_it_was_followed(
    tool: Tool, outside: Path, command: str, step: str
) -> None:
    tool("create", path="/memories/legit/notes.txt", file_text="inside\n")
    link = tool.root / "link"
    link.symlink_to("legit")

    def turn() -> None:
        link.unlink()
        link.symlink_to(outside)

    answer = attack(tool, step, turn, command, "/memories/link/notes.txt")
    assert "\toutside" not in answer
    assert unharmed(outside)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("command", READS)
def test_a_folder_exchanged_for_a_link_outwards(tool: Tool, outside: Path, command: str, step: str) -> None:
    tool("create", path="/memories/legit/notes.txt", file_text="inside\n")

    def swap() -> None:
        shutil.rmtree(tool.root / "legit")
        (tool.root / "legit").symlink_to(outside)

    answer = attack(tool, step, swap, command, "/memories/legit/notes.txt")
    assert "\toutside" not in answer
    assert unharmed(outside)
