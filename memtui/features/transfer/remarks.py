"""What a person should know of a memory that goes into another root, and how memories there are written lately.

A copy, a move and an import say the same things of the same memory, because they are worked out here.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from memtui.agents.table import title_of
from memtui.engine.disk import paths
from memtui.engine.frontmatter import read
from memtui.engine.model import Address, Root
from memtui.errors import MemtuiError
from memtui.features.transfer.fields import METADATA, TYPE
from memtui.features.transfer.model import SAID, Note
from memtui.features.transfer.names import fitted, unseen
from memtui.pointers import links

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Memory


_LOOKED_AT = 8
"""So many memories say how an agent writes front matter lately."""
_NAMED = 3


def habit(reader: Engine, rows: Iterable[Memory]) -> bool | None:
    """Say whether memories keep their type below `metadata`, as the newest ones with a type do; None: nobody knows."""
    for row in sorted(rows, key=lambda row: -row.modified_at)[:_LOOKED_AT]:
        try:
            found = nested(reader.read_bytes(row.address))
        except MemtuiError:
            continue  # what cannot be read is no example
        if found is not None:
            return found
    return None


def nested(data: bytes) -> bool | None:
    """Say whether a memory has its type below `metadata`; None: it has none."""
    fields = read.split(data).fields
    inner = fields.get(METADATA)
    if isinstance(inner, dict) and TYPE in inner:
        return True
    return False if TYPE in fields else None


def remarks(data: bytes, old_name: str, new: Address, target: Root) -> list[Note]:
    """Say what is worth knowing of a memory in its new root.

    Args:
        data: the memory, as it was.
        old_name: what it was called.
        new: its new address.
        target: the root of that.
    """
    policy, title = target.policy, title_of(target.agent)
    notes: list[Note] = []
    if new.name != old_name and fitted(old_name, target) == new.name:
        notes.append(Note(SAID, f"named {new.name}: {title} reads {policy.suffix}"))
    why = unseen(new, target)
    if why:
        notes.append(Note(SAID, why))
    limit, chars = policy.shown_bytes, policy.limit_of(new.path)
    if (limit is not None and len(data) > limit) or (
        chars is not None and len(data.decode("utf-8", "replace")) > chars
    ):
        notes.append(Note(SAID, f"larger than {title} takes"))
    if paths.matches(new.path, policy.generated):
        notes.append(Note(SAID, f"{title} makes this file anew"))
    if policy.format_of(new.path) == "goose":
        notes.append(Note(SAID, f"{title} takes each paragraph for an entry of its own"))
    return notes


def dead_links(data: bytes, old: str, new: str, present: Container[str], there: Container[str]) -> list[Note]:
    """Name the links of a memory to others of its root that do not come along to the same place.

    Args:
        data: the memory.
        old: its path.
        new: its path in the new root.
        present: the memories of the old root.
        there: those of the new root, once all have come.
    """
    before = links.parse(data, old)
    after = links.parse(data, new)
    found = [
        one.target for one, other in zip(before, after, strict=True) if one.path in present and other.path not in there
    ]
    lost = list(dict.fromkeys(found))
    if not lost:
        return []
    shown = ", ".join(lost[:_NAMED]) + (f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else "")
    return [Note(SAID, f"links that lead nowhere there: {shown}")]
