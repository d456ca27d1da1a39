"""A change of memories that somebody or something suggests, as a value: what it would do, why, and what shows it.

Nothing here writes: what a proposal says is done when a person, or a rule they chose, accepts it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from memtui.engine.model import Rename, Step

KINDS = ("add", "replace", "merge", "remove", "move", "describe", "mark", "note")
"""What a proposal does; a note only says something."""

WAITING = ("open", "later", "stale", "blocked")
"""States in which somebody has yet to decide; a stale or a blocked one can only be rejected."""
KEEPS_AWAY = ("open", "later", "blocked", "accepted", "applying", "rejected")
"""States in which a proposal needs not be made once more about the same versions."""
DECIDED = ("applied", "rejected", "superseded")
"""States in which nobody has anything to decide any more."""
NEVER = "never"
"""A decision: it is rejected, and so is what the same proposer suggests of this kind about the same folders."""
AS_PROPOSED = "proposed"
"""The kind of evidence that holds, whole, the text that a person edited to another one."""
STATES = (*WAITING, "accepted", "applying", *DECIDED)


class Evidence(NamedTuple):
    """What shows that a proposal is right."""

    kind: str
    """`memory`, `turn` of a session, `file`, `request`; `AS_PROPOSED`."""
    name: str
    """An address, a session, a path."""
    sha: str = ""
    """The version of it that is meant, where there is one."""
    place: str = ""
    """Where in it: a line, a turn."""
    quote: str = ""
    """At most 200 characters of it, secrets masked; all of what was `AS_PROPOSED`."""


class MarkChange(NamedTuple):
    """A change of what is known of an observation, which is no memory."""

    name: str
    seq: int
    """The number of its mark that is meant."""
    patch: Mapping[str, object]


class Proposal(NamedTuple):
    """One suggested change, whole or not at all."""

    id: str
    """Digits; empty until it is stored."""
    run: str
    by: str
    """Who suggests it: `rule:exact`, `claude`, `mcp:<client>`."""
    kind: str
    steps: tuple[Step, ...]
    """What is done, in this order, each with the sha-256 of the version it means."""
    marks: tuple[MarkChange, ...]
    why: str
    evidence: tuple[Evidence, ...]
    confidence: float
    """From 0 to 1."""
    fingerprint: str
    state: str = "open"
    at: int = 0
    """Milliseconds since the epoch."""
    decided_by: str = ""
    decided_at: int | None = None
    txn: str = ""
    """The step of undo that did it."""
    note: str = ""
    """Why it is blocked, stale or rejected; may quote hostile text."""
    folders: tuple[tuple[str, str], ...] = ()
    """The ids of the roots it names and their folders: one id means another folder in another project."""

    turn: str = ""
    """The turn in which it was made, where one is known."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The addresses it changes, each once, in order of the steps."""
        names = (
            str(one)
            for step in self.steps
            for one in ((step.address, step.new) if isinstance(step, Rename) else (step.address,))
        )
        return tuple(dict.fromkeys(names))

    @property
    def bases(self) -> tuple[str, ...]:
        """The versions it means, by their sha-256, in order of the steps."""
        return tuple(step.expected_sha256 for step in self.steps if step.expected_sha256)
