"""The two edits, on the bytes of a memory: what is not replaced stays as it is, byte for byte.

No text is decoded and encoded again here, so line ends, byte-order marks and odd characters cannot get lost on the way,
and no character of a new text has a meaning of its own. It is apart from the calls so that it knows no disk.
"""

from typing import NamedTuple

from memtui import mask

BOM = b"\xef\xbb\xbf"
_LISTED = 20
"""Line numbers an answer lists."""


class Matches(NamedTuple):
    """Where a text occurs."""

    times: int
    """Overlapping occurrences are counted, because replacing one of them would be a guess."""
    lines: tuple[int, ...]
    """The lines, from 1, on which the first occurrences begin; each once."""


class NotText(ValueError):  # noqa: N818
    """The bytes are no UTF-8 text, or hold a NUL; they must not be rewritten."""


class NotUnique(Exception):  # noqa: N818
    """The text to replace does not occur exactly once."""

    def __init__(self, matches: Matches) -> None:
        super().__init__(matches.times)
        self.matches = matches


class Hidden(Exception):  # noqa: N818
    """The edit would change what its writer sees only as a mask."""


class NoSuchLine(Exception):  # noqa: N818
    """There is no line of this number."""

    def __init__(self, last: int) -> None:
        super().__init__(last)
        self.last = last


def check_text(data: bytes) -> None:
    """Require that bytes are a text.

    Raises:
        NotText: they are not UTF-8, or hold a NUL.
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise NotText(str(error)) from None
    if b"\0" in data:
        raise NotText("it holds a NUL")


def is_text(data: bytes) -> bool:
    """Whether bytes are a text that may be edited."""
    try:
        check_text(data)
    except NotText:
        return False
    return True


def find(data: bytes, text: bytes) -> Matches:
    """Find every occurrence of a text that is not empty; those that overlap count one by one."""
    count, lines, at = 0, dict[int, None](), data.find(text)
    line, counted = 1, 0
    while at >= 0:
        count += 1
        if len(lines) < _LISTED:
            line += data.count(b"\n", counted, at)
            counted = at
            lines[line] = None
        at = data.find(text, at + 1)
    return Matches(count, tuple(lines))


def str_replace(data: bytes, old: str, new: str) -> bytes:
    """Replace the one occurrence of a text.

    In a file whose every line ends in CR LF, a text that was written with bare LF is found all the same, and the lines
    of the new one end so too.

    Args:
        data: the content.
        old: the text to replace, not empty.
        new: what to put in its place; every character stands for itself.

    Raises:
        NotText: the content must not be rewritten.
        NotUnique: the text does not occur, or more than once.
        UnicodeEncodeError: a text has no UTF-8 form.
    """
    check_text(data)
    wanted, put = old.encode(), new.encode()
    matches = find(data, wanted)
    if has_crlf(data):
        put = _crlf(put)
        if not matches.times and b"\n" in wanted and b"\r" not in wanted:
            wanted = _crlf(wanted)
            matches = find(data, wanted)
    if matches.times != 1:
        raise NotUnique(matches)
    before, _, after = data.partition(wanted)
    return before + put + after


def insert(data: bytes, line: int, text: str) -> tuple[bytes, int]:
    """Insert lines after a line; lines are what `view` numbers, so they end at LF only.

    A file whose every line ends in CR LF gets such lines; a byte-order mark stays first.

    Args:
        data: the content.
        line: the line to insert after; 0 is the top.
        text: the lines; one final newline is dropped.

    Returns:
        The new content, and how many lines were inserted.

    Raises:
        NotText: the content must not be rewritten.
        NoSuchLine: the number is too large.
        UnicodeEncodeError: the text has no UTF-8 form.
    """
    check_text(data)
    new = text.encode()
    mark, body = (BOM, data[len(BOM) :]) if data.startswith(BOM) else (b"", data)
    lines = body.split(b"\n")
    last = len(lines) if body else 0
    if not 0 <= line <= last:
        raise NoSuchLine(last)
    added = new.removesuffix(b"\n").split(b"\n") if new else []
    if added and has_crlf(data):
        added = [one.removesuffix(b"\r") + b"\r" for one in added]
        if line == len(lines):  # the last line has no end yet, and the new last one gets none
            lines[-1] += b"\r"
            added[-1] = added[-1][:-1]
    lines[line:line] = added
    return mark + b"\n".join(lines), len(added)


def check_masks(before: bytes, after: bytes, old: str = "") -> None:
    """Require that an edit by somebody who sees secrets masked leaves them whole, or takes them away whole.

    Args:
        before, after: the content; the same where nothing was found to replace.
        old: the text that was to be replaced, as it was given.

    Raises:
        Hidden: a part of a secret would change, a mask would be written over one, or the text to replace is a mask;
            or a secret that stays would not be known as one any more.
    """
    found = mask.secrets(text := before.decode(errors="surrogateescape"))
    if not found:
        return
    new = after.decode(errors="surrogateescape")
    if before == after:
        if mask.BEGIN in old and old in mask.shown(text):
            raise Hidden
        return
    least = min(len(text), len(new))
    start = next((at for at in range(least) if text[at] != new[at]), least)
    tail = next((at for at in range(least - start) if text[-1 - at] != new[-1 - at]), least - start)
    end, written = len(text) - tail, new[start : len(new) - tail]
    for one in found:
        whole = start <= one.start and one.end <= end
        touched = one.start < end and start < one.end
        if (touched and not whole) or (whole and mask.BEGIN in written):
            raise Hidden
    still, shift = mask.secrets(new), len(new) - len(text)
    for one in found:
        moved = 0 if one.end <= start else shift
        here = any(each.start <= one.start + moved and one.end + moved <= each.end for each in still)
        if not here and not (start <= one.start and one.end <= end):
            raise Hidden  # its mask would fall off, because what told it a secret is gone


def has_crlf(data: bytes) -> bool:
    """Whether every line end of a content is CR LF, and there is one."""
    ends = data.count(b"\n")
    return ends > 0 and data.count(b"\r\n") == ends


def _crlf(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
