"""Differences between two texts as data: a unified diff, changed lines, and changed words.

Only a line feed ends a line, so that changed line ends, form feeds and final newlines stay visible. All results are
text of a memory, and hostile until a front has made it safe.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memtui.diff.lines import EqualRun, matching, split_lines

SAME, REMOVED, ADDED = "same", "removed", "added"
NO_NEWLINE = "\\ No newline at end of file"

_WORD = re.compile(r"[^\W\u2e80-\U0003ffff]+|\s+|.", re.DOTALL)
"""Words, blanks, and every other character by itself, including scripts without blanks between words."""
_MOST_WORDS = 40_000


class LineChange(NamedTuple):
    """One line of a comparison, in reading order: removed lines precede the lines added for them."""

    kind: str
    """`same`, `removed` or `added`."""
    text: str
    """Without its line feed; a carriage return before it stays."""
    base_line: int | None
    """From 1; None for `added`."""
    other_line: int | None
    """From 1; None for `removed`."""
    ended: bool = True
    """False for a last line without a line feed."""


Span = tuple[int, int]
"""Character offsets (start, end)."""


def line_changes(base: str, other: str) -> list[LineChange]:
    """Compare a text with its base, line by line: every line of both, unchanged ones once."""
    old, new = split_lines(base), split_lines(other)
    found: list[LineChange] = []
    a = b = 0
    for run in [*matching(old, new), EqualRun(len(old), len(new), 0)]:
        found += [_change(REMOVED, old[at], at + 1, None) for at in range(a, run.a)]
        found += [_change(ADDED, new[at], None, at + 1) for at in range(b, run.b)]
        found += [_change(SAME, old[run.a + n], run.a + n + 1, run.b + n + 1) for n in range(run.size)]
        a, b = run.a + run.size, run.b + run.size
    return found


def unified(a: str, b: str, from_label: str, to_label: str, *, context: int = 3, secrets: bool = False) -> list[str]:
    """Compare two texts as `diff -u` does, as lines without line feeds; `secrets` leaves secrets unmasked."""
    from memtui.mask import BEGIN, shown  # with its patterns it is loaded by the first difference that is shown

    changes = line_changes(a, b)
    old, new = ([] if secrets else shown(text).split("\n") for text in (a, b))
    lines: list[str] = []
    at = before = after = 0
    for start, end in _groups([change.kind != SAME for change in changes], context):
        skipped, group = changes[at:start], changes[start:end]
        before, after = before + len(skipped), after + len(skipped)
        removed = sum(change.kind != ADDED for change in group)
        added = sum(change.kind != REMOVED for change in group)
        lines.append(f"@@ -{_range(before, removed)} +{_range(after, added)} @@")
        at, before, after = end, before + removed, after + added
        for change in group:
            masked, number = (old, change.base_line) if change.kind == REMOVED else (new, change.other_line)
            text = masked[(number or 1) - 1] if masked else change.text
            text = text or (f"{BEGIN}secret]" if change.text else "")  # a line of a block that was masked above
            lines.append({SAME: " ", REMOVED: "-", ADDED: "+"}[change.kind] + text)
            if not change.ended:
                lines.append(NO_NEWLINE)
    return [f"--- {from_label}", f"+++ {to_label}", *lines] if lines else []


def unified_file(name: str, before: bytes | None, after: bytes | None, *, secrets: bool = False) -> list[str]:
    """Compare a file with its earlier content, as `unified` does; None where there is none."""
    old, new = ((data or b"").decode("utf-8", "replace") for data in (before, after))
    labels = ("/dev/null" if data is None else name for data in (before, after))
    return unified(old, new, *labels, secrets=secrets)


def word_spans(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """Find the spans of changed words in both texts; words with only blanks between them are one span."""
    sides: tuple[list[Span], list[Span]] = ([], [])
    ends = [0, 0]
    for kind, piece in word_edits(old, new):
        for side, (text, absent) in enumerate(((old, ADDED), (new, REMOVED))):
            if kind == absent:
                continue
            start, ends[side] = ends[side], ends[side] + len(piece)
            if kind == SAME:
                continue
            spans = sides[side]
            if spans and not text[spans[-1][1] : start].strip():
                start, _ = spans.pop()
            spans.append((start, ends[side]))
    return sides


def word_edits(old: str, new: str) -> list[tuple[str, str]]:
    """Return how one text became another, as (kind, text) pieces in reading order.

    The kinds are `same`, `removed`, `added`.
    """
    words = [_WORD.findall(text) for text in (old, new)]
    if max(len(side) for side in words) > _MOST_WORDS:
        return [piece for piece in ((REMOVED, old), (ADDED, new)) if piece[1]]
    pieces: list[tuple[str, str]] = []
    a = b = 0
    for run in [*matching(*words), EqualRun(len(words[0]), len(words[1]), 0)]:
        for kind, found in (
            (REMOVED, words[0][a : run.a]),
            (ADDED, words[1][b : run.b]),
            (SAME, words[0][run.a : run.a + run.size]),
        ):
            if found:
                pieces.append((kind, "".join(found)))
        a, b = run.a + run.size, run.b + run.size
    return pieces


def _change(kind: str, line: str, base_line: int | None, other_line: int | None) -> LineChange:
    ended = line.endswith("\n")
    return LineChange(kind, line[:-1] if ended else line, base_line, other_line, ended)


def _groups(changed: list[bool], context: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of lines to show: each change with its context, adjacent ones joined."""
    start = end = -1
    for at, is_changed in enumerate(changed):
        if not is_changed:
            continue
        if start >= 0 and at - context <= end:
            end = at + context + 1
            continue
        if start >= 0:
            yield start, min(end, len(changed))
        start, end = max(0, at - context), at + context + 1
    if start >= 0:
        yield start, min(end, len(changed))


def _range(before: int, size: int) -> str:
    start = before + 1 if size else before
    return str(start) if size == 1 else f"{start},{size}"
