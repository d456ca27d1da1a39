"""The indexes of the archive named by MEMTUI_CORPUS: counted as the page says, and every fix there and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine.model import Done
from tests.agents.machine import Machine
from tests.corpus import ARCHIVE, health
from tests.corpus.standing import Standing

ROOT = Path(__file__).parents[2]
INDEX = "- [a](a.md) — one\n- [gone](gone.md) — two\n- [a](a.md) — again\n- [a](b.md) — " + "word " * 40 + "\n"
MADE = Standing("owner--claude", {}, (("", "~/.claude/projects/{slug}/memory"),))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    for name, text in {"MEMORY.md": INDEX, "a.md": "a\n", "b.md": "b\n", "c.md": "c\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.timeout(300)
@pytest.mark.skipif(ARCHIVE is None, reason="MEMTUI_CORPUS names no archive of memory files")
def test_the_page_says_what_is_found_and_each_fix_gives_the_old_bytes_back(tmp_path: Path) -> None:
    assert ARCHIVE is not None
    lines = list(health.every(Path(ARCHIVE), tmp_path))
    assert sum(line.fixed for line in lines) > 30
    assert health.page(lines) == (ROOT / "docs/index-health.md").read_text(encoding="utf-8")


def test_an_index_there_and_back(home: Path, tmp_path: Path, source: Path) -> None:
    (line,) = health.look(Machine(home, tmp_path), source, MADE)
    assert dict(line.found) == {"dangling": 1, "unnamed": 1, "duplicate": 1, "long": 1}
    assert (line.fixed, line.offered) == (4, 0)
    assert "| all 1 |" in health.page([line])


def test_an_index_over_its_line_there_and_back(home: Path, tmp_path: Path, source: Path) -> None:
    text = "- [a](a.md)\n- [out](../../out.md)\n" + "- line\n" * 200 + "- [b](b.md)\n- [c](c.md)\n"
    (source / "MEMORY.md").write_text(text, encoding="utf-8")
    (line,) = health.look(Machine(home, tmp_path), source, MADE)
    assert dict(line.found) == {"cut": 1, "outside": 1, "below": 2}
    assert (line.fixed, line.offered) == (1, 3)


def test_an_undo_that_loses_something_is_noticed(
    home: Path, tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.engine.changes.undo.Undo.undo", lambda *_, **__: None)
    with pytest.raises(AssertionError, match="the old bytes did not come back"):
        health.look(Machine(home, tmp_path), source, MADE)


def test_a_fix_that_does_nothing_is_noticed(
    home: Path, tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "apply", lambda *_, **__: Done("", "save", ()))
    with pytest.raises(AssertionError, match="nothing was done"):
        health.look(Machine(home, tmp_path), source, MADE)
