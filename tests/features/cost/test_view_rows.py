"""Rows of the start cost: exact widths, shares in signs, marks in words."""

import pytest

from memtui.agents.agent import APPROVAL, CUT_OFF, MATCHING
from memtui.agents.loaded_text import CUT as CUT_GAP
from memtui.agents.loaded_text import Gap
from memtui.agents.session_start import LoadedFile
from memtui.config.surroundings import Surroundings
from memtui.features.cost.start_cost import Cost, CountedFile
from memtui.features.cost.view_rows import (
    ALL,
    CUT,
    ITEM,
    agent_rows,
    item_rows,
    percent,
    row_runs,
    summary_lines,
)
from memtui.safe_text import cell_width

AROUND = Surroundings("/home/ann", "/p", "/p", "/p", "w", "/d")
ITEMS = (
    CountedFile(LoadedFile("instructions", "/p/" + "deep/" * 20 + "\x1b[2J[red]CLAUDE.md", size=9), 9, 3),
    CountedFile(LoadedFile("import", "/etc/x.md", APPROVAL, "Out.", depth=3), 0, 0),
    CountedFile(LoadedFile("rule", "/home/ann/r.md", MATCHING, "paths: x"), 0, 0),
    CountedFile(LoadedFile("index", "/p/MEMORY.md", CUT_OFF, "Limits.", 99, b"x" * 9, (Gap(9, 99, CUT_GAP),)), 9, 97),
    CountedFile(LoadedFile("memory", "/p/over.md", why="Over.", size=9), 9, 0),
)
COST = Cost("x", "An agent\x1b", "/p", ITEMS, "estimate", "Estimated.")


def test_a_cut_file_has_a_line_below_it_and_loaded_ones_a_number() -> None:
    rows = item_rows(COST)
    assert [row.kind for row in rows] == [ALL, ITEM, ITEM, ITEM, ITEM, CUT, ITEM]
    assert [row.number for row in rows] == [0, 1, 0, 0, 2, 0, 3]
    assert len({row.key for row in rows}) == len(rows)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("width", [10, 20, 40, 55, 80, 120])
def test_rows_fit_and_are_safe(width: int, *, plain: bool) -> None:
    for row in (*agent_rows((COST,)), *item_rows(COST)):
        runs = row_runs(row, 100, width, AROUND, plain=plain)
        text = "".join(piece for piece, _ in runs)
        assert cell_width(text) <= width
        assert "\x1b" not in text
        assert not plain or text.isascii()
    for line in summary_lines((COST,), COST, width, "c", plain=plain):
        assert cell_width("".join(piece for piece, _ in line)) <= width


def test_marks_are_words() -> None:
    def shown(number: int, width: int) -> str:
        return "".join(piece for piece, _ in row_runs(item_rows(COST)[number], 100, width, AROUND, plain=False))

    assert "needs approval" in shown(2, 60)
    assert "only when matching files are touched" in shown(3, 100)
    assert "matching files" in shown(3, 60)
    assert "~/r.md" in shown(3, 100)
    assert "cut" in shown(4, 60)
    assert "90 B of it are not loaded" in shown(5, 60)
    assert "! " in shown(6, 60)


def test_shares() -> None:
    assert [percent(*pair) for pair in ((0, 9), (1, 1_000), (1, 2), (1, 0))] == ["", "<1 %", "50 %", ""]
