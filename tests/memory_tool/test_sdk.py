"""The SDK's answers, and each thing its own tool on local files gets wrong, done right."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.look.roots import READ_ONLY
from memtui.engine.model import Address
from memtui.memory_tool import sdk
from memtui.memory_tool.sdk import CallFailed, SdkTool, memory_root
from tests.faults.injector import failing, hooked, meddling, plain
from tests.memory_tool.sdk_world import ACTOR, SdkWorld, new_sdk_world

MISSING = "The path {} does not exist. Please provide a valid path."
LATIN = b"caf\xe9 one\n"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[SdkWorld]:
    world = new_sdk_world(tmp_path)
    with world.engine:
        yield world


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder nobody may reach."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_text("secret")
    return folder


# --- the words


@pytest.mark.parametrize("path", ["/memories", "/memories/", "/memories/.", "/memories//", "/memories/sub/.."])
def test_the_root_is_neither_deleted_nor_renamed(world: SdkWorld, path: str) -> None:
    world.do("create", path="/memories/a.md", file_text="x")
    assert world.no("delete", path=path) == "Cannot delete the /memories directory itself"
    assert world.no("rename", old_path=path, new_path="/memories/x") == "Cannot rename the /memories directory itself"
    assert world.disk() == {"a.md": b"x"}


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"command": "view"}, "needs the parameter `path`"),
        ({"command": "view", "path": 7}, "Invalid `path` parameter"),
        ({"command": "create", "path": "/memories/a"}, "needs the parameter `file_text`"),
        ({"command": "insert", "path": "/memories/a", "insert_text": ""}, "needs the parameter `insert_line`"),
        ({"command": "insert", "path": "/memories/a", "insert_text": "", "insert_line": "1"}, "a whole number"),
        ({"command": "view", "path": "/memories", "view_range": ["1", 2]}, "Invalid `view_range`"),
        ({"command": "nonsense"}, "Unknown command: nonsense"),
        ({}, "Unknown command: None"),
        ({"command": "create", "path": "/memories/a", "file_text": "\ud800"}, "no UTF-8 form"),
        ({"command": "create", "path": "/memories/\ud800", "file_text": ""}, "UTF-8 form"),
        ({"command": "delete", "path": "/memories/a\0b"}, "NUL"),
        ({"command": "create", "path": "/memories/" + "x" * 300, "file_text": ""}, "255 bytes"),
        ({"command": "create", "path": "/memories/" + "x/" * 30, "file_text": ""}, "20 components"),
        ({"command": "create", "path": "/memories/.memtui-x", "file_text": ""}, "reserved"),
    ],
)
def test_a_fault_of_a_call_is_an_answer(world: SdkWorld, fields: dict[str, object], part: str) -> None:
    result = world.tool.call(fields)
    assert not result.ok
    assert part in result.text
    world.check(result.text)
    assert world.disk() == {}


def test_names_other_hosts_give_the_fields(world: SdkWorld) -> None:
    world.do("create", file_path="/memories/a.md", content="x\n")
    world.do("str_replace", file_path="/memories/a.md", old_string="x", new_string="y")
    world.do("insert", file_path="/memories/a.md", insert_line=1.0, new_str="z")
    world.do("str_replace", path="/memories/a.md", old_str="y\n")
    world.do("rename", path="/memories/a.md", new_path="/memories/b.md")
    assert world.disk() == {"b.md": b"z\n"}


# --- what the SDK's own tool on local files gets wrong


@pytest.mark.parametrize("path", ["/memoriesZ.txt", "/memories.md", "memories/a", "/Memories/a", "", "/"])
def test_only_the_root_and_what_is_below_it_is_a_path(world: SdkWorld, path: str) -> None:
    for command, fields in (("view", {}), ("create", {"file_text": "x"}), ("delete", {})):
        assert world.no(command, path=path, **fields) == f"Path must start with /memories, got: {path}"
    assert world.disk() == {}


def test_a_pipe_is_not_waited_for(world: SdkWorld) -> None:
    os.mkfifo(world.folder / "pipe")
    assert world.no("view", path="/memories/pipe") == "Unsupported file type for /memories/pipe"


def test_a_file_that_is_not_utf8_is_said_to_be_none_and_left_alone(world: SdkWorld) -> None:
    (world.folder / "a.md").write_bytes(LATIN)
    assert "not UTF-8 text (byte 3)" in world.no("view", path="/memories/a.md")
    assert "not UTF-8" in world.no("str_replace", path="/memories/a.md", old_str="one", new_str="x")
    assert "not UTF-8" in world.no("insert", path="/memories/a.md", insert_line=0, insert_text="x")
    assert world.disk() == {"a.md": LATIN}
    world.do("rename", old_path="/memories/a.md", new_path="/memories/b.md")
    world.do("delete", path="/memories/b.md")
    assert world.engine.history.of(Address("memories", "b.md"))[-1].bytes == len(LATIN)


def test_what_would_lie_below_a_file(world: SdkWorld) -> None:
    world.do("create", path="/memories/a.md", file_text="x")
    for path in ("/memories/a.md/b.md", "/memories/a.md/b/c.md"):
        assert "is a file, not a directory" in world.no("create", path=path, file_text="x")
        assert world.no("view", path=path) == MISSING.format(path)
        assert world.no("delete", path=path) == f"The path {path} does not exist"
        assert world.no("rename", old_path=path, new_path="/memories/x/y") == f"The path {path} does not exist"
        for old in ("/memories/a.md", "/memories/b.md"):
            words = world.no("rename", old_path=old, new_path=path)
            assert "is a file, not a directory" in words if old.endswith("a.md") else "does not exist" in words
    assert world.disk() == {"a.md": b"x"}


def test_an_edit_keeps_mode_bits_line_ends_and_marks(world: SdkWorld) -> None:
    file = world.folder / "a.md"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    file.chmod(0o640)
    world.do("str_replace", path="/memories/a.md", old_str="two", new_str="2")
    world.do("insert", path="/memories/a.md", insert_line=1, insert_text="x")
    assert file.read_bytes() == b"\xef\xbb\xbfone\r\nx\n2\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.parametrize("target", ["a.md", "folder", "gone.md"])
def test_deleting_a_link_deletes_the_link(world: SdkWorld, target: str) -> None:
    world.do("create", path="/memories/a.md", file_text="x")
    world.do("create", path="/memories/folder/b.md", file_text="y")
    (world.folder / "link").symlink_to(target)
    before = {name: data for name, data in world.disk().items() if name != "link"}
    assert world.do("delete", path="/memories/link") == "Successfully deleted /memories/link"
    assert world.disk() == before
    (world.folder / "folder/link").symlink_to(f"../{target}")
    world.do("delete", path="/memories/folder")
    assert world.disk() == {"a.md": b"x"}


def test_renaming_a_link_is_refused(world: SdkWorld) -> None:
    world.do("create", path="/memories/a.md", file_text="x")
    (world.folder / "link").symlink_to("a.md")
    before = world.disk()
    assert world.no("rename", old_path="/memories/link", new_path="/memories/n/b.md") == (
        "path '/memories/link' is a symlink"
    )
    assert world.disk() == before


def test_of_two_wrong_names_a_destination_behind_a_link_is_the_reason(world: SdkWorld) -> None:
    world.do("create", path="/memories/folder/b.md", file_text="x")
    (world.folder / "link").symlink_to("folder")
    assert world.no("rename", old_path="/memories/gone.md", new_path="/memories/link/b.md") == (
        "The destination /memories/link/b.md already exists"
    )


def test_a_rename_that_fails_leaves_no_folder_behind(world: SdkWorld) -> None:
    world.do("create", path="/memories/a/b.md", file_text="x")
    before = world.disk()
    world.no("rename", old_path="/memories/gone.md", new_path="/memories/new/deep/x.md")
    world.no("rename", old_path="/memories/a", new_path="/memories/a/b/c")
    world.no("rename", old_path="/memories/a/b.md", new_path="/memories/new/" + "x" * 300)
    world.no("create", path="/memories/new/" + "x" * 300, file_text="x")
    assert world.disk() == before


@pytest.mark.parametrize("what", ["/memories/a.md", "/memories/folder"])
def test_a_rename_never_overwrites_whoever_comes_in_between(world: SdkWorld, what: str) -> None:
    world.do("create", path="/memories/a.md", file_text="mine")
    world.do("create", path="/memories/folder/b.md", file_text="mine")
    with hooked(meddling("rename_noreplace", lambda: (world.folder / "new").write_text("theirs"))):
        assert world.no("rename", old_path=what, new_path="/memories/new") == (
            "The destination /memories/new already exists"
        )
    assert world.disk() == {"a.md": b"mine", "folder": None, "folder/b.md": b"mine", "new": b"theirs"}


def test_an_edit_between_which_another_program_saves_is_begun_anew(world: SdkWorld) -> None:
    world.do("create", path="/memories/a.md", file_text="one\n")

    def save() -> None:
        (world.folder / "other").write_text("one\ntheirs\n")
        (world.folder / "other").rename(world.folder / "a.md")

    with hooked(meddling("exchange", save)):
        world.do("insert", path="/memories/a.md", insert_line=0, insert_text="mine")
    assert world.disk() == {"a.md": b"mine\none\ntheirs\n"}


def test_a_large_file_is_never_seen_half_written(world: SdkWorld) -> None:
    text = "x" * 3_000_000
    seen: list[bool] = []
    with hooked(meddling("rename_noreplace", lambda: seen.append((world.folder / "a.md").exists()))):
        world.do("create", path="/memories/a.md", file_text=text)
    assert seen == [False]
    assert world.disk() == {"a.md": text.encode()}
    assert world.do("view", path="/memories/a.md").endswith("xx")


def test_no_failure_of_the_disk_names_a_place_on_this_machine(world: SdkWorld) -> None:
    world.do("create", path="/memories/a.md", file_text="x")
    for command, fields in (
        ("create", {"path": "/memories/n/b.md", "file_text": "x"}),
        ("insert", {"path": "/memories/a.md", "insert_line": 0, "insert_text": "y"}),
        ("view", {"path": "/memories/a.md"}),
        ("view", {"path": "/memories"}),
        ("rename", {"old_path": "/memories/a.md", "new_path": "/memories/n/c.md"}),
        ("delete", {"path": "/memories/n"}),
    ):
        number, finished = 1, False
        while not finished:
            with hooked(failing(number, 5)) as calls:
                result = world.tool.call({"command": command, **fields})
            world.check(result.text)
            finished, number = len(calls) < number, number + 1
            assert number < 200
            if command in ("insert", "view"):
                continue
            finished = finished or result.ok
    with hooked(plain):
        world.do("view", path="/memories")


# --- links and the root


def test_links_are_followed_as_far_as_they_stay_inside(world: SdkWorld, outside: Path) -> None:
    world.do("create", path="/memories/folder/a.md", file_text="one\n")
    (world.folder / "in").symlink_to("folder/a.md")
    (world.folder / "there").symlink_to("folder")
    (world.folder / "out").symlink_to(outside)
    (world.folder / "file").symlink_to(outside / "secret.md")
    (world.folder / "dangling").symlink_to("gone.md")
    assert world.do("view", path="/memories/in").endswith("\tone\n     2\t")
    world.do("insert", path="/memories/there/a.md", insert_line=0, insert_text="zero")
    assert (world.folder / "folder/a.md").read_text() == "zero\none\n"
    assert (world.folder / "in").is_symlink()
    listed = [line.split("\t/memories/")[1] for line in world.do("view", path="/memories").splitlines()[2:]]
    assert listed == ["folder/", "folder/a.md", "in", "there/", "there/a.md"]
    for path in ("/memories/out/secret.md", "/memories/out", "/memories/file"):
        escapes = f"Path {path} would escape /memories directory"
        assert world.no("view", path=path) == escapes
        assert world.no("insert", path=path, insert_line=0, insert_text="x") == escapes
        assert world.no("delete", path=path) == escapes
        assert world.no("rename", old_path=path, new_path="/memories/x") == escapes
        assert world.no("rename", old_path=path, new_path="/memories/..") == escapes
    assert world.no("create", path="/memories/out/new.md", file_text="x").endswith("would escape /memories directory")
    assert world.no("rename", old_path="/memories/in", new_path="/memories/out/x").endswith(
        "escape /memories directory"
    )
    assert sorted(os.listdir(outside)) == ["secret.md"]
    world.do("create", path="/memories/dangling", file_text="made")
    assert (world.folder / "gone.md").read_text() == "made"


@pytest.mark.parametrize(
    "path", ["/memories/..", "/memories/../x", "/memories/a/../../memories/x", "/memories/../memories/x"]
)
def test_a_path_that_leaves_the_root_is_refused_also_when_it_comes_back(world: SdkWorld, path: str) -> None:
    assert world.no("create", path=path, file_text="x") == f"Path {path} would escape /memories directory"
    world.do("create", path="/memories/a/../b.md", file_text="x")
    assert world.disk() == {"b.md": b"x"}


def test_a_link_put_there_between_two_steps_is_not_followed(world: SdkWorld, outside: Path) -> None:
    world.do("create", path="/memories/a.md", file_text="inside")

    def swap() -> None:
        (world.folder / "a.md").unlink()
        (world.folder / "a.md").symlink_to(outside / "secret.md")

    for command, fields in (
        ("view", {}),
        ("str_replace", {"old_str": "secret", "new_str": "x"}),
        ("insert", {"insert_line": 0, "insert_text": "x"}),
    ):
        with hooked(meddling("open_file", swap)):
            words = world.no(command, path="/memories/a.md", **fields)
        assert words == "Path /memories/a.md would escape /memories directory"
    assert (outside / "secret.md").read_text() == "secret"


def test_clearing_is_one_step_that_can_be_taken_back(world: SdkWorld) -> None:
    world.do("create", path="/memories/a/b.md", file_text="x")
    world.do("create", path="/memories/.hidden", file_text="y")
    (world.folder / "link").symlink_to("a")
    before = world.folder.stat().st_ino
    assert world.tool.clear().text == "All memory cleared"
    assert world.disk() == {}
    assert world.folder.stat().st_ino == before
    world.engine.undo.undo(actor=ACTOR)
    assert world.disk() == {"a": None, "a/b.md": b"x", ".hidden": b"y"}


def test_a_folder_that_was_replaced_is_served_by_the_next_call(world: SdkWorld) -> None:
    world.do("create", path="/memories/a.md", file_text="x")
    world.folder.rename(world.folder.with_name("old"))
    assert world.no("view", path="/memories/a.md") == MISSING.format("/memories/a.md")
    world.do("create", path="/memories/b.md", file_text="y")
    world.do("insert", path="/memories/b.md", insert_line=0, insert_text="x")
    assert world.disk() == {"b.md": b"x\ny\n"}


# --- the guarantees underneath


def test_every_change_is_kept_recorded_and_can_be_undone(world: SdkWorld) -> None:
    address = Address("memories", "a.md")
    world.do("create", path="/memories/a.md", file_text="one\n")
    world.do("str_replace", path="/memories/a.md", old_str="one", new_str="two")
    world.do("delete", path="/memories/a.md")
    assert [version.operation for version in world.engine.history.of(address)] == ["modified", "created"]
    assert {record.actor for record in world.engine.history.audit(address=address)} == {"agent:test"}
    for left in ({"a.md": b"two\n"}, {"a.md": b"one\n"}, {}):
        world.engine.undo.undo(actor=ACTOR)
        assert world.disk() == left


def test_views_and_writes_are_uses(world: SdkWorld) -> None:
    world.do("create", path="/memories/a.md", file_text="one\n")
    world.do("view", path="/memories/a.md")
    world.do("view", path="/memories")
    world.do("insert", path="/memories/a.md", insert_line=0, insert_text="x")
    world.do("rename", old_path="/memories/a.md", new_path="/memories/b.md")
    assert world.engine.rows.get(Address("memories", "b.md")).uses == 4


def test_who_may_only_read_changes_nothing(world: SdkWorld, tmp_path: Path) -> None:
    world.do("create", path="/memories/a.md", file_text="x")
    root = memory_root(str(tmp_path / "base"))
    with Engine.open([root], state_dir=str(tmp_path / "state"), access=READ_ONLY) as engine:
        reader = SdkWorld(SdkTool(engine, root, ACTOR), engine, world.folder)
        reader.do("view", path="/memories/a.md")
        for command, fields in (
            ("create", {"path": "/memories/b.md", "file_text": ""}),
            ("insert", {"path": "/memories/a.md", "insert_line": 0, "insert_text": "y"}),
            ("delete", {"path": "/memories/a.md"}),
            ("rename", {"old_path": "/memories/a.md", "new_path": "/memories/b.md"}),
        ):
            assert "may read here, but not change anything" in reader.no(command, **fields)
        assert not reader.tool.clear().ok
    assert world.disk() == {"a.md": b"x"}


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0B"),
        (1, "1B"),
        (1023, "1023B"),
        (1024, "1K"),
        (1025, "1.0K"),
        (1536, "1.5K"),
        (1048575, "1024.0K"),
        (1048576, "1M"),
        (5 << 30, "5G"),
        (3 << 40, "3072G"),
    ],
)
def test_sizes(count: int, shown: str) -> None:
    assert sdk.size(count) == shown


MANY = "No replacement was performed. Multiple occurrences of old_str"
HEAD = "Here's the content of p with line numbers:\n"


@given(st.integers(1, 30), st.integers(-3, 12_000), st.integers(-1, 12_100))
def test_numbers_are_right_however_far_down(lines: int, first: int, last: int) -> None:
    text = "\n".join(["x"] * (lines * 400))
    shown = sdk.content("p", text, (first, last)).split("\n")[1:]
    numbers = range(1, lines * 400 + 1)[max(1, first) - 1 : None if last == -1 else last]
    assert shown == ([f"{number:6}\tx" for number in numbers] or [""])


def test_more_lines_than_are_ever_shown() -> None:
    assert sdk.content("p", "\n" * 999_998, (1, 1)) == HEAD + "     1\t"
    with pytest.raises(CallFailed, match=r"^File p exceeds maximum line limit of 999,999 lines\.$"):
        sdk.content("p", "\n" * 999_999, None)


@pytest.mark.parametrize(
    ("text", "old", "words"),
    [
        ("a", "b", "No replacement was performed, old_str `b` did not appear verbatim in p."),
        ("x\ny\nx\nx", "x", f"{MANY} `x` in lines: 1, 3, 4. Please ensure it is unique"),
        ("aaaa", "aa", f"{MANY} `aa` in lines: 1, 1, 1. Please ensure it is unique"),
        ("a\nb", "", f"{MANY} `` in lines: 1, 1, 2, 2. Please ensure it is unique"),
    ],
)
def test_what_is_not_replaced(text: str, old: str, words: str) -> None:
    with pytest.raises(CallFailed) as caught:
        sdk.str_replace("p", text, old, "new")
    assert str(caught.value) == words
