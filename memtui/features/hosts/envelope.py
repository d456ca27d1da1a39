"""Encoding of a remote command line as one shell-safe word, and the line that marks the start of its answer.

The remote shell is unknown and names of memories are hostile, so the word holds letters and digits only. The mark tells
the answer from what a login prints. Both ends of a call use this module.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from hashlib import sha256

from memtui.errors import UsageError

OPTION = "--asked="
MAX_PACKED = 96 * 1024
"""Characters of a packed command line, below the limit of every system."""


def pack(mark: str, words: Sequence[str], given: bytes | None = None) -> str:
    """Pack a command line into one word, with a token to print before the answer and the digest of its text."""
    whole = [mark, "" if given is None else sha256(given).hexdigest(), *words]
    packed = base64.urlsafe_b64encode(json.dumps(whole).encode("utf-8")).decode("ascii").rstrip("=")
    if len(packed) > MAX_PACKED:
        raise UsageError("That is too much for one command on another machine.", hint="Give a long text with --file.")
    return OPTION + packed


def unpack(word: str) -> tuple[str, list[str]]:
    """Unpack a word: the line to print before the answer, and the command line."""
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
    return answer_mark(mark).strip(), [f"--given={sha}", *words] if sha else words


def answer_mark(mark: str) -> str:
    """Return the line before an answer."""
    return f"memtui answers {mark}\n"
