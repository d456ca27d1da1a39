"""Memories of a bundle that come from another agent: each of their versions as the agent of a root here wants it.

Texts can be compared with those here only in one shape, so the text that is here says which: what a translation makes
up, and where it puts the type, stay as they are. Otherwise a second import would find differences nobody made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.table import agent_of
from memtui.engine.frontmatter import read
from memtui.engine.model import Address, Policy, Root
from memtui.errors import NotFoundError
from memtui.features.bundles.bundle import Origin, Packed
from memtui.features.transfer import index_lines
from memtui.features.transfer.fields import DESCRIPTION, NAME, Hints, translate
from memtui.features.transfer.index_lines import Mention
from memtui.features.transfer.model import Note
from memtui.features.transfer.names import fitted
from memtui.features.transfer.plan import INDEX
from memtui.features.transfer.remarks import dead_links, habit, nested, remarks

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Memory


NAMED = "the index there has this name"


class AgentSide(NamedTuple):
    """What a bundle has of one memory, in one shape."""

    data: bytes
    past: tuple[bytes, ...]
    """Every version it had, newest first."""
    notes: tuple[Note, ...] = ()

    @property
    def digests(self) -> tuple[str, ...]:
        """The sha-256 of each version."""
        return tuple(sha256(data).hexdigest() for data in self.past)


class Straight:
    """The memories of one root of a bundle, byte for byte as they are in it."""

    def path(self, packed: Packed) -> str:
        """Say what a memory is called here."""
        return packed.path

    def refusal(self, packed: Packed) -> str:  # noqa: ARG002
        """Say why a memory stays out; empty when it need not."""
        return ""

    def sides(self, packed: Packed, here: bytes | None) -> Iterator[AgentSide]:  # noqa: ARG002
        """Give a memory in the shape it would have here, then in each other shape that it may have come in before.

        Args:
            packed: the memory.
            here: the text that is here; None when there is none.
        """
        yield AgentSide(packed.data, tuple(past.data for past in packed.history))


class Crossing(Straight):
    """The memories of one root of a bundle, as another agent wants them."""

    def __init__(
        self, reader: Engine, origin: Origin, target: Root, memories: Sequence[Packed], rows: Mapping[str, Memory]
    ) -> None:
        """Look at how memories are written at both ends.

        Args:
            reader: an engine.
            origin: the root in the bundle.
            target: the root here.
            memories: all that the bundle has of that root.
            rows: the memories of the root here, by path.
        """
        self.target = target
        texts = {packed.path: packed.data for packed in memories}

        def text(path: str) -> bytes:
            if path not in texts:
                raise NotFoundError(f"{path} is not in the bundle.")
            return texts[path]

        self.present = texts
        self.there = rows.keys() | {fitted(path, target) for path in texts}
        """The memories there will be here."""
        self.policy = _policy(origin)
        self.said = index_lines.mentions(text, self.policy, list(texts), texts)
        self.nested = habit(reader, rows.values())

    def path(self, packed: Packed) -> str:
        """Give it the ending that is read here."""
        return fitted(packed.path, self.target)

    def refusal(self, packed: Packed) -> str:
        """Keep indexes out: their lines go with the memories they name."""
        if self.policy.is_index(packed.path):
            return INDEX
        policy = self.target.policy
        return NAMED if policy.index_format == index_lines.LINKS and policy.is_index(self.path(packed)) else ""

    def sides(self, packed: Packed, here: bytes | None) -> Iterator[AgentSide]:
        """Give it translated."""
        said = self.said.get(packed.path, Mention())
        plain = Hints(said.title, said.hook, self.nested)
        remarked = self._remarks(packed)
        for hints in dict.fromkeys((_as_here(plain, here), plain, *(plain._replace(nested=one) for one in _SHAPES))):
            found, *past = (
                translate(data, self.target, self.path(packed), hints)
                for data in (packed.data, *(one.data for one in packed.history))
            )
            yield AgentSide(found.data, tuple(one.data for one in past), (*found.notes, *remarked))

    def _remarks(self, packed: Packed) -> list[Note]:
        path = self.path(packed)
        return [
            *remarks(packed.data, packed.path.rpartition("/")[2], Address(self.target.id, path), self.target),
            *dead_links(packed.data, packed.path, path, self.present, self.there),
        ]


_SHAPES = (True, False, None)


def _as_here(plain: Hints, here: bytes | None) -> Hints:
    """Take what a translation would make up from the text that is here."""
    if here is None:
        return plain
    fields, inner = read.split(here).fields, nested(here)
    name, description = fields.get(NAME), fields.get(DESCRIPTION)
    return Hints(
        name if isinstance(name, str) and name.strip() else plain.title,
        description if isinstance(description, str) and description.strip() else plain.hook,
        plain.nested if inner is None else inner,
    )


def _policy(origin: Origin) -> Policy:
    """What is known of the index at the source: from the list of the bundle, or an older one's by its agent."""
    if origin.index_file is not None:
        return Policy(index_file=origin.index_file or None, index_format=index_lines.LINKS if origin.index_file else "")
    found = agent_of(origin.agent).policy or Policy()
    return found if found.index_format == index_lines.LINKS else Policy()
