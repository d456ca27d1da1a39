"""What one change belongs to, how long it waits for a writer that is still at it, and many one after the other.

A change never takes half of a version for a whole one: it is put off, without a lock, while somebody writes.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.events import Pace
from memtui.engine.ledger import Ledger
from memtui.engine.model import Actor, Outcome
from memtui.engine.save.commit import Siblings, StillWritten
from memtui.errors import MemtuiError, MendedError

if TYPE_CHECKING:
    from typing import Any, TypeVar

    Changing = TypeVar("Changing", bound=Callable[..., Any])
    Result = TypeVar("Result")
    Wanted = TypeVar("Wanted")

PATIENCE = 0.75
"""Seconds a change waits for another program that has the memory open for writing, so that no half version is taken."""
_STEP = 0.01
SOME = 100
"""So many are done together: whoever waits for the root or the ledger waits for no more."""
NEWS_STAYS = "took back what others did; what is left of it is still news"
"""The audit's note of a change after which the user has not seen the rest; undo, redo and recovery go by it too."""


CARRIED = "carried from a text that nobody reviewed"
"""The audit's note of a text that nobody wrote here although memtui put it there; recovery goes by it too."""


def made_again(verb: "Changing") -> "Changing":
    """Make a change a second time when a damaged ledger was met, and mended, before anything was changed."""

    @wraps(verb)
    def change(*values: "Any", **options: "Any") -> "Any":
        values = tuple(list(value) if isinstance(value, Iterator) else value for value in values)
        try:
            return verb(*values, **options)
        except MendedError:
            return verb(*values, **options)

    return change  # type: ignore[return-value]


class Txn:
    """A transaction that is written to the ledger together with its first record, so that nothing is logged in vain."""

    __slots__ = ("_id",)

    def __init__(self, begin: Callable[[], int] | int) -> None:
        """Take what begins it, called once, when its number is first needed; or the number of one that is begun."""
        self._id = begin

    @property
    def begun(self) -> bool:
        """Whether anything was recorded in it."""
        return isinstance(self._id, int)

    @property
    def id(self) -> int:
        """Its number."""
        if not isinstance(self._id, int):
            self._id = self._id()
        return self._id


def transaction(
    ledger: Ledger,
    operation: str,
    actor: Actor,
    label: str,
    *,
    kind: str = "do",
    reverses: int | None = None,
    cause: str | None = None,
) -> Txn:
    """A new transaction; see `Ledger.begin`. Its label may name what has a name that is not UTF-8."""
    words = label.encode("utf-8", "backslashreplace").decode()
    return Txn(
        lambda: ledger.audit.begin(operation, actor=actor.name, label=words, kind=kind, reverses=reverses, cause=cause)
    )


def joined(ledger: Ledger, number: str | None) -> Txn | None:
    """The transaction of this number, to do more in it; None when there is none, or it was taken back meanwhile."""
    known = ledger.activity.operations(int(number), int(number)) if number else ()
    return Txn(int(known[0].txn)) if known and not known[0].undone else None


class Job(NamedTuple):
    """What one change belongs to."""

    txn: Txn
    actor: Actor
    operation: str
    """`created`, `modified`, `deleted`, `renamed` or `restored`: the word history shows."""
    patient: bool = False
    """Raise `StillWritten` rather than change a memory that somebody has open for writing."""
    note: str = ""
    """How it came about, for the audit."""
    siblings: Siblings | None = None
    """What is known of the names in the folder that many memories are put into one by one."""


def calmly(job: Job, change: "Callable[[Job], Result]") -> "Result":
    """Make a change when nobody is writing the memory, or after `PATIENCE`; no lock is held while waiting.

    Args:
        job: what the change belongs to.
        change: makes it, for as long as the job is patient; called again after `StillWritten`.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return change(job._replace(patient=time.monotonic() < deadline))
        except StillWritten:
            time.sleep(_STEP)


def each(
    pace: Pace,
    wanted: "Collection[Wanted]",
    one: "Callable[[Wanted], Outcome]",
    failed: "Callable[[Wanted, MemtuiError], Outcome]",
) -> tuple[Outcome, ...]:
    """Do one after the other; a refusal of one does not stop the rest.

    Args:
        pace: is told how far it is, and may end it between two of them.
        wanted: what is to be done.
        one: does it.
        failed: the outcome of one that was refused.
    """
    return in_batches(pace, [[what] for what in wanted], lambda _: {}, one, failed)


def in_batches(
    pace: Pace,
    batches: "Iterable[Collection[Wanted]]",
    some: "Callable[[Collection[Wanted]], Mapping[Wanted, Outcome]]",
    one: "Callable[[Wanted], Outcome]",
    failed: "Callable[[Wanted, MemtuiError], Outcome]",
) -> tuple[Outcome, ...]:
    """As `each`, some together where there are several in a batch.

    Args:
        pace: see `each`.
        batches: what is to be done, in its order.
        some: does what it can of a batch; what it leaves out is done by itself.
        one: does one.
        failed: the outcome of one that was refused.
    """
    chosen = [tuple(batch) for batch in batches]
    outcomes: list[Outcome] = []
    with pace.many(sum(map(len, chosen))) as progress:
        for batch in chosen:
            done: Mapping[Wanted, Outcome] = {}
            if len(batch) > 1 and not progress.stopping:
                try:
                    done = some(batch)
                except MemtuiError as error:  # of the batch as a whole: each says by itself why it cannot be done
                    _again(error, outcomes)
            for what in batch:
                if (outcome := done.get(what)) is not None:
                    progress.begun += 1
                    outcomes.append(outcome)
                    continue
                try:
                    progress.step()
                    outcomes.append(one(what))
                except MemtuiError as error:
                    _again(error, outcomes)
                    outcomes.append(failed(what, error))
    return tuple(outcomes)


def _again(error: MemtuiError, outcomes: list[Outcome]) -> None:
    """Let all of it be done again when a damaged ledger was mended and nothing is done yet."""
    if isinstance(error, MendedError) and not outcomes:
        raise error


def batched(wanted: "Iterable[Wanted]", place: "Callable[[Wanted], object]") -> "Iterator[list[Wanted]]":
    """What follows on each other and has the same place, so many at a time at most."""
    batch: list[Wanted] = []
    for what in wanted:
        if batch and (len(batch) >= SOME or place(batch[0]) != place(what)):
            yield batch
            batch = []
        batch.append(what)
    if batch:
        yield batch
