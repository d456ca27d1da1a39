"""Editing front matter fields: the bytes of their values or lines are replaced, everything around them stays.

A YAML dumper would lose comments, order, quotes and line ends, so none is used: each spelling of a value is spliced in,
read back, and kept only when exactly that value changed. Anything else is refused. The parser's events give the
position of a value, so that no text is searched for signs that mean something else in quotes or comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import yaml

from memtui.engine.frontmatter import BOM, EMPTY, LIMIT, NONE, OK, OTHER, TOO_BIG, Value
from memtui.engine.frontmatter.guard import events
from memtui.engine.frontmatter.read import FrontMatter, plain_scalar, split
from memtui.engine.model import FieldEdit
from memtui.errors import RefusedError

if TYPE_CHECKING:
    from typing import Any

_NUMBER = re.compile(r"[-+]?(0o[0-7]+|0x[0-9a-fA-F]+|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)")
"""Numbers in YAML 1.2, some of which are none in 1.1, the version the library knows."""
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,199}")


def spellings(value: str, style: str = "", old: str = "") -> Iterator[str]:
    """Write a value on one line, most natural way first; `style` and `old` are its former quotes and plain spelling."""
    if style == "'" and value.isprintable():
        yield "'" + value.replace("'", "''") + "'"
    if style not in ("'", '"') and value.isprintable() and plain_scalar(value) == value:
        kind = _kind(value)
        if not kind or (old and kind == _kind(old)):
            yield value
    yield quoted(value)


def item(value: str, *, flow: bool) -> str:
    """Write an item of a list (`flow`: in brackets) in the most natural way that surely is this one text."""
    for written in spellings(value):
        if not flow or written[:1] == '"' or plain_scalar(f"[{written}]") == [value]:
            return written
    return quoted(value)


def flow_list(values: Sequence[str]) -> str:
    """Write a list in brackets."""
    return f"[{', '.join(item(value, flow=True) for value in values)}]"


def quoted(value: str) -> str:
    """Write a value in double quotes."""
    parts = []
    for character in value:
        code = ord(character)
        if character in '"\\':
            parts.append("\\" + character)
        elif character in "\n\t":
            parts.append("\\n" if character == "\n" else "\\t")
        elif character.isprintable():
            parts.append(character)
        else:
            parts.append(f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return '"' + "".join(parts) + '"'


def block(value: str, indent: str, newline: str) -> str:
    """Write a value of several lines as they are, each with an indent."""
    body, end = (value[:-1], "|") if value.endswith("\n") else (value, "|-")
    return newline.join([end, *(indent + line if line else "" for line in body.split("\n"))])


def key(field: str) -> str:
    """Write the name of a field."""
    return field if _PLAIN_KEY.fullmatch(field) and not _kind(field) else quoted(field)


def _kind(plain: str) -> str:
    """Return what other YAML readers take a plain scalar for (a number, a date, a truth value); empty for text."""
    resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = yaml.SafeLoader.yaml_implicit_resolvers
    for tag, pattern in resolvers.get(plain[:1], []):
        if pattern.match(plain):
            return tag
    return "number" if _NUMBER.fullmatch(plain) else ""


TEXT, LIST, FIELDS = "text", "list", "fields"


class ValueSpan(NamedTuple):
    """A value, in characters of the block."""

    kind: str
    """`text`, `list` or `fields`."""
    start: int
    """Includes quotes and brackets; equal to the end when nothing is written."""
    end: int
    """For a list or fields not in brackets: the end of the last part, without comment or empty line."""
    column: int
    """Its indentation."""
    value: str = ""
    """Of a text."""
    style: str = ""
    """Of a text: empty for plain, `'`, `"`, `|`, `>`; of a list or of fields: `[` when they are in brackets."""
    items: tuple[ValueSpan, ...] = ()
    fields: tuple[FieldSpan, ...] = ()


class FieldSpan(NamedTuple):
    """A name and its value."""

    key: str
    start: int
    end: int
    """Of the name, including quotes."""
    node: ValueSpan


def outline(text: str) -> ValueSpan:
    """Locate everything in a block the guard accepts as fields; one without a field gives empty fields."""
    walk = events(text)
    first = next((event for event in walk if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent))), None)
    node = None if first is None else _node(first, walk, text)
    return node if node is not None and node.kind == FIELDS else ValueSpan(FIELDS, 0, 0, 0)


def _node(event: Any, walk: Iterator[Any], text: str) -> ValueSpan:
    start, column, end = event.start_mark.index, event.start_mark.column, event.end_mark.index
    if isinstance(event, yaml.ScalarEvent):
        style = event.style or ""
        if style in ("|", ">"):
            end = start + len(text[start:end].rstrip())
        return ValueSpan(TEXT, start, end, column, event.value, style)
    is_list, brackets = isinstance(event, yaml.SequenceStartEvent), "[" if event.flow_style else ""
    items: list[ValueSpan] = []
    fields: list[FieldSpan] = []
    for part in walk:
        end = part.end_mark.index
        if isinstance(part, yaml.CollectionEndEvent):
            break
        if is_list:
            items.append(_node(part, walk, text))
        else:
            key = (part.value, part.start_mark.index, part.end_mark.index)
            fields.append(FieldSpan(*key, _node(next(walk), walk, text)))
    if not brackets:
        end = max([item.end for item in items] + [max(field.end, field.node.end) for field in fields], default=start)
    return ValueSpan(LIST if is_list else FIELDS, start, end, column, "", brackets, tuple(items), tuple(fields))


class Splice(NamedTuple):
    """A replacement of the characters from start up to end."""

    start: int
    end: int
    written: str


Proposal = tuple[Splice, ...]


def refused(text: str) -> RefusedError:
    """Return the refusal of a block that cannot be edited here."""
    return RefusedError(text, code="E_FRONTMATTER", hint="Edit it as text.")


def apply(text: str, proposal: Proposal) -> str:
    """Make the replacements, none of which overlap."""
    for start, end, written in sorted(proposal, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def proposals(
    text: str, root: ValueSpan, path: tuple[str, ...], value: str | tuple[str, ...] | None, newline: str
) -> Iterator[Proposal]:
    """Propose ways to set a field to a text or list, or to remove it (None), the most natural first.

    `path` is the field's name, after that of the field it lies in. Raises `E_FRONTMATTER` when none is safe.
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


def _field(node: ValueSpan, key: str) -> FieldSpan | None:
    return next((field for field in node.fields if field.key == key), None)


# --- one text


def _scalar(text: str, holder: ValueSpan, field: FieldSpan, value: str, newline: str) -> Iterator[Proposal]:
    node = field.node
    if node.kind != TEXT:
        raise refused(f"The field {field.key!r} holds a list or further fields, not one text.")
    old = text[node.start : node.end]
    _refuse_comment_behind(field, old)
    if node.style in ("|", ">") and "\n" in value:
        yield (Splice(node.start, node.end, block(value, " " * (holder.column + 2), newline)),)
    space = "" if node.end > node.start else " "
    for written in spellings(value, node.style, old if not node.style else ""):
        yield (Splice(node.start, node.end, space + written),)


def _refuse_comment_behind(field: FieldSpan, old: str) -> None:
    if field.node.style in ("|", ">") and "#" in old.partition("\n")[0]:
        raise refused(f"A comment stands behind the {field.node.style} of the field {field.key!r}.")


# --- a field that is missing


def _additions(
    text: str, root: ValueSpan, path: tuple[str, ...], value: str | tuple[str, ...], newline: str
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


def _removal(text: str, holder: ValueSpan, field: FieldSpan) -> Proposal:
    if holder.style == "[":
        raise refused(f"The field {field.key!r} is written in braces.")
    start = _line_start(text, field.start)
    end = _line_end(text, max(field.end, field.node.end))
    if text[start : field.start].strip(" "):
        raise refused(f"Something stands before the field {field.key!r}.")
    spans = [(field.start, field.end), *_texts(field.node)]
    _refuse_comment(text, start, end, spans, f"the field {field.key!r}")
    return (Splice(start, end, ""),)


def _texts(node: ValueSpan) -> Iterator[tuple[int, int]]:
    """Yield the spans of a value's texts, names included; of a block scalar, what is below its first line."""
    if node.kind == TEXT:
        yield node.start, node.end
    for part in node.items:
        yield from _texts(part)
    for field in node.fields:
        yield field.start, field.end
        yield from _texts(field.node)


def _refuse_comment(text: str, start: int, end: int, spans: Sequence[tuple[int, int]], what: str) -> None:
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


def _list(text: str, field: FieldSpan, values: tuple[str, ...], newline: str) -> Iterator[Proposal]:
    node = field.node
    if node.kind == FIELDS:
        raise refused(f"The field {field.key!r} holds further fields, not a list.")
    if node.kind == TEXT:
        _refuse_comment_behind(field, text[node.start : node.end])
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


def _one_a_line(text: str, node: ValueSpan) -> tuple[int, int, str] | None:
    """Return the span of a list with one item per line, and the text before each item; None for any other list."""
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
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def set_fields(data: bytes, edits: Iterable[FieldEdit]) -> bytes:
    """Set and remove fields by replacing only the bytes of their values, or their lines.

    A missing field or block is added; a block that loses its last field goes, unless a comment is left in it.
    Everything else stays byte for byte: byte-order mark, line ends, comments, order, other fields, body.

    Raises:
        RefusedError: `E_FRONTMATTER`, `E_FRONTMATTER_UNSAFE`, `E_FRONTMATTER_TOO_BIG` or `E_TEXT`; nothing is half
            done.
    """
    wanted = tuple(edits)
    # What is set comes first: a block whose last field goes is taken away, and would come back in another shape.
    for edit in sorted(wanted, key=lambda edit: edit.value is None):
        data = _set(data, edit)
    return data


def _set(data: bytes, edit: FieldEdit) -> bytes:
    path, value = edit
    if not 1 <= len(path) <= 2:
        raise ValueError(f"a field lies on the first or second level, not {path!r}")
    _require_text(data, [*path, *([value] if isinstance(value, str) else value or ())])
    front = split(data, plain=False)
    if front.status not in (OK, EMPTY, NONE, OTHER):
        raise _refusal(front)
    if _at(front.fields, path) == _plain(value):
        return data
    too_big = False
    for attempt in _attempts(data, front, path, value):
        after = split(attempt, plain=False)
        if _only_that_changed(front, data, after, attempt, edit):
            return attempt
        too_big = too_big or after.status == TOO_BIG
    if too_big:
        raise RefusedError(
            f"With that value the front matter would be larger than {LIMIT:,} bytes.",
            code="E_FRONTMATTER_TOO_BIG",
            hint="Shorten the value, or keep the text in the body.",
            details={"limit": LIMIT},
        )
    raise RefusedError(
        f"The field {'.'.join(path)!r} cannot be {'set' if value is not None else 'removed'} without changing anything "
        "else.",
        code="E_FRONTMATTER",
        hint="Edit the front matter as text.",
    )


def _require_text(data: bytes, words: Iterable[str]) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"The file is not UTF-8 at byte {error.start}.",
            code="E_TEXT",
            hint="Open it with an editor that knows its encoding.",
        ) from None
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        raise RefusedError(
            "The value holds half a character (a lone surrogate).", code="E_TEXT", hint="Type it again."
        ) from None


def _refusal(front: FrontMatter) -> RefusedError:
    problem = front.problem
    code = problem.code if problem and problem.code.startswith("E_") else "E_FRONTMATTER"
    return RefusedError(
        problem.text if problem else "The front matter cannot be read.",
        code=code,
        hint="Correct the front matter as text, then set the field.",
    )


# --- what counts as exactly the wanted change


def _plain(value: str | tuple[str, ...] | None) -> Value | None:
    return list(value) if isinstance(value, tuple) else value


def _at(fields: dict[str, Value], path: tuple[str, ...]) -> Value | None:
    found: Value | None = fields.get(path[0])
    if len(path) > 1:
        return found.get(path[1]) if isinstance(found, dict) else None
    return found


def _others(fields: dict[str, Value], path: tuple[str, ...]) -> list[tuple[object, ...]]:
    """Return everything but one field, in order; of the field it lies in, the rest."""
    others: list[tuple[object, ...]] = [(name, kept) for name, kept in fields.items() if name != path[0]]
    outer = fields.get(path[0])
    if len(path) > 1 and isinstance(outer, dict):
        others += [(*path[:1], name, kept) for name, kept in outer.items() if name != path[1]]
    return others


def _only_that_changed(before: FrontMatter, old: bytes, after: FrontMatter, new: bytes, edit: FieldEdit) -> bool:
    path, value = edit
    others = _others(before.fields, path)
    return (
        after.status in ((OK,) if others or value is not None else (NONE, EMPTY))
        and _at(after.fields, path) == _plain(value)
        and (value is not None or len(path) == 1 or path[0] not in after.fields or bool(after.fields[path[0]]))
        and others == _others(after.fields, path)
        and new[after.body :] == old[before.body :]
    )


# --- ways to do it


def _attempts(
    data: bytes, front: FrontMatter, path: tuple[str, ...], value: str | tuple[str, ...] | None
) -> Iterator[bytes]:
    newline = _newline(data)
    if front.status in (NONE, OTHER):
        if value is not None:
            yield from _new_blocks(data, path, value, newline)
        return
    text = data[front.start : front.end].decode()
    for proposal in proposals(text, outline(text), path, value, newline):
        block = apply(text, proposal)
        if value is None and not block.strip():
            mark = BOM if data.startswith(BOM) else b""
            yield mark + data[front.body :]
        yield data[: front.start] + block.encode() + data[front.end :]


def _new_blocks(data: bytes, path: tuple[str, ...], value: str | tuple[str, ...], newline: str) -> Iterator[bytes]:
    mark = BOM if data.startswith(BOM) else b""
    above = ["---", *(f"{key(name)}:" for name in path[:-1])]
    lead = "  " * (len(path) - 1) + key(path[-1])
    for written in spellings(value) if isinstance(value, str) else (flow_list(value),):
        block = newline.join((*above, f"{lead}: {written}", "---", ""))
        yield mark + block.encode() + data[len(mark) :]


def _newline(data: bytes) -> str:
    at = data.find(b"\n")
    return "\r\n" if at > 0 and data[at - 1 : at] == b"\r" else "\n"
