"""How a change of one file goes on, alone or together with others of its folder: the same steps in the same order.

Together they share the ledger's commits and the folder's syncs: every text and intent is durable before the first name
is touched, and the folder is before an end is written down. A kill in the middle leaves intents, which recovery settles
one by one, like those of single changes.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import fsio
from memtui.engine.model import Conflict, Saved
from memtui.engine.save.commit import Site
from memtui.engine.save.jobs import StillWritten
from memtui.errors import BusyError, ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError

if TYPE_CHECKING:
    Change = Generator["Happened | None", bool, Saved | Conflict]
    """Yields nothing when it is announced, and what has to follow when it happened; then it is told whether the ledger
    knows. A sync that failed is thrown into it."""


class Happened(NamedTuple):
    """A change that was made on disk."""

    end: Callable[[], None]
    """Writes it down in the ledger."""
    folders: tuple[int, ...]
    """What has to be synced before."""


class Ended(NamedTuple):
    """What became of changes that were made together."""

    results: list[Saved | Conflict | MemtuiError | None]
    """In their order; None for one that was not even begun, and is to be made alone."""
    told: bool
    """Whether the ledger knows; until then folders must stay, because recovery looks into them."""


def alone(site: Site, change: "Change") -> tuple[Saved | Conflict, bool]:
    """Make one change in a locked root.

    Returns:
        What came of it, and whether the ledger knows its end.

    Raises:
        MemtuiError, StillWritten: it was not made.
    """
    try:
        next(change)
        happened = next(change)
    except StopIteration as stop:
        return stop.value, False
    assert happened is not None
    failure = _sync([happened])
    told = failure is None and _tell(site, [happened])
    result = _ended(change, told, failure)
    if isinstance(result, MemtuiError):
        raise result from failure
    return result, told


def together(site: Site, changes: "Sequence[Change]") -> Ended:
    """Make several changes in a locked root."""
    results: list[Saved | Conflict | MemtuiError | None] = [None] * len(changes)
    begun: list[int] = []
    try:
        with site.ledger.transaction():
            for number, change in enumerate(changes):
                try:
                    next(change)
                except StopIteration as stop:
                    results[number] = stop.value
                except (NotFoundError, RefusedError, ConflictError, StillWritten):
                    continue  # alone it waits for its writer, or says why it is refused
                else:
                    begun.append(number)
    except (StorageError, BusyError):
        for change in changes:
            change.close()
        return Ended([None] * len(changes), told=False)
    made: dict[int, Happened] = {}
    for number in begun:
        try:
            happened = next(changes[number])
            assert happened is not None
            made[number] = happened
        except StopIteration as stop:
            results[number] = stop.value
        except MemtuiError as error:
            results[number] = error
    failure = _sync(made.values())
    told = failure is None and _tell(site, made.values())
    for number in made:
        results[number] = _ended(changes[number], told, failure)
    return Ended(results, told)


def _sync(made: Iterable[Happened]) -> OSError | None:
    """Make the names of folders durable; gives what kept it from being so."""
    try:
        for folder in dict.fromkeys(folder for one in made for folder in one.folders):
            fsio.fsync_dir(folder)
    except OSError as error:
        return error
    return None


def _tell(site: Site, made: Iterable[Happened]) -> bool:
    """Write down what happened on disk: when the ledger cannot be told now, recovery does it from the intents."""
    with contextlib.suppress(StorageError, BusyError):
        with site.ledger.transaction(durable=False):
            for one in made:
                one.end()
        return True
    return False


def _ended(change: "Change", told: bool, failure: OSError | None) -> Saved | Conflict | MemtuiError:
    """Let a change come to its end."""
    try:
        if failure is None:
            change.send(told)
        else:
            change.throw(failure)
    except StopIteration as stop:
        result: Saved | Conflict = stop.value
        return result
    except MemtuiError as error:
        return error
    raise AssertionError("a change goes on after its end")
