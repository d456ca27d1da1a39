"""How each agent starts: one table for each, as `memtui/agents/layouts/` knows its folders.

A table is imported only where the agent is asked for or may be in use, and says nothing that the agent does not do.
"""

from typing import TYPE_CHECKING

from memtui.agents.loads.loading import Table
from memtui.config.surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memtui.engine.model import Root

TABLES = {
    "claude-code": "claude_code:TABLE",
    "codex": "codex:TABLE",
    "gemini": "gemini:TABLE",
    "qwen-code": "qwen_code:TABLE",
    "mux": "mux:TABLE",
    "copilot": "rules:COPILOT",
    "cursor": "rules:CURSOR",
    "windsurf": "rules:WINDSURF",
    "kiro": "rules:KIRO",
    "cline": "rules:CLINE",
    "roo": "rules:ROO",
    "opencode": "rules:OPENCODE",
    "amp": "rules:AMP",
    "goose": "memories:GOOSE",
    "serena": "memories:SERENA",
    "letta": "memories:LETTA",
    "deepagents": "memories:DEEPAGENTS",
    "hermes": "memories:HERMES",
    "openclaw": "memories:OPENCLAW",
}
"""Every agent whose start is known, in the order in which they are shown: its module here, and the table's name."""


def table_of(agent: str) -> Table:
    """Give one agent's table.

    Raises:
        KeyError: nothing is known of how it starts.
    """
    module, _, name = TABLES[agent].partition(":")
    table: Table = getattr(__import__(f"memtui.agents.loads.tables.{module}", fromlist=[name]), name)
    return table


def in_use(surroundings: Surroundings, roots: "Iterable[Root]") -> "Iterator[Table]":
    """Find the agents that left a trace here, or have a root in reach."""
    known = {root.agent for root in roots}
    for agent in TABLES:
        table = table_of(agent)
        if agent in known or not known.isdisjoint(table.also) or table.in_use(surroundings):
            yield table
