"""Which characters of a block to replace, and by what, so that one field becomes another: only ever values and lines.

Each answer is a proposal: `edit.py` reads it back before it is believed. What stands around a value, its
indent, the quotes of its neighbours and every comment stay; a comment in the way is a refusal.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtui.engine.frontmatter.outline import FIELDS, LIST, TEXT, Field, Node
from memtui.engine.frontmatter.spelling import block, flow_list, item, key, quoted, spellings
from memtui.errors import RefusedError


class Splice(NamedTuple):
    """Characters from, up to, and what stands there instead."""

    start: int
    end: int
    written: str


Proposal = tuple[Splice, ...]


def refused(text: str) -> RefusedError:
    """Say why a block cannot be edited here."""
    return RefusedError(text, code="E_FRONTMATTER", hint="Edit it as text.")


def apply(text: str, proposal: Proposal) -> str:
    """Make the replacements; none may overlap."""
    for start, end, written in sorted(proposal, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def proposals(
    text: str, root: Node, path: tuple[str, ...], value: str | tuple[str, ...] | None, newline: str
) -> Iterator[Proposal]:
    """Propose ways to set or remove a field, the most natural first.

    Args:
        text: the block.
        root: its outline.
        path: the name of the field, and of the one it lies in before it.
        value: a text, a list of texts, or None to remove the field.
        newline: the line end of the file.

    Raises:
        RefusedError: `E_FRONTMATTER`: none is safe.
    """
    name, holder, found = path[-1], root, _field(root, path[0])
    if len(path) > 1 and found is not None:
        outer = found
        if outer.node.kind == TEXT and outer.node.start < outer.node.end:
            raise refused(f"The field {path[0]!r} holds one text, not further fields.")
        if outer.node.kind == LIST:
            raise refused(f"The field {path[0]!r} holds a list, not further fields.")
        holder, found = outer.node, _field(outer.node, name)
        if found is not None and value is None and len(holder.fields) == 1:
            holder, found = root, outer
    if value is None:
        if found is not None:
            yield _removal(text, holder, found)
    elif found is None:
        yield from _additions(text, root, path, value, newline)
    elif isinstance(value, str):
        yield from _scalar(text, holder, found, value, newline)
    else:
        yield from _list(text, found, value, newline)


def _field(node: Node, key: str) -> Field | None:
    return next((field for field in node.fields if field.key == key), None)


# --- one text


def _scalar(text: str, holder: Node, field: Field, value: str, newline: str) -> Iterator[Proposal]:
    node = field.node
    if node.kind != TEXT:
        raise refused(f"The field {field.key!r} holds a list or further fields, not one text.")
    old = text[node.start : node.end]
    if node.style in ("|", ">"):
        if "#" in old.partition("\n")[0]:
            raise refused(f"A comment stands behind the {node.style} of the field {field.key!r}.")
        if "\n" in value:
            yield (Splice(node.start, node.end, block(value, " " * (holder.column + 2), newline)),)
    space = "" if node.end > node.start else " "
    for written in spellings(value, node.style, old if not node.style else ""):
        yield (Splice(node.start, node.end, space + written),)


# --- a field that is missing


def _additions(
    text: str, root: Node, path: tuple[str, ...], value: str | tuple[str, ...], newline: str
) -> Iterator[Proposal]:
    outer = _field(root, path[0]) if len(path) > 1 else None
    holder = outer.node if outer is not None else root
    if holder.style == "[":
        raise refused(f"The fields are written in braces, and there is no field {path[-1]!r}.")
    if outer is not None and not holder.fields:
        column, places = root.column + 2, [_line_end(text, outer.node.end)]
    else:
        column = holder.column
        first = _line_start(text, holder.fields[0].start) if holder.fields else 0
        last = _line_end(text, holder.end) if outer is not None else len(text)
        places = list(dict.fromkeys((last, first)))
    lead = " " * column
    if len(path) > 1 and outer is None:
        lead = f"{lead}{key(path[0])}:{newline}{lead}  "
    for place in places:
        for written in spellings(value) if isinstance(value, str) else (flow_list(value),):
            yield (Splice(place, place, f"{lead}{key(path[-1])}: {written}{newline}"),)


# --- a field that is there no longer


def _removal(text: str, holder: Node, field: Field) -> Proposal:
    if holder.style == "[":
        raise refused(f"The field {field.key!r} is written in braces.")
    start = _line_start(text, field.start)
    end = _line_end(text, max(field.end, field.node.end))
    if text[start : field.start].strip(" "):
        raise refused(f"Something stands before the field {field.key!r}.")
    spans = [(field.start, field.end), *_texts(field.node)]
    _refuse_comment(text, start, end, spans, f"the field {field.key!r}")
    return (Splice(start, end, ""),)


def _texts(node: Node) -> Iterator[tuple[int, int]]:
    """Where the texts of a value stand, names included; of a block, what is below its first line."""
    if node.kind == TEXT:
        yield node.start, node.end
    for one in node.items:
        yield from _texts(one)
    for field in node.fields:
        yield field.start, field.end
        yield from _texts(field.node)


def _refuse_comment(text: str, start: int, end: int, spans: Sequence[tuple[int, int]], what: str) -> None:
    """Refuse to lose a comment between two places, the texts there aside."""
    at = start
    rest = []
    for first, last in sorted(spans):
        rest.append(text[at:first])
        if text[first : first + 1] in ("|", ">"):
            rest.append(text[first:last].partition("\n")[0])
        at = last
    if any("#" in part for part in (*rest, text[at:end])):
        raise refused(f"A comment stands in the lines of {what}, and would be lost.")


# --- a list


def _list(text: str, field: Field, values: tuple[str, ...], newline: str) -> Iterator[Proposal]:
    node = field.node
    if node.kind == FIELDS:
        raise refused(f"The field {field.key!r} holds further fields, not a list.")
    if node.kind == TEXT:
        if node.style in ("|", ">") and "#" in text[node.start : node.end].partition("\n")[0]:
            raise refused(f"A comment stands behind the {node.style} of the field {field.key!r}.")
        space = "" if node.end > node.start else " "
        yield (Splice(node.start, node.end, space + flow_list(values)),)
        return
    if any(one.kind != TEXT for one in node.items):
        raise refused(f"The list of the field {field.key!r} holds more than texts.")
    lines = _one_a_line(text, node)
    if lines is None and (node.style != "[" or "\n" in text[node.start : node.end]):
        raise refused(f"The list of the field {field.key!r} has a comment, or more or fewer lines than items.")
    kept = {one.value: text[one.start : one.end] for one in node.items}
    for safe in (False, True):
        written = [kept.get(value) or (quoted(value) if safe else item(value, flow=lines is None)) for value in values]
        if lines is None:
            yield (Splice(node.start, node.end, f"[{', '.join(written)}]"),)
            continue
        start, end, lead = lines
        colon = text.index(":", field.end) + 1
        empty = () if values else (Splice(colon, colon, " []"),)
        yield (*empty, Splice(start, end, "".join(f"{lead}{one}{newline}" for one in written)))


def _one_a_line(text: str, node: Node) -> tuple[int, int, str] | None:
    """Where the lines of a list begin and end, and what stands before each item; None for any other list."""
    if node.style == "[":
        return None
    items = node.items
    start, end = _line_start(text, items[0].start), _line_end(text, items[-1].end)
    before = text[start : items[0].start]
    lead = before if before.endswith(" ") else f"{before} "
    lines = [line.rstrip() for line in text[start:end].rstrip("\r\n").split("\n")]
    plain = lines == [f"{lead}{text[one.start : one.end]}".rstrip() for one in items]
    return (start, end, lead) if plain and lead.strip(" ") == "-" else None


# --- lines


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    """The place behind the line end of a line."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1
