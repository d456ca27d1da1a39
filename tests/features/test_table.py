"""The table of features is whole, and so are the pages made from it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.features.feature import Feature, load
from memtui.features.table import FEATURES, GROUPS, TOOLS, entries, entry, find, verbs
from memtui.ui.action import MOVES, PANES
from memtui.wire.params import GLOBALS
from memtui.wire.verb import Verb
from memtui.workbench.actions import ACTIONS
from tests.house.source import ROOT

VERBS = verbs()

PROMISED = """
roots ls view create save edit mv rm restore trash undo redo pin unpin history diff redact changes seen log watch search
doctor keys config completion workspace demo mcp
"""


def by_name(verb: Verb) -> str:
    return verb.name


def test_every_promised_verb_is_there_once() -> None:
    names = [verb.name for verb in VERBS]
    assert len(names) == len(set(names))
    assert set(PROMISED.split()) <= set(names)
    assert find("ls") is not None
    assert find("fly") is None


def test_every_promised_global_option_is_there() -> None:
    promised = "--home --project --root --only-root --json --read-only --actor --ascii --calm --version"
    assert set(promised.split()) <= {param.name for param in GLOBALS}


@pytest.mark.parametrize("verb", VERBS, ids=by_name)
def test_a_verb_says_what_it_does_and_shows_it(verb: Verb) -> None:
    assert verb.group in GROUPS
    assert verb.summary
    assert not verb.summary.endswith(".")
    assert verb.examples
    assert all(f"memtui {verb.name}" in line and meaning for line, meaning in verb.examples)
    assert all(param.help for param in verb.params)
    assert verb.answer or verb.name == "help"


@pytest.mark.parametrize("verb", VERBS, ids=by_name)
def test_positionals_can_be_told_apart(verb: Verb) -> None:
    """One takes many, and only what is required follows it; nothing required may follow one that is not."""
    places = verb.positionals
    many = next((number for number, param in enumerate(places) if param.many), len(places))
    assert all(param.required and not param.many for param in places[many + 1 :])
    required = [param.required for param in places]
    assert required == sorted(required, reverse=True)


@pytest.mark.parametrize("feature", FEATURES)
def test_a_line_of_the_table_is_its_entry(feature: str) -> None:
    found: Feature = entry(feature)
    assert tuple(verb.name for verb in found.verbs) == FEATURES[feature]
    assert {action.room for action in found.actions} <= {feature}
    assert bool(found.actions) == bool(found.title)
    assert {tool.name for tool in found.tools} == {name for name, owner in TOOLS.items() if owner == feature}


def test_what_an_entry_names_is_there() -> None:
    for verb in VERBS:
        assert not verb.does if verb.name == "help" else load(verb.does).__doc__
    for found in entries().values():
        assert all(load(place).__doc__ for tool in found.tools for place in (tool.offer, tool.call))
    views = [found.view for found in entries().values() if found.view is not None]
    known = {action.id for action in ACTIONS}
    for view in views:
        assert view.id == "memories" or view.id == load(view.screen).ID  # type: ignore[attr-defined]
        assert {*view.actions, *view.footer} <= known
        assert set(view.footer) <= set(view.actions)
        assert not {*MOVES, *PANES} & set(view.own)
    assert len({view.id for view in views}) == len(views)


def test_places_in_help_are_not_shared() -> None:
    assert len({(verb.group, verb.rank) for verb in VERBS}) == len(VERBS)


@pytest.mark.parametrize("name", ["ls", "trash", "undo"])
def test_a_verb_is_found_by_the_entry_of_its_feature_alone(name: str) -> None:
    script = (
        "import sys; from memtui.features.table import find; find(sys.argv[1]); "
        "print(*(name for name in sys.modules if name.startswith('memtui.features.') and name.endswith('.entry')))"
    )
    found = subprocess.run([sys.executable, "-c", script, name], capture_output=True, text=True, check=True).stdout
    (own,) = (feature for feature, names in FEATURES.items() if name in names)
    assert found.split() == [f"memtui.features.{own}.entry"]


PAGE = (ROOT / "docs" / "adding-a-feature.md").read_text("utf-8")
CODE = re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL)
FILES = ("entry", "rules", "verbs", "view")

VIEW = """
import asyncio, pathlib, sys
from tests.workbench.views.real import ME, World, at, real

async def main(folder):
    world = World(folder)
    with world.engine() as engine:
        engine.memories.create(at("small.md"), "small\\n", actor=ME)
        engine.memories.create(at("large.md"), "large " * 500, actor=ME)
    async with real(world) as screen:
        await screen.look("9", "notes/large.md")
        view = screen.app.screen
        assert type(view).__module__ == "memtui.features.largest.view"
        await screen.until(lambda: bool(view.page.page))
        assert [item.address.path for item in view.rows.shown] == ["large.md", "small.md"]
        await screen.press("slash")
        await screen.type("small")
        await screen.until(lambda: len(view.rows.shown) == 1)
        await screen.press("enter", "enter")
        await screen.until(lambda: screen.app.screen is screen.browser)
        assert screen.browser.memories.current.memory.address == at("small.md")

asyncio.run(main(pathlib.Path(sys.argv[1])))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with the page's folder and line."""
    base = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "memtui", base / "memtui", ignore=shutil.ignore_patterns("__pycache__"))
    features = base / "memtui" / "features"
    *files, line = CODE
    assert len(files) == len(FILES)
    (features / "largest").mkdir()
    (features / "largest" / "__init__.py").write_text('"""The largest memories."""\n')
    for name, text in zip(FILES, files, strict=True):
        (features / "largest" / f"{name}.py").write_text(text)
    table = features / "table.py"
    before = table.read_text()
    table.write_text(before.replace('    "trash": (', f'{line}    "trash": (', 1))
    assert table.read_text().count('"largest"') == 2
    return base


def ran(copy: Path, *words: str) -> str:
    """Run a program on the copy, and give what it printed."""
    there = os.environ | {"PYTHONPATH": f"{copy}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=there, cwd=copy, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_its_verb_works_and_is_documented(copy: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(1, 4):
        (notes / f"{number}.md").write_text("x" * number * 100)
    where = ("--home", str(tmp_path / "home"), "--only-root", "--root", f"notes={notes}")
    found = json.loads(ran(copy, "-m", "memtui", *where, "--json", "largest", "--limit", "2"))
    assert found["items"] == [{"address": "notes/3.md", "bytes": 300}, {"address": "notes/2.md", "bytes": 200}]
    assert "List the largest memories" in ran(copy, "-m", "memtui", "largest", "--help")
    assert "memtui largest --limit 3" in ran(copy, "-m", "memtui.cli.help")
    assert "`view_largest`" in ran(copy, "-c", "from memtui.workbench.keys import keys_page; print(keys_page())")


def test_its_view_and_its_key_work(copy: Path, tmp_path: Path) -> None:
    ran(copy, "-c", VIEW, str(tmp_path))
