"""What waits for a decision in the demonstration, found and carried out by the real thing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.config.read import load_settings
from memtui.config.surroundings import surroundings_from
from memtui.demo import world
from memtui.demo.life_cycle import choose_worker
from memtui.demo.worker import MARK
from memtui.engine import now_ms
from memtui.engine.model import Actor
from memtui.engine.observation import NORMAL, PRIVATE, REDACTED
from memtui.engine.task import COMPLETED, FAILED
from memtui.features.actors import session_words
from memtui.features.health.survey import IndexChecker
from memtui.features.observations.find import catch_up, open_cards
from memtui.features.observations.model import SessionScope
from memtui.features.proposals import apply
from memtui.features.sessions.read_touches import read_touches
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.work import Workspace, workspace_of
from memtui.wire.session import Options, Session, open_in

YOU = Actor("tui")


@pytest.fixture
def lane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Session, Workspace]]:
    """The demonstration as it opens, with its lane."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    now = now_ms()
    made = world.build(waiting_at=now)
    settings = load_settings({"HOME": made.folder, "MEMTUI_HOME": made.memtui_home})
    around = surroundings_from(settings, cwd=made.project)._replace(system_dir=made.system)
    lane = workspace_of(around)
    world.live(around, settings.state_dir, now=now, lane=lane.id)
    session = open_in(around, settings, Options(), lock_wait=5)
    catch_up(session.engine, seconds=None, sessions=SessionScope(settings, around))
    yield session, lane
    session.engine.close()


def work(session: Session, lane: Workspace, *kinds: str) -> None:
    for kind in kinds:
        session.engine.tasks.enqueue(kind, lane.id, "tui", {}, trigger="manual")
    assert work_off(session, workspace=lane, stop=bool) == len(kinds)


def test_one_thing_of_each_kind_can_be_tidied_up(lane: tuple[Session, Workspace]) -> None:
    work(*lane, "dream")
    found = lane[0].engine.proposals.all()
    assert {one.by for one in found} == {
        f"rule:{rule}" for rule in ("dangling", "exact", "near", "describe", "date", "unkept")
    }
    assert len(found) == 6
    assert {one.state for one in found} == {"open"}


def test_three_things_that_were_said_are_proposed_and_an_order_to_agents_is_blocked(
    lane: tuple[Session, Workspace],
) -> None:
    work(*lane, "extract")
    found = lane[0].engine.proposals.all()
    assert sorted((one.by, one.state) for one in found) == [
        ("rule:correction", "open"),
        ("rule:explicit", "blocked"),
        ("rule:explicit", "open"),
        ("rule:project", "open"),
    ]
    assert all(one.evidence[0].quote for one in found)
    work(*lane, "extract")
    assert len(lane[0].engine.proposals.all()) == len(found)


def test_a_worker_of_its_own_adds_to_both_once_loses_text_and_says_that_it_is_no_model(
    lane: tuple[Session, Workspace],
) -> None:
    session, workspace = lane
    engine = session.engine
    choose_worker(session.settings.directories.config, seconds=0)
    work(*lane, "dream", "extract")
    run = engine.tasks.runs(workspace.id, "dream")[0]
    assert (run.worker, run.outcome, run.counts["asked"]) == ("command", "completed", 5)
    added = [one for one in engine.proposals.all() if one.by == "command"]
    assert [(one.kind, one.state, "loses text" in one.note) for one in added] == [
        ("merge", "open", True),
        ("describe", "open", False),
    ]
    (failed,) = engine.tasks.all(workspace.id, (FAILED,))
    engine.tasks.retry(failed.id)
    assert work_off(session, workspace=workspace, stop=bool) == 1
    added = [one for one in engine.proposals.all() if one.by == "command"]
    assert (added[-1].kind, added[-1].evidence[0].quote) == ("add", "Lorries board before cars on the Halcyon")
    assert all(one.why.startswith(MARK) for one in added)
    assert not engine.proposals.all(("applied", "accepted"))


def test_all_of_it_can_be_accepted_together_and_taken_back(lane: tuple[Session, Workspace]) -> None:
    engine = lane[0].engine
    home = Path(lane[0].settings.home or "")
    work(*lane, "dream", "extract")
    before = {path: path.read_bytes() for path in home.rglob("*.md")}
    ids = [one.id for one in engine.proposals.all(("open",))]
    apply.decide(engine, ids, "accepted", actor=YOU)
    done = apply.carry_out(engine, ids, actor=YOU)
    assert {engine.proposals.get(one).state for one in ids} == {"applied"}
    assert {path: path.read_bytes() for path in home.rglob("*.md")} != before
    engine.undo.undo(actor=YOU)
    assert done.txn
    assert {path: path.read_bytes() for path in home.rglob("*.md")} == before


def test_something_was_remembered_and_something_failed_which_goes_when_it_is_tried_again(
    lane: tuple[Session, Workspace],
) -> None:
    session, workspace = lane
    tasks = session.engine.tasks
    failed, done = tasks.all(workspace.id)
    assert (failed.kind, failed.state, done.kind, done.state) == ("extract", FAILED, "remember", COMPLETED)
    assert done.txn
    row = session.engine.rows.get(session.engine.roots.resolve("memtui:global/user/tides.md"))
    assert abs(row.modified_at - done.updated) < 1_000
    assert now_ms() - done.updated > 25 * world.HOUR
    tasks.retry(failed.id)
    assert work_off(session, workspace=workspace, stop=bool) == 1
    assert tasks.get(failed.id).state == COMPLETED


def test_only_what_agents_wrote_lately_is_unseen(lane: tuple[Session, Workspace]) -> None:
    engine = lane[0].engine
    engine.watch.reconcile()
    unseen = {change.address.path for change in engine.changes.unseen()}
    assert unseen == {"project_payments.md", "domain/sailings.md", "deploy.md"}


def test_a_conflict_waits_that_both_sides_wrote_in_one_line(lane: tuple[Session, Workspace]) -> None:
    engine = lane[0].engine
    (draft,) = engine.drafts.all()
    now = engine.read(draft.address)
    assert now.sha256 != draft.base_sha256
    base = engine.history.read(draft.address, draft.base_sha256 or "").decode()
    ours, theirs = (text.splitlines() for text in (draft.text, now.text))
    differ = [number for number, line in enumerate(base.splitlines()) if line not in (ours[number], theirs[number])]
    assert len(differ) == 1
    assert engine.changes.unseen()[0].actor == "mcp:claude-code"


def test_an_index_is_cut_and_its_newest_lines_are_below(lane: tuple[Session, Workspace]) -> None:
    session = lane[0]
    reports = IndexChecker().look(session.engine, session.roots, None)
    (index,) = [one for one in reports if one.address.root.startswith("claude-code:project:") and one.below]
    assert {finding.kind for finding in index.findings} >= {"cut", "dangling"}
    assert "project_payments.md" in {address.path for address in index.below}


def test_what_an_agent_wrote_lately_has_an_author_who_had_looked_at_the_web(lane: tuple[Session, Workspace]) -> None:
    session = lane[0]
    session.engine.watch.reconcile()
    read_touches(session.engine, session.settings, session.surroundings)
    (change,) = [one for one in session.engine.changes.unseen() if one.address.path == "project_payments.md"]
    said = session_words(session.engine, change.address, change.after)
    assert said == [
        "Session e27d90b4-6c1f-4b83-a5de-10f4c2b76603 of Claude Code says it wrote this, after web: audits.example.",
        "Asked: When does the audit end? Their page should say it by now.",
    ]


def test_there_is_a_card_of_each_kind_and_what_is_private_is_in_none(lane: tuple[Session, Workspace]) -> None:
    session, _ = lane
    reach = SessionScope(session.settings, session.surroundings)
    with open_cards(session.engine, private=True, sessions=reach, seconds=60) as look:
        assert look.reader is not None
        cards = look.reader.newest(look.wanted._replace(hidden=True), 500)
    assert {card.kind for card in cards} == {"memory", "note", "session"}
    assert {card.type for card in cards} >= {
        "correction",
        "decision",
        "constraint",
        "fix",
        "error",
        "change",
        "preference",
    }
    assert {card.state for card in cards} == {NORMAL, PRIVATE, REDACTED}
    assert sorted(card.path for card in cards if card.state == PRIVATE and card.root) == ["people.md"]
    assert not [card for card in cards if "4711" in f"{card.title}{card.narrative}" or "0142" in card.narrative]
    with open_cards(session.engine, client="claude-code", sessions=reach) as look:
        assert look.reader is not None
        given = look.reader.newest(look.wanted, 500)
    assert not {card.state for card in given} - {NORMAL}
    assert {card.kind for card in given} == {"memory", "note", "session"}
