"""A suggested change of memories, as a value: what it would do, why, and the evidence.

Nothing here writes: a proposal is carried out when a person, or a rule they chose, accepts it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from memtui.engine.model import Rename, Step

KINDS = ("add", "replace", "merge", "remove", "move", "describe", "mark", "note")
"""What a proposal does; a note only says something."""

WAITING = ("open", "later", "stale", "blocked")
"""States that await a decision; a stale or blocked one can only be rejected."""
KEEPS_AWAY = ("open", "later", "blocked", "accepted", "applying", "rejected")
"""States in which the same proposal is not made again for the same versions."""
DECIDED = ("applied", "rejected", "superseded")
NEVER = "never"
"""A decision: reject it, and everything of this kind by the same proposer about the same folders."""
AS_PROPOSED = "proposed"
"""The kind of evidence that holds the full proposed text a person has edited."""
STATES = (*WAITING, "accepted", "applying", *DECIDED)


class Evidence(NamedTuple):
    """Evidence for a proposal."""

    kind: str
    """`memory`, `turn` of a session, `file`, `request`; `AS_PROPOSED`."""
    name: str
    sha: str = ""
    """Its version, where there is one."""
    place: str = ""
    """Where in it: a line, a turn."""
    quote: str = ""
    """At most 200 characters of it, secrets masked; for `AS_PROPOSED` all of it."""


class MarkChange(NamedTuple):
    """A change of an observation's mark."""

    name: str
    seq: int
    patch: Mapping[str, object]


class Proposal(NamedTuple):
    """One suggested change, carried out whole or not at all."""

    id: str
    """Digits; empty until it is stored."""
    run: str
    by: str
    """The proposer: `rule:exact`, `claude`, `mcp:<client>`."""
    kind: str
    steps: tuple[Step, ...]
    """The steps in order, each with the SHA-256 of the version it applies to."""
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
    note: str = ""
    """Why it is blocked, stale or rejected; may quote hostile text."""
    folders: tuple[tuple[str, str], ...] = ()
    """The folders of the roots it names, by root id: an id means another folder in another project."""

    turn: str = ""
    """The turn in which it was made, where known."""

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
        """The versions it applies to, by SHA-256, in order of the steps."""
        return tuple(step.expected_sha256 for step in self.steps if step.expected_sha256)
