"""The small editor: what is typed gets the line ends of its place, and never runs into the line after it."""

import pytest

from memtui.workbench.edit.merge.decisions import shown_text, typed_text
from tests.workbench.edit.merge.test_decisions import session


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_get_the_ends_of_their_place(end: str) -> None:
    merged = session(f"a{end}=\n", f"b{end}=\n", f"c{end}=\n")
    assert shown_text(merged.start_text(0)) == "b\n"
    assert typed_text("x\ny", merged.chunks, 0) == f"x{end}y{end}"


def test_a_place_without_line_ends_takes_the_nearest() -> None:
    merged = session("=\r\na\r\n", "=\r\n", "=\r\nb\r\n")
    assert typed_text("x", merged.chunks, 1) == "x"
    merged = session("=\r\nlast", "=\r\nmine", "=\r\ntheirs")
    assert typed_text("x\ny", merged.chunks, 1) == "x\r\ny"


def test_the_last_line_may_be_without_an_end() -> None:
    merged = session("=\na", "=\nb", "=\nc")
    assert typed_text("x", merged.chunks, 1) == "x"
    merged.decide([1], "edited", typed_text("x", merged.chunks, 1))
    assert merged.result == "=\nx"


def test_nothing_typed_takes_the_lines_out() -> None:
    merged = session("a\n=\n", "b\n=\n", "c\n=\n")
    merged.decide([0], "edited", typed_text("", merged.chunks, 0))
    assert merged.result == "=\n"
