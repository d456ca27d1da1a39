"""Real files taken apart by every format: all bytes are there, and one entry changes without the others."""

import os
from pathlib import Path

import pytest

from memtui.errors import RefusedError
from memtui.features.entries import model
from memtui.features.entries.formats import FORMATS
from memtui.features.entries.model import parse
from tests.corpus import ARCHIVE, journey
from tests.examples import ALL

KNOWN = {".goose/memory": "goose", ".codex/memories/MEMORY.md": "codex"}
"""Parts of paths, and the format that the agent writes there."""
MOST = 4
"""So many entries of one file are changed, spread over it."""


def check(data: bytes, kind: str) -> int:
    """Take a file apart, and take each entry out and put it in again; returns how many could be."""
    file = parse(data, kind)
    edges = [0, *(edge for entry in file.entries for edge in (entry.start, entry.end)), len(data)]
    assert edges == sorted(edges)
    texts = [file.text(entry) for entry in file.entries]
    done = 0
    for entry in file.entries[:: max(len(texts) // MOST, 1)]:
        at = entry.number - 1
        try:
            less = parse(model.without(file, entry), kind)
            more = parse(model.with_added(less, texts[at]), kind)
        except RefusedError:
            continue  # such as one that holds front matter apart
        assert [less.text(one) for one in less.entries] == texts[:at] + texts[at + 1 :]
        assert [more.text(one) for one in more.entries[:-1]] == texts[:at] + texts[at + 1 :]
        assert model.with_replaced(file, entry, texts[at] + b"\n") == data
        done += 1
    return done


@pytest.mark.timeout(600)
@pytest.mark.hypothesis  # in every format with the properties
@pytest.mark.skipif(ARCHIVE is None, reason="MEMTUI_CORPUS names no archive of memory files")
def test_real_files_are_changed_entry_by_entry(tmp_path: Path) -> None:
    assert ARCHIVE is not None
    done, known, turn = 0, 0, 0
    for folder in journey.unpack(Path(ARCHIVE), tmp_path):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix in (".md", ".txt", ".mdc"):
                data = path.read_bytes()
                turn += 1
                kinds = FORMATS if ALL in os.environ else [tuple(FORMATS)[turn % len(FORMATS)]]
                done += sum(check(data, kind) for kind in kinds)
                known += sum(len(parse(data, kind).entries) for part, kind in KNOWN.items() if part in str(path))
    assert done > 500
    assert known > 50
