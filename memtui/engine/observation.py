"""What a person decided about one observation, as values.

An observation is a card derived from a memory: it can be made anew at any time, what was decided about it cannot.
"""

from typing import NamedTuple

NORMAL, PRIVATE, SUPPRESSED, REDACTED = range(4)
STATES = ("normal", "private", "suppressed", "redacted")
"""The words. Private: no agent is given it. Suppressed: nobody is, unless they ask. Redacted: it has no text."""


OBSERVED = "observed"
"""The operation of the audit that is a decision about an observation; no change of its memory."""


class ObservationMark(NamedTuple):
    """A decision, and by what its card is found again when the file changes."""

    name: bytes
    """The card's; 10 bytes."""
    seq: int
    """The number of the decision; 0: there is none yet."""
    root: int
    """The ledger's id of the root."""
    path: str
    anchor: bytes
    """A keyed hash of the first line of the entry, and of how many like it stand before; empty: the whole file."""
    text_key: bytes
    """A keyed hash of its text."""
    beside: bytes
    """The first 4 bytes of the text keys of what else was in the file at the decision, one after the other; its own for
    each entry that was equal to it."""
    state: int = NORMAL
    deleted_at: int | None = None
    """When a person deleted it, in milliseconds, and 0 once that is so long ago that its text went; its file stays."""
    patch: str = ""
    """What a person wrote over it: a JSON object of `title`, `type`, `note`; empty for nothing."""

    @property
    def withholds(self) -> bool:
        """Whether no agent may be given it."""
        return self.state != NORMAL or self.deleted_at is not None


class MarkDecision(NamedTuple):
    """One line of the log of decisions."""

    seq: int
    before: str
    """A state, and `deleted` or `edited` behind it."""
    after: str
    actor: str
    at: int
    """Milliseconds since the epoch."""
    reason: str
