"""Folders of memories as agents leave them, and children with an environment of their own, for measuring.

It exists so that every measurement works on the same kind of file, none of which changed a moment ago, and never on
anything of the user's.
"""

import os
import random
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import cache

from memtui.engine import Engine
from memtui.engine.model import Root

WORDS = [
    "agent",
    "build",
    "cache",
    "deploy",
    "editor",
    "feature",
    "gateway",
    "handler",
    "index",
    "journal",
    "kernel",
    "ledger",
    "memory",
    "notes",
    "outage",
    "parser",
    "queue",
    "review",
    "schema",
    "token",
    "update",
    "vector",
    "worker",
    "yaml",
    "zone",
    "always",
    "before",
    "commit",
    "default",
    "during",
    "every",
    "folder",
    "however",
    "ignore",
    "keeps",
    "latest",
    "module",
    "never",
    "other",
    "please",
    "rather",
    "settings",
    "that",
    "under",
    "using",
    "when",
    "without",
]

AGE = 3_600.0
"""Seconds since a memory was last written, as its time stamp says."""
RACY = 2.2
"""Seconds after which a change of a file's status is old enough for its stat to be believed; a bit more than ours."""


@cache
def _lines() -> list[str]:
    """Lines to put texts together from: drawing each word anew would take longer than writing the files."""
    choose = random.Random(1)
    return [" ".join(choose.choices(WORDS, k=11)) + "\n" for _ in range(509)]


def text(size: int, seed: int = 0) -> str:
    """A memory of exactly so many bytes: front matter, then lines of words; another one for each seed."""
    lines = _lines()
    pieces = [f"---\ndescription: What number {seed} is about, in one line\n---\n"]
    length, line = len(pieces[0]), seed
    while length < size:
        line = (line * 31 + 7) % len(lines)
        pieces.append(lines[line])
        length += len(lines[line])
    return "".join(pieces)[: size - 1] + "\n"


def memories(folder: str, count: int, *, size: int = 900, folders: int = 15) -> list[str]:
    """Write memories into folders of one root; returns their paths, relative to it."""
    then = time.time() - AGE
    paths = []
    for number in range(count):
        below = f"topic-{number % folders:03d}" if folders else ""
        if below and number < folders:
            os.makedirs(os.path.join(folder, below), exist_ok=True)
        path = os.path.join(below, f"memory-{number:05d}.md")
        full = os.path.join(folder, path)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text(size, number))
        os.utime(full, (then, then))
        paths.append(path)
    return paths


def rest() -> None:
    """Let what was just written become old enough to be believed by its stat, and reach the disk."""
    os.sync()
    time.sleep(RACY)


def make(folder: str, name: str) -> str:
    """Make a folder in a folder and return its path."""
    path = os.path.join(folder, name)
    os.makedirs(path)
    return path


def make_new(folder: str) -> str:
    """Make a folder nobody has used, in a folder."""
    return tempfile.mkdtemp(dir=folder)


def engine(folder: str, state: str) -> Engine:
    """An engine on one root, `notes`."""
    return Engine.open([Root("notes", folder)], state_dir=state)


def environment(folder: str, **more: str) -> Mapping[str, str]:
    """The whole environment of a child: a home of its own, and byte code that is kept between children."""
    home = os.path.join(folder, "home")
    os.makedirs(home, exist_ok=True)
    return {
        "PATH": os.path.dirname(sys.executable) + ":/usr/bin:/bin",
        "HOME": home,
        "MEMTUI_HOME": os.path.join(folder, "memtui"),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
        "PYTHONPYCACHEPREFIX": os.path.join(folder, "bytecode"),
        **more,
    }
