"""What can be wrong with an index, as values, and the fix for it as edits of bytes.

A fix is data until somebody applies it, so that what is shown, what is asked about and what is written are one thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memtui.engine.model import Address, Policy
    from memtui.features.hygiene.model import Hazard
    from memtui.pointers.cutline import Measure
    from memtui.pointers.index import Pointer

DANGLING, UNNAMED, DUPLICATE = "dangling", "unnamed", "duplicate"
LONG, OUTSIDE, CUT, BELOW, BROKEN = "long", "outside", "cut", "below", "broken"
HIDDEN = "hidden"

KINDS = {
    BROKEN: "the index is not UTF-8 text",
    CUT: "the agent does not load the whole index",
    DANGLING: "the index names a memory that is not there",
    UNNAMED: "a memory the index does not name",
    DUPLICATE: "the index names a memory twice",
    LONG: "a line is longer than the agent keeps it",
    OUTSIDE: "the index names a file outside its folder",
    HIDDEN: "an entry that a later one with the same tags hides from the agent",
    BELOW: "a memory whose line the agent does not load",
}
"""Kinds of findings, in the order in which they are shown."""

BULK = (DANGLING, UNNAMED, DUPLICATE, LONG)
"""Kinds that can be fixed all at once."""

TOGETHER = (DANGLING, UNNAMED, DUPLICATE)
"""Kinds that are fixed when everything is: shortening a line loses words, so it has to be asked for by its name."""

BY_NAME = (*BULK, CUT)
"""Kinds that can be asked for by their name. What brings an index under its line is never done with anything else."""

ONE_BY_ONE = (OUTSIDE, BELOW)
"""Kinds for which there is an offer at most, for a person to take one by one."""

QUIET = (BELOW, LONG)
"""Kinds that are counted apart: a long line loses nothing yet, and below a cut the cut itself is counted."""

ORPHAN = "orphan"
"""The kind of a project that is gone."""


class Edit(NamedTuple):
    """Bytes that are replaced by others."""

    start: int
    end: int
    new: bytes = b""
    lead: bytes = b""
    """A line end that goes before `new` where what is left in front of it has none."""


class Piece(NamedTuple):
    """A part of an index that goes to another file as it is."""

    path: str
    """That file, below the root."""
    start: int
    """Where the part begins, in bytes of the index."""
    end: int
    sha256: str | None = None
    """The version it goes to the end of; None: there is no such file yet."""


class Fix(NamedTuple):
    """What would be done to the index."""

    label: str
    """A verb and what it does it to: `remove the line`."""
    edits: tuple[Edit, ...]
    """In rising order; none overlaps another."""
    offered: bool = False
    """Only an offer for this one finding, never done with others."""
    pieces: tuple[Piece, ...] = ()
    """What of it goes to other files, in its order; such a fix is made alone."""


class IndexFinding(NamedTuple):
    """One thing that is wrong with an index."""

    kind: str
    """A key of `KINDS`, or the id of a rule about texts."""
    address: Address
    """The index it is about; there may be none yet. Or the memory in whose text it was found."""
    line: int | None
    """From 1; None when it is about no line."""
    path: str
    """The memory it is about, below the root, or the pointer's target as it is written. May hold hostile text."""
    text: str
    """What is wrong, in one sentence. May hold hostile text."""
    fix: Fix | None = None
    why: str = ""
    """Why there is no fix, in one sentence."""
    memory: Address | None = None
    """The memory it is about, when it is there."""
    hazard: Hazard | None = None
    """What a rule found in its text; None for an index. The edits of such a fix are worked out when it is shown."""
    id: str = ""
    """By which it is muted; empty for an index."""


class IndexReport(NamedTuple):
    """One index as it was found."""

    address: Address
    sha256: str | None
    """The version the findings are about; None: there is no such file."""
    measure: Measure
    policy: Policy
    """What its agent makes of it: its limits count here, and not those of the root for a file with the rest of one."""
    findings: tuple[IndexFinding, ...] = ()
    below: tuple[Address, ...] = ()
    """Memories whose lines are all below the cut."""
    rebuilt: bool = False
    """The agent makes this file anew from the memories, so what is changed in it does not stay."""
    problem: str = ""
    """Why it could not be looked at; empty when it was."""
    off: str = ""
    """What to know first when its agent loads nothing of this folder at all, in one sentence; empty when it does."""
    code: str = ""
    """The error code of the problem, or of the broken index."""

    def of(self, kind: str) -> tuple[IndexFinding, ...]:
        """The findings of one kind."""
        return tuple(finding for finding in self.findings if finding.kind == kind)


class FixPreview(NamedTuple):
    """What fixes would make of one index."""

    address: Address
    before: bytes
    after: bytes
    expected_sha256: str | None
    fixes: int
    """How many findings it takes away; none in a file that only takes in a part of an index."""
    notes: tuple[str, ...] = ()
    """What follows from it besides, in sentences. May hold hostile text."""


class Stray(NamedTuple):
    """Memories that are not where their project is."""

    kind: str
    """`orphan`, `shared` or `split`."""
    root: str
    """Where to go."""
    path: str
    """The project, as far as it is known."""
    text: str
    lines: tuple[str, ...]
    """What is known, in sentences."""


_BOM = b"\xef\xbb\xbf"


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return the bytes with every edit made; of two edits that overlap the later one is left out.

    Args:
        data: the version the edits were found in.
        edits: in any order; those that only insert at one place keep their order.
    """
    parts: list[bytes] = []
    at = 0
    before = b""  # the last bytes there are so far
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            continue
        parts.append(data[at : edit.start])
        before = (before + parts[-1][-4:])[-4:]
        if edit.lead and before not in (b"", _BOM) and not before.endswith((b"\n", edit.lead)):
            parts.append(edit.lead)
        parts.append(edit.new)
        before = (before + edit.new[-4:])[-4:]
        at = edit.end
    return b"".join([*parts, data[at:]])


def as_text(data: bytes, pointer: Pointer) -> Edit | None:
    """Make text of a link: what it shows, and as code where it leads, so that nothing goes but that it is a link.

    Args:
        data: the index.
        pointer: one of its pointers.

    Returns:
        None when it cannot be written so.
    """
    target = pointer.target.encode("utf-8", "surrogateescape")
    shown = b"" if pointer.kind == "name" else data[pointer.start + 1 : pointer.text_end]
    if b"`" in target + shown or not target.strip():
        return None
    lead = b"" if shown in (b"", target) else shown + b" "
    return Edit(pointer.start, pointer.end, b"%b`%b`" % (lead, target))
