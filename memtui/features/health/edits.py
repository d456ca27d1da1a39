"""Edits of bytes, made all at once on the version they were found in, so that no byte outside them can differ."""

from collections.abc import Iterable

from memtui.features.health.model import Edit
from memtui.pointers.index import Pointer

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
