"""What a memory is called where it goes: the target's own endings, and why a name cannot be used there.

A name that a person typed is never changed: then only what is wrong with it is said.
"""

import posixpath
from collections.abc import Iterable, Iterator
from unicodedata import category, normalize

from memtui.agents.table import title_of
from memtui.engine.disk import paths
from memtui.engine.model import Address, Root
from memtui.errors import MemtuiError

_ENDINGS = (".mdc", ".markdown", ".md", ".txt")
"""Endings of text that give way to the one an agent reads."""
_SLUG = 48
"""Characters."""


def fitted(path: str, root: Root) -> str:
    """Give a path the ending that the agent of a root reads."""
    suffix = root.policy.suffix
    if not suffix or path.lower().endswith(suffix):
        return path
    stem, ending = posixpath.splitext(path)
    return (stem if ending.lower() in _ENDINGS else path) + suffix


def slug_of(name: str) -> str:
    """Make a name fit for a path: letters and digits of any alphabet, and dashes between words."""
    plain = normalize("NFKC", name).casefold().replace("'", "").replace("’", "")
    words = "".join(sign if sign.isalnum() or category(sign)[0] == "M" else " " for sign in plain).split()
    slug = "-".join(words)
    if len(slug) > _SLUG:
        slug = slug[: _SLUG + 1].rpartition("-")[0] or slug[:_SLUG]
    return f"note-{slug}".rstrip("-") if not slug or paths.name_problem(slug) else slug


def refusal(address: Address, root: Root) -> str:
    """Say why memtui would not make a memory there; empty when it would."""
    policy = root.policy
    if root.read_only:
        return f"{root.id} is read-only"
    try:
        free = policy.include is not None or policy.any_name
        parts = paths.split(address.path) if free else paths.creatable(address.path)
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
    """Say why the agent would not see a memory there; empty when it would."""
    suffix = root.policy.suffix
    if suffix and not address.path.lower().endswith(suffix):
        return f"{title_of(root.agent)} reads only names that end in {suffix}"
    return ""


class TakenNames:
    """The names there are in a root, and which of them a file system that ignores case would confuse with a new one."""

    def __init__(self, known: Iterable[str]) -> None:
        """Know these paths."""
        self._by_fold: dict[tuple[str, str], list[str]] = {}
        for path in known:
            self.add(path)

    def add(self, path: str) -> None:
        """Know one more path, and the folders it is in."""
        for above, name in _steps(path):
            names = self._by_fold.setdefault((above, paths.fold(name)), [])
            if name not in names:
                names.append(name)

    def clash(self, path: str) -> str:
        """Return the path, or the folder, that a new path would be confused with; empty for none."""
        for above, name in _steps(path):
            names = self._by_fold.get((above, paths.fold(name)))
            if names is None:
                return ""  # it is new, and so is all below it
            if name not in names:
                return above + names[0]
        return ""


def _steps(path: str) -> Iterator[tuple[str, str]]:
    """Each part of a path with what is above it: `("", "a"), ("a/", "b.md")`."""
    above = ""
    for part in path.split("/"):
        yield above, part
        above += part + "/"


def below(source: Address, target: Address, rows: Iterable[Address], *, keep: bool) -> list[tuple[Address, Address]]:
    """Say where a memory, or each memory of a folder or a root, goes.

    Args:
        source: what goes; an empty path for a whole root.
        target: where to; an empty path for the root itself.
        rows: the memories there are.
        keep: it goes into the target, under its own name; else it takes the target's name.

    Returns:
        Old and new addresses.
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
