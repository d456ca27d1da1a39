"""The filter for hostile and secret text: everything drawn, printed, logged or notified goes through here first.

Memories, names and error texts can hold terminal controls, bidirectional overrides and invisible instructions. None is
removed, because a curator must see the attack: each such character becomes a visible token (`␛`, `⟨U+202E⟩`,
`\\xff`). Secrets are masked before anything is cut, unless a caller allows them. Markup is not handled here: draw the
result as plain text.
"""

from collections.abc import Iterator

_PRINTABLE = bytes(range(0x20, 0x7F))
_PLAIN, _HIDDEN, _JOINS, _MARK = range(4)
_MARK_RUN = 12
"""Combining marks on one character; real scripts need fewer, and a pile of a thousand buries the rows around it."""

_SHORTEST_SECRET = 8
_BEYOND = 4_096
"""Characters behind the visible part that are searched for secrets."""

_ZWJ, _TEXT_STYLE, _EMOJI_STYLE, _KEYCAP = "\u200d", "\ufe0e", "\ufe0f", "\u20e3"
_UNSTEADY = {_EMOJI_STYLE, *map(chr, range(0x1F3FB, 0x1F400))}
"""The emoji style selector, and skin tones."""
_BLACK_FLAG = "\U0001f3f4"
_FLAG_TAGS = tuple(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f" for region in ("gbeng", "gbsct", "gbwls")
)
_EMOJI_RANGES = (
    (0x2190, 0x21FF), (0x2300, 0x23FF), (0x24C2, 0x24C2), (0x25A0, 0x27BF), (0x2934, 0x2935), (0x2B00, 0x2BFF),
    (0x1F000, 0x1FAFF),
)  # fmt: skip
_EMOJI_SINGLES = frozenset("©®‼⁉™ℹ〰〽㊗㊙")
_IDEOGRAPHS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_OPERATORS = ((0x2200, 0x22FF), (0x2A00, 0x2AFF))
_SELECTORS = ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
_TAGS = ((0xE0020, 0xE007F),)
_INVISIBLE = (
    (0xAD, 0xAD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xD800, 0xDFFF),
    (0xFDD0, 0xFDEF), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3),
    (0x1D159, 0x1D159), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Invisible code points (default-ignorable, blank letters, surrogates), whatever this Python's tables know."""

_kinds: dict[str, int] = {}
_plain: set[str] = set()
"""Characters known to be harmless, so that a text costs one set operation instead of a look-up per character."""


def visible(
    text: str,
    *,
    keep_newlines: bool = False,
    keep_tabs: bool = False,
    ascii_tokens: bool = False,
    secrets: bool = False,
) -> str:
    """Make text safe to draw: every control, format and invisible character becomes a visible token.

    Lone surrogates are accepted. With `keep_newlines`, a CRLF counts as one line feed. `ascii_tokens` are for terminals
    without Unicode (`\\x1b`, `<U+202E>`). Unless `secrets` are kept, each is masked; half a secret is not recognised,
    so pass a text before it is cut.
    """
    if not secrets:
        text = _without_secrets(text)
    if text.isascii() and text.isprintable():
        return text
    cut = _cut(text, keep_newlines=keep_newlines, keep_tabs=keep_tabs, ascii_tokens=ascii_tokens)
    return text if cut is None else "".join([piece for piece, _ in cut])


def pieces(
    text: str, *, keep_newlines: bool = False, keep_tabs: bool = False, ascii_tokens: bool = False
) -> list[tuple[str, bool]]:
    """Make text safe to draw, as (piece, is_token) pairs, so that tokens can have their own style."""
    if not text:
        return []
    cut = _cut(text, keep_newlines=keep_newlines, keep_tabs=keep_tabs, ascii_tokens=ascii_tokens)
    return [(text, False)] if cut is None else cut


def without_escapes(text: str) -> str:
    """Remove colours, links and titles of a terminal's text, in which a substitute character counts as an escape."""
    import re  # most commands take no such text

    return re.sub("[\x1b\x1a](?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1a\x1b]*(?:\x07|[\x1b\x1a]\\\\)?)", "", text)


def has_hidden(text: str) -> bool:
    """Return whether a body holds anything but visible text, tabs and line ends (CRLF included).

    Remove a byte-order mark at the start of a file first: it is a format character like any other.
    """
    if text.isascii() and text.isprintable():
        return False
    cut = _cut(text, keep_newlines=True, keep_tabs=True, ascii_tokens=False)
    return cut is not None and any(is_token for _, is_token in cut)


def one_line(text: str, limit: int, *, ascii_tokens: bool = False, secrets: bool = False) -> str:
    """Make text safe and at most `limit` terminal cells wide, on one line; longer text ends in `…`.

    Tokens and emoji are kept whole or left out, and secrets are masked. A long text is examined only as far as it can
    be shown, plus the reach of a secret.
    """
    if not secrets:
        text = _without_secrets(text[: limit * 16 + _BEYOND])
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    if limit <= 0:
        return ""
    ellipsis = "..." if ascii_tokens else "…"
    ellipsis = ellipsis[:limit]
    start = text[: limit + 1]
    if start.isascii() and start.isprintable():
        # Whatever follows can only change a character that is not shown.
        return text[: limit - len(ellipsis)] + ellipsis
    head = text[: limit * 16 + 16]
    parts: list[str] = []
    used = room = 0
    for piece, is_token in pieces(head, ascii_tokens=ascii_tokens):
        for cluster, width in [(piece, len(piece))] if is_token else _clusters(piece):
            used += width
            if used > limit:
                return "".join(parts[:room]) + ellipsis
            parts.append(cluster)
            if used + len(ellipsis) <= limit:
                room = len(parts)
    return "".join(parts) if len(head) == len(text) else "".join(parts[:room]) + ellipsis


def cell_width(text: str) -> int:
    """Return the width of safe text in terminal cells (ambiguous widths count one, an emoji sequence two)."""
    if text.isascii() or text.replace("…", "").isascii():  # cut text ends in one
        return len(text)
    return sum(width for _, width in _clusters(text))


def steady(text: str) -> str:
    """Replace emoji style selectors and skin tones by spaces, so that all terminals draw text `cell_width` wide."""
    if text.isascii() or not _UNSTEADY.intersection(text):
        return text
    parts = []
    for cluster, width in _clusters(text):
        plain = "".join(one for one in cluster if one not in _UNSTEADY) or cluster
        parts.append(plain + " " * (width - cell_width(plain)))
    return "".join(parts)


def _without_secrets(text: str) -> str:
    if len(text) < _SHORTEST_SECRET:
        return text
    from memtui.mask import shown  # with its patterns it is not loaded before there is something to draw

    return shown(text)


def _cut(text: str, *, keep_newlines: bool, keep_tabs: bool, ascii_tokens: bool) -> list[tuple[str, bool]] | None:
    suspects = _suspects(text)
    if keep_newlines:
        suspects.discard("\n")
    if keep_tabs:
        suspects.discard("\t")
    if not suspects:
        return None
    cut: list[tuple[str, bool]] = []
    start = run = 0
    for index, character in enumerate(text):
        if character not in suspects:
            run = 0
            continue
        kind = _kinds[character]
        if kind == _MARK:
            run += 1
            if run <= _MARK_RUN:
                continue
        elif kind == _JOINS and _belongs(text, index):
            continue
        if start < index:
            cut.append((text[start:index], False))
        start = index + 1
        if not (character == "\r" and keep_newlines and text[start : start + 1] == "\n"):
            cut.append((_token(character, ascii_tokens), True))
    if not start:
        return None
    if start < len(text):
        cut.append((text[start:], False))
    return cut


def _suspects(text: str) -> set[str]:
    if len(_plain) > 65_536:
        _plain.clear()
    if len(text) < 48:
        distinct = set(text)
    else:  # Dropping printable ASCII in one pass of C leaves little to look at in most texts.
        rest = text.encode("utf-8", "surrogatepass").translate(None, _PRINTABLE)
        distinct = set(rest.decode("utf-8", "surrogatepass"))
    distinct -= _plain
    suspects = set()
    for character in distinct:
        kind = _kinds.get(character) or _kind(character)
        if kind:
            _kinds[character] = kind
            suspects.add(character)
        else:
            _plain.add(character)
    return suspects


def _kind(character: str) -> int:
    code = ord(character)
    if code < 0x7F:
        return _HIDDEN if code < 0x20 else _PLAIN
    if code < 0xA0:
        return _HIDDEN
    if character == _ZWJ or _within(code, _SELECTORS) or _within(code, _TAGS):
        return _JOINS
    if _within(code, _INVISIBLE) or code & 0xFFFE == 0xFFFE:
        return _HIDDEN
    from unicodedata import category

    found = category(character)
    if found in ("Cf", "Zl", "Zp", "Cc"):
        return _HIDDEN
    return _MARK if found in ("Mn", "Me") else _PLAIN


def _belongs(text: str, index: int) -> bool:
    """Return whether a joiner, variation selector or tag is part of a real sequence, where it draws something."""
    character = text[index]
    code = ord(character)
    before = text[index - 1] if index else ""
    after = text[index + 1 : index + 2]
    if character == _ZWJ:
        if before == _EMOJI_STYLE and index > 1:
            before = text[index - 2]
        return _is_emoji(before) and _is_emoji(after)
    if _within(code, _TAGS):
        flag = text.rfind(_BLACK_FLAG, max(0, index - 6), index)
        return flag >= 0 and text.startswith(_FLAG_TAGS, flag + 1)
    if not before or (after and _within(ord(after), _SELECTORS)):
        return False
    base = ord(before)
    if character in (_TEXT_STYLE, _EMOJI_STYLE):
        return _is_emoji(before) or (before in "0123456789#*" and after == _KEYCAP)
    if code >= 0xE0100:
        return _within(base, _IDEOGRAPHS)
    return code <= 0xFE02 and (_within(base, _IDEOGRAPHS) or _within(base, _OPERATORS))


def _token(character: str, ascii_tokens: bool) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # A byte that was not UTF-8, as os.fsdecode gives it.
        return f"\\x{code - 0xDC00:02x}"
    if ascii_tokens:
        return f"\\x{code:02x}" if code < 0xA0 else f"<U+{code:04X}>"
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """Yield what a terminal draws as one unit, with its width in cells."""
    from unicodedata import category, east_asian_width

    start = width = 0
    joined = False
    for index, character in enumerate(text):
        code = ord(character)
        own = 1
        if character == _EMOJI_STYLE:
            width = 2 if index else 0
            continue
        if joined or character == _ZWJ or (0x1F3FB <= code <= 0x1F3FF and index and _is_emoji(text[index - 1])):
            joined = character == _ZWJ
            continue
        if code >= 0x300:
            found = category(character)
            if found in ("Mn", "Me", "Cf") or 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF:
                continue
            own = 2 if east_asian_width(character) in "WF" or (0x1F900 <= code <= 0x1FAFF and found == "Cn") else 1
        if index:
            yield text[start:index], width
        start, width = index, own
    if text:
        yield text[start:], width


def _is_emoji(character: str) -> bool:
    return bool(character) and (character in _EMOJI_SINGLES or _within(ord(character), _EMOJI_RANGES))


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    for first, last in ranges:  # noqa: SIM110 - any() would take twice as long, for each emoji of a text
        if first <= code <= last:
            return True
    return False


def end_of(text: str, width: int) -> str:
    """Return as much of the end of safe text as fits; a long text is examined only as far as it can be shown."""
    from bisect import bisect_left

    near = text[-reach(width) :]
    return near[bisect_left(range(len(near)), -width, key=lambda start: -cell_width(near[start:])) :]


def reach(width: int) -> int:
    """Return how many characters so many cells can show: more than cells, because accents take none."""
    return max(width, 0) * 4 + 16
