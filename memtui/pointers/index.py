"""Parser for index pointers: which line names which memory, with byte offsets.

An index is what an agent loads in place of all its memories: one link a line, and text that tells whether to follow it.
"""

import re
from collections.abc import Container
from typing import NamedTuple

from memtui.pointers.markdown import inline_links
from memtui.pointers.prose import prose
from memtui.pointers.targets import first_of, name_readings, readings

_NAMED = re.compile(rb"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t][^\w\[\]]*+(\[\[([^\[\]]++)\]\])")
"""An entry that begins with a `[[name]]`."""
_GAP = " \t\r—–-:|"
"""Characters between an entry's link and its text."""


class Pointer(NamedTuple):
    """One pointer of an index; offsets are bytes of the file."""

    line: int
    """From 0; only a line feed ends a line."""
    start: int
    end: int
    target: str
    """As written; bytes that are not UTF-8 as surrogate escapes."""
    path: str | None
    """Path below the root, ending in `/` for a folder; None when it leads out of the root, to the web or nowhere."""
    text: str
    """Text of the link; untrusted."""
    hook: str
    """Text after the link; untrusted."""
    kind: str = "link"
    """`link`, or `name` for an entry written as `[[name]]`."""
    readings: tuple[str | None, ...] = ()
    """All paths it may mean, the likeliest first."""
    text_end: int = 0
    """End of the link's text, which begins after the bracket at `start`."""


def parse(data: bytes, path: str, known: Container[str] = ()) -> tuple[Pointer, ...]:
    """Return the pointers of an index in order; links in front matter, comments and code are none.

    Args:
        path: the index's own path below the root, which relative targets start from.
        known: existing paths, which decide what a name with `#` or `%` means.
    """
    found: list[Pointer] = []
    for number, (start, line) in enumerate(prose(data)):
        if b"[" not in line:
            continue
        named = _NAMED.match(line)
        if named is not None:
            found.append(_named(data, path, number, start, named, known))
        links = inline_links(line)
        for place, one in enumerate(links):
            # Only the entry itself has all that follows for a hook: a line of a thousand links is not kept a thousand
            # times.
            stop = links[place + 1].start if 0 < place < len(links) - 1 else len(line)
            target = _text(data[start + one.at : start + one.stop])
            paths = readings(target, path)
            found.append(
                Pointer(
                    number,
                    start + one.start,
                    start + one.end,
                    target,
                    first_of(paths, known),
                    _shown(data[start + one.start + 1 : start + one.text_end]),
                    _shown(data[start + one.end : start + stop]).strip(_GAP),
                    readings=paths,
                    text_end=start + one.text_end,
                )
            )
    return tuple(found)


def _named(data: bytes, path: str, number: int, start: int, found: re.Match[bytes], known: Container[str]) -> Pointer:
    target = _text(found[2])
    shown = target.partition("|")[2] or target
    paths = name_readings(target, path)
    return Pointer(
        number,
        start + found.start(1),
        start + found.end(1),
        target,
        first_of(paths, known),
        _shown(shown.encode("utf-8", "surrogateescape")),
        _shown(data[start + found.end(1) : start + len(found.string)]).strip(_GAP),
        "name",
        readings=paths,
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "replace")
