"""What one client may do in each scope, and the words for it: the same in refusals, descriptions and instructions.

It exists so that an agent is never urged to write where it may not, and is told where it may.
"""

from typing import NamedTuple

from memtui.engine import Engine
from memtui.memory_tool import grammar


class Rights(NamedTuple):
    """Scopes, in the order in which agents see them."""

    readable: tuple[str, ...]
    writable: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """One sentence; nothing when everything that is there may be written."""
        if not self.writable:
            return "You may only read memories, not change them."
        if self.writable == self.readable:
            return ""
        others = [scope for scope in self.readable if scope not in self.writable]
        return f"You may write in {places(self.writable)}; {places(others)} you may only read."


def rights(engine: Engine) -> Rights:
    """Work out what the client of an engine may do."""
    there = {root.id for root in engine.roots.all()}
    changeable = {root.id for root in engine.roots.changeable()}
    return Rights(
        tuple(scope for scope in grammar.SCOPES if f"memtui:{scope}" in there),
        tuple(scope for scope in grammar.SCOPES if f"memtui:{scope}" in changeable),
    )


def places(scopes: "tuple[str, ...] | list[str]") -> str:
    """Name scopes as an agent does: `/memories/global and /memories/workspace`."""
    named = [f"{grammar.ROOT}/{scope}" for scope in scopes]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
