"""Claude Code: servers in `~/.claude.json` (or `.mcp.json` of a project), hooks in `settings.json`.

A server in `settings.json` is never read, and `~/.claude/.mcp.json` is no place at all: both look right and do nothing.
"""

import os

from memtui.clients.client import PROJECT, SECONDS, USER, Client, Entry, Note, Target, home_of, hook_group
from memtui.clients.start import Start
from memtui.config.surroundings import Surroundings


def _folder(place: Surroundings) -> str:
    chosen = place.variable("CLAUDE_CONFIG_DIR")
    return place.folder(chosen) if chosen else os.path.join(home_of(place), ".claude")


def _targets(place: Surroundings, level: str, start: Start) -> tuple[Target, ...]:
    server = Entry("server", ("mcpServers", "memtui"), {"type": "stdio"} | start.server)
    hook = Entry(
        "hook",
        ("hooks", "SessionStart"),
        hook_group({"type": "command", "command": start.hook, "timeout": SECONDS}),
    )
    if level == PROJECT:
        settings = os.path.join(place.project, ".claude", "settings.json")
        return (
            Target(os.path.join(place.project, ".mcp.json"), "json", (server,), place.project),
            Target(settings, "json", (hook,), place.project),
        )
    folder = _folder(place)
    state = os.path.join(folder if place.variable("CLAUDE_CONFIG_DIR") else home_of(place), ".claude.json")
    return Target(state, "json", (server,)), Target(os.path.join(folder, "settings.json"), "json", (hook,))


CLAUDE_CODE = Client(
    "claude-code",
    "Claude Code",
    _folder,
    _targets,
    (
        Note("Close Claude Code first: while it runs it may put its own copy of .claude.json back.", USER, "before"),
        Note("If Claude Code was running, look again: it may put its own copy of .claude.json back.", USER, "after"),
        Note("Claude Code asks everybody who opens the project whether they trust its server and its hook.", PROJECT),
    ),
)
