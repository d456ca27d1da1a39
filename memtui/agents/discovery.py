"""Every root on this machine, from every agent's module: the one place that knows all agents.

Discovery looks, and only looks: it creates nothing, runs nothing, reads no memory, and believes nothing that a
repository could have planted. An agent that left no trace costs a few looks at names, not an import.
"""

import os
from collections.abc import Iterator

from memtui.agents.layouts import memtui_native
from memtui.agents.table import LAYOUTS, Layout, roots_of
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Root


def discover(surroundings: Surroundings, *, all_projects: bool = False, only_roots: bool = False) -> tuple[Root, ...]:
    """Find the roots in reach.

    Args:
        surroundings: where the user stands.
        all_projects: also every other project an agent has memories for.
        only_roots: nothing but memtui's own roots and those given with `--root`.

    Returns:
        memtui's own roots, then those given by hand, then those found. Ids and aliases are unique, and what belongs to
        a root further in is taken out of the roots around it.

    Raises:
        UsageError: a root given by hand follows an unknown layout, or takes a name that is not free.
    """
    fixed = list(memtui_native.roots(surroundings, all_projects=all_projects))
    if surroundings.roots:
        from memtui.agents import files

        fixed.extend(files.roots(surroundings, only_options=only_roots))
    found = () if only_roots else tuple(_found(surroundings, all_projects=all_projects))
    if len(fixed) == 3 and not found and not _may_nest(surroundings):
        return tuple(fixed)
    from memtui.agents import nesting

    return nesting.innermost(nesting.merge_same(fixed, found))


def _found(surroundings: Surroundings, *, all_projects: bool) -> Iterator[Root]:
    traces = _Traces(surroundings)
    for layout in LAYOUTS:
        if traces.show(layout):
            yield from roots_of(layout, surroundings, all_projects=all_projects)


class _Traces:
    """Which agents are in use here; a name that many agents leave is looked for once."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._variables = {name for name, _ in surroundings.variables}
        home = surroundings.home
        self._homes = (home,) if home else ()
        places = (surroundings.project, surroundings.checkout or surroundings.project, surroundings.cwd)
        self._projects = tuple(dict.fromkeys(places))
        self._configs = tuple(filter(None, (surroundings.config_home(),)))
        self._systems = (surroundings.system_dir,)
        self._known: dict[tuple[str, str], bool] = {}

    def show(self, layout: Layout) -> bool:
        """Whether an agent left any trace."""
        return (
            not self._variables.isdisjoint(layout.variables)
            or self._any_there(self._homes, layout.at_home)
            or self._any_there(self._configs, layout.in_config)
            or self._any_there(self._projects, layout.in_project)
            or self._any_there(self._systems, layout.in_system)
        )

    def _any_there(self, folders: tuple[str, ...], names: tuple[str, ...]) -> bool:
        return any(self._is_there(folder, name) for folder in folders for name in names)

    def _is_there(self, folder: str, name: str) -> bool:
        place = (folder, name)
        if place not in self._known:
            self._known[place] = os.path.lexists(os.path.join(folder, name))
        return self._known[place]


def _may_nest(surroundings: Surroundings) -> bool:
    """Whether memtui's own folders could lie below the project, or the project below them."""
    data, project = os.path.realpath(surroundings.data_dir) + os.sep, surroundings.project.rstrip(os.sep) + os.sep
    return data.startswith(project) or project.startswith(data)
