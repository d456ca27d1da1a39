"""The state of an open memory, row by row of the table users were promised."""

import pytest

from memtui.workbench.edit.open_memory import FileState, OpenFile, state_of, title_note

A, B = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("file", "state"),
    [
        (OpenFile(base=A, disk=A, dirty=False), FileState.CLEAN),
        (OpenFile(base=None, disk=None, dirty=False), FileState.CLEAN),
        (OpenFile(base=A, disk=A, dirty=True), FileState.DRAFT),
        (OpenFile(base=None, disk=None, dirty=True), FileState.DRAFT),
        (OpenFile(base=A, disk=B, dirty=False), FileState.FOLLOW),
        (OpenFile(base=B, disk=B, dirty=False, unseen=True), FileState.FOLLOW),
        (OpenFile(base=A, disk=B, dirty=True, overlaps=0), FileState.MERGEABLE),
        (OpenFile(base=A, disk=B, dirty=True, overlaps=2), FileState.CONFLICT),
        (OpenFile(base=A, disk=B, dirty=True, overlaps=None), FileState.CONFLICT),
        (OpenFile(base=None, disk=B, dirty=True), FileState.CONFLICT),
        (OpenFile(base=A, disk=None, dirty=True), FileState.GONE),
        (OpenFile(base=A, disk=None, dirty=False), FileState.GONE),
        (OpenFile(base=A, disk=None, dirty=True, moved=True), FileState.MOVED),
        (OpenFile(base=A, disk=None, dirty=False, moved=True), FileState.MOVED),
        (OpenFile(base=A, disk=A, dirty=False, editable=False), FileState.RAW),
        (OpenFile(base=A, disk=B, dirty=False, editable=False), FileState.RAW),
    ],
)
def test_every_row_of_the_table(file: OpenFile, state: FileState) -> None:
    assert state_of(file) is state


def test_the_title_says_the_counts_in_words() -> None:
    assert title_note(FileState.CONFLICT, hunks=2, overlaps=1, who="claude") == "! claude saved: 2 hunks, 1 overlap  f8"
    assert title_note(FileState.MERGEABLE, hunks=1, overlaps=0) == "~A saved outside memtui: 1 hunk, no overlap  f8"
    assert title_note(FileState.CONFLICT) == "! saved outside memtui: both sides changed  f8"


@pytest.mark.parametrize("state", [state for state in FileState if state is not FileState.CLEAN])
def test_every_state_but_clean_says_something_that_starts_with_its_sign(state: FileState) -> None:
    assert title_note(state, reason="mixed line ends").startswith(state.value)
