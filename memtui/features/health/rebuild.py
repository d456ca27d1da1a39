"""Rebuilding of an index of links from its memories, newest first, as a proposal; hand-kept indexes are refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Address, Memory, Root, Write
from memtui.engine.proposal import Evidence, Proposal
from memtui.errors import NotFoundError, UsageError
from memtui.features.health.checks import LINKS, CheckedIndex, check
from memtui.features.health.model import UNNAMED, apply_edits
from memtui.features.health.survey import by_index
from memtui.features.proposals.value import judge_all, proposal
from memtui.pointers.cutline import measure
from memtui.pointers.index import parse
from memtui.pointers.lines import is_entry, is_text, spans, text_of
from memtui.pointers.rest import index_of

if TYPE_CHECKING:
    from memtui.engine import Engine

_MAX_NAMED_PATHS = 10


class RebuiltIndex(NamedTuple):
    """The new state of an index."""

    address: Address
    before: bytes | None
    """None: there is none."""
    after: bytes
    omitted: tuple[str, ...]
    """Oldest memories, which do not fit."""


def rebuild(engine: Engine, root: Root, by: str) -> tuple[Proposal | None, tuple[RebuiltIndex, ...]]:
    """Rebuild the indexes of a root without storing anything.

    Returns:
        The proposal (None when nothing would change) and the changed indexes.

    Raises:
        UsageError: the root has no index of links, or one with other text.
        NotFoundError: there is no memory to name.
    """
    if root.policy.index_format != LINKS or not root.policy.index_file:
        raise UsageError(f"{root.id} has no index of links.", hint="`memtui health` says which roots have one.")
    rows = {row.address.path: row for row in engine.rows.list([root.id]).items if not row.missing}
    rests = frozenset(filter(index_of, rows))  # what they hold is named anew
    homes = {
        home: sorted((rows[path] for path in paths), key=lambda one: (-one.modified_at, one.address.path))
        for home, paths in by_index(root.policy, rows, rests).items()
    }
    if not homes:
        raise NotFoundError(f"{root.id} has no memory that an index could name.")
    made = [_rebuilt(engine, root, home, named, rows) for home, named in sorted(homes.items())]
    changed = tuple(one for one in made if one.after != one.before)
    if not changed:
        return None, ()
    omitted = [path for one in changed for path in one.omitted]
    more = f" and {len(omitted) - _MAX_NAMED_PATHS} more" if len(omitted) > _MAX_NAMED_PATHS else ""
    why = f"{', '.join(str(one.address) for one in changed)} made anew from the memories, the newest first."
    if omitted:
        why += f" {len(omitted)} do not fit into what the agent loads: {', '.join(omitted[:_MAX_NAMED_PATHS])}{more}."
    steps = [Write(one.address, one.after, None if one.before is None else _sha(one.before)) for one in changed]
    suggested = proposal(
        engine, kind="replace" if changed[0].before is not None else "add", steps=steps, by=by, why=why,
        evidence=[*_evidence(changed, homes)],
    )  # fmt: skip
    (judged,) = judge_all(engine, (suggested,))
    return judged, changed


def _rebuilt(engine: Engine, root: Root, home: str, named: Sequence[Memory], rows: dict[str, Memory]) -> RebuiltIndex:
    address = Address(root.id, home)
    if home not in rows and (there := engine.folders.kind(address)) not in ("", "file"):
        what = {"folder": "a folder", "link": "a link"}.get(there, "no regular file")
        raise UsageError(
            f"{address} is {what}, so no index can be written there. Nothing was changed.",
            hint="Move it away, then make the index anew.",
        )
    before = engine.read_bytes(address) if home in rows else None
    head = _head(address, before or b"")
    memories = {row.address.path: row.description for row in rows.values()}
    mine = tuple(row.address.path for row in named)
    found = check(CheckedIndex(address, head, root.policy, memories, mine=mine))
    edits = {
        finding.path: finding.fix.edits[0] for finding in found.findings if finding.kind == UNNAMED and finding.fix
    }
    kept = [path for path in mine if path in edits]
    after = apply_edits(head, [edits[path] for path in kept])
    cut = measure(after, root.policy).cut
    while cut is not None and kept:
        lost = max(1, len(spans(after)) - cut)
        kept = kept[:-lost]
        after = apply_edits(head, [edits[path] for path in kept])
        cut = measure(after, root.policy).cut
    return RebuiltIndex(address, before, after, tuple(path for path in mine if path in edits and path not in kept))


def _head(address: Address, data: bytes) -> bytes:
    """Return the text above the first pointer; raises UsageError if other text follows the pointers."""
    lines = spans(data)
    named = {pointer.line for pointer in parse(data, address.path)}
    first = min(named, default=len(lines))
    rest = [number for number in range(first, len(lines)) if text_of(data, lines[number]).strip()]
    if not is_text(data) or any(number not in named or not is_entry(text_of(data, lines[number])) for number in rest):
        raise UsageError(
            f"{address} holds more than lines that name memories: somebody keeps it by hand.",
            hint=f"`memtui health {address.root} --fix all` mends single lines.",
        )
    return data[: lines[first].start] if first < len(lines) else data


def _sha(data: bytes) -> str:
    return sha256(data).hexdigest()


def _evidence(changed: Sequence[RebuiltIndex], homes: dict[str, list[Memory]]) -> Iterator[Evidence]:
    for one in changed:
        newest = homes[one.address.path][0]
        yield Evidence("memory", str(newest.address), newest.sha256 or "", "line 1", newest.description)
