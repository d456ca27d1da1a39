"""Discovery as a whole: order, ids, speed, and that it only looks."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.agents.discovery import discover, looked_for
from memtui.agents.known.mux import project_folder
from memtui.agents.layout import slug
from memtui.agents.table import KNOWN
from tests.agents import homes
from tests.agents.machine import NATIVE, Machine
from tests.agents.test_projects_checkout import worktree
from tests.config.fresh import imported_by


@pytest.fixture
def full(machine: Machine) -> Machine:
    """Every agent, with memories for this project and others."""
    worktree(machine.app, machine.folder / "fix")
    for project in ("app", "fix", "other"):
        made = slug(str(machine.folder / project))
        machine.write(f"~/.claude/projects/{made}/memory/MEMORY.md")
        machine.write(f"~/.qwen/projects/{made}/memory/MEMORY.md")
        machine.write(f"~/.xum/memory/project/{project_folder(str(machine.folder / project))}/a.md")
    homes.codex(machine.home, machine.folder / "fix")
    homes.gemini(machine.home, machine.folder / "fix")
    for name in (
        "~/.claude/CLAUDE.md",
        "~/.claude/settings.json",
        "~/.claude/agent-memory/x/MEMORY.md",
        "~/.qwen/memories/MEMORY.md",
        "~/.qwen/settings.json",
        "~/.xum/memory/global/a.md",
        "~/.xum/sessions/w/memory/a.md",
        "~/.xum/config.json",
        "fix/CLAUDE.md",
        "fix/QWEN.md",
        "fix/AGENTS.md",
        "fix/.claude/agent-memory/x/MEMORY.md",
        "fix/.qwen/team-memory/MEMORY.md",
        "fix/.memtui/memory/a.md",
        "etc/claude-code/CLAUDE.md",
        "own/memory/workspace/w/a.md",
    ):
        machine.write(name, '{"autoMemoryDirectory": 1, "advanced": {"runtimeOutputDir": 1}}')
    return machine


def test_the_order_is_our_own_then_by_hand_then_by_agent(full: Machine) -> None:
    roots = full.roots("fix", "notes=notes")
    assert list(roots)[:4] == [*NATIVE, "notes"]
    agents = [root.agent for root in list(roots.values())[4:]]
    assert agents == sorted(agents, key=[layout.id for layout in KNOWN].index)
    assert {"claude-code", "codex", "gemini", "qwen-code", "mux"} <= set(agents)


def test_the_current_projects_roots_have_aliases(full: Machine) -> None:
    aliases = {alias for root in full.roots("fix").values() for alias in root.aliases}
    assert {"claude-code:project", "gemini:project", "qwen-code:project", "mux:project"} <= aliases


def test_all_projects_adds_and_takes_nothing_away(full: Machine) -> None:
    here, everywhere = full.roots("fix"), full.roots("fix", all_projects=True)
    assert set(here) < set(everywhere)
    assert all(everywhere[name] == root for name, root in here.items())


def test_a_root_around_everything_keeps_only_the_rest(full: Machine) -> None:
    roots = full.roots("fix", f"all={full.folder}")
    assert {"fix/.memtui/memory/", "home/.claude/agent-memory/", "home/.claude/CLAUDE.md", "fix/AGENTS.md"} <= set(
        roots["all"].policy.elsewhere
    )


def test_a_found_root_that_was_named_by_hand_keeps_the_given_name(full: Machine) -> None:
    folder = full.home / ".xum" / "memory" / "global"
    roots = full.roots("fix", f"mine={folder},agent=mux")
    assert roots["mine"].aliases == ("mux:global",)
    assert "mux:global" not in roots


def test_instructions_where_the_user_stands_are_a_trace(machine: Machine) -> None:
    machine.write("app/api/CLAUDE.md")
    assert "claude-code:project:instructions" in machine.roots("app/api")
    assert list(machine.roots()) == NATIVE


def test_files_of_ours_that_a_repository_ships_are_not_read(machine: Machine) -> None:
    for name in ("config.toml", ".memtui/config.toml", "memtui/config.toml"):
        machine.write(f"app/{name}", "not toml")
    assert list(machine.roots()) == NATIVE


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="needs an ordinary Unix user")
def test_folders_without_permission_hide_only_themselves(full: Machine) -> None:
    closed = full.home / ".claude"
    closed.chmod(0)
    try:
        assert "qwen-code:global" in full.roots("fix", all_projects=True)
    finally:
        closed.chmod(0o700)


WATCHED = """
import os, sys
CHANGES = ("subprocess", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.mkdir", "os.rename")
CHANGES += ("os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.utime")
CHANGES += ("socket.", "shutil.")
import json, memtui.config.toml
from memtui.agents.table import agents
list(agents())
from memtui.agents.discovery import discover, looked_for
from memtui.config.read import load_settings, read_environment
from memtui.config.surroundings import surroundings_from
def tell(event, arguments):
    if event.startswith(CHANGES):
        print("CHANGE", event, arguments)
    elif event == "open":
        flags = arguments[2]
        print("CHANGE" if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) else "READ", arguments[0])
    elif event in ("os.listdir", "os.scandir"):
        print("LIST", arguments[0])
sys.addaudithook(tell)
surroundings = surroundings_from(load_settings(read_environment()), cwd=sys.argv[1])
discover(surroundings._replace(system_dir=sys.argv[2]), all_projects=sys.argv[3] == "all")
"""


def test_an_empty_machine_loads_no_agent(machine: Machine) -> None:
    code = (
        "from memtui.agents.discovery import discover\nfrom memtui.config.read import load_settings\n"
        "from memtui.config.surroundings import surroundings_from\n"
        f"here = surroundings_from(load_settings({machine.environ!r}), cwd={str(machine.app)!r})\n"
        f"discover(here._replace(system_dir={str(machine.folder)!r}))\n"
    )
    loaded = imported_by(code, "import memtui.engine.model")
    assert "memtui.agents.known.memtui_native" in loaded
    heavy = {f"memtui.agents.known.{one.id.replace('-', '_')}" for one in KNOWN}
    assert not {*heavy, "memtui.agents.agent", "memtui.agents.layout"} & loaded
    assert not {"json", "dataclasses", "pathlib", "inspect", "subprocess", "shutil"} & loaded


def test_discovery_is_quick(full: Machine) -> None:
    for number in range(300):
        full.write(f"~/.claude/projects/-gone-{number}/memory/MEMORY.md")
    here = full.surroundings("fix")
    projects = full.home / ".claude" / "projects"

    def bare() -> None:
        for entry in os.scandir(projects):
            os.stat(Path(entry.path, "memory"))

    calls: list[Callable[[], object]] = [bare, lambda: discover(here), lambda: discover(here, all_projects=True)]
    times: list[list[float]] = [[], [], []]
    for turn in range(100):  # in turns: what slows this machine down slows all of them
        for call, taken in zip(calls, times, strict=True):
            start = time.thread_time()
            call()
            taken.append(time.thread_time() - start)
        if turn >= 8 and min(times[1]) < min(times[0]) and min(times[2]) < 12 * min(times[0]):
            break
    floor, own, every = map(min, times)
    assert own < floor
    assert every < 12 * floor


def test_an_agent_whose_folder_is_there_left_a_trace(machine: Machine) -> None:
    assert ("codex", "Codex", "~/.codex") in looked_for(machine.surroundings())
    machine.path("~/.codex").mkdir()
    assert "codex" not in {id_ for id_, _, _ in looked_for(machine.surroundings())}


def test_an_agent_s_folder_that_is_linked_into_a_checkout_waits_for_a_review(machine: Machine) -> None:
    machine.write("~/.claude/CLAUDE.md")
    machine.write("~/dots/codex/AGENTS.md")
    (machine.home / ".codex").symlink_to("dots/codex")
    assert not machine.roots()["codex:global:instructions"].in_checkout
    (machine.home / "dots" / ".git").mkdir()
    roots = machine.roots()
    assert roots["codex:global:instructions"].in_checkout
    assert not roots["claude-code:global"].in_checkout
    (machine.home / ".git").mkdir()
    (machine.home / "dots" / ".git").rmdir()
    assert not machine.roots()["codex:global:instructions"].in_checkout, "the link leads to no other checkout"
