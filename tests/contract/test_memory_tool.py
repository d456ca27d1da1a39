"""Every call of the memory tool has one answer: from the engine, `memtui tool` and MCP; the verbs do the same."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import Implementation, TextContent

from memtui.config.read import load_settings, read_environment
from memtui.engine.model import Actor
from memtui.memory_tool.call import Result
from memtui.memory_tool.scoped import ScopedTool
from memtui.wire.access import open_agent_session
from memtui.wire.session import Options
from tests.contract.memory_calls import CASES, Call, Case, expected, placed

Answer = Callable[[Call], Result]
Front = Callable[[dict[str, str], Path], AbstractContextManager[Answer]]
"""Opens a front in an environment and a working directory."""
START = "import sys; from memtui.__main__ import main; sys.exit(main())"


@contextmanager
def through_engine(env: dict[str, str], cwd: Path) -> Iterator[Answer]:
    """The tool in this process, on the roots that are found there."""
    actor = Actor("mcp:contract")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        for name in os.environ.keys() - env.keys():
            patch.delenv(name)
        for name, value in env.items():
            patch.setenv(name, value)
        opened = open_agent_session(load_settings(read_environment()), Options(actor=actor), lock_wait=5.0)
    with opened.engine as engine:
        yield ScopedTool(engine, actor).call


@contextmanager
def through_lines(env: dict[str, str], cwd: Path) -> Iterator[Answer]:
    """`memtui tool`: a line in, a line out."""
    command = [sys.executable, "-c", START, "tool"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=cwd) as process:

        def answer(call: Call) -> Result:
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps(call).encode() + b"\n")
            process.stdin.flush()
            found = json.loads(process.stdout.readline())
            assert found.keys() == {"ok", "output" if found["ok"] else "error"}
            return Result(found["ok"], found["output" if found["ok"] else "error"])

        yield answer
        assert process.stdin
        process.stdin.close()
        assert process.wait(100) == 0


@contextmanager
def through_mcp(env: dict[str, str], cwd: Path, *, mode: str = "legacy") -> Iterator[Answer]:
    """`memtui mcp` and the library's own client over pipes."""
    server = StdioServerParameters(command=sys.executable, args=["-c", START, "mcp"], env=env, cwd=cwd)
    info = Implementation(name="contract", version="1")
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(stdio_client(server), mode=mode, client_info=info)) as client,
    ):

        def answer(call: Call) -> Result:
            found = portal.call(client.call_tool, "memory", call)
            (block,) = found.content
            assert isinstance(block, TextContent)
            return Result(not found.is_error, block.text)

        yield answer


FRONTS: dict[str, Front] = {
    "engine": through_engine,
    "lines": through_lines,
    "mcp": through_mcp,
    "mcp-envelope": partial(through_mcp, mode="auto"),
}
"""Fronts whose answers are compared word by word; another front joins with one entry."""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[dict[str, str], Path]]:
    """For each front a home, a memtui home and a project of its own."""

    def make(name: str) -> tuple[dict[str, str], Path]:
        base = tmp_path_factory.mktemp(name)
        for part in ("home", "project/.git"):
            (base / part).mkdir(parents=True, exist_ok=True)
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "PYTHONPATH", "LANG")}
        return {**kept, "HOME": str(base / "home"), "MEMTUI_HOME": str(base / "memtui")}, base / "project"

    return make


@pytest.fixture(scope="module")
def fronts(places: Callable[[str], tuple[dict[str, str], Path]]) -> Iterator[Callable[[str], tuple[Answer, Path]]]:
    """Each front, opened once."""
    opened: dict[str, tuple[Answer, Path]] = {}
    with ExitStack() as stack:

        def front(name: str) -> tuple[Answer, Path]:
            if name not in opened:
                env, cwd = places(name)
                opened[name] = (stack.enter_context(FRONTS[name](env, cwd)), Path(env["MEMTUI_HOME"]))
            return opened[name]

        yield front


def below(home: Path, folder: str) -> dict[str, bytes]:
    """What a case left on disk."""
    base = next(home.rglob("memory/global"), home) / folder.rpartition("/")[2]
    return {str(path.relative_to(base)): path.read_bytes() for path in sorted(base.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("name", FRONTS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_call_has_one_answer(case: Case, name: str, fronts: Callable[[str], tuple[Answer, Path]]) -> None:
    answer, _ = fronts(name)
    folder = f"/memories/global/case{CASES.index(case):02}"
    for call in case.before:
        assert answer(placed(call, folder)).ok
    assert answer(placed(case.call, folder)) == expected(case, folder)


def words(call: Call) -> tuple[list[str], str] | None:
    """The command line that does the same, and its input."""
    match call["command"]:
        case "view":
            return ["view", str(call["path"])], ""
        case "create":
            return ["create", str(call["path"]), "-"], str(call["file_text"])
        case "delete":
            return ["rm", str(call["path"])], ""
        case "rename":
            return ["mv", str(call["old_path"]), str(call["new_path"])], ""
    return None


SAME = [case for case in CASES if case.verbs and words(case.call) is not None]


@pytest.mark.parametrize("case", SAME, ids=lambda case: case.name)
def test_the_verbs_do_the_same(
    case: Case,
    fronts: Callable[[str], tuple[Answer, Path]],
    places: Callable[[str], tuple[dict[str, str], Path]],
) -> None:
    answer, home = fronts("engine")
    folder = f"/memories/global/verb{CASES.index(case):02}"
    for call in case.before:
        assert answer(placed(call, folder)).ok
    answer(placed(case.call, folder))
    env, cwd = places("verbs")
    with through_engine(env, cwd) as prepare:
        for call in case.before:
            assert prepare(placed(call, folder)).ok
    line = words(placed(case.call, folder))
    assert line is not None
    outcome = subprocess.run(
        [sys.executable, "-c", START, *line[0]], input=line[1].encode(), env=env, cwd=cwd, capture_output=True
    )
    assert (outcome.returncode == 0) is case.ok, outcome.stderr
    assert below(Path(env["MEMTUI_HOME"]), folder) == below(home, folder)
    if case.call["command"] == "view" and case.ok:
        bare = "\n".join(line.partition("\t")[2] for line in case.text.split("\n"))
        assert outcome.stdout.decode() == bare
