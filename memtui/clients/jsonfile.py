"""Change a JSON settings file: it is parsed, changed and written with its order, indentation and line ends.

A file with comments, which would not survive that, is read but never changed.
"""

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.config import jsonc
from memtui.config.jsonc import BOM
from memtui.errors import UsageError

if TYPE_CHECKING:
    from typing import Any

Path = tuple[str | int, ...]
"""Names of members and numbers of items, from the document down."""
_MISSING = object()


class CommentedError(UsageError):
    """The file has comments, or commas after the last value of a list."""

    code = "E_CONFIG"


def get(text: str, path: Path) -> object:
    """Return the value at a path, or None; `UsageError` (`E_CONFIG`) when the text is not JSON."""
    found = _at(jsonc.parse(text), path)
    return None if found is _MISSING else found


def has(text: str, path: Path) -> bool:
    """Whether there is a member or an item at a path, whatever its value."""
    value = jsonc.parse(text)
    return value is not None and _at(value, path) is not _MISSING


def put(text: str, path: Path, value: object) -> str:
    """Set the member at a path, making what is missing around it; an equal value leaves the text as it is.

    Raises UsageError: `E_CONFIG`: no JSON, or no object is in the way. CommentedError: the text has comments.
    """
    if has(text, path) and json.dumps(get(text, path)) == json.dumps(value):
        return text

    def change(document: "Any") -> None:
        holder: Any = document
        for depth, name in enumerate(path):
            if not _holds(holder, name):
                raise _in_the_way(path[:depth], name)
            if depth < len(path) - 1:
                holder = holder[name] if isinstance(name, int) else holder.setdefault(name, {})
        holder[path[-1]] = value

    return _changed(text, change, "Make the change by hand.")


def append(text: str, path: Path, value: object) -> str:
    """Add an item to the array at a path, making what is missing; raises what `put` does."""
    present = get(text, path)
    if present is not None and not isinstance(present, list):
        raise _in_the_way(path, 0)
    return put(text, path, [*(present or []), value])


def take(text: str, path: Path) -> str:
    """Take the member or item at a path out, if there is one; raises what `put` does."""
    if not has(text, path):
        return text

    def change(document: "Any") -> None:
        del _at(document, path[:-1])[path[-1]]

    return _changed(text, change, f"Remove {'.'.join(map(str, path))} by hand.")


def _at(value: "Any", path: Path) -> "Any":
    for name in path:
        if not _holds(value, name) or (name >= len(value) if isinstance(name, int) else name not in value):
            return _MISSING
        value = value[name]
    return value


def _holds(value: object, name: str | int) -> bool:
    return isinstance(value, list if isinstance(name, int) else dict)


def _changed(text: str, change: "Callable[[Any], None]", by_hand: str) -> str:
    bare = text.removeprefix(BOM)
    body = bare.strip(" \t\r\n")
    try:
        document = json.loads(body or "{}", object_pairs_hook=_single, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise CommentedError(
            "it has comments, or commas behind the last value, which memtui would lose.", hint=by_hand
        ) from error
    change(document)
    lines = body.split("\n")
    if len(lines) == 1 and len(body) > len("{}"):
        indent, separators = None, (", ", ": ") if ": " in body else (",", ":")
    else:
        leads = (line[: len(line) - len(line.lstrip(" \t"))] for line in lines)
        indent, separators = next(filter(None, leads), "  "), (",", ": ")
    escaped = "\\u" in body and (body.isascii() or "\\ud" in body.lower())  # half a pair cannot be written otherwise
    try:
        after = json.dumps(document, indent=indent, separators=separators, ensure_ascii=escaped)
    except RecursionError as error:
        raise UsageError("it is nested too deeply.", code="E_CONFIG", hint=by_hand) from error
    after = after.replace("\n", "\r\n" if "\r\n" in text else "\n")
    before, _, behind = text.partition(body) if body else (text[: len(text) - len(bare)], "", "\n")
    return before + after + behind


def _finite(number: str) -> float:
    if math.isinf(float(number)):
        raise UsageError(f"{number} is out of range.", code="E_CONFIG", hint="Make the change by hand.")
    return float(number)


def _single(members: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse a duplicate name: a program may take either, and a change would lose one."""
    found: dict[str, object] = {}
    for name, value in members:
        if name in found:
            raise UsageError(
                f"{name!r} is there twice.", code="E_CONFIG", hint="Make one of the two, or add the entry by hand."
            )
        found[name] = value
    return found


def _in_the_way(path: Path, name: str | int) -> UsageError:
    kind = "a list" if isinstance(name, int) else "an object"
    return UsageError(
        f"{'.'.join(map(str, path))!r} is not {kind}." if path else f"the whole is not {kind}.",
        code="E_CONFIG",
        hint="Correct the file, or add the entry by hand.",
    )
