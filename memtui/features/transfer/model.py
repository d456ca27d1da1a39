"""A transfer's plan as values: each memory with its front matter changes and its new name, each index, what stays.

Every front shows the very bytes that would be written, and nothing is dropped silently. A name that a person typed is
never changed, only refused.
"""

import posixpath
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from unicodedata import category, normalize

from memtui.agents.table import title_of
from memtui.engine.disk import handles, paths
from memtui.engine.model import Address, Root, Step, Write
from memtui.errors import MemtuiError
from memtui.pointers.references import OutdatedMemory

MAPPED, ADDED, KEPT, LOST, SAID = "mapped", "added", "kept", "left behind", "note"
"""Kinds of notes: a field moved or converted; filled in; not read by the target; removed; anything else."""


class Note(NamedTuple):
    """One remark on a memory."""

    kind: str
    text: str
    """A sentence without its full stop. May hold hostile text."""


class Translation(NamedTuple):
    """A memory in its new agent's format."""

    data: bytes
    notes: tuple[Note, ...] = ()


class Transfer(NamedTuple):
    """One memory to copy or move."""

    old: Address
    new: Address
    before: bytes = b""
    after: bytes = b""
    notes: tuple[Note, ...] = ()
    problem: str = ""
    """Why it stays. May hold hostile text."""
    is_index: bool = False
    """It stays because it is an index, whose lines go with the memories they name."""

    @property
    def changed(self) -> bool:
        """Whether its bytes change."""
        return self.before != self.after


class IndexChange(NamedTuple):
    """An index, or another memory, that is written as well."""

    address: Address
    before: bytes
    after: bytes
    expected_sha256: str | None
    """None: the file does not exist yet."""
    what: str
    """For people: `2 lines added`."""
    notes: tuple[str, ...] = ()


def steps_of(changes: Iterable[IndexChange]) -> tuple[Step, ...]:
    """Return the steps of changes for `Engine.together`; unchanged files have none."""
    return tuple(Write(one.address, one.after, one.expected_sha256) for one in changes if one.after != one.before)


class TransferPlan(NamedTuple):
    """A whole transfer, before it is done."""

    moving: bool
    items: tuple[Transfer, ...]
    indexes: tuple[IndexChange, ...] = ()
    steps: tuple[Step, ...] = ()
    left: tuple[OutdatedMemory, ...] = ()
    """Memories that still link to what moved."""
    carried: int = 0
    """Number of links at the source that are updated."""
    rest: str = ""
    """What is not updated, for people, in one or two sentences."""

    @property
    def going(self) -> tuple[Transfer, ...]:
        """The memories that can go."""
        return tuple(item for item in self.items if not item.problem)

    @property
    def staying(self) -> tuple[Transfer, ...]:
        """The memories that cannot."""
        return tuple(item for item in self.items if item.problem)

    @property
    def words(self) -> str:
        """A label: `move a.md to b.md`."""
        verb, going = "move" if self.moving else "copy", self.going
        if len(going) == 1:
            return f"{verb} {going[0].old} to {going[0].new}"
        roots = sorted({item.new.root for item in going})
        return f"{verb} {len(going):,} memories to {', '.join(roots)}"

    @property
    def also(self) -> str:
        """What else is written: `1 index line added, 2 links updated`; may be empty."""
        parts = [f"{change.what} in {change.address}" for change in self.indexes if change.what]
        if self.carried:
            parts.append(f"{self.carried:,} link{'s' * (self.carried != 1)} updated")
        mapped = sum(item.changed for item in self.going)
        if mapped:
            parts.insert(0, mapped_words(mapped, len(self.going)))
        return ", ".join(parts)


def mapped_words(count: int, whole: int) -> str:
    """Return the phrase for so many mapped memories of so many."""
    return f"front matter of {count:,} mapped" if whole > 1 else "front matter mapped"


_ENDINGS = (".mdc", ".markdown", ".md", ".txt")
"""Text endings that are replaced by the one an agent reads."""
_SLUG = 48


def fitted(path: str, root: Root) -> str:
    """Give a path the ending that the agent of a root reads."""
    suffix = root.policy.suffix
    if not suffix or path.lower().endswith(suffix):
        return path
    stem, ending = posixpath.splitext(path)
    return (stem if ending.lower() in _ENDINGS else path) + suffix


def slug_of(name: str) -> str:
    """Make a file name of words: letters and digits of any alphabet, with dashes between."""
    plain = normalize("NFKC", name).casefold().replace("'", "").replace("’", "")
    words = "".join(sign if sign.isalnum() or category(sign)[0] == "M" else " " for sign in plain).split()
    slug = "-".join(words)
    if len(slug) > _SLUG:
        slug = slug[: _SLUG + 1].rpartition("-")[0] or slug[:_SLUG]
    return f"note-{slug}".rstrip("-") if not slug or paths.name_problem(slug) else slug


def refusal(address: Address, root: Root) -> str:
    """Return why memtui would not create a memory there; empty when it would."""
    policy = root.policy
    if root.read_only:
        return f"{root.id} is read-only"
    try:
        free = policy.include is not None or policy.any_name
        parts = handles.split(address.path)
        if not free:
            paths.require_creatable(parts)
    except MemtuiError as error:
        return error.message.rstrip(".")
    if policy.include is not None and not _among(address.path, policy.include):
        return f"{root.id} holds only {', '.join(policy.include)}"
    if _among(address.path, policy.elsewhere):
        return "the place belongs to another root"
    if paths.matches(parts[-1], policy.ignore):
        return f"{title_of(root.agent)} keeps its own records under this name"
    return ""


def unseen(address: Address, root: Root) -> str:
    """Return why the agent would not see a memory there; empty when it would."""
    suffix = root.policy.suffix
    if suffix and not address.path.lower().endswith(suffix):
        return f"{title_of(root.agent)} reads only names that end in {suffix}"
    return ""


class TakenNames:
    """The names in a root, compared as a case-insensitive file system would."""

    def __init__(self, known: Iterable[str]) -> None:
        self._by_fold: dict[tuple[str, str], list[str]] = {}
        for path in known:
            self.add(path)

    def add(self, path: str) -> None:
        """Add a path and its folders."""
        for above, name in _steps(path):
            names = self._by_fold.setdefault((above, paths.fold(name)), [])
            if name not in names:
                names.append(name)

    def clash(self, path: str) -> str:
        """Return the path or folder that a new path would be confused with; empty for none."""
        for above, name in _steps(path):
            names = self._by_fold.get((above, paths.fold(name)))
            if names is None:
                return ""  # it is new, and so is all below it
            if name not in names:
                return above + names[0]
        return ""


def _steps(path: str) -> Iterator[tuple[str, str]]:
    """Yield each part of a path with what is above it: `("", "a"), ("a/", "b.md")`."""
    above = ""
    for part in path.split("/"):
        yield above, part
        above += part + "/"


def below(source: Address, target: Address, rows: Iterable[Address], *, keep: bool) -> list[tuple[Address, Address]]:
    """Return old and new addresses of a memory, or each memory (of `rows`) of a folder or root (empty path).

    With `keep` it goes into the target under its own name; otherwise it takes the target's name.
    """
    above = source.path.rpartition("/")[0] if keep else source.path
    found = []
    for old in rows:
        inside = not source.path or old.path == source.path or old.path.startswith(source.path + "/")
        if old.root == source.root and inside:
            rest = old.path[len(above) :].lstrip("/")
            found.append((old, Address(target.root, "/".join(part for part in (target.path, rest) if part))))
    return found


def _among(path: str, patterns: tuple[str, ...]) -> bool:
    return any(path == one or (one.endswith("/") and path.startswith(one)) for one in patterns)
