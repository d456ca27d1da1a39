"""A repository with a worktree beside it and a clone, as git itself makes them, and roots in each."""

import shutil
import subprocess
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Address, Root
from tests.conftest import Clock

_WHO = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false")
MEMORIES = ".memtui/memory"


def git(folder: Path, *words: str) -> None:
    if shutil.which("git") is None:
        pytest.skip("no git here")
    subprocess.run(["git", *_WHO, *words], cwd=folder, check=True, capture_output=True)


def repository(base: Path, **memories: str) -> None:
    """Make a repository `app` with these memories, its worktree `fix`, and a clone of the same origin `clone`."""
    (base / "app" / MEMORIES).mkdir(parents=True)
    git(base / "app", "init", "-q", "-b", "main")
    for name, text in memories.items():
        (base / "app" / MEMORIES / f"{name}.md").write_text(text)
    git(base / "app", "add", "-A")
    git(base / "app", "commit", "-q", "--allow-empty", "-m", "x")
    git(base / "app", "remote", "add", "origin", "https://example.com/me/app")
    git(base / "app", "worktree", "add", "-q", "-b", "fix", "../fix")
    git(base, "clone", "-q", "app", "clone")
    git(base / "clone", "remote", "set-url", "origin", "https://example.com/me/app")


def engine(base: Path, *checkouts: str, clock: Clock | None = None) -> Engine:
    """An engine on the memories of these checkouts, as a new process opens it."""
    roots = [
        Root(f"memtui:{name}", str(base / name / MEMORIES), "memtui", "project", in_checkout=True) for name in checkouts
    ]
    if clock is None:
        return Engine.open(roots, state_dir=str(base / "state"))
    return Engine.open(roots, state_dir=str(base / "state"), clock=clock)


def note(checkout: str, name: str = "note") -> Address:
    """The address of a memory of a checkout."""
    return Address(f"memtui:{checkout}", f"{name}.md")
