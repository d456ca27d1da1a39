"""The roots of projects the user does not stand in: what each is called, and which of them are shown with memories.

A root here has a row as soon as it is found; its memories are read when somebody opens it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtui.agents.layout import short_path
from memtui.agents.projects import EMPTIED, ORPHANED
from memtui.engine.model import Root
from memtui.workbench.browse.nodes import OTHERS, Node


class Other(NamedTuple):
    """One root of another project, in words."""

    root: Root
    place: str
    """The project's short path, or what is known instead of it: hostile."""
    what: str
    """Whose memories these are."""
    gone: bool
    """Whether the project's folder is gone."""


class Others:
    """What is known of other projects."""

    def __init__(self) -> None:
        self._known: dict[str, Other] = {}
        self.shown: set[str] = set()
        """Roots whose memories are wanted in the tree."""
        self.read: set[str] = set()
        """Roots whose memories have been read."""

    def learn(self, roots: Iterable[Root], home: str | None) -> None:
        """Take what discovery found; what is not found, or has neither project nor memory, is forgotten."""
        self._known = {root.id: describe(root, home) for root in roots if root.note != EMPTIED}
        self.shown &= self._known.keys()
        self.read &= self._known.keys()

    def __contains__(self, root_id: str) -> bool:
        """Whether a root is another project's."""
        return root_id in self._known

    def __len__(self) -> int:
        """How many there are."""
        return len(self._known)

    def get(self, root_id: str) -> Other | None:
        """One of them."""
        return self._known.get(root_id)

    @property
    def roots(self) -> Mapping[str, Root]:
        """All of them by id."""
        return {root_id: other.root for root_id, other in self._known.items()}

    @property
    def unread(self) -> tuple[str, ...]:
        """Those whose memories were never read here."""
        return tuple(root_id for root_id in self._known if root_id not in self.read)

    def counts(self, node: Node) -> bool:
        """Whether all memories at or below a row are in the tree, so that their number says something."""
        roots = {child.root for child in node.children.values()} if node.kind == OTHERS else {node.root}
        return all(root not in self._known or root in self.read & self.shown for root in roots)

    def hides(self, root_id: str) -> bool:
        """Whether the memories of a root are not to be shown now."""
        return root_id in self._known and root_id not in self.shown


def describe(root: Root, home: str | None) -> Other:
    """Say which project a root is about: its short path; else what its label adds to the agent's name; else its id."""
    what, _, rest = (root.label or root.id).partition(", ")
    place = short_path(root.project, home) if root.project else rest or root.id.rpartition(":")[2]
    return Other(root, place, what, root.note.startswith(ORPHANED))
