"""Objects of a repository as git itself reads them; what is damaged is nothing, and never an error."""

import random
import shutil
import subprocess
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
