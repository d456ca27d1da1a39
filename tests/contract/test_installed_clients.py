"""Memory in one minute: what `install --write` wrote is taken as the agent takes it, and it works.

The command of the server is started by the SDK's own client, under the name the agent gives; the line of the hook by a
shell, as the agent does at the start of a session. VS Code starts the servers of the user's profile in the home folder,
and names the folder that is open as its root.
"""

import json
import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, Implementation, ListRootsResult, TextContent

from tests.cli.conftest import Cli, Person, cli, workbench

__all__ = ["cli", "workbench"]

AGENTS = {
    "claude-code": ("claude-code", ".claude.json", "mcpServers", ".claude/settings.json"),
    "codex": ("codex-mcp-client", ".codex/config.toml", "mcp_servers", ".codex/hooks.json"),
    "gemini": ("gemini-cli-mcp-client", ".gemini/settings.json", "mcpServers", ".gemini/settings.json"),
    "qwen": ("qwen-code-mcp-client", ".qwen/settings.json", "mcpServers", ".qwen/settings.json"),
    "vscode": ("Visual Studio Code", ".config/Code/User/mcp.json", "servers", ".copilot/hooks/memtui.json"),
}
"""What each agent calls itself, where it looks for its servers, under which name, and where for its hooks."""


def read(file: Path) -> dict[str, Any]:
    """Read a configuration as the agent does."""
    found: dict[str, Any] = (
        tomllib.loads(file.read_text()) if file.suffix == ".toml" else json.loads(file.read_text("utf-8"))
    )
    return found


def hook_of(file: Path) -> str:
    """The one hook at the start of a session."""
    (item,) = read(file)["hooks"]["SessionStart"]
    (hook,) = item.get("hooks", [item])
    assert hook["type"] == "command"
    line: str = hook["command"]
    return line


def text_of(result: CallToolResult) -> str:
    """What a tool answered."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@pytest.fixture
def vscode_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of settings where it is without a variable, so that all agents' files have their usual places."""
    monkeypatch.delenv("XDG_CONFIG_HOME")


@pytest.mark.usefixtures("vscode_home")
@pytest.mark.parametrize("agent", AGENTS)
async def test_a_newcomer_gives_an_agent_its_memory(cli: Cli, home: Path, agent: str, person: Person) -> None:
    person("yes\n")
    name, servers, key, hooks = AGENTS[agent]
    assert cli("install", agent, "--write").status == 0
    entry = read(home / servers)[key]["memtui"]
    project = Path.cwd()
    (project / ".git").mkdir()
    assert "cwd" not in entry
    named = agent == "vscode"
    started = StdioServerParameters(
        command=entry["command"],
        args=entry["args"],
        env=dict(os.environ) | entry.get("env", {}),
        cwd=home if named else project,
    )

    async def roots(context: object) -> ListRootsResult:
        return ListRootsResult.model_validate({"roots": [{"uri": project.as_uri()}]})

    with anyio.fail_after(60):
        async with (
            stdio_client(started) as (incoming, outgoing),
            ClientSession(
                incoming,
                outgoing,
                client_info=Implementation(name=name, version="1"),
                list_roots_callback=roots if named else None,
            ) as session,
        ):
            await session.initialize()
            assert "memory" in [tool.name for tool in (await session.list_tools()).tools]
            fields = {"command": "create", "path": "/memories/project/tabs.md", "file_text": "---\n---\nWe use tabs.\n"}
            made = await session.call_tool("memory", fields)
            assert not made.is_error, text_of(made)
            seen = await session.call_tool("memory", {"command": "view", "path": "/memories/project/tabs.md"})
            assert "We use tabs." in text_of(seen)
    assert (project / ".memtui" / "memory" / "tabs.md").read_text().endswith("We use tabs.\n")
    versions = cli("history", "memtui:project/tabs.md", "--json").items
    assert [version["actor"] for version in versions] == [f"mcp:{name}"]

    assert cli("pin", "memtui:project/tabs.md").status == 0
    assert cli("roots", "--accept", "memtui:project").status == 0
    given = subprocess.run(
        ["/bin/sh", "-c", hook_of(home / hooks)],
        input=b'{"hook_event_name": "SessionStart", "source": "startup"}',
        capture_output=True,
        timeout=60,
        check=True,
    )
    answer = json.loads(given.stdout)
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "We use tabs." in answer["hookSpecificOutput"]["additionalContext"]
    assert given.stderr == b""


@pytest.mark.usefixtures("vscode_home")
async def test_a_planning_agent_is_held_to_its_flag_and_the_table(cli: Cli, home: Path) -> None:
    assert cli("install", "claude-code", "--access", "plan", "--write").status == 0
    (home / ".memtui-test" / "config.toml").write_text("[access.claude-code]\nglobal = 'ro'\n")
    (Path.cwd() / ".git").mkdir()
    entry = read(home / ".claude.json")["mcpServers"]["memtui"]
    started = StdioServerParameters(command=entry["command"], args=entry["args"], env=dict(os.environ))
    said = {}
    with anyio.fail_after(60):
        async with (
            stdio_client(started) as (incoming, outgoing),
            ClientSession(incoming, outgoing, client_info=Implementation(name="claude-code", version="1")) as session,
        ):
            await session.initialize()
            for scope in ("global", "project", "workspace"):
                fields = {"command": "create", "path": f"/memories/{scope}/a.md", "file_text": "x\n"}
                said[scope] = await session.call_tool("memory", fields)
    assert {scope: bool(result.is_error) for scope, result in said.items()} == {
        "global": True,
        "project": True,
        "workspace": False,
    }
    assert "read-only" in text_of(said["project"])
