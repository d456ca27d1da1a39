"""Changes of a JSON settings file, made by putting characters in and taking them out.

Everything that is not ours keeps its bytes: comments, order, indentation, line ends, a comma at the end. Each change is
read again before anybody sees it, and must mean what was asked for and nothing else.
"""

import copy
import json
from typing import TYPE_CHECKING, NamedTuple

from memtui.config import jsonc
from memtui.config.jsonc import BOM, Node, Part
from memtui.errors import InternalError, UsageError

if TYPE_CHECKING:
    from typing import Any

Path = tuple[str | int, ...]
"""Names of members and numbers of items, from the document's own down."""


class _Style(NamedTuple):
    """How the file is written."""

    newline: str
    unit: str
    """One step of indentation."""


def get(text: str, path: Path) -> object:
    """Return the value at a path; None when there is none.

    Raises:
        UsageError: `E_CONFIG`, when the text is not JSON.
    """
    node = jsonc.parse(text)
    for name in path:
        part = node.find(name) if node is not None else None
        if part is None:
            return None
        node = part.node
    return None if node is None else node.value


def has(text: str, path: Path) -> bool:
    """Whether there is a member at a path, or an item, whatever its value."""
    node = jsonc.parse(text)
    for name in path:
        part = node.find(name) if node is not None else None
        if part is None:
            return False
        node = part.node
    return node is not None


def put(text: str, path: Path, value: object) -> str:
    """Give the member at a path a value; what is missing around it is made, and what says so already stays as it is.

    Raises:
        UsageError: `E_CONFIG`: the text is not JSON, or something that is no object is in the way.
    """
    if has(text, path) and json.dumps(get(text, path)) == json.dumps(value):
        return text
    node, wanted = _top(text, path)
    after = _put(text, node, path, value, _style(text))
    _merge(wanted, path, value)
    return _checked(after, wanted)


def append(text: str, path: Path, value: object) -> str:
    """Add an item to the end of the array at a path; the array, and what is missing around it, is made.

    Raises:
        UsageError: `E_CONFIG`, as `put`, or when what is there is no array.
    """
    present = get(text, path)
    if present is None:
        return put(text, path, [value])
    if not isinstance(present, list):
        raise _in_the_way(path, "a list")
    node, wanted = _top(text, path)
    array = _at(node, path)
    after = _insert(text, array, "", value, _style(text))
    _holder(wanted, path).append(value)
    return _checked(after, wanted)


def take(text: str, path: Path) -> str:
    """Take the member or item at a path out; nothing happens when there is none.

    Raises:
        UsageError: `E_CONFIG`, when the text is not JSON.
    """
    if not has(text, path):
        return text
    node, wanted = _top(text, path)
    parent, name = path[:-1], path[-1]
    del _holder(wanted, parent)[name]
    holder = _at(node, parent)
    index = name if isinstance(name, int) else [part.name for part in holder.parts].index(name)
    return _checked(_remove(text, holder, index), wanted)


def _top(text: str, path: Path) -> tuple[Node, "dict[str, object]"]:
    """Read a document in which something is to be changed at a path."""
    node = jsonc.parse(text)
    if node is None:
        return Node(len(text), len(text), {}), {}
    if not isinstance(node.value, dict):
        raise _in_the_way((), "an object")
    _check_single(node, path)
    return node, copy.deepcopy(node.value)


def _check_single(node: Node, path: Path) -> None:
    """Refuse a name that stands twice on the way: a program may take either, and a change could lose one of them."""
    for depth, name in enumerate(path, 1):
        if sum(part.name == name for part in node.parts) > 1:
            raise UsageError(
                f"{_spelt(path[:depth])} is there twice.",
                code="E_CONFIG",
                hint="Make one of the two, or add the entry by hand.",
            )
        part = node.find(name)
        if part is None:
            return
        node = part.node


def _at(node: Node, path: Path) -> Node:
    for name in path:
        part = node.find(name)
        if part is None:
            raise InternalError(f"there is no {name!r} to change")
        node = part.node
    return node


def _holder(value: "Any", path: Path) -> "Any":
    for name in path:
        value = value[name]
    return value


def _merge(value: "Any", path: Path, new: object) -> None:
    for name in path[:-1]:
        value = value[name] if isinstance(name, int) else value.setdefault(name, {})
    value[path[-1]] = new


def _checked(text: str, wanted: object) -> str:
    """Return the text when it means what is wanted."""
    node = jsonc.parse(text)
    if node is None or node.value != wanted:
        raise InternalError("the changed settings would not mean what they should", hint="Please report it.")
    return text


def _in_the_way(path: Path, kind: str) -> UsageError:
    return UsageError(
        f"{_spelt(path) if path else 'the whole'} is not {kind}.",
        code="E_CONFIG",
        hint="Correct the file, or add the entry by hand.",
    )


def _spelt(path: Path) -> str:
    return repr(".".join(map(str, path)))


def _put(text: str, node: Node, path: Path, value: object, style: _Style, above: Path = ()) -> str:
    if node.start == node.end:  # nothing but blanks and comments
        whole: object = value
        for name in reversed(path):
            whole = {name: whole}
        bare = not text.removeprefix(BOM).strip()
        lead = "" if bare or text.endswith(("\n", "\r")) else style.newline
        base = text if not bare else text[: len(text) - len(text.removeprefix(BOM))]
        return base + lead + _written(whole, "", style) + style.newline
    name = path[0]
    if not isinstance(node.value, list if isinstance(name, int) else dict):
        raise _in_the_way(above, "a list" if isinstance(name, int) else "an object")
    part = node.find(name)
    rest = path[1:]
    if part is None:
        for below in reversed(rest):
            value = {below: value}
        return _insert(text, node, str(name), value, style)
    if rest:
        return _put(text, part.node, rest, value, style, (*above, name))
    indent = _indent(text, part.start) if _own_line(text, part.start) else None
    return text[: part.node.start] + _written(value, indent, style) + text[part.node.end :]


def _insert(text: str, holder: Node, name: str, value: object, style: _Style) -> str:
    """Put a member or an item at the end of an object or array."""
    label = f"{json.dumps(name, ensure_ascii=False)}: " if name else ""
    if not holder.parts:
        return _fill(text, holder, label, value, style)
    last = holder.parts[-1]
    own_line = _own_line(text, last.start)
    indent = _indent(text, last.start) if own_line else None
    spot = jsonc.line_end(text, last.node.end if last.comma is None else last.comma + 1)
    broken = own_line or "//" in text[last.node.end : spot]
    entry = (style.newline + (indent or "") if broken else " ") + label + _written(value, indent, style)
    if last.comma is not None:
        return text[:spot] + entry + "," + text[spot:]
    return text[: last.node.end] + "," + text[last.node.end : spot] + entry + text[spot:]


def _fill(text: str, holder: Node, label: str, value: object, style: _Style) -> str:
    """Put the first member or item into an empty object or array."""
    inner = text[holder.start + 1 : holder.end - 1]
    if _line_of(text, holder.start) == _line_of(text, 0) and not _spread(text):
        return text[: holder.start + 1] + label + _written(value, None, style) + text[holder.start + 1 :]
    outer = _indent(text, holder.start)
    indent = outer + style.unit
    spot = jsonc.line_end(text, holder.start + 1)
    closed = "" if "\n" in text[spot : holder.end] else style.newline + outer
    entry = style.newline + indent + label + _written(value, indent, style) + closed
    if inner.strip() and closed:  # a comment stands between the brackets, and the value goes behind it
        return text[:spot] + entry + text[spot:].lstrip(" \t")
    return text[:spot] + entry + text[spot:]


def _remove(text: str, holder: Node, index: int) -> str:
    """Take a member or an item out, with its comma and the blanks before it."""
    part: Part = holder.parts[index]
    start = part.start
    while start > holder.start + 1 and text[start - 1] in " \t\r\n":
        start -= 1
    if part.comma is not None:
        end = part.comma + 1
        if text[part.node.end : part.comma].strip():  # a comment stands before the comma: keep it
            return text[:start] + text[part.node.end : part.comma] + text[end:]
        return text[:start] + text[end:]
    if index == 0:
        end = part.node.end
        if not text[holder.start + 1 : start].strip() and not text[end : holder.end - 1].strip():
            return text[: holder.start + 1] + text[holder.end - 1 :]
        return text[:start] + text[end:]
    comma = holder.parts[index - 1].comma
    if comma is None:
        raise InternalError("there is no comma between two values")
    return text[:comma] + text[comma + 1 : start] + text[part.node.end :]


def _written(value: object, indent: str | None, style: _Style) -> str:
    """Write a value, on one line when `indent` is None."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list) and all(isinstance(item, (str, int)) for item in value):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + style.unit
    if isinstance(value, dict):
        items = [
            f"{json.dumps(name, ensure_ascii=False)}: {_written(each, inner, style)}" for name, each in value.items()
        ]
        signs = "{}"
    else:
        items = [_written(each, inner, style) for each in value]
        signs = "[]"
    lines = f",{style.newline}{inner}".join(items)
    return f"{signs[0]}{style.newline}{inner}{lines}{style.newline}{indent}{signs[1]}"


def _style(text: str) -> _Style:
    first = text.find("\n")
    newline = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
    for line in text.removeprefix(BOM).split("\n"):
        lead = line[: len(line) - len(line.lstrip(" \t"))]
        if lead and line.strip() and not line.strip().startswith(("*", "/")):
            return _Style(newline, lead)
    return _Style(newline, "  ")


def _own_line(text: str, at: int) -> bool:
    """Whether nothing but blanks stands before a place on its line, and it is not the first line."""
    start = text.rfind("\n", 0, at)
    return start >= 0 and not text[start:at].strip()


def _indent(text: str, at: int) -> str:
    """Return the blanks the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at)


def _spread(text: str) -> bool:
    """Whether a file goes over several lines, or is too short to tell."""
    return "\n" in text.strip() or len(text.strip()) <= len(BOM + "{}")
