"""Parts of the engine and of its ledger, loaded and created on first use."""

from functools import cached_property
from importlib import import_module
from typing import Any


def lazy(name: str, *needs: str) -> Any:
    """Return a property that creates a part of its owner once, from the owner's attributes `needs` (`self`: the owner).

    `name` is the path of its class below `memtui.engine`: `changes.undo.Undo`.
    """
    module, _, kind = name.rpartition(".")

    def made(owner: object) -> object:
        part = getattr(import_module(f"memtui.engine.{module}"), kind)
        return part(*(owner if need == "self" else getattr(owner, need) for need in needs))

    return cached_property(made)
