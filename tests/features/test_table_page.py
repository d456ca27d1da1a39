"""docs/adding-a-feature.md is true: its feature is added as the page says, and its verb, view and key work."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.source import ROOT

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
