"""The top rows of the tree, and the roots below each: grouped by scope or by agent.

The user's project comes first. Other projects lie below one row in each group, so that thousands take one line;
instruction files are a group that can be hidden. A root of another project has a row as soon as it is found; its
memories are read when it is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from memtui.agents.layout import EMPTIED, ORPHANED, short_path
from memtui.engine.model import SCOPES, Address, Listing, Memory, Root
from memtui.workbench.tree.nodes import FOLDER, OTHERS, SCOPE, UNSEEN, Key, Node

INSTRUCTIONS = "instructions"
"""The kind of a root that people write, and the name of its group."""
_NOBODY = "files"
"""The agent of a root that is neither ours, nor an agent's, nor given by hand: it only looks like memories."""
_ADDRESS = re.compile(r"(?<![^\s(])[^\s/()]+:[^\s/()]+/")
"""What may be a root before a path, in a sentence that names a memory."""
INSTRUCTIONS_KEY: Key = (SCOPE, INSTRUCTIONS)


class Group(NamedTuple):
    """One row at the top."""

    key: Key
    name: str
    """The scope, the agent, or what kind of other projects."""
    roots: tuple[Root, ...]
    others: bool = False
    says: str = "scope"
    """What the top row already says of its roots: their `scope`, their `agent`, or nothing."""


def groups(roots: Iterable[Root], others: Iterable[Root], *, by_agent: bool) -> list[Group]:
    """Sort the user's roots and those of other projects into groups, in display order; none is empty."""
    own, all_others = tuple(roots), tuple(others)
    unseen = tuple(root for root in all_others if root.agent == _NOBODY)
    more = tuple(root for root in all_others if root.agent != _NOBODY)
    written = tuple(root for root in own if root.kind == INSTRUCTIONS)
    memories = tuple(root for root in own if root.kind != INSTRUCTIONS)
    found: list[Group] = []
    if by_agent:
        for agent, here, there in _split(memories, more, lambda root: root.agent, ()):
            words = agent.replace("-", " ")
            if here:
                found.append(Group((SCOPE, f"agent:{agent}"), words, here, says="agent"))
            if there:
                found.append(Group((OTHERS, f"agent:{agent}"), f"{words}, other projects", there, others=True))
    else:
        for scope, here, there in _split(memories, more, lambda root: root.scope, SCOPES):
            if here:
                found.append(Group((SCOPE, scope), scope, here))
            if there:
                found.append(Group((OTHERS, scope), f"other {scope}s", there, others=True))
    if written:
        found.append(Group(INSTRUCTIONS_KEY, INSTRUCTIONS, written, says=""))
    if unseen:
        found.append(Group((OTHERS, UNSEEN), "looks like memories, in no root", unseen, others=True))
    return found


def roots_to_show(roots: tuple[Root, ...], listing: Listing | None, vanished: Collection[str]) -> tuple[Root, ...]:
    """Keep roots that hold something or need something, that are ours, or that were given by hand."""
    if listing is None or not listing.roots:
        return tuple(root for root in roots if root.agent == "memtui") or roots
    there = {status.root.id for status in listing.roots if status.files or status.problems}
    there |= {memory.address.root for memory in listing.items} | set(vanished)
    here = {root.id for root in roots}
    known = tuple(status.root for status in listing.roots if status.root.id in here)
    return tuple(root for root in known if root.id in there or root.agent in ("memtui", "files"))


def _split(
    own: Iterable[Root], more: Iterable[Root], value: Callable[[Root], str], first: Iterable[str]
) -> list[tuple[str, tuple[Root, ...], tuple[Root, ...]]]:
    """Split both by a value; the values in the given order, then as they come."""
    here: dict[str, list[Root]] = {one: [] for one in first}
    there: dict[str, list[Root]] = {}
    for root in own:
        here.setdefault(value(root), []).append(root)
    for root in more:
        there.setdefault(value(root), []).append(root)
    return [(one, tuple(here.get(one, ())), tuple(there.get(one, ()))) for one in dict.fromkeys((*here, *there))]


def root_words(root: Root, names: Mapping[str, str], says: str) -> str:
    """Name a root by what is not said above it: `project api  Claude Code memory`, `project api  memory`."""
    label = root.label or root.id
    if says == "scope":
        return label
    where = " ".join(word for word in (root.scope, names.get(root.scope, "")) if word)
    agent = root.agent.replace("-", " ")
    if says == "agent" and label.casefold().startswith(agent):
        label = label[len(agent) :].lstrip(" ,")
    return f"{where}  {label}".rstrip()


class HostState(NamedTuple):
    """The state of another machine."""

    roots: tuple[Root, ...]
    rows: tuple[Memory, ...]
    words: str = ""
    """Shown in its rows instead of a count: that it is being read, or why it does not answer."""


class OtherRoot(NamedTuple):
    """One root of another project, for display."""

    root: Root
    place: str
    """The project's short path, or what is known instead: untrusted text."""
    what: str
    gone: bool


class OtherProjects:
    """The known roots of other projects."""

    def __init__(self) -> None:
        self._known: dict[str, OtherRoot] = {}
        self.shown: set[str] = set()
        """Roots whose memories are wanted in the tree."""
        self.read: set[str] = set()
        """Roots whose memories have been read."""

    def learn(self, roots: Iterable[Root], home: str | None) -> None:
        """Replace them with what discovery found, except those with neither project nor memory."""
        self._known = {root.id: describe(root, home) for root in roots if root.note != EMPTIED}
        self.shown &= self._known.keys()
        self.read &= self._known.keys()

    def __contains__(self, root_id: str) -> bool:
        return root_id in self._known

    def __len__(self) -> int:
        return len(self._known)

    def get(self, root_id: str) -> OtherRoot | None:
        return self._known.get(root_id)

    @property
    def roots(self) -> Mapping[str, Root]:
        return {root_id: other.root for root_id, other in self._known.items()}

    @property
    def unread(self) -> tuple[str, ...]:
        return tuple(root_id for root_id in self._known if root_id not in self.read)

    def counts(self, node: Node) -> bool:
        """Whether all memories at or below a row are in the tree, so that their number is meaningful."""
        roots = {child.root for child in node.children.values()} if node.kind == OTHERS else {node.root}
        return all(root not in self._known or root in self.read & self.shown for root in roots)

    def hides(self, root_id: str) -> bool:
        """Whether the memories of a root are not to be shown now."""
        return root_id in self._known and root_id not in self.shown


def describe(root: Root, home: str | None) -> OtherRoot:
    """Describe a root of another project: by its short path, else the rest of its label, else its id."""
    what, _, rest = (root.label or root.id).partition(", ")
    place = short_path(root.project, home) if root.project else rest or root.id.rpartition(":")[2]
    return OtherRoot(root, place, what, root.note.startswith(ORPHANED))


class RootNames:
    """Display names of the tree's groups, roots and folders, and of addresses."""

    def __init__(self, others: OtherProjects) -> None:
        self._others = others
        self.roots: Mapping[str, Root] = {}
        """The roots of where the user stands, by id."""
        self.scopes: Mapping[str, str] = {}
        """Display name of each scope the user stands in, such as the project's."""
        self.folders: Mapping[tuple[str, ...], str] = {}
        """Display names of folders, by root and path."""

    def label(self, node: Node) -> str:
        """Return the words of a group's or root's row."""
        if node.kind == OTHERS:
            return node.name.upper()
        if node.kind != SCOPE:
            return self.folders.get(node.key[1:], node.name) if node.kind == FOLDER else node.name
        root = self.roots.get(node.root)
        words = [node.name.upper(), self.scopes.get(node.name, "")]
        if root is not None and node.key != (SCOPE, root.scope):
            words.append(root_words(root, self.scopes, "" if node.key == INSTRUCTIONS_KEY else "agent"))
        elif root is not None and (root.agent != "memtui" or root.scope == "channel"):
            words.append(root.label.removeprefix("memtui, "))
        return " ".join(word for word in words if word)

    def shown(self, address: Address) -> str:
        """Format an address for people: with the short name of its root, or the short path of another project."""
        return f"{self._short(address.root) or f'{address.root}/'}{address.path}"

    def named(self, text: str) -> str:
        """Format the addresses in a text as `shown` does."""
        return _ADDRESS.sub(lambda found: self._short(found[0][:-1]) or found[0], text)

    def _short(self, root_id: str) -> str:
        """Return what replaces the root before a path; empty for what is no root, or stays as it is."""
        root, other = self.roots.get(root_id), self._others.get(root_id)
        if other is not None:
            return f"{other.place}: "
        return f"{min((root.id, *root.aliases), key=len)}/" if root is not None else ""
