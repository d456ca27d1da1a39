"""Lines for an index: each is read back as meant, and many of them take no more than their share of the time."""

from memtui.engine.model import Address
from memtui.features.transfer.index_lines import Mention, mentions, with_lines
from memtui.features.transfer.model import Transfer
from memtui.pointers.index import parse
from tests.features.transfer.agents import root
from tests.growth import growth

CLAUDE = root("claude-code")
FEW, MANY = 300, 3_000
MOST = 30
"""How many times as long ten times as many take; a hundred when each line reads the whole index."""


def items(names: list[str]) -> list[Transfer]:
    """Return memories that arrive."""
    return [Transfer(Address("old", name), Address(CLAUDE.id, name), b"", b"Text.\n") for name in names]


def test_only_names_that_cannot_be_written_get_no_line_wherever_they_stand() -> None:
    bad = ["a\u2028b.md", "\udcff.md"]
    good = [f"m{number}.md" for number in range(20)]
    names = [bad[0], *good[:7], bad[1], *good[7:]]
    data, unwritten = with_lines(b"- [x](x.md)\n", "MEMORY.md", CLAUDE, items([*names, "x.md"]), {})
    assert [pointer.path for pointer in parse(data, "MEMORY.md")] == ["x.md", *good]
    assert sorted(unwritten) == sorted(bad)
    assert with_lines(data, "MEMORY.md", CLAUDE, items(good), {}) == (data, [])


def test_a_hook_that_would_swallow_the_lines_below_it_does_not() -> None:
    said = {Address("old", "m1.md"): Mention("t", "<!-- `` ``` [a](b.md) -->")}
    names = [f"m{number}.md" for number in range(4)]
    data, unwritten = with_lines(b"", "MEMORY.md", CLAUDE, items(names), said)
    found = {pointer.path for pointer in parse(data, "MEMORY.md")}
    assert found & {*names} == {*names} - {*unwritten}


def test_what_the_rest_of_an_index_says_counts_after_the_index() -> None:
    held = {
        "MEMORY.md": b"- [One](a.md) - of a\n",
        "MEMORY-more.md": b"- [Two](a.md) - again\n- [B](b.md) - of b\n",
        "notes-more.md": b"- [C](c.md) - of c\n",
    }
    present = dict.fromkeys((*held, "a.md", "b.md", "c.md"))
    found = mentions(held.__getitem__, CLAUDE.policy, ["a.md", "b.md", "c.md"], present)
    assert found == {"a.md": Mention("One", "of a"), "b.md": Mention("B", "of b")}


def test_the_time_grows_with_the_lines() -> None:
    coming = {size: items([f"m{number}.md" for number in range(size)]) for size in (FEW, MANY)}

    def lines(size: int) -> None:
        data, _ = with_lines(b"", "MEMORY.md", CLAUDE, coming[size], {})
        assert data.count(b"\n") == size

    assert growth(lines, FEW, MANY) < MOST
