"""Scroll bars of the text fields in ASCII: the thumb is a block of colour, without the signs for parts of a cell."""

from __future__ import annotations

from typing import ClassVar

from textual.scrollbar import ScrollBarRender


class PlainBars(ScrollBarRender):
    """Draws a bar to the nearest cell."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8
