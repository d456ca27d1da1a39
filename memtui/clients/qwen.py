"""Qwen Code: servers and hooks in `settings.json`, the user's or the project's.

It began as Gemini CLI and took Claude Code's hooks: matchers are patterns, times are milliseconds.
"""

import os

from memtui.clients.client import PROJECT, SECONDS, Client, Entry, Target, home_of, hook_group
from memtui.clients.start import Start
from memtui.config.surroundings import Surroundings


def _folder(place: Surroundings) -> str:
    chosen = place.variable("QWEN_HOME")
    return place.folder(chosen) if chosen else os.path.join(home_of(place), ".qwen")


def _targets(place: Surroundings, level: str, start: Start) -> tuple[Target, ...]:
    inside = place.project if level == PROJECT else None
    folder = os.path.join(place.project, ".qwen") if inside else _folder(place)
    hook = {"type": "command", "command": start.hook, "name": "memtui", "timeout": SECONDS * 1000}
    entries = (
        Entry("server", ("mcpServers", "memtui"), start.server),
        Entry("hook", ("hooks", "SessionStart"), hook_group(hook)),
    )
    return (Target(os.path.join(folder, "settings.json"), "json", entries, inside),)


QWEN = Client("qwen", "Qwen Code", _folder, _targets, hook_may_not_run=True)
"""It runs no hook at the start of a session without a terminal."""
