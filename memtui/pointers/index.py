"""The pointers of an index: which line names which memory, and exactly where in the file.

An index is what an agent loads in place of all its memories. It is read as agents write it: a link a line, and the
text that tells whether to follow it; everything else in it is left alone.
"""

import re

from memtui.pointers.markdown import inline_links
from memtui.pointers.prose import prose
from memtui.pointers.targets import resolve, resolve_name
from memtui.values import NamedTuple

_NAMED = re.compile(rb"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t][^\w\[\]]*+(\[\[([^\[\]]++)\]\])")
"""An entry that begins with a `[[name]]`."""
_GAP = " \t\r—–-:|"
"""What stands between an entry's link and its text."""


class Pointer(NamedTuple):
    """One pointer of an index."""

    line: int
    """From 0; only a line feed ends a line."""
    start: int
    """Where its link begins, in bytes of the file."""
    end: int
    """Where its link ends."""
    target: str
    """As written; bytes that are not UTF-8 as surrogate escapes."""
    path: str | None
    """The path it means, below the root, with a `/` at its end for a folder; None when it leads out of the root, to
    the web or nowhere."""
    text: str
    """What the link shows. May be hostile."""
    hook: str
    """What the line says after it. May be hostile."""
    at: int = 0
    """Where the target begins, in bytes of the file."""
    kind: str = "link"
    """`link`, or `name` for an entry written as `[[name]]`."""
    angled: bool = False
    """The target stands between `<` and `>`."""


def parse(data: bytes, path: str) -> tuple[Pointer, ...]:
    """Find the pointers of an index, in their order.

    Links in front matter, comments and code are no pointers.

    Args:
        data: the index.
        path: its own path below the root, which relative targets start from.
    """
    found: list[Pointer] = []
    for number, (start, line) in enumerate(prose(data)):
        if b"[" not in line:
            continue
        named = _NAMED.match(line)
        if named is not None:
            found.append(_named(data, path, number, start, named))
        for one in inline_links(line):
            target = _text(data[start + one.at : start + one.stop])
            found.append(
                Pointer(
                    number,
                    start + one.start,
                    start + one.end,
                    target,
                    resolve(target, path),
                    _shown(data[start + one.start + 1 : start + one.text_end]),
                    _shown(data[start + one.end : start + len(line)]).strip(_GAP),
                    start + one.at,
                    angled=one.angled,
                )
            )
    return tuple(found)


def _named(data: bytes, path: str, number: int, start: int, found: re.Match[bytes]) -> Pointer:
    target = _text(found[2])
    shown = target.partition("|")[2] or target
    hook = _shown(data[start + found.end(1) : start + len(found.string)]).strip(_GAP)
    return Pointer(
        number,
        start + found.start(1),
        start + found.end(1),
        target,
        resolve_name(target, path),
        _shown(shown.encode("utf-8", "surrogateescape")),
        hook,
        start + found.start(2),
        "name",
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "replace")
