"""Every file of the archive named by MEMTUI_CORPUS, and a small archive of our own where none is named."""

import tarfile
from collections import Counter
from pathlib import Path

import pytest

from tests.corpus import ARCHIVE, journey

AWKWARD = {
    "crlf.md": b"---\r\ndescription: one\r\n---\r\nbody\r\n",
    "bom.md": b"\xef\xbb\xbf# title\n",
    "no-end.md": b"no final newline",
    "nul.md": b"a\x00b\n",
    "latin.md": b"caf\xe9\n",
    "empty.md": b"",
    "broken.md": b"---\ndescription: a: b: c\n---\n",
    "é.md": "déjà vu\n".encode(),
}


@pytest.mark.timeout(600)
@pytest.mark.skipif(ARCHIVE is None, reason="MEMTUI_CORPUS names no archive of memory files")
def test_real_files_come_back_byte_for_byte(tmp_path: Path) -> None:
    assert ARCHIVE is not None
    counted: Counter[str] = Counter()
    for number, folder in enumerate(journey.unpack(Path(ARCHIVE), tmp_path / "folders")):
        counted += journey.travel(folder, tmp_path / f"state-{number}")
    print(dict(counted))
    assert counted["edited"] > 300


def test_awkward_files_come_back_byte_for_byte(tmp_path: Path) -> None:
    source = tmp_path / "made/owner--name/.agent/memory"
    source.mkdir(parents=True)
    for name, data in AWKWARD.items():
        (source / name).write_bytes(data)
    archive = tmp_path / "archive.tar.gz"
    with tarfile.open(archive, "w:gz") as bundle:
        bundle.add(tmp_path / "made", arcname=".")
    (folder,) = journey.unpack(archive, tmp_path / "folders")
    counted = journey.travel(folder, tmp_path / "state")
    assert counted["listed"] == counted["edited"] == len(AWKWARD)
    assert counted["described"] >= 3


def test_a_touched_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a.md").write_bytes(b"text\n")
    monkeypatch.setattr(journey, "_undo", lambda *_: None)
    with pytest.raises(AssertionError):
        journey.travel(tmp_path / "folder", tmp_path / "state")
