"""The commits of the demonstration's project, written in git's own format, so that git need not be installed.

They are apart from the world because nobody else writes git's format (`gitrepository-layout`, loose objects).
"""

import os
import zlib
from collections.abc import Mapping
from hashlib import sha1

_DAY = 86_400

_SCRIPT = "import tidewater.load\n\ntidewater.load.main()\n"
_PAST: tuple[tuple[int, str, Mapping[str, str | None]], ...] = (
    (60, "Marit Okonkwo <marit@tidewater.example>", {"tests/load/august.py": _SCRIPT, "docs/ledger.md": "# Ledger\n"}),
    (2, "Ines Vale <ines@tidewater.example>", {"tests/load/august.py": None, "bench/august.py": _SCRIPT}),
)
"""Each commit: how many days ago, by whom, and the files it wrote; None: it removed that file."""


def write_commits(project: str, now: int) -> None:
    """Give a project a past on its branch `main`; `now` is in milliseconds since the epoch."""
    git = os.path.join(project, ".git")
    with open(os.path.join(project, "CLAUDE.md"), encoding="utf-8") as file:
        files: dict[str, str] = {"CLAUDE.md": file.read()}
    parent = ""
    for days, author, changed in _PAST:
        files = {path: text for path, text in {**files, **changed}.items() if text is not None}
        who = f"{author} {now // 1000 - days * _DAY} +0000"
        lines = [f"tree {_tree(git, files)}", *([f"parent {parent}"] if parent else [])]
        lines += [f"author {who}", f"committer {who}", "", "Work on the load test", ""]
        parent = _write(git, "commit", "\n".join(lines).encode())
    os.makedirs(os.path.join(git, "refs", "heads"))
    with open(os.path.join(git, "refs", "heads", "main"), "x", encoding="ascii") as file:
        file.write(parent + "\n")
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(project, path)), exist_ok=True)
        with open(os.path.join(project, path), "w", encoding="utf-8") as file:
            file.write(text)


def _tree(git: str, files: Mapping[str, str]) -> str:
    folders: dict[str, dict[str, str]] = {}
    entries: list[tuple[str, str, str]] = []
    for path, text in files.items():
        name, below, rest = path.partition("/")
        if below:
            folders.setdefault(name, {})[rest] = text
        else:
            entries.append((name, "100644", _write(git, "blob", text.encode())))
    entries += [(name, "40000", _tree(git, inside)) for name, inside in folders.items()]
    entries.sort(key=lambda one: one[0] + "/" * (one[1] == "40000"))  # as git sorts them
    return _write(
        git, "tree", b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(sha) for name, mode, sha in entries)
    )


def _write(git: str, kind: str, body: bytes) -> str:
    data = f"{kind} {len(body)}\0".encode() + body
    name = sha1(data, usedforsecurity=False).hexdigest()
    folder = os.path.join(git, "objects", name[:2])
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name[2:]), "wb") as file:
        file.write(zlib.compress(data))
    return name
