"""The tree as values: memories become scopes, roots, folders and rows; sorted, filtered, summed, updated in place.

Nothing here draws, so every rule is tested without a terminal, and a change on disk touches only the nodes it concerns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memtui.engine.model import Address, Draft, Memory, Root, RootStatus
from memtui.workbench.tree.nodes import (
    FOLDER,
    INSTRUCTIONS,
    INSTRUCTIONS_KEY,
    MEMORY,
    OTHERS,
    ROOT,
    SCOPE,
    Folds,
    Group,
    HostState,
    Key,
    Losses,
    Node,
    OtherProjects,
    RootNames,
    Signs,
    TreeFilter,
    add_up,
    draft_row,
    groups,
    keys_above,
    root_words,
    sort_value,
    sum_up,
)

BATCH_SIZE = 500
_DIGITS = re.compile(r"\d+")


class Effect(NamedTuple):
    """The effect of an update."""

    rebuilt: bool
    """Rows came, went or moved, so that the visible rows must be listed again."""
    touched: frozenset[Key]
    """Rows that look different now."""


BY_HAND = "files"
"""The agent of a root that the user named: it is shown even if empty."""
NOTHING = Effect(rebuilt=False, touched=frozenset())


class Forest:
    """All rows, and which of them are shown."""

    def __init__(self) -> None:
        self.top = Node("top", (), "", None)
        self.nodes: dict[Address, Node] = {}
        self.homes: dict[str, Node] = {}
        self.others = OtherProjects()
        self.names = RootNames(self.others)
        self.away: dict[str, HostState] = {}
        self.by_agent = False
        self.instructions = True
        self._roots: dict[str, Root] = {}
        self._drafts: dict[Address, Draft] = {}
        self._withheld: frozenset[Address] = frozenset()
        self._projects: dict[str, int] = {}
        self.sort = "name"
        self.reverse = False
        self.filter = TreeFilter(self._list_again)
        self.losses = Losses()
        self.statuses: dict[str, RootStatus] = {}
        self.index_signs: Mapping[Address, str] = {}
        """The health sign of a memory: `S`, `h`, `o`, `I` or `C`."""
        self.folds = Folds()
        self._shown: list[Node] | None = None
        self._away: frozenset[Key] = frozenset()
        """Groups and roots hidden when rows were last listed."""
        self._matched = 0

    def load(self, roots: Iterable[Root], memories: Iterable[Memory]) -> None:
        """Replace roots and rows; what is open, filtered, sorted and grouped stays."""
        self._roots = self.names.roots = {root.id: root for root in roots}
        self.nodes = {}
        self._plant()
        folders: dict[tuple[str, str], Node] = {}
        for memory in memories:
            root, path = memory.address
            head, slash, name = path.rpartition("/")
            home = folders.get((root, head))
            if home is None:
                if root not in self.homes:
                    continue
                home = folders[root, head] = self._folder(self.homes[root], head + slash)
            self._hang(home, name, memory)
        sum_up(self.top)
        self._add_ghosts()
        self._shown = None

    def update(self, rows: Iterable[Memory], gone: Iterable[Address] = ()) -> Effect:
        """Apply changed and removed rows; rows of unknown roots are ignored."""
        rebuilt = False
        touched: set[Key] = set()
        for memory in rows:
            node = self.nodes.get(memory.address)
            if node is None:
                rebuilt = self._insert(memory) or rebuilt
                node = self.nodes.get(memory.address)
            elif node.memory != memory:
                rebuilt = self._replace(node, memory) or rebuilt
            else:
                node.memory = memory  # the engine keeps this one; the equal one before it can go
                continue
            touched.update(keys_above(node))
        for address in gone:
            if address in self._drafts:
                rebuilt = self.update([draft_row(address, self._roots, self._drafts[address])]).rebuilt or rebuilt
            elif address in self.nodes:
                touched.update(keys_above(self.nodes[address]))
                self._remove(address)
                rebuilt = True
        if rebuilt:
            self._shown = None
        return Effect(rebuilt, frozenset(touched))

    def replace_all(
        self, roots: Iterable[Root], memories: Sequence[Memory], newer: Collection[Address] = ()
    ) -> Iterator[Effect]:
        """Apply a full list as updates, a part at a time; yield the effect of each.

        `newer` addresses are left as they are; it may grow meanwhile.
        """
        roots = (*roots, *(root for one in self.away.values() for root in one.roots))
        memories = (*memories, *(row for one in self.away.values() for row in one.rows))
        wanted = {root.id: root for root in roots if root.id not in self.others}
        if wanted != self._roots:
            self.load(wanted.values(), [one for one in memories if not self.others.hides(one.address.root)])
            yield Effect(rebuilt=True, touched=frozenset())
            return
        there: set[Address] = set()
        for start in range(0, len(memories), BATCH_SIZE):
            rows = [one for one in memories[start : start + BATCH_SIZE] if not self.others.hides(one.address.root)]
            there.update(memory.address for memory in rows)
            yield self.update([one for one in rows if one.address not in newer])
        gone = [address for address in self.nodes if address not in there]
        for start in range(0, len(gone), BATCH_SIZE):
            yield self.update((), [address for address in gone[start : start + BATCH_SIZE] if address not in newer])
        if self._uncovered():
            yield Effect(rebuilt=True, touched=frozenset())

    def set_drafts(self, drafts: Iterable[Draft]) -> Effect:
        before = self._drafts
        self._drafts = {draft.address: draft for draft in drafts}
        touched: set[Key] = set()
        rebuilt = False
        for address in before.keys() | self._drafts.keys():
            node = self.nodes.get(address)
            if node is not None and node.memory is not None:
                leftover = node.memory.missing and not node.memory.sha256 and address not in self._drafts
                if leftover and any(problem.code == "draft-only" for problem in node.memory.problems):
                    self._remove(address)
                    rebuilt = True
                    continue
                self._recount(node)
                touched.update(keys_above(node))
        rebuilt = self._add_ghosts() or rebuilt
        if rebuilt or self.filter.only:
            self._shown = None
        return Effect(rebuilt or bool(self.filter.only), frozenset(touched))

    def set_deleted(self, addresses: Iterable[Address], withheld: frozenset[Address] = frozenset()) -> Effect:
        """Set which memories others deleted, and which the user withholds from agents."""
        touched = self.losses.set_deleted(filter(self.shows, addresses), self.homes)
        changed, self._withheld = self._withheld ^ withheld, withheld
        nodes = [self.nodes[address] for address in changed if address in self.nodes]
        for node in nodes:
            self._recount(node)
        return Effect(self._uncovered(), touched.union(key for node in nodes for key in keys_above(node)))

    def _uncovered(self) -> bool:
        """Whether other roots are hidden than when rows were listed, although no memory of them came or went."""
        if self._shown is not None and self._away != self._put_away():
            self._shown = None
            return True
        return False

    def _put_away(self) -> frozenset[Key]:
        groups = self.top.children.values()
        rows = (row for group in groups for row in (group, *(group.children.values() if not group.root else ())))
        return frozenset(row.key for row in rows if row.kind in (SCOPE, ROOT) and self.put_away(row))

    def _add_ghosts(self) -> bool:
        """Add rows for drafts whose memory is gone, so that their text can be found."""
        missing = [draft for address, draft in self._drafts.items() if address not in self.nodes]
        added = [self._insert(draft_row(draft.address, self._roots, draft)) for draft in missing]
        return any(added)

    def _insert(self, memory: Memory) -> bool:
        home = self.homes.get(memory.address.root)
        if home is None:
            return False
        head, slash, name = memory.address.path.rpartition("/")
        folder = self._folder(home, head + slash)
        leaf = self._hang(folder, name, memory)
        add_up(folder, leaf.signs, 1, memory.bytes)
        self._forget_orders(folder)
        return True

    def _replace(self, node: Node, memory: Memory) -> bool:
        """Put a newer row into a node; return whether it may have to move or disappear."""
        old = node.memory
        node.memory = memory
        add_up(node, Signs(), 0, memory.bytes - node.bytes)
        self._recount(node)
        moved = self.sort != "name" and old is not None and sort_value(self.sort, old) != sort_value(self.sort, memory)
        if moved and node.parent is not None:
            self._forget_orders(node.parent)
        return moved or self.filter.active

    def _recount(self, node: Node) -> None:
        if node.memory is None:
            return
        new, old = self._signs(node.memory), node.signs
        if new != old:
            add_up(node, Signs(*(a - b for a, b in zip(new, old, strict=True))), 0, 0)

    def _remove(self, address: Address) -> None:
        node = self.nodes.pop(address)
        add_up(node, Signs(*(-sign for sign in node.signs)), -1, -node.bytes)
        folder, name = node.parent, node.name
        while folder is not None:
            folder.children.pop(name, None)
            self._forget_orders(folder)
            if folder.kind != FOLDER or folder.children:
                break
            name, folder = folder.name + "/", folder.parent

    def _forget_orders(self, node: Node | None) -> None:
        while node is not None:
            node.forget_order()
            node = node.parent if self.sort != "name" else None

    # Making rows

    def _plant(self) -> None:
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
        return root_words(root, self.names.scopes, group.says)

    def _folder(self, node: Node, path: str) -> Node:
        """Find or create the folder of a path that ends in `/`, or is empty."""
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
        if memory.pinned or memory.unseen or self._drafts or self._withheld:
            leaf.signs = self._signs(memory)
        folder.children[name] = self.nodes[memory.address] = leaf
        return leaf

    def _signs(self, memory: Memory) -> Signs:
        draft = self._drafts.get(memory.address)
        conflict = draft is not None and draft.base_sha256 != memory.sha256
        withheld = memory.address in self._withheld
        return Signs(int(memory.pinned), int(memory.unseen), int(conflict), int(draft is not None), int(withheld))

    def put_away(self, node: Node) -> bool:
        """Whether a group or root is hidden: nothing is in it, and nothing is wrong with it."""
        if not self.instructions and node.key == INSTRUCTIONS_KEY:
            return True
        if node.files or node.kind not in (SCOPE, ROOT) or node.root in self.others:
            return False
        if node.kind == SCOPE and not node.root:
            return all(map(self.put_away, node.children.values()))
        root, status = self._roots.get(node.root), self.statuses.get(node.root)
        wrong = node.root in self.losses.vanished or self.losses.below(node) or (status is not None and status.problems)
        return not wrong and root is not None and root.agent != BY_HAND and not root.host

    def shows(self, address: Address) -> bool:
        """Whether memories of this root have rows: not those of projects that are not wanted now."""
        return not self.others.hides(address.root)

    # Words

    def root(self, root_id: str) -> Root | None:
        found = self._roots.get(root_id)
        if found is None and (other := self.others.get(root_id)) is not None:
            return other.root
        return found

    @property
    def roots(self) -> Mapping[str, Root]:
        """The roots whose memories can be shown, by id; of other projects those that were read."""
        if not self.others.read:
            return self._roots
        known = self.others.roots
        return {**self._roots, **{root_id: known[root_id] for root_id in known if root_id in self.others.read}}

    def projects_in(self, node: Node) -> int:
        return self._projects.get(node.key[1], 0) if node.kind == OTHERS else 0

    # Looking

    def rows(self) -> list[Node]:
        """Return the visible rows, from top to bottom; the same list until something changes."""
        if self._shown is None:
            self._shown, self._away = [], self._put_away()
            self._matched = 0
            for node in self._sorted(self.top):
                if node.key not in self._away:
                    self._list(node, self._shown)
        return self._shown

    @property
    def matched(self) -> int:
        """The number of memories that pass the filter."""
        self.rows()
        return self._matched if self.filter.active else len(self.nodes)

    def _list(self, node: Node, shown: list[Node]) -> bool:
        """Add a node and what is open below it; return whether a memory in it passes the filter."""
        if node.kind == MEMORY:
            if self.filter.active:
                if not self.filter.passes(node):
                    return False
                self._matched += 1
            shown.append(node)
            return True
        if not self.filter.active:
            shown.append(node)
            if self.is_open(node):
                for child in self._sorted(node):
                    if child.kind != ROOT or child.key not in self._away:
                        self._list(child, shown)
            return True
        place = len(shown)
        shown.append(node)
        found = [self._list(child, shown) for child in self._sorted(node)]
        if not any(found):
            del shown[place:]
        elif not self.is_open(node):
            del shown[place + 1 :]
        return any(found)

    def _sorted(self, node: Node) -> list[Node]:
        if node is self.top:
            return list(node.children.values())
        if node.kind == SCOPE and not node.root:
            return list(node.children.values())
        return node.ordered(self._sort_key, reverse=self.reverse)

    def _sort_key(self, node: Node) -> tuple[float, str]:
        name = _DIGITS.sub(lambda digits: digits.group().zfill(12), node.name.casefold())
        if self.sort == "name":
            return (0, name)
        values = [sort_value(self.sort, leaf.memory) for leaf in node.memories() if leaf.memory is not None]
        total = max(values, default=0.0) if self.sort in ("age", "edited") else sum(values)
        return (-total, name)

    # Choosing what is shown

    def _list_again(self) -> None:
        self._shown = None

    def sort_by(self, sort: str) -> None:
        """Sort; sorting by the same again reverses."""
        self.reverse = not self.reverse if sort == self.sort else False
        self.sort = sort
        stack = [self.top]
        while stack:
            node = stack.pop()
            node.forget_order()
            stack.extend(node.children.values())
        self._shown = None

    def group_by_agent(self, *, by_agent: bool) -> None:
        self.by_agent = by_agent
        self._plant_again()

    def show_instructions(self, *, wanted: bool) -> None:
        self.instructions = wanted
        self._shown = None

    def learn_others(self, roots: Iterable[Root], home: str | None) -> None:
        """Add the roots of other projects; their memories that are here stay."""
        self.others.learn(roots, home)
        for root_id in self.others.roots.keys() & self._roots.keys():
            del self._roots[root_id]
        self._plant_again()

    def _plant_again(self) -> None:
        memories = [node.memory for node in self.nodes.values() if node.memory is not None]
        self.load(self._roots.values(), memories)

    def is_open(self, node: Node) -> bool:
        return (
            not self.filter.closed.is_closed(node) if self.filter.active else self.folds.is_open(node, len(self.nodes))
        )

    def set_open(self, node: Node, *, open: bool, below: bool = False, lasting: bool = False) -> None:  # noqa: A002
        """Open or close a row, or also all below it; while filtered only until the filter is cleared, or `lasting`."""
        self.filter.closed.set_open(node, wide=open, below=below)
        if lasting or not self.filter.active:
            self.folds.set_open(node, wide=open, below=below)
        self._shown = None

    def holds(self, node: Node) -> bool:
        """Whether a row, perhaps from before an update, still stands for something present."""
        if node.memory is not None:
            return node.memory.address in self.nodes
        if node.kind != FOLDER:
            return True
        lead = node.folder
        return any(address.root == node.root and address.path.startswith(lead) for address in self.nodes)

    def reveal(self, address: Address) -> Node | None:
        """Open every folder above a memory, and return its row."""
        node = self.nodes.get(address)
        above = node.parent if node is not None else None
        while above is not None and above is not self.top:
            if self.put_away(above):
                self.show_instructions(wanted=True)
            self.set_open(above, open=True, lasting=True)
            above = above.parent
        return node


def first_to_see(forest: Forest) -> int | None:
    """Return the index of the row where a first look belongs: what waits, else the project's first memory; None if
    empty."""
    best: tuple[bool, int, int, int] | None = None
    for index, node in enumerate(forest.rows()):
        leaf = node.memory
        if leaf is None and forest.is_open(node):
            continue
        ailing = leaf is not None and forest.index_signs.get(leaf.address) == "I"
        signs = node.signs
        asks = (signs.conflict, signs.draft, signs.unseen, ailing, leaf is not None)
        need, far = next((rank for rank, on in enumerate(asks) if on), None), _far(forest, node)
        if need is not None:
            waits = need < 2 or (need < 4 and far < 3)
            found = (not waits, far, need if waits else 4, index)
            best = min(best or found, found)
    return best[-1] if best is not None else None


def next_conflict(forest: Forest, at: int) -> Node | None:
    """Return the next memory in conflict: from row `at` on, then from the top; filtered ones last."""
    rows = forest.rows()
    order: list[int] = [*range(at, len(rows)), *range(min(at, len(rows)))]
    for index in order:
        ends = index + 1 == len(rows) or rows[index + 1].depth <= rows[index].depth  # a memory, or a closed folder
        if ends and rows[index].signs.conflict:
            return next(leaf for leaf in rows[index].memories() if leaf.signs.conflict)
    return next((leaf for leaf in forest.nodes.values() if leaf.signs.conflict), None)


def _far(forest: Forest, node: Node) -> int:
    """Rank a row by its distance from the user's work: 0 the project's own memories, 3 what no agent reads now."""
    root = forest.root(node.root)
    if root is None or root.id in forest.others or root.switched_off:
        return 3
    if root.kind == INSTRUCTIONS:
        return 2
    return int(root.scope != "project")
