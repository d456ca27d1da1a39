"""What the rows of the tree are made of: a row with its badges and sums, folds, losses; its top rows, and their names.

The user's project comes first. Other projects lie below one row in each group, so that thousands take one line; a root
of one has a row as soon as it is found, and its memories are read when it is opened. To change the letter of a badge,
change it here and in `SIGNS` of `workbench/actions.py`, which help shows; a test holds them equal. Letters of health
findings are in `browse/health.py` and `features/health/view_rows.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from memtui.agents.layout import EMPTIED, ORPHANED, short_path
from memtui.engine.model import SCOPES, Address, Draft, Listing, Memory, Problem, Root
from memtui.ui.draw.text import Run


class Signs(NamedTuple):
    """The marks of a memory, or how many memories below a row have each."""

    pinned: int = 0
    unseen: int = 0
    conflict: int = 0
    draft: int = 0
    withheld: int = 0
    """From agents, by a person."""


NO_SIGNS = Signs()


class Badge(NamedTuple):
    """How a mark is shown."""

    sign: str
    style: str
    means: str


PINNED_BADGE = Badge("P", "pin", "pinned")
UNSEEN_BADGE = Badge("A", "agent", "changed by others")
CONFLICT_BADGE = Badge("!", "conflict", "conflict")
DRAFT_BADGE = Badge("~", "draft", "draft")
WITHHELD_BADGE = Badge("W", "warning", "withheld from agents")
BADGES = (PINNED_BADGE, UNSEEN_BADGE, CONFLICT_BADGE, DRAFT_BADGE, WITHHELD_BADGE)
"""One for each field of `Signs`."""
SUMMED = (UNSEEN_BADGE, CONFLICT_BADGE, DRAFT_BADGE)
"""Badges counted on folders: those that ask for something."""


def badges_of(signs: Signs) -> list[Badge]:
    """Return the badges of one memory."""
    return [badge for badge, on in zip(BADGES, signs, strict=True) if on]


def sign_runs(signs: Signs, width: int, health: str = "", *, fault: bool = False) -> list[Run]:
    """Return the signs of one memory: `PA!~W`, the health sign, and `?` where something is wrong with it."""
    runs = [(badge.sign, badge.style) for badge in badges_of(signs)][: width - 1]
    for sign in (health, "?" if fault else ""):
        runs += [(sign, "warning")] if sign and len(runs) < width - 1 else []
    return [*runs, (" " * (width - len(runs)), "dim")]


def sum_runs(signs: Signs) -> list[Run]:
    """Return the sums of a folder: `A2 !1`."""
    counts = zip(BADGES, signs, strict=True)
    return [(f"{badge.sign}{count} ", badge.style) for badge, count in counts if count and badge in SUMMED]


SCOPE, OTHERS, ROOT, FOLDER, MEMORY = "scope", "others", "root", "folder", "memory"
"""Kinds of rows: a group, a group of other projects, a root, a folder in it, a memory."""

UNSEEN = "unseen"
"""The group of folders that look like memories and are no roots."""

Key = tuple[str, ...]
"""The identity of a row across reloads: its kind and names."""

SORTS = ("name", "uses", "age", "size", "edited")

OLD = "old"

OWN_ACTORS = frozenset({"tui", "cli"})


_NO_CHILDREN: dict[str, Node] = {}
"""Shared by all memories."""


class Node:
    """One row of the tree, with its children."""

    __slots__ = (
        "_key",
        "_order",
        "bytes",
        "children",
        "depth",
        "files",
        "kind",
        "memory",
        "name",
        "parent",
        "root",
        "signs",
    )

    def __init__(self, kind: str, key: Key, name: str, parent: Node | None, *, root: str = "") -> None:
        self.kind = kind
        self._key = key
        self.name = name
        self.parent = parent
        self.root = root
        """The root id; empty for scopes with several."""
        self.depth: int = -1 if parent is None else parent.depth + 1
        self.children: dict[str, Node] = {} if kind != MEMORY else _NO_CHILDREN
        self.memory: Memory | None = None
        self.files = 0
        self.bytes = 0
        self.signs = NO_SIGNS
        self._order: list[Node] | None = None

    @property
    def key(self) -> Key:
        """Its identity, computed for memories, of which there are many."""
        return self._key if self.memory is None else (MEMORY, *self.memory.address)

    def __repr__(self) -> str:
        return f"Node({'/'.join(self.key)})"

    def forget_order(self) -> None:
        self._order = None

    def ordered(self, value: Callable[[Node], tuple[float, str]], *, reverse: bool) -> list[Node]:
        """Return the children, folders first, each group sorted."""
        if self._order is None:
            self._order = sorted(self.children.values(), key=value, reverse=reverse)
            self._order.sort(key=lambda node: node.kind == MEMORY)
        return self._order

    def memories(self) -> Iterator[Node]:
        """Yield every memory at or below this node, in no particular order."""
        if self.kind == MEMORY:
            yield self
        for child in self.children.values():
            yield from child.memories()

    @property
    def folder(self) -> str:
        """The folder's path in its root, with a `/` at its end; empty for the root."""
        if self.kind == FOLDER:
            return self.key[-1] + "/"
        if self.kind == MEMORY:
            head, slash, _ = self.key[-1].rpartition("/")
            return head + slash
        return ""


def keys_above(node: Node | None) -> Iterator[Key]:
    """Yield the key of a row and of every row above it."""
    while node is not None and node.key:
        yield node.key
        node = node.parent


def sum_up(node: Node) -> None:
    """Recompute the sums of all rows below."""
    if node.kind == MEMORY:
        return
    files = size = 0
    signs = [0] * len(Signs._fields)
    for child in node.children.values():
        if child.children:
            sum_up(child)
        files += child.files
        size += child.bytes
        if child.signs is not NO_SIGNS:
            signs = [a + b for a, b in zip(signs, child.signs, strict=True)]
    node.files, node.bytes = files, size
    node.signs = Signs(*signs) if any(signs) else NO_SIGNS


def add_up(node: Node | None, signs: Signs, files: int, size: int) -> None:
    while node is not None:
        if any(signs):
            node.signs = Signs(*(a + b for a, b in zip(node.signs, signs, strict=True)))
        node.files += files
        node.bytes += size
        node = node.parent


def sort_value(sort: str, memory: Memory) -> float:
    if sort == "uses":
        return memory.heat
    if sort == "size":
        return memory.bytes
    if sort == "edited" and memory.actor in OWN_ACTORS and not memory.unseen:
        return 0
    return memory.modified_at


def draft_row(address: Address, roots: Mapping[str, Root], draft: Draft) -> Memory:
    """Return a row for a draft whose memory is not on disk."""
    root = roots.get(address.root)
    problem = Problem("draft-only", "not on disk; your draft is kept")
    scope, agent = (root.scope, root.agent) if root is not None else ("global", "files")
    return Memory(address, scope, agent, 0, draft.at, None, problems=(problem,), missing=True, actor="tui")


OPEN_UP_TO = 300
"""Up to this many memories, folders are open at the start."""

OPEN_ROOTS = 12
"""Up to this many roots, all roots of a scope are open at the start."""


class Folds:
    """Rows the user opened and closed."""

    def __init__(self) -> None:
        self._opened: set[Key] = set()
        self._closed: set[Key] = set()

    def remember(self, opened: Iterable[Key], closed: Iterable[Key]) -> None:
        """Load the folds of another run."""
        self._closed = set(closed)
        self._opened = set(opened) - self._closed

    @property
    def chosen(self) -> tuple[frozenset[Key], frozenset[Key]]:
        return frozenset(self._opened), frozenset(self._closed)

    def is_closed(self, node: Node) -> bool:
        return node.key in self._closed

    def is_open(self, node: Node, memories: int) -> bool:
        """Whether a row is open, given the number of all memories."""
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


class TreeFilter:
    """Which memories are shown: those with these words that pass every quick filter."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.words: tuple[str, ...] = ()
        self.only: frozenset[str] = frozenset()
        """`unseen`, `pinned`, `conflicts`, `old`: all of them must hold."""
        self.is_old: Callable[[Memory], bool] = lambda _: True
        self.closed = Folds()
        """Rows closed since the filter was set, which opens everything."""

    @property
    def active(self) -> bool:
        return bool(self.words or self.only)

    def set_words(self, text: str) -> None:
        """Show only memories with all these words in address or description."""
        words = tuple(text.casefold().split())
        if words != self.words:
            self.words, self.closed = words, Folds()
            self._changed()

    def toggle(self, only: str, *, again: bool = False) -> None:
        """Switch a quick filter on or off; `again`: evaluate it anew."""
        self.only = self.only if again else self.only ^ {only}
        self.closed = Folds()
        self._changed()

    def clear(self) -> None:
        self.words, self.only = (), frozenset()
        self._changed()

    def passes(self, node: Node) -> bool:
        signs, memory = node.signs, node.memory
        counts = {"unseen": signs.unseen, "pinned": signs.pinned, "conflicts": signs.conflict}
        if not all(counts.get(only, True) for only in self.only):
            return False
        if memory is None:
            return True
        text = f"{memory.address}\n{memory.description}".casefold() if self.words else ""
        return (OLD not in self.only or self.is_old(memory)) and all(word in text for word in self.words)


class Losses:
    """Unseen deletions, and vanished roots."""

    def __init__(self) -> None:
        self.vanished: Mapping[str, int] = {}
        """Memories lost with each root whose folder is gone, by root id."""
        self.total = 0
        self._below: Counter[Key] = Counter()

    def set_deleted(self, addresses: Iterable[Address], homes: Mapping[str, Node]) -> frozenset[Key]:
        """Count deletions by others; return the rows whose count changed.

        `homes` maps root ids to rows; deletions of other roots are not counted.
        """
        before, self._below, self.total = self._below, Counter(), 0
        for address in addresses:
            home = homes.get(address.root)
            if home is None:
                continue
            self.total += 1
            self._below.update(keys_above(home))
            folders = address.path.split("/")[:-1]
            self._below.update((FOLDER, address.root, "/".join(folders[: n + 1])) for n in range(len(folders)))
        keys = before.keys() | self._below.keys()
        return frozenset(key for key in keys if before[key] != self._below[key])

    def below(self, node: Node) -> int:
        """Return the number of deletions by others below a row."""
        return self._below[node.key] if self._below else 0


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
