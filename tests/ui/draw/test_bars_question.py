"""What is asked fits at every width: a long name gives way in the middle, the keys never."""

import pytest

from memtui.safe_text import cell_width
from memtui.ui.draw.bars import question
from memtui.ui.draw.text import Line

NAME = "claude-code:project:-home-me-work-tidewater/project_payments.md"
ASKED: Line = [
    (" Take back: ", "strong"),
    ("h", "key"),
    (" this hunk (1 of 2), ", "name"),
    ("c", "key"),
    (" all of ", "name"),
    (NAME, "strong"),
    ("; any other key cancels", "dim"),
]


def text(line: Line) -> str:
    return "".join(words for words, _ in line)


@pytest.mark.parametrize("width", range(64, 160))
def test_the_keys_stay_and_the_name_keeps_both_ends(width: int) -> None:
    shown = text(question(ASKED, width))
    assert cell_width(shown) <= width
    assert shown.startswith(" Take back: h this hunk (1 of 2), c all of cla")
    assert ".md" in shown
    assert shown.endswith("; any other key cancels") == (width >= 82)


def test_what_fits_and_what_has_no_long_name_stays_as_it_is() -> None:
    assert question(ASKED, 400) == ASKED
    keys: Line = [("a", "key"), (" accept  ", "dim")] * 20
    assert question(keys, 40) == keys
    assert question([], 40) == []
