"""Memories an agent can name: those of memtui's own roots, by the paths of the memory tool, in one fixed order.

Another order would break the prompt cache of agents.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.frontmatter.read import PRIVATE_DESCRIPTION
from memtui.engine.model import BROUGHT, SCOPES, Address, Memory, Problem, Root, RootStatus
from memtui.engine.policy import ARCHIVE
from memtui.errors import MemtuiError, RefusedError
from memtui.markers import cut

WITHHELD = Problem("withheld", "You withhold it, or an entry of it, from agents: none is given it unasked.")


class ScopeListing(NamedTuple):
    """The memories of one scope."""

    place: str
    """`/memories/<scope>`."""
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
    kept = (row for row in rows if not (row.missing or hidden(row.address, row.sha256) or _no_memory(row)))
    return tuple([row._replace(description=given_description(row)) for row in kept])


def given_description(row: Memory) -> str:
    """Return a description without the parts marked as private."""
    if any(one.code == PRIVATE_DESCRIPTION for one in row.problems):
        return ""
    return cut(row.description).text


def _no_memory(row: Memory) -> bool:
    return any(one.code == "no-memory" for one in row.problems)


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
    with
    the SHA-256 of any of its versions, as it may have been renamed or copied. While such a file is missing, so are new
    files similar to it, see `memtui.given.renamed`. Viewing a memory by name is governed by `[access]` alone.
    """
    if person:
        return lambda *_: False
    if not engine.observations.withheld():
        return lambda *_: False
    from memtui.given import renamed

    hidden = decided(engine)
    names, marks = engine.roots.names(), engine.observations.marks()
    uids = {name: uid for uid, name in names.items()}
    copies = engine.observations.withheld_texts()
    lost = renamed.gone(engine, marks, names, lambda _, address: _is_there(engine, address))
    may_be = renamed.may_be(engine, lost, marks)

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
