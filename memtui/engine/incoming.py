"""The engine's verbs about what memories bring along from elsewhere: their pins and their past.

They are apart from the other changes, because they keep what somebody else did, with its time and its actor, and so
are never steps a user takes here.
"""

from __future__ import annotations

from collections.abc import Iterable

from memtui.engine.drafting import Drafting
from memtui.engine.model import Actor, Address, Changes, Version
from memtui.engine.parts import made_again


class Incoming(Drafting):
    """What a memory had where it came from."""

    @made_again
    def pin_along(self, addresses: Iterable[Address], *, actor: Actor, joins: str | None) -> int:
        """Pin memories as a part of the operation that brought them; returns how many were not pinned before.

        Args:
            addresses: which.
            actor: who does it.
            joins: the transaction they become a part of, so that undo takes both back; else a step of its own.
        """
        pinned = self._rooms.arriving.pin(addresses, actor, joins)
        self._rooms.events.publish(Changes(touched=frozenset(pinned)))
        return len(pinned)

    @made_again
    def keep_versions(self, address: Address, versions: Iterable[tuple[Version, bytes]], *, actor: Actor) -> int:
        """Put versions a memory had elsewhere on its history, before it is written here.

        Args:
            address: the memory; it need not be there yet.
            versions: oldest first, each with its text.
            actor: who does it; each version keeps the actor and the time it had.

        Returns:
            How many were not known.

        Raises:
            StorageError: `E_STORE_DAMAGED`, when a text is not what its version says; nothing is kept then.
        """
        return self._rooms.arriving.keep(address, versions, actor)
