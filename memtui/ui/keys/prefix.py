"""Key sequences (`g g`, `y p`, `d t`), which Textual does not have: which keys may follow, and what each would do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from memtui.ui.action import Action

HINT_AFTER = 0.3
"""Seconds after which the possible second keys are shown."""


class KeyStep(NamedTuple):
    """The result of a key."""

    action: Action | None = None
    pending: str = ""
    """The first key of a sequence; another one must follow."""
    cancelled: str = ""
    """The first key of a sequence that this key does not continue."""


class Sequences:
    """Resolves keys to actions."""

    def __init__(self, keys: Mapping[str, Action]) -> None:
        self._keys = dict(keys)
        self._firsts = {key.split(" ")[0] for key in keys if " " in key}
        self.pending = ""

    def feed(self, key: str) -> KeyStep:
        first, self.pending = self.pending, ""
        if first:
            action = self._keys.get(f"{first} {key}")
            return KeyStep(action) if action is not None else KeyStep(cancelled=first)
        if key in self._firsts:
            self.pending = key
            return KeyStep(pending=key)
        return KeyStep(self._keys.get(key))

    def cancel(self) -> str:
        """Drop the first key, and return it."""
        first, self.pending = self.pending, ""
        return first

    def choices(self, first: str) -> tuple[tuple[str, Action], ...]:
        """Return the keys that may follow, with their actions."""
        found = [(key.split(" ")[1], action) for key, action in self._keys.items() if key.startswith(first + " ")]
        return tuple(found)

    def peek(self, key: str) -> Action | None:
        """Return what a key would do now."""
        return self._keys.get(f"{self.pending} {key}" if self.pending else key)
