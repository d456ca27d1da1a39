"""Every root on this machine, from every agent's module: the one place that knows all agents.

Discovery looks, and only looks: it creates nothing, runs nothing, reads no memory, and believes nothing that a
repository could have planted.
"""

from memtui.agents import memtui_native
from memtui.config.surroundings import Surroundings
from memtui.engine.model import Root


def discover(
    surroundings: Surroundings, *, all_projects: bool = False, only_roots: bool = False
) -> tuple[Root, ...]:
    """Find the roots in reach.

    Args:
        surroundings: where the user stands.
        all_projects: also every other project an agent has memories for.
        only_roots: nothing but memtui's own roots and those given with `--root`.

    Returns:
        memtui's own roots, then those given by hand, then those found, with unique ids.

    Raises:
        UsageError: a root given by hand follows an unknown layout, or takes a name that is in use.
    """
    return memtui_native.roots(surroundings, all_projects=all_projects)
