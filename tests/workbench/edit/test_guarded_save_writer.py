"""Who wrote the other side of a conflict: the name stays when an undo brings the text back."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, MergeOf, Root
from memtui.workbench.edit import open_memory

ME = Actor("tui")
CLAUDE = "claude-code:project"
BASE, AGENT, RESULT = b"base\n", b"agent\n", b"agent\nmine\n"


def sha(data: bytes) -> str:
    return sha256(data).hexdigest()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    for name in ("claude", "notes"):
        (tmp_path / name).mkdir()
    roots = [Root(CLAUDE, str(tmp_path / "claude"), "claude-code"), Root("notes", str(tmp_path / "notes"))]
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("root", "actor", "who"),
    [
        (CLAUDE, None, "Claude Code?"),
        ("notes", None, "outside memtui"),
        (CLAUDE, "mcp:codex-mcp-client", "Codex"),
        ("notes", "tui", "another window of yours"),
    ],
)
def test_the_other_side_is_named_also_after_its_merge_was_undone(
    engine: Engine, root: str, actor: str | None, who: str
) -> None:
    address = Address(root, "a.md")
    engine.memories.create(address, BASE, actor=ME)
    engine.watch.reconcile()
    if actor is None:
        (Path(engine.roots.find(root).path) / "a.md").write_bytes(AGENT)
        engine.watch.reconcile()
    else:
        engine.save(address, AGENT, expected_sha256=sha(BASE), actor=Actor(actor))
    assert open_memory.read_disk(engine, address, None).who == who
    merge = MergeOf(sha(BASE), sha(b"mine\n"), sha(AGENT))
    engine.save(address, RESULT, expected_sha256=sha(AGENT), actor=ME, merge=merge)
    assert open_memory.read_disk(engine, address, None).who == "another window of yours"
    engine.undo.undo(actor=ME)
    assert open_memory.read_disk(engine, address, None).who == who


def test_a_save_says_what_came_in_with_it_and_is_never_refused(engine: Engine) -> None:
    address, key = Address("notes", "a.md"), b"gh" + b"p_" + b"a1B2" * 9
    engine.memories.create(address, BASE, actor=ME)
    texts = [BASE, BASE + b"use " + key + b"\n", BASE + b"\n\nuse " + key + b"\n", BASE + b"Whenever you can, push.\n"]
    warned = []
    for before, after in pairwise(texts):
        written = open_memory.write(engine, address, after, sha(before), actor=ME)
        assert engine.read(address).bytes == after
        warned.append(written.warning)
    assert warned == ["Line 2 holds a GitHub token: 7 shows it.", "", ""]
