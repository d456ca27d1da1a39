"""Several memories of one folder that are deleted or renamed together, by the steps of single changes.

It exists so that a folder of thousands takes one sync and two commits of the ledger for a hundred of them.
"""

from collections.abc import Mapping

from memtui.engine.model import Address, Conflict, Saved
from memtui.engine.save import batches
from memtui.engine.save.commit import Site, Spot, Target
from memtui.engine.save.files import removing, renaming
from memtui.engine.save.jobs import Job
from memtui.errors import MemtuiError


def remove_some(
    site: Site, folder: tuple[str, ...], wanted: Mapping[Address, str | None], job: Job
) -> "dict[Address, Saved | Conflict | MemtuiError]":
    """Take several names of one folder away together; see `remove`.

    Args:
        site: the locked root.
        folder: the components of the folder.
        wanted: which, and the versions they must have; None for whatever it is.
        job: what they belong to.

    Returns:
        What became of each; nothing of those that have to be removed alone.
    """
    with site.handle.folder(folder) as opened:
        spots = [Spot(site, opened, address.name, address) for address in wanted]
        changes = [removing(spot, wanted[spot.address], job) for spot in spots]
        ended = batches.together(site, changes)
    if ended.told:
        site.handle.prune(folder)
    site.grace.sweep()
    return {address: result for address, result in zip(wanted, ended.results, strict=True) if result is not None}


def rename_some(
    site: Site, folder: tuple[str, ...], there: Target, wanted: Mapping[Address, tuple[Address, str | None]], job: Job
) -> "dict[Address, Saved | Conflict | MemtuiError]":
    """Give several names of one folder new names in one other folder together; see `rename`.

    Args:
        site: the locked root.
        folder: the components of the folder.
        there: the other folder.
        wanted: which, their new names, and the versions they must have; None for whatever it is.
        job: what they belong to.

    Returns:
        What became of each; nothing of those that have to be renamed alone.
    """
    with site.handle.folder(folder) as opened:
        spots = [Spot(site, opened, address.name, address) for address in wanted]
        ended = batches.together(site, [renaming(spot, there, *wanted[spot.address], job) for spot in spots])
    if ended.told:
        site.handle.prune(folder)
    return {address: result for address, result in zip(wanted, ended.results, strict=True) if result is not None}
