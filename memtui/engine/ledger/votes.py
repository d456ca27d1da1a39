"""Votes about proposals: only ever added, each bound to the steps it was given for.

It is apart so that a command that decides nothing in a chat loads none of it.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.ledger.database import Database, LedgerTable, insert
from memtui.engine.ledger.journal import JournalTable
from memtui.engine.ledger.proposals import ProposalTable
from memtui.engine.proposal import Proposal
from memtui.engine.task import steps_json
from memtui.errors import ConflictError

OPEN = ("open", "later")
"""States of a proposal in which a vote counts."""


class Vote(NamedTuple):
    """One answer of one voter."""

    voter: str
    """As the rule names them."""
    name: str
    """Who gave it, in words."""
    yes: bool
    person: str
    """Whose it is, as a keyed hash: one person has one vote, as whomever they give it."""


class VoteTable(LedgerTable):
    """Votes by proposal."""

    def __init__(self, database: Database, proposals: ProposalTable, journal: JournalTable) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        super().__init__(database)
        self._proposals, self._journal = proposals, journal

    def cast(self, number: str, vote: Vote, judge: Callable[[Mapping[str, Vote]], tuple[str, str]]) -> str:
        """Add a vote, and decide about the proposal where that is the last one it takes: all of it or nothing.

        Args:
            number: the proposal.
            vote: the answer.
            judge: from each voter's newest answer to its steps: `accepted`, `rejected` or nothing, and why.

        Returns:
            What is decided now; empty while more votes are needed.

        Raises:
            ConflictError: `E_DECIDED`: it is decided already, or cannot be done.
        """
        with self._database.transaction() as db:
            one = self._proposals.get(number)
            if one.state not in OPEN:
                by = f" by {one.decided_by}" if one.decided_by else ""
                said = f"Proposal {number} is {one.state}{by} by now."
                raise ConflictError(said, code="E_DECIDED", hint=one.note or "Nothing is left to do.")
            steps = steps_sha(one)
            insert(db, "votes", proposal=int(number), steps=steps, at=self._database.clock(), **vote._asdict())
            body = {"proposal": int(number), "steps": steps.hex(), "voter": vote.voter, "yes": vote.yes}
            state, why = judge(self.of(one))
            if state:
                self._proposals.decide([number], state, by=f"{vote.name} ({vote.voter})", note=why)
            self._journal.add("vote", {**body, "decided": state})
            return state

    def count(self) -> int:
        """How many votes there are, of all proposals."""
        ((count,),) = self._database.rows("SELECT count(*) FROM votes", kinds="i")
        return int(count)

    def of(self, one: Proposal) -> Mapping[str, Vote]:
        """Each voter's newest answer to the steps that a proposal has now; of one person only the newest of all."""
        rows = self._database.rows(
            "SELECT voter, name, yes, iif(person = '', voter, person) FROM votes WHERE proposal = ?"
            " AND steps = ? ORDER BY id",
            (int(one.id), steps_sha(one)),
            kinds="ttft",
        )
        found: dict[str, Vote] = {}
        for voter, name, yes, person in rows:
            found = {before: vote for before, vote in found.items() if vote.person != person}
            found[voter] = Vote(voter, name, yes, person)
        return found


def steps_sha(one: Proposal) -> bytes:
    """Name the steps of a proposal, which is what a vote is for."""
    return sha256(steps_json(one.steps).encode()).digest()
