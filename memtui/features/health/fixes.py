"""What fixes would make of an index, before anything is written: the new bytes, and what follows from them.

Kept apart from writing, so that every front shows the very bytes that would be written.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from memtui.engine.model import Address, Policy
from memtui.features.health.edits import apply_edits
from memtui.features.health.model import IndexFinding, Piece, Preview
from memtui.features.health.split import filled
from memtui.pointers.cutline import Measure, lines_with_text, measure
from memtui.pointers.index import parse

REBUILT = "The agent makes this index anew from the memories: the fix holds only until it does."
NOW_FULL = "It is full then: the next line that is added to it is below the cut again."
_NAMED = 3


def pieces_of(findings: Sequence[IndexFinding]) -> tuple[Piece, ...]:
    """What of an index goes to other files when findings are fixed."""
    return next((one.fix.pieces for one in findings if one.fix is not None and one.fix.pieces), ())


def rests(
    address: Address, data: bytes, findings: Sequence[IndexFinding], held: Mapping[str, bytes]
) -> tuple[Preview, ...]:
    """Say what the files would hold that take in parts of an index.

    Args:
        address: the index.
        data: the version the findings are about.
        findings: those to fix.
        held: what is in those of the files that are there.
    """
    return tuple(
        Preview(
            Address(address.root, piece.path),
            held.get(piece.path, b""),
            filled(data, piece, held.get(piece.path, b"")),
            piece.sha256,
            0,
        )
        for piece in pieces_of(findings)
    )


def preview(
    address: Address, data: bytes | None, findings: Sequence[IndexFinding], policy: Policy, *, rebuilt: bool
) -> Preview:
    """Say what fixing findings of one index would make of it.

    Args:
        address: the index.
        data: the version the findings are about; None: there is no such file.
        findings: those to fix; the ones without a fix are left out.
        policy: what the layout says.
        rebuilt: the agent makes the file anew.
    """
    before = data or b""
    fixed = [finding for finding in findings if finding.fix is not None]
    fixed = [finding for finding in fixed if finding.fix is not None and finding.fix.pieces] or fixed
    after = apply_edits(before, (edit for finding in fixed if finding.fix is not None for edit in finding.fix.edits))
    old, new = measure(before, policy), measure(after, policy)
    notes = [REBUILT] if rebuilt else []
    notes += _moved_notes(before, old, pieces_of(fixed))
    notes += _cut_notes(address.path, before, old, after, new)
    if old.cut is not None and new.cut is None and _is_full(after, new, policy):
        notes.append(NOW_FULL)
    return Preview(address, before, after, None if data is None else sha256(data).hexdigest(), len(fixed), tuple(notes))


def _moved_notes(before: bytes, old: Measure, pieces: Sequence[Piece]) -> list[str]:
    """What goes to other files, and that the agent has to open those."""
    if not pieces:
        return []
    lines = before[pieces[0].start :].split(b"\n")
    count = lines_with_text(lines)
    names = " and ".join(piece.path.rpartition("/")[2] for piece in pieces)
    notes = [f"{_count(count)} {'moves' if count == 1 else 'move'} to {names}; the agent opens it when it needs more."]
    first = before.count(b"\n", 0, pieces[0].start)
    loaded = lines_with_text(lines[: max((old.cut or 0) - first, 0)])
    if loaded > 0:
        notes.append(f"{loaded:,} of them {'was' if loaded == 1 else 'were'} loaded until now.")
    return notes


def _cut_notes(path: str, before: bytes, old: Measure, after: bytes, new: Measure) -> list[str]:
    """What moves over the cut line."""
    if old.cut is None and new.cut is None:
        return []
    hidden, left = _below(path, before, old), _below(path, after, new)
    fallen = [name for name in left if name not in hidden]
    still = {pointer.path for pointer in parse(after, path)} if hidden else set()
    risen = [name for name in hidden if name not in left and name in still]
    notes = []
    if old.cut is not None and new.cut is None:
        notes.append("The agent then loads the whole index.")
    elif risen:
        notes.append(f"Then loaded: {_list(risen)}.")
    if fallen:
        notes.append(f"Then not loaded: {_list(fallen)}.")
    if new.cut is not None:
        notes.append(f"Below the cut: {_lines(old)} now, {_lines(new)} then.")
    return notes


def _is_full(data: bytes, found: Measure, policy: Policy) -> bool:
    """Whether one more line, as long as those are on average, would not be loaded."""
    kept = data.rstrip()
    line = b"x" * (len(kept) // max(found.lines, 1))
    return measure(b"\n".join((kept, line)), policy).cut is not None


def _below(path: str, data: bytes, found: Measure) -> dict[str, None]:
    """The paths that are named only below the cut, in their order."""
    if found.cut is None:
        return {}
    first: dict[str, int] = {}
    for pointer in parse(data, path):
        if pointer.path is not None:
            first.setdefault(pointer.path, pointer.line)
    return {name: None for name, line in first.items() if line >= found.cut}


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def _lines(found: Measure) -> str:
    return _count(found.lost_lines)


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines:,} lines"
