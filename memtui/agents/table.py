"""The table of all agents: one line each, with its names and the traces that show it is in use.

A new agent is one line here and one file of `known/`. The file is imported only where the agent left a trace, or is
asked for by name; telling which agent runs a command imports none.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memtui.agents.agent import KnownAgent


class Traces(NamedTuple):
    """One agent's names and the traces it leaves."""

    id: str
    """Also the name of its file, with `_` for `-`."""
    title: str
    client: tuple[str, ...] = ()
    """What the user calls it as an MCP client, and other beginnings of the names it gives when it connects; empty when
    memtui cannot be installed in it."""
    variables: tuple[str, ...] = ()
    """Environment variables that name its folders; each is also in `config/settings.py`."""
    at_home: tuple[str, ...] = ()
    in_config: tuple[str, ...] = ()
    in_project: tuple[str, ...] = ()
    """Paths in the project, its checkout, or the working directory; none that many agents read, such as `AGENTS.md`."""
    in_system: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    """Environment variables of the commands it runs, `NAME` for any value but an empty one, or `NAME=VALUE`; none that
    the user's own shell can have."""
    programs: tuple[str, ...] = ()
    found: str = ""
    """The source of `runs` and `programs`."""

    @property
    def folders(self) -> bool:
        """Whether memtui knows any folder of it."""
        return any((self.variables, self.at_home, self.in_config, self.in_project, self.in_system))


KNOWN = (
    Traces(
        "claude-code",
        "Claude Code",
        client=("claude-code",),
        variables=("CLAUDE_CONFIG_DIR",),
        at_home=(".claude",),
        in_project=("CLAUDE.md", "CLAUDE.local.md", ".claude"),
        in_system=("claude-code", "ClaudeCode"),
        runs=("CLAUDECODE",),
        programs=("claude",),
        found="code.claude.com/docs, env-vars",
    ),
    Traces(
        "codex",
        "Codex",
        client=("codex",),
        variables=("CODEX_HOME",),
        at_home=(".codex",),
        in_project=("AGENTS.override.md",),
        runs=("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_CI", "CODEX_THREAD_ID"),
        programs=("codex",),
        found="openai/codex: core/src/spawn.rs, exec_env.rs, unified_exec/process_manager.rs",
    ),
    Traces(
        "gemini",
        "Gemini CLI",
        client=("gemini",),
        variables=("GEMINI_CLI_HOME",),
        at_home=(".gemini",),
        in_project=("GEMINI.md",),
        runs=("GEMINI_CLI",),
        programs=("gemini",),
        found="google-gemini/gemini-cli: services/shellExecutionService.ts",
    ),
    Traces(
        "qwen-code",
        "Qwen Code",
        client=("qwen",),
        variables=("QWEN_HOME", "QWEN_RUNTIME_DIR", "QWEN_CODE_MEMORY_BASE_DIR"),
        at_home=(".qwen",),
        in_project=("QWEN.md", ".qwen"),
        runs=("QWEN_CODE",),
        programs=("qwen",),
        found="QwenLM/qwen-code: services/shellExecutionService.ts",
    ),
    Traces("mux", "Mux", variables=("XUM_ROOT", "MUX_ROOT"), at_home=(".xum", ".mux")),
    Traces(
        "copilot",
        "Copilot",
        client=("vscode", "visual-studio-code"),
        variables=("VSCODE_PORTABLE", "COPILOT_HOME", "COPILOT_CUSTOM_INSTRUCTIONS_DIRS"),
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
        runs=("COPILOT_CLI",),
        programs=("copilot",),
        found="closed; github/copilot-cli, environment of its commands",
    ),
    Traces("serena", "Serena", variables=("SERENA_HOME",), at_home=(".serena",), in_project=(".serena",)),
    Traces(
        "letta",
        "Letta Code",
        variables=("LETTA_MEMORY_DIR", "MEMORY_DIR", "LETTA_LOCAL_BACKEND_DIR"),
        at_home=(".letta",),
        programs=("letta",),
        found="the name of its program",
    ),
    Traces(
        "goose",
        "Goose",
        in_config=("goose",),
        in_project=(".goose", ".goosehints"),
        runs=("GOOSE_TERMINAL",),
        programs=("goose",),
        found="block/goose: the developer extension's shell",
    ),
    Traces(
        "hermes",
        "Hermes",
        variables=("HERMES_HOME",),
        at_home=(".hermes",),
        in_project=(".hermes.md", "HERMES.md"),
        programs=("hermes",),
        found="the name of its program",
    ),
    Traces(
        "openclaw",
        "OpenClaw",
        variables=("OPENCLAW_STATE_DIR", "OPENCLAW_WORKSPACE_DIR", "OPENCLAW_PROFILE"),
        at_home=(".openclaw",),
        runs=("OPENCLAW_SHELL=exec",),
        programs=("openclaw",),
        found="docs.openclaw.ai, exec tool; its `!` is the user's",
    ),
    Traces("deepagents", "Deep Agents", at_home=(".deepagents",), in_project=(".deepagents",)),
    Traces(
        "cline",
        "Cline",
        at_home=("Documents/Cline", "Cline", ".cline", ".agents/AGENTS.md"),
        in_project=("memory-bank", ".clinerules", ".cline"),
        runs=("CLINE_ACTIVE",),
        programs=("cline",),
        found="docs.cline.bot, terminal",
    ),
    Traces("roo", "Roo Code", at_home=(".roo",), in_project=(".roo", ".roomodes", ".roorules", "memory-bank")),
    Traces("kilo", "Kilo Code", at_home=(".kilocode", ".local/share/kilo"), in_project=(".kilocode", ".kilo")),
    Traces("replit", "Replit Agent", in_project=(".agents/memory",)),
    Traces(
        "cursor",
        "Cursor",
        at_home=(".cursor",),
        in_project=(".cursor", ".cursorrules"),
        runs=("CURSOR_AGENT",),
        programs=("cursor-agent",),
        found="closed; what those who look for it agree on",
    ),
    Traces(
        "windsurf",
        "Windsurf",
        at_home=(".codeium/windsurf",),
        in_project=(".windsurf", ".windsurfrules", ".devin"),
        in_system=("windsurf/rules", "Windsurf/rules", "devin/rules", "Devin/rules"),
    ),
    Traces("kiro", "Kiro", at_home=(".kiro",), in_project=(".kiro",)),
    Traces(
        "agents-md",
        "AGENTS.md",
        variables=("OPENCODE_CONFIG_DIR",),
        in_config=("opencode/AGENTS.md", "amp/AGENTS.md"),
        in_project=("AGENTS.md", "AGENTS.local.md", "AGENT.md", "WARP.md", ".junie", ".specify"),
    ),
    Traces(
        "opencode",
        "OpenCode",
        runs=("OPENCODE",),
        programs=("opencode",),
        found="sst/opencode: packages/opencode/src/index.ts",
    ),
    Traces("copilot-cli", "Copilot CLI"),
)
"""In the order in which they are shown; where two agents claim one file of a folder, the earlier one has it."""

ONLY_RUN = (
    Traces("crush", "Crush", runs=("CRUSH",), programs=("crush",), found="charmbracelet/crush: internal/shell"),
    Traces(
        "augment", "Augment", runs=("AUGMENT_AGENT",), programs=("auggie",), found="docs.augmentcode.com, CLI reference"
    ),
    Traces("amp", "Amp", programs=("amp",), found="the name of its program"),
    Traces("aider", "Aider", programs=("aider",), found="the name of its program"),
)
"""Agents without a file: memtui only recognises the commands that they run."""

CLIENTS = {one.client[0]: one.client for one in KNOWN if one.client}
"""The clients memtui can be installed in, and how the names they give begin."""
_DOORS = ("mcp:", "http:", "agent:")


def traces_of(agent: str) -> Traces | None:
    """Return an agent's line by its id, or None."""
    return next((one for one in KNOWN if one.id == agent), None)


def title_of(agent: str) -> str:
    """Return an agent's name for people; its id when it is not in the table."""
    one = traces_of(agent)
    return agent if one is None else one.title


def agent_of(agent: str) -> "KnownAgent":
    """Import an agent's file and return what is known of it; for an id that is not in the table, only the id."""
    if traces_of(agent) is None:
        from memtui.agents.agent import KnownAgent

        return KnownAgent(agent, agent)
    module: _Module = __import__(f"memtui.agents.known.{agent.replace('-', '_')}", fromlist=["AGENT"])
    found: KnownAgent = module.AGENT
    return found


def agents() -> "Iterator[KnownAgent]":
    """Yield every agent, in the order of the table; imports all files."""
    return (agent_of(one.id) for one in KNOWN)


def canonical(name: str) -> str:
    """Return the name by which the `[access]` table knows a client, so that no client escapes a rule by a longer name.

    `name` is what the client calls itself (`codex-mcp-client`, `Visual Studio Code - Insiders`), or what the user calls
    it, also as an actor (`mcp:codex`). An unknown one comes back in lower case, with `-` for spaces and `_`.
    """
    plain = name.strip().lower()
    if plain.startswith("agent:"):
        plain = plain.partition("/")[0]  # what is behind it the agent chose itself
    for door in _DOORS:
        plain = plain.removeprefix(door)
    plain = "-".join(plain.replace("_", " ").replace("-", " ").split())
    for client, beginnings in CLIENTS.items():
        if any(plain == beginning or plain.startswith(f"{beginning}-") for beginning in beginnings):
            return client
    return plain


def nearest(name: str, known: "Iterable[str]") -> list[str]:
    """Sort names by their resemblance to one: names of the same client first, then by spelling."""
    from difflib import SequenceMatcher

    plain = canonical(name)

    def likeness(other: str) -> tuple[bool, bool, float]:
        client = canonical(other)
        return client == plain, plain in other.lower(), SequenceMatcher(None, plain, client).ratio()

    return sorted(known, key=likeness, reverse=True)


def meant(name: str) -> str | None:
    """Return the known client that a name is probably a slip for; None when it is one, or resembles none."""
    from memtui.matching import slips

    plain = canonical(name)
    return None if plain in CLIENTS else next(iter(slips(plain, CLIENTS)), None)


if TYPE_CHECKING:
    from types import ModuleType as _Module
