"""Real indexes and links, from the archive named by MEMTUI_CORPUS: renaming there and back gives every old byte."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from memtui.pointers.links import parse_links
from memtui.pointers.rewrite import rewrite
from tests.corpus import ARCHIVE
from tests.corpus.journey import unpack


def there_and_back(file: Path, seen: Counter[str]) -> None:
    """Rename every memory a file names, one after the other, and take it back."""
    data = file.read_bytes()
    index = file.name == "MEMORY.md"
    for path in sorted(
        {link.path for link in parse_links(data, file.name) if link.path and not link.path.endswith("/")}
    ):
        folder, _, name = path.rpartition("/")
        new = f"{folder}/renamed-{seen['renamed']}{Path(name).suffix}".lstrip("/")
        there = rewrite(data, file.name, {path: new})
        assert there.carried or there.left, (file, path)
        assert rewrite(there.data, file.name, {new: path}).data == data, (file, path)
        seen["renamed"] += 1
        gone = rewrite(data, file.name, {path: None}, index=index)
        assert all(line in data.splitlines() or b" \xc2\xb7 " in data for line in gone.data.splitlines()), (file, path)
        seen["entries taken out"] += index and bool(gone.carried)
        seen["entries left"] += index and not gone.carried


@pytest.mark.skipif(ARCHIVE is None, reason="MEMTUI_CORPUS names no archive of memory files")
def test_real_memories_are_renamed_there_and_back(tmp_path: Path) -> None:
    assert ARCHIVE is not None
    seen: Counter[str] = Counter()
    for folder in unpack(Path(ARCHIVE), tmp_path):
        for file in sorted(folder.rglob("*.md")):
            there_and_back(file, seen)
    assert seen["renamed"] > 500
    assert seen["entries taken out"] > 30 * seen["entries left"]


def test_an_index_there_and_back(tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    (tmp_path / "MEMORY.md").write_bytes(b"- [A](a.md) - one\r\n- [B](x/b.md) and [[c]]\r\nSee [D](d.md).")
    there_and_back(tmp_path / "MEMORY.md", seen)
    assert seen == {"renamed": 4, "entries taken out": 1, "entries left": 3}
