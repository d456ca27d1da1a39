"""Proposals: what was suggested, how each and each of its hunks was decided, and who carries it out.

A proposal whose transaction was undone is open again, and applied after a redo: that is read from the transaction and
never stored, so no crash can leave the two at odds. A rejected suggestion stays away until its subject changes. A vote
is only ever added, and bound to the steps it was given for.
"""

from __future__ import annotations

import contextlib
import json
from base64 import b32encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import state_file
from memtui.engine.ledger.audit import taken_back
from memtui.engine.ledger.database import Database, LedgerTable, Row, checked, insert, listed
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

    from memtui.engine.ledger.turns import JournalTable

_COLUMNS = (
    "id, run, proposer, kind, steps, marks, why, confidence, fingerprint, state, at, decided_by, decided_at, txn, note,"
    " folders, turn"
)
_CELLS = "ittttttrttitIIttt"


VOTED_ON = ("open", "later")


class ProposalTable(LedgerTable):
    """Proposals with their evidence."""

    def __init__(self, database: Database, versions: VersionTable) -> None:
        super().__init__(database)
        self._versions = versions

    def add(self, proposals: Iterable[Proposal], *, turn: str | None = None) -> tuple[Proposal, ...]:
        """Store proposals, each suggestion once; one that was rejected stays away.

        Returns for each the stored proposal: a new one, or the earlier one that keeps it away; a rejected one's `note`
        says why. An older one about other versions is superseded. `turn` is the one it was asked for in, empty for
        none; None: the one that the door's session executes.
        """
        chosen = tuple(proposals)
        if not chosen:
            return ()
        with self._database.transaction() as db:
            of = self.turn(db) if turn is None else turn
            return tuple(self._add(db, new._replace(turn=new.turn or of)) for new in chosen)

    def _add(self, db: apsw.Connection, new: Proposal) -> Proposal:
        if not new.evidence:
            raise ValueError("a proposal without evidence")
        refusal = self.refusal(new)
        if refusal is not None:
            return self.get(refusal)
        known = self.keeps_away(new)
        if known is not None:
            return known
        for (number,) in list(db.execute("SELECT id FROM proposals WHERE fingerprint = ?", (new.fingerprint,))):
            if self.get(str(number)).state in WAITING:
                self._conclude(db, number, "superseded", note="It was proposed anew.")
        number = insert(
            db,
            "proposals",
            **{name: getattr(new, name) for name in ("run", "kind", "why", "confidence", "fingerprint", "state")},
            proposer=new.by,
            steps=steps_json(new.steps),
            marks=json.dumps(new.marks),
            basis=_basis(new),
            at=self.clock(),
            note=new.note,
            folders=json.dumps(new.folders),
            turn=new.turn,
        )
        db.executemany(
            "INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(number, nth, *one) for nth, one in enumerate(new.evidence)],
        )
        db.executemany(
            "INSERT OR IGNORE INTO proposal_bases VALUES (?, ?)", [(number, bytes.fromhex(sha)) for sha in new.bases]
        )
        return self.get(str(number))

    @checked
    def keeps_away(self, new: Proposal) -> Proposal | None:
        """Return the same suggestion about the same versions that is waiting, done or rejected; see `add`."""
        alike = "SELECT id FROM proposals WHERE fingerprint = ? AND basis = ? ORDER BY id DESC"
        for (number,) in self._database.rows(alike, (new.fingerprint, _basis(new)), kinds="i"):
            known = self.get(str(number))
            if known.state in KEEPS_AWAY:
                return known
        return None

    @checked
    def get(self, number: str) -> Proposal:
        """Return a proposal by id; raises `E_NOT_FOUND`."""
        found = self._read("id = ?", (int(number),)) if number.isdecimal() and len(number) < 16 else []
        if not found:
            raise NotFoundError(f"There is no proposal {number}.", hint="`memtui review` lists them.")
        return found[0]

    @checked
    def all(self, states: Collection[str] = (), *, limit: int = -1) -> tuple[Proposal, ...]:
        """Return proposals of all projects in some states (none given: all), oldest first."""
        back = ", ".join(map(str, self._taken_back()))
        wanted = listed(state for state in STATES if state in states or not states)
        opened = f"OR id IN ({back})" if not states or "open" in states else ""
        where = f"(state IN ({wanted}) AND id NOT IN ({back})) {opened} ORDER BY id LIMIT ?"
        return tuple(self._read(where, (limit,)))

    @checked
    def of(self, txns: Collection[str]) -> dict[str, list[Proposal]]:
        """Return the proposals that these undo steps applied, by step, oldest first; also of steps undone since."""
        where = f"txn IN ({', '.join(str(int(txn)) for txn in txns if txn)})"
        rows = self._database.rows(f"SELECT id, txn FROM proposals WHERE {where}", kinds="ii")
        steps = {str(number): str(txn) for number, txn in rows}
        by_step: dict[str, list[Proposal]] = {}
        for proposal in self._read(f"{where} ORDER BY id", ()) if steps else ():
            by_step.setdefault(steps[proposal.id], []).append(proposal)
        return by_step

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
        """Return the proposals whose undo step was undone and not redone."""
        applied: dict[int, int] = dict(
            self._database.rows("SELECT id, txn FROM proposals WHERE txn NOT NULL AND steps != ''", kinds="ii")
        )
        undone = taken_back(self._database, min(applied.values(), default=1 << 62))
        return frozenset(number for number, txn in applied.items() if txn in undone)

    def turn(self, db: apsw.Connection) -> str:
        """Return the turn that the door's session executes, and note its activity; empty for none."""
        from memtui.engine.ledger.turns import sign

        session = self._database.session
        return (sign(db, session, self.clock()) if session else None) or ""

    def refusal(self, new: Proposal) -> str | None:
        """Return the id of the proposal by which a person refused all of this kind; see `NEVER`."""
        like = "SELECT id FROM proposals WHERE standing AND proposer = ? AND kind = ? AND folders = ?"
        return self._first(str, like, new.by, new.kind, json.dumps(new.folders), kinds="i")

    def counter(self) -> tuple[int, int]:
        """Return a value that changes when the answers may have changed."""
        return self._database.change_counter()

    def decide(self, ids: Iterable[str], state: str, *, by: str, note: str = "", txn: str = "") -> None:
        """Decide about all of these proposals or none: `open`, `later`, `accepted`, `rejected` or `NEVER`.

        A rejected one can become `open` or `blocked`. An empty `note` keeps the earlier one. With `txn`, an undo step
        that is part of the decision, the proposal waits again once that is undone. Raises `E_NOT_FOUND`, `E_CONFLICT`.
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
                    (state, by, self.clock(), note, int(txn) if txn else None, int(number), standing),
                )

    def rejected_hunks(self, number: str) -> frozenset[tuple[int, int]]:
        """Return the rejected hunks of a proposal as (step, hunk), both from 0."""
        hunks = self._cell("SELECT hunks FROM proposals WHERE id = ?", int(number), kinds="t")
        return frozenset((step, hunk) for step, hunk in json.loads(hunks or "[]"))

    def decide_hunk(self, number: str, step: int, hunk: int, *, rejected: bool) -> None:
        """Decide about one hunk: of the text a step starts from and the one it writes."""
        with self._database.transaction() as db:
            if self.get(number).state not in ("open", "later", "accepted", "stale"):
                raise _cannot(self.get(number), "decided by hunks")
            kept = set(self.rejected_hunks(number)) - {(step, hunk)} | ({(step, hunk)} if rejected else set())
            db.execute("UPDATE proposals SET hunks = ? WHERE id = ?", (json.dumps(sorted(kept)), int(number)))

    def revise(self, number: str, steps: Iterable[Step]) -> Proposal:
        """Replace the steps of a waiting proposal by a person's edit; decisions about its hunks are void.

        The texts as first proposed stay as evidence.
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

    def alone(self, *, wait: bool = True) -> contextlib.AbstractContextManager[bool]:
        """Let one process at a time apply proposals: one found half applied inside is a dead process's.

        Without `wait` the block runs in any case; the value tells whether the lock is held.
        """
        return state_file.hold_lock(self._database.directory, "review.lock", wait=wait)

    def claim(self, ids: Collection[str], cause: str) -> frozenset[str]:
        """Claim accepted proposals for this process, inside `alone`; return those that were accepted.

        The transaction will name `cause`, so that a dead process's is found again.
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
        """Return the proposals being applied: ids, and the cause of each."""
        rows = self._database.rows("SELECT id, cause FROM proposals WHERE state = 'applying'", kinds="it")
        return {str(number): cause for number, cause in rows}

    def settle(self, states: Mapping[str, tuple[str, str]], txn: str = "") -> None:
        """Give applied proposals their state and note, by id; `txn` applied those that are `applied`."""
        with self._database.transaction() as db:
            for number, (state, note) in states.items():
                if self.get(number).state not in DECIDED:
                    done = int(txn) if txn and state == "applied" else None
                    self._conclude(db, int(number), state, note=note, txn=done)

    def _conclude(self, db: apsw.Connection, number: int, state: str, *, note: str, txn: int | None = None) -> None:
        db.execute(
            "UPDATE proposals SET state = ?, note = iif(?2 = '', note, ?2), txn = ?,"
            " decided_at = coalesce(decided_at, ?), day = (SELECT max(id) FROM days) WHERE id = ?",
            (state, note, txn, self.clock(), number),
        )

    def keep_base(self, *texts: bytes) -> None:
        """Store the texts that proposals start from, so that they can be merged with later ones."""
        by_sha = {sha256(data).digest(): data for data in texts}
        new = [sha for sha in by_sha if not self._has("SELECT 1 FROM blobs WHERE sha = ?", sha)]
        if new:
            with self._database.transaction():
                for sha in new:
                    self._versions.store(by_sha[sha], sha.hex())

    def base(self, sha: str) -> bytes | None:
        """Return the text a proposal starts from, or None; raises what `VersionTable.blob` does."""
        return self._versions.blob(sha)

    def key(self) -> bytes:
        """Return the key of fingerprints, without which a text cannot be guessed from one."""
        return bytes(self._cell("SELECT key FROM fingerprint_key WHERE name = 'proposals'", kinds="b") or b"")

    def prune(self, retention: Retention) -> int:
        """Delete the texts of proposals decided long ago, keeping fingerprint and decision; return how many."""
        past = f"steps != '' AND state IN ({listed(DECIDED)}) AND day <= (SELECT max(id) FROM days) - ?"
        with self._database.transaction() as db:
            back = self._taken_back()
            rows = list(db.execute(f"SELECT id FROM proposals WHERE {past}", (retention.days,)))
            old = [number for (number,) in rows if number not in back]
            for number in old:
                forget(db, number)
        return len(old)


def forget(db: apsw.Connection, number: int, note: str = "") -> None:
    """Delete all texts of a proposal and keep its decision; one that waits is superseded, and `note` says why."""
    db.execute(
        "UPDATE proposals SET steps = '', marks = '[]', why = '', hunks = '', note = ?1,"
        f" state = iif(state IN ({listed(DECIDED)}), state, 'superseded') WHERE id = ?2",
        (note, number),
    )
    db.execute("DELETE FROM evidence WHERE proposal = ?", (number,))
    db.execute("DELETE FROM proposal_bases WHERE proposal = ?", (number,))


def forget_of(db: apsw.Connection, name: bytes, note: str = "") -> None:
    """Delete the texts of proposals that show an observation which is now withheld.

    With a `note`, because it is redacted, in every state; otherwise applied ones stay, as undo needs them.
    """
    word = b32encode(name).decode().lower()
    states = listed(STATES if note else (*WAITING, "rejected", "superseded"))
    rows = db.execute(
        "SELECT DISTINCT p.id FROM proposals p JOIN evidence e ON e.proposal = p.id"
        f" WHERE (e.kind = 'observation' AND e.name = ?1 OR e.place = ?2) AND p.state IN ({states})",
        (word, f"observation {word[:8]}"),
    )
    for (number,) in list(rows):
        forget(db, number, note)


def texts(db: apsw.Connection) -> Iterator[tuple[int, tuple[bytes, ...]]]:
    """Yield the texts in each proposal, by id: what it writes, why, its note and its quotes."""
    for number, steps, why, note in list(db.execute("SELECT id, steps, why, note FROM proposals WHERE steps != ''")):
        quotes = [quote for (quote,) in db.execute("SELECT quote FROM evidence WHERE proposal = ?", (number,))]
        written = (getattr(step, "data", b"") for step in steps_from(steps))
        yield number, (*written, *(words.encode() for words in (why, note, *quotes)))


def _basis(new: Proposal) -> str:
    """Return a digest of what a proposal is about; empty without a version, so that no change brings it back."""
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
    """One voter's answer."""

    voter: str
    """As the approval rule names them."""
    name: str
    yes: bool
    person: str
    """Keyed hash of the person: each has one vote, under whichever voter name."""


class VoteTable(LedgerTable):
    """Votes by proposal."""

    def __init__(self, database: Database, proposals: ProposalTable, journal: JournalTable) -> None:
        super().__init__(database)
        self._proposals, self._journal = proposals, journal

    def cast(self, number: str, vote: Vote, judge: Callable[[Mapping[str, Vote]], tuple[str, str]]) -> str:
        """Add a vote, and decide about the proposal if it is the last one needed; return the decision or `""`.

        `judge` turns each voter's newest answer into `accepted`, `rejected` or empty, and why. Raises `E_DECIDED`.
        """
        with self._database.transaction() as db:
            proposal = self._proposals.get(number)
            if proposal.state not in VOTED_ON:
                by = f" by {proposal.decided_by}" if proposal.decided_by else ""
                text = f"Proposal {number} is {proposal.state}{by} by now."
                raise ConflictError(text, code="E_DECIDED", hint=proposal.note or "Nothing is left to do.")
            steps = steps_sha(proposal)
            insert(db, "votes", proposal=int(number), steps=steps, at=self.clock(), **vote._asdict())
            body = {"proposal": int(number), "steps": steps.hex(), "voter": vote.voter, "yes": vote.yes}
            state, why = judge(self.of(proposal))
            if state:
                self._proposals.decide([number], state, by=f"{vote.name} ({vote.voter})", note=why)
            self._journal.add("vote", {**body, "decided": state})
            return state

    def count(self) -> int:
        """Return the number of votes on all proposals."""
        return int(self._cell("SELECT count(*) FROM votes", kinds="i"))

    def of(self, proposal: Proposal) -> Mapping[str, Vote]:
        """Return each voter's newest answer to the present steps; only the newest of each person."""
        sql = (
            "SELECT voter, name, yes, iif(person = '', voter, person) FROM votes WHERE proposal = ?"
            " AND steps = ? ORDER BY id"
        )
        newest: dict[str, Vote] = {}
        for vote in self._all(Vote, sql, int(proposal.id), steps_sha(proposal), kinds="ttft"):
            newest = {voter: before for voter, before in newest.items() if before.person != vote.person}
            newest[vote.voter] = vote
        return newest


def steps_sha(proposal: Proposal) -> bytes:
    """Return the digest of a proposal's steps, which a vote is for."""
    return sha256(steps_json(proposal.steps).encode()).digest()
