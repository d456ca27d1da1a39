"""What of a file is read: bounded, regular files only, and never through a link that leads out."""

import inspect
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from memtui.agents import reader
from memtui.agents.reader import GONE, OUTSIDE, REFUSED, SPECIAL, BoundedReader, Head, is_within, matches


def bounds(path: Path) -> tuple[str, ...]:
    return (os.path.realpath(path),)


def test_a_file_is_read_up_to_the_limits(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100)
    reader = BoundedReader(total=60)
    path = str(tmp_path / "a")
    first = reader.head(path, bounds(tmp_path), limit=40)
    second = reader.head(path, bounds(tmp_path), limit=40)
    assert isinstance(first, Head)
    assert isinstance(second, Head)
    assert (len(first.data), first.size, len(second.data), second.size) == (40, 100, 20, 100)


def test_links_inside_are_followed_and_links_out_are_not(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    (inside / "deep").mkdir(parents=True)
    (inside / "a.md").write_text("a")
    (tmp_path / "secret.md").write_text("s")
    (inside / "deep" / "link.md").symlink_to("../a.md")
    (inside / "out.md").symlink_to("../secret.md")
    (inside / "folder").symlink_to("..")
    reader = BoundedReader()
    found = reader.head(str(inside / "deep" / "link.md"), bounds(inside))
    assert isinstance(found, Head)
    assert found.data == b"a"
    assert reader.head(str(inside / "out.md"), bounds(inside)) == OUTSIDE
    assert reader.head(str(inside / "folder" / "secret.md"), bounds(inside)) == OUTSIDE
    assert reader.head(str(inside / ".." / "secret.md"), bounds(inside)) == OUTSIDE


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dir").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    reader = BoundedReader()
    assert reader.head(str(tmp_path / "pipe"), bounds(tmp_path)) == SPECIAL
    assert reader.head(str(tmp_path / "dir"), bounds(tmp_path)) == SPECIAL
    assert reader.head(str(tmp_path / "none"), bounds(tmp_path)) == GONE
    assert reader.head(str(tmp_path / "dir" / "none" / "x"), bounds(tmp_path)) == GONE
    assert reader.head(str(tmp_path / "loop"), bounds(tmp_path)) in (GONE, REFUSED)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_access_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "a").chmod(0)
    assert BoundedReader().head(str(tmp_path / "a"), bounds(tmp_path)) == REFUSED


def test_patterns(tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "c/d.md", "c/e/f.md", ".hidden/g.md", "node_modules/h.md", "c/.i.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "z").symlink_to("c")

    def found(pattern: str) -> list[str]:
        return [os.path.relpath(path, tmp_path) for path in matches(str(tmp_path), pattern)]

    assert found("a.md") == ["a.md"]
    assert found("none.md") == []
    assert found("*.md") == ["a.md"]
    assert found("**/*.md") == ["a.md", "z", "c/d.md", "c/e/f.md"]
    assert found("*/*.md") == ["c/d.md"]
    assert found("*/e/f.md") == ["c/e/f.md"]
    assert found(".hidden/**/*.md") == [".hidden/g.md"]
    assert found("c/**/*") == ["c/d.md", "c/e/f.md"]


def test_a_link_out_on_the_way_to_a_pattern_is_named_and_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "in"
    for name in ("secret/rules/a.md", "in/real/rules/a.md"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("x")
    (inside / "out").symlink_to("../secret")
    (inside / "real" / "deep").symlink_to("../../secret")
    (inside / "near").symlink_to("real")
    (inside / "gone").symlink_to("../nothing")
    (inside / "file").symlink_to("../secret/rules/a.md")
    (inside / "loop").symlink_to("loop")
    listed: list[str] = []
    scandir = os.scandir

    def audited(folder: str) -> Any:
        listed.append(os.path.realpath(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", audited)

    def found(pattern: str, folder: Path = inside) -> list[str]:
        return [os.path.relpath(path, inside) for path in matches(str(folder), pattern, bounds(inside))]

    assert found("out/**/*.md") == found("out/*/a.md") == found("out/rules/*.md") == found("out/rules/a.md") == ["out"]
    assert found("real/deep/rules/**/*.md") == ["real/deep"]
    assert found("near/deep/rules/**/*.md") == ["near/deep"]
    assert found("near/rules/*.md") == ["near/rules/a.md"]
    assert found("gone/*.md") == found("file/*.md") == found("loop/*.md") == found("gone/a.md") == []
    assert not [folder for folder in listed if folder.startswith(str(tmp_path / "secret"))]
    assert [os.path.relpath(path, inside) for path in matches(str(inside), "out/rules/*.md")] == ["out/rules/a.md"]


def test_links_out_above_a_folder_are_found(tmp_path: Path) -> None:
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "secret" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "a" / "out").symlink_to("../../secret")
    top = str(tmp_path / "in")
    assert reader.link_out(top, f"{top}/a/out/deep", bounds(tmp_path / "in")) == f"{top}/a/out"
    assert reader.link_out(top, f"{top}/a", bounds(tmp_path / "in")) is None
    assert reader.link_out(top, top, bounds(tmp_path / "in")) is None


def test_what_is_not_named_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number:02}").mkdir()
        (folder / f"{number:02}" / "a.md").write_text("x")
    monkeypatch.setattr(reader, "NAMES", 10)
    tally = reader.Tally()
    assert len(list(matches(str(folder), "**/*.md", tally=tally))) == 10
    assert (tally.more, tally.all) == (20, True)
    monkeypatch.setattr(reader, "FOLDERS", 21)
    tally = reader.Tally()
    assert len(list(matches(str(folder), "**/*.md", tally=tally))) == 10
    assert (tally.more, tally.all) == (10, False)
    monkeypatch.setattr(reader, "FOLDERS", 5)
    tally = reader.Tally()
    assert len(list(matches(str(folder), "**/*.md", tally=tally))) == 4
    assert (tally.more, tally.all) == (0, False)


def test_a_folder_of_too_many_names_is_not_all_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number:02}.md").write_text("x")
    monkeypatch.setattr(reader, "NAMES", 1)
    tally = reader.Tally()
    assert len(list(matches(str(folder), "*.md", tally=tally))) == 1
    assert (tally.more, tally.all) == (19, False)


def test_folders_inside_each_other_need_no_deeper_stack(tmp_path: Path) -> None:
    at = tmp_path / "in"
    at.joinpath(*"d" * 300).mkdir(parents=True)
    at.joinpath(*"d" * 300, "a.md").write_text("x")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        assert len(list(matches(str(at), "**/*.md"))) == 1
    finally:
        sys.setrecursionlimit(limit)


def test_a_folder_whose_name_only_begins_alike_is_outside() -> None:
    inside = ("/a/b", "/a/b/x", "/c/x")
    paths = (*inside, "/a/bc", "/a/bc/x", "/a", "/cd", "/")
    assert [path for path in paths if is_within(path, ("/a/b", "/c/"))] == [*inside]
    assert is_within("/x", ("/",))


def test_a_pattern_that_leads_out_means_nothing(tmp_path: Path) -> None:
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("x")
    (tmp_path / "in" / "b.md").write_text("x")
    for pattern in ("../*", "a/../../*.md", "**/../../*.md", "../in/*.md"):
        assert list(matches(str(tmp_path / "in"), pattern)) == []
    assert list(matches(str(tmp_path / "in"), "a/../*.md")) == [str(tmp_path / "in" / "b.md")]
