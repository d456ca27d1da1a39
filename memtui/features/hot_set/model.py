"""What an agent is given, as a value: the texts, what was chosen for them, what was left out and why, and the budgets.

Fronts print it, serve it or draw it; none of them needs to choose again, so none can choose differently.
"""

from hashlib import sha256
from typing import NamedTuple

from memtui.engine.model import Address

REASONS = {
    "unreviewed": "an unreviewed change: this text came with the checkout",
    "unreadable": "it cannot be read as text",
    "too-large": "it is larger than what is left",
    "over-tokens": "it needs more tokens than are left",
    "no-place": "all slots of the hot set are taken",
    "not-tried": "too many were tried before it",
    "no-hook": "memtui's hook, which would give it, is not installed in the agent",
    "no-client": "memtui cannot be installed in the agent",
    "not-pinned": "of an agent's own memories memtui gives those that are pinned, and this one is only used",
    "off": "it is switched off for the agent",
    "withheld": "you withhold it from agents; view 9 shows it",
}
"""Why a memory is not given although it is pinned or used."""


class AbandonedError(Exception):
    """Nobody wants the result any more, so it is not worked out to its end."""


class Budgets(NamedTuple):
    """How much an agent is given at most. Bytes are of UTF-8; tokens are `tokens.estimate`'s."""

    index_bytes: int = 24_576
    index_tokens: int = 8_000
    hot_items: int = 8
    item_bytes: int = 16_384
    """Of one memory's text; what is longer is cut."""
    hot_bytes: int = 49_152
    """Of the texts of all memories in the hot set, without the lines around them."""
    hot_tokens: int = 12_000
    """Of the whole block."""
    tries: int = 64
    """Memories that are read at most, to find those that fit."""


class Block(NamedTuple):
    """One block of text, as an agent gets it."""

    text: str
    """Empty when it was not asked for or has nothing to say; else it ends with a line feed."""
    bytes: int
    tokens: int
    masked: int
    """Secrets that were replaced."""


NOTHING = Block("", 0, 0, 0)


class Unlisted(NamedTuple):
    """What the index has no room for in one scope."""

    place: str
    """Such as `/memories/project`."""
    memories: int


class GivenMemory(NamedTuple):
    """One memory of the hot set."""

    address: Address
    path: str
    """As the agent sees it: `/memories/<scope>/<path>`."""
    place: int
    """From 1, in the order of the block."""
    pinned: bool
    heat: float
    uses: int
    size: int
    """Bytes of the whole memory."""
    bytes: int
    """Bytes of its text in the block."""
    tokens: int
    """Of its part of the block, with the lines around it."""
    truncated: bool
    masked: int
    start: int = 0
    end: int = 0
    """Where its part stands in the text of the block, in characters."""


class LeftOut(NamedTuple):
    """A memory that is pinned or used and still not in the hot set."""

    address: Address
    path: str
    reason: str
    """A key of `REASONS`."""
    pinned: bool
    heat: float
    uses: int
    size: int
    needs: int = 0
    """Bytes (`too-large`) or tokens (`over-tokens`) it would take; 0 when it was not read."""
    left: int = 0
    """How many of them were left for it."""
    sha256: str | None = None
    """The version that was left out."""


class Context(NamedTuple):
    """Everything an agent is given without asking."""

    index_block: Block
    hot_block: Block
    items: tuple[GivenMemory, ...]
    """The hot set, in order."""
    left_out: tuple[LeftOut, ...]
    """Pinned and used memories that are not in it, in the order of their rank."""
    memories: int
    """How many there are to list."""
    listed: int
    unlisted: tuple[Unlisted, ...]
    """By scope, where the index has no room for all."""
    unreviewed: tuple[str, ...]
    """Ids of roots with versions that came with a checkout and wait for a review."""
    budgets: Budgets

    @property
    def text(self) -> str:
        """Both blocks, with an empty line between them."""
        return "\n".join(block.text for block in (self.index_block, self.hot_block) if block.text)

    @property
    def hot_text_bytes(self) -> int:
        """What the texts of the hot set take of `Budgets.hot_bytes`."""
        return sum(item.bytes for item in self.items)

    @property
    def masked(self) -> int:
        """How many secrets were replaced."""
        return self.index_block.masked + self.hot_block.masked

    @property
    def sha256(self) -> str:
        """The digest of the text: equal when an agent is given the same bytes."""
        return sha256(self.text.encode()).hexdigest()
