"""The memories an agent can name: those of memtui's own roots, by the paths of the memory tool, in the one fixed order.

Whoever listed other roots, or in another order, would tell an agent of files it cannot open, or break its prompt cache.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.look.readings import PRIVATE_DESCRIPTION
from memtui.engine.model import BROUGHT, SCOPES, Address, Memory, Problem, Root, RootStatus
from memtui.engine.policy import ARCHIVE
from memtui.errors import MemtuiError, RefusedError
from memtui.markers import cut

WITHHELD = Problem("withheld", "You withhold it, or an entry of it, from agents: none is given it unasked.")


class ScopeListing(NamedTuple):
    """One scope's memories."""

    place: str
    """`/memories/<scope>`."""
    status: RootStatus
    rows: tuple[Memory, ...]
    """By path, in the order of code points; those that went away or were archived are left out, pinned ones never."""


def roots(engine: Engine, scopes: frozenset[str] | None = None) -> tuple[Root, ...]:
    """Memtui's own roots that this engine shows, ordered by scope; only those of these scopes when some are given."""
    known = {root.id: root for root in engine.roots.all()}
    wanted = SCOPES if scopes is None else [scope for scope in SCOPES if scope in scopes]
    return tuple(known[root_id] for scope in wanted if (root_id := f"memtui:{scope}") in known)


def look(engine: Engine, scopes: frozenset[str] | None = None) -> tuple[ScopeListing, ...]:
    """Every scope's memories as they are on disk now, without those that are withheld; records nothing."""
    chosen = roots(engine, scopes)
    listing = engine.rows.list([root.id for root in chosen])
    hidden = withheld(engine)
    found = []
    start = 0
    for root, status in zip(chosen, listing.roots, strict=True):
        end = start
        while end < len(listing.items) and listing.items[end].address.root == root.id:
            end += 1
        rows = listing.items[start:end]
        start = end
        kept = (row for row in rows if row.pinned or not row.address.path.startswith(ARCHIVE))
        found.append(ScopeListing(f"/memories/{root.scope}", status, there(kept, hidden)))
    return tuple(found)


def there(rows: Iterable[Memory], hidden: Callable[[Address, str | None], bool]) -> tuple[Memory, ...]:
    """Rows as an agent is given them: none that went, is withheld or is `<no-memory>`, no `<private>` description."""
    kept = (row for row in rows if not (row.missing or hidden(row.address, row.sha256) or _no_memory(row)))
    return tuple([row._replace(description=given_description(row)) for row in kept])


def given_description(row: Memory) -> str:
    """The description of a memory without what its writer marked as private, also by tags on the lines around it."""
    if any(one.code == PRIVATE_DESCRIPTION for one in row.problems):
        return ""
    return cut(row.description).text


def _no_memory(row: Memory) -> bool:
    return any(one.code == "no-memory" for one in row.problems)


def is_person(engine: Engine) -> bool:
    """Whether what is withheld from agents may be shown: not where an agent runs the screen or the command."""
    with suppress(RefusedError):
        engine.redaction.require_person("see what is withheld")
        return True
    return False


def decided(engine: Engine) -> frozenset[Address]:
    """The memories of which a person withholds an observation, under the names they had; see `withheld`."""
    names = engine.roots.names()
    return frozenset(Address(names[uid], path) for uid, path in engine.observations.withheld() if uid in names)


def withheld(engine: Engine, *, person: bool = False) -> Callable[[Address, str | None], bool]:
    """Tell which memories no agent is given unasked, because a person withholds an observation of theirs.

    All of such a file is left out: agents cut files into entries in ways of their own. So is one that holds what such a
    file ever held, by the SHA-256 given second: it may have been renamed or copied outside memtui. And while such a
    file is gone, one that came since and is like it; see `memtui.given.renamed`.
    Whoever views a memory by its name still reads it: that is what `[access]` is for. From a `person` none is.
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
    """Whether a memory is where it was, as far as can be seen."""
    with suppress(MemtuiError):
        return engine.folders.kind(address) == "file"
    return False


def reviewed(row: Memory) -> bool:
    """Whether what it says may be given to an agent unasked: no repository brought it, or a person reviewed it."""
    return row.trust != BROUGHT


def readable(row: Memory) -> bool:
    """Whether an agent can read it as text."""
    return row.sha256 is not None and not any(one.code == "E_TEXT" for one in row.problems)


def openable(rows: Iterable[Memory]) -> list[Memory]:
    """Those an agent can open at all: links and what is no regular file are left out."""
    return [row for row in rows if row.sha256 is not None]


def texts(
    engine: Engine, roots: Iterable[Root], rows: Iterable[Memory] | None = None, *, cancelled: Callable[[], bool] = bool
) -> Iterator[tuple[Root, Memory, bytes]]:
    """Read the memories of some roots, all of them or these; no index, and nothing that went since it was listed."""
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
