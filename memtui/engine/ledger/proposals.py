"""Proposals: what was suggested, what was decided about each, and hunk by hunk; which of them somebody carries out.

A proposal that an undo took back is open again, and a redo makes it applied: that is read from its transaction and
never written, so no crash can leave the two at odds. What was rejected keeps the same suggestion away until what it is
about has changed. A vote is only ever added, and bound to the steps it was given for.
"""

from __future__ import annotations

import contextlib
import json
from base64 import b32encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import locks
from memtui.engine.ledger.activity import taken_back
from memtui.engine.ledger.database import Database, LedgerTable, Row, checked, insert
from memtui.engine.ledger.versions import VersionTable
from memtui.engine.model import Retention, Step, Write
from memtui.engine.proposal import (
    AS_PROPOSED,
    DECIDED,
    KEEPS_AWAY,
    NEVER,
    STATES,
    WAITING,
    Evidence,
    MarkChange,
    Proposal,
)
from memtui.engine.task import steps_from, steps_json
from memtui.errors import ConflictError, NotFoundError

if TYPE_CHECKING:
    import apsw

    from memtui.engine.ledger.journal import JournalTable

_COLUMNS = (
    "id, run, proposer, kind, steps, marks, why, confidence, fingerprint, state, at, decided_by, decided_at, txn, note,"
    " folders, turn"
)
_CELLS = "ittttttrttitIIttt"


VOTED_ON = ("open", "later")
"""States of a proposal in which a vote counts."""


class ProposalTable(LedgerTable):
    """Proposals with their evidence."""

    def __init__(self, database: Database, versions: VersionTable) -> None:
        super().__init__(database)
        self._versions = versions

    # --- what waits

    def add(
        self, proposals: Iterable[Proposal], *, again: bool = False, turn: str | None = None
    ) -> tuple[Proposal, ...]:
        """Store proposals; the same suggestion is stored once, and one that was rejected stays away.

        Args:
            proposals: what is suggested, each with at least one piece of evidence.
            again: somebody asks for exactly this once more, so that what was rejected before does not count.
            turn: the one in which it was asked for, empty for none; None: the one that the door's session executes.

        Returns:
            For each the proposal as it is stored: a new one, or the one of before that keeps it away. That one waits,
            or was rejected, and then its `note` says why. An older one about other versions is superseded.
        """
        chosen = tuple(proposals)
        if not chosen:
            return ()
        with self._database.transaction() as db:
            of = self.turn(db) if turn is None else turn
            return tuple(self._add(db, one._replace(turn=one.turn or of), again=again) for one in chosen)

    def _add(self, db: apsw.Connection, new: Proposal, *, again: bool) -> Proposal:
        if not new.evidence:
            raise ValueError("a proposal without evidence")
        refusal = None if again else self.refusal(new)
        if refusal is not None:
            return self.get(refusal)
        known = self.keeps_away(new, again=again)
        if known is not None:
            return known
        for (number,) in list(db.execute("SELECT id FROM proposals WHERE fingerprint = ?", (new.fingerprint,))):
            if self.get(str(number)).state in WAITING:
                self._conclude(db, number, "superseded", note="It was proposed anew.")
        db.execute(
            "INSERT INTO proposals (run, proposer, kind, steps, marks, why, confidence, fingerprint, basis, state, at,"
            " note, folders, turn) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(new.run, new.by, new.kind, steps_json(new.steps), json.dumps(new.marks), new.why, new.confidence),
                *(new.fingerprint, _basis(new), new.state, self._database.clock(), new.note, json.dumps(new.folders)),
                new.turn,
            ),
        )
        number = db.last_insert_rowid()
        db.executemany(
            "INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(number, nth, *one) for nth, one in enumerate(new.evidence)],
        )
        db.executemany(
            "INSERT OR IGNORE INTO proposal_bases VALUES (?, ?)", [(number, bytes.fromhex(sha)) for sha in new.bases]
        )
        return self.get(str(number))

    @checked
    def keeps_away(self, new: Proposal, *, again: bool = False) -> Proposal | None:
        """The same suggestion about the same versions, when it is to be decided or done, or was rejected; see `add`."""
        alike = "SELECT id FROM proposals WHERE fingerprint = ? AND basis = ? ORDER BY id DESC"
        for (number,) in self._database.rows(alike, (new.fingerprint, _basis(new)), kinds="i"):
            known = self.get(str(number))
            if known.state in KEEPS_AWAY and not (again and known.state == "rejected"):
                return known
        return None

    @checked
    def get(self, number: str) -> Proposal:
        """One proposal; `E_NOT_FOUND` when there is none of this id."""
        found = self._read("id = ?", (int(number),)) if number.isdecimal() and len(number) < 16 else []
        if not found:
            raise NotFoundError(f"There is no proposal {number}.", hint="`memtui review` lists them.")
        return found[0]

    @checked
    def all(self, states: Collection[str] = (), *, limit: int = -1) -> tuple[Proposal, ...]:
        """Proposals in some states (none given: all), the oldest first; of all projects, see `folders` of each."""
        back = ", ".join(map(str, self._taken_back()))
        wanted = ", ".join(f"'{state}'" for state in STATES if state in states or not states)
        opened = f"OR id IN ({back})" if not states or "open" in states else ""
        where = f"(state IN ({wanted}) AND id NOT IN ({back})) {opened} ORDER BY id LIMIT ?"
        return tuple(self._read(where, (limit,)))

    @checked
    def of(self, txns: Collection[str]) -> dict[str, list[Proposal]]:
        """What was proposed of what these steps of undo did, by step, the oldest first; also of steps taken back."""
        numbers = ", ".join(str(int(one)) for one in txns if one)
        where = f"txn IN ({numbers})"
        rows = self._database.rows(f"SELECT id, txn FROM proposals WHERE {where}", kinds="ii") if numbers else ()
        steps = {int(number): str(txn) for number, txn in rows}
        found: dict[str, list[Proposal]] = {}
        for one in self._read(f"{where} ORDER BY id", ()) if steps else ():
            found.setdefault(steps[int(one.id)], []).append(one)
        return found

    def _read(self, where: str, values: tuple[str | int, ...]) -> list[Proposal]:
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM proposals WHERE {where}", values, kinds=_CELLS)
        evidence: dict[int, list[Evidence]] = {row[0]: [] for row in rows}
        numbers = ", ".join(map(str, evidence))
        for number, *one in self._database.rows(
            "SELECT proposal, kind, name, sha, place, quote FROM evidence"
            f" WHERE proposal IN ({numbers}) ORDER BY proposal, nth",
            kinds="ittttt",
        ):
            evidence[number].append(Evidence(*one))
        back = self._taken_back() if any(row[13] is not None for row in rows) else frozenset()
        return [_proposal(row, tuple(evidence[row[0]]), reopened=row[0] in back) for row in rows]

    def _taken_back(self) -> frozenset[int]:
        """The proposals whose step of undo was taken back, and not done again since."""
        applied: dict[int, int] = dict(
            self._database.rows("SELECT id, txn FROM proposals WHERE txn NOT NULL AND steps != ''", kinds="ii")
        )
        undone = taken_back(self._database, min(applied.values(), default=1 << 62))
        return frozenset(number for number, txn in applied.items() if txn in undone)

    def turn(self, db: apsw.Connection) -> str:
        """Give the turn that the door's session executes, which this is a sign of; empty for none."""
        from memtui.engine.ledger.turns import sign

        session = self._database.session
        return (sign(db, session, self._database.clock()) if session else None) or ""

    def refusal(self, new: Proposal) -> str | None:
        """The id of the proposal with which a person refused what is like this one for good; see `NEVER`."""
        like = "SELECT id FROM proposals WHERE standing AND proposer = ? AND kind = ? AND folders = ?"
        found = self._cell(like, (new.by, new.kind, json.dumps(new.folders)), kinds="i")
        return None if found is None else str(found)

    def counter(self) -> tuple[int, int]:
        """What the answers are as new as: while it is the same, so are they."""
        return self._database.change_counter()

    # --- what is decided

    def decide(self, ids: Iterable[str], state: str, *, by: str, note: str = "", txn: str = "") -> None:
        """Write down what was decided, of all of them or of none: `open`, `later`, `accepted`, `rejected` or `NEVER`.

        A rejected one can become `open` or `blocked`. An empty `note` leaves what it says already. With `txn`, the step
        of undo that is a part of the decision, the proposal waits again once that is undone.

        Raises:
            NotFoundError: there is no such proposal.
            ConflictError: `E_CONFLICT`, one cannot come into this state any more.
        """
        standing, state = state == NEVER, "rejected" if state == NEVER else state
        more = {"rejected": WAITING, "open": ("rejected",), "blocked": ("rejected",)}
        can = ("open", "later", "accepted", *more.get(state, ()))
        with self._database.transaction() as db:
            for number in dict.fromkeys(ids):
                known = self.get(number)
                if known.state not in can:
                    raise _cannot(known, state)
                db.execute(
                    "UPDATE proposals SET state = ?1, decided_by = ?2, decided_at = ?3, note = iif(?4 = '', note, ?4),"
                    " txn = ?5, day = (SELECT max(id) FROM days), standing = ?7 WHERE id = ?6",
                    (state, by, self._database.clock(), note, int(txn) if txn else None, int(number), standing),
                )

    def rejected_hunks(self, number: str) -> frozenset[tuple[int, int]]:
        """The hunks of a proposal that are not to be done, as (step, hunk), both from 0."""
        hunks = self._cell("SELECT hunks FROM proposals WHERE id = ?", (int(number),), kinds="t")
        return frozenset((step, hunk) for step, hunk in json.loads(hunks or "[]"))

    def decide_hunk(self, number: str, step: int, hunk: int, *, rejected: bool) -> None:
        """Keep what was decided about one hunk: of the text a step starts from and the one it writes."""
        with self._database.transaction() as db:
            if self.get(number).state not in ("open", "later", "accepted", "stale"):
                raise _cannot(self.get(number), "decided by hunks")
            kept = set(self.rejected_hunks(number)) - {(step, hunk)} | ({(step, hunk)} if rejected else set())
            db.execute("UPDATE proposals SET hunks = ? WHERE id = ?", (json.dumps(sorted(kept)), int(number)))

    def revise(self, number: str, steps: Iterable[Step]) -> Proposal:
        """Give a proposal that waits other steps, as a person edited it; what was decided of its hunks is void.

        The texts as they were first proposed stay as evidence.
        """
        with self._database.transaction() as db:
            known = self.get(number)
            if known.state not in ("open", "later", "stale"):
                raise _cannot(known, "edited")
            chosen = tuple(steps)
            db.execute(
                "UPDATE proposals SET steps = ?, hunks = '', state = 'open', txn = NULL WHERE id = ?",
                (steps_json(chosen), int(number)),
            )
            bases = known._replace(steps=chosen).bases
            values = [(int(number), bytes.fromhex(sha)) for sha in bases]
            db.executemany("INSERT OR IGNORE INTO proposal_bases VALUES (?, ?)", values)
            texts = {(step.address, step.data) for step in chosen if isinstance(step, Write)}
            kept = [one.name for one in known.evidence if one.kind == AS_PROPOSED]
            for step in known.steps:
                if isinstance(step, Write) and (step.address, step.data) not in texts and str(step.address) not in kept:
                    text = step.data.decode("utf-8", "replace")
                    db.execute(
                        "INSERT INTO evidence SELECT ?1, 1 + max(nth), ?2, ?3, '', '', ?4 FROM evidence"
                        " WHERE proposal = ?1",
                        (int(number), AS_PROPOSED, str(step.address), text),
                    )
            return self.get(number)

    # --- what is carried out

    def alone(self, *, wait: bool = True) -> contextlib.AbstractContextManager[bool]:
        """Let one process at a time carry proposals out: what is found half carried out inside is a dead one's.

        Without `wait` the block is entered in any case, and told whether it is alone.
        """
        return locks.alone(self._database.directory, "review.lock", wait=wait)

    def claim(self, ids: Collection[str], cause: str) -> frozenset[str]:
        """Have accepted proposals carried out by this process, `alone`; returns those of them that were accepted.

        `cause` is what the transaction that does it will name, so that a dead process's is found again.
        """
        marks = ", ".join("?" * len(ids))
        with self._database.transaction() as db:
            rows = db.execute(
                "UPDATE proposals SET state = 'applying', cause = ?"
                f" WHERE state = 'accepted' AND id IN ({marks}) RETURNING id",
                (cause, *map(int, ids)),
            )
            return frozenset(str(number) for (number,) in rows)

    def claimed(self) -> dict[str, str]:
        """What is being carried out: ids, and the cause of each."""
        found = self._database.rows("SELECT id, cause FROM proposals WHERE state = 'applying'", kinds="it")
        return {str(number): cause for number, cause in found}

    def settle(self, states: Mapping[str, tuple[str, str]], txn: str = "") -> None:
        """Give proposals that are carried out their state and a note, by id; `txn` applied those that are."""
        with self._database.transaction() as db:
            for number, (state, note) in states.items():
                if self.get(number).state not in DECIDED:
                    done = int(txn) if txn and state == "applied" else None
                    self._conclude(db, int(number), state, note=note, txn=done)

    def _conclude(self, db: apsw.Connection, number: int, state: str, *, note: str, txn: int | None = None) -> None:
        db.execute(
            "UPDATE proposals SET state = ?, note = iif(?2 = '', note, ?2), txn = ?,"
            " decided_at = coalesce(decided_at, ?), day = (SELECT max(id) FROM days) WHERE id = ?",
            (state, note, txn, self._database.clock(), number),
        )

    # --- texts

    def keep_base(self, *texts: bytes) -> None:
        """Keep the texts proposals start from, so that they can be merged when the memories have others by then."""
        for_sha = {sha256(data).digest(): data for data in texts}
        known = "SELECT 1 FROM blobs WHERE sha = ?"
        new = {sha: data for sha, data in for_sha.items() if self._database.row(known, (sha,)) is None}
        if new:
            with self._database.transaction():
                for sha, data in new.items():
                    self._versions.store(data, sha.hex())

    def base(self, sha: str) -> bytes | None:
        """The text a proposal starts from; None when it is not kept any more. Raises what `VersionTable.blob` does."""
        return self._versions.blob(sha)

    def key(self) -> bytes:
        """What fingerprints are made with, so that nobody guesses a text by its fingerprint elsewhere."""
        return bytes(self._cell("SELECT key FROM fingerprint_key WHERE name = 'proposals'", kinds="b") or b"")

    def prune(self, retention: Retention) -> int:
        """Take the texts out of what was decided long ago: fingerprint and decision stay. Returns how many."""
        states = ", ".join(f"'{state}'" for state in DECIDED)
        past = f"steps != '' AND state IN ({states}) AND day <= (SELECT max(id) FROM days) - ?"
        with self._database.transaction() as db:
            back = self._taken_back()
            rows = list(db.execute(f"SELECT id FROM proposals WHERE {past}", (retention.days,)))
            old = [number for (number,) in rows if number not in back]
            for number in old:
                forget(db, number)
        return len(old)


def forget(db: apsw.Connection, number: int, note: str = "") -> None:
    """Take every text out of a proposal and leave its decision; `note` says why where it still waits."""
    decided = ", ".join(f"'{state}'" for state in DECIDED)
    db.execute(
        "UPDATE proposals SET steps = '', marks = '[]', why = '', hunks = '', note = ?1,"
        f" state = iif(state IN ({decided}), state, 'superseded') WHERE id = ?2",
        (note, number),
    )
    db.execute("DELETE FROM evidence WHERE proposal = ?", (number,))
    db.execute("DELETE FROM proposal_bases WHERE proposal = ?", (number,))


def forget_of(db: apsw.Connection, name: bytes, note: str = "") -> None:
    """Take the texts out of proposals that an observation shows, which is withheld by now.

    With a `note`, because it is redacted, in every state; else what was applied stays, because undo needs it.
    """
    word = b32encode(name).decode().lower()
    states = ", ".join(f"'{one}'" for one in (STATES if note else (*WAITING, "rejected", "superseded")))
    rows = db.execute(
        "SELECT DISTINCT p.id FROM proposals p JOIN evidence e ON e.proposal = p.id"
        f" WHERE (e.kind = 'observation' AND e.name = ?1 OR e.place = ?2) AND p.state IN ({states})",
        (word, f"observation {word[:8]}"),
    )
    for (number,) in list(rows):
        forget(db, number, note)


def texts(db: apsw.Connection) -> Iterator[tuple[int, tuple[bytes, ...]]]:
    """The texts in each proposal, by its number: what it writes, why, its note and its quotes."""
    for number, steps, why, note in list(db.execute("SELECT id, steps, why, note FROM proposals WHERE steps != ''")):
        quotes = [quote for (quote,) in db.execute("SELECT quote FROM evidence WHERE proposal = ?", (number,))]
        written = (getattr(step, "data", b"") for step in steps_from(steps))
        yield number, (*written, *(words.encode() for words in (why, note, *quotes)))


def _basis(new: Proposal) -> str:
    """A digest of what a proposal is about as it was then; empty without a version, so that nothing brings it back."""
    said = "\n".join([*new.bases, *(f"{one.name} {one.sha}" for one in new.evidence)])
    return sha256(said.encode()).hexdigest() if new.bases or any(one.sha for one in new.evidence) else ""


def _proposal(row: Row, evidence: tuple[Evidence, ...], *, reopened: bool) -> Proposal:
    made = Proposal(*(*row[:7], evidence, *row[7:]))
    return made._replace(
        id=str(made.id),
        steps=steps_from(row[4]) if row[4] else (),
        marks=tuple(MarkChange(*one) for one in json.loads(row[5])),
        confidence=float(made.confidence),
        state="open" if reopened else made.state,
        txn="" if row[13] is None or reopened else str(row[13]),
        folders=tuple((name, folder) for name, folder in json.loads(row[15])),
    )


def _cannot(known: Proposal, state: str) -> ConflictError:
    why = f" {known.note}" if known.note else ""
    return ConflictError(
        f"Proposal {known.id} is {known.state} and cannot be {state}.{why}", hint="`memtui review` shows what waits."
    )


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
            if one.state not in VOTED_ON:
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
