"""Change a TOML settings file: put a table in, change it in place, or take it out, keeping comments and order.

tomlkit is imported only when an existing table changes. Each change is parsed again, and must mean exactly what was
asked for. It is apart, as the one for JSON is, so that it knows the format and no agent.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from memtui.config import toml
from memtui.errors import UsageError

if TYPE_CHECKING:
    from typing import Any

    from tomlkit.items import Item, Key, Table

    Body = list[tuple[Key | None, Item]]

BOM = "\ufeff"
_MARK = "\0\n"
"""Stands in for a removed table: a line that no TOML file can hold."""
Path = tuple[str, ...]
"""Names of tables, from the document down."""


def get(text: str, path: Path) -> object:
    """Return the value at a path, or None; `UsageError` (`E_CONFIG`) when the text is not TOML."""
    value: Any = parse(text)
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def parse(text: str) -> "dict[str, Any]":
    """Parse a document; `UsageError` (`E_CONFIG`), with the line where it is known, when it is not TOML."""
    try:
        return toml.loads(text.removeprefix(BOM))
    except toml.NotTomlError as error:
        raise UsageError(
            f"it is not TOML: {error}.", code="E_CONFIG", hint="Correct the file, or add the entry by hand."
        ) from error


def put(text: str, path: Path, value: "dict[str, object]") -> str:
    """Set the values of the table at a path: in place, or in a new table at the end of the file.

    A text that is not TOML, or a table that cannot be changed, is a `UsageError` (`E_CONFIG`).
    """
    import tomlkit
    from tomlkit.items import Whitespace

    if get(text, path) is not None:
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


def take(text: str, path: Path, ours: Mapping[str, object]) -> str:
    """Take the table at a path out, if there is one; raises what `put` does.

    Lines that others wrote into it stay as comments: without memtui's settings the table would be a mistake, and what
    was appended to the file was never meant for it. `ours` holds memtui's values by name.
    """
    if get(text, path) is None:
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
        before = before[:-1].removesuffix("\r")  # the blank line that `put` left above
    return _checked(_as_before(text, before + "".join(rest)), text, path, None)


def _document(text: str, path: Path) -> "tuple[Any, str]":
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    bare = text.removeprefix(BOM)
    try:
        return tomlkit.parse(bare), bare
    except (TOMLKitError, RecursionError) as error:
        raise _in_the_way(path) from error


def _found(body: "Body", path: Path) -> "Iterator[tuple[Body, int]]":
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


def _checked(after: str, text: str, path: Path, value: object) -> str:
    try:
        right = get(after, path) == value and _others(after, path) == _others(text, path)
    except UsageError:
        right = False
    if not right:
        raise _in_the_way(path)
    return after


def _others(text: str, path: Path) -> "dict[str, Any]":
    """Parse a document without a table, and without tables around it that hold nothing else."""
    value = copy.deepcopy(parse(text))
    holders: list[dict[str, Any]] = [value]
    for name in path[:-1]:
        below = holders[-1].get(name)
        holders.append(below if isinstance(below, dict) else {})
    holders[-1].pop(path[-1], None)
    for holder, name in zip(holders[-2::-1], path[-2::-1], strict=True):
        if holder.get(name) == {}:
            del holder[name]
    return value


def _in_the_way(path: Path) -> UsageError:
    return UsageError(
        f"{'.'.join(path)} is written in a way that cannot be changed line by line.",
        code="E_CONFIG",
        hint="Change it by hand.",
    )
