"""Where everything stands in a block: the fields, their values and the items of their lists, with their characters.

Only a block that the guard has accepted is walked here. It exists so that editing a field never searches a text for
signs that mean something else inside quotes, comments or block scalars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.frontmatter.guard import events

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

TEXT, LIST, FIELDS = "text", "list", "fields"


class Node(NamedTuple):
    """One value, in characters of the block."""

    kind: str
    """`text`, `list` or `fields`."""
    start: int
    """Quotes and brackets included; start and end are equal when nothing is written."""
    end: int
    """Of a list or of fields that are not in brackets: of its last part, so no comment and no empty line."""
    column: int
    """How far it is indented."""
    value: str = ""
    """Of a text."""
    style: str = ""
    """Of a text: empty for plain, `'`, `"`, `|`, `>`; of a list or of fields: `[` when they are in brackets."""
    items: tuple[Node, ...] = ()
    fields: tuple[Field, ...] = ()


class Field(NamedTuple):
    """A name and its value."""

    key: str
    start: int
    end: int
    """Of the name, quotes included."""
    node: Node


def outline(text: str) -> Node:
    """Say where everything stands in a block; one without a field gives empty fields.

    Args:
        text: a block that the guard accepts as fields, or that is empty.
    """
    walk = events(text)
    for event in walk:
        if hasattr(event, "start_mark") and type(event).__name__ in _STARTS:
            found = _node(event, walk, text)
            if found.kind == FIELDS:
                return found
            break
    return Node(FIELDS, 0, 0, 0)


_STARTS = ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent")


def _node(event: Any, walk: Iterator[Any], text: str) -> Node:
    start, column, name = event.start_mark.index, event.start_mark.column, type(event).__name__
    if name == "ScalarEvent":
        style = event.style or ""
        end = event.end_mark.index
        if style in ("|", ">"):
            end = start + len(text[start:end].rstrip())
        return Node(TEXT, start, end, column, event.value, style)
    brackets, end = "[" if event.flow_style else "", start
    items: list[Node] = []
    fields: list[Field] = []
    for part in walk:
        if type(part).__name__ in ("SequenceEndEvent", "MappingEndEvent"):
            end = part.end_mark.index
            break
        if name == "SequenceStartEvent":
            items.append(_node(part, walk, text))
        else:
            key = (part.value, part.start_mark.index, part.end_mark.index)
            fields.append(Field(*key, _node(next(walk), walk, text)))
    if not brackets:
        end = max([item.end for item in items] + [max(field.end, field.node.end) for field in fields], default=start)
    kind = LIST if name == "SequenceStartEvent" else FIELDS
    return Node(kind, start, end, column, "", brackets, tuple(items), tuple(fields))
