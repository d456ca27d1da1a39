"""Unsaved texts and open conflicts, in a dictionary; a part of the fake engine."""

from __future__ import annotations

from collections.abc import Collection

from memtui.engine.model import Address, Draft, OpenConflict


class FakeDrafts:
    """Knows what nobody has saved."""

    def __init__(self) -> None:
        super().__init__()
        self.drafted: dict[Address, Draft] = {}
        self.conflicts: dict[Address, OpenConflict] = {}

    def _enter(self, verb: str, *rest: object) -> None:
        """Count a call, and fail or wait as the test wants."""
        raise NotImplementedError

    def save_draft(self, draft: Draft) -> None:
        """Keep a draft."""
        self._enter("save_draft", draft.address)
        self.drafted[draft.address] = draft

    def take_draft(self, draft: Draft) -> None:
        """There is no other window here."""

    def keep_drafts_apart(self) -> bool:
        """Nothing becomes of a dictionary."""
        return True

    def drafts(self) -> tuple[Draft, ...]:
        """List drafts."""
        return tuple(self.drafted.values())

    def save_conflict(self, found: OpenConflict) -> None:
        """Keep decisions."""
        self.conflicts[found.address] = found

    def open_conflict(self, address: Address) -> OpenConflict | None:
        """Give decisions back."""
        return self.conflicts.get(address)

    def drop_draft(self, address: Address, *, own: Collection[str] | None = None, trace: bool = True) -> None:
        """Drop a draft; there is no other window here."""
        self.drafted.pop(address, None)
