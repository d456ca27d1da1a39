"""How a value is written in YAML: as it is where that is sure to be text everywhere, else in quotes.

Other readers take `no`, `1e3` and `2024-01-01` for something else than text, and a list in brackets ends an item at a
comma; who writes a value must not have to think of it.
"""

import re
from collections.abc import Iterator, Sequence

import yaml

from memtui.engine.frontmatter import read

_NUMBER = re.compile(r"[-+]?(0o[0-7]+|0x[0-9a-fA-F]+|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)")
"""What YAML 1.2 takes for a number and 1.1, whose rules the library knows, partly does not."""
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,199}")


def spellings(value: str, style: str = "", old: str = "") -> Iterator[str]:
    """Write a value on one line, the most natural way first.

    Args:
        value: any text.
        style: the quotes it had before: `'`, `"` or none.
        old: how it was written before, when without quotes.
    """
    if style == "'" and value.isprintable():
        yield "'" + value.replace("'", "''") + "'"
    if style not in ("'", '"') and value.isprintable() and read.plain_scalar(value) == value:
        kind = _kind(value)
        if not kind or (old and kind == _kind(old)):
            yield value
    yield quoted(value)


def item(value: str, *, flow: bool) -> str:
    """Write an item of a list, the most natural way that is sure to be this one text.

    Args:
        value: any text.
        flow: the list stands in brackets.
    """
    for written in spellings(value):
        if not flow or written[:1] == '"' or read.plain_scalar(f"[{written}]") == [value]:
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
    """What other YAML readers take a plain scalar for (a number, a date, a truth value); empty for text."""
    resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = yaml.SafeLoader.yaml_implicit_resolvers
    for tag, pattern in resolvers.get(plain[:1], []):
        if pattern.match(plain):
            return tag
    return "number" if _NUMBER.fullmatch(plain) else ""
