"""Sizes, ages, counts and paragraphs as people read them."""

from memtui.safe_text import cell_width


def size(count: int) -> str:
    """Write a number of bytes, such as `812 B`, `3.4 KB`, `12 MB`."""
    if count < 1000:
        return f"{count} B"
    amount = float(count)
    for unit in ("KB", "MB", "GB"):
        amount /= 1024
        if amount < 999.5 or unit == "GB":
            return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:,.0f} {unit}"
    raise AssertionError("unreachable")


def age(ms: int, now: int) -> str:
    """Write how long ago a time was, such as `12s`, `5m`, `3h`, `2d`, `6w`, `4y`; `future` when it is not yet."""
    seconds = (now - ms) // 1000
    if seconds < -60:
        return "future"
    for limit, unit, length in (
        (60, "s", 1),
        (3_600, "m", 60),
        (86_400, "h", 3_600),
        (1_209_600, "d", 86_400),
        (63_072_000, "w", 604_800),
    ):
        if seconds < limit:
            return f"{max(seconds, 0) // length}{unit}"
    return f"{seconds // 31_536_000}y"


def count(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun: `1 memory`, `3 memories`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def wrapped(text: str, width: int) -> list[str]:
    """Break a safe text between words into lines of at most so many cells; a longer word stays whole."""
    lines, line, used = [], "", 0
    for word in text.split():
        cells = cell_width(word)
        if line and used + 1 + cells > width:
            lines.append(line)
            line, used = word, cells
        else:
            line, used = (f"{line} {word}", used + 1 + cells) if line else (word, cells)
    return [*lines, line] if line else lines
