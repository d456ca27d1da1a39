"""What Anthropic's memory tool answers, and what its edits make of a text: pure functions, one place for its words.

Kept apart from the calls, so that a wording or a rule of its tool can be compared line by line with what is written
about it, and never changes because a call does.
"""

from collections.abc import Iterable, Sequence

MAX_LINES = 999_999
_WIDTH = 6
_UNITS = "BKMG"


class NoEdit(Exception):  # noqa: N818
    """An edit that cannot be made; its text says why."""


def size(count: int) -> str:
    """A number of bytes as the listing writes it: 0B, 1023B, 1K, 1.5K; the unit comes from the bit length."""
    if not count:
        return "0B"
    step = min((count.bit_length() - 1) // 10, len(_UNITS) - 1)
    value = count / 1024**step
    return f"{int(value)}{_UNITS[step]}" if value == int(value) else f"{value:.1f}{_UNITS[step]}"


def listing(path: str, own: int, entries: Iterable[tuple[str, int]]) -> str:
    """The answer to viewing a folder.

    Args:
        path: as the call wrote it.
        own: the folder's own size in bytes.
        entries: relative paths and sizes, in order.
    """
    lines = [f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"]
    lines.append(f"{size(own)}\t{path}")
    lines += [f"{size(count)}\t{path}/{below}" for below, count in entries]
    return "\n".join(lines)


def content(path: str, text: str, window: tuple[int, int] | None) -> str:
    """The answer to viewing a file.

    Args:
        path: as the call wrote it.
        text: its content.
        window: the first and the last line, from 1; -1 for the end; None for all.

    Raises:
        NoEdit: it has more lines than are ever shown.
    """
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise NoEdit(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first = 0
    if window is not None:
        first = max(1, window[0]) - 1
        lines = lines[first : len(lines) if window[1] == -1 else window[1]]
    head = f"Here's the content of {path} with line numbers:"
    return head + _numbered(lines, first) if lines else f"{head}\n"


def _numbered(lines: Sequence[str], first: int) -> str:
    """Lines with their numbers, each behind a line break; `first` is the index of the first one, from 0."""
    return "".join(f"\n{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first + 1))


def str_replace(path: str, text: str, old: str, new: str) -> tuple[str, str]:
    """Replace the one occurrence of a text.

    Returns:
        The new text, and the answer.

    Raises:
        NoEdit: it occurs nowhere, or more than once.
    """
    count = text.count(old)
    if count == 0:
        raise NoEdit(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        found = ", ".join(map(str, _lines_of(text, old)))
        raise NoEdit(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {found}."
            " Please ensure it is unique"
        )
    changed = text.replace(old, new)
    line = text.count("\n", 0, text.find(old))
    first = max(0, line - 2)
    head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return changed, head + _numbered(changed.split("\n")[first : line + 3], first)


def _lines_of(text: str, wanted: str) -> Iterable[int]:
    """The line of each occurrence, overlapping ones too; a line as often as it has one."""
    line, counted, at = 1, 0, text.find(wanted)
    while at >= 0:
        line += text.count("\n", counted, at)
        counted = at
        yield line
        at = text.find(wanted, at + 1)


def insert(text: str, line: int, new: str) -> str:
    """Insert lines after a line; the result ends with a newline.

    Raises:
        NoEdit: there is no such line.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= line <= len(lines):
        raise NoEdit(f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}].")
    lines.insert(line, new.rstrip("\n"))
    changed = "\n".join(lines)
    return changed if changed.endswith("\n") else changed + "\n"
