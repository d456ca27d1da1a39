"""What of a text an agent loads: spans it drops, where its limits cut, what it imports, and the head of a rule file.

Pure, and in bounded time whatever the text. Whoever draws a cut line in a text that an agent loads asks here, so that
two views cannot draw it in two places; an index has rules of its own in `pointers/lines.py`.
"""

import re
from typing import NamedTuple

from memtui.agents.agent import ImportRule, Limits

DROPPED, CUT = "dropped", "cut"
"""Why a span is not loaded: the agent leaves it out on purpose, or a limit was reached."""
_BOM = b"\xef\xbb\xbf"
MOST_IMPORTS = 200
_BLANK = " \t\n\r"
_PATH = re.compile(r"(?:[^\s\\]|\\ )+")
_AROUND = 200
"""Characters around an import in which bold text and links are recognised."""
HEAD_LIMIT = 16_384
"""Bytes of front matter that are read."""
HEAD_DEPTH = 16
"""How deep lists and mappings may be nested; as `memtui.engine.frontmatter.guard.DEPTH`, which imports a YAML
parser."""
_NESTS = "[{-:?"
"""Every level of nesting has one of these characters."""


class Gap(NamedTuple):
    """A span that is not loaded."""

    start: int
    end: int
    kind: str


def loaded(data: bytes, gaps: tuple[Gap, ...]) -> bytes:
    """Return the text without its gaps, which are in order and do not overlap."""
    if not gaps:
        return data
    parts: list[bytes] = []
    at = 0
    for gap in gaps:
        parts.append(data[at : gap.start])
        at = gap.end
    return b"".join((*parts, data[at:]))


def front_matter(data: bytes) -> Gap | None:
    """Find the front matter, including its lines of dashes."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    at = data.find(b"\n", start) + 1
    if not at or data[start:at].rstrip() != b"---":
        return None
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        if data[at:end].rstrip() in (b"---", b"..."):
            return Gap(start, end, DROPPED)
        at = end
    return None


def comments(data: bytes) -> tuple[Gap, ...]:
    """Find the block comments of HTML: those that begin a line outside of code; an unclosed one is text."""
    if b"<!--" not in data:
        return ()
    found: list[Gap] = []
    fence = b""
    at = 0
    last = data.rfind(b"-->")
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        line = data[at:end]
        bare = line.lstrip(b" ")
        indent = len(line) - len(bare)
        if fence or indent > 3:
            if indent <= 3 and closes(bare, fence):
                fence = b""
        elif bare.startswith((b"```", b"~~~")):
            fence = opens(bare)
        elif bare.startswith(b"<!--") and last >= at + indent + 4:
            stop = data.find(b"-->", at + indent + 4) + 3
            end = data.find(b"\n", stop) + 1 or len(data)
            whole = not data[stop:end].strip()
            found.append(Gap(at if whole else at + indent, end if whole else stop, DROPPED))
        at = end
    return tuple(found)


def opens(bare: bytes) -> bytes:
    """Return the run of fence characters that a line begins with."""
    sign = bare[:1]
    return bare[: len(bare) - len(bare.lstrip(sign))]


def closes(bare: bytes, fence: bytes) -> bool:
    """Whether a line closes the code that `fence` opened."""
    return bool(fence) and bare.startswith(fence) and not bare.strip().strip(fence[:1])


def hidden_entries(data: bytes) -> tuple[Gap, ...]:
    """Find the entries of a Goose file that a later one hides, because it has the same tags.

    Goose splits at two line feeds. Source: block/goose, `retrieve` in `crates/goose-mcp/src/memory/mod.rs`.
    """
    last: dict[bytes, Gap] = {}
    found: list[Gap] = []
    at = 0
    for entry in data.split(b"\n\n"):
        gap = Gap(at, min(at + len(entry) + 2, len(data)), DROPPED)
        at += len(entry) + 2
        if entry.startswith(b"#"):
            tags = b" ".join(entry[1:].split(b"\n", 1)[0].split())
            found += [last[tags]] if tags in last else []
            last[tags] = gap
    return tuple(sorted(found))


def cut(data: bytes, dropped: tuple[Gap, ...], limits: Limits, *, size: int | None = None) -> tuple[Gap, ...]:
    """Add the gap that limits make; dropped spans, which are in order, do not count against them.

    Whole lines are kept, as many as fit; of a first line that is too long, as much as fits. `size` is the number of
    bytes of the whole text, when `data` is only its beginning.
    """
    whole = len(data) if size is None else size
    if limits.middle is not None:
        head = limits.middle // 2
        return dropped if whole <= limits.middle else (Gap(head, whole - (limits.middle - head), CUT),)
    if limits.units is not None and limits.head < 1:
        return _both_ends(data, dropped, limits.units, limits.head, whole)
    at = _end(data, dropped, limits)
    if at is None:
        return dropped
    kept = tuple(gap for gap in dropped if gap.end <= at)
    return (*kept, Gap(at, whole, CUT))


def _both_ends(data: bytes, dropped: tuple[Gap, ...], limit: int, head: float, whole: int) -> tuple[Gap, ...]:
    units = data.decode("utf-8", "replace").rstrip().encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * limit:
        return dropped
    first = int(limit * head)
    ends = units[: 2 * first], units[len(units) - 2 * (limit - first) :]
    before, after = (len(end.decode("utf-16-le", "ignore").encode()) for end in ends)
    return (Gap(before, max(whole - after, before), CUT),)


def _end(data: bytes, dropped: tuple[Gap, ...], limits: Limits) -> int | None:
    if not limits.any:
        return None
    lines = used = units = characters = 0
    gaps = iter(dropped)
    gap = next(gaps, None)
    at = 0
    while at < len(data):
        if gap is not None and at >= gap.start:
            at = max(at, gap.end)
            gap = next(gaps, None)
            continue
        end = data.find(b"\n", at) + 1 or len(data)
        if gap is not None:
            end = min(end, gap.start)
        piece = data[at:end]
        text = piece.decode("utf-8", "replace")
        lines += 1
        used += len(piece)
        characters += len(text)
        units += len(text.encode("utf-16-le", "surrogatepass")) // 2
        counted = ((limits.lines, lines), (limits.bytes, used), (limits.units, units), (limits.characters, characters))
        if any(limit is not None and count > limit for limit, count in counted):
            return at if at and lines > 1 else _part(data, at, end, limits)
        at = end
    return None


def _part(data: bytes, start: int, end: int, limits: Limits) -> int:
    if limits.lines == 0:
        return start
    text = data[start:end].decode("utf-8", "replace")
    if limits.characters is not None:
        text = text[: limits.characters]
    if limits.units is not None:
        text = text.encode("utf-16-le", "surrogatepass")[: 2 * limits.units].decode("utf-16-le", "ignore")
    kept = len(text.encode())
    return min(start + (kept if limits.bytes is None else min(kept, limits.bytes)), end)


def line_of(data: bytes, offset: int) -> int:
    """Return the number, from 1, of the line at an offset."""
    return data.count(b"\n", 0, offset) + 1


class Import(NamedTuple):
    """One `@path` import."""

    start: int
    """Character offset of its `@`."""
    target: str
    certain: bool
    """Whether it can only be a path; else it may as well be a name, such as `@alice`."""


def find_imports(text: str, rule: ImportRule) -> tuple[Import, ...]:
    """Find the imports of a text, in order."""
    if "@" not in text:
        return ()
    code = iter(_markdown_code(text) if rule.markdown else _between_ticks(text))
    region = next(code, None)
    found: list[Import] = []
    at = text.find("@")
    while at >= 0 and len(found) < MOST_IMPORTS:
        while region is not None and region[1] <= at:
            region = next(code, None)
        inside = region is not None and region[0] <= at
        target = "" if inside else _markdown_target(text, at) if rule.markdown else _target(text, at, rule.after)
        target = target.rstrip(rule.trimmed) if rule.trimmed else target
        if _may_be_path(target, rule):
            found.append(Import(at, target, _is_path(target)))
        at = text.find("@", at + 1)
    return tuple(found)


def _target(text: str, at: int, after: str) -> str:
    if at and text[at - 1] not in _BLANK and text[at - 1] not in after:
        return ""
    return text[at + 1 : at + 4_097].split(maxsplit=1)[0] if text[at + 1 : at + 2].strip() else ""


def _markdown_target(text: str, at: int) -> str:
    """Return the import target after the `@` at an offset in Markdown: bold text and links are separate texts, `#` ends
    the path, and a blank after a backslash is part of it."""
    line = text[max(at - _AROUND, 0) : at].rpartition("\n")[2]
    before = line.rstrip("*_[")
    opened = line[len(before) :][-1:]
    if (before and before[-1] not in _BLANK) or opened not in text[at + 1 : at + _AROUND].partition("\n")[0].replace(
        "](", "["
    ):
        return ""
    found = _PATH.match(text, at + 1, at + 4_097)
    target = found[0].partition("#")[0].replace("\\ ", " ") if found else ""
    if "[" in line:
        target = target.partition("](")[0]
    if "*" in line:
        target = target.partition("*")[0]
    return target.rstrip("_") if "_" in opened else target


def _may_be_path(target: str, rule: ImportRule) -> bool:
    first = target[:1]
    if not first or "\0" in target or target == "/":
        return False
    if first == "~":
        return rule.home and target.startswith("~/")
    return first in "./" or first.isalpha() or (rule.markdown and (first in "_-" or first.isdigit()))


def _is_path(target: str) -> bool:
    if target.startswith(("./", "../", "~/", "/")):
        return True
    _, dot, ending = target.rstrip(".,;:!?)").rpartition(".")
    return bool(dot) and ending.isalpha() and len(ending) <= 8


def _between_ticks(text: str) -> list[tuple[int, int]]:
    regions: list[tuple[int, int]] = []
    hopeless: set[int] = set()
    at = text.find("`")
    while at >= 0:
        end = at
        while end < len(text) and text[end] == "`":
            end += 1
        stop = -1
        for run in range(end - at, 0, -1) if end - at <= 8 else (1,):
            if run in hopeless:
                continue
            stop = text.find("`" * run, at + run)
            if stop >= 0:
                end = stop + run
                regions.append((at, end))
                break
            hopeless.add(run)
        at = text.find("`", end)
    return regions


def _markdown_code(text: str) -> list[tuple[int, int]]:
    regions: list[tuple[int, int]] = []
    fence, began, at = b"", 0, 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        line = text[at:end]
        bare = line.lstrip(" ")
        shallow = len(line) - len(bare) <= 3
        if fence:
            if shallow and closes(bare[:64].encode("utf-8", "replace"), fence):
                regions.append((began, end))
                fence = b""
        elif shallow and bare.startswith(("```", "~~~")):
            fence, began = opens(bare[:64].encode("utf-8", "replace")), at
        elif "`" in line:
            regions += [(at + start, at + stop) for start, stop in _between_ticks(line)]
        at = end
    if fence:
        regions.append((began, len(text)))
    return regions


class _TooDeepError(Exception):
    """A list is nested too deeply."""


def fields(data: bytes) -> dict[str, str]:
    """Return the fields of front matter without quotes, lists joined by `, `; empty when nested too deeply."""
    return _read(data) or {}


def is_text(data: bytes) -> bool:
    """Whether what looks like front matter is nested too deeply, so that it counts as text."""
    return _read(data) is None


def _read(data: bytes) -> dict[str, str] | None:
    gap = front_matter(data)
    if gap is None:
        return {}
    lines = data[gap.start : min(gap.end, HEAD_LIMIT)].decode("utf-8", "replace").splitlines()[1:]
    if gap.end <= HEAD_LIMIT:
        lines = lines[:-1]
    if _is_deep_yaml("\n".join(lines)):
        return None
    found: dict[str, str] = {}
    name = ""
    try:
        for line in lines:
            bare = line.strip()
            if bare.startswith("- ") and name:
                value = _plain(bare[2:])
                found[name] = f"{found[name]}, {value}" if found[name] else value
            elif bare and not line[0].isspace() and not bare.startswith("#"):
                key, colon, rest = bare.partition(":")
                name = key.strip() if colon else ""
                if name:
                    found[name] = _plain(rest)
    except _TooDeepError:
        return None
    return found


def _is_deep_yaml(block: str) -> bool:
    if sum(map(block.count, _NESTS)) <= HEAD_DEPTH:
        return False
    from memtui.engine.frontmatter.guard import is_too_deep

    return is_too_deep(block)


def _plain(text: str, level: int = 1) -> str:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        if level >= HEAD_DEPTH:
            raise _TooDeepError
        return ", ".join(filter(None, (_plain(part, level + 1) for part in text[1:-1].split(","))))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
