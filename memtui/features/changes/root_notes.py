"""What Review says of whole roots, above the changes: a folder that is gone, and versions nobody has reviewed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import BROUGHT, Address, Change, Root

if TYPE_CHECKING:
    from memtui.engine import Engine


class RootNote(NamedTuple):
    """A row about a root."""

    root: Root
    words: str
    """The row."""
    about: tuple[str, ...]
    """Sentences beside it."""
    at: int = 0
    """When, in milliseconds; 0: nobody knows."""
    waits: bool = False
    """Versions wait for a review, and are shown when it is opened."""


def root_notes(engine: Engine, changes: Iterable[Change]) -> tuple[RootNote, ...]:
    """Find what is to be said of roots; `changes` are listed one by one, and so not counted again."""
    listed = {change.address for change in changes}
    return (*_gone(engine), *_waiting(engine, listed))


def _gone(engine: Engine) -> Iterable[RootNote]:
    for root, memories, at in engine.rows.vanished():
        held = f"{memories:,} {'memory' if memories == 1 else 'memories'}"
        was = "was" if memories == 1 else "were"
        about = (
            f"The folder of {root.id} is not there: {root.path}",
            f"It held {held}. None of them counts as deleted, and every text is kept in history.",
            "When the folder is back, so are they.",
        )
        yield RootNote(root, f"folder gone: {root.label or root.id}, {held} {was} in it", about, at)


def _waiting(engine: Engine, listed: set[Address]) -> Iterable[RootNote]:
    for root in engine.roots.all():
        rows = engine.rows.list([root.id]).items if root.in_checkout else ()
        count = sum(row.trust == BROUGHT and row.address not in listed for row in rows)
        if count:
            words = f"{count:,} {'version' if count == 1 else 'versions'} not reviewed: {root.label or root.id}"
            about = (
                "They came with the checkout: nobody wrote them here or reviewed them, and looking is no review.",
                "Agents are given their names alone until then.",
                "enter shows them, and reviews them.",
            )
            yield RootNote(root, words, about, waits=True)
