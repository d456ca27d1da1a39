"""memtui's own faults in a file: where in the program, and never a text; no longer than it may be."""

import os
from pathlib import Path

import pytest

from memtui.engine.disk import faults

SECRET = "what the memory says of Ann"


def fault(kind: type[Exception] = ValueError) -> Exception:
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as first:
            text = f"{SECRET}: {first}"
            raise kind(text) from first
    except Exception as error:  # noqa: BLE001
        return error


def test_a_line_says_when_where_and_what_and_holds_no_text(tmp_path: Path) -> None:
    faults.note(str(tmp_path / "state"), fault(), "workbench")
    (line,) = faults.read(str(tmp_path / "state"))
    words = line.decode()
    assert words.split()[1] == "memtui"
    assert " workbench ValueError < test_faults.py:" in words
    assert " from KeyError < " in words
    assert "Ann" not in words
    assert str(tmp_path) not in words
    assert os.stat(tmp_path / "state" / faults.NAME).st_mode & 0o077 == 0


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    error = fault()
    faults.note(str(tmp_path), error, "first")
    size = len(faults.read(str(tmp_path))[0])
    for _ in range(faults.MOST // size + 3):
        faults.note(str(tmp_path), error, "later")
    lines = faults.read(str(tmp_path))
    assert faults.MOST - size < sum(map(len, lines)) <= faults.MOST
    assert not [line for line in lines if b" first " in line]


@pytest.mark.parametrize("state", ["a folder that cannot be made", "garbage"])
def test_what_cannot_be_written_or_read_is_no_second_fault(tmp_path: Path, state: str) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "state" if state != "garbage" else tmp_path / "state"
    if state == "garbage":
        (folder / faults.NAME).mkdir(parents=True)
    faults.note(str(folder), fault(), "cli")
    assert faults.read(str(folder)) == ()
