"""Decisions of a person about an observation, as values.

An observation is a card derived from a memory: it can be derived again at any time, a decision about it cannot.
"""

from typing import NamedTuple

NORMAL, PRIVATE, SUPPRESSED, REDACTED = range(4)
STATES = ("normal", "private", "suppressed", "redacted")
"""Words for the states. Private: not given to agents. Suppressed: shown to nobody unasked. Redacted: it has no text."""


OBSERVED = "observed"
"""The audit operation of a decision about an observation; no change of its memory."""


class ObservationMark(NamedTuple):
    """A decision, and the keys that find its card again when the file changes."""

    name: bytes
    """The card's name; 10 bytes."""
    seq: int
    """The number of the decision; 0: none yet."""
    root: int
    path: str
    anchor: bytes
    """A keyed hash of the entry's first line and of the number of equal ones before it; empty: the whole file."""
    text_key: bytes
    beside: bytes
    """The first 4 bytes of the text keys of all other entries at the decision, concatenated; its own key for each equal
    entry."""
    state: int = NORMAL
    deleted_at: int | None = None
    """When a person deleted it, in milliseconds; 0 once its text was pruned. Its file stays."""
    patch: str = ""
    """A person's edits: a JSON object of `title`, `type`, `note`; empty for none."""

    @property
    def withholds(self) -> bool:
        """Whether it must not be given to an agent."""
        return self.state != NORMAL or self.deleted_at is not None


class MarkDecision(NamedTuple):
    """One line of the log of decisions."""

    seq: int
    before: str
    """A state, followed by `deleted` or `edited`."""
    after: str
    actor: str
    at: int
    """Milliseconds since the epoch."""
    reason: str
