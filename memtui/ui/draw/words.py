"""Text that fits into cells: made safe before it is measured, and cut at the end that matters less."""

from __future__ import annotations

from memtui.safe_text import cell_width, end_of, one_line, visible


def fit(text: str, width: int, *, plain: bool = False, right: bool = False) -> str:
    """Make text safe and exactly `width` cells wide."""
    if width <= 0:
        return ""
    cut = one_line(text, width, ascii_tokens=plain)
    pad = " " * (width - cell_width(cut))
    return pad + cut if right else cut + pad


def end_of_line(text: str, width: int, *, plain: bool = False) -> str:
    """Make text safe and at most `width` cells wide, keeping its end: the name of a path."""
    safe = visible(text, ascii_tokens=plain)
    if cell_width(safe) <= width:
        return safe
    dots = "..." if plain else "…"
    return (dots + end_of(safe, width - len(dots)))[: max(width, 1)]


def both_ends(text: str, width: int, *, plain: bool = False) -> str:
    """Make text safe and at most `width` cells wide, keeping both ends: root and name of an address."""
    safe = visible(text, ascii_tokens=plain)
    if cell_width(safe) <= width:
        return safe
    head, slash, name = safe.rpartition("/")
    wanted = cell_width(slash + name) if head else 0
    end = end_of(safe, min(max(wanted, width // 2), width * 3 // 4))
    return one_line(safe, width - cell_width(end), ascii_tokens=plain) + end


def partly_done(past: str, good: int, count: int, failed: str, why: str) -> str:
    """Say how much of an operation was done and why not all: `Moved 2 of 3 to the trash. a.md failed: ...`.

    `past` is the verb in the past and what belongs to it, `failed` the first that failed, `why` a sentence.
    """
    verb, space, rest = past.partition(" ")
    reason = why if failed in why else f"{failed} failed: {why}"
    return f"{verb.capitalize()} {good} of {count}{space}{rest}. {reason}"


def count_words(count: int, word: str) -> str:
    """Format a count: `1 file`, `9 files`, `2 memories`."""
    plural = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{count:,} {word if count == 1 else plural}"


def size_words(size: int) -> str:
    """Format a size: `912 B`, `2.1 kB`, `88 kB`, `1.4 MB`."""
    if size < 1000:
        return f"{size} B"
    for unit in ("kB", "MB", "GB"):
        size_in = size / 1000
        if size_in < 1000 or unit == "GB":
            return f"{size_in:.1f} {unit}" if size_in < 10 else f"{size_in:.0f} {unit}"
        size //= 1000
    return ""


def meter(part: int, whole: int, cells: int) -> str:
    filled = max(min(round(part / whole * cells) if whole else 0, cells), 1 if part else 0)
    return f"[{'#' * filled}{'.' * (cells - filled)}]"
