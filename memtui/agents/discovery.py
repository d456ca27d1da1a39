"""Every root on this machine, from every agent's module: the one place that knows all agents.

Discovery looks, and only looks: it creates nothing, runs nothing, reads no memory, and believes nothing that a
repository could have planted.
"""

from memtui.agents import claude_code, files, memtui_native, mux, nesting, qwen_code
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Root

AGENTS = (claude_code, qwen_code, mux)
"""The agents whose folders are looked for, in the order in which they are shown."""


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
    own = tuple(memtui_native.roots(surroundings, all_projects=all_projects))
    by_hand = tuple(files.roots(surroundings, only_options=only_roots))
    found = (
        ()
        if only_roots
        else tuple(root for agent in AGENTS for root in agent.roots(surroundings, all_projects=all_projects))
    )
    return nesting.innermost(nesting.merge_same((*own, *by_hand), found))
