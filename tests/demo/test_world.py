"""The throw-away world."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.agents.discovery import discover
from memtui.config.read import load_settings
from memtui.config.surroundings import surroundings_from
from memtui.demo.world import SAMPLES, World, build, remove
from memtui.engine.model import Root


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    made = build()
    yield made
    remove(made)
    assert list(folder.iterdir()) == []


def roots(world: World) -> tuple[Root, ...]:
    settings = load_settings({"HOME": world.folder, "MEMTUI_HOME": world.memtui_home})
    around = surroundings_from(settings, cwd=world.project)._replace(system_dir=world.system)
    return discover(around, all_projects=True)


def test_everything_is_below_one_folder(world: World) -> None:
    assert {os.path.commonpath([world.folder, root.path]) for root in roots(world)} == {world.folder}


def test_it_can_be_put_where_nothing_is_yet(tmp_path: Path) -> None:
    made = build(str(tmp_path / "here"))
    assert made.folder == str((tmp_path / "here").resolve())
    with pytest.raises(FileExistsError):
        build(str(tmp_path / "here"))


def test_the_whole_tree_shows(world: World) -> None:
    found = roots(world)
    assert {root.agent for root in found} == {"memtui", "claude-code", "qwen-code", "mux"}
    assert {root.scope for root in found} == {"global", "project", "workspace"}
    assert any("lighthouse" in root.path for root in found)
    named = {name: root for root in found for name in (root.id, *root.aliases)}
    assert all(Path(named[name].path).is_dir() for name in world.worked_in)


def test_every_sample_is_somewhere_and_a_readable_memory(world: World) -> None:
    samples = sorted(path.read_bytes() for path in Path(SAMPLES).rglob("*.md"))
    written = [path.read_bytes() for path in Path(world.folder).rglob("*.md") if path.name != "pasted-review.md"]
    assert sorted(written) == samples
    assert all(b"\r" not in text and text.endswith(b"\n") and text.decode() for text in samples)


def test_the_attack_is_really_in_there(world: World) -> None:
    (attack,) = Path(world.folder).rglob("pasted-review.md")
    text = attack.read_text("utf-8")
    assert "\u202e" in text
    assert any(0xE0020 <= ord(char) <= 0xE007F for char in text)
