"""A session file is read on from where an earlier look ended, or anew when it is another, in bounded memory."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.ledger.touches import SessionCursor
from memtui.engine.policy import Policy, Root
from memtui.transcripts import follow as module
from memtui.transcripts.follow import FOREIGN, GONE, LARGE, LINK, REFUSED, SPECIAL, follow, needles, skim
from memtui.transcripts.readers import READERS
from tests.transcripts import made

CLAUDE = READERS["claude-code"]
LINES = [made.lines([record]) for _, make in made.SESSIONS.values() for record in make()]


def prompt(number: int, text: str = "") -> made.Record:
    """Give a turn that grows from the one before."""
    return made.claude(number, number - 1 or None, "user", text or f"turn {number}")


def texts(file: Path, cursor: SessionCursor | None = None) -> tuple[list[str], SessionCursor]:
    """Read on, and give what was said."""
    found = follow(str(file), CLAUDE, cursor)
    assert found.cursor is not None
    return [event.text for event in found.events], found.cursor


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A session of three turns."""
    return made.write(tmp_path / "s.jsonl", map(prompt, (1, 2, 3)))


def test_only_what_is_new_is_read(file: Path) -> None:
    said, cursor = texts(file)
    assert said == ["turn 1", "turn 2", "turn 3"]
    assert cursor.offset == file.stat().st_size
    assert texts(file, cursor) == ([], cursor)
    with file.open("ab") as out:
        out.write(made.lines([prompt(4)]))
    said, cursor = texts(file, cursor)
    assert said == ["turn 4"]


def test_half_a_line_waits_for_its_rest(file: Path) -> None:
    _, cursor = texts(file)
    line = made.lines([prompt(4, "ä" * 10)])
    for cut in (1, len(line) // 2, len(line) - 1):
        with file.open("r+b") as out:
            out.seek(cursor.offset)
            out.write(line[:cut])
        assert texts(file, cursor) == ([], cursor)
    file.write_bytes(file.read_bytes() + b"\n")
    assert texts(file, cursor)[0] == ["ä" * 10]


def rewritten(file: Path) -> None:
    """Write it anew with other turns, in the same file."""
    file.write_bytes(file.read_bytes().replace(b"turn 1", b"Turn 1"))


def changed_behind_the_head(file: Path) -> None:
    """Change the end of what was read."""
    file.write_bytes(file.read_bytes().replace(b"turn 3", b"Turn 3"))


def truncated(file: Path) -> None:
    """Cut it."""
    file.write_bytes(made.lines([prompt(1)]))


def rotated(file: Path) -> None:
    """Put another file in its place, with the same beginning."""
    data = file.read_bytes()
    file.rename(file.with_suffix(".old"))
    file.write_bytes(data)


@pytest.mark.parametrize("change", [rewritten, changed_behind_the_head, truncated, rotated])
def test_another_file_is_read_from_its_beginning(file: Path, change: object) -> None:
    assert callable(change)
    _, cursor = texts(file)
    change(file)
    found = follow(str(file), CLAUDE, cursor)
    assert found.whole
    assert [event.text for event in found.events] == texts(file)[0]
    assert follow(str(file), CLAUDE._replace(version=2), found.cursor).whole


def test_a_turn_that_was_rolled_back_after_it_was_read_makes_all_be_read_again(file: Path) -> None:
    _, cursor = texts(file)
    with file.open("ab") as out:
        out.write(made.lines([made.claude(4, 2, "user", "in place of turn 3")]))
    found = follow(str(file), CLAUDE, cursor)
    assert found.whole
    assert [event.text for event in found.events] == ["turn 1", "turn 2", "in place of turn 3"]


def test_a_long_file_is_read_in_slices(tmp_path: Path) -> None:
    file = made.write(tmp_path / "s.jsonl", (prompt(number, "x" * 5000) for number in range(1, 700)))
    count, looks, cursor = 0, 0, None
    while cursor is None or cursor.offset < file.stat().st_size:
        found = follow(str(file), CLAUDE, cursor, most=1_000_000)
        assert found.whole == (cursor is None)
        count, looks, cursor = count + len(found.events), looks + 1, found.cursor
    assert count == 699
    assert looks > 2


def test_a_line_of_50_mb_is_passed_over_in_bounded_memory(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    with file.open("wb") as out:
        out.write(made.lines([prompt(1)]))
        for _ in range(50):
            out.write(b"x" * 1_048_576)
        out.write(b"\n" + made.lines([prompt(2)]))
    tracemalloc.start()
    found = follow(str(file), CLAUDE, most=1)
    rest = follow(str(file), CLAUDE, found.cursor)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * module.MAX_LINE
    assert [event.text for event in (*found.events, *rest.events)] == ["turn 1", "turn 2"]
    assert (found.broken + rest.broken, rest.cursor and rest.cursor.offset) == (1, file.stat().st_size)


def test_lines_that_are_no_records_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    bad = [b"\xff\xfe", b"[1]", b"{", b"nul", b"[" * 100_000, b'{"type": ' + b"9" * 5_000 + b"}", b"\x00", b'"x"']
    lone = json.dumps(prompt(1, "a \ud800 b")).encode()
    fine = [lone, b"", b"\xef\xbb\xbf" + lone, b'{"type": "never seen"}', b'{"type": NaN}', lone.replace(b"u1", b"u2")]
    file.write_bytes(b"\n".join([*bad, *fine]) + b"\n")
    found = follow(str(file), CLAUDE)
    assert [event.text for event in found.events] == ["a ? b"] * len(found.events)
    assert found.events
    assert (found.unknown, found.broken) == (2, len(bad) + 1)


@pytest.mark.parametrize("agent", READERS)
@given(parts=st.lists(st.binary(max_size=30) | st.sampled_from(LINES), max_size=12), most=st.integers(1, 3_000))
def test_any_bytes_are_read_to_their_last_line_feed(
    agent: str, parts: list[bytes], most: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("any") / "s.jsonl"
    data = b"".join(parts)
    file.write_bytes(data)
    cursor: SessionCursor | None = None
    for _ in range(len(parts) + 2):
        found = follow(str(file), READERS[agent], cursor, most=most)
        assert found.cursor is not None
        assert all(0 <= event.offset < event.offset + event.length <= found.cursor.offset for event in found.events)
        cursor = found.cursor
    assert cursor is not None
    assert cursor.offset == data.rfind(b"\n") + 1
    assert follow(str(file), READERS[agent], cursor).events == ()


def test_what_is_no_plain_file_of_ours_is_left_alone(tmp_path: Path, file: Path) -> None:
    cursor = follow(str(file), CLAUDE).cursor
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(file)
    with (tmp_path / "large").open("wb") as out:
        out.truncate(2**31)
    made.write(tmp_path / "closed", []).chmod(0)
    expected = {"fifo": SPECIAL, "link": LINK, "large": LARGE, "missing": GONE, ".": SPECIAL, "s.jsonl/x": GONE}
    if os.getuid():
        expected["closed"] = REFUSED
    for name, why in expected.items():
        found = follow(str(tmp_path / name), CLAUDE, cursor)
        assert (found.skipped, found.events, found.cursor) == (why, (), cursor), name
    if not os.getuid():
        os.chown(file, 12345, -1)
        assert follow(str(file), CLAUDE, cursor).skipped == FOREIGN


def test_a_file_is_skimmed_across_chunks_in_constant_memory_and_from_where_the_last_look_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = needles([Root("a", "/h/.claude/mem ö"), Root("b", "/w", policy=Policy(include=("AGENTS.md", "rules/")))])
    assert {form for _, forms in words for form in forms} >= {
        b"mem \\u00f6/",
        '/mem ö"'.encode(),
        b"AGENTS.md",
        b"rules/",
    }
    file = tmp_path / "s.jsonl"
    size = 64 * 1_048_576
    with file.open("wb") as out:
        for _ in range(size // 1_048_576):
            out.write((b'{"a": "nothing here"}' + b" " * 78 + b"\n") * 10_485 + b"\n" * 76)
    tracemalloc.start()
    found, cursor = skim(str(file), words, CLAUDE)
    assert tracemalloc.get_traced_memory()[1] < 8 * 1_048_576
    tracemalloc.stop()
    assert not found
    assert cursor is not None
    assert cursor.offset == file.stat().st_size
    monkeypatch.setattr(module, "_CHUNK", 16)
    with file.open("ab") as out:
        out.write(b"1234567 see AGENTS.md of it")
    assert skim(str(file), words, CLAUDE, cursor) == (True, cursor)
    os.truncate(file, 5)
    assert skim(str(file), words, CLAUDE, cursor)[0] is False
    file.unlink()
    assert skim(str(file), words, CLAUDE, cursor) == (False, cursor)
