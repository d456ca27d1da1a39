"""What of a text an agent loads: spans it drops, and where its limits cut, as byte offsets of the text as it is.

Pure. Everybody who draws a cut line in a text that an agent loads asks here, so that two views cannot draw it at two
places; only an index has rules of its own, in `pointers/cutline.py`, which its health shares.
"""

from typing import NamedTuple

DROPPED, CUT = "dropped", "cut"
"""Why a span is not loaded: the agent leaves it out on purpose, or a limit was reached."""
_BOM = b"\xef\xbb\xbf"


class Gap(NamedTuple):
    """A span that is not loaded."""

    start: int
    end: int
    kind: str
    """`DROPPED` or `CUT`."""


class Limits(NamedTuple):
    """How much of a text is loaded; None: no limit of this kind."""

    lines: int | None = None
    bytes: int | None = None
    units: int | None = None
    """UTF-16 units, as JavaScript counts characters."""
    characters: int | None = None
    middle: int | None = None
    """Bytes; what is longer loses its middle, and keeps its beginning and its end."""

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return any(limit is not None for limit in self)

    def words(self) -> str:
        """Say them: `200 lines or 25,000 bytes`."""
        names = ("lines", "bytes", "characters", "characters", "bytes, from both ends")
        said = [f"{limit:,} {name}" for limit, name in zip(self, names, strict=True) if limit is not None]
        return " or ".join(said)


def loaded(data: bytes, gaps: tuple[Gap, ...]) -> bytes:
    """Give the text without its gaps, which are in order and do not overlap."""
    if not gaps:
        return data
    parts: list[bytes] = []
    at = 0
    for gap in gaps:
        parts.append(data[at : gap.start])
        at = gap.end
    return b"".join((*parts, data[at:]))


def front_matter(data: bytes) -> Gap | None:
    """Find the front matter, its lines of dashes included."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    at = data.find(b"\n", start) + 1
    if not at or data[start:at].rstrip() != b"---":
        return None
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        if data[at:end].rstrip() in (b"---", b"..."):
            return Gap(start, end, DROPPED)
        at = end
    return None


def comments(data: bytes) -> tuple[Gap, ...]:
    """Find the block comments of HTML: those that begin a line outside of code; one that does not end is text."""
    if b"<!--" not in data:
        return ()
    found: list[Gap] = []
    fence = b""
    at = 0
    last = data.rfind(b"-->")
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        line = data[at:end]
        bare = line.lstrip(b" ")
        indent = len(line) - len(bare)
        if fence or indent > 3:
            if indent <= 3 and closes(bare, fence):
                fence = b""
        elif bare.startswith((b"```", b"~~~")):
            fence = opens(bare)
        elif bare.startswith(b"<!--") and last >= at + indent + 4:
            stop = data.find(b"-->", at + indent + 4) + 3
            end = data.find(b"\n", stop) + 1 or len(data)
            whole = not data[stop:end].strip()
            found.append(Gap(at if whole else at + indent, end if whole else stop, DROPPED))
        at = end
    return tuple(found)


def opens(bare: bytes) -> bytes:
    """Give the run of signs that a line of code begins with."""
    sign = bare[:1]
    return bare[: len(bare) - len(bare.lstrip(sign))]


def closes(bare: bytes, fence: bytes) -> bool:
    """Whether a line ends the code that a run of signs began."""
    return bool(fence) and bare.startswith(fence) and not bare.strip().strip(fence[:1])


def cut(data: bytes, dropped: tuple[Gap, ...], limits: Limits, *, size: int | None = None) -> tuple[Gap, ...]:
    """Add the gap that limits make; what is dropped does not count against them.

    Whole lines are kept, as many as fit; of a first line that is longer than all, as much as fits.

    Args:
        data: the text, or the beginning of it.
        dropped: what the agent leaves out, in order.
        limits: how much it loads.
        size: bytes of the whole text, when `data` is only its beginning.

    Returns:
        All gaps, in order.
    """
    whole = len(data) if size is None else size
    if limits.middle is not None:
        return _without_middle(dropped, limits.middle, whole)
    at = _end(data, dropped, limits)
    if at is None:
        return dropped
    kept = tuple(gap for gap in dropped if gap.end <= at)
    return (*kept, Gap(at, whole, CUT))


def _without_middle(dropped: tuple[Gap, ...], limit: int, whole: int) -> tuple[Gap, ...]:
    if whole <= limit:
        return dropped
    head = limit // 2
    return (Gap(head, whole - (limit - head), CUT),)


def _end(data: bytes, dropped: tuple[Gap, ...], limits: Limits) -> int | None:
    """Where loading ends; None when everything is loaded."""
    if not limits.any:
        return None
    lines = used = units = characters = 0
    gaps = iter(dropped)
    gap = next(gaps, None)
    at = 0
    while at < len(data):
        if gap is not None and at >= gap.start:
            at = max(at, gap.end)
            gap = next(gaps, None)
            continue
        end = data.find(b"\n", at) + 1 or len(data)
        if gap is not None:
            end = min(end, gap.start)
        piece = data[at:end]
        text = piece.decode("utf-8", "replace")
        lines += 1
        used += len(piece)
        characters += len(text)
        units += len(text.encode("utf-16-le", "surrogatepass")) // 2
        counted = ((limits.lines, lines), (limits.bytes, used), (limits.units, units), (limits.characters, characters))
        if any(limit is not None and count > limit for limit, count in counted):
            return at if at and lines > 1 else _part(data, at, end, limits)
        at = end
    return None


def _part(data: bytes, start: int, end: int, limits: Limits) -> int:
    """Cut inside one line that is longer than everything that may be loaded."""
    if limits.lines == 0:
        return start
    text = data[start:end].decode("utf-8", "replace")
    if limits.characters is not None:
        text = text[: limits.characters]
    if limits.units is not None:
        text = text.encode("utf-16-le", "surrogatepass")[: 2 * limits.units].decode("utf-16-le", "ignore")
    kept = len(text.encode())
    return min(start + (kept if limits.bytes is None else min(kept, limits.bytes)), end)


def line_of(data: bytes, offset: int) -> int:
    """The number, from 1, of the line that an offset is in."""
    return data.count(b"\n", 0, offset) + 1
