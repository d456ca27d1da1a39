"""Every root on this machine, from every agent's module: the one place that knows all agents.

Discovery looks, and only looks: it creates nothing, runs nothing, reads no memory, and believes nothing that a
repository could have planted. An agent that left no trace costs a few looks at names, not an import.
"""

import os
from collections.abc import Iterator

from memtui.agents import memtui_native
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Root
from memtui.values import NamedTuple


class Trace(NamedTuple):
    """What shows that an agent is in use here; without any of it, its module finds nothing."""

    variables: tuple[str, ...]
    at_home: tuple[str, ...]
    in_project: tuple[str, ...]
    in_system: tuple[str, ...] = ()


CLAUDE_CODE = Trace(
    ("CLAUDE_CONFIG_DIR",), (".claude",), ("CLAUDE.md", "CLAUDE.local.md", ".claude"), ("claude-code", "ClaudeCode")
)
QWEN_CODE = Trace(("QWEN_HOME", "QWEN_RUNTIME_DIR", "QWEN_CODE_MEMORY_BASE_DIR"), (".qwen",), ("QWEN.md", ".qwen"))
MUX = Trace(("XUM_ROOT", "MUX_ROOT"), (".xum", ".mux"), ())


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
    if _in_use(surroundings, CLAUDE_CODE):
        from memtui.agents import claude_code

        yield from claude_code.roots(surroundings, all_projects=all_projects)
    if _in_use(surroundings, QWEN_CODE):
        from memtui.agents import qwen_code

        yield from qwen_code.roots(surroundings, all_projects=all_projects)
    if _in_use(surroundings, MUX):
        from memtui.agents import mux

        yield from mux.roots(surroundings, all_projects=all_projects)


def _in_use(surroundings: Surroundings, trace: Trace) -> bool:
    anchor = surroundings.checkout or surroundings.project
    return (
        any(name in trace.variables for name, _ in surroundings.variables)
        or (surroundings.home is not None and _any_there(surroundings.home, trace.at_home))
        or _any_there(surroundings.project, trace.in_project)
        or (anchor != surroundings.project and _any_there(anchor, trace.in_project))
        or _any_there(surroundings.system_dir, trace.in_system)
    )


def _any_there(folder: str, names: tuple[str, ...]) -> bool:
    return any(os.path.lexists(os.path.join(folder, name)) for name in names)


def _may_nest(surroundings: Surroundings) -> bool:
    """Whether memtui's own folders could lie below the project, or the project below them."""
    data, project = os.path.realpath(surroundings.data_dir) + os.sep, surroundings.project.rstrip(os.sep) + os.sep
    return data.startswith(project) or project.startswith(data)
