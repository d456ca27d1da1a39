"""Change settings files: JSON parsed and written in its own style, TOML a table at a time, keeping comments and order.

A JSON file with comments, which would not survive that, is read but never changed. tomlkit is imported only when an
existing table changes; each change of TOML is parsed again, and must mean exactly what was asked for.
"""

import copy
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from memtui.config import jsonc, toml
from memtui.config.jsonc import BOM
from memtui.errors import UsageError

if TYPE_CHECKING:
    from typing import Any

    from tomlkit.items import Item, Key, Table

    Body = list[tuple[Key | None, Item]]


Path = tuple[str | int, ...]
"""Names of members and numbers of items, from the document down."""
_MISSING = object()


class CommentedError(UsageError):
    """The file has comments, or commas after the last value of a list."""

    code = "E_CONFIG"


def json_get(text: str, path: Path) -> object:
    """Return the value at a path, or None; `UsageError` (`E_CONFIG`) when the text is not JSON."""
    found = _at(jsonc.parse(text), path)
    return None if found is _MISSING else found


def json_has(text: str, path: Path) -> bool:
    """Whether there is a member or an item at a path, whatever its value."""
    value = jsonc.parse(text)
    return value is not None and _at(value, path) is not _MISSING


def json_put(text: str, path: Path, value: object) -> str:
    """Set the member at a path, making what is missing around it; an equal value leaves the text as it is.

    Raises UsageError: `E_CONFIG`: no JSON, or no object is in the way. CommentedError: the text has comments.
    """
    if json_has(text, path) and json.dumps(json_get(text, path)) == json.dumps(value):
        return text

    def change(document: "Any") -> None:
        holder: Any = document
        for depth, name in enumerate(path):
            if not _holds(holder, name):
                raise _no_holder(path[:depth], name)
            if depth < len(path) - 1:
                holder = holder[name] if isinstance(name, int) else holder.setdefault(name, {})
        holder[path[-1]] = value

    return _changed(text, change, "Make the change by hand.")


def json_append(text: str, path: Path, value: object) -> str:
    """Add an item to the array at a path, making what is missing; raises what `json_put` does."""
    present = json_get(text, path)
    if present is not None and not isinstance(present, list):
        raise _no_holder(path, 0)
    return json_put(text, path, [*(present or []), value])


def json_take(text: str, path: Path) -> str:
    """Take the member or item at a path out, if there is one; raises what `json_put` does."""
    if not json_has(text, path):
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


def _no_holder(path: Path, name: str | int) -> UsageError:
    kind = "a list" if isinstance(name, int) else "an object"
    return UsageError(
        f"{'.'.join(map(str, path))!r} is not {kind}." if path else f"the whole is not {kind}.",
        code="E_CONFIG",
        hint="Correct the file, or add the entry by hand.",
    )


# --- TOML

_MARK = "\0\n"
"""Stands in for a removed table: a line that no TOML file can hold."""
TomlPath = tuple[str, ...]
"""Names of tables, from the document down."""


def toml_get(text: str, path: TomlPath) -> object:
    """Return the value at a path, or None; `UsageError` (`E_CONFIG`) when the text is not TOML."""
    value: Any = toml_parse(text)
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def toml_parse(text: str) -> "dict[str, Any]":
    """Parse a document; `UsageError` (`E_CONFIG`), with the line where it is known, when it is not TOML."""
    try:
        return toml.loads(text.removeprefix(BOM))
    except toml.NotTomlError as error:
        raise UsageError(
            f"it is not TOML: {error}.", code="E_CONFIG", hint="Correct the file, or add the entry by hand."
        ) from error


def toml_put(text: str, path: TomlPath, value: "dict[str, object]") -> str:
    """Set the values of the table at a path: in place, or in a new table at the end of the file.

    A text that is not TOML, or a table that cannot be changed, is a `UsageError` (`E_CONFIG`).
    """
    import tomlkit
    from tomlkit.items import Whitespace

    if toml_get(text, path) is not None:
        document, bare = _document(text, path)
        for body, at in _found(document.body, path):
            table: Any = body[at][1]
            tail = _without_tail(table)
            _set(table, value)
            _without_tail(table)
            table.value.body.append((None, Whitespace(tail)))
        after = document.as_string()
    else:
        whole: dict[str, object] = value
        for name in reversed(path):
            whole = {name: whole}
        bare = text.removeprefix(BOM)
        gap = "" if not bare.strip() else "\n" if bare.endswith("\n") else "\n\n"
        after = (bare if gap else "") + gap + tomlkit.dumps(whole)
    return _checked(_as_before(text, after), text, path, value)


def toml_take(text: str, path: TomlPath, ours: Mapping[str, object]) -> str:
    """Take the table at a path out, if there is one; raises what `toml_put` does.

    Lines that others wrote into it stay as comments: without memtui's settings the table would be a mistake, and what
    was appended to the file was never meant for it. `ours` holds memtui's values by name.
    """
    if toml_get(text, path) is None:
        return text
    import tomlkit
    from tomlkit.items import Whitespace

    document, _ = _document(text, path)
    name = ".".join(tomlkit.key(each).as_string() for each in path)
    for body, at in _found(document.body, path):
        table: Any = body[at][1]
        tail = _without_tail(table)
        theirs = re.sub(r"(?m)^(?=[^\r\n])", "# ", _not_ours(table, name, ours))
        body[at] = (None, Whitespace(_MARK + theirs + tail))
    before, *rest = document.as_string().split(_MARK)
    if not any(rest) and before.endswith(("\n\n", "\n\r\n")):
        before = before[:-1].removesuffix("\r")  # the blank line that `toml_put` left above
    return _checked(_as_before(text, before + "".join(rest)), text, path, None)


def _document(text: str, path: TomlPath) -> "tuple[Any, str]":
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    bare = text.removeprefix(BOM)
    try:
        return tomlkit.parse(bare), bare
    except (TOMLKitError, RecursionError) as error:
        raise _in_the_way(path) from error


def _found(body: "Body", path: TomlPath) -> "Iterator[tuple[Body, int]]":
    """Yield the tables at a path that have headers of their own, each as its container and number there."""
    from tomlkit.items import Table

    for at, (key, item) in enumerate(body):
        if key is not None and key.key == path[0] and isinstance(item, Table) and not key.is_dotted():
            if len(path) == 1:
                yield body, at
            else:
                yield from _found(item.value.body, path[1:])


def _without_tail(table: "Table") -> str:
    """Remove and return the blank lines and comments at a table's end, which belong to what follows."""
    from tomlkit.items import Table

    body, tail = table.value.body, ""
    while body and body[-1][0] is None:
        tail = body.pop()[1].as_string() + tail
    return (_without_tail(body[-1][1]) if body and isinstance(body[-1][1], Table) else "") + tail


def _set(table: "Any", value: "Mapping[str, Any]") -> None:
    for name in [name for name in table if name not in value]:
        del table[name]
    for name, each in value.items():
        if isinstance(each, dict) and isinstance(table.get(name), dict):
            _set(table[name], each)
        elif table.get(name) != each:
            table[name] = each


def _not_ours(table: "Table", name: str, ours: Mapping[str, object]) -> str:
    """Write what in a table is not memtui's under the table's header; empty when there is nothing else."""
    import tomlkit
    from tomlkit.items import Table

    left = above = ""
    for key, item in table.value.body:
        if key is None:
            above += item.as_string()
            continue
        if isinstance(item, Table) and not key.is_dotted():
            below = ours.get(key.key)
            left += _not_ours(item, f"{name}.{key.as_string()}", below if isinstance(below, dict) else {})
        elif key.key not in ours:
            alone = tomlkit.document()
            alone.body.append((key, item))
            left += above + alone.as_string()
        above = ""
    return f"[{name}]\n{left}" if left else ""


def _as_before(text: str, after: str) -> str:
    if "\n" in text and text.count("\n") == text.count("\r\n"):
        after = re.sub(r"(?<!\r)\n", "\r\n", after)
    return (BOM if text.startswith(BOM) else "") + after


def _checked(after: str, text: str, path: TomlPath, value: object) -> str:
    try:
        right = toml_get(after, path) == value and _others(after, path) == _others(text, path)
    except UsageError:
        right = False
    if not right:
        raise _in_the_way(path)
    return after


def _others(text: str, path: TomlPath) -> "dict[str, Any]":
    """Parse a document without a table, and without tables around it that hold nothing else."""
    value = copy.deepcopy(toml_parse(text))
    holders: list[dict[str, Any]] = [value]
    for name in path[:-1]:
        below = holders[-1].get(name)
        holders.append(below if isinstance(below, dict) else {})
    holders[-1].pop(path[-1], None)
    for holder, name in zip(holders[-2::-1], path[-2::-1], strict=True):
        if holder.get(name) == {}:
            del holder[name]
    return value


def _in_the_way(path: TomlPath) -> UsageError:
    return UsageError(
        f"{'.'.join(path)} is written in a way that cannot be changed line by line.",
        code="E_CONFIG",
        hint="Change it by hand.",
    )
