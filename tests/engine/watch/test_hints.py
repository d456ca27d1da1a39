"""Whatever tells of changes, it tells which name in which folder, says when it cannot, and never ends the watch."""

import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memtui.engine.watch.hints import Batch, KernelSource, LibrarySource, NoSource, Place, Source, open_source, reason

linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")

LIMIT = 10.0


@pytest.fixture(params=[pytest.param(KernelSource, marks=linux), LibrarySource])
def source(request: pytest.FixtureRequest) -> Iterator[Source]:
    """Each source in turn."""
    made: Source = request.param()
    yield made
    made.close()


@pytest.fixture
def kernel() -> Iterator[KernelSource]:
    """The kernel's own."""
    made = KernelSource()
    yield made
    made.close()


def heard(source: Source, act: Callable[[], object], *wanted: tuple[Place, str]) -> set[tuple[Place, str]]:
    """Do something again and again until all of it is heard of; everything that was heard."""
    found: set[tuple[Place, str]] = set()
    end = time.monotonic() + LIMIT
    while not found >= set(wanted):
        assert time.monotonic() < end, f"only {found}"
        act()
        batch = source.wait(0.3)
        assert not batch.broken
        found |= set(batch.hints)
    return found


def test_a_write_in_a_followed_folder_is_heard(source: Source, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert source.follow({("r", ""): str(tmp_path), ("r", "sub"): str(tmp_path / "sub")}) == {("r", ""), ("r", "sub")}
    found = heard(source, lambda: (tmp_path / "sub" / "a.md").write_text(str(time.monotonic())), (("r", "sub"), "a.md"))
    assert not {name for place, name in found if place == ("r", "") and name not in ("", "sub")}


def test_a_folder_that_belongs_to_two_roots_is_heard_for_both(source: Source, tmp_path: Path) -> None:
    source.follow({("r", ""): str(tmp_path), ("s", ""): str(tmp_path)})
    heard(
        source,
        lambda: (tmp_path / "a.md").write_text(str(time.monotonic())),
        (("r", ""), "a.md"),
        (("s", ""), "a.md"),
    )


def test_names_the_platform_s_filters_hide_are_heard(source: Source, tmp_path: Path) -> None:
    folder = tmp_path / "node_modules" / "x"
    folder.mkdir(parents=True)
    source.follow({("r", ""): str(folder)})
    heard(source, lambda: (folder / "a.md").write_text(str(time.monotonic())), (("r", ""), "a.md"))


def test_a_wait_ends_when_it_is_woken(source: Source) -> None:
    threading.Timer(0.05, source.wake).start()
    start = time.monotonic()
    assert not set(source.wait(LIMIT).hints)
    assert time.monotonic() - start < LIMIT / 2


def test_a_wait_ends_with_its_time(source: Source) -> None:
    assert source.wait(0.01) == Batch() or not set(source.wait(0.01).hints)


def test_nothing_is_heard_of_nothing(tmp_path: Path) -> None:
    source = NoSource()
    assert source.follow({("r", ""): str(tmp_path)}) == set()
    (tmp_path / "a.md").write_text("x")
    assert source.wait(0.01) == Batch()
    source.wake()
    assert source.wait(None) == Batch()
    source.close()


@linux
def test_the_kernel_s_events_are_the_first_choice() -> None:
    source = open_source()
    assert isinstance(source, KernelSource)
    source.close()


@linux
def test_a_folder_no_longer_followed_is_not_heard(kernel: KernelSource, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    kernel.follow({("r", "a"): str(tmp_path / "a"), ("r", "b"): str(tmp_path / "b")})
    assert kernel.follow({("r", "b"): str(tmp_path / "b")}) == set()
    (tmp_path / "a" / "x.md").write_text("x")
    (tmp_path / "b" / "y.md").write_text("x")
    found = heard(kernel, lambda: None, (("r", "b"), "y.md"))
    assert {place for place, _ in found} == {("r", "b")}


@linux
def test_names_in_any_encoding_are_heard(kernel: KernelSource, tmp_path: Path) -> None:
    kernel.follow({("r", ""): str(tmp_path)})
    os.close(os.open(os.fsencode(tmp_path) + b"/caf\xe9.md", os.O_CREAT))
    heard(kernel, lambda: None, (("r", ""), "caf\udce9.md"))


@linux
def test_a_folder_that_moved_or_was_made_anew_is_followed_anew(kernel: KernelSource, tmp_path: Path) -> None:
    folder = tmp_path / "sub"
    folder.mkdir()
    wanted = {("r", ""): str(tmp_path), ("r", "sub"): str(folder)}
    assert kernel.follow(wanted) == set(wanted)
    folder.rename(tmp_path / "moved")
    heard(kernel, lambda: None, (("r", "sub"), ""))
    folder.mkdir()
    assert kernel.follow(wanted) == {("r", "sub")}
    (folder / "a.md").write_text("x")
    heard(kernel, lambda: None, (("r", "sub"), "a.md"))
    (folder / "a.md").unlink()
    folder.rmdir()
    heard(kernel, lambda: None, (("r", "sub"), ""))
    assert kernel.follow(wanted) == set()
    folder.mkdir()
    assert kernel.follow(wanted) == {("r", "sub")}


@linux
def test_a_folder_renamed_and_kept_is_followed_under_its_new_name(kernel: KernelSource, tmp_path: Path) -> None:
    (tmp_path / "a" / "deep").mkdir(parents=True)
    kernel.follow({("r", "a"): str(tmp_path / "a"), ("r", "a/deep"): str(tmp_path / "a/deep")})
    (tmp_path / "a").rename(tmp_path / "b")
    new = {("r", "b"): str(tmp_path / "b"), ("r", "b/deep"): str(tmp_path / "b/deep")}
    assert kernel.follow(new) == set(new)
    (tmp_path / "b" / "deep" / "x.md").write_text("x")
    found = heard(kernel, lambda: None, (("r", "b/deep"), "x.md"))
    assert {place for place, name in found if name == "x.md"} == {("r", "b/deep")}


@linux
def test_links_and_what_is_no_folder_are_not_followed(kernel: KernelSource, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "file").write_text("x")
    (tmp_path / "to-root").symlink_to(tmp_path / "root")
    new = kernel.follow(
        {
            ("r", ""): str(tmp_path / "to-root"),
            ("r", "link"): str(tmp_path / "root/link"),
            ("r", "file"): str(tmp_path / "root/file"),
            ("r", "none"): str(tmp_path / "root/none"),
        }
    )
    assert new == {("r", "")}, "the root itself may be a link, nothing below it"


@linux
def test_an_overflow_is_said(kernel: KernelSource, tmp_path: Path) -> None:
    with open("/proc/sys/fs/inotify/max_queued_events") as setting:
        limit = int(setting.read())
    if limit > 20_000:
        pytest.skip("the system's queue is too long to fill in a test")
    (tmp_path / "two").mkdir()
    kernel.follow({("r", ""): str(tmp_path), ("r", "two"): str(tmp_path / "two")})
    one, two = tmp_path / "a", tmp_path / "two" / "b"
    for _ in range(limit // 5):
        # Two folders in turn, so that no event equals the one before it and is left out.
        for file in (one, two):
            os.close(os.open(file, os.O_CREAT | os.O_WRONLY))
            file.unlink()
    batches = [kernel.wait(0) for _ in range(20)]
    assert any(batch.lost for batch in batches)


def test_a_library_that_dies_of_a_name_says_so(tmp_path: Path) -> None:
    source = LibrarySource()
    source.follow({("r", ""): str(tmp_path)})
    end = time.monotonic() + LIMIT
    why = ""
    number = 0
    while not why and time.monotonic() < end:
        number += 1
        os.close(os.open(os.fsencode(tmp_path) + b"/caf\xe9%d.md" % number, os.O_CREAT))
        why = source.wait(0.3).broken
    source.close()
    assert why


@pytest.mark.parametrize(
    ("number", "word"),
    [(errno.ENOSPC, "max_user_watches"), (errno.EMFILE, "max_user_instances"), (errno.ENOSYS, "no events")],
)
def test_a_limit_is_named_with_its_setting(number: int, word: str) -> None:
    assert word in reason(OSError(number, os.strerror(number)))
