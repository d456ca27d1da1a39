"""Which texts were written here, and which a person reviewed: kept by their digests, so that one byte more is another.

Rows are only ever added, so that what is new since an earlier look is found by its number.
"""

import os
from collections.abc import Iterable
from typing import NamedTuple

from memtui.engine.ledger.database import Database, checked
from memtui.engine.ledger.repositories import RepositoryTable
from memtui.engine.model import LOCAL, REVIEWED


class Trusted(NamedTuple):
    """What may be given to agents unasked in one root."""

    shas: dict[str, str]
    """By sha-256, `LOCAL` or `REVIEWED`, which counts for more."""
    last: int
    """The number of the last row that was looked at."""
    family: tuple[tuple[int, bool], ...]
    """The roots whose rows count, and whether those written there do."""


class ReviewTable:
    """Texts that agents may be given unasked although their root lies in a checkout."""

    def __init__(self, database: Database, repositories: RepositoryTable) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        self._database = database
        self._repositories = repositories

    def write_local(self, uid: int, sha: str) -> None:
        """Remember that a text was written here. Call inside a transaction."""
        with self._database.transaction() as db:
            db.execute(_TRUST, (uid, bytes.fromhex(sha), LOCAL))

    def review(self, versions: Iterable[tuple[int, str, str]], *, actor: str, note: str = "") -> int:
        """Remember which texts a person reviewed, each with an audit record of its own.

        Args:
            versions: (root id, path, sha-256).
            actor: who.
            note: where.

        Returns:
            How many were not reviewed before.
        """
        count = 0
        with self._database.transaction() as db:
            for uid, path, sha in versions:
                key = bytes.fromhex(sha)
                if next(iter(db.execute(f"{_TRUST} RETURNING id", (uid, key, REVIEWED))), None) is None:
                    continue
                db.execute(
                    "INSERT INTO audit (root, path, actor, operation, before, after, at, state, note)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, 'done', ?7)",
                    (uid, os.fsencode(path), actor, REVIEWED, key, self._database.clock(), note),
                )
                count += 1
        return count

    @checked
    def trusted(self, uid: int, before: Trusted | None = None) -> Trusted:
        """The texts of a root that agents may be given unasked, those of its repository's other folders included.

        Args:
            uid: the root.
            before: what an earlier call gave, to read only what came since.
        """
        repository = self._repositories.repository(uid)
        rows = self._database.rows(_FAMILY, (uid, repository))
        family = tuple((int(root), bool(own)) for root, own in rows)
        ((last,),) = self._database.rows("SELECT coalesce(max(id), 0) FROM trusted")
        if before is None or before.family != family:
            before = Trusted({}, 0, family)
        if before.last == last:
            return before
        shas = dict(before.shas)
        for sha, state in self._database.rows(
            f"SELECT t.sha, t.state FROM trusted t JOIN ({_FAMILY}) f ON f.root = t.root"
            " WHERE t.id > ?3 AND (f.own OR t.state = 'reviewed') ORDER BY t.state = 'reviewed'",
            (uid, repository, before.last),
        ):
            if shas.get(sha.hex()) != REVIEWED:
                shas[sha.hex()] = state
        return Trusted(shas, last, family)

    @checked
    def trusts(self, uid: int, sha: str) -> bool:
        """Whether agents may be given one text of a root unasked."""
        found = self._database.row(
            f"SELECT 1 FROM trusted t JOIN ({_FAMILY}) f ON f.root = t.root"
            " WHERE t.sha = ?3 AND (f.own OR t.state = 'reviewed')",
            (uid, self._repositories.repository(uid), bytes.fromhex(sha)),
        )
        return found is not None

    def was_noted(self, uid: int, sha: str, note: str) -> bool:
        """Whether a text came into a root by a change with a note."""
        found = self._database.row(
            "SELECT 1 FROM audit WHERE root = ? AND after = ? AND note = ? LIMIT 1", (uid, bytes.fromhex(sha), note)
        )
        return found is not None


_TRUST = "INSERT OR IGNORE INTO trusted (root, sha, state) VALUES (?, ?, ?)"
_FAMILY = (
    "SELECT r.id AS root, r.id = ?1 OR r.repository IS ?2 AS own FROM roots r WHERE r.id = ?1 OR r.repository = ?2"
    " OR r.repository IN (SELECT k.id FROM repositories p JOIN repositories k ON k.lineage = p.lineage WHERE p.id = ?2)"
)
"""The folders of one's own repository, and those of clones that say they come from the same place: anybody can say so,
so only what a person reviewed counts there, because that is about bytes, wherever they are."""
