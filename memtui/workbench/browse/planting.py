"""How roots become rows: the groups at the top, the roots below them, the folders on the way to a memory.

Apart from `rows.py` so that what stands above the memories can be read without how they are sorted and kept true.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from memtui.engine.model import Address, Draft, Memory, Root
from memtui.workbench.browse.groups import INSTRUCTIONS_KEY, Group, groups, root_words
from memtui.workbench.browse.nodes import FOLDER, MEMORY, OTHERS, ROOT, SCOPE, Node, Signs
from memtui.workbench.browse.others import Others

_ADDRESS = re.compile(r"(?<![^\s(])[^\s/()]+:[^\s/()]+/")
"""What may be a root before a path: of a memory that is named in a sentence."""


class Planting:
    """The part of a forest that makes rows."""

    def __init__(self) -> None:
        self.top = Node("top", (), "", None)
        self.nodes: dict[Address, Node] = {}
        self.names: Mapping[str, str] = {}
        """Scope to the name of the one the user stands in, such as the project's."""
        self.homes: dict[str, Node] = {}
        self.others = Others()
        self.by_agent = False
        """Whether the groups at the top are agents instead of scopes."""
        self.instructions = True
        """Whether the files people write for agents are shown."""
        self._roots: dict[str, Root] = {}
        self._drafts: dict[Address, Draft] = {}
        self._projects: dict[str, int] = {}

    def _plant(self) -> None:
        """Make the nodes of groups and roots."""
        self.top = Node("top", (), "", None)
        self.homes = {}
        for group in groups(self._roots.values(), self.others.roots.values(), by_agent=self.by_agent):
            self._plant_group(group)

    def _plant_group(self, group: Group) -> None:
        single = len(group.roots) == 1 and not group.others
        kind = OTHERS if group.others else SCOPE
        node = Node(kind, group.key, group.name, self.top, root=group.roots[0].id if single else "")
        self.top.children[group.name] = node
        if single:
            self.homes[group.roots[0].id] = node
            return
        for root in group.roots:
            child = Node(ROOT, (ROOT, root.id), self._root_name(root, group), node, root=root.id)
            node.children[root.id] = child
            self.homes[root.id] = child
        if group.others:
            self._projects[group.key[1]] = len({child.name for child in node.children.values()})

    def _root_name(self, root: Root, group: Group) -> str:
        other = self.others.get(root.id) if group.others else None
        if other is not None:
            return other.place
        return root_words(root, self.names, group.says)

    def _folder(self, node: Node, path: str) -> Node:
        """Find or make the folder of a path that ends in `/`, or is empty."""
        start = 0
        while (slash := path.find("/", start)) >= 0:
            name = path[start:slash]
            child = node.children.get(name + "/")
            if child is None:
                child = Node(FOLDER, (FOLDER, node.root, path[:slash]), name, node, root=node.root)
                node.children[name + "/"] = child
                node.forget_order()
            node, start = child, slash + 1
        return node

    def _hang(self, folder: Node, name: str, memory: Memory) -> Node:
        """Add a memory to its folder, without counting it above."""
        leaf = Node(MEMORY, (), name, folder, root=folder.root)
        leaf.memory = memory
        leaf.files, leaf.bytes = 1, memory.bytes
        if memory.pinned or memory.unseen or self._drafts:
            leaf.signs = self._signs(memory)
        folder.children[name] = self.nodes[memory.address] = leaf
        return leaf

    def _signs(self, memory: Memory) -> Signs:
        draft = self._drafts.get(memory.address)
        conflict = draft is not None and draft.base_sha256 != memory.sha256
        return Signs(int(memory.pinned), int(memory.unseen), int(conflict), int(draft is not None))

    def put_away(self, node: Node) -> bool:
        """Whether a row at the top is not shown at all."""
        return not self.instructions and node.key == INSTRUCTIONS_KEY

    def shows(self, address: Address) -> bool:
        """Whether a memory of this root would have a row: not one of a project nobody wants to see now."""
        return not self.others.hides(address.root)

    # Words

    def root(self, root_id: str) -> Root | None:
        """Return a root by its id."""
        found = self._roots.get(root_id)
        if found is None and (other := self.others.get(root_id)) is not None:
            return other.root
        return found

    @property
    def roots(self) -> Mapping[str, Root]:
        """Every root by its id, whose memories can be shown; of other projects those that were read."""
        if not self.others.read:
            return self._roots
        known = self.others.roots
        return {**self._roots, **{root_id: known[root_id] for root_id in known if root_id in self.others.read}}

    def label(self, node: Node) -> str:
        """Return the words of a group's or root's row."""
        if node.kind == OTHERS:
            return node.name.upper()
        if node.kind != SCOPE:
            return node.name
        root = self._roots.get(node.root)
        words = [node.name.upper(), self.names.get(node.name, "")]
        if root is not None and node.key != (SCOPE, root.scope):
            words.append(root_words(root, self.names, "" if node.key == INSTRUCTIONS_KEY else "agent"))
        elif root is not None and root.agent != "memtui":
            words.append(root.label)
        return " ".join(word for word in words if word)

    def shown(self, address: Address) -> str:
        """Name a memory for the eye: by the short name of its root, or the short path of another project."""
        return f"{self._short(address.root) or f'{address.root}/'}{address.path}"

    def named(self, text: str) -> str:
        """Name memories for the eye, as `shown` does, wherever their addresses stand in a text."""
        return _ADDRESS.sub(lambda found: self._short(found[0][:-1]) or found[0], text)

    def _short(self, root_id: str) -> str:
        """What stands before a memory's path in place of its root; empty for what is no root, or stays as it is."""
        root, other = self._roots.get(root_id), self.others.get(root_id)
        if other is not None:
            return f"{other.place}: "
        return f"{min((root.id, *root.aliases), key=len)}/" if root is not None else ""

    def projects_in(self, node: Node) -> int:
        """How many projects a row of other projects holds."""
        return self._projects.get(node.key[1], 0) if node.kind == OTHERS else 0
