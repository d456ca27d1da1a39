"""Which agent runs a command: its marks, the programs above it, and where the search ends."""

import pytest

from memtui.agents.table import KNOWN, ONLY_RUN, Traces
from memtui.config.started import Program, Started
from memtui.wire.session import RunningAgent, runner

ME, SHELL = Program("memtui", ("python3", "memtui")), Program("bash", ("bash",))
CLAUDE = Program("claude", ("claude",))


def above(*programs: Program, **environ: str) -> RunningAgent | None:
    return runner(Started(tuple(environ.items()), (ME, *programs)))


def test_a_person_in_a_terminal_is_no_agent() -> None:
    assert above(SHELL, Program("gnome-terminal-", ("gnome-terminal-server",)), HOME="/home/claude") is None
    assert above(SHELL, CODEX_HOME="/x", CLAUDECODE="") is None


MARKED = [one for one in (*KNOWN, *ONLY_RUN) if one.runs or one.programs]


@pytest.mark.parametrize("agent", MARKED, ids=[one.id for one in MARKED])
def test_each_mark_names_its_agent(agent: Traces) -> None:
    assert agent.found
    for variable in agent.runs:
        name, _, value = variable.partition("=")
        assert above(SHELL, **{name: value or "1"}) == RunningAgent(agent.id, f"{name} is set")
    for program in agent.programs:
        assert above(SHELL, Program(program)) == RunningAgent(agent.id, f"{program} started it")


def test_no_agent_was_forgotten() -> None:
    assert {one.id for one in MARKED} >= {
        *("claude-code", "codex", "gemini", "qwen-code", "copilot", "cursor", "opencode", "goose", "crush", "openclaw"),
        *("cline", "augment", "hermes", "letta", "amp", "aider"),
    }


def test_a_value_that_means_the_user_is_no_mark() -> None:
    assert above(SHELL, OPENCLAW_SHELL="tui-local") is None


def test_an_agent_is_known_by_its_script_too() -> None:
    script = Program("node-MainThread", ("node", "gemini.js"))
    assert above(SHELL, script) == RunningAgent("gemini", "gemini.js started it")


def test_the_nearest_agent_counts() -> None:
    assert above(SHELL, Program("codex"), SHELL, CLAUDE, CLAUDECODE="1") == RunningAgent("codex", "codex started it")


@pytest.mark.parametrize(
    "end", [Program("tmux: server", ("tmux",)), Program("bash", ("bash",), login=True), Program("sshd", ("sshd",))]
)
def test_a_multiplexer_or_a_login_shell_ends_the_search_upwards_but_not_the_environment(end: Program) -> None:
    assert above(SHELL, end, CLAUDE) is None
    assert above(SHELL, end, CLAUDE, CLAUDECODE="1") == RunningAgent("claude-code", "CLAUDECODE is set")
