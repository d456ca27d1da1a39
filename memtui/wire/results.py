"""Output of lists and changes: JSON or a line for each row or memory, and the exit status.

When only some memories of a change succeed, the answer names each, and the exit status is the first failure's.
"""

from collections.abc import Iterable, Mapping, Sequence

from memtui.engine.model import Conflict, Done, Outcome, Saved, Unchanged
from memtui.errors import ConflictError, MemtuiError
from memtui.wire import outcomes, values
from memtui.wire.output import Cell, Column, Output

_PAST = {
    "create": "created",
    "save": "saved",
    "rename": "moved",
    "delete": "deleted",
    "restore": "restored",
    "pin": "pinned",
    "unpin": "unpinned",
    "observed": "decided",
}


def listed(
    out: Output,
    items: Iterable[Mapping[str, object]],
    columns: Sequence[Column],
    rows: Iterable[Sequence[Cell]],
    none: str = "",
) -> int:
    """Print `items` as one JSON document, or `rows` as a table; `none` tells a person that there are none."""
    if out.json:
        out.document(values.listing(map(dict, items)))
        return outcomes.DONE
    rows = list(rows)
    if not rows and none and out.terminal:
        out.say(none)
    out.table(columns, rows)
    return outcomes.DONE


def saved(out: Output, value: Saved | Unchanged | Conflict, *, word: str = "saved") -> int:
    """Print the outcome of a guarded save; raises ConflictError for a conflict."""
    if isinstance(value, Conflict):
        raise conflict(value)
    said = word if isinstance(value, Saved) else "unchanged"
    if out.json:
        out.document(values.result(value))
    elif out.terminal:
        out.line(f"{said} {value.address} as {value.sha256[:12]}")
    else:
        out.line_of(said, str(value.address), value.sha256)
    return outcomes.DONE


def conflict(value: Conflict) -> ConflictError:
    """Make the error for a conflict; both texts are in history."""
    gone = value.current_sha256 is None
    message = f"{value.address} was deleted meanwhile." if gone else f"Somebody else changed {value.address} meanwhile."
    return ConflictError(
        message,
        unharmed="Their version is in place, and yours is kept in history.",
        hint=f"Compare them with memtui diff {value.address}"
        + (f" {value.yours_sha256[:12]}" if value.yours_sha256 else "")
        + ", then save again with --expect "
        + ("absent." if gone else f"{value.current_sha256}."),
        details=values.conflict_details(value),
    )


def done(out: Output, value: Done) -> int:
    """Print a finished operation; raises its error when it failed for its only memory."""
    return all_done(out, (value,), single=True)


def all_done(out: Output, values_: Sequence[Done], *, single: bool = False) -> int:
    """Print finished operations, as one list unless `single`; raises when nothing could be done."""
    every = [outcome for value in values_ for outcome in value.outcomes]
    failures = [error for error in map(failure, every) if error is not None]
    if failures and len(failures) == len(every) == 1:
        for value in values_:
            beside(out, value.also, value.left)
        raise failures[0]
    if out.json:
        documents = [values.done(value) for value in values_]
        out.document(documents[0] if single else values.listing(documents))
    else:
        for value in values_:
            _lines(out, value)
        for value in values_:
            beside(out, value.also, value.left)
        for error in failures:
            out.error(error)
    return outcomes.exit_code(failures[0]) if failures else outcomes.DONE


def beside(out: Output, *sentences: str) -> None:
    """Print sentences about a change beside its answer; empty ones are left out."""
    for sentence in filter(None, sentences):
        out.say(sentence.rstrip(".") + ".")


def failure(outcome: Outcome) -> MemtuiError | None:
    """Return why an operation failed for one memory; None when it succeeded."""
    if outcome.error is not None:
        return outcome.error
    if not isinstance(outcome.result, Conflict):
        return None
    return ConflictError(
        f"{outcome.address} has changed since then.",
        unharmed="It was left as it is.",
        hint=f"`memtui history {outcome.address}` lists every text it had.",
        details=values.conflict_details(outcome.result),
    )


def _lines(out: Output, value: Done) -> None:
    word = _PAST.get(value.operation, value.operation)
    good = [outcome for outcome in value.outcomes if outcome.ok]
    if value.operation in ("undo", "redo"):
        word = "undone" if value.operation == "undo" else "redone"
        if out.terminal and value.label and good:
            whole = len(good) == len(value.outcomes)
            out.line(f"{word}: {value.label}" + ("" if whole else f" ({len(good)} of {len(value.outcomes)})"))
            if whole:
                return
    for outcome in good:
        if out.terminal:
            arrow = "->" if out.ascii_only else "→"
            moved = f" {arrow} {outcome.new_address}" if outcome.new_address else ""
            out.line(f"{word} {outcome.address}{moved}")
        else:
            out.line_of(word, str(outcome.address), str(outcome.new_address or ""))
