"""What one memtui asks another one for through a program like ssh: words no shell can read anything into.

The shell at the other end is whatever the user has there, and names of memories are hostile: one word of letters and
digits holds all of them. Before its answer the other memtui prints a line on both streams, so that what a login prints
is told from it. It is apart because both ends of a call use it, and must agree.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from hashlib import sha256

from memtui.errors import UsageError

OPTION = "--asked="
LONGEST = 96 * 1024
"""Characters of what is asked: less than any system takes as one word."""


def pack(mark: str, words: Sequence[str], given: bytes | None = None) -> str:
    """Make one word of a command line.

    Args:
        mark: what the other memtui says before its answer; nobody can guess it.
        words: the command line, without the program's name.
        given: the text it gets on standard input, of which nothing may be missing; None: a stream, or nothing.

    Raises:
        UsageError: it is too long.
    """
    whole = [mark, "" if given is None else sha256(given).hexdigest(), *words]
    packed = base64.urlsafe_b64encode(json.dumps(whole).encode("utf-8")).decode("ascii").rstrip("=")
    if len(packed) > LONGEST:
        raise UsageError("That is too much for one command on another machine.", hint="Give a long text with --file.")
    return OPTION + packed


def unpack(word: str) -> tuple[str, list[str]]:
    """Take it apart again: the line to print before the answer, and the command line.

    Raises:
        UsageError: it is not what `pack` makes.
    """
    packed = word.removeprefix(OPTION)
    try:
        whole = json.loads(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))
        mark, sha, *words = whole
        if not all(isinstance(one, str) for one in whole) or not (mark.isalnum() and mark.isascii()):
            raise ValueError(mark)
    except (ValueError, TypeError, binascii.Error):
        raise UsageError(
            "Only memtui --on on another machine writes --asked.", hint="Write memtui --on HOST."
        ) from None
    return line(mark).strip(), [f"--given={sha}", *words] if sha else words


def line(mark: str) -> str:
    """The line before an answer."""
    return f"memtui answers {mark}\n"
