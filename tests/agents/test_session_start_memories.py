"""What a session begins with, agent by agent: memories and instructions."""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from memtui.agents.agent import MARKS, PLACES, SYSTEM
from memtui.agents.discovery import discover
from memtui.agents.session_start import LoadedFile, gather, in_use
from memtui.agents.table import KNOWN, agent_of, agents
from memtui.config.smallfile import LIMIT
from memtui.engine.model import Policy
from tests.agents.listing import marked
from tests.agents.machine import Machine, snapshot


def marks(machine: Machine, agent: str) -> list[tuple[str, str]]:
    return [(one.path.rpartition("/")[2], one.mark) for one in started(machine, agent)]


def test_goose_loads_all_of_the_users_and_none_of_the_projects(machine: Machine) -> None:
    machine.write("~/.config/goose/memory/work.txt", "# tag\nx\n")
    machine.write("~/.config/goose/.goosehints")
    machine.write("app/.goosehints")
    machine.write("app/.goose/memory/app.txt")
    assert marks(machine, "goose") == [
        (".goosehints", ""),
        (".goosehints", ""),
        ("work.txt", ""),
        ("app.txt", "on demand"),
    ]


def test_goose_takes_hints_from_the_checkout_down(machine: Machine) -> None:
    machine.write("app/.goosehints")
    machine.write("app/api/.goosehints")
    found = started(machine, "goose", "app/api")
    assert [one.path for one in found] == [str(machine.app / ".goosehints"), str(machine.app / "api/.goosehints")]


def test_serena_is_given_the_names_that_it_reads_by(machine: Machine) -> None:
    machine.write("~/.serena/memories/global/java/style.md")
    machine.write("app/.serena/memories/a.md")
    machine.write("app/api/.serena/memories/b.md")
    found = started(machine, "serena", "app/api")
    assert [one.text for one in found] == [b"global/java/style\n", b"a\n", b"b\n"]


def test_serena_ignores_what_its_settings_name(machine: Machine) -> None:
    for name in ("_archive/old", "core", "x.sync-conflict-1"):
        machine.write(f"app/.serena/memories/{name}.md")
    for name in ("a", "b"):
        machine.write(f"~/.serena/memories/global/{name}.md")
    machine.write(
        "~/.serena/serena_config.yml", "ignored_memory_patterns:\n- '_archive/.*'\n- global/a\nprojects: []\n"
    )
    machine.write("app/.serena/project.yml", 'ignored_memory_patterns: [".*[.]sync-conflict-.*", "(core)+"]  # odd\n')
    found = started(machine, "serena")
    left_out = {os.path.basename(one.path): one.why for one in found if one.mark == "skipped"}
    assert set(left_out) == {"a.md", "old.md", "x.sync-conflict-1.md", "project.yml"}
    why = "Not loaded: ignored_memory_patterns in ~/.serena/serena_config.yml leaves it out: "
    assert (left_out["a.md"], left_out["old.md"]) == (f"{why}global/a", f"{why}_archive/.*")
    assert left_out["project.yml"].endswith("does not understand (core)+")
    assert [one.text for one in found if one.at_start] == [b"global/b\n", b"core\n"]


@pytest.mark.parametrize("name", ["project.yml", "project.local.yml"])
def test_serena_of_a_project_can_do_without_memories(machine: Machine, name: str) -> None:
    machine.write("app/.serena/memories/a.md")
    machine.write("~/.serena/memories/global/b.md")
    machine.write(f"app/.serena/{name}", "added_modes: [no-onboarding, no-memories]\n")
    assert [one.mark for one in started(machine, "serena")] == ["skipped"] * 2
    machine.write(f"app/.serena/{name}", "added_modes: [no-onboarding]\nexcluded_tools:\n- no-memories\n")
    assert [one.mark for one in started(machine, "serena")] == ["names only"] * 2


def test_settings_that_are_no_files_are_said_and_change_nothing(machine: Machine) -> None:
    machine.write("app/.serena/memories/a.md")
    os.mkfifo(machine.app / ".serena/project.yml")
    (machine.home / ".serena/serena_config.yml").mkdir(parents=True)
    found = started(machine, "serena")
    assert [(one.label, one.mark) for one in found] == [
        ("project memories", "names only"),
        ("settings", "skipped"),
        ("settings", "skipped"),
    ]
    assert {one.why for one in found[1:]} == {
        "It is no regular file, or too large. None of its settings is known here."
    }


def test_letta_of_one_agent_can_be_off(machine: Machine) -> None:
    for agent in ("one", "two", "three"):
        machine.write(f"~/.letta/agents/{agent}/memory/persona.md")
    machine.write("~/.letta/lc-local-backend/memfs/one/memory/persona.md")
    agents: list[object] = [
        {"agentId": "one", "memfs": False},
        {"agentId": "two", "baseUrl": "localhost", "memfs": True},
        {"agentId": "two", "memfs": False},
        {"agentId": "three", "pinned": True},
        {"agentId": "../three", "memfs": False},
        {"agentId": 3, "memfs": False},
        "three",
    ]
    machine.write("~/.letta/settings.json", json.dumps({"agents": agents}))
    off = [os.path.relpath(one.path, machine.home / ".letta") for one in started(machine, "letta") if one.mark]
    assert off == ["agents/one/memory/persona.md", "lc-local-backend/memfs/one/memory/persona.md"]
    machine.write("moved/memfs/one/memory/persona.md")
    found = started(machine, "letta", LETTA_LOCAL_BACKEND_DIR=str(machine.folder / "moved"))
    assert [one.mark for one in found if "moved" in one.path] == ["skipped"]
    machine.write("~/.letta/settings.json", json.dumps({"agents": {"agentId": "one"}}))
    assert "skipped" not in [one.mark for one in started(machine, "letta")]


def test_letta_loads_what_lies_at_the_top_or_in_system(machine: Machine) -> None:
    base = "~/.letta/agents/agent-1/memory"
    for name in ("MEMORY.md", "persona.md", "system/a.md", "reference/b.md"):
        machine.write(f"{base}/{name}")
    machine.write(f"{base}/.git/HEAD")
    assert marks(machine, "letta") == [("MEMORY.md", ""), ("persona.md", ""), ("a.md", ""), ("b.md", "on demand")]


def test_goose_gets_the_last_entry_of_those_with_the_same_tags(machine: Machine) -> None:
    """`retrieve` in `crates/goose-mcp/src/memory/mod.rs` of block/goose: a map by the line of tags."""
    machine.write("~/.config/goose/memory/dev.txt", "# py\nUse uv.\n\nplain\n\n#  py \nUse pip.\n\n")
    (found,) = started(machine, "goose")
    assert found.text == b"plain\n\n#  py \nUse pip.\n\n"


def test_deepagents_drops_comments(machine: Machine) -> None:
    machine.write("~/.deepagents/agent/AGENTS.md", "<!-- x -->\na\n")
    machine.write("~/.deepagents/other/AGENTS.md")
    machine.write("app/.deepagents/AGENTS.md")
    machine.write("app/AGENTS.md")
    machine.write("~/.deepagents/AGENTS.md")
    found = started(machine, "deepagents")
    assert marked(machine, found) == [
        "home/.deepagents/agent/AGENTS.md",
        "app/.deepagents/AGENTS.md",
        "app/AGENTS.md",
        "home/.deepagents/other/AGENTS.md: on demand",
    ]
    assert found[0].text == b"a\n"
    assert "does not load" in machine.roots()["deepagents:global"].note


def test_hermes_says_when_a_file_is_over_its_limit(machine: Machine) -> None:
    machine.write("~/.hermes/SOUL.md")
    machine.write("~/.hermes/memories/MEMORY.md", "x" * 2_300)
    machine.write("~/.hermes/memories/USER.md", "x" * 1_000)
    found = started(machine, "hermes")
    assert [bool(one.why) for one in found] == [False, True, False]


def test_hermes_loads_one_kind_of_project_files(machine: Machine) -> None:
    """The first kind that is there; `agent/prompt_builder.py` of NousResearch/hermes-agent."""
    for name in (".cursorrules", ".cursor/rules/a.mdc", "sub/CLAUDE.md", "CLAUDE.md"):
        machine.write(f"app/{name}")

    def seen(cwd: str = "app/sub") -> list[str]:
        return [one for one in marked(machine, started(machine, "hermes", cwd)) if not one.endswith(": skipped")]

    assert seen() == ["app/sub/CLAUDE.md"]
    machine.write("app/AGENTS.md")
    machine.write("app/sub/AGENTS.override.md")
    machine.write("app/sub/AGENTS.md")
    assert seen() == ["app/AGENTS.md", "app/sub/AGENTS.override.md"]
    machine.write("app/sub/.hermes.md", "")
    assert seen() == ["app/AGENTS.md", "app/sub/AGENTS.override.md"], "an empty one is none"
    machine.write("app/HERMES.md", "---\na: b\n---\nx\n")
    assert seen() == ["app/HERMES.md"]
    machine.write("app/sub/.hermes.md")
    assert seen() == ["app/sub/.hermes.md"]
    found = {one.path: one for one in started(machine, "hermes", "app/sub")}
    assert found[str(machine.app / "HERMES.md")].why == "Not loaded: Hermes reads the nearest one."
    assert found[str(machine.app / "sub/CLAUDE.md")].why == "Not loaded: Hermes reads .hermes.md instead."
    assert list(machine.roots("app/sub")["hermes:project:instructions"].policy.include or ())[2:] == [
        "sub/.hermes.md",
        "sub/HERMES.md",
    ]
    (machine.app / ".git").rmdir()
    (machine.app / "sub/.hermes.md").unlink()
    assert seen() == ["app/sub/AGENTS.override.md"], "without a checkout only the folder at hand"


def test_openclaw_loads_no_more_than_its_limits(machine: Machine) -> None:
    """docs of openclaw 2026.9.6, and `embedded-agent-helpers/bootstrap.ts`."""
    for name in ("AGENTS", "SOUL", "TOOLS", "IDENTITY", "USER", "HEARTBEAT", "BOOTSTRAP", "MEMORY"):
        machine.write(f"~/.openclaw/workspace/{name}.md", "ä" * 9_240 + "b" * 9_240)
    found = {os.path.basename(one.path)[:-3]: one for one in started(machine, "openclaw")}
    marks = {name: one.mark for name, one in found.items()}
    whole = dict.fromkeys(("AGENTS", "SOUL", "IDENTITY"), "")
    retired = dict.fromkeys(("TOOLS", "HEARTBEAT"), "skipped")
    assert marks == {**whole, **retired, "USER": "cut", "BOOTSTRAP": "cut", "MEMORY": "cut"}
    assert sum(len(one.text.decode()) for one in found.values()) == 60_000
    assert found["USER"].text.decode() == "ä" * 3_000 + "b" * 1_000, "three quarters are from its beginning"
    assert found["MEMORY"].text == b""
    assert found["BOOTSTRAP"].why == "Of the 60,000 characters for all of these files, 560 were left."


def test_an_agent_of_openclaw_works_below_the_folder_of_all(machine: Machine) -> None:
    settings = '{agents: {defaults: {workspace: "~/claws"}, list: [{id: "main"}, {id: "coder"}, {id: ".."}]}}'
    machine.write("~/.openclaw/openclaw.json", settings)
    machine.write("~/claws/coder/MEMORY.md")
    machine.write("~/MEMORY.md")
    assert [root.path for root in list(machine.roots().values())[3:]] == [str(machine.home / "claws/coder")]


def test_openclaw_is_looked_for_where_its_variables_and_settings_put_it(machine: Machine) -> None:
    for place in ("~/.openclaw/workspace", "moved", "named"):
        for name in ("AGENTS.md", "USER.md", "MEMORY.md", "memory/2026-03-01.md"):
            machine.write(f"{place}/{name}")
    machine.write("moved/USER.md", "x" * 4_001)
    found = started(machine, "openclaw", OPENCLAW_WORKSPACE_DIR=str(machine.folder / "moved"))
    assert [os.path.relpath(one.path, machine.folder) for one in found] == [
        "moved/AGENTS.md",
        "moved/USER.md",
        "moved/MEMORY.md",
        "moved/memory/2026-03-01.md",
    ]
    assert [one.why for one in found if one.mark == ""] == [
        "",
        "",
    ]
    assert [one.why for one in found if one.mark == "cut"] == [
        "The agent loads 4,000 characters, from both ends of it."
    ]
    settings = f"{{ agents: {{ defaults: {{ workspace: '{machine.folder}/named' }} }} }}\n"
    machine.write("~/.openclaw/openclaw.json", settings)
    found = started(machine, "openclaw", OPENCLAW_WORKSPACE_DIR=str(machine.folder / "moved"))
    assert {os.path.relpath(one.path, machine.folder).split("/")[0] for one in found} == {"named"}


def test_hermes_of_one_memory_can_be_off(machine: Machine) -> None:
    machine.write("~/.hermes/memories/MEMORY.md")
    machine.write("~/.hermes/memories/USER.md")
    machine.write("~/.hermes/config.yaml", "memory:\n  memory_enabled: true\n  user_profile_enabled: false  # mine\n")
    own, about = started(machine, "hermes")
    assert (own.mark, about.mark) == ("", "skipped")
    assert about.why == "Not loaded: switched off in ~/.hermes/config.yaml (user_profile_enabled)."


@pytest.mark.parametrize("kind", ["pipe", "loop", "folder", "huge", "deep", "list"])
@pytest.mark.parametrize(
    ("folder", "environ"),
    [(".openclaw", {}), (".openclaw-work", {"OPENCLAW_PROFILE": "work"}), ("kept", {"OPENCLAW_STATE_DIR": "~/kept"})],
)
def test_settings_of_openclaw_that_cannot_be_read_are_a_row(
    machine: Machine, kind: str, folder: str, environ: dict[str, str]
) -> None:
    machine.write("~/.openclaw/workspace/MEMORY.md")
    file = machine.path(f"~/{folder}/openclaw.json")
    file.parent.mkdir(exist_ok=True)
    file.write_text("{agents: {defaults: {}}} // so\n")
    assert "settings" not in {one.label for one in started(machine, "openclaw", **environ)}
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "loop":
        file.symlink_to(file.name)
    elif kind == "folder":
        file.mkdir()
    elif kind == "huge":
        with file.open("wb") as huge:
            huge.truncate(LIMIT + 1)
    else:
        file.write_text('{"a":' * 5_000 if kind == "deep" else "[]")
    (row,) = (one for one in started(machine, "openclaw", **environ) if one.label == "settings")
    assert (row.path, row.mark, bool(row.why)) == (str(file), "skipped", True)


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
