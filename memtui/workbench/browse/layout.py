"""Which panes there are at a size, and how wide: one pure function, so that no size is left to chance.

A table of style classes says the same in thirty rules that every start must parse.
"""

from __future__ import annotations

from typing import NamedTuple

SMALL_WIDTH, SMALL_HEIGHT = 60, 15
"""Below either, there is room for the tree only."""
TWO_PANES, THREE_PANES = 100, 160
"""From these widths on there is a pane for the text, and one more for info."""
TABS_HEIGHT = 22
"""From this height on the line of tabs is shown on the main screen too."""
ACTIVITY_HEIGHT = 32
"""From this height on the last operations are shown."""
LEAST_WIDTH, LEAST_HEIGHT = 20, 4
"""Below this nothing useful can be shown."""

ACTIVITY, INFO = 4, 48
"""Lines of the activity, title included; cells of the info pane."""

REST = -1
"""A pane that takes what is left."""


class Layout(NamedTuple):
    """What is shown."""

    left: int
    """Cells of the tree; `REST`; 0: not shown."""
    right: bool
    border: bool
    """A line between tree and text."""
    about: bool
    info: bool
    detail: bool
    activity: bool
    too_small: bool = False
    tabs: bool = False


def layout_for(width: int, height: int, *, over: bool = False, zoom: str = "", info: bool = True) -> Layout:
    """Decide what is shown.

    Args:
        width, height: the screen, in cells.
        over: the text was asked for where there is no room beside the tree.
        zoom: `left` or `right`: that pane has the screen; empty: none.
        info: the info pane is wanted where there is room.
    """
    too_small = width < LEAST_WIDTH or height < LEAST_HEIGHT
    tabs = width >= SMALL_WIDTH and height >= TABS_HEIGHT
    if width < TWO_PANES:
        detail = width >= SMALL_WIDTH and height >= SMALL_HEIGHT and not over
        about = height >= SMALL_HEIGHT
        return Layout(
            left=0 if over else REST,
            right=over,
            border=False,
            about=about,
            info=False,
            detail=detail,
            activity=False,
            too_small=too_small,
            tabs=tabs,
        )
    three = width >= THREE_PANES
    info = info and three and not zoom
    return Layout(
        left=0 if zoom == "right" else REST if zoom == "left" else 65 if three else 57,
        right=zoom != "left",
        border=not zoom,
        about=not info and height >= SMALL_HEIGHT,
        info=info,
        detail=False,
        activity=height >= ACTIVITY_HEIGHT and not zoom,
        too_small=too_small,
        tabs=tabs,
    )
