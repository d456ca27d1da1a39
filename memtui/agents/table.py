"""Every agent memtui knows, as data: what shows that it is in use, and which module knows its folders.

A new agent is one entry here and one module of `layouts`. Its module is imported only where the agent left a trace,
so that agents nobody uses cost a few looks at names.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memtui.config.surroundings import Surroundings
    from memtui.engine.model import Policy, Root


class Layout(NamedTuple):
    """One agent: its names, and the traces it leaves."""

    agent: str
    """The first part of its roots' ids, and what `agent=` of a root by hand says."""
    title: str
    """Its name, for people."""
    module: str
    """The module of `layouts` that finds its roots: `roots(surroundings, *, all_projects)`, lazily, none twice."""
    variables: tuple[str, ...] = ()
    """Environment variables that name its folders; each is also in `AGENT_VARIABLES` of the settings."""
    at_home: tuple[str, ...] = ()
    """Paths below the home folder."""
    in_config: tuple[str, ...] = ()
    """Paths below the folder of settings: `$XDG_CONFIG_HOME`, else `~/.config`."""
    in_project: tuple[str, ...] = ()
    """Paths in the project, in its checkout, or where the user stands. Not names that many agents read, such as
    `AGENTS.md`."""
    in_system: tuple[str, ...] = ()
    """Paths below the folder of this machine's administrators."""
    policy: str = "AUTO"
    """The name, in its module, of the layout that a root by hand follows."""
    kind: str = "memories"
    """What such a root holds; `instructions` for agents that keep no memories on disk."""


LAYOUTS = (
    Layout(
        "claude-code",
        "Claude Code",
        "claude_code",
        variables=("CLAUDE_CONFIG_DIR",),
        at_home=(".claude",),
        in_project=("CLAUDE.md", "CLAUDE.local.md", ".claude"),
        in_system=("claude-code", "ClaudeCode"),
    ),
    Layout(
        "codex", "Codex", "codex", variables=("CODEX_HOME",), at_home=(".codex",), in_project=("AGENTS.override.md",)
    ),
    Layout(
        "gemini",
        "Gemini CLI",
        "gemini",
        variables=("GEMINI_CLI_HOME",),
        at_home=(".gemini",),
        in_project=("GEMINI.md",),
    ),
    Layout(
        "qwen-code",
        "Qwen Code",
        "qwen_code",
        variables=("QWEN_HOME", "QWEN_RUNTIME_DIR", "QWEN_CODE_MEMORY_BASE_DIR"),
        at_home=(".qwen",),
        in_project=("QWEN.md", ".qwen"),
    ),
    Layout("mux", "Mux", "mux", variables=("XUM_ROOT", "MUX_ROOT"), at_home=(".xum", ".mux"), policy="POLICY"),
    Layout(
        "copilot",
        "Copilot",
        "copilot",
        variables=("VSCODE_PORTABLE", "COPILOT_HOME"),
        # The extension's own folder, which is there once it ran: the editor alone is no trace of it.
        at_home=(
            ".copilot/copilot-instructions.md",
            ".copilot/instructions",
            ".vscode-server/data/User/globalStorage/github.copilot-chat",
            ".vscode-server-insiders/data/User/globalStorage/github.copilot-chat",
            "Library/Application Support/Code/User/globalStorage/github.copilot-chat",
            "Library/Application Support/Code - Insiders/User/globalStorage/github.copilot-chat",
            "Library/Application Support/VSCodium/User/globalStorage/github.copilot-chat",
        ),
        in_config=(
            "Code/User/globalStorage/github.copilot-chat",
            "Code - Insiders/User/globalStorage/github.copilot-chat",
            "VSCodium/User/globalStorage/github.copilot-chat",
            "Code - OSS/User/globalStorage/github.copilot-chat",
        ),
        in_project=(".github/copilot-instructions.md", ".github/instructions"),
        policy="POLICY",
    ),
    Layout(
        "serena",
        "Serena",
        "serena",
        variables=("SERENA_HOME",),
        at_home=(".serena",),
        in_project=(".serena",),
        policy="POLICY",
    ),
    Layout(
        "letta",
        "Letta Code",
        "letta",
        variables=("LETTA_MEMORY_DIR", "MEMORY_DIR", "LETTA_LOCAL_BACKEND_DIR"),
        at_home=(".letta",),
        policy="POLICY",
    ),
    Layout("goose", "Goose", "goose", in_config=("goose",), in_project=(".goose", ".goosehints"), policy="POLICY"),
    Layout(
        "hermes",
        "Hermes",
        "hermes",
        variables=("HERMES_HOME",),
        at_home=(".hermes",),
        in_project=(".hermes.md", "HERMES.md"),
        policy="POLICY",
    ),
    Layout(
        "openclaw",
        "OpenClaw",
        "openclaw",
        variables=("OPENCLAW_STATE_DIR", "OPENCLAW_WORKSPACE_DIR", "OPENCLAW_PROFILE"),
        at_home=(".openclaw",),
        policy="POLICY",
    ),
    Layout(
        "deepagents",
        "Deep Agents",
        "deepagents",
        at_home=(".deepagents",),
        in_project=(".deepagents",),
        policy="POLICY",
    ),
    Layout(
        "cline",
        "Cline",
        "cline",
        at_home=("Documents/Cline", "Cline"),
        in_project=("memory-bank", ".clinerules"),
        policy="POLICY",
    ),
    Layout(
        "roo",
        "Roo Code",
        "roo",
        at_home=(".roo",),
        in_project=(".roo", ".roomodes", ".roorules", "memory-bank"),
        policy="POLICY",
    ),
    Layout(
        "cursor",
        "Cursor",
        "cursor",
        at_home=(".cursor",),
        in_project=(".cursor", ".cursorrules"),
        policy="POLICY",
        kind="instructions",
    ),
    Layout(
        "windsurf",
        "Windsurf",
        "windsurf",
        at_home=(".codeium/windsurf",),
        in_project=(".windsurf", ".windsurfrules", ".devin"),
        in_system=("windsurf/rules", "Windsurf/rules", "devin/rules", "Devin/rules"),
        policy="POLICY",
    ),
    Layout("kiro", "Kiro", "kiro", at_home=(".kiro",), in_project=(".kiro",), policy="POLICY", kind="instructions"),
    Layout(
        "agents-md",
        "AGENTS.md",
        "agents_md",
        in_config=("opencode/AGENTS.md", "amp/AGENTS.md"),
        in_project=("AGENTS.md", "AGENTS.local.md", "AGENT.md"),
        policy="POLICY",
        kind="instructions",
    ),
)
"""In the order in which roots are shown; where two agents claim one file of a folder, the earlier one has it."""

UNCLAIMED = "agents-md"
"""The entry for files of which no agent in use says that they are its own; nobody reads them under that name."""


def layout_of(agent: str) -> Layout | None:
    """Give the layout of an agent by its id; None for one that is not in the table."""
    for layout in LAYOUTS:
        if layout.agent == agent:
            return layout
    return None


def title_of(agent: str) -> str:
    """Give an agent's name for people; one that is not in the table is called by its id."""
    layout = layout_of(agent)
    return agent if layout is None else layout.title


def roots_of(layout: Layout, surroundings: "Surroundings", *, all_projects: bool) -> "Iterator[Root]":
    """Find an agent's roots; its module is imported now."""
    found: Iterator[Root] = _module(layout).roots(surroundings, all_projects=all_projects)
    return found


def policy_of(layout: Layout) -> "Policy":
    """Give what a root by hand follows that says it belongs to this agent."""
    policy: Policy = getattr(_module(layout), layout.policy)
    return policy


def _module(layout: Layout) -> "_Module":
    module: _Module = __import__(f"memtui.agents.layouts.{layout.module}", fromlist=["roots"])
    return module


if TYPE_CHECKING:
    from types import ModuleType as _Module
