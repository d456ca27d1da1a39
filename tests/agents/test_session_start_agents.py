"""The tables of all agents: sound, found by traces or roots, and each on a home as the agent leaves it."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from memtui.agents.agent import MARKS, PLACES, SYSTEM
from memtui.agents.discovery import discover
from memtui.agents.session_start import LoadedFile, gather, in_use
from memtui.agents.table import KNOWN, agent_of, agents
from memtui.engine.model import Policy
from tests.agents.listing import marked
from tests.agents.machine import Machine, snapshot

STARTS = [one.id for one in agents() if one.loads is not None]


def started(machine: Machine, agent: str, cwd: str = "app", **environ: str) -> list[LoadedFile]:
    around = machine.surroundings(cwd, **environ)
    before = list(snapshot(machine.folder))
    found = gather(agent_of(agent), around, discover(around), lambda data, policy: cut_at(data, policy))
    assert list(snapshot(machine.folder)) == before, "looking changed the disk"
    return list(found)


def cut_at(data: bytes, policy: Policy) -> tuple[int | None, int]:
    """The byte after the lines that are loaded, and the one after all of them."""
    lines = data.splitlines(keepends=True)
    is_whole = policy.index_lines is None or len(lines) <= policy.index_lines
    return None if is_whole else len(b"".join(lines[:200])), len(data)


@pytest.mark.parametrize("agent", STARTS)
def test_every_table_is_sound(agent: str) -> None:
    known = agent_of(agent)
    assert known.loads is not None
    assert known.loads.note
    assert known.home.at_home or known.home.in_config or known.loads.in_project
    budgets = dict(known.loads.budgets)
    for source in known.loads.sources:
        assert source.place in PLACES or ":" in source.place
        assert source.names
        assert source.mark in MARKS
        assert not source.budget or source.budget in budgets
        assert (source.place == SYSTEM) == bool(source.system)


def test_every_agent_with_a_layout_of_its_own_has_a_table() -> None:
    without = {"agents-md"}  # files that many agents read; no program of its own
    closed = {"cursor", "windsurf", "kiro", "replit"}  # what they load cannot be checked against their source
    assert {one.id for one in KNOWN if one.folders} - without - closed <= set(STARTS)
    assert not closed & set(STARTS)


def test_agents_are_found_by_their_traces_or_their_roots(machine: Machine) -> None:
    assert list(in_use(machine.surroundings(), ())) == []
    machine.write("app/AGENTS.md")
    assert list(in_use(machine.surroundings(), ())) == []
    machine.write("app/.cursor/rules/a.mdc")
    machine.write("~/.config/goose/memory/a.txt")
    (machine.home / ".codex").mkdir()
    assert [agent.id for agent in in_use(machine.surroundings(), ())] == ["codex", "goose"]
    roots = discover(machine.surroundings())
    elsewhere = Machine(machine.home / "none", machine.folder / "none")
    assert "codex" not in [agent.id for agent in in_use(elsewhere.surroundings(), ())]
    codex = [root._replace(agent="codex") for root in roots[:1]]
    assert [agent.id for agent in in_use(elsewhere.surroundings(), codex)] == ["codex"]


@pytest.mark.parametrize(
    ("link", "agents"),
    [
        (".claude/rules", ("claude-code",)),
        (".claude/agent-memory", ("claude-code",)),
        (".claude/agent-memory-local", ("claude-code",)),
        (".claude", ("claude-code",)),
        (".clinerules", ("cline",)),
        (".roo/rules", ("roo",)),
        (".roo", ("roo",)),
        ("memory-bank", ("cline", "roo")),
        (".goose/memory", ("goose",)),
        (".goose", ("goose",)),
        (".serena/memories", ("serena",)),
        (".serena", ("serena",)),
        (".qwen/team-memory", ("qwen-code",)),
        (".qwen", ("qwen-code",)),
        (".github/instructions", ("copilot",)),
        (".github", ("copilot",)),
        (".deepagents", ("deepagents",)),
    ],
)
def test_a_folder_that_a_link_of_the_checkout_leads_to_is_not_opened(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, link: str, agents: tuple[str, ...]
) -> None:
    places = ("", "rules/", "memory/", "memories/", "instructions/", "steering/", "agent-memory/x/", "team-memory/")
    for place in places:
        for name in ("SECRET.md", "SECRET.mdc", "SECRET.txt", "SECRET.instructions.md", "MEMORY.md", "CLAUDE.md"):
            machine.write(f".secret/{place}{name}", "SECRET\n")
    machine.write(".secret/AGENTS.md", "SECRET\n")
    machine.write(".secret/QWEN.local.md", "SECRET\n")
    machine.write(".secret/settings.json", '{"claudeMdExcludes": ["**"]}')
    (machine.app / link).parent.mkdir(parents=True, exist_ok=True)
    (machine.app / link).symlink_to(machine.folder / ".secret")
    around = machine.surroundings()
    roots = discover(around)
    opened: list[str] = []

    def audited(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **rest: Any) -> Any:
            opened.append(os.path.realpath(path))
            return real(path, *args, **rest)

        return call

    for name in ("scandir", "listdir", "open"):
        monkeypatch.setattr(os, name, audited(getattr(os, name)))
    for agent in agents:
        found = gather(agent_of(agent), around, roots, lambda data, policy: (None, len(data)))
        assert marked(machine, list(found)) == [f"app/{link}: needs approval"]
        assert "a link to a folder, not followed" in found[0].why
    assert not [path for path in opened if path.startswith(str(machine.folder / ".secret"))]
