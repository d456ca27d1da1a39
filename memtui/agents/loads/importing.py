"""The `@path` imports in an instruction file, as each agent reads them: where they stand and what they name.

Pure text, bounded time whatever the text: a file with a million signs must not hold up a listing. Code is not looked
into, because `@` there is a decorator or a package.
"""

from typing import NamedTuple

from memtui.agents.loads.cutting import closes, opens

MOST = 200
"""So many imports of one file are followed."""
_BLANK = " \t\n\r"


class Imports(NamedTuple):
    """How an agent follows imports."""

    depth: int
    """A file so many imports away from the first is still loaded."""
    markdown: bool
    """Code is found as Markdown has it (fences and spans); else any text between equal runs of backticks."""
    approval: bool
    """What leads out of the project is loaded once the user has approved it; else it never is."""
    home: bool = True
    """`~/` means the home folder."""


class Found(NamedTuple):
    """One import."""

    start: int
    """Character at which its `@` stands."""
    target: str
    certain: bool
    """Whether it can only be meant as a path; else it may as well be a name, such as `@alice`."""


def find(text: str, rule: Imports) -> tuple[Found, ...]:
    """Find the imports of a text, in order."""
    if "@" not in text:
        return ()
    code = iter(_markdown_code(text) if rule.markdown else _between_ticks(text))
    region = next(code, None)
    found: list[Found] = []
    at = text.find("@")
    while at >= 0 and len(found) < MOST:
        while region is not None and region[1] <= at:
            region = next(code, None)
        inside = region is not None and region[0] <= at
        if not inside and (at == 0 or text[at - 1] in _BLANK):
            target = text[at + 1 : _end(text, at + 1)]
            if _may_be_path(target, rule):
                found.append(Found(at, target, _is_path(target)))
        at = text.find("@", at + 1)
    return tuple(found)


def _end(text: str, at: int) -> int:
    """Where the path ends that begins here: at a blank; long runs without one are no paths."""
    stop = min(len(text), at + 4_096)
    while at < stop and text[at] not in _BLANK:
        at += 1
    return at


def _may_be_path(target: str, rule: Imports) -> bool:
    first = target[:1]
    return bool(first) and "\0" not in target and (first in "./" or first.isalpha() or (rule.home and first == "~"))


def _is_path(target: str) -> bool:
    if target.startswith(("./", "../", "~/", "/")):
        return True
    _, dot, ending = target.rstrip(".,;:!?)").rpartition(".")
    return bool(dot) and ending.isalpha() and len(ending) <= 8


def _between_ticks(text: str) -> list[tuple[int, int]]:
    """Find what lies between a run of backticks and the next such run."""
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
    """Find fenced code, and spans of code in the lines outside of it."""
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
