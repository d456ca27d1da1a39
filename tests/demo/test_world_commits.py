"""The commits of the demonstration's project: what a memory names was moved by one, and git names who wrote lines."""

from memtui.engine import now_ms
from memtui.features.blame.lines import blame
from memtui.features.claims.find import finder
from memtui.features.tasks.work import Workspace
from memtui.wire.session import Session
from tests.demo.test_life_cycle import lane

__all__ = ["lane"]


def test_a_commit_moved_what_a_memory_names_and_git_names_who_wrote_another(lane: tuple[Session, Workspace]) -> None:
    engine = lane[0].engine
    rows = engine.rows.list().items
    find = finder(engine, rows, now_ms())
    found = [(row.address.path, one) for row in rows for one in find(row, engine.read_bytes(row.address))]
    (moved,) = [(path, one.text) for path, one in found if one.rule.severity == "W"]
    assert moved[0] == "load-test.md"
    assert "bench/august.py" in moved[1]
    file = f"{lane[0].surroundings.project}/CLAUDE.md"
    (own,) = [row.address for row in rows if engine.roots.file_path(row.address) == file]
    assert {(run.level, run.actor) for run in blame(engine, own).runs} == {("git", "Marit Okonkwo")}
