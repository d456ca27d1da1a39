"""Texts are kept by content as long as there is room, and read in bulk without believing what may still change."""

import os
import time
from pathlib import Path

import pytest

from memtui.engine.disk.paths import RootHandle
from memtui.engine.find.texts import Texts, decode, read_folded
from memtui.engine.model import Address, Memory, Root
from memtui.matching import Term, parse


def sha(number: int) -> str:
    return f"{number:064x}"


def term(words: str) -> Term:
    query = parse(f'"{words}"')
    return query.terms[0]


def test_what_is_kept_is_found_by_words_and_phrases() -> None:
    texts = Texts()
    assert texts.add(sha(1), "the blue button is here")
    assert texts.add(sha(2), "a button that is blue")
    assert texts.add(sha(2), "a button that is blue")
    assert len(texts) == 2
    assert set(texts.grades(term("button"))) == {0, 1}
    assert set(texts.grades(term("blue button"))) == {0}
    assert texts.grades(term("nowhere")) == {}
    assert texts.number(sha(2)) == 1
    assert texts.number(sha(3)) is None
    assert texts.number(None) is None


def test_a_phrase_is_found_among_many() -> None:
    texts = Texts()
    for number in range(400):
        texts.add(sha(number), f"one two {'three' if number % 2 else 'four'} end")
    assert len(texts.grades(term("two three"))) == 200
    assert texts.grades(term("three two")) == {}


def test_there_is_only_so_much_room() -> None:
    texts = Texts(room=3_000)
    added = [texts.add(sha(number), f"word{number} " * 20) for number in range(50)]
    assert any(added)
    assert not all(added)
    assert texts.bytes <= 3_000 + 1_000
    texts.forget()
    assert texts.bytes == 0
    assert len(texts) == 0
    assert not Texts(room=0).add(sha(1), "x")


def test_texts_nobody_has_any_more_are_forgotten_in_one_go() -> None:
    texts = Texts()
    for number in range(700):
        texts.add(sha(number), f"word{number}")
    texts.tidy(sha(number) for number in range(400))
    assert len(texts) == 700  # not worth it yet
    texts.tidy(sha(number) for number in range(100))
    assert len(texts) == 100
    assert set(texts.grades(term("word"))) == set(range(100))
    assert texts.number(sha(650)) is None


def test_bytes_that_are_no_utf_8_can_be_searched() -> None:
    assert decode(b"\xef\xbb\xbfa\xffb") == "a\ufffdb"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    (made / "below").mkdir(parents=True)
    for name, text in {"a.md": "Alpha\n\nBETA", "below/b.md": "Gamma", "below/c.md": "Delta"}.items():
        (made / name).write_text(text)
        then = time.time() - 60
        os.utime(made / name, (then, then))
    return made


def row(folder: Path, path: str) -> Memory:
    status = os.stat(folder / path)
    return Memory(Address("r", path), "global", "files", status.st_size, status.st_mtime_ns // 1_000_000, sha(1))


def test_memories_are_read_in_bulk(folder: Path) -> None:
    handle = RootHandle(Root("r", str(folder)))
    rows = [row(folder, path) for path in ("a.md", "below/b.md", "below/c.md")]
    later = time.time_ns() // 1_000_000 + 60_000
    found = {one.address.path: (text, true) for one, text, true in read_folded(rows, lambda _: handle, later)}
    assert found == {"a.md": ("alpha beta", True), "below/b.md": ("gamma", True), "below/c.md": ("delta", True)}


def test_what_changed_just_now_or_since_it_was_listed_is_not_taken_for_the_rows_text(folder: Path) -> None:
    handle = RootHandle(Root("r", str(folder)))
    now = time.time_ns() // 1_000_000
    (just,) = read_folded([row(folder, "a.md")], lambda _: handle, now)
    assert just[1:] == ("alpha beta", False)  # its status changed a moment ago
    (other,) = read_folded([row(folder, "a.md")._replace(bytes=1)], lambda _: handle, now + 60_000)
    assert other[2] is False


def test_what_cannot_be_read_is_left_out(folder: Path) -> None:
    handle = RootHandle(Root("r", str(folder)))
    rows = [row(folder, path) for path in ("a.md", "below/b.md")]
    (folder / "a.md").unlink()
    (folder / "a.md").symlink_to("below/b.md")
    missing = rows[1]._replace(address=Address("r", "gone/b.md"))
    found = list(read_folded([rows[0], missing, rows[1]], lambda _: handle, 0))
    assert [one.address.path for one, _, _ in found] == ["below/b.md"]
