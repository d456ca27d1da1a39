"""The session every front starts from, and who acts and approves in it."""

import os
from pathlib import Path

import pytest

from memtui.agents.table import KNOWN, ONLY_RUN, Traces
from memtui.config.read import load_settings, read_environment
from memtui.config.settings import Settings
from memtui.config.started import Program, Started
from memtui.engine.model import Actor
from memtui.errors import NotFoundError, RefusedError, UsageError
from memtui.wire.session import (
    Options,
    RunningAgent,
    acting,
    approver,
    open_session,
    other_projects,
    own_roots,
    run_by,
    runner,
)

PERSON = Started((), (Program("memtui"), Program("zsh", ("zsh",))), "pts/3")
AGENT = PERSON._replace(environ=(("CLAUDECODE", "1"),))


@pytest.fixture
def settings() -> Settings:
    return load_settings(read_environment())


def test_opening_touches_nothing_on_disk(settings: Settings, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    session = open_session(settings, Options(), lock_wait=1)
    session.engine.close()
    assert sorted(tmp_path.rglob("*")) == before
    assert [root.id for root in session.roots] == ["memtui:global", "memtui:project", "memtui:workspace"]


def test_the_options_reach_the_roots(settings: Settings, tmp_path: Path) -> None:
    project = tmp_path / "elsewhere"
    project.mkdir()
    options = Options(project=str(project), roots=(f"notes={tmp_path}",))
    session = open_session(settings, options, lock_wait=1)
    assert session.engine.roots.find("notes").path == str(tmp_path)
    assert session.surroundings.project == str(project)
    assert session.options is options


def test_other_projects_are_found_on_demand(settings: Settings, home: Path) -> None:
    memory = home / ".claude" / "projects" / "-somewhere-else" / "memory"
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("")
    session = open_session(settings, Options(), lock_wait=1)
    here = {root.path for root in session.roots}
    assert str(memory) not in here
    assert str(memory) in {root.path for root in other_projects(session)}


def test_own_roots_are_those_of_the_project_also_when_all_were_asked_for(settings: Settings, home: Path) -> None:
    memory = home / ".claude" / "projects" / "-somewhere-else" / "memory"
    memory.mkdir(parents=True)
    one = open_session(settings, Options(), lock_wait=1)
    every = open_session(settings, Options(all_projects=True), lock_wait=1)
    assert str(memory) in {root.path for root in every.roots}
    assert [root.id for root in own_roots(every)] == [root.id for root in one.roots]
    assert own_roots(one) is one.roots


def test_a_project_that_is_not_there_is_named(settings: Settings) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        open_session(settings, Options(project="nowhere"), lock_wait=1)


def test_a_working_directory_that_is_gone_is_no_traceback(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="working directory is gone"):
        open_session(settings, Options(), lock_wait=1)
    os.chdir(tmp_path)


def options(started: Started, actor: str = "cli") -> Options:
    return Options(actor=Actor(actor), started=lambda: started)


@pytest.mark.parametrize(
    ("started", "given", "front", "name"),
    [
        (PERSON, "cli", "cli", "cli"),
        (PERSON, "cli", "tui", "tui"),
        (PERSON, "nightly", "tui", "nightly"),
        (AGENT, "cli", "tui", "agent:claude-code"),
        (AGENT, "nightly", "cli", "agent:claude-code/nightly"),
        (AGENT, "claude-code", "cli", "agent:claude-code/claude-code"),
        (PERSON, "agent:codex/nightly", "cli", "agent:codex/nightly"),
    ],
)
def test_whose_name_stands_in_the_records(started: Started, given: str, front: str, name: str) -> None:
    assert acting(options(started, given), front).name == name
    assert approver(options(started, given), front).actor == name


def test_a_person_may_approve_and_it_is_kept_where() -> None:
    found = approver(options(PERSON), "tui")
    found.require("accept a root")
    assert found.note("why") == "why, at pts/3 from zsh"


def test_an_agent_that_says_so_is_one_where_nothing_shows_it(settings: Settings) -> None:
    said = "The agent codex runs this memtui: --actor agent:codex/x says so."
    assert approver(options(PERSON, "agent:codex/x")).agent == said
    assert run_by(options(PERSON, "nightly")) is None
    assert run_by(options(AGENT, "agent:codex")) == runner(AGENT)


def test_an_agent_may_not_and_is_told_what_was_seen() -> None:
    with pytest.raises(RefusedError, match=r"claude-code runs this memtui: CLAUDECODE is set") as caught:
        approver(options(AGENT)).require("accept a root", "Elsewhere.")
    assert (caught.value.code, caught.value.hint) == ("E_PERSON", "Elsewhere.")


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
