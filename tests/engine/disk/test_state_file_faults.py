"""memtui's own faults in a file: where in the program, and never a text; no longer than it may be."""

import os
from pathlib import Path

import pytest

from memtui.engine.disk import state_file

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
    state_file.note_fault(str(tmp_path / "state"), fault(), "workbench")
    (line,) = state_file.faults(str(tmp_path / "state"))
    words = line.decode()
    assert words.split()[1] == "memtui"
    assert " workbench ValueError < test_state_file_faults.py:" in words
    assert " from KeyError < " in words
    assert "Ann" not in words
    assert str(tmp_path) not in words
    assert os.stat(tmp_path / "state" / state_file.FAULTS).st_mode & 0o077 == 0


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    error = fault()
    state_file.note_fault(str(tmp_path), error, "first")
    size = len(state_file.faults(str(tmp_path))[0])
    for _ in range(state_file.MOST_FAULTS // size + 3):
        state_file.note_fault(str(tmp_path), error, "later")
    lines = state_file.faults(str(tmp_path))
    assert state_file.MOST_FAULTS - size < sum(map(len, lines)) <= state_file.MOST_FAULTS
    assert not [line for line in lines if b" first " in line]


@pytest.mark.parametrize("state", ["a folder that cannot be made", "garbage"])
def test_what_cannot_be_written_or_read_is_no_second_fault(tmp_path: Path, state: str) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "state" if state != "garbage" else tmp_path / "state"
    if state == "garbage":
        (folder / state_file.FAULTS).mkdir(parents=True)
    state_file.note_fault(str(folder), fault(), "cli")
    assert state_file.faults(str(folder)) == ()
