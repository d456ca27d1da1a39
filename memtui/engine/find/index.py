"""The text index: a disposable SQLite database in the state folder that tells which texts hold a word.

Nothing depends on it: if it is missing, damaged, busy or read-only, texts are read from their files. A text is stored
by root folder and sha-256, so an entry is never wrong, only missing. It is apart because redaction empties it too.
"""

import contextlib
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from unicodedata import combining, normalize, unidata_version

import apsw

from memtui.engine.disk import fsio
from memtui.errors import StorageError
from memtui.matching import EXACT, INFIX, PREFIX, Term

NAME = "index.db"
FORMAT = 1_000_000 + int(unidata_version.replace(".", ""))
"""Changes with `_SCHEMA`, `words` and the version of Unicode, on which `words` depends."""
BUSY_MS = 100
"""How long a search waits for another process before it reads the files."""
EMPTYING_MS = 10_000
"""How long a redaction waits for other processes."""
LARGEST = 4 * 1024 * 1024
"""Largest indexed text in bytes; a larger one is read from its file each time."""
_BATCH = 64
"""Texts written in one transaction."""
_CHECKPOINT_PAGES = 4_000
_LONGEST = 1_000
"""Letters of a searched word; longer runs are stored in overlapping pieces of twice as many."""
_MANY = 1_000
"""Words that contain a part; with more of them reading the texts is faster."""
_AT_ONCE = 32
"""Words of one query: every row of its answer checks all of them."""
_FEW = 64
"""Texts that are checked between two calls of `stop`."""
_SCHEMA = """
CREATE TABLE state (generation INTEGER NOT NULL, spilled INTEGER NOT NULL);
INSERT INTO state VALUES (abs(random()), 0);
CREATE TABLE bodies (id INTEGER PRIMARY KEY AUTOINCREMENT, folded TEXT NOT NULL);
CREATE TABLE texts (
  root BLOB NOT NULL, sha TEXT NOT NULL, id INTEGER NOT NULL, plain INTEGER NOT NULL, PRIMARY KEY (root, sha)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(word, content='', detail='none', columnsize=0, tokenize='ascii');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
"""

_MATCH = "SELECT rowid FROM words WHERE words MATCH ?"
_ALL = "SELECT json_group_array(rowid) FROM words WHERE words MATCH ?"
"""The same as one row, which is read faster than thousands."""

_RUN = re.compile(r"[^\W_]+")
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
"""Thai, Lao, Burmese, Khmer, kana and Han, which are written without spaces."""
_PARTS = re.compile(rf"([{UNSPACED}]+)|([^{UNSPACED}]+)")
_BLANKS = bytes(code if chr(code).isalnum() else 32 for code in range(128)) + bytes(128)


class _Plain(dict[int, str]):
    """Folds characters: compatible forms become one, without marks, in one case."""

    def __missing__(self, code: int) -> str:
        kept = [one for one in normalize("NFKD", chr(code)) if not combining(one)]
        found = self[code] = "".join(kept).casefold()
        return found


_PLAIN = _Plain()
# One character at a time: so a part of a text has a part of its words, and hostile text takes no longer.


class Words(NamedTuple):
    """The words of a text or of a query."""

    words: tuple[str, ...]
    """Each once; in scripts without spaces, every pair of adjacent signs."""
    plain: bool
    """Whether they are simply the runs of letters and digits of the text."""


def plain(folded: str) -> str:
    """Fold a text as its words are compared."""
    return folded if folded.isascii() else folded.translate(_PLAIN)


def words(folded: str) -> Words:
    """Split a folded text into words, the same way for texts and queries."""
    if folded.isascii():
        runs = folded.encode().translate(_BLANKS).decode().split()
        if not runs or len(max(runs, key=len)) <= _LONGEST:
            return Words(tuple(dict.fromkeys(runs)), plain=True)
    compared = folded.translate(_PLAIN)
    found: dict[str, None] = {}
    plain = compared == folded
    for run in _RUN.findall(compared):
        for unspaced, other in _PARTS.findall(run):
            if len(other) > _LONGEST:
                plain = False
                found.update(dict.fromkeys(other[at : at + 2 * _LONGEST] for at in range(0, len(other), _LONGEST)))
            elif other:
                found[other] = None
            else:
                plain = False
                pairs = [unspaced[at : at + 2] for at in range(len(unspaced) - 1)]
                found.update(dict.fromkeys(pairs or [unspaced]))
    return Words(tuple(found), plain)


Grades = dict[int, int]
"""How texts hold a term, by text number; see `Term.grade`."""


Held = dict[str, dict[str, int]]
"""Text numbers, by root folder and sha-256."""


class IndexAnswer(NamedTuple):
    """The index's answer."""

    held: Held
    """The texts it has; the same object while nothing changes."""
    grades: tuple[Grades, ...]
    """For each term, the texts that hold it."""


class _Known(NamedTuple):
    roots: Collection[str]
    all: set[int]
    odd: set[int]
    """Texts whose words are not simply their runs of letters and digits."""


_NOTHING = _Known((), set(), set())


class Text(NamedTuple):
    """A text to index."""

    root: str
    sha256: str
    folded: str


class TextIndex:
    """The index, queried by one thread at a time."""

    def __init__(self, directory: str) -> None:
        self._path = os.path.join(directory, NAME)
        self._db: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._state: tuple[int, ...] = ()
        self._held: Held = {}
        self._known = _NOTHING
        self._vocabulary: str | None = None

    def ask(
        self, roots: Collection[str], terms: Sequence[Term], *, inside: bool, stop: Callable[[], bool]
    ) -> IndexAnswer | None:
        """Ask which texts hold some terms; None when the index cannot answer.

        With `inside` also as parts of words; without it the answer is faster. `stop` is polled and cuts the answer
        short.
        """

        def answer(database: apsw.Connection, known: _Known) -> IndexAnswer:
            asked = _Asked(database, known, self._words_of(database) if inside else None, stop)
            return IndexAnswer(self._held, tuple(asked.grades(term) for term in terms))

        return self._answer(roots, answer)

    def holding(self, roots: Collection[str], asked: Sequence[str]) -> IndexAnswer | None:
        """Ask which texts have some whole words; see `ask` and `words`."""

        def answer(database: apsw.Connection, _: _Known) -> IndexAnswer:
            rows = [next(database.execute(_ALL, (f'"{word}"',)))[0] for word in asked]
            return IndexAnswer(self._held, tuple(dict.fromkeys(json.loads(found), EXACT) for found in rows))

        return self._answer(roots, answer)

    def _answer(
        self, roots: Collection[str], question: Callable[[apsw.Connection, _Known], IndexAnswer]
    ) -> IndexAnswer | None:
        """Ask in one transaction; None when the index cannot answer."""
        try:
            database = self._open()
            if database is None:
                return None
            database.execute("BEGIN")
            try:
                self._refresh(database)
                return question(database, self._known_in(database, roots))
            finally:
                database.execute("ROLLBACK")
        except (apsw.Error, UnicodeDecodeError) as error:
            self.close()
            if isinstance(error, (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError)):
                with contextlib.suppress(OSError):
                    discard(os.path.dirname(self._path))
            return None

    @property
    def warm(self) -> bool:
        """Whether the vocabulary is loaded, so that the next answer is fast."""
        return self._vocabulary is not None

    def forget(self) -> None:
        """Release cached data."""
        self._state, self._held, self._known, self._vocabulary = (), {}, _NOTHING, None

    def close(self) -> None:
        """Close it; the next question opens it again."""
        self.forget()
        if self._db is not None:
            self._db.close()
        self._db = None

    def _open(self) -> apsw.Connection | None:
        identity = _identity(self._path)
        if self._db is not None and identity != self._identity:
            self.close()  # somebody removed it, because it was damaged
        if self._db is None and identity is not None:
            database = _connect(self._path)
            if _format(database) != FORMAT:
                database.close()
                return None
            self._db, self._identity = database, identity
        return self._db

    def _refresh(self, database: apsw.Connection) -> None:
        state = (_generation(database), database.pragma("data_version"))
        if state != self._state:
            self.forget()
            self._state = state

    def _known_in(self, database: apsw.Connection, roots: Collection[str]) -> _Known:
        if self._known.roots != roots:
            self._known, self._held = _Known(roots, set(), set()), {}
            for root in roots:
                rows = list(database.execute("SELECT sha, id, plain FROM texts WHERE root = ?", (os.fsencode(root),)))
                self._held[root] = {sha: number for sha, number, _ in rows}
                self._known.all.update(self._held[root].values())
                self._known.odd.update(number for _, number, plain in rows if not plain)
        return self._known

    def _words_of(self, database: apsw.Connection) -> str:
        if self._vocabulary is None:
            found = [word for (word,) in database.execute("SELECT term FROM vocabulary")]
            self._vocabulary = "\n".join(["", *found, ""])
        return self._vocabulary


class _Asked(NamedTuple):
    database: apsw.Connection
    known: _Known
    vocabulary: str | None
    stop: Callable[[], bool]

    def grades(self, term: Term) -> Grades:
        first, *more = map(self._grades, term.forms)
        for grades in more:
            for number, grade in grades.items():
                first[number] = min(grade, first.get(number, grade))
        return first

    def _grades(self, form: str) -> Grades:
        asked = words(form)
        holders = {word: self._holders(word[:_LONGEST]) for word in asked.words}
        if asked.plain and asked.words == (form,) and (holding := holders[form]) is not None:
            found: Grades = {}
            for grade, pattern in holding:
                found.update(dict.fromkeys(self._match(pattern), grade))
            odd = found.keys() & self.known.odd
            for number in odd:
                del found[number]
            found.update(self._looked_at(form, odd))
            return found
        patterns = [" OR ".join([pattern for _, pattern in some]) for some in holders.values() if some is not None]
        if patterns:
            matching = self._match(" AND ".join([f"({pattern})" for pattern in patterns]))
            return dict(self._looked_at(form, self.known.all & set(matching)))
        return {} if self.vocabulary is None else dict(self._looked_at(form, self.known.all))

    def _holders(self, word: str) -> list[tuple[int, str]] | None:
        """Return queries for words with this part, with grades, best ones last; None when there are too many."""
        exact = (EXACT, f'"{word}"')
        if self.vocabulary is None:
            return [(PREFIX, f'"{word}" *'), exact]
        longer = _longer(self.vocabulary, word)
        if longer is None:
            return None
        found = []
        for grade in (INFIX, PREFIX):
            some = [f'"{other}"' for other in longer if other.startswith(word) is (grade == PREFIX)]
            for start in range(0, len(some), _AT_ONCE):
                found.append((grade, " OR ".join(some[start : start + _AT_ONCE])))
        return [*found, exact]

    def _match(self, pattern: str) -> list[int]:
        return [number for (number,) in self.database.execute(_MATCH, (pattern,))]

    def _looked_at(self, form: str, candidates: Collection[int]) -> Iterator[tuple[int, int]]:
        """Yield those of some texts that hold a form, by reading each."""
        term = Term((form,))
        rows = self.database.execute(
            "SELECT id, folded FROM bodies WHERE id IN (SELECT value FROM json_each(?))", (str(list(candidates)),)
        )
        for count, (number, folded) in enumerate(rows if candidates else ()):
            if count % _FEW == 0 and self.stop():
                return
            if form in folded:
                yield number, term.grade(folded) or 0


def _longer(vocabulary: str, part: str) -> list[str] | None:
    found = []
    at = vocabulary.find(part)
    while at >= 0:
        word = vocabulary[vocabulary.rfind("\n", 0, at) + 1 : vocabulary.find("\n", at)]
        if word != part:
            found.append(word)
            if len(found) > _MANY:
                return None
        at = vocabulary.find(part, vocabulary.find("\n", at))
    return found


def keep(
    directory: str, whole: Mapping[str, Collection[str | None]], texts: Iterable[Text], *, stop: Callable[[], bool]
) -> bool:
    """Update the index, creating it if need be; return false when it cannot be written.

    `whole` has the sha-256 of all texts of some roots, by folder: other entries of these are removed.
    """
    try:
        with _writing(directory) as database:
            _shred(database)
            generation = _generation(database)
            _drop_gone(database, whole)
            batch: list[Text] = []
            for text in texts:
                batch.append(text)
                if len(batch) == _BATCH:
                    if not _add(database, batch, generation) or stop():
                        return True
                    batch.clear()
            _add(database, batch, generation)
    except (apsw.NotADBError, apsw.CorruptError):
        with contextlib.suppress(OSError):
            discard(directory)
        return False
    except (apsw.Error, OSError):
        return False
    return True


def empty(directory: str) -> None:
    """Remove every text from the index, down to the bytes, because one of them is redacted."""
    if _identity(os.path.join(directory, NAME)) is None:
        return
    try:
        try:
            with _writing(directory) as database:
                database.set_busy_timeout(EMPTYING_MS)
                with database:
                    database.execute("INSERT INTO words (words) VALUES ('delete-all')")
                    database.execute("DELETE FROM texts; DELETE FROM bodies")
                    database.execute("UPDATE state SET generation = generation + 1, spilled = 1")
                database.execute("VACUUM")
                _shred(database)
        except (apsw.NotADBError, apsw.CorruptError):
            discard(directory)
    except (apsw.Error, OSError) as error:
        raise StorageError(
            f"The search index {os.path.join(directory, NAME)} cannot be emptied: {error}.",
            code="E_STORE",
            unharmed="The text is redacted everywhere else.",
            hint="Delete this file; it is made again.",
        ) from error


def is_spilled(directory: str) -> bool:
    """Tell whether bytes of removed texts may still be there."""
    path = os.path.join(directory, NAME)
    if _identity(path) is None:
        return False
    try:
        with contextlib.closing(_connect(path)) as database:
            return _format(database) == FORMAT and bool(next(iter(database.execute("SELECT spilled FROM state")))[0])
    except apsw.Error:
        return False  # it cannot be read, so it holds nothing for anybody; the next search makes it anew


def discard(directory: str) -> None:
    """Delete the index; raises OSError."""
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(directory, NAME + suffix))


@contextlib.contextmanager
def _writing(directory: str) -> Iterator[apsw.Connection]:
    path = os.path.join(directory, NAME)
    database = _made(directory, path)
    try:
        if _format(database) != FORMAT:
            database.close()
            discard(directory)
            database = _made(directory, path)
        yield database
    finally:
        database.close()


def _made(directory: str, path: str) -> apsw.Connection:
    if not os.path.lexists(path):
        fsio.make_root(directory)
        with contextlib.suppress(FileExistsError):  # another process was faster, and makes the same
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    if _identity(path) is None:
        raise OSError(f"{path} is not a regular file")
    database = _connect(path)
    try:
        database.wal_autocheckpoint(_CHECKPOINT_PAGES)
        for name, value in (("journal_mode", "wal"), ("synchronous", "normal"), ("secure_delete", "on")):
            database.pragma(name, value)
        if not _format(database):
            with database:
                if not _format(database):
                    database.execute(_SCHEMA)
                    database.pragma("user_version", FORMAT)
    except BaseException:
        database.close()
        raise
    return database


def _connect(path: str) -> apsw.Connection:
    database = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    database.set_busy_timeout(BUSY_MS)
    database.transaction_mode = "IMMEDIATE"
    return database


def _drop_gone(database: apsw.Connection, whole: Mapping[str, Collection[str | None]]) -> None:
    """Remove texts that their roots no longer have, and those of missing roots, down to the bytes."""
    gone: list[tuple[bytes, str, int]] = []
    kept = {os.fsencode(root): shas for root, shas in whole.items()}
    roots = [root for (root,) in database.execute("SELECT DISTINCT root FROM texts")]
    lost = {root for root in roots if root not in kept and not os.path.isdir(root)}
    for root in roots:
        if root in kept or root in lost:
            rows = database.execute("SELECT root, sha, id FROM texts WHERE root = ?", (root,))
            gone += [row for row in rows if root in lost or row[1] not in kept[root]]
    for start in range(0, len(gone), _BATCH):
        with database:
            for root, sha, number in gone[start : start + _BATCH]:
                database.execute("DELETE FROM texts WHERE root = ? AND sha = ?", (root, sha))
                for (folded,) in database.execute("DELETE FROM bodies WHERE id = ? RETURNING folded", (number,)):
                    removed = (number, " ".join(words(folded).words))
                    database.execute("INSERT INTO words (words, rowid, word) VALUES ('delete', ?, ?)", removed)
            database.execute("UPDATE state SET spilled = 1")
    _shred(database)


def _add(database: apsw.Connection, texts: Iterable[Text], generation: int) -> bool:
    """Add texts; return false when the index was emptied since they were read."""
    with database:
        if _generation(database) != generation:
            return False
        for text in texts:
            key = (os.fsencode(text.root), text.sha256)
            if next(iter(database.execute("SELECT 1 FROM texts WHERE root = ? AND sha = ?", key)), None) is None:
                database.execute("INSERT INTO bodies (folded) VALUES (?)", (text.folded,))
                number = database.last_insert_rowid()
                its = words(text.folded)
                database.execute("INSERT INTO words (rowid, word) VALUES (?, ?)", (number, " ".join(its.words)))
                database.execute("INSERT INTO texts VALUES (?, ?, ?, ?)", (*key, number, its.plain))
    return True


def _shred(database: apsw.Connection) -> None:
    """Truncate the log, which still holds removed texts, unless another process reads it."""
    if next(iter(database.execute("SELECT spilled FROM state")))[0]:
        ((busy, _, _),) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if not busy:
            database.execute("UPDATE state SET spilled = 0")


def _generation(database: apsw.Connection) -> int:
    return int(next(iter(database.execute("SELECT generation FROM state")))[0])


def _format(database: apsw.Connection) -> int:
    return int(database.pragma("user_version"))


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
