"""Gemini CLI: servers and hooks in `settings.json`, the user's or the project's.

Its hooks are timed in milliseconds, and one matcher names one way a session begins.
"""

import os

from memtui.clients.client import PROJECT, SECONDS, Client, Entry, Note, Target, home_of, hook_group
from memtui.clients.start import Start
from memtui.config.surroundings import Surroundings


def _folder(place: Surroundings) -> str:
    chosen = place.variable("GEMINI_CLI_HOME")
    return os.path.join(place.folder(chosen) if chosen else home_of(place), ".gemini")


def _targets(place: Surroundings, level: str, start: Start) -> tuple[Target, ...]:
    inside = place.project if level == PROJECT else None
    folder = os.path.join(place.project, ".gemini") if inside else _folder(place)
    hook = {"name": "memtui", "type": "command", "command": start.hook, "timeout": SECONDS * 1000}
    entries = (
        Entry("server", ("mcpServers", "memtui"), start.server),
        Entry("hook", ("hooks", "SessionStart"), hook_group(hook, None)),
    )
    return (Target(os.path.join(folder, "settings.json"), "json", entries, inside),)


GEMINI = Client(
    "gemini",
    "Gemini CLI",
    _folder,
    _targets,
    (Note("Gemini CLI warns about a project's hooks until you trust them.", PROJECT),),
)
