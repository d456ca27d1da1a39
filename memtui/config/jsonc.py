"""JSON as agents' settings have it, with comments and commas at the end: where each value stands in the text.

Read for its places only, so that a change can be made by exchanging those characters and no others; a settings file
that went through a parser and a printer would come back without its comments, its order and its indentation.
"""

from functools import lru_cache
from typing import NamedTuple

from memtui.errors import UsageError

BOM = "\ufeff"
_BLANK = " \t\r\n"
_DEEPEST = 200
_LITERALS = {"true": True, "false": False, "null": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Part(NamedTuple):
    """One member of an object, or one item of an array. Places are offsets in characters."""

    name: str
    """Empty for an item."""
    start: int
    """Where the name begins, or the item."""
    node: "Node"
    comma: int | None
    """Where the comma after it stands."""


class Node(NamedTuple):
    """One value, and where it stands."""

    start: int
    end: int
    value: object
    """As Python has it; of members with one name the last counts."""
    parts: tuple[Part, ...] = ()

    def find(self, name: str | int) -> Part | None:
        """Return the member of that name that counts, the last; or the item of that number, from 0."""
        if isinstance(name, int):
            return self.parts[name] if isinstance(self.value, list) and 0 <= name < len(self.parts) else None
        if not isinstance(self.value, dict):
            return None
        for part in reversed(self.parts):
            if part.name == name:
                return part
        return None


@lru_cache(maxsize=4)  # one change looks at the same text a dozen times, and agents keep megabytes in their settings
def parse(text: str) -> Node | None:
    """Read a document; nobody changes the values that come out.

    Args:
        text: the whole file, a byte-order mark included.

    Returns:
        Its value; None when it holds nothing but blanks and comments.

    Raises:
        UsageError: `E_CONFIG`, with the line, when it is not JSON.
    """
    reader = _Reader(text)
    at = reader.skip(len(BOM) if text.startswith(BOM) else 0)
    if at == len(text):
        return None
    node = reader.value(at, 0)
    if reader.skip(node.end) != len(text):
        raise reader.wrong(reader.skip(node.end), "something follows the end")
    return node


def line_end(text: str, at: int) -> int:
    """Return where what is on this line after a value ends: behind comments, before blanks and the line's end."""
    end = at
    while at < len(text) and text[at] not in "\r\n":
        if text[at] in " \t":
            at += 1
        elif text.startswith("//", at):
            end = at = _first(text, at, "\r\n")
        elif text.startswith("/*", at) and "\n" not in text[at : text.find("*/", at)]:
            end = at = text.index("*/", at) + 2
        else:
            break
    return end


class _Reader:
    """Reads values from a text, each from a given place."""

    def __init__(self, text: str) -> None:
        self._text = text

    def wrong(self, at: int, what: str) -> UsageError:
        """Make the complaint about one place."""
        line = self._text.count("\n", 0, at) + 1
        return UsageError(
            f"line {line} is not JSON: {what}.",
            code="E_CONFIG",
            hint="Correct the file, or add the entry by hand.",
            details={"line": line},
        )

    def skip(self, at: int) -> int:
        """Go past blanks and comments."""
        text = self._text
        while at < len(text):
            if text[at] in _BLANK:
                at += 1
            elif text.startswith("//", at):
                at = _first(text, at, "\r\n")
            elif text.startswith("/*", at):
                end = text.find("*/", at + 2)
                if end < 0:
                    raise self.wrong(at, "a comment has no end")
                at = end + 2
            else:
                break
        return at

    def value(self, at: int, depth: int) -> Node:
        """Read the value that begins here."""
        if depth > _DEEPEST:
            raise self.wrong(at, "it is nested too deeply")
        sign = self._text[at : at + 1]
        if sign in ("{", "["):
            return self._container(at, depth)
        if sign == '"':
            return self._string(at)
        end = at
        while end < len(self._text) and (self._text[end].isalnum() or self._text[end] in "+-."):
            end += 1
        word = self._text[at:end]
        if word in _LITERALS:
            return Node(at, end, _LITERALS[word])
        return Node(at, end, self._number(at, word))

    def _number(self, at: int, word: str) -> float | int:
        plain = word.removeprefix("-")
        whole = plain.partition(".")[0].lower().partition("e")[0]
        try:
            if not word.isascii() or not whole.isdigit() or (whole[0] == "0" and whole != "0"):
                raise ValueError(word)
            return int(word) if plain.isdigit() else float(word)
        except ValueError:
            raise self.wrong(at, f"{word!r} is no value" if word else "a value is missing") from None

    def _string(self, at: int) -> Node:
        text, parts, here = self._text, [], at + 1
        while True:
            end = _first(text, here, '"\\\r\n')
            if end == len(text) or text[end] in "\r\n":
                raise self.wrong(at, "a text has no end")
            parts.append(text[here:end])
            if text[end] == '"':
                break
            sign = text[end + 1 : end + 2]
            if sign == "u":
                digits = text[end + 2 : end + 6]
                if len(digits) < 4 or not all(c in "0123456789abcdefABCDEF" for c in digits):
                    raise self.wrong(end, "an escape is broken")
                parts.append(chr(int(digits, 16)))
                here = end + 6
            elif sign in _ESCAPES and sign:
                parts.append(_ESCAPES[sign])
                here = end + 2
            else:
                raise self.wrong(end, "an escape is broken")
        value = "".join(parts)
        if any("\ud800" <= c <= "\udfff" for c in value):
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return Node(at, end + 1, value)

    def _container(self, at: int, depth: int) -> Node:
        keyed = self._text[at] == "{"
        closing = "}" if keyed else "]"
        parts: list[Part] = []
        here = self.skip(at + 1)
        while self._text[here : here + 1] != closing:
            if parts and parts[-1].comma is None:
                raise self.wrong(here, f"a comma or {closing} is missing")
            name, start = "", here
            if keyed:
                name, here = self._name(here)
            node = self.value(here, depth + 1)
            here = self.skip(node.end)
            comma = here if self._text[here : here + 1] == "," else None
            parts.append(Part(name, start, node, comma))
            here = self.skip(here + 1) if comma is not None else here
        value: object = {part.name: part.node.value for part in parts} if keyed else [p.node.value for p in parts]
        return Node(at, here + 1, value, tuple(parts))

    def _name(self, at: int) -> tuple[str, int]:
        if self._text[at : at + 1] != '"':
            raise self.wrong(at, "a name in quotes is missing")
        name = self._string(at)
        colon = self.skip(name.end)
        if self._text[colon : colon + 1] != ":":
            raise self.wrong(colon, "a colon is missing")
        return str(name.value), self.skip(colon + 1)


def _first(text: str, at: int, signs: str) -> int:
    """Find the first of these characters; the end of the text when there is none."""
    while at < len(text) and text[at] not in signs:
        at += 1
    return at
