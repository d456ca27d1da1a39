"""Collects memories for a bundle: bytes, pins, uses, and every version that history still has the text of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui import mask
from memtui.engine.model import Address, Memory, Version
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.bundles.bundle import Bundle, BundledMemory, BundledVersion, Origin
from memtui.features.transfer.plan import refused_for_secrets
from memtui.features.transfer.shape import LINKS

if TYPE_CHECKING:
    from memtui.engine import Engine


class Exported(NamedTuple):
    """Contents of an export."""

    bundle: Bundle
    left: tuple[tuple[Address, str], ...]

    @property
    def versions(self) -> int:
        """Number of versions in it."""
        return sum(len(memory.history) for memory in (*self.bundle.memories, *self.bundle.deleted))


def collect(
    reader: Engine, rows: Iterable[Memory], *, history: bool, deleted: Iterable[Address] = (), secrets: str = ""
) -> Exported:
    """Read memories for a bundle, and the deletions of others; raises `NotFoundError` when there is none.

    `secrets` is `keep`, `mask` (older versions with one stay out), `leave` such memories out, or empty: undecided,
    which raises `E_SECRET`.
    """
    packed: list[BundledMemory] = []
    left: list[tuple[Address, str]] = []
    secret: list[Address] = []
    for row in rows:
        try:
            row.address.path.encode()
            data = reader.read(row.address).bytes
        except UnicodeEncodeError:
            left.append((row.address, "Its name is not UTF-8."))
            continue
        except MemtuiError as error:
            left.append((row.address, error.message))
            continue
        past = _past(reader, row.address) if history else ()
        if secrets != "keep" and (_has_secret(data) or any(_has_secret(one.data) for one in past)):
            secret.append(row.address)
            if secrets != "mask":
                left += [(row.address, "It holds a secret.")] if secrets else []
                continue
            data, past = mask.shown_bytes(data), tuple(one for one in past if not _has_secret(one.data))
        packed.append(
            BundledMemory(
                _origin(reader, row.address),
                row.address.path,
                data,
                row.pinned,
                row.uses,
                row.last_used_at,
                row.last_written_at,
                past,
            )
        )
    gone, told = _deleted(reader, tuple(deleted), keep=secrets == "keep")
    secret += told
    if secret and not secrets:
        hint = "--secrets mask exports them without their secrets, --secrets keep as they are."
        raise refused_for_secrets(secret, hint)
    if not packed and not gone:
        raise NotFoundError("There is no memory to export.", hint="`memtui ls` lists what there is.")
    return Exported(Bundle(tuple(packed), tuple(gone)), tuple(left))


def _deleted(reader: Engine, deleted: Sequence[Address], *, keep: bool) -> tuple[list[BundledMemory], list[Address]]:
    """Return the included deletions, without versions with secrets unless `keep`; and whose had one."""
    gone, told = [], []
    for address in deleted:
        history = _past(reader, address)
        clean = history if keep else tuple(past for past in history if not _has_secret(past.data))
        told += [address] if clean != history else []
        gone += [BundledMemory(_origin(reader, address), address.path, b"", history=clean)] if clean else []
    return gone, told


def _has_secret(data: bytes) -> bool:
    return bool(mask.secrets(data.decode("utf-8", "replace")))


def _origin(reader: Engine, address: Address) -> Origin:
    root = reader.roots.find(address.root)
    index = root.policy.index_file if root.policy.index_format == LINKS else None
    return Origin(root.id, root.agent, root.scope, root.aliases, index or "")


def _past(reader: Engine, address: Address) -> tuple[BundledVersion, ...]:
    found = []
    for version in reader.history.of(address):
        if version.redacted:
            continue
        try:
            data = reader.history.read(address, version.sha256)
        except MemtuiError:
            continue  # redacted, or no longer kept: its text is nowhere, so there is nothing to take along
        found.append(BundledVersion(Version(*version[:5], note=version.note), data))
    return tuple(found)
