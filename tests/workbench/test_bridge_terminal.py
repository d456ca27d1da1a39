"""The real workbench beside a real MCP server: what an agent reads and writes shows while it happens, with its name."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.servers import Server
from tests.mcp_server.talk import Store
from tests.terminal import Terminal

COMMAND = [sys.executable, "-c", "import sys; from memtui.__main__ import main; sys.exit(main())"]
PATH = "/memories/global/style.md"
SOON = 30.0
"""Seconds: a look at the ledger four times a second, uses that wait for one, and a very busy machine."""


def row(terminal: Terminal) -> str:
    """The memory's line in the tree."""
    return next((line for line in terminal.text.splitlines() if "  style.md" in line and "How we write" in line), "")


def shows(text: str) -> Callable[[Terminal], bool]:
    return lambda terminal: text in row(terminal)


def info(name: str, value: str) -> Callable[[Terminal], bool]:
    """Whether a line of the panel beside the text says so."""
    return lambda terminal: any(
        line.split("▏")[-1].startswith(name) and value in line for line in terminal.text.splitlines()
    )


def test_an_agent_s_use_and_write_show_live(home: Path) -> None:
    store = Store(home)
    store.write("global/style.md", "---\ndescription: How we write\n---\none\n")
    store.know()
    with (
        Terminal([*COMMAND, "--only-root"], columns=160, rows=40) as terminal,
        Server([*COMMAND, "mcp"], os.environ) as agent,
    ):
        terminal.wait_for("style.md")
        terminal.press("/")
        terminal.wait_for(lambda t: t.text.rstrip().split("\n")[-1].strip().startswith("/"))
        terminal.type("style")
        terminal.press("enter")
        terminal.wait_for(info("used", "never"))
        for use in (1, 2):
            agent.call(command="view", path=PATH)
            began = time.monotonic()
            terminal.wait_for(shows(f"x{use}"), seconds=SOON)
            terminal.wait_for(info("used", f"{use}x"), seconds=SOON)
            assert time.monotonic() - began < SOON
        agent.call(command="str_replace", path=PATH, old_str="one", new_str="the agent was here")
        terminal.wait_for("the agent was here", seconds=SOON)
        terminal.wait_for(info("changed", "by bench"), seconds=SOON)
        terminal.wait_for(shows("x3"), seconds=SOON)
