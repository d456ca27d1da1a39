"""Editing one field: the bytes of its value are replaced, everything around them stays.

A YAML dumper would lose comments, order, quotes and line ends, so there is none: each way of writing the value is
spliced in, read back, and kept only when exactly that value changed. What cannot be edited so is refused.
"""

import re
from collections.abc import Iterator

import yaml

from memtui.engine import frontmatter
from memtui.engine.frontmatter import BOM, EMPTY, NONE, OK, OTHER, TOO_BIG, FrontMatter
from memtui.engine.frontmatter_guard import Entry, Survey, survey
from memtui.errors import RefusedError

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,199}")


def set_field(data: bytes, field: str, value: str) -> bytes:
    """Set one field; see `frontmatter.set_field`."""
    _require_text(data, value)
    front = frontmatter.split(data, plain=False)
    if front.status not in (OK, EMPTY, NONE, OTHER):
        raise _refusal(front)
    if front.fields.get(field) == value:
        return data
    too_big = False
    for attempt in _attempts(data, front, field, value):
        after = frontmatter.split(attempt, plain=False)
        if _only_that_changed(front, data, after, attempt, field, value):
            return attempt
        too_big = after.status == TOO_BIG
    if too_big:
        raise RefusedError(
            f"With that value the front matter would be larger than {frontmatter.LIMIT:,} bytes.",
            code="E_FRONTMATTER_TOO_BIG",
            hint="Shorten the value, or keep the text in the body.",
            details={"limit": frontmatter.LIMIT},
        )
    raise RefusedError(
        f"The field {field!r} cannot be set without changing anything else.",
        code="E_FRONTMATTER",
        hint="Edit the front matter as text.",
    )


def _require_text(data: bytes, value: str) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"The file is not UTF-8 at byte {error.start}.",
            code="E_TEXT",
            hint="Open it with an editor that knows its encoding.",
        ) from None
    try:
        value.encode()
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


def _only_that_changed(before: FrontMatter, old: bytes, after: FrontMatter, new: bytes, field: str, value: str) -> bool:
    others = [(key, kept) for key, kept in before.fields.items() if key != field]
    return (
        after.status == OK
        and after.fields.get(field) == value
        and others == [(key, kept) for key, kept in after.fields.items() if key != field]
        and new[after.body :] == old[before.body :]
    )


def _attempts(data: bytes, front: FrontMatter, field: str, value: str) -> Iterator[bytes]:
    """Every way to write it, the most natural first."""
    newline = _newline(data)
    if front.status in (NONE, OTHER):
        mark = BOM if data.startswith(BOM) else b""
        for written in _spellings(value):
            block = newline.join(("---", f"{_key(field)}: {written}", "---", ""))
            yield mark + block.encode() + data[len(mark) :]
        return
    text = data[front.start : front.end].decode()
    seen = survey(text)
    for start, end, written in _splices(text, seen, field, value, newline):
        block = text[:start] + written + text[end:]
        yield data[: front.start] + block.encode() + data[front.end :]


def _splices(text: str, seen: Survey, field: str, value: str, newline: str) -> Iterator[tuple[int, int, str]]:
    entry = next((entry for entry in seen.entries if entry.key == field), None)
    if entry is not None:
        yield from _replacements(text, seen, entry, value, newline)
        return
    if seen.braces:
        raise RefusedError(
            f"The front matter is written in braces, and has no field {field!r}.",
            code="E_FRONTMATTER",
            hint="Add the field as text.",
        )
    first = seen.entries[0].key_start - seen.column if seen.entries else 0
    for place in dict.fromkeys((len(text), first)):
        for written in _spellings(value):
            yield place, place, f"{' ' * seen.column}{_key(field)}: {written}{newline}"


def _replacements(text: str, seen: Survey, entry: Entry, value: str, newline: str) -> Iterator[tuple[int, int, str]]:
    start, end, style = entry.start, entry.end, entry.style
    if style == "collection":
        raise RefusedError(
            f"The field {entry.key!r} holds a list or further fields, not one text.",
            code="E_FRONTMATTER",
            hint="Edit it as text.",
        )
    old = text[start:end]
    if style in ("|", ">"):
        if "#" in old.partition("\n")[0]:
            raise RefusedError(
                f"A comment stands behind the {style} of the field {entry.key!r}.",
                code="E_FRONTMATTER",
                hint="Edit it as text.",
            )
        end = start + len(old.rstrip())
        if "\n" in value:
            yield start, end, _block(value, " " * (seen.column + 2), newline)
    space = "" if end > start else " "
    for written in _spellings(value, style, old if not style else ""):
        yield start, end, space + written


def _spellings(value: str, style: str = "", old: str = "") -> Iterator[str]:
    """The value as a one-line scalar: as it is where that is sure to be text everywhere, else in quotes."""
    if style == "'" and value.isprintable():
        yield "'" + value.replace("'", "''") + "'"
    if style not in ("'", '"') and value.isprintable() and frontmatter.plain_scalar(value) == value:
        kind = _kind(value)
        if not kind or (old and kind == _kind(old)):
            yield value
    yield _quoted(value)


def _kind(plain: str) -> str:
    """What other YAML readers take a plain scalar for (a number, a date, a truth value); empty for text."""
    resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = yaml.SafeLoader.yaml_implicit_resolvers
    for tag, pattern in resolvers.get(plain[:1], []):
        if pattern.match(plain):
            return tag
    return ""


def _quoted(value: str) -> str:
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


def _block(value: str, indent: str, newline: str) -> str:
    body, end = (value[:-1], "|") if value.endswith("\n") else (value, "|-")
    return newline.join([end, *(indent + line if line else "" for line in body.split("\n"))])


def _key(field: str) -> str:
    return field if _PLAIN_KEY.fullmatch(field) and not _kind(field) else _quoted(field)


def _newline(data: bytes) -> str:
    at = data.find(b"\n")
    return "\r\n" if at > 0 and data[at - 1 : at] == b"\r" else "\n"
