"""Values for what an agent is given: texts, chosen and omitted memories, and budgets."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from memtui.engine.model import Memory
from memtui.given.tokens import estimate

_REASONS = {
    "unreviewed": ("unreviewed", "an unreviewed change: this text came with the checkout"),
    "unreadable": ("no text", "it cannot be read as text"),
    "too-large": ("no bytes left", "it is larger than what is left"),
    "over-tokens": ("no tokens left", "it needs more tokens than are left"),
    "no-place": ("no place left", "all slots of the hot set are taken"),
    "not-tried": ("not tried", "too many were tried before it"),
    "no-hook": ("no hook", "memtui's hook, which would give it, is not installed in the agent"),
    "no-client": ("no way to give it", "memtui cannot be installed in the agent"),
    "not-pinned": (
        "not pinned",
        "of an agent's own memories memtui gives those that are pinned, and this one is only used",
    ),
    "off": ("switched off", "it is switched off for the agent"),
    "withheld": ("withheld, 9", "you withhold it from agents; view 9 shows it"),
}
SHORT_REASONS = {reason: words for reason, (words, _) in _REASONS.items()}
"""Why a pinned or used memory is not given, for the rows of a list."""
REASONS = {reason: words for reason, (_, words) in _REASONS.items()}
"""The same in full."""


class Budgets(NamedTuple):
    """Limits; bytes are UTF-8, tokens are those of `tokens.estimate`."""

    index_bytes: int = 24_576
    index_tokens: int = 8_000
    hot_items: int = 8
    item_bytes: int = 16_384
    """Of one memory, which is cut beyond."""
    hot_bytes: int = 49_152
    """Of all memories in the hot set together."""
    hot_tokens: int = 12_000
    """Of the whole block."""
    tries: int = 64
    """Number of memories that are read to find those that fit."""


USUAL = Budgets()


class Block(NamedTuple):
    """One block of text."""

    text: str
    """Ends with a line feed, or is empty."""
    bytes: int
    tokens: int
    masked: int

    @classmethod
    def of(cls, text: str, masked: int) -> Block:
        """Measure a text."""
        return cls(text, len(text.encode()), estimate(text), masked)


NOTHING = Block("", 0, 0, 0)


class Unlisted(NamedTuple):
    """Memories of one scope for which the index has no room."""

    place: str
    """For example `/memories/project`."""
    memories: int


class Rendered(NamedTuple):
    """One memory rendered for the block."""

    text: str
    bytes: int
    """Bytes of the memory's text."""
    tokens: int
    """Tokens of everything."""
    truncated: bool
    masked: int


class GivenMemory(NamedTuple):
    """One memory of the hot set."""

    row: Memory
    path: str
    """As the agent sees it: `/memories/<scope>/<path>`."""
    place: int
    shown: Rendered


class LeftOut(NamedTuple):
    """A pinned or used memory that is not in the hot set."""

    row: Memory
    path: str
    reason: str
    """A key of `REASONS`."""
    needs: int = 0
    """Bytes (`too-large`) or tokens (`over-tokens`) it needs; 0 when it was not read."""
    left: int = 0
    """What was left of them."""


class Context(NamedTuple):
    """Everything an agent is given unasked."""

    index_block: Block
    memories: int
    """Number of memories the index could list."""
    listed: int
    unlisted: tuple[Unlisted, ...]
    hot_block: Block
    items: tuple[GivenMemory, ...]
    left_out: tuple[LeftOut, ...]
    """In the order of their rank."""
    unreviewed: tuple[str, ...]
    """Ids of roots with unreviewed versions from a checkout."""
    budgets: Budgets

    @property
    def text(self) -> str:
        """Both blocks, with an empty line between them."""
        return "\n".join(block.text for block in (self.index_block, self.hot_block) if block.text)

    @property
    def hot_text_bytes(self) -> int:
        """Bytes that count against `Budgets.hot_bytes`."""
        return sum(item.shown.bytes for item in self.items)

    @property
    def masked(self) -> int:
        """Number of masked secrets."""
        return self.index_block.masked + self.hot_block.masked

    @property
    def sha256(self) -> str:
        """Digest of the text."""
        return sha256(self.text.encode()).hexdigest()
