"""The steps of a mixed operation: values that are made by whoever plans it, and done by `Together.do`.

They exist so that a plan can be shown, compared and tested before anything is touched. Each says which version it
means, so that a plan that was made from an older one is refused and not done half.
"""

from typing import NamedTuple

from memtui.engine.model import Address


class Write(NamedTuple):
    """A new text for a memory, or a new memory."""

    address: Address
    data: bytes
    expected_sha256: str | None
    """The version it replaces; None: nothing may have the name."""


class Rename(NamedTuple):
    """Another name for a memory, in its root or another one; pins and history follow."""

    address: Address
    new: Address
    expected_sha256: str | None = None
    """The version it must have; None: whatever it has."""


class Remove(NamedTuple):
    """A memory for the trash."""

    address: Address
    expected_sha256: str | None = None
    """The version it must have; None: whatever it has."""


Step = Write | Rename | Remove
