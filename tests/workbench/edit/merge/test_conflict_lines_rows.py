"""Rows of a conflict are folded between words, and a break stands for the blank it is made at."""

import pytest

from memtui.workbench.edit.merge.conflict_lines import numbered

WORDS = "3. deploy production, wait for two sailings to close, then go on with the rest"


@pytest.mark.parametrize("width", range(40, 100))
def test_folded_rows_begin_in_one_column(width: int) -> None:
    rows = ["".join(text for text, _ in row) for row in numbered(("    ", "name"), 8, [(WORDS, "name")], width)]
    assert rows[0].startswith("       8  3. deploy")
    assert all(row[:10] == " " * 10 and row[10] != " " for row in rows[1:])
    assert " ".join(row[10:].strip() for row in rows) == WORDS
