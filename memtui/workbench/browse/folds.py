"""Which rows are open: what the user opened or closed, else a default that depends on how much there is.

It survives every reload, because it is kept by what a row is and not by the row.
"""

from __future__ import annotations

from collections.abc import Iterable

from memtui.workbench.browse.nodes import MEMORY, OTHERS, ROOT, SCOPE, Key, Node

OPEN_UP_TO = 300
"""With so many memories or fewer, folders are open at the start."""

OPEN_ROOTS = 12
"""With so many roots in a scope or fewer, all of them are open at the start."""


class Folds:
    """What was opened and closed."""

    def __init__(self) -> None:
        self._opened: set[Key] = set()
        self._closed: set[Key] = set()

    def remember(self, opened: Iterable[Key], closed: Iterable[Key]) -> None:
        """Take what was opened and closed in another run."""
        self._closed = set(closed)
        self._opened = set(opened) - self._closed

    @property
    def chosen(self) -> tuple[frozenset[Key], frozenset[Key]]:
        """What was opened, and what was closed."""
        return frozenset(self._opened), frozenset(self._closed)

    def is_closed(self, node: Node) -> bool:
        """Whether the user closed a row."""
        return node.key in self._closed

    def is_open(self, node: Node, memories: int) -> bool:
        """Whether what is below a row is shown, with so many memories in all."""
        if node.key in self._opened or node.key in self._closed:
            return node.key in self._opened
        if node.kind == OTHERS or (node.parent is not None and node.parent.kind == OTHERS):
            return False
        if node.kind == ROOT and node.parent is not None:
            return len(node.parent.children) <= OPEN_ROOTS or node.files <= OPEN_ROOTS
        return node.kind == SCOPE or memories <= OPEN_UP_TO

    def set_open(self, node: Node, *, wide: bool, below: bool = False) -> None:
        """Open or close a row, or also everything below it."""
        stack = [node]
        while stack:
            one = stack.pop()
            if one.kind == MEMORY:
                continue
            (self._opened if wide else self._closed).add(one.key)
            (self._closed if wide else self._opened).discard(one.key)
            if below:
                stack.extend(one.children.values())
