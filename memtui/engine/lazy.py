"""Parts of the engine and of its ledger, each loaded and made when it is first asked for."""

from functools import cached_property
from importlib import import_module
from typing import Any


def lazy(name: str, *needs: str) -> Any:
    """A part of its owner, made once of those of the owner's attributes that it needs; `self` is the owner.

    The name says where its class is, below `memtui.engine`: `changes.undo.Undo`.
    """
    module, _, kind = name.rpartition(".")

    def made(owner: object) -> object:
        part = getattr(import_module(f"memtui.engine.{module}"), kind)
        return part(*(owner if need == "self" else getattr(owner, need) for need in needs))

    return cached_property(made)
