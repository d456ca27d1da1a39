"""Memories an agent can name: those of memtui's own roots, by the paths of the memory tool, in one fixed order.

Another order would break the prompt cache of agents. A missing memory that is withheld may be there under another name,
so files that are like it are withheld as well, from observations and from what agents are given alike.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple, Self

from memtui.engine import Engine
from memtui.engine.frontmatter.read import PRIVATE_DESCRIPTION, read_as_shown
from memtui.engine.model import BROUGHT, SCOPES, Address, Memory, Problem, Root, RootStatus
from memtui.engine.observation import ObservationMark
from memtui.engine.policy import ARCHIVE
from memtui.errors import MemtuiError, RefusedError
from memtui.markers import cut

WITHHELD = Problem("withheld", "You withhold it, or an entry of it, from agents: none is given it unasked.")


class ScopeListing(NamedTuple):
    """The memories of one scope."""

    place: str
    status: RootStatus
    rows: tuple[Memory, ...]
    """By path; missing and archived ones are left out, unless pinned."""


def roots(engine: Engine, scopes: frozenset[str] | None = None) -> tuple[Root, ...]:
    """Return memtui's own roots of this engine in the order of scopes, optionally only those of `scopes`."""
    known = {root.id: root for root in engine.roots.all()}
    wanted = SCOPES if scopes is None else [scope for scope in SCOPES if scope in scopes]
    return tuple(known[root_id] for scope in wanted if (root_id := f"memtui:{scope}") in known)


def look(engine: Engine, scopes: frozenset[str] | None = None) -> tuple[ScopeListing, ...]:
    """List the memories of every scope as they are on disk, without withheld ones; records nothing."""
    hidden = withheld(engine)

    def given(rows: Iterable[Memory]) -> tuple[Memory, ...]:
        return there((row for row in rows if row.pinned or not row.address.path.startswith(ARCHIVE)), hidden)

    return tuple(listings(engine, roots(engine, scopes), lambda root: f"/memories/{root.scope}", given))


def listings(
    engine: Engine,
    roots: Iterable[Root],
    place: Callable[[Root], str],
    given: Callable[[Iterable[Memory]], tuple[Memory, ...]],
) -> Iterator[ScopeListing]:
    """Yield the memories of some roots; `given` filters those of one root."""
    listing = engine.rows.list([root.id for root in roots])
    for status in listing.roots:
        rows = (row for row in listing.items if row.address.root == status.root.id)
        yield ScopeListing(place(status.root), status, given(rows))


def there(rows: Iterable[Memory], hidden: Callable[[Address, str | None], bool]) -> tuple[Memory, ...]:
    """Filter rows as an agent may see them: no missing, withheld or `<no-memory>` ones, no `<private>` descriptions."""
    there = (row for row in rows if not (row.missing or hidden(row.address, row.sha256)))
    kept = (row for row in there if all(one.code != "no-memory" for one in row.problems))
    return tuple([row._replace(description=given_description(row)) for row in kept])


def given_description(row: Memory) -> str:
    """Return a description without the parts marked as private."""
    if any(one.code == PRIVATE_DESCRIPTION for one in row.problems):
        return ""
    return cut(row.description).text


def is_person(engine: Engine) -> bool:
    """Return whether withheld memories may be shown: not where an agent runs the screen or the command."""
    with suppress(RefusedError):
        engine.redaction.require_person("see what is withheld")
        return True
    return False


def decided(engine: Engine) -> frozenset[Address]:
    """Return the memories with a withheld observation, by the names they had."""
    names = engine.roots.names()
    return frozenset(Address(names[uid], path) for uid, path in engine.observations.withheld() if uid in names)


def withheld(engine: Engine, *, person: bool = False) -> Callable[[Address, str | None], bool]:
    """Return a predicate for the memories that a person withholds from agents.

    A file with a withheld observation is left out whole, since agents cut files into entries differently; so is a file
    with the SHA-256 of any of its versions, as it may have been renamed or copied. While such a file is missing, so are
    new files like it. Viewing a memory by name is governed by `[access]` alone.
    """
    if person:
        return lambda *_: False
    if not engine.observations.withheld():
        return lambda *_: False
    hidden = decided(engine)
    names, marks = engine.roots.names(), engine.observations.marks()
    uids = {name: uid for uid, name in names.items()}
    copies = engine.observations.withheld_texts()
    lost = lost_memories(engine, marks, names, lambda _, address: _is_there(engine, address))
    may_be = lost_matcher(engine, lost, marks)

    def is_withheld(address: Address, sha256: str | None) -> bool:
        if address in hidden or sha256 in copies:
            return True
        return bool(lost) and bool(may_be((uids.get(address.root, 0), address.path), address, sha256))

    return is_withheld


def _is_there(engine: Engine, address: Address) -> bool:
    with suppress(MemtuiError):
        return engine.folders.kind(address) == "file"
    return False


def reviewed(row: Memory) -> bool:
    """Return whether a memory may be given unasked: no repository brought it, or a person reviewed it."""
    return row.trust != BROUGHT


def readable(row: Memory) -> bool:
    """Return whether an agent can read it as text."""
    return row.sha256 is not None and not any(one.code == "E_TEXT" for one in row.problems)


def openable(rows: Iterable[Memory]) -> list[Memory]:
    """Filter out links and files that are not regular."""
    return [row for row in rows if row.sha256 is not None]


def texts(
    engine: Engine, roots: Iterable[Root], rows: Iterable[Memory] | None = None, *, cancelled: Callable[[], bool] = bool
) -> Iterator[tuple[Root, Memory, bytes]]:
    """Read memories of some roots, all or these rows; without indexes and files that disappeared."""
    here = {root.id: root for root in roots}
    for row in engine.rows.list(list(here)).items if rows is None else rows:
        root = here.get(row.address.root)
        if cancelled():
            return
        if root is None or row.missing or row.sha256 is None or root.policy.is_index(row.address.path):
            continue
        try:
            data = engine.read_bytes(row.address)
        except MemtuiError:
            continue  # gone, or it cannot be read
        yield root, row, data


# --- missing memories that are withheld

LedgerPlace = tuple[int, str]
"""The ledger's id of a root, and a path."""

_VERSIONS = 50
_UNSPACED = "\u2e80"
"""First letter of the scripts that put no space between words."""


class LostMemory(NamedTuple):
    """A missing memory with a withheld observation."""

    place: LedgerPlace
    marks: tuple[ObservationMark, ...]
    since: int
    """Time of the last such decision."""
    older: frozenset[LedgerPlace]
    """Files known before that, which are therefore different ones."""
    shas: frozenset[str]
    places: frozenset[LedgerPlace]
    """Files that ever held one of its versions."""
    lines: set[bytes]
    words: Counter[str]
    """Of the newest kept version; empty where there is none."""

    @classmethod
    def of(cls, engine: Engine, place: LedgerPlace, address: Address, marks: tuple[ObservationMark, ...]) -> Self:
        """Read what is known of a missing memory."""
        shas, text = [version.sha256 for version in engine.history.of(address)[:_VERSIONS]], b""
        for sha in shas:
            with suppress(MemtuiError):  # redacted, or not kept any more
                text = engine.history.read(address, sha)
                break
        since = max(engine.observations.log(mark.name)[-1].at for mark in marks)
        older = engine.observations.known_before(since)
        places = engine.observations.holders(shas)
        return cls(place, marks, since, older, frozenset(shas), places, _lines(text), _words(text))

    def is_like(self, data: bytes, lines: set[bytes], folded: str) -> bool:
        """Return whether a text has half of this one's words, or shares half of the longer lines of the shorter one."""
        if 2 * len(self.lines & lines) >= max(1, min(len(self.lines), len(lines))):
            return True
        left = total = self.words.total()
        for word, count in self.words.items():
            left -= 0 if word in folded else count
            if 2 * left < total:
                return False
        return 2 * (self.words & _words(data)).total() >= max(1, total)


def lost_memories(
    engine: Engine,
    marks: Iterable[ObservationMark],
    names: dict[int, str],
    is_there: Callable[[LedgerPlace, Address], bool],
) -> list[LostMemory]:
    """Return the missing memories with withheld observations, of the roots in `names`."""
    held: dict[LedgerPlace, list[ObservationMark]] = {}
    for mark in marks:
        if mark.withholds and mark.root in names:
            held.setdefault((mark.root, mark.path), []).append(mark)
    places = ((place, Address(names[place[0]], place[1]), tuple(of_it)) for place, of_it in held.items())
    return [LostMemory.of(engine, *one) for one in places if not is_there(*one[:2])]


def lost_matcher(
    engine: Engine, lost: Iterable[LostMemory], marks: Iterable[ObservationMark]
) -> Callable[[LedgerPlace, Address, str | None], list[LostMemory]]:
    """Return a function that lists the missing memories a file may be; those a person released since are left out."""
    kept = list(lost)
    here: dict[LedgerPlace, list[ObservationMark]] = {}
    for mark in marks:
        here.setdefault((mark.root, mark.path), []).append(mark)

    def is_freed(place: LedgerPlace, since: int) -> bool:
        found = here.get(place, ())
        free = not any(mark.withholds for mark in found)
        return free and any(engine.observations.log(mark.name)[-1].at >= since for mark in found)

    def ask(place: LedgerPlace, address: Address, sha: str | None) -> list[LostMemory]:
        found = [one for one in kept if place not in one.older and place != one.place]
        if not found:
            return []
        try:
            data = engine.read_bytes(address)
        except MemtuiError:
            return []  # it went, or cannot be read: there is nothing of it to give
        lines, folded = _lines(data), data.decode("utf-8", "replace").casefold()
        like = [one for one in found if sha in one.shas or place in one.places or one.is_like(data, lines, folded)]
        return [one for one in like if not is_freed(place, one.since)]

    return ask


def _lines(data: bytes) -> set[bytes]:
    return {line.strip() for line in data[read_as_shown(data).body :].splitlines() if len(line.strip()) > 2}


def _words(data: bytes) -> Counter[str]:
    """Count the words of a memory, including front matter values.

    Short words without a digit are dropped when others remain. Scripts without spaces are split into pairs of letters.
    """
    body = read_as_shown(data).body
    text = (
        (re.sub(rb"(?m)^[ \t-]*[\w-]+:(?=\s)", b" ", data[:body]) + data[body:]).decode("utf-8", "replace").casefold()
    )
    found: list[str] = []
    for word in re.findall(r"[^\W_]+", text):
        pairs = (word[at : at + 2] for at in range(max(1, len(word) - 1)))
        found += pairs if word[0] >= _UNSPACED else (word,)
    telling = [word for word in found if len(word) > 3 or word[0] >= _UNSPACED or not word.isalpha()]
    return Counter(telling if len(telling) > 3 else found)
