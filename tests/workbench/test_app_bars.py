"""Scroll bars in ASCII: any size and place draws blanks only."""

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segments

from memtui.workbench.app import PlainBars


@given(st.integers(1, 60), st.integers(1, 500), st.integers(1, 60), st.floats(0, 500), st.booleans())
def test_a_bar_is_blanks(size: int, more: int, window: int, position: float, vertical: bool) -> None:
    bar = PlainBars.render_bar(
        size=size, virtual_size=window + more, window_size=window, position=position, vertical=vertical
    )
    assert isinstance(bar, Segments)
    assert not "".join(segment.text for segment in bar.segments).strip()
