"""What is said beside the tree about a row that is no memory: a folder, a root, a scope, the other projects.

It is apart from the text of memories because nothing is read for it: all of it is known already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.ui.draw.pages import Page, PageLine, fields_page
from memtui.ui.draw.spans import Line
from memtui.ui.draw.words import count_words
from memtui.workbench.browse import summaries
from memtui.workbench.browse.nodes import FOLDER, OTHERS, SCOPE, Node

if TYPE_CHECKING:
    from memtui.workbench.browse.browser import BrowserScreen


class GroupWords:
    """The words and pages of rows that hold memories."""

    def __init__(self, screen: BrowserScreen) -> None:
        self._screen = screen

    def page(self, node: Node, width: int) -> Page:
        """Draw what is known about a folder, root or scope."""
        lines = self.lines(node, width)
        page = tuple(PageLine(tuple(line)) for line in (lines[2:] if self._screen.panes.layout.about else lines))
        if node.kind == SCOPE and not node.root:
            page += fields_page(self._scope_fields(node), width)
        return page

    def lines(self, node: Node, width: int) -> list[Line]:
        """What is said about a folder, root or scope."""
        forest = self._screen.forest
        deleted = forest.losses.below(node)
        files = node.files if node.files or forest.others.counts(node) else None
        return summaries.group_detail(files, node.bytes, node.signs, self._notes(node), width, deleted)

    def _scope_fields(self, node: Node) -> list[tuple[str, str]]:
        fields = [("", "")]
        for child in node.children.values():
            root = self._screen.forest.root(child.root)
            if root is not None:
                fields += [
                    (f" {root.label or root.id}", ""),
                    ("   id", root.id),
                    ("   folder", self._screen.side.short(root.path)),
                ]
        return fields

    def _notes(self, node: Node) -> list[str]:
        """What is said about a folder or root: where it is, who else writes there, what is wrong."""
        forest = self._screen.forest
        if node.kind == OTHERS:
            return [self._others_words(node)]
        root = forest.root(node.root) if node.root else None
        if root is None:
            return []
        below = f"/{node.key[-1]}" if node.kind == FOLDER else ""
        other = forest.others.get(root.id)
        more = ""
        if not forest.others.counts(node):
            more = "Its memories are not read; enter reads them."
        moved = "g p moves them to where the project is now." if other is not None and other.gone else ""
        notes = (self._screen.side.short(root.path + below), root.note, moved, more, self._screen.root_problem(root.id))
        return [note for note in notes if note]

    def _others_words(self, node: Node) -> str:
        """What a row of other projects is."""
        unread = sum(1 for child in node.children.values() if not self._screen.forest.others.counts(child))
        many = f"{count_words(len(node.children), 'folder')} of projects you do not stand in"
        if not unread:
            return f"{many}; all of them are read."
        return f"{many}, {unread:,} not read. Opening one reads it; A reads all of them."
