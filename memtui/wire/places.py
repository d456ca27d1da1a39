"""Parsing of addresses, versions, folders and roots given on the command line."""

import os
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.model import Address
from memtui.errors import NotFoundError, UsageError

_HEX = frozenset("0123456789abcdef")


class MemorySelection(NamedTuple):
    """A selection of memories."""

    roots: tuple[str, ...] | None
    """Root ids; None: all roots."""
    path: str = ""
    """Path of a memory or a folder; empty: everything in the roots."""

    def holds(self, path: str) -> bool:
        """Return whether it contains a path of its roots."""
        return not self.path or path == self.path or path.startswith(self.path + "/")


EVERYWHERE = MemorySelection(None)


def place(engine: Engine, text: str) -> MemorySelection:
    """Parse a root id or alias, `/memories/SCOPE`, the address of a memory or folder, or a file-system path.

    Raises NotFoundError: no such root. UsageError: the text is none of these.
    """
    bare = text.rstrip("/")
    if bare == "/memories" or (text.startswith("/memories/") and bare.count("/") == 2):
        return MemorySelection(_native(engine, bare[len("/memories/") :]))
    for root in engine.roots.all():
        if bare == root.id or bare in root.aliases:
            return MemorySelection((root.id,))
    if "/" not in text and not text.startswith("."):
        engine.roots.find(text)
    real = os.path.realpath(bare or "/")
    for root in engine.roots.all():
        if text.startswith(("/", ".")) and real == os.path.realpath(root.path):
            return MemorySelection((root.id,))
    address = engine.roots.resolve(real if bare in (".", "..") else bare)
    return MemorySelection((address.root,), address.path)


def _native(engine: Engine, scope: str) -> tuple[str, ...]:
    """Return the ids of memtui's own roots of a scope; of all scopes when it is empty."""
    found = tuple(root.id for root in engine.roots.all() if root.agent == "memtui" and scope in ("", root.scope))
    if not found:
        raise NotFoundError(
            f"memtui has no {scope} scope here.", code="E_NO_ROOT", hint="`memtui roots` lists the roots."
        )
    return found


def shown(engine: Engine, address: Address) -> str:
    """Write an address with the shortest name of its root, for people."""
    root = engine.roots.find(address.root)
    return f"{min((root.id, *root.aliases), key=len)}/{address.path}"


def version(text: str) -> tuple[str, str | None]:
    """Split `ADDRESS@SHA` (at least 6 hexadecimal digits); the version is None where there is none."""
    address, at, sha = text.rpartition("@")
    lowered = sha.lower()
    if at and address and 6 <= len(lowered) <= 64 and _HEX.issuperset(lowered):
        return address, lowered
    return text, None


def whole_version(engine: Engine, address: Address, sha: str) -> str:
    """Complete an abbreviated sha; an unknown one stays as it is."""
    if len(sha) == 64:
        return sha
    return next((each.sha256 for each in engine.history.of(address) if each.sha256.startswith(sha)), sha)


def target(engine: Engine, old: Address, text: str) -> Address:
    """Parse the destination of a memory; a text that ends in `/`, or names a root, keeps the memory's name.

    Raises NotFoundError: no such root. UsageError: it is no address.
    """
    into = folder(engine, text)
    return engine.roots.resolve(text) if into is None else Address(into.root, f"{into.path}/{old.name}".lstrip("/"))


def folder(engine: Engine, text: str) -> Address | None:
    """Parse a destination folder: a text that ends in `/`, or names a root; None for the new name of a memory.

    The path of a root is empty. Raises as `target`.
    """
    if not (text.endswith("/") or any(text == root.id or text in root.aliases for root in engine.roots.all())):
        return None
    found = place(engine, text)
    if found.roots is None or len(found.roots) != 1:
        raise UsageError(f"{text!r} is more than one root.", hint="Name one, such as memtui:global/.")
    return Address(found.roots[0], found.path)
