"""VS Code: servers in `mcp.json` of the user's profile or `.vscode/mcp.json`, hooks in Copilot's own folder.

A project's hooks would also run in GitHub's cloud, where there is no memtui, so a project gets the server alone.
"""

import os
import sys

from memtui.clients.client import PROJECT, SECONDS, USER, Client, Entry, Note, Target, home_of
from memtui.clients.start import Start
from memtui.config.surroundings import Surroundings

_EDITIONS = ("Code", "Code - Insiders", "VSCodium", "Code - OSS")
"""Where each edition keeps its files; the first that is there is meant."""


def _folder(place: Surroundings) -> str:
    portable = place.variable("VSCODE_PORTABLE")
    if portable:
        return os.path.join(place.folder(portable), "user-data", "User")
    if sys.platform == "darwin":
        base = os.path.join(home_of(place), "Library", "Application Support")
    else:
        base = place.variable("XDG_CONFIG_HOME") or ""
        base = base if os.path.isabs(base) else os.path.join(home_of(place), ".config")
    found = [os.path.join(base, edition, "User") for edition in _EDITIONS]
    return next(filter(os.path.isdir, found), found[0])


def _targets(place: Surroundings, level: str, start: Start) -> tuple[Target, ...]:
    server = {"type": "stdio"} | start.server
    if level == PROJECT:
        server["cwd"] = "${workspaceFolder}"
        entry = Entry("server", ("servers", "memtui"), server)
        return (Target(os.path.join(place.project, ".vscode", "mcp.json"), "json", (entry,), place.project),)
    # In the user's profile no folder can be named: the server asks VS Code which one is open.
    chosen = place.variable("COPILOT_HOME")
    copilot = place.folder(chosen) if chosen else os.path.join(home_of(place), ".copilot")
    hook = {"type": "command", "command": start.hook, "timeout": SECONDS}
    return (
        Target(os.path.join(_folder(place), "mcp.json"), "json", (Entry("server", ("servers", "memtui"), server),)),
        Target(
            os.path.join(copilot, "hooks", "memtui.json"),
            "json",
            (Entry("value", ("version",), 1), Entry("hook", ("hooks", "SessionStart"), hook)),
        ),
    )


VSCODE = Client(
    "vscode",
    "VS Code",
    _folder,
    _targets,
    (
        Note("VS Code asks once whether you trust the server."),
        Note("Hooks are a preview in VS Code, and can be switched off by policy.", USER),
    ),
)
