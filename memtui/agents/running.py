"""Which agent runs a command, by the marks agents leave in the environment and by the programs above the process.

What an agent's command does must not be taken for the user's. Each mark was found in the agent's own source or pages,
as `found` says; a mark the user's own shell can have is none.
"""

from typing import NamedTuple

from memtui.config.started import Program, Started


class Marks(NamedTuple):
    """How one agent's commands are known."""

    agent: str
    variables: tuple[str, ...] = ()
    """Environment variables, `NAME` for any value but an empty one, or `NAME=VALUE`."""
    programs: tuple[str, ...] = ()
    """What its program is called."""
    found: str = ""
    """Where that is written."""


MARKS = (
    Marks("claude-code", ("CLAUDECODE",), ("claude",), "code.claude.com/docs, env-vars"),
    Marks(
        "codex",
        ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_CI", "CODEX_THREAD_ID"),
        ("codex",),
        "openai/codex: core/src/spawn.rs, exec_env.rs, unified_exec/process_manager.rs",
    ),
    Marks("gemini", ("GEMINI_CLI",), ("gemini",), "google-gemini/gemini-cli: services/shellExecutionService.ts"),
    Marks("qwen-code", ("QWEN_CODE",), ("qwen",), "QwenLM/qwen-code: services/shellExecutionService.ts"),
    Marks("cursor", ("CURSOR_AGENT",), ("cursor-agent",), "closed; what those who look for it agree on"),
    Marks("opencode", ("OPENCODE",), ("opencode",), "sst/opencode: packages/opencode/src/index.ts"),
    Marks("copilot", ("COPILOT_CLI",), ("copilot",), "closed; github/copilot-cli, environment of its commands"),
    Marks("goose", ("GOOSE_TERMINAL",), ("goose",), "block/goose: the developer extension's shell"),
    Marks("crush", ("CRUSH",), ("crush",), "charmbracelet/crush: internal/shell"),
    Marks("openclaw", ("OPENCLAW_SHELL=exec",), ("openclaw",), "docs.openclaw.ai, exec tool; its `!` is the user's"),
    Marks("cline", ("CLINE_ACTIVE",), ("cline",), "docs.cline.bot, terminal"),
    Marks("augment", ("AUGMENT_AGENT",), ("auggie",), "docs.augmentcode.com, CLI reference"),
    Marks("hermes", (), ("hermes",), "the name of its program"),
    Marks("letta", (), ("letta",), "the name of its program"),
    Marks("amp", (), ("amp",), "the name of its program"),
    Marks("aider", (), ("aider",), "the name of its program"),
)

ENDS = ("tmux: server", "tmux", "screen", "zellij", "sshd", "login")
"""Programs in which a person sits down: what is above them did not start what runs in them."""
_SUFFIXES = (".js", ".mjs", ".cjs", ".py")


class Runner(NamedTuple):
    """The agent that runs a command."""

    agent: str
    seen: str
    """What shows it, as the end of a sentence."""


def runner(started: Started) -> Runner | None:
    """Find the agent that runs a process, the nearest one above it first; None when nothing shows one."""
    for program in started.programs:
        names = _names(program)
        found = next((marks.agent for marks in MARKS if not names.isdisjoint(marks.programs)), None)
        if found is not None:
            return Runner(found, f"{program.name} started it")
        if program.login or not names.isdisjoint(ENDS):
            break
    environ = dict(started.environ)
    for marks in MARKS:
        for variable in marks.variables:
            name, _, value = variable.partition("=")
            if environ.get(name) and value in ("", environ[name]):
                return Runner(marks.agent, f"{name} is set")
    return None


def _names(program: Program) -> frozenset[str]:
    names = {program.title, *program.names}
    return frozenset(names | {name.removesuffix(suffix) for name in names for suffix in _SUFFIXES})
