"""Previews of index fixes, and their application as one undo step to exactly the version they were found in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Actor, Address, Conflict, Done, Policy, Write
from memtui.errors import ConflictError, NotFoundError, RefusedError
from memtui.features.health.checks import filled
from memtui.features.health.model import Edit, FixPreview, IndexFinding, IndexReport, Piece, apply_edits
from memtui.features.hygiene.memory_scan import fix_edit, remaining_copies
from memtui.pointers.lines import Measure, lines_with_text, measure
from memtui.pointers.links import parse_index
from memtui.wire.output import count

if TYPE_CHECKING:
    from memtui.engine import Engine

REBUILT = "The agent makes this index anew from the memories: the fix holds only until it does."
NOT_LOADED = "Then not loaded: "
"""The beginning of the note that names what a fix moves below the cut."""
_NAMED = 3


def _pieces_of(findings: Sequence[IndexFinding]) -> tuple[Piece, ...]:
    """Return the parts of an index that its fixes move to other files."""
    return next((one.fix.pieces for one in findings if one.fix is not None and one.fix.pieces), ())


def preview(
    address: Address, data: bytes | None, findings: Sequence[IndexFinding], policy: Policy, *, rebuilt: bool
) -> FixPreview:
    """Preview the fixes of one index for this version of it (None: no file); findings without a fix are ignored."""
    before = data or b""
    fixed = [finding for finding in findings if finding.fix is not None]
    fixed = [finding for finding in fixed if finding.fix is not None and finding.fix.pieces] or fixed
    after = apply_edits(before, (edit for finding in fixed if finding.fix is not None for edit in finding.fix.edits))
    old, new = measure(before, policy), measure(after, policy)
    notes = [REBUILT] if rebuilt else []
    notes += _moved_notes(before, old, _pieces_of(fixed))
    notes += _cut_notes(address.path, before, old, after, new)
    return FixPreview(
        address, before, after, None if data is None else sha256(data).hexdigest(), len(fixed), tuple(notes)
    )


def _moved_notes(before: bytes, old: Measure, pieces: Sequence[Piece]) -> list[str]:
    if not pieces:
        return []
    lines = before[pieces[0].start :].split(b"\n")
    many = lines_with_text(lines)
    verb = "moves" if many == 1 else "move"
    names = " and ".join(piece.path.rpartition("/")[2] for piece in pieces)
    notes = [f"{count(many, 'line')} {verb} to {names}; the agent opens it when it needs more."]
    first = before.count(b"\n", 0, pieces[0].start)
    loaded = lines_with_text(lines[: max((old.cut or 0) - first, 0)])
    if loaded > 0:
        notes.append(f"{loaded:,} of them {'was' if loaded == 1 else 'were'} loaded until now.")
    return notes


def _cut_notes(path: str, before: bytes, old: Measure, after: bytes, new: Measure) -> list[str]:
    if old.cut is None and new.cut is None:
        return []
    hidden, left = _below(path, before, old), _below(path, after, new)
    fallen = [name for name in left if name not in hidden]
    still = {pointer.path for pointer in parse_index(after, path)} if hidden else set()
    risen = [name for name in hidden if name not in left and name in still]
    notes = []
    if old.cut is not None and new.cut is None:
        notes.append("The agent then loads the whole index.")
    elif risen:
        notes.append(f"Then loaded: {_list(risen)}.")
    if fallen:
        notes.append(f"{NOT_LOADED}{_list(fallen)}.")
    if new.cut is not None:
        notes.append(f"Not loaded: {count(old.lost_lines, 'line')} now, {count(new.lost_lines, 'line')} then.")
    return notes


def _below(path: str, data: bytes, found: Measure) -> dict[str, None]:
    """Return the paths that are named only below the cut."""
    if found.cut is None:
        return {}
    first: dict[str, int] = {}
    for pointer in parse_index(data, path):
        if pointer.path is not None:
            first.setdefault(pointer.path, pointer.line)
    return {name: None for name, line in first.items() if line >= found.cut}


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


class Chosen(NamedTuple):
    """The findings to fix in one index."""

    report: IndexReport
    findings: tuple[IndexFinding, ...]


def choose(
    reports: Sequence[IndexReport],
    kinds: Sequence[str],
    *,
    rebuilt: bool = True,
    line: int | None = None,
) -> tuple[Chosen, ...]:
    """Select the findings to fix; with `line` (from 1) those of that line, also what is fixed one by one.

    `rebuilt` includes indexes that the agent regenerates.
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
    """Raise RefusedError if an index could not be read, so that nothing is known of it."""
    for report in reports:
        if report.code:
            problem = report.problem or report.findings[0].text
            raise RefusedError(
                f"{report.address} was not looked at, so nothing in it is fixed: {problem}",
                code=report.code,
                unharmed="It is as it was.",
                hint=_BY_HAND.get(report.code, "Look at it by hand first."),
            )


def prepare(engine: Engine, chosen: Sequence[Chosen]) -> tuple[FixPreview, ...]:
    """Preview the chosen fixes; raises ConflictError when an index is no longer the version the findings are about."""
    found = []
    for report, findings in chosen:
        data = _data(engine, report.address, report.sha256)
        fixed, notes = _resolved(engine, report.address, data or b"", findings)
        made = preview(report.address, data, fixed, report.policy, rebuilt=report.rebuilt)
        found.append(made._replace(notes=(*filter(None, [report.off]), *notes, *made.notes)))
        for piece in _pieces_of(findings):
            target = Address(report.address.root, piece.path)
            held = _data(engine, target, piece.sha256) or b""
            found.append(FixPreview(target, held, filled(data or b"", piece, held), piece.sha256, 0))
    return tuple(found)


def _resolved(
    engine: Engine, address: Address, data: bytes, findings: Iterable[IndexFinding]
) -> tuple[list[IndexFinding], list[str]]:
    """Compute the edits of findings in texts, and return them with sentences on what the fixes cannot reach."""
    found: list[IndexFinding] = []
    notes: list[str] = []
    for one in findings:
        fix = one.fix
        if one.hazard is not None and fix is not None:
            change = fix_edit(engine, address, data, one.hazard)
            if one.hazard.rule.fix == "mask":
                notes += remaining_copies(engine, address, data[one.hazard.start : one.hazard.end])
            fix = fix._replace(edits=() if change is None else (Edit(*change),))
        found.append(one._replace(fix=fix))
    return found, list(dict.fromkeys(notes))


def apply(engine: Engine, previews: Sequence[FixPreview], *, actor: Actor, label: str = "") -> Done:
    """Write previews as one undo step; raises ConflictError if an index changed meanwhile and nothing was written."""
    first = sorted(previews, key=lambda one: one.fixes > 0)  # nothing leaves an index before it is somewhere else
    steps = [Write(one.address, one.after, one.expected_sha256) for one in first if one.after != one.before]
    if not steps:
        return Done("", "save", ())
    done = engine.together.do(steps, actor=actor, label=label or _label(previews))
    for outcome in done.outcomes:
        if isinstance(outcome.result, Conflict):
            raise _changed(str(outcome.address))
    for outcome in done.outcomes:
        if outcome.error is not None:
            raise outcome.error
    return done


def _label(previews: Sequence[FixPreview]) -> str:
    fixes = sum(one.fixes for one in previews)
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
