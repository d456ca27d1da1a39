"""The line of tabs: the views, which one is shown, and how much waits in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textual import events
from textual.message import Message

from memtui.safe_text import cell_width
from memtui.ui.action import View
from memtui.ui.draw.spans import Run
from memtui.ui.widgets.lines import Lines

Counts = Mapping[str, int]


SHORTEST = 2
"""Letters kept of a name where not even the short names fit."""
RESERVE = 8
"""Cells kept for counts, so that no tab moves or is renamed when a task begins: `(16)(37)`."""


def tab_runs(
    views: Sequence[View], current: str, counts: Counts, width: int
) -> tuple[list[Run], list[tuple[int, int, str]]]:
    """Draw the line of tabs; also return for each its first cell, the cell after its last, and its view id."""
    counted = sum(len(f"({counts[view.id]:,})") for view in views if counts.get(view.id))
    room = width - max(RESERVE - counted, 0)
    tried = [_tabs(views, current, counts, width, closeness) for closeness in range(4)]
    return next((found for found in tried if len(found[1]) == len(views) and found[1][-1][1] <= room), tried[-1])


def _tabs(
    views: Sequence[View], current: str, counts: Counts, width: int, closeness: int
) -> tuple[list[Run], list[tuple[int, int, str]]]:
    runs: list[Run] = []
    places: list[tuple[int, int, str]] = []
    at = 0
    for view in views:
        here = view.id == current
        waiting = f"({counts[view.id]:,})" if counts.get(view.id) else ""
        word = view.short or view.name.partition(" ")[0]
        text = f"{(view.name, view.name, word, word[:SHORTEST])[closeness]}{waiting}"
        lead, tail = ("[", "]") if here else (" ", "" if closeness else " ")
        size = cell_width(lead + view.key + " " + text + tail)
        if at + size > width:
            break
        style = "strong" if here else "agent" if waiting else "description"
        runs += [(lead, style), (f"{view.key} ", "strong" if here else "key"), (text, style), (tail, style)]
        places.append((at, at + size, view.id))
        at += size
    return runs, places


class Tabs(Lines):
    """The tabs, which can be clicked."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, view: str) -> None:
            super().__init__()
            self.view = view

    def __init__(self, views: Sequence[View], current: str, counts: Callable[[], Counts]) -> None:
        super().__init__(self._line, id="tabs")
        self._views = views
        self._current = current
        self._counts = counts
        self._places: list[tuple[int, int, str]] = []

    def _line(self, width: int) -> list[list[Run]]:
        runs, self._places = tab_runs(self._views, self._current, self._counts(), width)
        return [runs]

    def on_click(self, event: events.Click) -> None:
        for start, end, view in self._places:
            if start <= event.x < end:
                self.post_message(self.Chosen(view))
