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
    for safe in (False, True):
        if node.style == "[":
            yield _flow(text, node, values, safe=safe)
        else:
            yield _block(text, field, values, newline, safe=safe)


def _steps(old: Sequence[str], new: Sequence[str]) -> list[int | None]:
    """For each new item the index of the old one whose place it takes; None where it is one more."""
    from difflib import SequenceMatcher

    places: list[int | None] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "delete":
            here: list[int | None] = list(range(a, b))
            places += (here + [None] * (d - c))[: d - c]
    return places


def _item(text: str, old: Node, value: str, *, flow: bool, safe: bool) -> str:
    """How an item is written where another one stood; one that stays the same stays as it is written."""
    before = text[old.start : old.end]
    if old.value == value:
        return before
    if old.style in ("|", ">") and "#" in before.partition("\n")[0]:
        raise refused(f"A comment stands behind the {old.style} of an item.")
    return quoted(value) if safe else item(value, old.style, "" if old.style else before, flow=flow)


def _flow(text: str, node: Node, values: tuple[str, ...], *, safe: bool) -> Proposal:
    """`[a, 'b']`: the gaps between items that stay next to each other stay too."""
    items = node.items
    fresh = [quoted(value) if safe else item(value, flow=True) for value in values]
    edges = [node.start + 1, *(edge for one in items for edge in (one.start, one.end)), node.end - 1]
    gaps = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    between = gaps[1:-1]
    usual = next((gap for gap in between if "#" not in gap), ", ")
    used = {0, len(gaps) - 1} if items and values else set()
    parts: list[str] = []
    places = _steps([one.value for one in items], values)
    for number, place in enumerate(places):
        if number:
            joined = place is not None and places[number - 1] == place - 1
            parts.append(gaps[place] if joined and place is not None else usual)
            used |= {place} if joined and place is not None else set()
        written = _item(text, items[place], values[number], flow=True, safe=safe) if place is not None else None
        parts.append(fresh[number] if written is None else written)
    if any("#" in gap for index, gap in enumerate(gaps) if index not in used):
        raise refused("A comment stands in the list, and would be lost.")
    inside = "".join([gaps[0], *parts, gaps[-1]]) if items and values else "".join(parts)
    return (Splice(node.start + 1, node.end - 1, inside),)


def _block(text: str, field: Field, values: tuple[str, ...], newline: str, *, safe: bool) -> Proposal:
    """Items below each other, each with a dash: lines come and go, and the others stay."""
    items = field.node.items
    found = [_dash(text, one) for one in items]
    places = _steps([one.value for one in items], values)
    splices: list[Splice] = []
    if not values:
        at = text.index(":", field.end) + 1
        splices.append(Splice(at, at, " []"))
    at = found[0].start
    for number, place in enumerate(places):
        if place is not None:
            one, value = items[place], values[number]
            space = " " if one.start == one.end and value != one.value else ""
            if value != one.value:
                splices.append(Splice(one.start, one.end, space + _item(text, one, value, flow=False, safe=safe)))
            at = found[place].end
            continue
        written = quoted(values[number]) if safe else item(values[number], flow=False)
        splices.append(Splice(at, at, found[0].lead + written + newline))
    for index in set(range(len(items))).difference(places):
        _refuse_comment(text, found[index].start, found[index].end, list(_texts(items[index])), "the list")
        splices.append(Splice(found[index].start, found[index].end, ""))
    return _joined(splices)


def _joined(splices: Sequence[Splice]) -> Proposal:
    """Put what is written at one place together, in order, and before what is taken away there."""
    written: dict[int, str] = {}
    for one in splices:
        if one.start == one.end:
            written[one.start] = written.get(one.start, "") + one.written
    taken = [one for one in splices if one.start != one.end]
    starts = {one.start for one in taken}
    out = [one._replace(written=written.get(one.start, "") + one.written) for one in taken]
    return (*out, *(Splice(at, at, text) for at, text in written.items() if at not in starts))


class _Dash(NamedTuple):
    """The lines of an item."""

    start: int
    end: int
    lead: str
    """Indent, dash and the space behind it."""


def _dash(text: str, one: Node) -> _Dash:
    start = _line_start(text, one.start)
    lead = text[start : one.start]
    if lead.strip(" ") != "-":
        raise refused("An item of the list does not stand behind its dash.")
    return _Dash(start, _line_end(text, one.end), lead if lead.endswith(" ") else lead + " ")


# --- lines


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    """The place behind the line end of a line."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1
