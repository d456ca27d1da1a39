"""The lines of a Markdown file as offsets, and which of them stand in a fenced block of code.

A heading or a blank line inside a fence is code; taking it for structure would cut an entry in two.
"""

import re
from collections.abc import Iterator

BOM = b"\xef\xbb\xbf"
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})([^\r\n]*)")


def body_start(data: bytes) -> int:
    """The offset behind a byte-order mark."""
    return len(BOM) if data.startswith(BOM) else 0


def lines(data: bytes, start: int = 0) -> Iterator[tuple[int, int, bool]]:
    """Give each line's start, the end of its text without the line end, and whether it belongs to a fenced block.

    A fence that is never closed reaches to the end of the file, as Markdown has it.
    """
    at = start
    fence = b""
    for raw in data[start:].splitlines(keepends=True):
        line = raw.rstrip(b"\r\n")
        found = _FENCE.match(line) if line[:4].lstrip(b" ")[:1] in (b"`", b"~") else None
        fenced = bool(fence)
        if found is not None:
            mark, rest = found.groups()
            if fence:
                if mark[:1] == fence[:1] and len(mark) >= len(fence) and not rest.strip():
                    fence = b""
            elif mark[:1] == b"~" or b"`" not in rest:
                fence, fenced = mark, True
        yield at, at + len(line), fenced
        at += len(raw)


def front_matter_end(data: bytes, start: int) -> int:
    """The offset behind a front-matter block that begins here; `start` itself where there is none."""
    if not data.startswith((b"---\n", b"---\r\n"), start):
        return start
    found = re.compile(rb"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE).search(data, data.index(b"\n", start) + 1)
    return found.end() if found is not None else start
