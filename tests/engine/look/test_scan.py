"""Everything in a root is listed with its reason, nothing is opened, nothing outside is entered."""

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.look.scan import MAX_FILES, MAX_FOLDERS, RootTree
from memtui.engine.model import Policy
from memtui.errors import MemtuiError
from tests.engine.reading_world import ReadingWorld


@pytest.fixture
def world(tmp_path: Path) -> ReadingWorld:
    return ReadingWorld(tmp_path / "w")


def listed(tree: RootTree) -> set[str]:
    return {entry.path for entry in tree.entries()}


def codes(tree: RootTree, path: str) -> list[str]:
    entry = tree.entry(path)
    assert entry is not None
    return [problem.code for problem in (*entry.problems, *tree.flags(path))]


def test_files_are_listed_and_hidden_ones_are_not(world: ReadingWorld) -> None:
    for path in ("a.md", "deep/er/b.txt", ".hidden", ".git/config", "deep/.secret/x.md"):
        world.write(path, "x")
    (world.folder / "empty").mkdir()
    assert listed(world.tree()) == {"a.md", "deep/er/b.txt"}


def make_fifo(path: Path) -> None:
    """A pipe that would block whoever opens it."""
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link out of the root": (lambda path: path.symlink_to("/etc/passwd"), "E_SYMLINK"),
    "a link inside": (lambda path: path.symlink_to("other.md"), "E_SYMLINK"),
    "a dangling link": (lambda path: path.symlink_to("nowhere"), "E_SYMLINK"),
    "a link to a folder": (lambda path: path.symlink_to("/"), "E_SYMLINK"),
    "a link to its own folder": (lambda path: path.symlink_to("."), "E_SYMLINK"),
    "a FIFO": (make_fifo, "E_NOT_REGULAR"),
    "a socket": (make_socket, "E_NOT_REGULAR"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_no_file_is_listed_and_never_opened(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    make, code = ODD[name]
    monkeypatch.chdir(world.folder)  # a socket's name may not be long
    world.write("other.md", "x")
    make(Path("odd.md"))
    tree = world.tree()
    assert listed(tree) == {"odd.md", "other.md"}
    assert codes(tree, "odd.md") == [code]
    entry = tree.entry("odd.md")
    assert entry is not None
    assert not entry.readable
    assert set(tree.folders) == {""}


NAMES = {
    "-rf.md": "E_NAME",
    "con.md": "E_RESERVED",
    "x.md:stream": "E_NAME",
    "back\\slash.md": "E_NAME",
    "ends with space ": "E_NAME",
    "ends with dot.": "E_NAME",
    "new\nline.md": "E_NAME",
    "esc\x1b[2J.md": "E_NAME",
    "\u202egpj.md": "E_NAME",
    "\u200b": "E_NAME",
    "git~1": "E_RESERVED",
    "~x.md": "E_NAME",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_breaks_a_rule_is_listed_once_with_the_rule(world: ReadingWorld, name: str) -> None:
    world.write(name, "x")
    tree = world.tree()
    assert listed(tree) == {name}
    assert codes(tree, name) == [NAMES[name]]
    entry = tree.entry(name)
    assert entry is not None
    assert entry.readable


def test_a_name_that_is_no_text_is_listed(world: ReadingWorld) -> None:
    raw = os.fsencode(world.folder) + b"/caf\xe9.md"
    os.close(os.open(raw, os.O_CREAT))
    tree = world.tree()
    (path,) = listed(tree)
    assert os.fsencode(path) == b"caf\xe9.md"
    entry = tree.entry(path)
    assert entry is not None
    assert "not valid UTF-8" in entry.problems[0].text


def test_the_rule_a_folder_breaks_is_said_of_its_files(world: ReadingWorld) -> None:
    world.write("-x/a.md", "x")
    entry = world.tree().entry("-x/a.md")
    assert entry is not None
    assert "'-x'" in entry.problems[0].text


def test_names_of_255_bytes_are_listed(world: ReadingWorld) -> None:
    world.write("x" * 255, "x")
    assert codes(world.tree(), "x" * 255) == []


def test_what_no_address_can_name_is_listed_and_not_opened(world: ReadingWorld) -> None:
    folder = "/".join(["d"] * paths.MAX_COMPONENTS)
    world.write(f"{folder}/deep.md", "x")
    tree = world.tree()
    assert codes(tree, f"{folder}/deep.md") == ["E_PATH_TOO_DEEP"]
    entry = tree.entry(f"{folder}/deep.md")
    assert entry is not None
    assert not entry.readable
    (world.folder / folder / "e").mkdir()
    world.write(f"{folder}/e/deeper.md", "x")
    tree = world.tree()
    assert tree.truncated
    assert listed(tree) == {f"{folder}/deep.md"}


@pytest.mark.parametrize(
    ("size", "found"), [(handles.READ_LIMIT, []), (handles.READ_LIMIT + 1, ["E_TOO_BIG"]), (5 << 30, ["E_TOO_BIG"])]
)
def test_a_file_over_the_limit_is_listed_and_not_opened(world: ReadingWorld, size: int, found: list[str]) -> None:
    with open(world.folder / "big.md", "wb") as file:
        file.truncate(size)
    tree = world.tree()
    assert codes(tree, "big.md") == found
    entry = tree.entry("big.md")
    assert entry is not None
    assert entry.readable is (not found)


def test_a_second_name_elsewhere_is_said(world: ReadingWorld, tmp_path: Path) -> None:
    os.link(world.write("a.md", "x"), tmp_path / "elsewhere")
    assert codes(world.tree(), "a.md") == ["E_HARDLINK"]


def test_names_that_clash_are_flagged_until_they_do_not(world: ReadingWorld) -> None:
    for name in ("Foo.md", "foo.md", "cafe\u0301.md", "caf\u00e9.md", "plain.md"):
        world.write(name, "x")
    tree = world.tree()
    assert [codes(tree, path) for path in sorted(listed(tree))] == [["clash"]] * 2 + [["clash"]] * 2 + [[]]
    (world.folder / "Foo.md").unlink()
    delta = tree.refresh(world.handle())
    assert delta.gone == {"Foo.md"}
    assert delta.flagged == {"foo.md"}
    assert codes(tree, "foo.md") == []


def test_a_look_alike_of_a_sibling_is_flagged(world: ReadingWorld) -> None:
    world.write("notes.md", "x")
    world.write("n\u043etes.md", "x")
    tree = world.tree()
    assert codes(tree, "n\u043etes.md") == ["look-alike"]
    assert codes(tree, "notes.md") == []


def refuse(name: str, number: int) -> Callable[[int, tuple[str, ...]], int]:
    """What opening one folder does when the system refuses."""

    def open_beneath(root: int, parts: tuple[str, ...]) -> int:
        if parts[-1] == name:
            raise OSError(number, os.strerror(number))
        return os.open("/".join(parts), os.O_RDONLY | os.O_DIRECTORY, dir_fd=root)

    return open_beneath


@pytest.mark.parametrize(
    ("number", "code"), [(errno.EACCES, "E_PERMISSION"), (errno.EIO, "E_IO"), (errno.EMFILE, "E_IO")]
)
def test_a_folder_that_cannot_be_listed_harms_no_other(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    world.write("shut/a.md", "x")
    world.write("open/b.md", "x")
    tree = world.tree()
    with monkeypatch.context() as patch:
        patch.setattr(fsio, "open_beneath", refuse("shut", number))
        delta = tree.refresh(world.handle())
        assert not delta.gone
        assert listed(tree) == {"shut/a.md", "open/b.md"}
        assert [problem.code for problem in tree.problems()] == [code]
        fresh = world.tree()
        assert listed(fresh) == {"open/b.md"}
    tree.refresh(world.handle())
    assert tree.problems() == ()


def test_a_root_that_cannot_be_listed_is_an_error(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = world.handle()
    monkeypatch.setattr(fsio, "open_beneath", refuse(".", errno.EACCES))
    with pytest.raises(MemtuiError) as caught:
        RootTree(world.tree_selection()).refresh(handle)
    assert caught.value.code == "E_PERMISSION"


def test_another_file_system_is_not_entered(world: ReadingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("mounted/a.md", "x")
    world.write("b.md", "x")
    inode = (world.folder / "mounted").stat().st_ino
    fstat = os.fstat

    def elsewhere(handle: int) -> os.stat_result:
        status = fstat(handle)
        if status.st_ino != inode:
            return status
        fields = list(status)
        fields[2] += 1
        return os.stat_result(fields)

    monkeypatch.setattr(fsio, "fstat", elsewhere)
    tree = world.tree()
    assert listed(tree) == {"b.md"}
    assert [problem.code for problem in tree.problems()] == ["E_OTHER_DEVICE"]


def test_a_folder_swapped_for_a_link_is_left(world: ReadingWorld, tmp_path: Path) -> None:
    world.write("sub/a.md", "x")
    tree = world.tree()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("x")
    (world.folder / "sub").rename(tmp_path / "away")
    (world.folder / "sub").symlink_to(tmp_path / "outside")
    delta = tree.refresh(world.handle(), ["sub"])
    assert "sub/secret.md" not in listed(tree)
    tree.refresh(world.handle())
    assert listed(tree) == {"sub"}
    assert codes(tree, "sub") == ["E_SYMLINK"]
    assert delta.gone == {"sub/a.md"}


# --- limits


def test_the_limits_are_those_of_the_design() -> None:
    assert (MAX_FILES, MAX_FOLDERS, handles.READ_LIMIT) == (20_000, 2_000, 1_048_576)


def test_more_files_than_the_limit_are_cut_visibly_and_always_alike(world: ReadingWorld) -> None:
    for number in range(12):
        world.write(f"f{number:02}.md", "x")
    tree = world.tree(max_files=8)
    assert listed(tree) == {f"f{number:02}.md" for number in range(8)}
    assert [problem.code for problem in tree.problems()] == ["truncated"]
    assert len(tree) == 8
    for number in range(6):
        (world.folder / f"f{number:02}.md").unlink()
    tree.refresh(world.handle())
    assert tree.problems() == ()
    assert len(tree) == 6


def test_what_lies_deepest_is_cut_first(world: ReadingWorld) -> None:
    for number in range(3):
        world.write(f"a/b/f{number}.md", "x")
        world.write(f"z{number}.md", "x")
    assert listed(world.tree(max_files=4)) == {"z0.md", "z1.md", "z2.md", "a/b/f0.md"}


def test_more_folders_than_the_limit_are_cut_visibly(world: ReadingWorld) -> None:
    for number in range(6):
        world.write(f"d{number}/a.md", "x")
    tree = world.tree(max_folders=4)
    assert tree.truncated
    assert listed(tree) == {f"d{number}/a.md" for number in range(4)}


# --- which files


def test_a_layout_may_name_its_files(tmp_path: Path) -> None:
    policy = Policy(include=("CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/"), ignore=("*.bak", "MEMORY.lock"))
    world = ReadingWorld(tmp_path / "w", policy=policy)
    wanted = {"CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/a.md", ".claude/rules/deep/b.md"}
    for path in (*wanted, "src/main.py", "README.md", ".claude/settings.json", ".claude/rules/a.bak", "rules/x.md"):
        world.write(path, "x")
    tree = world.tree()
    assert listed(tree) == wanted
    assert set(tree.folders) == {"", ".claude", ".claude/rules", ".claude/rules/deep"}


def test_named_files_that_come_later_are_found(tmp_path: Path) -> None:
    world = ReadingWorld(tmp_path / "w", policy=Policy(include=("CLAUDE.md", "rules/")))
    tree = world.tree()
    world.write("rules/a.md", "x")
    world.write("CLAUDE.md", "x")
    delta = tree.look(world.handle(), "", {"rules", "CLAUDE.md", "unrelated"})
    assert delta.changed == listed(tree) == {"rules/a.md", "CLAUDE.md"}


def test_a_named_file_that_is_a_folder_is_not_entered(tmp_path: Path) -> None:
    world = ReadingWorld(tmp_path / "w", policy=Policy(include=("CLAUDE.md",)))
    world.write("CLAUDE.md/x.md", "x")
    assert listed(world.tree()) == set()


def test_what_belongs_to_a_root_further_in_is_left_to_it(tmp_path: Path) -> None:
    world = ReadingWorld(tmp_path / "w", policy=Policy(elsewhere=("inner/", "sub/CLAUDE.md")))
    for path in ("a.md", "inner/b.md", "inner/deep/c.md", "sub/CLAUDE.md", "sub/d.md"):
        world.write(path, "x")
    assert listed(world.tree()) == {"a.md", "sub/d.md"}


# --- looking again


def test_one_folder_is_listed_again_with_what_is_new_below_it(world: ReadingWorld) -> None:
    world.write("a/x.md", "x")
    world.write("b/y.md", "x")
    tree = world.tree()
    world.write("a/new/deep/z.md", "x")
    world.write("b/unheard.md", "x")
    (world.folder / "a" / "x.md").unlink()
    version = tree.version
    delta = tree.refresh(world.handle(), ["a"])
    assert delta.changed == {"a/new/deep/z.md"}
    assert delta.gone == {"a/x.md"}
    assert tree.version > version
    assert "b/unheard.md" not in listed(tree)


def test_a_folder_that_went_takes_its_files_along(world: ReadingWorld) -> None:
    world.write("a/deep/x.md", "x")
    world.write("a/y.md", "x")
    tree = world.tree()
    (world.folder / "a").rename(world.base / "away")
    delta = tree.look(world.handle(), "", {"a"})
    assert delta.gone == {"a/deep/x.md", "a/y.md"}
    assert len(tree) == 0
    assert set(tree.folders) == {""}


def test_a_hint_about_an_unknown_folder_finds_it(world: ReadingWorld) -> None:
    tree = world.tree()
    world.write("a/b/x.md", "x")
    assert tree.look(world.handle(), "a/b", {"x.md"}).changed == {"a/b/x.md"}


def test_a_look_at_names_touches_no_other(world: ReadingWorld) -> None:
    for name in ("a.md", "b.md", "c.md"):
        world.write(name, "x")
    tree = world.tree()
    world.write("a.md", "longer")
    world.write("b.md", "longer")
    (world.folder / "c.md").unlink()
    delta = tree.look(world.handle(), "", {"a.md", "c.md", ".hidden", "never.md"})
    assert delta.changed == {"a.md"}
    assert delta.gone == {"c.md"}
    assert len(tree) == 2


def test_a_file_that_became_a_folder_is_no_file(world: ReadingWorld) -> None:
    world.write("x", "x")
    tree = world.tree()
    (world.folder / "x").unlink()
    world.write("x/y.md", "x")
    delta = tree.refresh(world.handle())
    assert (delta.gone, delta.changed) == ({"x"}, {"x/y.md"})


def test_a_look_at_names_keeps_to_the_limit(world: ReadingWorld) -> None:
    for number in range(4):
        world.write(f"f{number}.md", "x")
    tree = world.tree(max_files=4)
    world.write("g.md", "x")
    world.write("f1.md", "longer")
    delta = tree.look(world.handle(), "", {"f1.md", "g.md"})
    assert delta.changed == {"f1.md"}
    assert len(tree) == 4
    assert [problem.code for problem in tree.problems()] == ["truncated"]
