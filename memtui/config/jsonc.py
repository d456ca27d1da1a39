"""Read JSON as agents' settings have it: with comments, and commas after the last value.

Whatever is not JSON is blanked, and the standard library reads the rest; lines keep their numbers.
"""

import contextlib
import json
import re
from functools import lru_cache

from memtui.errors import UsageError

BOM = "\ufeff"
_COMMENT = r"//[^\r\n]*+|/\*(?s:.*?)\*/"
_PARTS = re.compile(
    rf"""(?P<text>"(?:[^"\\\r\n]|\\.)*+"?)|{_COMMENT}|(?P<open>/\*(?s:.*))|,(?=(?:[ \t\r\n]|{_COMMENT})*+[\]}}])"""
)
"""A text; a comment; an unclosed comment; a comma with only blanks and comments before the closing bracket."""


@lru_cache(maxsize=4)  # one change looks at the same text a dozen times, and agents keep megabytes in their settings
def parse(text: str) -> object:
    """Parse a document; None when it is blank; `UsageError` (`E_CONFIG`), with the line, when it is not JSON.

    Do not change the cached result.
    """
    plain = text.removeprefix(BOM)
    with contextlib.suppress(ValueError, RecursionError):  # the commented way says what is wrong
        return json.loads(plain, parse_constant=_no_value)
    plain = _PARTS.sub(_blanked, plain)
    if not plain.strip():
        return None
    try:
        return json.loads(plain, parse_constant=_no_value)
    except RecursionError:
        what, line = "it is nested too deeply", 1
    except json.JSONDecodeError as error:
        what, line = error.msg, error.lineno
    except ValueError as error:
        what, line = str(error), 1
    raise UsageError(
        f"line {line} is not JSON: {what}.",
        code="E_CONFIG",
        hint="Correct the file, or add the entry by hand.",
        details={"line": line},
    )


def _blanked(part: re.Match[str]) -> str:
    return part[0] if part["text"] or part["open"] else " " + "\n" * part[0].count("\n")


def _no_value(word: str) -> object:
    raise ValueError(f"{word} is no value")
