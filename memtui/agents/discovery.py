"""Find every root on this machine: memtui's own, those given by hand, and those of each agent in use.

Discovery only looks: it creates nothing, runs nothing, reads no memory, and believes nothing that a repository could
have planted. An agent that left no trace costs a few looks at names, not an import. Each file belongs to the innermost
root that covers it, and to no other.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from memtui.agents.known import memtui_native
from memtui.agents.table import KNOWN, Traces, agent_of
from memtui.config.settings import RootEntry
from memtui.config.surroundings import Surroundings, find_checkout
from memtui.engine.model import Policy, Root
from memtui.errors import UsageError

PLAIN = "files"
"""The layout of a root by hand that follows no agent's."""
PLAIN_POLICY = Policy(ignore=(".DS_Store", ".git"))


def layouts() -> tuple[str, ...]:
    """Return the ids of the layouts that a root by hand can follow."""
    return PLAIN, memtui_native.ID, *(one.id for one in KNOWN if one.folders)


def discover(surroundings: Surroundings, *, all_projects: bool = False, only_roots: bool = False) -> tuple[Root, ...]:
    """Find the roots in reach, with unique ids and aliases: memtui's own, those given by hand, those of agents.

    `all_projects` adds those of every other project; `only_roots` leaves memtui's own and those of `--root`. A root by
    hand with an unknown layout or a taken name is a `UsageError`.
    """
    fixed = list(memtui_native.roots(surroundings, all_projects=all_projects))
    fixed.extend(_by_hand(surroundings, only_options=only_roots))
    found = () if only_roots else tuple(_found(surroundings, all_projects=all_projects))
    if len(fixed) == 3 and not found and not _may_nest(surroundings):
        return tuple(fixed)
    return innermost(merge_same(fixed, found))


def _found(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    shows = _traces_shown(surroundings)
    known: dict[str, str] = {}
    for one in KNOWN:
        if shows(one):
            roots = agent_of(one.id).roots
            if roots is not None:
                yield from (_with_checkout(root, known) for root in roots(surroundings, all_projects=all_projects))


def _with_checkout(root: Root, known: dict[str, str]) -> Root:
    """Mark a root behind a link as part of a checkout, when the link leads into one from outside."""
    if root.in_checkout or (root.project and root.path.startswith(root.project.rstrip("/") + "/")):
        return root
    real = _real(root.path, known)
    inside = find_checkout(real) if real != root.path else None
    here = find_checkout(root.path) if inside is not None else None
    brought = inside is not None and (here is None or os.path.realpath(here) != inside)
    return root._replace(in_checkout=True) if brought else root


def looked_for(surroundings: Surroundings) -> Iterator[tuple[str, str, str]]:
    """Yield the id, title and first place of each agent that left none of its traces."""
    from memtui.agents.layout import short_path  # discovery on an empty machine does without

    for one in KNOWN:
        named = [surroundings.folder(text) for name in one.variables if (text := surroundings.variable(name))]
        home, config = surroundings.home, surroundings.config_home()
        named += [os.path.join(home, name) for name in one.at_home[:1]] if home else []
        named += [os.path.join(config, name) for name in one.in_config[:1]] if config else []
        named += [os.path.join(surroundings.project, name) for name in one.in_project[:1]]
        if named and not any(map(os.path.lexists, named)):
            yield one.id, one.title, short_path(named[0], home)


def _traces_shown(surroundings: Surroundings) -> Callable[[Traces], bool]:
    """Return whether an agent left any trace; each name is looked for once."""
    variables = {name for name, _ in surroundings.variables}
    home, config, system = (surroundings.home,), (surroundings.config_home(),), (surroundings.system_dir,)
    projects = dict.fromkeys((surroundings.project, surroundings.checkout or surroundings.project, surroundings.cwd))
    is_there = cache(os.path.lexists)

    def shows(agent: Traces) -> bool:
        looks = (
            (home, agent.at_home),
            (config, agent.in_config),
            (projects, agent.in_project),
            (system, agent.in_system),
        )
        return not variables.isdisjoint(agent.variables) or any(
            is_there(f"{folder.rstrip('/')}/{name}")
            for folders, names in looks
            for folder in filter(None, folders)
            for name in names
        )

    return shows


def _may_nest(surroundings: Surroundings) -> bool:
    data, project = os.path.realpath(surroundings.data_dir) + os.sep, surroundings.project.rstrip(os.sep) + os.sep
    return data.startswith(project) or project.startswith(data)


def _by_hand(surroundings: Surroundings, *, only_options: bool) -> Iterator[Root]:
    used: set[str] = set()
    for entry in surroundings.roots:
        if only_options and entry.origin != "--root":
            continue
        agent, colon, _ = entry.name.partition(":")
        if colon and agent in layouts():
            what = f"names that begin with {agent}: are those of the roots memtui finds by itself."
            raise _refusal(entry, what, "Give it another name.")
        if entry.name in used:
            raise _refusal(entry, "this name is given twice.", "Give one of them another name.")
        used.add(entry.name)
        policy, kind = _followed(entry)
        yield Root(entry.name, entry.dir, entry.agent, entry.scope, entry.name, policy, kind=kind)


def _followed(entry: RootEntry) -> tuple[Policy, str]:
    if entry.agent == PLAIN:
        return PLAIN_POLICY, "memories"
    if entry.agent == memtui_native.ID:
        return memtui_native.POLICY, "memories"
    agent = agent_of(entry.agent)
    if agent.policy is None:
        raise _refusal(entry, f"there is no layout {entry.agent!r}.", f"The layouts are {', '.join(layouts())}.")
    return agent.policy, agent.kind


def _refusal(entry: RootEntry, what: str, hint: str) -> UsageError:
    code = "E_USAGE" if entry.origin == "--root" else "E_CONFIG"
    return UsageError(f"{entry.origin}: root {entry.name}: {what}", code=code, hint=hint)


def merge_same(roots: Iterable[Root], mergeable: Iterable[Root]) -> tuple[Root, ...]:
    """Join roots that are one folder: one of `mergeable` becomes an alias of an earlier root, one of `roots` stays."""
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
    """Take out of each root what belongs to one further in; at one depth the earlier keeps it. Drop empty ones."""
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
    for number, claims in taken.items():
        reduced = _without(result[number], claims)
        if reduced.policy.include != result[number].policy.include and _is_bare(reduced):
            reduced = reduced._replace(policy=reduced.policy._replace(include=()))
        result[number] = reduced
    return tuple(root for root in result if root.policy.include != ())


def _real(path: str, known: dict[str, str]) -> str:
    """Resolve links like `os.path.realpath`, caching what hundreds of roots have in common."""
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
    """Return the roots around a folder, each with the path from there to here and a final `/`; cached in `chains`."""
    parent, name = os.path.split(path)
    if parent == path:
        return ()
    if parent not in chains:
        here = tuple((other, "") for other in places.get(parent, ()))
        chains[parent] = (*here, *_above(parent, places, chains))
    found = chains[parent]
    return tuple((other, f"{below}{name}/") for other, below in found) if found else ()


def _without(root: Root, claims: list[str]) -> Root:
    include = root.policy.include
    if include is not None:
        include = tuple(_uncovered(include, claims))
        apart = set(_uncovered(claims, include))
        claims = [claim for claim in claims if claim not in apart]
    elsewhere = dict.fromkeys((*root.policy.elsewhere, *claims))
    return root._replace(policy=root.policy._replace(include=include, elsewhere=tuple(elsewhere)))


def _is_bare(root: Root) -> bool:
    include = root.policy.include or ()
    return root.kind == "instructions" and not any(os.path.lexists(os.path.join(root.path, name)) for name in include)


def _uncovered(paths: Iterable[str], by: Iterable[str]) -> Iterator[str]:
    exact, folders = set(by), tuple(path for path in by if path.endswith("/"))
    return (path for path in paths if path not in exact and not path.startswith(folders))


def _identity(root: Root) -> tuple[int, int] | None:
    try:
        found = os.stat(root.path)
    except OSError:  # missing, or out of reach: it cannot be the same as anything
        return None
    return found.st_dev, found.st_ino
