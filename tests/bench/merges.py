"""Merging: as fast as two plain comparisons with `difflib`, and no text whose size makes it slower than its size.

The texts are the ones that make comparisons quadratic: every line equal, every line different, one line only, few
different lines in any order, and a blank line after every changed one.
"""

import difflib
import random
from collections.abc import Callable, Iterator
from functools import partial

from memtui.diff.merge import merge3
from memtui.workbench.edit.merge.conflict_lines import MergedFile, place_lines
from memtui.workbench.edit.merge.decisions import MergeSession
from tests.bench.case import Case, Figure, Plan, compare, duration, median_of

Texts = tuple[str, str, str]

OF_DIFFLIB = 2.0
GROWTH = 40.0
"""Ten times the text may take this many times as long; a quadratic merge would take a hundred times."""
DRAWN_MS = 250.0
"""A place of 100 KB is drawn within this, so that nothing is seen to wait."""


def cases(plan: Plan) -> Iterator[Case]:
    """Ordinary texts against `difflib`, hard texts against themselves, and what is drawn of them."""
    rounds = plan.pick(5, 11)
    texts = ordinary(100)
    ours = partial(merge3, *texts)
    yield Case(
        "merge", "100 KB", lambda: compare(ours, partial(twice, texts), rounds=rounds, name="difflib"), OF_DIFFLIB
    )
    for what, make in HARD.items():
        for small in (1, 10):
            size = f"{small} to {10 * small} KB"
            yield Case(f"merge, {what}", size, partial(growth, make, small, rounds), GROWTH)
        one, two, three = make(100)
        session = MergeSession.of(one.encode(), two.encode(), three.encode())
        held = not plan.short and what != FEW  # 20,000 changed lines in one place are read by nobody
        yield Case(f"draw, {what}", "100 KB", partial(drawn, session, rounds), DRAWN_MS if held else None, "ms")


def twice(texts: Texts) -> list[object]:
    """What a merge cannot do without: both sides compared with the base."""
    base, *sides = (text.splitlines(keepends=True) for text in texts)
    return [difflib.SequenceMatcher(None, base, side, autojunk=False).get_opcodes() for side in sides]


def growth(make: Callable[[int], Texts], small: int, rounds: int) -> Figure:
    """How many times as long ten times the text takes."""
    little, much = make(small), make(10 * small)
    batch = 20 if small == 1 else 2
    return compare(partial(merge3, *much), partial(merge3, *little), rounds=rounds, name=f"{small} KB", batch=batch)


def drawn(session: MergeSession, rounds: int) -> Figure:
    """How long the first place and the whole file take to draw."""
    places = session.hunks[:1]

    def draw() -> None:
        MergedFile().lines(session, 0, 119)
        for place in places:
            place_lines(session, place, 119, beside=True)

    seconds = median_of(draw, rounds)
    return Figure(seconds * 1000, seconds * 1000, seconds * 1000, duration(seconds))


def ordinary(kilobytes: int) -> Texts:
    """A text in which each side changed every fourteenth line and put as many in."""
    rolls = random.Random(3)
    base = [
        f"- {rolls.choice(['use', 'avoid', 'see', ''])} {rolls.randrange(900)} and more words\n"
        for _ in range(42 * kilobytes)
    ]

    def changed() -> str:
        lines = list(base)
        for _ in range(max(1, len(base) // 14)):
            lines[rolls.randrange(len(lines))] = f"changed {rolls.randrange(10**6)}\n"
            lines.insert(rolls.randrange(len(lines)), "\n")
        return "".join(lines)

    return "".join(base), changed(), changed()


def _all_equal(kilobytes: int) -> Texts:
    lines = 200 * kilobytes  # 20,000 of them at 100 KB
    return "same\n" * lines, "same\n" * (lines - 3), "same\n" * (lines + 5)


def _all_different(kilobytes: int, between: str = "") -> Texts:
    base, yours, theirs = (
        "".join(f"{side} {n} and some words\n{between}" for n in range(42 * kilobytes))
        for side in ("base", "my", "the")
    )
    return base, yours, theirs


def _one_line(kilobytes: int) -> Texts:
    return "a " * 512 * kilobytes, "b " * 512 * kilobytes, "c " * 512 * kilobytes


def _few_words(kilobytes: int) -> Texts:
    base, yours, theirs = (
        "".join(random.Random(seed).choices(["aaaa\n", "bbbb\n", "cccc\n"], k=200 * kilobytes)) for seed in (1, 2, 3)
    )
    return base, yours, theirs


FEW = "three different lines"
HARD: dict[str, Callable[[int], Texts]] = {
    "all lines equal": _all_equal,
    "all lines different": _all_different,
    "one line": _one_line,
    FEW: _few_words,
    "blank lines between": partial(_all_different, between="\n"),
}
"""What makes comparisons slow, by what it is."""
