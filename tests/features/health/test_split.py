"""Bringing an index under the line: no byte is lost, all that is left is loaded, and what belongs together stays so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Policy
from memtui.features.health.checks import named
from memtui.features.health.model import apply_edits
from memtui.features.health.split import HOOK, MISREAD, NO_PLACE, NO_ROOM, filled, split
from memtui.pointers.lines import measure, spans, surplus
from tests.features.health.folders import LINKS, entry
from tests.features.health.test_checks import FILES

INDEX, REST = "MEMORY.md", "MEMORY-more.md"
LINE = f"- [{REST}]({REST}) — {HOOK}\n"


def parted(
    text: str | bytes, policy: Policy, known: Sequence[str] = (), rests: Mapping[str, bytes] | None = None
) -> dict[str, bytes]:
    """What the files hold afterwards; nothing where there is no fix."""
    data, held = text.encode() if isinstance(text, str) else text, rests or {}
    fix, why = split(data, INDEX, policy, known, held)
    assert (fix is None) is bool(why)
    if fix is None:
        return {}
    files = {piece.path: filled(data, piece, held.get(piece.path, b"")) for piece in fix.pieces}
    return {INDEX: apply_edits(data, fix.edits), **files}


def texts(*given: object) -> dict[str, str]:
    """The same as text."""
    return {path: data.decode() for path, data in parted(*given).items()}  # type: ignore[arg-type]


def lines(first: int, last: int) -> str:
    """Entries of an index."""
    return "".join(entry(f"m{number}.md") for number in range(first, last))


def worded(data: bytes) -> list[bytes]:
    """The lines that are not blank."""
    return [line for line in data.split(b"\n") if line.strip()]


def limited(count: int) -> Policy:
    return LINKS._replace(index_lines=count)


def test_the_rest_goes_to_a_file_beside_it_that_a_line_names() -> None:
    assert texts(lines(0, 6), limited(4)) == {INDEX: lines(0, 3) + LINE, REST: lines(3, 6)}


def test_no_more_goes_than_has_to() -> None:
    policy = LINKS._replace(index_bytes=len((lines(0, 4) + LINE).encode()) - 1)
    assert texts(lines(0, 50), policy)[INDEX] == lines(0, 4) + LINE


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("* [A b](a.md): one\r\n* [C](c.md): two\r\n", f"* [MEMORY more]({REST}): {HOOK}\r\n"),
        ("1. [a.md](a.md)\n2. [c.md](c.md)\n", f"3. [{REST}]({REST}) — {HOOK}\n"),
    ],
)
def test_the_line_is_written_as_the_file_writes_its_own(head: str, line: str) -> None:
    files = texts(head + head, limited(3))
    assert files == {INDEX: head + line, REST: head}


def test_where_blank_lines_are_enough_no_second_file_is_made() -> None:
    text = "# Top\n\n\n\n" + entry("a.md") + "\n\r\n" + entry("b.md") + "\n" + entry("c.md")
    less = "# Top\n\n" + entry("a.md") + "\n" + entry("b.md") + "\n" + entry("c.md")
    assert texts(text, limited(7)) == {INDEX: less}
    assert list(texts(text + lines(0, 6), limited(9))) == [INDEX, REST]


def test_blank_lines_in_code_and_before_what_is_indented_stay() -> None:
    text = "```\na\n\n\nb\n```\n- a\n\n\n  more\n<!-- x\n\n\ny -->\n- b\n\n\n- c\n"
    assert surplus(text.encode(), spans(text.encode())) == [16]


def test_a_heading_goes_with_what_it_is_over() -> None:
    text = "# Top\n\n" + entry("a.md") + "\n## Below\n\n" + entry("b.md") + entry("c.md")
    assert texts(text, limited(7)) == {
        INDEX: "# Top\n\n" + entry("a.md") + "\n" + LINE,
        REST: "## Below\n\n" + entry("b.md") + entry("c.md"),
    }


def test_front_matter_and_a_byte_order_mark_stay() -> None:
    head = "\ufeff---\nname: x\n---\n"
    assert texts(head + lines(0, 5), limited(2)) == {INDEX: head + lines(0, 1) + LINE, REST: lines(1, 5)}


@pytest.mark.parametrize("known", [(REST,), ("memory-MORE.md",), (REST, "MEMORY-more-3.md")])
def test_a_name_that_is_taken_is_left_alone(known: tuple[str, ...]) -> None:
    assert list(texts(lines(0, 6), limited(4), known)) == [INDEX, "MEMORY-more-2.md"]


def test_a_file_for_the_rest_that_is_named_already_takes_in_more() -> None:
    head = lines(0, 2) + LINE
    held = {REST: lines(3, 6).encode().rstrip()}
    files = texts(head + lines(6, 9), limited(4), (REST,), held)
    assert files == {INDEX: head + lines(6, 7), REST: lines(3, 6) + lines(7, 9)}
    fix, _ = split((head + lines(6, 9)).encode(), INDEX, limited(4), (REST,), held)
    assert fix is not None
    assert [piece.sha256 for piece in fix.pieces] == [sha256(held[REST]).hexdigest()]


def test_one_that_is_named_only_below_the_line_goes_with_the_rest() -> None:
    files = texts(lines(0, 6) + LINE, limited(4), (REST,), {REST: b"- [x](x.md)\n"})
    assert files[INDEX].endswith(f"[MEMORY-more-2.md](MEMORY-more-2.md) — {HOOK}\n")
    assert files["MEMORY-more-2.md"] == lines(3, 6) + LINE


def test_one_that_is_full_or_ends_in_a_comment_gets_nothing_more() -> None:
    head = lines(0, 2) + LINE
    full = {REST: b"x" * 1_000}
    files = texts(head + lines(6, 9), limited(4)._replace(write_bytes=1_050), (REST,), full)
    assert list(files) == [INDEX, "MEMORY-more-2.md"]
    data = (head + lines(6, 9)).encode()
    assert split(data, INDEX, limited(4), (REST,), {REST: b"<!-- open\n"}) == (None, MISREAD)


def test_a_rest_that_is_more_than_may_be_written_goes_to_several_files() -> None:
    policy = limited(20)._replace(write_bytes=1_000)
    files = texts(lines(0, 200), policy)
    rests = [path for path in files if path != INDEX]
    assert rests[:2] == [REST, "MEMORY-more-2.md"]
    assert all(len(files[path].encode()) <= 1_000 for path in rests)
    kept = "".join(line for line in files[INDEX].splitlines(keepends=True) if "MEMORY-more" not in line)
    assert kept + "".join(files[path] for path in rests) == lines(0, 200)
    assert all(f"({path})" in files[INDEX] for path in rests)


@pytest.mark.parametrize(
    ("text", "policy", "why"),
    [
        ("```\n" + "code\n" * 9 + "```\n", limited(4), NO_PLACE),
        ("<!-- open\n" + lines(0, 9), LINKS._replace(index_lines=4, index_uncounted=()), NO_PLACE),
        ("- [a](a.md) " + "x" * 30_000, LINKS, NO_PLACE),
        ("word\n" * 9, LINKS._replace(index_lines=4, write_bytes=20), NO_PLACE),
        (lines(0, 9), LINKS._replace(index_bytes=60), NO_ROOM),
        (lines(0, 9), limited(1), NO_ROOM),
    ],
)
def test_where_there_is_none_it_is_said_why(text: str, policy: Policy, why: str) -> None:
    assert split(text.encode(), INDEX, policy, (), {}) == (None, why)


@given(FILES, st.integers(1, 8), st.sampled_from([10_000, 120]))
def test_nothing_is_lost_and_all_that_is_left_is_loaded(text: str, limit: int, most: int) -> None:
    policy = LINKS._replace(index_lines=limit, write_bytes=most)
    data = text.encode()
    if measure(data, policy).cut is None:
        return
    files = parted(data, policy)
    if not files:
        return
    index = files.pop(INDEX)
    assert measure(index, policy).cut is None
    if not files:
        assert worded(index) == worded(data)
        assert named(index, INDEX) == named(data, INDEX)
        return
    assert all(0 < len(rest) <= most for rest in files.values())
    moved = b"".join(files.values())
    kept = data.removesuffix(moved)
    assert kept + moved == data
    added = index.removeprefix(kept)
    assert kept + added == index
    assert added.count(b"MEMORY-more") == 2 * len(files) or added.count(b"](MEMORY-more") == len(files)
    assert named(index, INDEX).union(*(named(rest, path) for path, rest in files.items())) == named(data, INDEX) | (
        files.keys()
    )


@given(st.binary(max_size=400), st.integers(1, 5))
def test_any_bytes_at_all_are_parted_or_not(data: bytes, limit: int) -> None:
    policy = LINKS._replace(index_lines=limit)
    if measure(data, policy).cut is not None:
        files = parted(data, policy)
        index = files.pop(INDEX, data)
        assert data.endswith(b"".join(files.values()))
        assert files or worded(index) == worded(data)
        assert (measure(index, policy).cut is None) is (index != data)
