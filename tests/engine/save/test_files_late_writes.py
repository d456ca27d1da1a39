"""Files displaced while somebody had them open: what is written into them is told once, and nothing waits for long."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine.disk import fsio
from memtui.engine.save import files
from memtui.engine.save.files import Displaced, LateWrites
from tests.faults.world import at, handles, sha

Late = list[tuple[Displaced, bytes | None]]


@pytest.fixture
def late() -> Late:
    return []


@pytest.fixture
def keeper(late: Late) -> Iterator[LateWrites]:
    keeper = LateWrites(lambda displaced, data: late.append((displaced, data)))
    yield keeper
    keeper.drain()


def displaced(path: Path, *, before: bytes | None = None) -> Displaced:
    """A file that has just lost its name."""
    data = path.read_bytes() if before is None else before
    found = Displaced(os.open(path, os.O_RDONLY), at("a.md"), 1, sha(data), sha(b"ours"), "cli")
    path.unlink()
    return found


def test_a_file_nobody_writes_is_let_go(tmp_path: Path, keeper: LateWrites, late: Late) -> None:
    before = handles(tmp_path)
    for number in range(10):
        (tmp_path / "a").write_bytes(b"%d" % number)
        keeper.take(displaced(tmp_path / "a"))
    keeper.drain()
    assert not late
    assert handles(tmp_path) == before


def test_what_is_written_after_the_file_was_displaced_is_told_once(
    tmp_path: Path, keeper: LateWrites, late: Late
) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with (tmp_path / "a").open("r+b") as writer:
        keeper.take(displaced(tmp_path / "a"))
        writer.write(b"late")
    keeper.drain()
    assert [data for _, data in late] == [b"late"]


def test_a_writer_that_writes_nothing_is_no_news(tmp_path: Path, keeper: LateWrites, late: Late) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with (tmp_path / "a").open("r+b"):
        keeper.take(displaced(tmp_path / "a"))
    keeper.drain()
    assert not late


def test_a_text_that_was_never_stored_is_told_whatever_it_is(tmp_path: Path, keeper: LateWrites, late: Late) -> None:
    (tmp_path / "a").write_bytes(b"")
    found = displaced(tmp_path / "a")._replace(before="")
    keeper.take(found)
    keeper.drain()
    assert [data for _, data in late] == [b""]


def test_a_writer_that_never_ends_is_waited_for_two_seconds_at_most(
    tmp_path: Path, keeper: LateWrites, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LAST_LOOK", 0.1)
    (tmp_path / "a").write_bytes(b"old")
    with (tmp_path / "a").open("r+b", buffering=0) as writer:
        keeper.take(displaced(tmp_path / "a"))
        writer.write(b"half")
        started = time.monotonic()
        keeper.drain()
        assert time.monotonic() - started < 10
    assert [data for _, data in late] == [b"half"]


def test_where_the_system_cannot_tell_a_quarter_of_a_second_is_enough(
    tmp_path: Path, keeper: LateWrites, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fsio, "has_writer", lambda handle: None)
    monkeypatch.setattr(files, "FIRST_LOOK", 0.05)
    before = handles(tmp_path)
    (tmp_path / "a").write_bytes(b"old")
    with (tmp_path / "a").open("r+b", buffering=0) as writer:
        keeper.take(displaced(tmp_path / "a"))
        writer.write(b"new")
    keeper.drain()
    assert [data for _, data in late] == [b"new"]
    assert handles(tmp_path) == before


def test_a_file_that_cannot_be_read_is_said_to_be_so(
    tmp_path: Path, keeper: LateWrites, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int, size: int) -> bytes:
        raise OSError(5, "no")

    monkeypatch.setattr(fsio, "read_all", refuse)
    (tmp_path / "a").write_bytes(b"old")
    before = handles(tmp_path)
    keeper.take(displaced(tmp_path / "a"))
    keeper.drain()
    assert [data for _, data in late] == [None]
    assert handles(tmp_path) == before


def test_what_is_handed_over_while_others_wait_is_not_let_go_with_what_they_wait_for(
    tmp_path: Path, keeper: LateWrites, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"old")
    looks = []

    def cannot_tell(handle: int) -> None:
        if threading.current_thread() is threading.main_thread():
            looks.append(handle)
            if len(looks) == 2:
                keeper.take(displaced(tmp_path / "b"))

    monkeypatch.setattr(fsio, "has_writer", cannot_tell)
    monkeypatch.setattr(files, "FIRST_LOOK", 0.05)
    monkeypatch.setattr(files, "LAST_LOOK", 60.0)
    with (tmp_path / "b").open("r+b", buffering=0) as writer:
        keeper.take(displaced(tmp_path / "a"))
        keeper.drain()
        writer.write(b"new")
    keeper.drain()
    assert [data for _, data in late] == [b"new"]
