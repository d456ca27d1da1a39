"""What a person writes for a memory, a version, a folder or a root, to what the engine knows.

One reading for all verbs, so that a text means the same memory wherever it is used.
"""

import os
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.model import Address, Memory
from memtui.errors import NotFoundError, UsageError

_HEX = frozenset("0123456789abcdef")


class NamedPlace(NamedTuple):
    """Part of what there is."""

    roots: tuple[str, ...] | None
    """Root ids; None: all of them."""
    path: str = ""
    """A memory's path, or a folder's; empty: everything in the roots."""

    def holds(self, row: Memory) -> bool:
        """Whether a memory of its roots lies in it."""
        return self.has(row.address.path)

    def has(self, path: str) -> bool:
        """Whether a path below its roots lies in it."""
        return not self.path or path == self.path or path.startswith(self.path + "/")


EVERYWHERE = NamedPlace(None)


def place(engine: Engine, text: str) -> NamedPlace:
    """Read a root id, a folder, or a memory.

    Args:
        engine: knows the roots.
        text: a root id or alias, `/memories/SCOPE`, an address whose path may be a folder, or a file-system path.

    Raises:
        NotFoundError: no root is meant.
        UsageError: it is none of these.
    """
    bare = text.rstrip("/")
    if bare == "/memories" or (text.startswith("/memories/") and bare.count("/") == 2):
        return NamedPlace(_native(engine, bare[len("/memories/") :]))
    for root in engine.roots.all():
        if bare == root.id or bare in root.aliases:
            return NamedPlace((root.id,))
    if "/" not in text and not text.startswith("."):
        engine.roots.find(text)
    real = os.path.realpath(bare or "/")
    for root in engine.roots.all():
        if text.startswith(("/", ".")) and real == os.path.realpath(root.path):
            return NamedPlace((root.id,))
    address = engine.roots.resolve(real if bare in (".", "..") else bare)
    return NamedPlace((address.root,), address.path)


def _native(engine: Engine, scope: str) -> tuple[str, ...]:
    """Find memtui's own roots of a scope, or of all of them when it is empty."""
    found = tuple(root.id for root in engine.roots.all() if root.agent == "memtui" and scope in ("", root.scope))
    if not found:
        raise NotFoundError(
            f"memtui has no {scope} scope here.", code="E_NO_ROOT", hint="`memtui roots` lists the roots."
        )
    return found


def shown(engine: Engine, address: Address) -> str:
    """Name a memory for a person, by the shortest name its root answers to here; scripts get the one for everywhere."""
    root = engine.roots.find(address.root)
    return f"{min((root.id, *root.aliases), key=len)}/{address.path}"


def version(text: str) -> tuple[str, str | None]:
    """Split `ADDRESS@SHA`.

    Returns:
        The address, and the version when the text ends in `@` and at least 6 hexadecimal digits.
    """
    address, at, sha = text.rpartition("@")
    lowered = sha.lower()
    if at and address and 6 <= len(lowered) <= 64 and _HEX.issuperset(lowered):
        return address, lowered
    return text, None


def whole_version(engine: Engine, address: Address, sha: str) -> str:
    """Return the whole sha for the beginning of one; what no version begins with stays."""
    if len(sha) == 64:
        return sha
    return next((each.sha256 for each in engine.history.of(address) if each.sha256.startswith(sha)), sha)


def target(engine: Engine, old: Address, text: str) -> Address:
    """Read where a memory goes; a text that ends in `/`, or names a root, keeps the memory's name.

    Raises:
        NotFoundError: no root is meant.
        UsageError: it is no address.
    """
    into = folder(engine, text)
    return engine.roots.resolve(text) if into is None else Address(into.root, f"{into.path}/{old.name}".lstrip("/"))


def folder(engine: Engine, text: str) -> Address | None:
    """Read a folder that memories go into: a text that ends in `/`, or names a root.

    Returns:
        The folder, with an empty path for a root; None when the text is a memory's own new name.

    Raises:
        NotFoundError: no root is meant.
        UsageError: it is no address.
    """
    if not (text.endswith("/") or any(text == root.id or text in root.aliases for root in engine.roots.all())):
        return None
    found = place(engine, text)
    if found.roots is None or len(found.roots) != 1:
        raise UsageError(f"{text!r} is more than one root.", hint="Name one, such as memtui:global/.")
    return Address(found.roots[0], found.path)
