"""Rows say what is on disk and in the ledger, are rebuilt only when they differ, and are kept for the next start."""

import binascii
import errno
import os
import stat
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.disk import fsio
from memtui.engine.look import catalog as rowcache
from memtui.engine.look import scan
from memtui.engine.look.catalog import Catalog
from memtui.engine.model import Actor, Policy
from tests.engine.reading_world import ReadingWorld


@pytest.fixture
def world(tmp_path: Path) -> ReadingWorld:
    return ReadingWorld(tmp_path / "w")


# --- one row


def test_a_row_says_what_is_on_disk(world: ReadingWorld) -> None:
    data = b"---\ndescription: how we deploy\n---\nbody\n"
    file = world.write("a/b.md", data)
    row = world.rows()["a/b.md"]
    assert row.address == world.at("a/b.md")
    assert (row.scope, row.agent) == ("global", "files")
    assert (row.bytes, row.sha256, row.description) == (len(data), sha256(data).hexdigest(), "how we deploy")
    assert row.modified_at == file.stat().st_mtime_ns // 1_000_000
    assert (row.pinned, row.uses, row.version, row.unseen, row.missing) == (False, 0, 0, False, False)
    assert row.actor == "outside"


LIMITED = Policy(
    shown_bytes=40, protected=("pinned/", "KEEP.md"), generated=("auto/*.md", "index.md"), ignore=("*.lock",)
)
CONTENT: dict[str, tuple[bytes, list[str]]] = {
    "empty": (b"", []),
    "only newlines": (b"\n\n\n", []),
    "only a byte-order mark": (b"\xef\xbb\xbf", []),
    "plain": (b"plain\r\ntext", []),
    "not UTF-8": (b"caf\xe9\n", ["E_TEXT"]),
    "UTF-16": ("hi\n".encode("utf-16"), ["E_TEXT"]),
    "a NUL": (b"a\0b\n", ["E_TEXT", "hidden-characters"]),
    "an escape": (b"a\x1b[2J\n", ["hidden-characters"]),
    "a bidirectional override": ("a\u202eb\n".encode(), ["hidden-characters"]),
    "tag characters": ("a\U000e0041\n".encode(), ["hidden-characters"]),
    "emoji": ("👩‍👩‍👧 ok\n".encode(), []),
    "over the agent's limit": (b"x" * 41, ["over-agent-limit"]),
    "a private part": (b"a <private>b</private>\n", []),
    "a private description": (
        b"---\n# <private>\ndescription: A zebra\n# </private>\n---\n",
        ["over-agent-limit", "private-about"],
    ),
    "a private part without an end": (b"a\n<private>b\n", ["open-private"]),
    "unclosed front matter": (b"---\na: b\n", ["front-matter"]),
    "a list": (b"---\n- a\n---\n", ["front-matter"]),
}


@pytest.mark.parametrize("name", CONTENT)
def test_what_is_odd_about_a_text_is_said(tmp_path: Path, name: str) -> None:
    world = ReadingWorld(tmp_path / "w", policy=LIMITED)
    data, codes = CONTENT[name]
    world.write("a.md", data, old=True)
    row = world.rows()["a.md"]
    assert [problem.code for problem in row.problems] == codes
    assert row.sha256 == sha256(data).hexdigest()


def test_conflict_markers_are_flagged_where_git_puts_them(world: ReadingWorld) -> None:
    world.write("a.md", "x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n", old=True)
    world.write("b.md", "it writes `<<<<<<< HEAD` and ======= and >>>>>>> other\n", old=True)
    assert world.codes("a.md") == ["conflict-markers"]
    assert world.codes("b.md") == []


def test_the_layout_s_words_about_a_file_are_said(tmp_path: Path) -> None:
    world = ReadingWorld(tmp_path / "w", policy=LIMITED)
    for path in ("pinned/a.md", "KEEP.md", "auto/b.md", "index.md", "plain.md", "x.lock"):
        world.write(path, "x", old=True)
    found = {path: [problem.code for problem in row.problems] for path, row in world.rows().items()}
    assert found == {
        "KEEP.md": ["protected"],
        "auto/b.md": ["generated"],
        "index.md": ["generated"],
        "pinned/a.md": ["protected"],
        "plain.md": [],
    }


@pytest.mark.parametrize(("number", "code"), [(errno.EACCES, "E_PERMISSION"), (errno.EIO, "E_IO")])
def test_a_file_that_cannot_be_opened_harms_no_other(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    world.write("shut.md", "x", old=True)
    world.write("open.md", "x", old=True)
    open_file = fsio.open_file

    def refuse(parent: int, name: str) -> int:
        if name == "shut.md":
            raise OSError(number, os.strerror(number))
        return open_file(parent, name)

    with monkeypatch.context() as patch:
        patch.setattr(fsio, "open_file", refuse)
        rows = world.rows()
        assert [problem.code for problem in rows["shut.md"].problems] == [code]
        assert rows["shut.md"].sha256 is None
        assert rows["open.md"].sha256 is not None
    world.hands.advance(10)
    (world.folder / "shut.md").chmod(0o644)
    assert world.rows()["shut.md"].sha256 is not None


def test_a_file_that_went_between_listing_and_reading_has_no_row(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("a.md", "x")

    def gone(_parent: int, _name: str) -> int:
        raise FileNotFoundError(errno.ENOENT, "gone")

    with monkeypatch.context() as patch:
        patch.setattr(fsio, "open_file", gone)
        assert world.rows() == {}
    assert list(world.rows()) == ["a.md"]


# --- not reading again


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How large each file was that was read, in order."""
    found: list[int] = []
    read_all = fsio.read_all

    def counted(handle: int, size: int) -> bytes:
        found.append(size)
        return read_all(handle, size)

    monkeypatch.setattr(fsio, "read_all", counted)
    return found


def test_an_unchanged_file_is_not_read_again_and_its_row_is_the_same(world: ReadingWorld, reads: list[int]) -> None:
    world.write("a.md", "x", old=True)
    world.write("b.md", "x", old=True)
    world.hands.advance(scan.RACY_MS + 1_000)
    before = world.rows()
    world.write("b.md", "changed", old=True)
    reads.clear()
    after = world.rows()
    assert reads == [len("changed")]
    assert after["a.md"] is before["a.md"]
    assert after["b.md"].sha256 != before["b.md"].sha256
    reads.clear()
    assert world.rows() == after
    world.hands.advance(scan.RACY_MS + 1_000)
    world.rows()
    reads.clear()
    world.rows()
    assert reads == []


def test_a_file_read_just_after_it_changed_is_read_again(world: ReadingWorld) -> None:
    """Git's racy rule: a stat that cannot tell two contents apart is not believed."""
    world.write("a.md", "one")
    world.rows()
    (world.folder / "a.md").write_text("two")
    cache = world.catalog.cache(world.root)
    cache.tree.refresh(world.handle())  # what it finds is thrown away: the stat tells the catalog nothing
    assert world.rows()["a.md"].sha256 == sha256(b"two").hexdigest()


def test_equal_size_and_time_do_not_hide_a_change(world: ReadingWorld) -> None:
    file = world.write("a.md", "one", old=True)
    world.hands.advance(5_000)
    world.rows()
    status = file.stat()
    file.write_text("two")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert world.rows()["a.md"].sha256 == sha256(b"two").hexdigest()


# --- the ledger's part


def test_pins_uses_and_versions_are_the_ledger_s(world: ReadingWorld) -> None:
    world.write("a.md", "x", old=True)
    world.write("b.md", "x", old=True)
    world.reconcile()
    before = world.rows()
    with world.engine() as other:
        other.pins.set([world.at("a.md")], pinned=True, actor=Actor("cli"))
        other.pins.record_use(world.at("a.md"), actor=Actor("mcp:x"), wrote=True)
    after = world.rows()
    row = after["a.md"]
    assert (row.pinned, row.uses, row.version) == (True, 1, 1)
    assert (row.last_used_at, row.last_written_at) == (world.hands.clock(), world.hands.clock())
    assert row.heat == pytest.approx(1, abs=0.01)
    assert after["b.md"] is before["b.md"]


def test_what_somebody_else_wrote_is_unseen_until_it_is_looked_at(world: ReadingWorld) -> None:
    world.write("a.md", "one", old=True)
    world.reconcile()
    assert not world.rows()["a.md"].unseen
    world.write("a.md", "two")
    assert world.rows()["a.md"].unseen
    world.reconcile()
    assert world.rows()["a.md"].unseen
    with world.engine() as other:
        other.changes.mark_seen([world.at("a.md")])
    assert not world.rows()["a.md"].unseen
    world.write("a.md", "one")
    assert world.rows()["a.md"].unseen


def test_what_the_user_wrote_is_not_unseen_and_names_them(world: ReadingWorld) -> None:
    world.write("a.md", "one", old=True)
    world.reconcile()
    with world.engine() as other:
        other.save(world.at("a.md"), "mine", expected_sha256=sha256(b"one").hexdigest(), actor=Actor("cli"))
        row = world.rows()["a.md"]
        assert (row.unseen, row.actor) == (False, "cli")
        other.save(world.at("a.md"), "theirs", expected_sha256=row.sha256, actor=Actor("mcp:claude"))
    row = world.rows()["a.md"]
    assert (row.unseen, row.actor) == (True, "mcp:claude")


def test_one_row_costs_no_list(world: ReadingWorld, reads: list[int]) -> None:
    for number in range(5):
        world.write(f"{number}.md", "x" * number, old=True)
    opened = world.roots.open(world.root)
    assert opened.handle is not None
    found = world.catalog.some(opened.handle, opened.uid, ["3.md", "none.md"])
    assert {path: row.bytes for path, row in found.items()} == {"3.md": 3}
    assert reads == [3]
    assert len(world.rows()) == 5


def test_a_root_that_is_another_folder_now_starts_anew(world: ReadingWorld) -> None:
    world.write("a.md", "x", old=True)
    world.rows()
    world.folder.rename(world.base / "away")
    world.folder.mkdir()
    world.write("b.md", "y", old=True)
    assert list(world.rows()) == ["b.md"]


# --- rows for the next start


def cache_file(world: ReadingWorld) -> Path:
    """The file the rows are kept in."""
    (file,) = (world.state / "rows").iterdir()
    return file


def test_rows_are_there_for_the_next_start_without_touching_a_memory(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("a.md", "---\ndescription: d\n---\n", old=True)
    world.write("bad.md", b"\xff", old=True)
    os.close(os.open(os.fsencode(world.folder) + b"/caf\xe9.md", os.O_CREAT))
    (world.folder / "link.md").symlink_to("/")
    world.hands.advance(5_000)
    before = tuple(world.rows().values())
    assert len(before) == 4
    world.close()
    world.open()

    def never(*_: object) -> int:
        raise AssertionError("a memory was touched")

    for name in ("open_beneath", "stat_at", "list_dir"):
        monkeypatch.setattr(fsio, name, never)
    found = world.catalog.cached(world.root)
    assert found is not None
    assert found.items == before
    assert stat.S_IMODE(cache_file(world).stat().st_mode) == 0o600


def test_there_are_no_rows_of_a_root_nobody_listed(world: ReadingWorld) -> None:
    assert world.catalog.cached(world.root) is None


def test_the_next_process_reads_only_what_changed(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch, reads: list[int]
) -> None:
    monkeypatch.setattr(rowcache, "WORTH_LOADING", 1)
    for number in range(5):
        world.write(f"{number}.md", "x" * number + "yz", old=True)
    world.hands.advance(5_000)
    before = world.rows()
    world.close()
    world.write("2.md", "other", old=True)
    world.open()
    reads.clear()
    after = world.rows()
    cache, changed = reads
    assert cache == cache_file(world).stat().st_size
    assert changed == len("other")
    assert {path for path in after if after[path] != before[path]} == {"2.md"}


def test_rows_of_the_last_process_are_kept_where_they_are_still_true(world: ReadingWorld) -> None:
    for name in ("same.md", "other.md", "gone.md"):
        world.write(name, "text", old=True)
    (world.folder / "link.md").symlink_to("/")
    world.hands.advance(5_000)
    world.rows()
    world.close()
    (world.folder / "gone.md").unlink()
    (world.folder / "link.md").unlink()
    world.write("other.md", "news", old=True)
    world.open()
    shown = world.catalog.cached(world.root)
    assert shown is not None
    before = {row.address.path: row for row in shown.items}
    after = world.rows()
    assert after["same.md"] is before["same.md"]
    assert after["other.md"] != before["other.md"]
    assert after.keys() == {"same.md", "other.md"}


def test_rows_of_another_folder_under_the_same_name_are_not_believed(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rowcache, "WORTH_LOADING", 1)
    world.write("a.md", "old", old=True)
    world.hands.advance(5_000)
    world.rows()
    world.close()
    world.folder.rename(world.base / "away")
    world.folder.mkdir()
    world.write("a.md", "new", old=True)
    world.open()
    assert world.rows()["a.md"].sha256 == sha256(b"new").hexdigest()
    assert world.catalog.last_identity(world.root) != world.handle().identity


def test_missing_rows_are_not_kept(world: ReadingWorld) -> None:
    world.write("a.md", "x", old=True)
    world.reconcile()
    (world.folder / "a.md").unlink()
    world.look(everything=True)
    world.hands.advance(1_500)
    world.look(everything=True)
    assert world.catalog.result(world.catalog.cache(world.root)).items[0].missing
    world.close()
    world.open()
    found = world.catalog.cached(world.root)
    assert found is not None
    assert found.items == ()


def test_a_state_folder_that_cannot_be_written_costs_only_the_rows(
    world: ReadingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("a.md", "x", old=True)
    world.rows()

    def full(_parent: int, _name: str) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(fsio, "create_file", full)
    world.catalog.keep()
    assert not (world.state / "rows").exists() or not list((world.state / "rows").iterdir())


def test_rows_a_dead_process_left_half_written_are_replaced(world: ReadingWorld) -> None:
    world.write("a.md", "x", old=True)
    world.rows()
    world.catalog.keep()
    file = cache_file(world)
    file.rename(file.with_name(file.name + ".new"))
    world.write("b.md", "x", old=True)
    world.rows()
    world.catalog.keep()
    found = Catalog(world.ledger).cached(world.root)
    assert found is not None
    assert len(found.items) == 2


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[ReadingWorld, bytes]:
    """A world whose rows were kept, and the file they are in."""
    world = ReadingWorld(tmp_path_factory.mktemp("kept") / "w")
    for number in range(20):
        world.write(f"{number}.md", f"text {number}", old=True)
    world.rows()
    world.catalog.keep()
    return world, cache_file(world).read_bytes()


def load_as(kept: tuple[ReadingWorld, bytes], data: bytes) -> bool:
    """Whether rows are believed when the file holds these bytes."""
    world, good = kept
    file = cache_file(world)
    file.write_bytes(data)
    try:
        found = rowcache.load_rows(str(world.state), world.root)
        if found is not None:
            found.readings()
        return found is not None
    finally:
        file.write_bytes(good)


@given(data=st.data())
def test_garbled_rows_are_no_rows(kept: tuple[ReadingWorld, bytes], data: st.DataObject) -> None:
    good = kept[1]
    assert load_as(kept, good)
    place = data.draw(st.integers(0, len(good) - 1))
    assert not load_as(kept, good[:place])
    bit = data.draw(st.integers(0, 7))
    assert not load_as(kept, good[:place] + bytes([good[place] ^ (1 << bit)]) + good[place + 1 :])


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b'"x"', b"{}", b'{"root": 1}', b"[" * 100_000, b"NaN",
        b'{"root": ["t", "PATH"], "identity": [1], "columns": {}, "odd": {}}',
        b'{"root": ["t", "PATH"], "identity": [1, 2], "columns": {"path": ["a"]}, "odd": {}}',
        b'{"root": ["t", "PATH"], "identity": ["x", 2], "columns": [], "odd": []}',
    ],
)  # fmt: skip
def test_rows_of_a_strange_shape_are_no_rows(kept: tuple[ReadingWorld, bytes], body: bytes) -> None:
    text = body.replace(b"PATH", os.fsencode(kept[0].folder))
    assert not load_as(kept, f"{rowcache._FORMAT} {binascii.crc32(text):08x}\n".encode() + text)


@pytest.mark.parametrize("kind", ["folder", "link", "fifo"])
def test_rows_are_not_read_from_anything_but_a_file(world: ReadingWorld, kind: str) -> None:
    world.write("a.md", "x", old=True)
    world.rows()
    world.catalog.keep()
    file = cache_file(world)
    data = file.read_bytes()
    file.unlink()
    if kind == "folder":
        file.mkdir()
    elif kind == "link":
        (world.base / "planted").write_bytes(data)
        file.symlink_to(world.base / "planted")
    else:
        os.mkfifo(file)
    assert rowcache.load_rows(str(world.state), world.root) is None
