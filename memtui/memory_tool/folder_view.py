"""What `view` prints: a file with its line numbers, a directory as a list of names.

It exists so that the numbers and names a model reads are exactly those the other commands take.
"""

from operator import add

from memtui.engine.look.folder_listing import FolderItem, FolderItems
from memtui.memory_tool.edits import is_text
from memtui.memory_tool.result import Refusal
from memtui.virtual_names import reachable

DEPTH = 2
NOT_TEXT = "(This is not UTF-8 text: what could not be read is shown as �, and it cannot be edited here.)"
_NUMBERS = [f"{number}\t" for number in range(1, 501)]
"""Ready for files of usual length."""
NAMES = 1_000
"""How many names of one directory are shown."""


def numbered(data: bytes, offset: int, limit: int | None) -> str:
    """The lines of a file with their numbers, split at LF only, so that a final newline shows as one more line.

    Args:
        data: its content.
        offset: the first line, from 1.
        limit: how many lines; None for all.

    Raises:
        Refusal: there are fewer lines.
    """
    lines = data.decode("utf-8", "replace").split("\n")
    if offset > len(lines):
        raise Refusal(f"offset {offset} is beyond the end of the file ({len(lines)} lines)")
    if not data:
        return ""
    end = len(lines) if limit is None else min(len(lines), offset - 1 + limit)
    if end <= len(_NUMBERS):
        shown = list(map(add, _NUMBERS[offset - 1 : end], lines[offset - 1 : end]))
    else:
        shown = [f"{number}\t{line}" for number, line in enumerate(lines[offset - 1 : end], offset)]
    if not is_text(data):
        shown.append(NOT_TEXT)
    return "\n".join(shown)


def names(found: FolderItems, *, indent: int = 0) -> list[str]:
    """The names of a directory, one a line, directories with a slash, two spaces for each level.

    Only what can be opened is shown: no hidden names, no links, and no directory without a file. Where there are too
    many, those further in are left out first. A last line says what is missing from the list although it is there.
    """
    lines: list[tuple[int, str]] = []
    strange = 0
    hidden: set[str] = set()
    for item in found.items:
        above, _, name = item.path.rpartition("/")
        if above in hidden or not _listed(item):
            hidden.add(item.path)
        elif not reachable(name):
            strange += 1
            hidden.add(item.path)
        else:
            level = indent + item.path.count("/")
            lines.append((level, f"{'  ' * level}- {name}{'/' if item.kind == 'folder' else ''}"))
    kept = sorted(sorted(range(len(lines)), key=lambda place: lines[place][0])[:NAMES])
    shown = [lines[place][1] for place in kept]
    left = len(lines) - len(shown) + found.left_out
    if left:
        shown.append(f"{'  ' * indent}({left:,} more not shown: view a directory further in to list it)")
    if strange:
        shown.append(f"{'  ' * indent}({strange:,} with a name that cannot be used here)")
    return shown


def _listed(item: FolderItem) -> bool:
    return item.shown and item.filled and item.kind in ("memory", "folder")
