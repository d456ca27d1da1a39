"""Parser for links in memories: Markdown links, `[[names]]`, Serena's `mem:name` and `@imports`, with byte offsets.

A link that leads out of its root has no path.
"""

import re
from typing import NamedTuple

from memtui.pointers.markdown import inline_links
from memtui.pointers.prose import prose
from memtui.pointers.targets import resolve, resolve_name, resolve_plain, with_ending

LINK, NAME, MEM, IMPORT = "link", "name", "mem", "import"
"""Kinds of links: `[text](target)`, `[[name]]`, `mem:name`, `@path`."""

_NAME = re.compile(rb"(?<!\\)\[\[([^\[\]]++)\]\]")
_MEM = re.compile(rb"(?<![A-Za-z0-9_\-/])mem:([A-Za-z0-9_\-/]++)")
"""Serena resolves them anywhere, code included."""
_IMPORT = re.compile(rb"(?<![^\s])@((?:[^\s\\]++|\\ )++)")
_DEFINITION = re.compile(rb" {0,3}\[[^\[\]]++\]:[ \t]*+(?:<([^<>]*+)>|([^\s<]\S*+))")
_AFTER = b".,;:!?)]}\"'*_"
"""Punctuation that is not part of an imported path."""


class Link(NamedTuple):
    """One link; offsets are bytes of the file."""

    kind: str
    """`link`, `name`, `mem` or `import`."""
    start: int
    end: int
    target: str
    """As written; bytes that are not UTF-8 as surrogate escapes."""
    path: str | None
    """Path below the root; None when it leads out of the root, to the web or nowhere."""
    at: int
    """Start of the target."""
    angled: bool = False
    """Whether the target stands between `<` and `>`."""
    text: tuple[int, int] = (0, 0)
    """Start and end of the text a Markdown link shows."""


def may_link(data: bytes) -> bool:
    """Return whether a memory can contain links at all; a quick check."""
    return b"[" in data or b"@" in data or b"mem:" in data


def parse(data: bytes, path: str, *, names: str = "") -> tuple[Link, ...]:
    """Return the links of a memory in order; front matter, comments and code contain none but `mem:` references.

    Args:
        path: the memory's own path below the root, which relative targets start from.
        names: prefix of `mem:` references to memories of this root, such as `global/`.
    """
    found: list[Link] = []
    # Most memories name nothing, and telling prose from code costs more than all else here.
    for start, line in prose(data) if b"[" in data or b"@" in data else ():
        found += _in_line(data, path, start, line)
    found += _references(data, names)
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[Link] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)


def _in_line(data: bytes, path: str, start: int, line: bytes) -> list[Link]:
    found: list[Link] = []
    if b"[" in line:
        for one in inline_links(line):
            target = _text(data[start + one.at : start + one.stop])
            shown = (start + one.start + 1, start + one.text_end)
            where = resolve(target, path)
            found.append(
                Link(LINK, start + one.start, start + one.end, target, where, start + one.at, one.angled, shown)
            )
        defined = _DEFINITION.match(line)
        if defined is not None:
            which = 1 if defined[1] is not None else 2
            target = _text(defined[which])
            begin, end = start + defined.start(), start + defined.end()
            found.append(
                Link(LINK, begin, end, target, resolve(target, path), start + defined.start(which), which == 1)
            )
        for name in _NAME.finditer(line):
            target = _text(name[1])
            where = resolve_name(target, path)
            found.append(Link(NAME, start + name.start(), start + name.end(), target, where, start + name.start(1)))
    if b"@" in line:
        found += _imports(path, start, line)
    return found


def _imports(path: str, start: int, line: bytes) -> list[Link]:
    found = []
    for one in _IMPORT.finditer(line):
        written = one[1].rstrip(_AFTER)
        if b"." in written or b"/" in written:
            target = _text(written)
            where = resolve_plain(target.replace("\\ ", " "), path)
            at = start + one.start(1)
            found.append(Link(IMPORT, at - 1, at + len(written), target, where, at))
    return found


def _references(data: bytes, names: str) -> list[Link]:
    found = []
    for one in _MEM.finditer(data) if b"mem:" in data else ():
        target = _text(one[1])
        where = None
        if target.startswith(names) and (names or not target.startswith("global/")) and "//" not in target:
            inside = target[len(names) :]
            where = resolve_plain(with_ending(inside), "") if inside[-1:] not in ("", "/") else None
        found.append(Link(MEM, one.start(), one.end(), target, where, one.start(1)))
    return found


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
