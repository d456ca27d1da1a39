"""docs/adding-an-agent.md is true: its agent is added as the page says, and then found, listed and followed by hand."""

import ast
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from memtui.agents import discovery, table
from memtui.agents.agent import PROJECT, USER, KnownAgent, Start
from memtui.agents.discovery import discover
from memtui.agents.projects import named_projects
from memtui.agents.session_start import gather, in_use
from memtui.agents.table import KNOWN, Traces, agent_of
from memtui.clients import entries
from memtui.config.started import Started
from memtui.engine.policy import Policy, Root
from memtui.wire import session
from tests.agents.listing import listed, marked
from tests.agents.machine import NATIVE, Machine

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
