"""Parser for Markdown: prose, links in memories and pointers of indexes, with byte offsets, and what targets mean.

Links are Markdown links, `[[names]]`, Serena's `mem:name` and `@imports`; those in code, comments and front matter are
none. It takes linear time and does not look at the disk. Whatever is not plainly a path below the root has no path, so
no link of an untrusted memory leads out of it. An index is what an agent loads in place of all its memories: one link a
line, and text that tells whether to follow it.
"""

import re
from collections.abc import Container
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_FENCE = re.compile(rb"[ \t>]*(`{3,}|~{3,})([^\n]*)")
_TICKS = re.compile(rb"`+")
_SHOWN = re.compile(rb"[^\s]")


def prose(data: bytes) -> list[tuple[int, bytes]]:
    """Return offset and text of each line, without its line feed and with everything but prose blanked."""
    starts, lines = _lines(data)
    first = front_matter(lines)
    found = [(starts[number], _blank(lines[number])) for number in range(first)]
    fence = b""
    inside = False
    for number in range(first, len(lines)):
        line = lines[number]
        if not inside:
            mark = _FENCE.match(line)
            if fence:
                closes = mark is not None and mark[1].startswith(fence) and not mark[2].strip()
                fence = b"" if closes else fence
                found.append((starts[number], _blank(line)))
                continue
            if mark is not None and not (mark[1][:1] == b"`" and b"`" in mark[2]):
                fence = mark[1]
                found.append((starts[number], _blank(line)))
                continue
        if b"`" in line and not inside:
            line = _without_code(line)
        if inside or b"<!--" in line:
            line, inside = _without_comments(line, inside=inside)
        found.append((starts[number], line))
    return found


def _lines(data: bytes) -> tuple[list[int], list[bytes]]:
    lines = data.split(b"\n")
    if lines and lines[0].startswith(_BOM):
        lines[0] = b"   " + lines[0][len(_BOM) :]
    starts = []
    at = 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return starts, lines


def front_matter(lines: list[bytes]) -> int:
    """Return how many lines front matter takes; a block that is never closed is text."""
    if not lines or lines[0].removeprefix(_BOM).strip() != b"---":
        return 0
    for number in range(1, len(lines)):
        if lines[number].rstrip() == b"---":
            return number + 1
    return 0


def _blank(line: bytes) -> bytes:
    return b" " * len(line)


def _without_code(line: bytes) -> bytes:
    """Blank code in backticks; a run of backticks is closed by the next run of the same length."""
    runs = [(found.start(), found.end()) for found in _TICKS.finditer(line)]
    following: dict[int, int] = {}
    closing = [0] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        size = runs[number][1] - runs[number][0]
        closing[number] = following.get(size, 0)
        following[size] = number
    kept: list[bytes] = []
    at = number = 0
    while number < len(runs):
        close = closing[number]
        if not close:
            number += 1
            continue
        start, end = runs[number][0], runs[close][1]
        kept += [line[at:start], b" " * (end - start)]
        at, number = end, close + 1
    return b"".join((*kept, line[at:]))


def _without_comments(line: bytes, *, inside: bool) -> tuple[bytes, bool]:
    kept = []
    at = 0
    while True:
        stop = line.find(b"-->" if inside else b"<!--", at)
        end = len(line) if stop < 0 else stop + 3 if inside else stop
        kept.append(b" " * (end - at) if inside else line[at:end])
        at = end
        if stop < 0:
            return b"".join(kept), inside
        inside = not inside


_MOST_NESTED = 6
"""Nested parentheses in a target up to which it is a link."""

_MARK = re.compile(rb"\\[!-/:-@\[-`{-~]|!?\[|\]\(?")
_PLAIN = re.compile(rb"(?:[^\s()\\]++|\\[!-/:-@\[-`{-~]|\\)*+")
_ANGLED = re.compile(rb"<([^<>]*+)>")
_REST = re.compile(rb"[ \t]*+(?:\"[^\"]*+\"|'[^']*+')?+[ \t]*+\)")
_SPACED = re.compile(rb"[^()<>\"']*+\)")


class Inline(NamedTuple):
    """One `[text](target)`; offsets are bytes of the line."""

    start: int
    end: int
    """After the closing parenthesis."""
    text_end: int
    """End of the text, which begins after the bracket at `start`."""
    at: int
    stop: int
    angled: bool


def inline_links(line: bytes) -> list[Inline]:
    """Return the links of a line, without images; code and comments must be blanked before, see `prose`."""
    if b"](" not in line:
        return []
    found: list[Inline] = []
    opened: list[tuple[int, bool]] = []
    at = 0
    while mark := _MARK.search(line, at):
        at = mark.end()
        token = mark[0]
        if token[:1] == b"\\":
            continue
        if token[-1:] == b"[":
            opened.append((at - 1, token[:1] == b"!"))
            continue
        if not opened:
            continue
        start, picture = opened.pop()
        target = _target(line, at) if token == b"](" else None
        if target is None:
            continue
        begin, stop, end, angled = target
        at = end
        if not picture:
            found.append(Inline(start, end, mark.start(), begin, stop, angled))
            opened.clear()  # a link holds no other link
    return found


def _target(line: bytes, at: int) -> tuple[int, int, int, bool] | None:
    """Return start and end of the target after `](`, the end of the link, and whether the target is angled."""
    while line[at : at + 1] in (b" ", b"\t"):
        at += 1
    angled = _ANGLED.match(line, at)
    if angled is not None:
        rest = _REST.match(line, angled.end())
        return None if rest is None else (angled.start(1), angled.end(1), rest.end(), True)
    stop = _plain_end(line, at) if line[at : at + 1] != b"<" else None
    if stop is None:
        return None
    rest = _REST.match(line, stop)
    if rest is not None:
        return at, stop, rest.end(), False
    spaced = _SPACED.match(line, stop)
    return None if spaced is None or stop == at else (at, spaced.end() - 1, spaced.end(), False)


def _plain_end(line: bytes, at: int) -> int | None:
    depth = 0
    while True:
        found = _PLAIN.match(line, at)
        at = found.end() if found is not None else at
        mark = line[at : at + 1]
        if mark == b"(":
            depth += 1
            if depth > _MOST_NESTED:
                return None
        elif mark == b")" and depth:
            depth -= 1
        else:
            return None if depth else at
        at += 1


# --- targets

_MOST_BYTES, _MOST_PARTS, _MOST_NAME = 1_024, 20, 255
"""Limits of the engine's `paths`."""
MARKDOWN = ".md"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENCODED = re.compile(rb"%([0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_UNSAFE = re.compile(r"[\x00-\x20\x7f%()<>\\#\[\]\"]")
_FIRST_COLON = re.compile(r"[^/]*:")


def resolve(target: str, here: str) -> str | None:
    """Return the path below the root that a link target in the file `here` means, ending in `/` for a folder.

    None when it leads out of the root, to the web or to the file itself, or is no valid path of a memory. Bytes that
    are not UTF-8 are surrogate escapes.
    """
    if len(target) > 3 * _MOST_BYTES + _MOST_NAME:  # a long fragment is no reason to look at all of it
        return None
    text = _ESCAPED.sub(r"\1", target).partition("#")[0]
    return None if not text or _outside(text) else resolve_plain(_decoded(text), here)


def readings(target: str, here: str) -> tuple[str | None, ...]:
    """Return all paths a link target may mean, the likeliest first.

    Agents write names as they are, so `m%20x.md` may be the name of a file, and `n#1.md` no part of `n`. The first path
    that exists is meant.
    """
    first = resolve(target, here)
    if ("%" not in target and "#" not in target) or len(target) > 3 * _MOST_BYTES + _MOST_NAME:
        return (first,)
    text = _ESCAPED.sub(r"\1", target)
    if _outside(text):
        return (first,)
    texts = (text, _decoded(text), text.partition("#")[0])
    return tuple(dict.fromkeys((first, *(resolve_plain(one, here) for one in texts))))


def part_of(target: str, here: str, path: str) -> str:
    """Return the `#part` of a target; empty when it has none, or the `#` belongs to the name."""
    before, hashed, part = target.partition("#")
    if not hashed or (path != resolve(target, here) and path not in readings(before, here)):
        return ""
    return hashed + part


def resolve_plain(path: str, here: str) -> str | None:
    """Resolve a path without escapes, as imports are written."""
    if not path or len(path) > _MOST_BYTES or _outside(path) or _CONTROL.search(path):
        return None
    decoded = _decoded(path)
    if decoded != path and resolve_plain(decoded, here) is None:
        return None  # there is no way around by encoding it once more
    parts = here.split("/")[:-1]
    wanted = path.split("/")
    for part in wanted:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return _checked(parts, folder=wanted[-1] in ("", ".", ".."))


def resolve_name(name: str, here: str) -> str | None:
    """Return the path that `[[name]]` means by default: a Markdown file beside the one with the link."""
    return _named(name_of(name), here)


def name_readings(name: str, here: str) -> tuple[str | None, ...]:
    """Return all paths that `[[name]]` may mean, the likeliest first; see `readings`."""
    return tuple(dict.fromkeys(_named(bare, here) for bare in names_of(name)))


def name_of(name: str) -> str:
    """Return the name within `[[...]]`, without `#part` and `|text`."""
    return name.partition("|")[0].partition("#")[0].strip()


def names_of(name: str) -> tuple[str, ...]:
    """Return the possible names within `[[...]]`, the likeliest first: a `#` or `|` may belong to the name."""
    return tuple(dict.fromkeys((name_of(name), name.partition("|")[0].strip(), name.strip())))


def _first_of(paths: tuple[str | None, ...], known: Container[str]) -> str | None:
    return paths[0] if len(paths) == 1 else next((path for path in paths if path in known), paths[0])


def is_writable(path: str) -> bool:
    """Return whether a path is valid UTF-8 without control characters."""
    return _UNWRITABLE.search(path) is None


def without_controls(text: str) -> str:
    """Replace control characters and lone surrogates by spaces."""
    return _UNWRITABLE.sub(" ", text)


def with_ending(path: str) -> str:
    """Append the Markdown extension if it is missing."""
    return path if path.lower().endswith(MARKDOWN) else path + MARKDOWN


def without_ending(path: str) -> str:
    """Remove the Markdown extension."""
    return path[: -len(MARKDOWN)] if path.lower().endswith(MARKDOWN) else path


def relative(path: str, here: str) -> str:
    """Return a path below the root relative to a file."""
    base, parts = here.split("/")[:-1], path.split("/")
    shared = 0
    while shared < min(len(base), len(parts) - 1) and base[shared] == parts[shared]:
        shared += 1
    return "/".join([".."] * (len(base) - shared) + parts[shared:])


def written(path: str, here: str, like: str, *, angled: bool = False) -> str | None:
    """Return a target for a path in `here`, with the `./` and `#part` of the one it replaces; None when impossible."""
    if not is_writable(path) and is_writable(like):
        return None
    plain = relative(path, here)
    text = plain if angled else _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", plain)
    dotted = like.startswith("./") and not text.startswith("../")
    if dotted or text[:1] == "~" or _FIRST_COLON.match(text):
        text = "./" + text
    hashed, part = like.partition("#")[1:]
    text += hashed + part
    if angled and ("<" in text or ">" in text):
        return None
    return text if resolve(text, here) == path else None


def _named(bare: str, here: str) -> str | None:
    found = resolve_plain(bare, here)
    return None if found is None or found.endswith("/") else with_ending(found)


def _outside(text: str) -> bool:
    return text[0] in "/\\~" or _SCHEME.match(text) is not None


def _decoded(text: str) -> str:
    if "%" not in text:
        return text
    data = text.encode("utf-8", "surrogateescape")
    return _ENCODED.sub(lambda found: bytes([int(found[1], 16)]), data).decode("utf-8", "surrogateescape")


def _checked(parts: list[str], *, folder: bool) -> str | None:
    sizes = [len(part.encode("utf-8", "surrogateescape")) for part in parts]
    if not parts or len(parts) > _MOST_PARTS or max(sizes) > _MOST_NAME or sum(sizes) + len(parts) > _MOST_BYTES + 1:
        return None
    return "/".join(parts) + "/" * folder


# --- links of a memory

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
    start: int
    end: int
    target: str
    """As written; bytes that are not UTF-8 as surrogate escapes."""
    path: str | None
    """Path below the root; None when it leads out of the root, to the web or nowhere."""
    at: int
    angled: bool = False
    text: tuple[int, int] = (0, 0)
    """Start and end of the text a Markdown link shows."""


def may_link(data: bytes) -> bool:
    """Return whether a memory can contain links at all; a quick check."""
    return b"[" in data or b"@" in data or b"mem:" in data


def parse_links(data: bytes, path: str, *, names: str = "") -> tuple[Link, ...]:
    """Return the links of a memory in order; front matter, comments and code contain none but `mem:` references.

    `path` is where relative targets start from; `names` the prefix of `mem:` references to this root, such as
    `global/`.
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


# --- pointers of an index

_NAMED_ENTRY = re.compile(rb"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t][^\w\[\]]*+(\[\[([^\[\]]++)\]\])")
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


def parse_index(data: bytes, path: str, known: Container[str] = ()) -> tuple[Pointer, ...]:
    """Return the pointers of an index in order; links in front matter, comments and code are none.

    `path` is where relative targets start from; `known` paths decide what a name with `#` or `%` means.
    """
    found: list[Pointer] = []
    for number, (start, line) in enumerate(prose(data)):
        if b"[" not in line:
            continue
        named = _NAMED_ENTRY.match(line)
        if named is not None:
            found.append(_named_pointer(data, path, number, start, named, known))
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
                    _first_of(paths, known),
                    _shown(data[start + one.start + 1 : start + one.text_end]),
                    _shown(data[start + one.end : start + stop]).strip(_GAP),
                    readings=paths,
                    text_end=start + one.text_end,
                )
            )
    return tuple(found)


def _named_pointer(
    data: bytes, path: str, number: int, start: int, found: re.Match[bytes], known: Container[str]
) -> Pointer:
    target = _text(found[2])
    shown = target.partition("|")[2] or target
    paths = name_readings(target, path)
    return Pointer(
        number,
        start + found.start(1),
        start + found.end(1),
        target,
        _first_of(paths, known),
        _shown(shown.encode("utf-8", "surrogateescape")),
        _shown(data[start + found.end(1) : start + len(found.string)]).strip(_GAP),
        "name",
        readings=paths,
    )


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "replace")
