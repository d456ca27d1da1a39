"""docs/adding-an-agent.md is true: its agent is added as the page says, and then found, listed and followed by hand."""

import ast
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from memtui.agents import discovery, table
from memtui.agents.table import LAYOUTS, Layout, policy_of
from memtui.engine.policy import Policy, Root
from tests.agents.listing import listed
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
def parrot(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """Add the page's agent."""
    module, entry = CODE
    folder = tmp_path_factory.mktemp("page")
    name = "memtui.agents.layouts.parrot"
    monkeypatch.setitem(sys.modules, name, loaded(folder, name, module))
    layout = loaded(folder, "entry", entry.replace("\nLayout(", "\nENTRY = Layout(")).ENTRY
    assert isinstance(layout, Layout)
    for place in (table, discovery):
        monkeypatch.setattr(place, "LAYOUTS", (*LAYOUTS, layout))
    return layout


def test_its_agent_is_found(machine: Machine, parrot: Layout, tmp_path: Path) -> None:
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
    assert policy_of(parrot) == roots["parrot:global"].policy


def test_its_agent_is_moved_by_its_variable(machine: Machine, parrot: Layout) -> None:
    path = machine.write("cage/memory/INDEX.md").parent
    here = machine.surroundings()._replace(variables=(("PARROT_HOME", str(machine.folder / "cage")),))
    assert {root.id: root.path for root in discovery.discover(here)}["parrot:global"] == str(path)


@pytest.mark.usefixtures("parrot")
def test_its_agent_leaves_no_trace_where_it_is_not(machine: Machine) -> None:
    assert list(machine.roots()) == NATIVE


def test_it_takes_thirty_lines() -> None:
    tree = ast.parse(CODE[0])
    assert ast.get_docstring(tree)
    code = [line for line in CODE[0].partition('"""\n\n')[2].splitlines() if line.strip()]
    assert len(code) <= 30


def test_the_fields_it_names_are_there() -> None:
    (rows,) = re.findall(r"\| --- \| --- \|\n((?:\|.*\n)+)", PAGE)
    named = set(re.findall(r"`(\w+)`", " ".join(line.split("|")[2] for line in rows.splitlines())))
    assert named - {"roots", "memories", "instructions"} <= {*Policy._fields, *Root._fields}
