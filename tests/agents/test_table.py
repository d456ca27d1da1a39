"""The table of agents agrees with their files, the settings, the pages and the names of clients."""

import ast
import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents import discovery, table
from memtui.agents.agent import PROJECT, USER, KnownAgent, Start
from memtui.agents.discovery import discover
from memtui.agents.layout import named_projects
from memtui.agents.session_start import gather, in_use
from memtui.agents.table import (
    CLIENTS,
    KNOWN,
    ONLY_RUN,
    Traces,
    agent_of,
    canonical,
    meant,
    nearest,
    title_of,
    traces_of,
)
from memtui.clients import entries
from memtui.config.settings import AGENT_VARIABLES
from memtui.config.started import Started
from memtui.engine import Engine
from memtui.engine.model import Root
from memtui.engine.policy import Policy
from memtui.wire import session
from tests.agents import homes, homes_more
from tests.agents.listing import listed, marked
from tests.agents.machine import NATIVE, Machine, snapshot
from tests.house.source import ROOT


def test_agents_are_told_apart() -> None:
    every = (*KNOWN, *ONLY_RUN)
    for names in ([one.id for one in every], [one.title for one in every]):
        assert len(set(names)) == len(names)


def test_every_file_has_a_line() -> None:
    files = {path.stem for path in (ROOT / "memtui" / "agents" / "known").glob("*.py")}
    assert files - {"__init__", "memtui_native"} == {one.id.replace("-", "_") for one in KNOWN}


@pytest.mark.parametrize("line", KNOWN, ids=[one.id for one in KNOWN])
def test_a_line_leads_to_a_file(line: Traces) -> None:
    assert re.fullmatch(r"[a-z][a-z-]*", line.id)
    assert traces_of(line.id) is line
    agent = agent_of(line.id)
    assert (agent.id, agent.title) == (line.id, line.title)
    assert ("AGENTS.md" in line.in_project) == (line.id == "agents-md"), "it shows what no other agent claims"
    assert (agent.roots is not None) == (agent.policy is not None) == line.folders
    assert agent.policy is None or agent.policy.include is None, "a root by hand is any folder"
    assert (agent.client.name if agent.client is not None else None) == (line.client[0] if line.client else None)
    assert agent.roots or agent.loads, "a file says something"


def test_the_settings_keep_every_variable_that_a_file_or_a_line_asks_for_and_no_other() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "memtui" / "agents" / "known").glob("*.py")]
    asked = {name for text in texts for name in re.findall(r'variable\("(\w+)"\)', text)}
    asked |= {name for one in KNOWN for name in (*one.variables, *agent_of(one.id).home.variables)}
    assert asked <= set(AGENT_VARIABLES)
    unasked = {name for name in AGENT_VARIABLES if not any(f'"{name}"' in text for text in texts)}
    assert unasked == {"XDG_CONFIG_HOME"}, "in which several agents keep their folders"


def test_an_agent_that_is_not_in_the_table_is_known_by_its_id_alone() -> None:
    assert traces_of("nobody") is None
    assert title_of("nobody") == "nobody"
    assert not any((agent_of("nobody").roots, agent_of("nobody").loads, agent_of("nobody").policy))


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("claude-code", "claude-code"),
        ("Claude Code", "claude-code"),
        ("claude_code", "claude-code"),
        ("mcp:claude-code", "claude-code"),
        ("agent:claude-code/a name of its own", "claude-code"),
        ("codex-mcp-client", "codex"),
        ("Codex", "codex"),
        ("gemini-cli-mcp-client", "gemini"),
        ("qwen-code-mcp-client-memtui", "qwen"),
        ("Visual Studio Code", "vscode"),
        ("Visual Studio Code - Insiders", "vscode"),
        ("codexion", "codexion"),
        ("My  Own_Agent", "my-own-agent"),
        ("*", "*"),
        ("", ""),
    ],
)
def test_names(said: str, name: str) -> None:
    assert canonical(said) == name


@given(st.sampled_from(sorted(CLIENTS)) | st.text(max_size=20))
def test_a_name_is_its_own(text: str) -> None:
    assert canonical(text) in (canonical(canonical(text)), *CLIENTS)
    assert canonical(text.upper()) == canonical(text) or not text.isascii()


@pytest.mark.parametrize(
    ("name", "near"),
    [("cladue-code", "claude-code"), ("codx", "codex"), ("codex", None), ("Claude Code", None), ("aider", None)],
)
def test_a_slip_is_noticed(name: str, near: str | None) -> None:
    assert meant(name) == near


def test_the_nearest_names_come_first() -> None:
    known = ["cli", "mcp:gemini-cli-mcp-client", "mcp:codex-mcp-client", "mcp:Visual Studio Code", "outside"]
    assert nearest("mcp:codex", known)[0] == "mcp:codex-mcp-client"
    assert nearest("gemini", known)[0] == "mcp:gemini-cli-mcp-client"
    assert nearest("vscode", known)[0] == "mcp:Visual Studio Code"
    assert nearest("outsde", known)[0] == "outside"
    assert sorted(nearest("x", known)) == sorted(known)


CURSOR = [".cursor/rules/api/errors.mdc", ".cursor/rules/tests.mdc", ".cursorrules"]

FOUND = {
    "cursor": {"cursor:global:instructions": ["style.mdc"], "cursor:project:instructions": CURSOR},
    "kiro": {"kiro:global:instructions": ["style.md"], "kiro:project:instructions": ["product.md", "tests.md"]},
    "replit": {"replit:project": ["MEMORY.md", "build.md"]},
    "roo": {
        "roo:global:instructions": ["rules/style.md"],
        "roo:project:instructions": [".roo/rules-code/tests.txt", ".roo/rules/01-general.md", ".roorules-ask"],
        "roo:project": ["activeContext.md", "decisionLog.md"],
    },
}


@pytest.mark.parametrize("agent", FOUND)
def test_what_is_found(machine: Machine, tmp_path: Path, agent: str) -> None:
    homes_more.HOMES_MORE[agent](machine.home, machine.app)
    roots = machine.roots()
    assert listed(roots, tmp_path / "state") == FOUND[agent]
    for root in list(roots.values())[len(NATIVE) :]:
        assert root.kind == ("instructions" if root.id.endswith(":instructions") else "memories")
        assert root.in_checkout == (root.scope == "project")


def test_cursor_reads_no_rules_of_the_user_and_rules_on_the_way_down(machine: Machine, tmp_path: Path) -> None:
    homes_more.cursor(machine.home, machine.app)
    roots = machine.roots("app/api")
    assert "loads none" in roots["cursor:global:instructions"].note, "it is no place that Cursor reads"
    assert roots["cursor:global:instructions"].switched_off
    assert not roots["cursor:project:instructions"].switched_off
    assert listed(roots, tmp_path / "s")["cursor:project:instructions"] == [*CURSOR, "api/.cursor/rules/v2.mdc"]


def test_replits_index_is_a_list_of_links(machine: Machine) -> None:
    homes_more.replit(machine.home, machine.app)
    assert machine.roots()["replit:project"].policy.index_format == "links"


HOMES = {**homes.HOMES, **homes_more.HOMES_MORE}


def state(machine: Machine) -> dict[str, tuple[object, ...]]:
    """Everything on the machine but what memtui keeps itself: what it is, its time of change, and what is in it."""
    own = tuple(str(machine.folder / name) for name in ("own", "state"))
    found: dict[str, tuple[object, ...]] = {}
    for name, *rest in snapshot(machine.folder):
        if name.startswith(own) or name == str(machine.folder):
            continue
        path = Path(name)
        content: object = os.readlink(path) if path.is_symlink() else None
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
        found[name] = (*rest, content)
    return found


def looked_at(machine: Machine, cwd: str) -> tuple[dict[str, Root], dict[str, bytes]]:
    """Find all roots, then open, list, read and close them; give the roots and every memory's text."""
    roots = machine.roots(cwd, all_projects=True)
    with Engine.open(roots.values(), state_dir=str(machine.folder / "state")) as engine:
        listing = engine.rows.list()
        texts = {str(row.address): engine.read_bytes(row.address) for row in listing.items}
        assert not listing.truncated
    return roots, texts


def test_every_agent_has_a_home() -> None:
    assert set(HOMES) == {one.id for one in KNOWN if one.folders}


@pytest.mark.parametrize("agent", HOMES)
def test_looking_changes_nothing(machine: Machine, agent: str) -> None:
    HOMES[agent](machine.home, machine.app)
    before = state(machine)
    assert before
    roots, texts = looked_at(machine, "app")
    assert state(machine) == before
    mine = [root for root in roots.values() if root.agent == agent]
    assert mine, f"nothing of {agent} was found"
    assert [name for name in texts if any(name.startswith(f"{root.id}/") for root in mine)], "its roots hold nothing"


def test_all_homes_on_one_machine(machine: Machine) -> None:
    for write in HOMES.values():
        write(machine.home, machine.app)
    roots, texts = looked_at(machine, "app")
    assert {root.agent for root in roots.values()} >= set(HOMES) - {"agents-md"}
    places: dict[str, str] = {}
    for address in texts:
        root, _, path = address.partition("/")
        place = os.path.realpath(os.path.join(roots[root].path, path))
        assert places.setdefault(place, address) == address, "one file under two roots"


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "adding-an-agent.md").read_text("utf-8")
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def loaded(folder: Path, name: str, text: str) -> ModuleType:
    """Write a module and import it under a name."""
    path = folder / f"{name.rpartition('.')[2]}.py"
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def parrot(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> KnownAgent:
    """Add the page's agent."""
    file, line = CODE
    folder = tmp_path_factory.mktemp("page")
    name = "memtui.agents.known.parrot"
    monkeypatch.setitem(sys.modules, name, loaded(folder, name, file))
    known = (*KNOWN, loaded(folder, "line", line.replace("\nTraces(", "\nLINE = Traces(")).LINE)
    assert isinstance(known[-1], Traces)
    for place in (table, discovery, session, entries):
        monkeypatch.setattr(place, "KNOWN", known)
    agent = agent_of("parrot")
    assert (agent.id, agent.title) == known[-1][:2]
    return agent


def test_its_agent_is_found(machine: Machine, parrot: KnownAgent, tmp_path: Path) -> None:
    for name in ("~/.parrot/memory/INDEX.md", "app/.parrot/memory/a.md", "app/.parrot/memory/nest.json"):
        machine.write(name)
    machine.write("app/PARROT.md")
    roots = machine.roots()
    assert listed(roots, tmp_path / "state") == {
        "parrot:global": ["INDEX.md"],
        "parrot:project": ["a.md"],
        "parrot:project:instructions": ["PARROT.md"],
    }
    assert [(root.kind, root.in_checkout) for root in list(roots.values())[3:]] == [
        ("memories", False),
        ("memories", True),
        ("instructions", True),
    ]
    assert parrot.policy == roots["parrot:global"].policy
    by_hand = machine.roots("app", "notes=cage,agent=parrot")["notes"]
    assert by_hand.policy == parrot.policy


def test_its_agent_is_moved_by_its_variable(machine: Machine, parrot: KnownAgent) -> None:
    path = machine.write("cage/memory/INDEX.md").parent
    here = machine.surroundings()._replace(variables=(("PARROT_HOME", str(machine.folder / "cage")),))
    assert {root.id: root.path for root in discover(here)}["parrot:global"] == str(path)
    assert parrot.home.folder(here) == str(machine.folder / "cage")


def test_what_its_agent_loads(machine: Machine, parrot: KnownAgent) -> None:
    machine.write("app/PARROT.md")
    machine.write("~/.parrot/memory/INDEX.md", "- [a](a.md)\n" * 60)
    machine.write("~/.parrot/memory/a.md")
    around = machine.surroundings()
    assert list(in_use(around, ())) == [parrot]
    found = gather(parrot, around, discover(around), lambda data, policy: (None, len(data)))
    marks = {name.rpartition("/")[2] for name in marked(machine, list(found))}
    assert marks == {"PARROT.md", "INDEX.md: cut", "a.md: on demand"}


def test_its_agent_is_a_client(machine: Machine, parrot: KnownAgent) -> None:
    client, here = entries.client_named("parrot"), machine.surroundings()
    assert client is parrot.client
    command = Start("/opt/bin/memtui", ("mcp",), "/opt/bin/memtui context")
    for level, folder in ((USER, machine.home), (PROJECT, machine.app)):
        (file,) = client.files(here, level, command)
        assert file.path == str(folder / ".parrot" / "mcp.json")
        written = entries.put(file, "", file.entries[0])
        assert entries.state(file, written, file.entries[0]) == entries.CURRENT


def test_its_agent_is_known_by_what_it_runs_and_writes_down(machine: Machine, parrot: KnownAgent) -> None:
    assert session.runner(Started((("PARROT", "1"),))) == session.RunningAgent("parrot", "PARROT is set")
    assert parrot.transcripts is not None
    machine.write("-cage/sessions/1.jsonl", '{"cwd": "/cage"}\n')
    assert named_projects(str(machine.path("-cage")), parrot.transcripts) == ("/cage",)


@pytest.mark.usefixtures("parrot")
def test_its_agent_leaves_no_trace_where_it_is_not(machine: Machine) -> None:
    assert list(machine.roots()) == NATIVE


def test_it_is_small() -> None:
    tree = ast.parse(CODE[0])
    assert ast.get_docstring(tree)
    code = [node for node in tree.body if not isinstance(node, ast.ImportFrom | ast.Import)]
    assert sum((node.end_lineno or 0) - node.lineno + 1 for node in code) <= 65


def test_the_fields_it_names_are_there() -> None:
    (rows,) = re.findall(r"\| --- \| --- \|\n((?:\|.*\n)+)", PAGE)
    named = set(re.findall(r"`(\w+)`", " ".join(line.split("|")[2] for line in rows.splitlines())))
    assert named - {"memories", "instructions"} <= {
        *Policy._fields,
        *Root._fields,
        *KnownAgent._fields,
        *Traces._fields,
    }
