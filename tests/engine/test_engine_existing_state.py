"""A state folder made by an earlier memtui: it opens, and nothing in it is lost."""

import os
from pathlib import Path

import apsw
import pytest

from memtui.engine import Engine
from memtui.engine.ledger.creation import LATEST
from memtui.engine.model import Actor, Address, Retention, Root, Saved

ME = Actor("tui")
NOW = 1_795_000_200_000
"""Two minutes after its last change."""
DEPLOY = "---\ndescription: How a change goes out\n---\nBuild, then ship.\n"
FILES = {
    "deploy.md": f"{DEPLOY}Then watch. Then sleep.\n",
    "newer.md": "Made by an agent.\n",
    "plan.md": "The plan of another program.\n",
    "style.md": "Four spaces.\n",
}
"""The folder as it was left."""


def at(name: str) -> Address:
    return Address("notes", name)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """The engine on that state folder, and on its root in another place."""
    state, folder = tmp_path / "state", tmp_path / "notes"
    state.mkdir(mode=0o700)
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    ledger = apsw.Connection(str(state / "state.db"))
    ledger.execute((Path(__file__).parent / "schema_12.sql").read_text())
    ledger.execute("UPDATE roots SET path = ?", (os.fsencode(os.path.realpath(folder)),))
    assert next(iter(ledger.execute("PRAGMA user_version"))) == (12,) < (LATEST,)
    ledger.close()
    root = Root(id="notes", agent="files", scope="global", label="notes", path=str(folder))
    # Nothing is pruned by age, whenever the test runs.
    keep = Retention(versions=20, days=36_500)
    return Engine.open([root], state_dir=str(state), clock=lambda: NOW, retention=keep)


def test_a_state_folder_of_an_earlier_version_opens_and_nothing_is_lost(engine: Engine) -> None:
    with engine:
        versions = engine.history.of(at("deploy.md"))
        assert [each.actor for each in versions] == ["mcp:codex", "tui", "outside"]
        assert [engine.history.read(at("deploy.md"), each.sha256).decode() for each in versions] == [
            FILES["deploy.md"],
            f"{DEPLOY}Then watch.\n",
            DEPLOY,
        ]
        assert {each.operation for each in engine.history.of(at("newer.md"))} == {"created", "renamed"}

        rows = {row.address.path: row for row in engine.rows.list().items}
        assert rows.keys() == FILES.keys()
        assert [name for name, row in rows.items() if row.pinned] == ["style.md"]
        assert (rows["style.md"].uses, rows["style.md"].heat > 0) == (1, True)
        assert {(each.address.path, each.actor) for each in engine.changes.unseen()} == {
            ("deploy.md", "mcp:codex"),
            ("plan.md", "outside"),
        }

        (draft,) = engine.drafts.all()
        assert (draft.address, draft.text, draft.cursor) == (at("style.md"), "Four spaces, no tabs.\n", (0, 11))
        conflict = engine.drafts.conflict(at("plan.md"))
        assert conflict is not None
        assert (conflict.yours, conflict.theirs) == (b"mine\n", FILES["plan.md"].encode())

        (entry,) = engine.undo.trash.entries()
        assert (entry.address, entry.actor) == (at("team/budget.md"), "tui")
        assert isinstance(engine.memories.restore(entry.address, actor=ME), Saved)
        assert engine.read(entry.address).bytes == b"Ten.\n"


def test_changes_of_an_earlier_version_are_taken_back(engine: Engine, tmp_path: Path) -> None:
    with engine:
        undone = [engine.undo.undo(actor=ME).label for _ in range(4)]
        assert undone == [
            "rename notes/new.md to notes/newer.md",
            "create notes/new.md",
            "delete notes/team/budget.md",
            "pin notes/style.md",
        ]
        assert engine.read(at("team/budget.md")).bytes == b"Ten.\n"
        assert not any(row.pinned for row in engine.rows.list().items)
        assert not (tmp_path / "notes" / "new.md").exists()
