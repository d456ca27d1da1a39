"""Which lines an entry is made of."""

from hypothesis import given

from memtui.pointers.index import parse
from memtui.pointers.lines import spans
from memtui.pointers.rewrite import entry_cuts
from tests.pointers.samples import files


@given(files)
def test_lines_cover_the_file(data: bytes) -> None:
    assert b"".join(data[start:end] for start, end in spans(data)) == data
    assert all(data[start:end].find(b"\n") in (-1, end - start - 1) for start, end in spans(data))


@given(files)
def test_cuts_lie_side_by_side_and_hold_the_link(data: bytes) -> None:
    pointers = parse(data, "MEMORY.md")
    for number in {one.line for one in pointers}:
        mine = [one for one in pointers if one.line == number]
        cuts = entry_cuts(data, spans(data), number, mine, {mine[0].start})
        for start, end in cuts:
            assert start <= mine[0].start < mine[0].end <= end <= len(data)


def test_a_line_with_carriage_returns_in_it_stays() -> None:
    data = b"- [a](a.md)\rText\r"
    assert entry_cuts(data, spans(data), 0, parse(data, "MEMORY.md"), {2}) == []
