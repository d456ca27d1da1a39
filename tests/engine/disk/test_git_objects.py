"""Objects of a repository as git itself reads them; what is damaged is nothing, and never an error."""

import random
import shutil
import struct
import subprocess
import tracemalloc
import zlib
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path

import pytest

from memtui.engine.disk import git_objects
from memtui.engine.disk.git_objects import GitObjects
from tests.engine.worktrees import git

_NAMES = {git_objects.COMMIT: b"commit", git_objects.TREE: b"tree", git_objects.BLOB: b"blob"}


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """Loose objects, packs with chains of differences of both kinds, and an empty text."""
    chosen = random.Random(7)
    (tmp_path / "app/sub").mkdir(parents=True)
    git(tmp_path / "app", "init", "-q", "-b", "main")
    lines = [f"{chosen.random()}\n" for _ in range(400)]
    for number in range(12):
        lines[chosen.randrange(400)] = f"{number}\n"
        (tmp_path / "app/sub/long.txt").write_text("".join(lines))
        (tmp_path / f"app/{number}.txt").write_text(str(number) if number else "")
        git(tmp_path / "app", "add", "-A")
        git(tmp_path / "app", "commit", "-q", "-m", "x")
        if number in (5, 9):
            git(
                tmp_path / "app",
                "-c",
                "repack.useDeltaBaseOffset=" + ("true" if number == 5 else "false"),
                "repack",
                "-dq",
            )
    return tmp_path / "app"


def ids(app: Path) -> list[bytes]:
    command = ["git", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]
    listed = subprocess.run(command, cwd=app, check=True, capture_output=True).stdout
    return [bytes.fromhex(line) for line in listed.decode().split()]


def is_whole(sha: bytes, found: tuple[int, bytes]) -> bool:
    return sha1(_NAMES[found[0]] + b" %d\0" % len(found[1]) + found[1], usedforsecurity=False).digest() == sha


def test_every_object_is_read_as_git_wrote_it(app: Path) -> None:
    objects = GitObjects(str(app / ".git"))
    every = ids(app)
    assert len(every) > 40
    assert len(list((app / ".git/objects/pack").glob("*.pack"))) == 2
    for sha in every:
        found = objects.read(sha)
        assert found is not None
        assert is_whole(sha, found)
    assert objects.read(bytes(20)) is None
    one, other = sorted((app / ".git/objects").glob("??/*"))[:2]
    other.chmod(0o600)
    other.write_bytes(one.read_bytes())
    assert GitObjects(str(app / ".git")).read(bytes.fromhex(other.parent.name + other.name)) is None


def test_a_damaged_repository_is_no_error_and_gives_nothing_wrong(app: Path, tmp_path: Path) -> None:
    every = ids(app)
    for seed in range(12):
        chosen = random.Random(seed)
        copy = tmp_path / str(seed)
        shutil.copytree(app / ".git/objects", copy / "objects")
        for path in sorted((copy / "objects").rglob("*")):
            if path.is_file() and chosen.random() < 0.7:
                data = bytearray(path.read_bytes())
                for _ in range(chosen.randint(1, 40)):
                    data[chosen.randrange(len(data))] = chosen.randrange(256)
                path.chmod(0o600)
                path.write_bytes(data[: chosen.randrange(len(data))] if chosen.random() < 0.3 else data)
        objects = GitObjects(str(copy))
        read = {sha: objects.read(sha) for sha in every}
        assert None in read.values()
        assert all(is_whole(sha, found) for sha, found in read.items() if found is not None)


def test_branches(app: Path) -> None:
    def told() -> tuple[str, bool, bool]:
        branch, head, default = git_objects.branches(str(app / ".git"), str(app / ".git"))
        return branch, head is not None, default == head

    assert told() == ("refs/heads/main", True, True)
    git(app, "pack-refs", "--all")
    git(app, "checkout", "-q", "-b", "work", "HEAD~1")
    assert told() == ("refs/heads/work", True, False)
    git(app, "checkout", "-q", "--detach", "main")
    assert told() == ("", True, True)
    git(app, "update-ref", "refs/remotes/origin/trunk", "HEAD~2")
    git(app, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert told() == ("", True, False)
    (app / ".git/HEAD").write_text("ref: refs/heads/../../../etc/passwd\n")
    assert told() == ("refs/heads/../../../etc/passwd", False, False)


def test_a_checkout_cannot_name_a_repository_elsewhere(app: Path, tmp_path: Path) -> None:
    (tmp_path / "brought").mkdir()
    (tmp_path / "brought/.git").write_text(f"gitdir: {app}/.git\n")
    assert git_objects.opened(str(tmp_path / "brought")) is None
    git(app, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(app / ".git"), "module")
    found = git_objects.opened(str(app / "module"))
    assert found is not None
    assert found[0][1] == str(app / ".git/modules/module")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/.git").symlink_to(app / ".git")
    assert git_objects.opened(str(tmp_path / "linked")) is None


def loose(folder: Path, kind: bytes, data: bytes) -> bytes:
    """Write an object that git itself would not write; gives its name."""
    whole = b"%s %d\0" % (kind, len(data)) + data
    sha = sha1(whole, usedforsecurity=False)
    place = folder / ".git/objects" / sha.hexdigest()[:2]
    place.mkdir(exist_ok=True)
    (place / sha.hexdigest()[2:]).write_bytes(zlib.compress(whole))
    return sha.digest()


def commit(folder: Path, tree: bytes, parent: bytes = b"") -> bytes:
    """Commit a tree to the main branch."""
    above = b"parent " + parent.hex().encode() + b"\n" if parent else b""
    times = b"author a <a@b> 1700000000 +0000\ncommitter a <a@b> 1700000000 +0000\n"
    sha = loose(folder, b"commit", b"tree " + tree.hex().encode() + b"\n" + above + times + b"\nx\n")
    (folder / ".git/refs/heads/main").write_text(sha.hex() + "\n")
    return sha


def pack(folder: Path, entries: Sequence[tuple[bytes, int, int, bytes]]) -> None:
    """Write a pack of entries in the order of their names: name, kind, size, and what follows the size."""
    data, places = b"PACK" + struct.pack(">II", 2, len(entries)), []
    for _, kind, size, rest in entries:
        places.append(len(data))
        head = [kind << 4 | size & 15, *(size >> shift & 127 for shift in range(4, max(5, size.bit_length()), 7))]
        data += bytes([*(byte | 128 for byte in head[:-1]), head[-1]]) + rest
    fanout = [sum(name[0] <= first for name, *_ in entries) for first in range(256)]
    index = b"\xfftOc\0\0\0\2" + struct.pack(">256I", *fanout) + b"".join(name for name, *_ in entries)
    index += bytes(4 * len(entries)) + struct.pack(f">{len(places)}I", *places)
    (folder / ".git/objects/pack/p.pack").write_bytes(data)
    (folder / ".git/objects/pack/p.idx").write_bytes(index)


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


def test_names_that_git_refuses_are_not_followed(bare: Path) -> None:
    tree = loose(bare, b"tree", b"100644 f\0" + loose(bare, b"blob", b"x"))
    commit(bare, tree)
    assert git_objects.history(str(bare)) is not None
    for _ in range(12):
        tree = loose(bare, b"tree", b"40000 \0" + tree + b"40000 /\0" + tree)  # each makes the walk twice as long
    commit(bare, tree)
    assert git_objects.history(str(bare)) is None


def test_paths_take_no_more_room_than_they_may(bare: Path) -> None:
    one = loose(bare, b"blob", b"x")
    tree = loose(bare, b"tree", b"".join(b"100644 %d\0" % number + one for number in range(200)))
    long = commit(bare, loose(bare, b"tree", b"40000 " + b"a" * 500_000 + b"\0" + tree))
    assert git_objects.history(str(bare)) is None
    commit(bare, loose(bare, b"tree", b""), long)
    found = git_objects.history(str(bare))
    assert found is not None
    assert not found[0].changes


def test_differences_without_an_end_and_of_any_size_are_nothing(bare: Path) -> None:
    base, large, left, right = (bytes([number]) * 20 for number in (1, 2, 3, 4))
    made = bytes([0x80, 0x80, 0x40, 1]) + b"\xf0\0\0\x10" * 64  # of a MiB, it says, a byte: 64 times all of it
    step = b"\1\1\1a"
    pack(
        bare,
        [
            (base, git_objects.BLOB, 1 << 20, zlib.compress(bytes(1 << 20))),
            (large, 7, len(made), base + zlib.compress(made)),
            (left, 7, len(step), right + zlib.compress(step)),
            (right, 7, len(step), left + zlib.compress(step)),
        ],
    )
    objects = GitObjects(str(bare / ".git"))
    tracemalloc.start()
    try:
        assert [objects.read(sha) for sha in (large, left, right)] == [None] * 3
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
