"""The state of an open memory, and its title line at every width."""

from typing import Any

import pytest

from memtui.safe_text import cell_width
from memtui.workbench.edit.open_memory import Comparison, FileState, state_of, title_note, title_runs


def drawn(width: int, who: str = "mcp:claude-code") -> str:
    note = title_note(FileState.GONE, who=who)
    runs = title_runs("memtui:project/deploy.md", note, FileState.GONE, width, focused=True)
    return "".join(text for text, _ in runs)


@pytest.mark.parametrize("width", range(40, 120))
def test_the_key_stays_at_every_width(width: int) -> None:
    line = drawn(width)
    assert "deploy" in line
    assert line.endswith("  f8")
    assert cell_width(line) <= width


def test_the_whole_is_said_where_there_is_room() -> None:
    assert drawn(100) == ">memtui:project/deploy.md  !d mcp:claude-code deleted, your text is kept  f8"


def test_a_long_writer_is_shortened() -> None:
    line = drawn(62, who="mcp:" + "x" * 80)
    assert line.endswith("…  f8")
    assert cell_width(line) <= 62


A, B = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({"base": A, "disk": A, "dirty": False}, FileState.CLEAN),
        ({"base": None, "disk": None, "dirty": False}, FileState.CLEAN),
        ({"base": A, "disk": A, "dirty": True}, FileState.DRAFT),
        ({"base": None, "disk": None, "dirty": True}, FileState.DRAFT),
        ({"base": A, "disk": B, "dirty": False}, FileState.FOLLOW),
        ({"base": B, "disk": B, "dirty": False, "unseen": True}, FileState.FOLLOW),
        ({"base": A, "disk": B, "dirty": True, "overlaps": 0}, FileState.MERGEABLE),
        ({"base": A, "disk": B, "dirty": True, "overlaps": 2}, FileState.CONFLICT),
        ({"base": A, "disk": B, "dirty": True, "overlaps": None}, FileState.CONFLICT),
        ({"base": None, "disk": B, "dirty": True}, FileState.CONFLICT),
        ({"base": A, "disk": None, "dirty": True}, FileState.GONE),
        ({"base": A, "disk": None, "dirty": False}, FileState.GONE),
        ({"base": A, "disk": None, "dirty": True, "moved": True}, FileState.MOVED),
        ({"base": A, "disk": None, "dirty": False, "moved": True}, FileState.MOVED),
        ({"base": A, "disk": A, "dirty": False, "editable": False}, FileState.RAW),
        ({"base": A, "disk": B, "dirty": False, "editable": False}, FileState.RAW),
    ],
)
def test_every_row_of_the_table(facts: dict[str, Any], state: FileState) -> None:
    assert state_of(**facts) is state


def test_the_title_says_the_counts_in_words() -> None:
    note = title_note(FileState.CONFLICT, Comparison(2, 1, {}), who="claude")
    assert note == "! claude saved: 2 hunks, 1 overlap  f8"
    assert title_note(FileState.MERGEABLE, Comparison(1, 0, {})) == "~A saved outside memtui: 1 hunk, no overlap  f8"
    assert title_note(FileState.CONFLICT) == "! saved outside memtui: both sides changed  f8"


@pytest.mark.parametrize("state", [state for state in FileState if state is not FileState.CLEAN])
def test_every_state_but_clean_says_something_that_starts_with_its_sign(state: FileState) -> None:
    assert title_note(state, reason="mixed line ends").startswith(state.value)
