"""Front matter: reading it, and editing its fields in place."""

from typing import TypeAlias

Value: TypeAlias = "str | list[Value] | dict[str, Value]"
"""A field's value. Every scalar is text, as written: no dates, numbers or booleans."""

LIMIT = 16_384
"""The largest block, in bytes."""
BOM = b"\xef\xbb\xbf"

NONE, OK, EMPTY, UNCLOSED, OTHER = "none", "ok", "empty", "unclosed", "other"
DUPLICATE, BROKEN, UNSAFE, TOO_BIG = "duplicate", "broken", "unsafe", "too-big"
