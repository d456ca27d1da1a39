"""Roots that meet: one folder found twice, and roots that lie inside others.

Each file belongs to the innermost root that covers it, and to one root only. Saying so in the layouts' plain data
spares the engine from knowing why two roots overlap.
"""

import os
from collections.abc import Iterable, Iterator

from memtui.agents.table import UNCLAIMED, title_of
from memtui.engine.model import Root


def merge_same(roots: Iterable[Root], mergeable: Iterable[Root]) -> tuple[Root, ...]:
    """Join roots that were found under two ids although they are one folder.

    Args:
        roots: roots that keep their ids whatever they share with each other; the engine reports that.
        mergeable: further roots; one that is the same folder as an earlier root becomes an alias of it.

    Returns:
        All of `roots`, then the rest of `mergeable`, in order.
    """
    kept: list[Root] = []
    places: dict[tuple[int, int], int] = {}
    fixed = list(roots)
    for root in [*fixed, *mergeable]:
        place = _identity(root) if root.policy.include is None else None
        earlier = places.get(place) if place is not None else None
        if earlier is None or len(kept) < len(fixed):
            if place is not None:
                places.setdefault(place, len(kept))
            kept.append(root)
            continue
        first = kept[earlier]
        said = f"Also found as {root.id}, which is the same folder."
        kept[earlier] = first._replace(
            aliases=(*first.aliases, root.id, *root.aliases), note=f"{first.note} {said}".strip()
        )
    return tuple(kept)


def innermost(roots: Iterable[Root]) -> tuple[Root, ...]:
    """Take out of each root what belongs to a root further in.

    At the same depth, the earlier root keeps a file. A root of which nothing is left goes, and so does one of
    instructions when no file that is there is left to it.

    Returns:
        The roots, in order, with `include` and `elsewhere` of their policies adjusted.
    """
    result = list(roots)
    places: dict[str, list[int]] = {}
    known: dict[str, str] = {}
    paths = [_real(root.path, known) for root in result]
    for number, path in enumerate(paths):
        places.setdefault(path, []).append(number)
    taken: dict[int, list[str]] = {}
    chains: dict[str, tuple[tuple[int, str], ...]] = {}
    for number, root in enumerate(result):
        same = ((other, "") for other in places[paths[number]] if other > number)
        for outer, below in (*same, *_above(paths[number], places, chains)):
            own = root.policy.include
            if own is None:  # everything: below another root its folder, at the same place what the other includes
                own = ("",) if below else result[outer].policy.include or ()
            taken.setdefault(outer, []).extend(below + claim for claim in own)
    told = [*_readers(result, paths, places)]
    for number, claims in taken.items():
        reduced = _without(result[number], claims)
        if reduced.policy.include != result[number].policy.include and _is_bare(reduced):
            reduced = reduced._replace(policy=reduced.policy._replace(include=()))
        result[number] = reduced
    for number, said in told:
        result[number] = result[number]._replace(note=f"{result[number].note} {said}".strip())
    return tuple(root for root in result if root.policy.include != ())


def _readers(roots: list[Root], paths: list[str], places: dict[str, list[int]]) -> Iterator[tuple[int, str]]:
    """Say of roots which other agents read some of their files, too: those that name them in the same folder."""
    for path, numbers in places.items():
        if len(numbers) == 1:
            continue
        owned: dict[str, int] = {}
        readers: dict[int, dict[str, list[str]]] = {}
        for number in numbers:
            for name in roots[number].policy.include or ():
                owner = owned.setdefault(name, number)
                others = {roots[owner].agent, UNCLAIMED}
                if roots[number].agent not in others and os.path.lexists(os.path.join(path, name)):
                    readers.setdefault(owner, {}).setdefault(name, []).append(title_of(roots[number].agent))
        for owner, names in readers.items():
            by: dict[str, list[str]] = {}
            for name, titles in names.items():
                by.setdefault(", ".join(titles), []).append(name)
            for read_by, shared in by.items():
                yield owner, f"Also read by {read_by}: {', '.join(shared)}."


def _real(path: str, known: dict[str, str]) -> str:
    """Resolve links like `os.path.realpath`, looking only once at what hundreds of roots have in common."""
    found = known.get(path)
    if found is None:
        parent, name = os.path.split(path)
        above = parent if parent == path else _real(parent, known)
        plain = path if above == parent else os.path.join(above, name)
        found = known[path] = os.path.realpath(plain) if os.path.islink(plain) else plain
    return found


def _above(
    path: str, places: dict[str, list[int]], chains: dict[str, tuple[tuple[int, str], ...]]
) -> tuple[tuple[int, str], ...]:
    """Find the roots around a folder, each with the path from there to here, which ends in `/`.

    What thousands of folders have in common is worked out once, in `chains`.
    """
    parent, name = os.path.split(path)
    if parent == path:
        return ()
    if parent not in chains:
        here = tuple((other, "") for other in places.get(parent, ()))
        chains[parent] = (*here, *_above(parent, places, chains))
    found = chains[parent]
    return tuple((other, f"{below}{name}/") for other, below in found) if found else ()


def _without(root: Root, claims: list[str]) -> Root:
    """Take claimed paths out of one root."""
    include = root.policy.include
    if include is not None:
        include = tuple(entry for entry in include if not any(_covers(claim, entry) for claim in claims))
        claims = [claim for claim in claims if any(_covers(entry, claim) for entry in include)]
    elsewhere = dict.fromkeys((*root.policy.elsewhere, *claims))
    return root._replace(policy=root.policy._replace(include=include, elsewhere=tuple(elsewhere)))


def _is_bare(root: Root) -> bool:
    """Whether nothing of a root of instructions is on disk."""
    include = root.policy.include or ()
    return root.kind == "instructions" and not any(os.path.lexists(os.path.join(root.path, name)) for name in include)


def _covers(outer: str, inner: str) -> bool:
    return outer == inner or (outer.endswith("/") and inner.startswith(outer))


def _identity(root: Root) -> tuple[int, int] | None:
    try:
        found = os.stat(root.path)
    except OSError:  # missing, or out of reach: it cannot be the same as anything
        return None
    return found.st_dev, found.st_ino
