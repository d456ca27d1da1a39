"""Rooms import downwards, only the workbench draws, only the bridge holds the engine: kept, and able to fail."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.house.source import ROOT, sources


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["lint-imports", "--no-cache"], cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package and its contracts that a test may spoil."""
    folder = tmp_path / "copy"
    folder.mkdir()
    shutil.copytree(ROOT / "memtui", folder / "memtui", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def test_the_contracts_hold(copy: Path) -> None:
    done = lint_imports(copy)
    assert done.returncode == 0, done.stdout
    assert ", 0 broken." in done.stdout


WRONG = [
    ("engine/model.py", "import textual", "Only the workbench reaches Textual and Rich"),
    ("cli/arguments.py", "import rich.table", "Only the workbench reaches Textual and Rich"),
    ("engine/model.py", "import memtui.config", "Rooms import downwards only"),
    ("config/settings.py", "import memtui.agents", "Rooms import downwards only"),
    ("cli/arguments.py", "import memtui.workbench", "Rooms import downwards only"),
    ("errors.py", "import memtui.safe_text", "Rooms import downwards only"),
    ("attic.py", "'''A room without a place.'''", "Rooms import downwards only"),
    ("ui/keys/keyed.py", "import memtui.engine.model", "What draws knows no memory"),
    ("ui/draw/text.py", "import memtui.ui.widgets", "Inside what draws imports go downwards"),
    (
        "workbench/actions.py",
        "import memtui.engine.engine",
        "Inside the workbench only the bridge holds the engine",
    ),
    (
        "workbench/actions.py",
        "from memtui.engine import Engine",
        "Inside the workbench only the bridge holds the engine",
    ),
    (
        "workbench/main_screen.py",
        "if TYPE_CHECKING:\n    import memtui.workbench.browse.browser",
        "Inside the workbench imports go downwards",
    ),
    ("engine/disk/fsio.py", "import memtui.engine.engine", "Inside the engine"),
    ("engine/disk/paths.py", "import memtui.engine.ledger", "Inside the engine"),
    ("agents/known/mux.py", "import memtui.agents.table", "Inside the agents' room"),
]
"""A file, what is added to it, and the contract that it breaks."""


def test_a_wrong_import_breaks_its_contract(copy: Path) -> None:
    for file, line, _ in WRONG:
        with (copy / "memtui" / file).open("a") as spoiled:
            spoiled.write(f"\n{line}\n")
    done = lint_imports(copy)
    assert done.returncode == 1
    broken = [row for row in done.stdout.splitlines() if " BROKEN" in row]
    assert {name for *_, name in WRONG if not any(row.startswith(name) for row in broken)} == set(), done.stdout
    parts = re.split(r"^(.+)\n-{5,}$", done.stdout.partition("Broken contracts")[2], flags=re.M)
    said = dict(zip(parts[1::2], parts[2::2], strict=True))
    for file, line, name in WRONG:
        module = "memtui." + file.removesuffix(".py").replace("/", ".")
        (about,) = (text for title, text in said.items() if title.startswith(name))
        assert module in about, (file, line, about)


def test_every_room_without_a_screen_is_named() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (textual,) = (contract for contract in contracts if contract["id"] == "textual")
    rooms = {source.room for source in sources("memtui")} - {"", "ui", "workbench", "__main__"}
    assert {name.removeprefix("memtui.") for name in textual["source_modules"]} == rooms
