"""Codex: servers in `config.toml`, hooks in `hooks.json` beside it.

Its settings also take hooks, but Codex warns at every start when one folder has both, and other programs use the file.
"""

import os

from memtui.clients.client import PROJECT, SECONDS, Client, Entry, Note, Target, home_of, hook_group
from memtui.clients.start import Start
from memtui.config.surroundings import Surroundings


def _folder(place: Surroundings) -> str:
    chosen = place.variable("CODEX_HOME")
    return place.folder(chosen) if chosen else os.path.join(home_of(place), ".codex")


def _targets(place: Surroundings, level: str, start: Start) -> tuple[Target, ...]:
    inside = place.project if level == PROJECT else None
    folder = os.path.join(place.project, ".codex") if inside else _folder(place)
    hook = {"type": "command", "command": start.hook, "timeout": SECONDS, "statusMessage": "Reading memories"}
    return (
        Target(
            os.path.join(folder, "config.toml"),
            "toml",
            (Entry("server", ("mcp_servers", "memtui"), start.server),),
            inside,
        ),
        Target(
            os.path.join(folder, "hooks.json"),
            "json",
            (Entry("hook", ("hooks", "SessionStart"), hook_group(hook)),),
            inside,
        ),
    )


CODEX = Client(
    "codex",
    "Codex",
    _folder,
    _targets,
    (
        Note("Codex runs a new hook only after you have reviewed it: type /hooks in Codex."),
        Note("Codex reads a project's configuration only in a project you trust.", PROJECT),
    ),
    hook_may_not_run=True,
)
