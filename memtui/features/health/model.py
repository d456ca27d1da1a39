"""Findings about indexes, and their fixes as byte edits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memtui.engine.model import Address, Policy
    from memtui.features.hygiene.model import Hazard
    from memtui.pointers.lines import Measure
    from memtui.pointers.links import Pointer

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
"""Kinds of findings with their descriptions, in display order."""

BULK = (DANGLING, UNNAMED, DUPLICATE, LONG)
"""Kinds of which several can be fixed at once."""

TOGETHER = (DANGLING, UNNAMED, DUPLICATE)
"""Kinds that `all` fixes. Shortening loses words, so `long` is not among them."""

BY_NAME = (*BULK, CUT)
"""Kinds that `--fix` accepts besides `all`."""

ONE_BY_ONE = (OUTSIDE, BELOW)
"""Kinds that are fixed one at a time."""

QUIET = (BELOW, LONG)
"""Kinds that are counted apart: a long line is still loaded, and the cut stands for what is below it."""

ORPHAN = "orphan"


class Edit(NamedTuple):
    """A replacement of bytes."""

    start: int
    end: int
    new: bytes = b""
    lead: bytes = b""
    """Line end to insert before `new` if the preceding text lacks one."""


class Piece(NamedTuple):
    """A part of an index that moves unchanged to another file."""

    path: str
    """The file, below the root."""
    start: int
    """Offset in the index."""
    end: int
    sha256: str | None = None
    """Version of the file it is appended to; None for a new file."""


class Fix(NamedTuple):
    """The fix of a finding."""

    label: str
    """A phrase such as `remove the line`."""
    edits: tuple[Edit, ...]
    """Rising, without overlaps."""
    offered: bool = False
    """Whether it is only done on its own."""
    pieces: tuple[Piece, ...] = ()
    """Parts that move to other files; such a fix is applied alone."""


class IndexFinding(NamedTuple):
    """One problem of an index, or one finding in a memory's text."""

    kind: str
    """A key of `KINDS`, or the id of a hygiene rule."""
    address: Address
    """The index, which may not exist, or the memory."""
    line: int | None
    """From 1; None when it concerns no line."""
    path: str
    """The memory below the root, or the pointer's target as written; untrusted."""
    text: str
    """The problem in one sentence; untrusted."""
    fix: Fix | None = None
    why: str = ""
    """Why there is no fix."""
    memory: Address | None = None
    hazard: Hazard | None = None
    """The finding of a hygiene rule; None for an index. Its edits are computed when the fix is shown."""
    id: str = ""
    """Identifies it for muting; empty for an index."""


class IndexReport(NamedTuple):
    """One index with its findings."""

    address: Address
    sha256: str | None
    """The version the findings are about; None: there is no such file."""
    measure: Measure
    policy: Policy
    """With the limits that apply to this file."""
    findings: tuple[IndexFinding, ...] = ()
    below: tuple[Address, ...] = ()
    """Memories whose lines are all below the cut."""
    rebuilt: bool = False
    """Whether the agent regenerates this file, undoing changes."""
    problem: str = ""
    """Why it could not be read; empty when it was."""
    off: str = ""
    """A sentence on a folder that its agent does not load now; empty otherwise."""
    code: str = ""
    """Error code of the problem, or of the broken index."""

    def of(self, kind: str) -> tuple[IndexFinding, ...]:
        """Return the findings of one kind."""
        return tuple(finding for finding in self.findings if finding.kind == kind)


class FixPreview(NamedTuple):
    """The result of fixes for one file."""

    address: Address
    before: bytes
    after: bytes
    expected_sha256: str | None
    fixes: int
    """Number of fixed findings; 0 for a file that only takes in a part of an index."""
    notes: tuple[str, ...] = ()
    """Further consequences, in sentences; untrusted."""


class Stray(NamedTuple):
    """Memories that are not where their project is."""

    kind: str
    """`orphan`, `shared` or `split`."""
    root: str
    path: str
    text: str
    lines: tuple[str, ...]


_BOM = b"\xef\xbb\xbf"


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits in any order; of two that overlap the later one is dropped."""
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
    """Replace a link by its text and its target as code; None when they contain a backtick."""
    target = pointer.target.encode("utf-8", "surrogateescape")
    shown = b"" if pointer.kind == "name" else data[pointer.start + 1 : pointer.text_end]
    if b"`" in target + shown or not target.strip():
        return None
    lead = b"" if shown in (b"", target) else shown + b" "
    return Edit(pointer.start, pointer.end, b"%b`%b`" % (lead, target))
