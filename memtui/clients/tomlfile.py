"""Changes of a TOML settings file, made by adding a table at its end, or by taking that table's lines out.

A TOML file that went through a parser and a printer would come back without its comments and its order. Each change is
read again before anybody sees it, and must mean what was asked for and nothing else.
"""

import copy
import json
import re
from collections.abc import Mapping

from memtui.config import toml
from memtui.errors import UsageError
from memtui.values import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

BOM = "\ufeff"
_SETTING = re.compile(r"""\s*["']?([\w-]+)["']?\s*=""")
Path = tuple[str, ...]
"""Names of tables, from the document's own down."""


def get(text: str, path: Path) -> object:
    """Return the value at a path; None when there is none.

    Raises:
        UsageError: `E_CONFIG`, when the text is not TOML.
    """
    value: Any = parse(text)
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def parse(text: str) -> "dict[str, Any]":
    """Read a document.

    Raises:
        UsageError: `E_CONFIG`, with the line where it is known, when it is not TOML.
    """
    try:
        return toml.loads(text.removeprefix(BOM))
    except toml.NotTomlError as error:
        raise UsageError(
            f"it is not TOML: {error}.", code="E_CONFIG", hint="Correct the file, or add the entry by hand."
        ) from error


def put(text: str, path: Path, value: "dict[str, object]") -> str:
    """Give the table at a path these values: in place when it has lines of its own, else at the end of the file.

    Args:
        text: the whole file.
        path: at least one name.
        value: texts, numbers, lists of texts; a table in it becomes a table of its own.

    Raises:
        UsageError: `E_CONFIG`: the text is not TOML, or the table is written in a way that cannot be changed line by
            line.
    """
    wanted = copy.deepcopy(parse(text))
    holder = wanted
    for depth, name in enumerate(path[:-1], 1):
        holder = holder.setdefault(name, {})
        if not isinstance(holder, dict):
            raise _in_the_way(path[:depth])
    present = holder.get(path[-1])
    holder[path[-1]] = value
    newline = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
    block = newline.join(_lines(path, value)) + newline
    if isinstance(present, dict):
        changed = _with_settings(text, path, {name: each for name, each in value.items() if present.get(name) != each})
        if _reads_as(changed, wanted):
            return changed  # not a comment is lost
    if present is not None:
        lines = _split(text)
        places = _places(text, path)
        if places:
            first = places[0]
            kept = [line for at, line in enumerate(lines) if at not in places]
            text = "".join([*kept[:first], block, *kept[first:]])
        return _checked(text, wanted, path)
    if text.removeprefix(BOM).strip():
        text += newline if text.endswith("\n") else newline * 2
    else:
        text = text[: len(text) - len(text.removeprefix(BOM))]
    return _checked(text + block, wanted, path)


def take(text: str, path: Path, ours: Mapping[str, object]) -> str:
    """Take the table at a path out; nothing happens when there is none.

    Lines that somebody else wrote into it stay, as comments: without our settings the table would be a mistake, and
    what was only added at the end of the file was never meant for it.

    Args:
        text: the whole file.
        path: the table.
        ours: what in it is ours: a value by its name, for a table in it again such values.

    Raises:
        UsageError: `E_CONFIG`, as `put`.
    """
    if get(text, path) is None:
        return text
    wanted = copy.deepcopy(parse(text))
    holder = wanted
    for name in path[:-1]:
        holder = holder[name]
    del holder[path[-1]]
    places = _places(text, path)
    lines = _split(text)
    if places and places[-1] == len(lines) - 1 and places[0] and not lines[places[0] - 1].strip():
        places.insert(0, places[0] - 1)
    left = _left(lines, places, path, ours)
    after = "".join(left.get(at, line) for at, line in enumerate(lines) if at not in places or at in left)
    if len(path) > 1 and not holder and _reads_as(after, _without(wanted, path[:-1])):
        return after  # the table around it was only implied by ours
    return _checked(after, wanted, path)


def _left(lines: list[str], places: list[int], path: Path, ours: Mapping[str, object]) -> dict[int, str]:
    """The lines of a table that are not ours, as comments, and the headers of those."""
    left: dict[int, str] = {}
    header, names, mine = -1, ours, True
    for at in places:
        line = lines[at].removeprefix(BOM)
        if line.lstrip().startswith("[") and (name := _header(line.strip())) is not None:
            header, mine, names = at, True, ours
            for below in name[len(path) :]:
                value = names.get(below)
                names = value if isinstance(value, dict) else {}
            continue
        if setting := _SETTING.match(line):
            mine = setting[1] in names
        if not mine:
            left[header], left[at] = f"# {lines[header]}", f"# {line}"
    return left


def _without(value: "dict[str, Any]", path: Path) -> "dict[str, Any]":
    found = copy.deepcopy(value)
    holder = found
    for name in path[:-1]:
        holder = holder[name]
    del holder[path[-1]]
    return found


def _reads_as(text: str, wanted: object) -> bool:
    try:
        return parse(text) == wanted
    except UsageError:
        return False


def _checked(text: str, wanted: object, path: Path) -> str:
    if not _reads_as(text, wanted):
        raise _in_the_way(path)
    return text


def _in_the_way(path: Path) -> UsageError:
    return UsageError(
        f"{'.'.join(path)} is written in a way that cannot be changed line by line.",
        code="E_CONFIG",
        hint="Change it by hand.",
    )


def _places(text: str, path: Path) -> list[int]:
    """Find the lines of a table and of the tables in it: from each header to its last setting; by number, from 0."""
    found: list[int] = []
    inside = False
    waiting: list[int] = []
    lines = _split(text.removeprefix(BOM))
    for at, line in enumerate(lines):
        stripped = line.strip()
        if stripped.startswith("["):
            name = _header(stripped)
            if name is not None and (inside or name[: len(path)] == path) and _complete(lines[:at]):
                was, inside = inside, name[: len(path)] == path
                waiting = waiting if was and inside else []
        if not inside:
            continue
        if not stripped or stripped.startswith("#"):
            waiting.append(at)
        else:
            found += [*waiting, at]
            waiting = []
    return found


def _with_settings(text: str, path: Path, settings: "dict[str, object]") -> str:
    """Give a table's own settings other values, each on its line, or on a new one below the header.

    What is not written so simply comes out wrong or not at all: the caller reads it again.
    """
    lines = _split(text)
    own: list[int] = []
    for at in _places(text, path):
        if lines[at].lstrip(" \t" + BOM).startswith("["):
            if own:
                break
            if _header(lines[at].strip().removeprefix(BOM)) != path:
                return text
        own.append(at)
    for name, value in settings.items():
        setting = f"{_key(name)} = {json.dumps(value, ensure_ascii=False)}"
        for at in own[1:]:
            if name in _read(lines[at]):
                lines[at] = setting + _after_value(lines[at])
                break
        else:
            if not own:
                return text
            head = lines[own[0]]
            lines[own[0]] = head + setting + head[len(head.rstrip("\r\n")) :]
    return "".join(lines)


def _read(line: str) -> "dict[str, Any]":
    """Read one line by itself; nothing when it says nothing so."""
    try:
        return toml.loads(line)
    except toml.NotTomlError:
        return {}


def _after_value(line: str) -> str:
    """Return what stands behind a line's value: blanks, a comment, the line's end."""
    for at, sign in enumerate(line):
        if sign == "#" and _read(line[:at]) == _read(line):
            return line[len(line[:at].rstrip(" \t")) :]
    return line[len(line.rstrip()) :]


def _split(text: str) -> list[str]:
    """Split into lines, each with its end; only a line feed ends one."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _complete(lines: list[str]) -> bool:
    """Whether these lines end outside of any value, so that what follows is no part of a longer text or list."""
    try:
        toml.loads("".join(lines))
    except toml.NotTomlError:
        return False
    return True


def _header(line: str) -> Path | None:
    """Read the name of a table from its header's line; None when this line is none."""
    try:
        value: Any = toml.loads(line)
    except toml.NotTomlError:
        return None
    names: list[str] = []
    while isinstance(value, dict) and value:
        name, value = next(iter(value.items()))
        names.append(name)
        if isinstance(value, list):
            value = value[-1]
    return tuple(names)


def _lines(path: Path, value: "dict[str, object]") -> list[str]:
    """Write a table, and the tables in it."""
    lines = [f"[{'.'.join(map(_key, path))}]"]
    inner: list[str] = []
    for name, each in value.items():
        if isinstance(each, dict):
            inner += ["", *_lines((*path, name), each)]
        else:
            lines.append(f"{_key(name)} = {json.dumps(each, ensure_ascii=False)}")
    return lines + inner


def _key(name: str) -> str:
    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if plain else json.dumps(name)
