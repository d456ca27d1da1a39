"""Applying fixes: on exactly the version they were found in, all of them as one step of undo.

What changed meanwhile is never written over: then nothing happens, and the caller looks again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Actor, Address, Conflict, Write
from memtui.errors import ConflictError, NotFoundError, RefusedError
from memtui.features.health.fixes import pieces_of, preview, rests
from memtui.features.health.model import IndexFinding, IndexReport, Preview

if TYPE_CHECKING:
    from memtui.engine import Engine


class Chosen(NamedTuple):
    """What is to be fixed in one index."""

    report: IndexReport
    findings: tuple[IndexFinding, ...]


class Applied(NamedTuple):
    """What was done."""

    txn: str
    fixes: int
    written: tuple[Address, ...]
    """The indexes, and the files that took in a part of one."""


def choose(
    reports: Sequence[IndexReport],
    kinds: Sequence[str],
    *,
    rebuilt: bool = True,
    line: int | None = None,
) -> tuple[Chosen, ...]:
    """Pick what can be fixed.

    Args:
        reports: what was found.
        kinds: which kinds.
        rebuilt: also indexes the agent makes anew, where a fix does not stay.
        line: only what is wrong in this line, from 1; offers as well, for that is to name one.

    Returns:
        The findings that have a fix, by index; without a line only those that can be done together with others.
    """
    found = []
    for report in reports:
        if report.rebuilt and not rebuilt:
            continue
        here = tuple(
            finding
            for finding in report.findings
            if finding.kind in kinds and finding.fix is not None
            if (not finding.fix.offered if line is None else finding.line == line)
        )
        if here:
            found.append(Chosen(report, here))
    return tuple(found)


_BY_HAND = {
    "E_TOO_BIG": "Make it smaller by hand first.",
    "E_TEXT": "Save it as UTF-8 with an editor that knows its encoding, then try again.",
}


def refuse_unread(reports: Sequence[IndexReport]) -> None:
    """Say of an index that could not be looked at that nothing is known of what to fix in it; nothing without one.

    Raises:
        RefusedError: with the code of what was in the way.
    """
    for report in reports:
        if report.code:
            problem = report.problem or report.findings[0].text
            raise RefusedError(
                f"{report.address} was not looked at, so nothing in it is fixed: {problem}",
                code=report.code,
                unharmed="It is as it was.",
                hint=_BY_HAND.get(report.code, "Look at it by hand first."),
            )


def prepare(engine: Engine, chosen: Sequence[Chosen]) -> tuple[Preview, ...]:
    """Say what fixes would write.

    Raises:
        ConflictError: an index is not the version any more that the findings are about.
    """
    found = []
    for report, findings in chosen:
        data = _data(engine, report.address, report.sha256)
        made = preview(report.address, data, findings, report.policy, rebuilt=report.rebuilt)
        found.append(made._replace(notes=(report.off, *made.notes)) if report.off else made)
        root = report.address.root
        held = {
            piece.path: _data(engine, Address(root, piece.path), piece.sha256) or b"" for piece in pieces_of(findings)
        }
        found += rests(report.address, data or b"", findings, held)
    return tuple(found)


def apply(engine: Engine, previews: Sequence[Preview], *, actor: Actor, label: str = "") -> Applied:
    """Write what was shown, as one step of undo.

    Args:
        engine: what writes.
        previews: from `prepare`.
        actor: who does it.
        label: what the step is called, for people; made up when empty.

    Raises:
        ConflictError: an index changed meanwhile; nothing was written.
        MemtuiError: it could not be written.
    """
    fixes = sum(one.fixes for one in previews)
    first = sorted(previews, key=lambda one: one.fixes > 0)  # nothing leaves an index before it is somewhere else
    steps = [Write(one.address, one.after, one.expected_sha256) for one in first if one.after != one.before]
    if not steps:
        return Applied("", 0, ())
    done = engine.together.do(steps, actor=actor, label=label or _label(previews, fixes))
    for outcome in done.outcomes:
        if isinstance(outcome.result, Conflict):
            raise _changed(str(outcome.address))
    for outcome in done.outcomes:
        if outcome.error is not None:
            raise outcome.error
    return Applied(done.txn, fixes, tuple(step.address for step in steps))


def _label(previews: Sequence[Preview], fixes: int) -> str:
    indexes = [one.address for one in previews if one.fixes]
    where = str(indexes[0]) if len(indexes) == 1 else f"{len(indexes):,} indexes"
    return f"fix {fixes:,} findings in {where}" if fixes != 1 else f"fix {where}"


def _data(engine: Engine, address: Address, sha256: str | None) -> bytes | None:
    try:
        found = engine.read(address)
    except NotFoundError:
        if sha256 is not None:
            raise _changed(str(address)) from None
        return None
    if found.sha256 != sha256:
        raise _changed(str(address))
    return found.bytes


def _changed(name: str) -> ConflictError:
    return ConflictError(
        f"{name} changed meanwhile.",
        unharmed="Nothing was written.",
        hint="Look at its findings again; they may be others now.",
    )
