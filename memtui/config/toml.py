"""Parse TOML that somebody else wrote: the only caller of the standard library's parser.

That parser takes time and memory by the square of the parts of a dotted key, and values may be nested deeper than any
reader can follow. Both are refused here, so that a checkout's few kilobytes cannot hold up a command.
"""

import re
import tomllib

PARTS = 64
"""The most parts of a dotted key or table name."""
DEPTH = 100
"""The deepest nesting of tables and lists."""


class NotTomlError(ValueError):
    """Text that is not TOML, or exceeds a limit."""

    def __init__(self, what: str, line: int, place: str = "") -> None:
        """Keep the reason (`what`), the line (0 when unknown) and the place in the parser's words."""
        super().__init__(f"{what} (at {place})" if place else what)
        self.what = what
        self.line = line


def loads(text: str) -> dict[str, object]:
    """Parse a document without a byte-order mark; `NotTomlError` when it is invalid or exceeds a limit."""
    line = _long_key(text)
    if line:
        raise NotTomlError(f"a key has more than {PARTS} parts", line, f"line {line}")
    try:
        found = tomllib.loads(text)
    except RecursionError as error:
        raise NotTomlError("it is nested too deeply", 0) from error
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).removesuffix(")").partition(" (at ")
        digits = "".join(c for c in place.partition(",")[0] if c.isdigit())
        raise NotTomlError(what, int(digits) if digits else text.count("\n") + 1, place) from error
    except ValueError as error:  # a number with thousands of digits
        raise NotTomlError("a value is out of range", 0) from error
    if _is_deep(found):
        raise NotTomlError("it is nested too deeply", 0)
    return found


def _long_key(text: str) -> int:
    """Return the line of a dotted key with too many parts; 0 when there is none."""
    if not any(line.count(".") >= PARTS for line in text.split("\n")):  # a key stands on one line
        return 0
    bare = _without_texts(text).replace(" ", "").replace("\t", "")
    for number, line in enumerate(bare.split("\n"), 1):
        if any(run.count(".") >= PARTS for run in re.split(r"[=,\[\]{}]", line)):
            return number
    return 0


def _without_texts(text: str) -> str:
    """Replace every quoted text by `_` and remove comments; lines keep their numbers."""
    begin = re.compile(r"\"\"\"|'''|[\"'#]")
    ends = {
        '"""': re.compile(r'\\[\s\S]|"{3,5}'),
        "'''": re.compile(r"'{3,5}"),
        '"': re.compile(r'\\.|["\n]'),
        "'": re.compile(r"['\n]"),
        "#": re.compile(r"\n"),
    }
    kept: list[str] = []
    at = 0
    while (found := begin.search(text, at)) is not None:
        kept.append(text[at : found.start()])
        matches = ends[found[0]].finditer(text, found.end())
        at = next((end.end() for end in matches if end[0][0] != "\\"), len(text))
        kept += ["_" if found[0] != "#" else "", "\n" * text.count("\n", found.start(), at)]
    return "".join([*kept, text[at:]])


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(DEPTH):
        inner: list[object] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.values()
            elif isinstance(one, list):
                inner += one
        if not inner:
            return False
        level = inner
    return True
