"""Folders of several agents, each under the layout memtui has for it, behind a real engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memtui.agents.known import claude_code, codex, cursor, goose, letta, memtui_native, mux, qwen_code, serena
from memtui.engine import Engine
from memtui.engine.model import Actor, Policy, Root
from tests.pointers.folder import disk

ME = Actor("cli")
POLICIES: dict[str, Policy] = {
    "claude-code": claude_code.AUTO,
    "qwen-code": qwen_code.AUTO,
    "codex": codex.AUTO,
    "serena": serena.POLICY,
    "mux": mux.POLICY,
    "letta": letta.POLICY,
    "goose": goose.POLICY,
    "memtui": memtui_native.POLICY,
    "cursor": cursor.POLICY,
}


def root(agent: str, path: str = "", scope: str = "project", *, read_only: bool = False) -> Root:
    """Return a root of an agent."""
    return Root(f"{agent}:{scope}", path, agent, scope, policy=POLICIES[agent], read_only=read_only)


class Agents:
    """One folder for each agent, below a temporary one."""

    def __init__(self, base: Path, *agents: str) -> None:
        self.base = base
        self.agents = agents
        for agent in agents:
            (base / agent).mkdir(parents=True)

    def lay(self, agent: str, files: Mapping[str, str | bytes]) -> None:
        """Write files, byte for byte as given."""
        for name, text in files.items():
            path = self.base / agent / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)

    def held(self, agent: str) -> dict[str, bytes]:
        """Return every file of an agent."""
        return disk(self.base / agent)

    def everything(self) -> dict[str, dict[str, bytes]]:
        """Return every file of every agent."""
        return {agent: self.held(agent) for agent in self.agents}

    def engine(self, state: str = "state") -> Engine:
        """Open an engine on all of them."""
        roots = [root(agent, str(self.base / agent)) for agent in self.agents]
        return Engine.open(roots, state_dir=str(self.base / state))
