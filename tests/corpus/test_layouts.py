"""Every folder of the archive is found under its agent's layout, and looking at it touches nothing.

Without an archive, two made-up folders go the same way, so that the way itself is tested everywhere.
"""

import importlib
from pathlib import Path

import pytest

from memtui.agents.discovery import discover
from memtui.agents.layout import slug
from memtui.engine.model import Root
from tests.agents.listing import hashed, listed
from tests.agents.machine import Machine
from tests.corpus import ARCHIVE, journey
from tests.corpus.standing import STANDINGS, Standing, place


@pytest.fixture
def machine(home: Path, tmp_path: Path) -> Machine:
    """A home and a checkout, and no agent anywhere."""
    return Machine(home, tmp_path)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of the archive, by name."""
    assert ARCHIVE is not None
    folders = journey.unpack(Path(ARCHIVE), tmp_path_factory.mktemp("corpus") / "folders")
    return {folder.name: folder for folder in folders}


def look(machine: Machine, source: Path, standing: Standing) -> None:
    """Put a folder in its place, open and list what is found there, and check all that a standing says."""
    at = place(machine, source, standing)
    before = [hashed(folder) for folder in (machine.home, machine.app)]
    surroundings = machine.surroundings("app", project=str(machine.path(standing.project)))
    roots = {root.id: root for root in discover(surroundings)}
    lists = listed(roots, machine.folder / "state")
    made = slug(str(machine.app))
    expected = {name.replace("{slug}", made): facts for name, facts in standing.found.items()}
    counts = {name: len(paths) for name, paths in lists.items() if paths}
    assert counts == {name: count for name, (_, count) in expected.items()}
    for name, (layout, _) in expected.items():
        _check(roots[name], layout)
    _check_left(machine, at, standing, {f"{roots[name].path}/{path}" for name in lists for path in lists[name]})
    assert [hashed(folder) for folder in (machine.home, machine.app)] == before, "something was touched"


def _check(root: Root, layout: str) -> None:
    assert root.scope == root.id.split(":")[1]
    assert (root.kind == "instructions") == root.id.endswith("instructions")
    module, _, name = layout.partition(".")
    if layout:
        known = getattr(importlib.import_module(f"memtui.agents.known.{module}"), name)
        assert root.policy._replace(include=None, elsewhere=()) == known


def _check_left(machine: Machine, at: dict[str, Path], standing: Standing, shown: set[str]) -> None:
    """What no layout knows is exactly what was said, and a plain root by hand shows it."""
    left = {name for name, path in at.items() if str(path) not in shown}
    said = {name for name in at if name.startswith(tuple(entry for entry in standing.left if entry.endswith("/")))}
    assert left == said | {entry for entry in standing.left if not entry.endswith("/")}
    for number, name in enumerate(sorted(left)):
        # Hidden folders are no memories of a plain root, so the nearest folder is named by hand.
        roots = machine.roots("app", f"plain={at[name].parent}", only_roots=True)
        found = listed({"plain": roots["plain"]}, machine.folder / f"state-{number}")
        assert at[name].name in found["plain"]


@pytest.mark.skipif(ARCHIVE is None, reason="MEMTUI_CORPUS names no archive of memory files")
@pytest.mark.parametrize("number", range(len(STANDINGS)), ids=[f"{one.folder}-{one.project}" for one in STANDINGS])
def test_a_folder_is_found_under_its_layout(machine: Machine, sources: dict[str, Path], number: int) -> None:
    standing = STANDINGS[number]
    look(machine, sources[standing.folder], standing)


@pytest.mark.skipif(ARCHIVE is None, reason="MEMTUI_CORPUS names no archive of memory files")
def test_every_folder_of_the_archive_has_a_standing(sources: dict[str, Path]) -> None:
    assert set(sources) == {standing.folder for standing in STANDINGS}


MADE = {
    "owner--serena": {".serena/memories/a.md": "a", ".serena/memories/b/c.md": "c", "notes.md": "n"},
    "owner--bank": {"memory-bank/progress.md": "p", "memory-bank/.clinerules": "r"},
}
MADE_STANDINGS = (
    Standing("owner--serena", {"serena:project": ("serena.POLICY", 2)}, left=("notes.md",)),
    Standing(
        "owner--bank", {"cline:project": ("cline.POLICY", 1), "cline:project:bank-instructions": ("cline.RULES", 1)}
    ),
)


def made(tmp_path: Path, folder: str) -> Path:
    """Write a made-up folder beside the machine's home."""
    for name, text in MADE[folder].items():
        path = tmp_path / "made" / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "made" / folder


@pytest.mark.parametrize("standing", MADE_STANDINGS, ids=[one.folder for one in MADE_STANDINGS])
def test_a_made_up_folder_is_found(machine: Machine, tmp_path: Path, standing: Standing) -> None:
    look(machine, made(tmp_path, standing.folder), standing)


@pytest.mark.parametrize(
    "wrong",
    [
        {"serena:project": ("serena.POLICY", 3)},
        {"serena:project": ("goose.POLICY", 2)},
        {"serena:global": ("serena.POLICY", 2)},
    ],
)
def test_a_folder_that_is_not_found_as_said_is_noticed(
    machine: Machine, tmp_path: Path, wrong: dict[str, tuple[str, int]]
) -> None:
    with pytest.raises(AssertionError):
        look(machine, made(tmp_path, "owner--serena"), MADE_STANDINGS[0]._replace(found=wrong))


def test_a_touched_file_is_noticed(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = made(tmp_path, "owner--serena")
    monkeypatch.setattr("tests.corpus.test_layouts._check_left", lambda *_: (machine.app / "notes.md").touch())
    with pytest.raises(AssertionError, match="touched"):
        look(machine, source, MADE_STANDINGS[0])
