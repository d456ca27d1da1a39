"""The homes of `homes.py` and `homes_more.py` with every switch off that decides whether memories are loaded.

What the switches are called and where they stand is what the agents' own sources and documentation say.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.agents import homes, homes_more
from tests.agents.homes import lay


def claude_code(home: Path, project: Path) -> None:
    """Switched off in the project's own settings, though the user's switch it on."""
    homes.claude_code(home, project)
    lay(project, {".claude/settings.json": json.dumps({"autoMemoryEnabled": False})})


def codex(home: Path, project: Path) -> None:
    """The feature is on, and the memories are not to be used."""
    homes.codex(home, project)
    lay(home / ".codex", {"config.toml": "[features]\nmemories = true\n\n[memories]\nuse_memories = false\n"})


def qwen_code(home: Path, project: Path) -> None:
    """Both its own memories and the team's."""
    homes.qwen_code(home, project)
    off = {"memory": {"enableManagedAutoMemory": False, "enableTeamMemory": False}}
    lay(home / ".qwen", {"settings.json": "// mine\n" + json.dumps(off)})


def serena(home: Path, project: Path) -> None:
    """A mode without memories."""
    homes_more.serena(home, project)
    lay(home / ".serena", {"serena_config.yml": "language_backend: LSP\ndefault_modes:\n- editing\n- no-memories\n"})


def letta(home: Path, project: Path) -> None:
    """Both agents, each in an entry of its own."""
    homes_more.letta(home, project)
    agents = ("agent-8f31ed67-bc7d-40e7-abde-5a8bc4f7e601", "agent-local-1")
    found = [{"agentId": agent, "baseUrl": "localhost:8283", "memfs": False} for agent in agents]
    lay(home / ".letta", {"settings.json": json.dumps({"agents": found})})


def hermes(home: Path, project: Path) -> None:
    """Both memories of the profile in use."""
    homes_more.hermes(home, project)
    lay(home / ".hermes", {"config.yaml": "memory:\n  memory_enabled: false\n  user_profile_enabled: False\n"})


HOMES_OFF: Mapping[str, tuple[Callable[[Path, Path], None], str]] = {
    "claude-code": (claude_code, "app/.claude/settings.json"),
    "codex": (codex, "~/.codex/config.toml"),
    "qwen-code": (qwen_code, "~/.qwen/settings.json"),
    "serena": (serena, "~/.serena/serena_config.yml"),
    "letta": (letta, "~/.letta/settings.json"),
    "hermes": (hermes, "~/.hermes/config.yaml"),
}
"""By agent: writes what the agent leaves in a home folder and in a project; and the file that switches it off."""
