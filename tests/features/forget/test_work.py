"""Forgetting as a task: found first, done by ids, within what a client may do, proposed for an agent."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine.model import Address
from memtui.engine.observation import ObservationMark
from memtui.engine.task import Task
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.work import workspace_of
from memtui.wire.session import Options, Session, open_session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    for scope in ("global", "project"):
        (tmp_path / scope).mkdir()
        (tmp_path / scope / "likes.md").write_text("- Use tabs\n- Use ruff\n", encoding="utf-8")
    roots = tuple(f"{scope[0]}={tmp_path / scope},scope={scope}" for scope in ("global", "project"))
    found = open_session(load_settings(read_environment()), Options(roots=roots, only_roots=True), lock_wait=5)
    yield found
    found.engine.close()


def done(session: Session, client: str = "http:page", **request: Any) -> Task:
    """Ask, and have it done."""
    lane = workspace_of(session.surroundings)
    task = session.engine.tasks.enqueue("forget", lane.id, client, request, trigger="manual")
    assert work_off(session, workspace=lane, stop=lambda: False) == 1
    return session.engine.tasks.get(task.id)


def result(task: Task) -> dict[str, Any]:
    """What came of it."""
    assert task.error is None, task.error
    return dict(task.result or {})


def test_a_query_shows_and_ids_take_exactly_the_line(session: Session, tmp_path: Path) -> None:
    found = result(done(session, query="tabs", scope="user"))
    (item,) = found["items"]
    assert (found["summary"], found["outcome"], item["title"], found["changes"]) == (
        "1 found.",
        "found",
        "Use tabs",
        [],
    )
    gone = done(session, ids=[item["id"]], apply=True)
    assert result(gone)["touchedScopes"] == ["user"]
    assert result(gone)["addresses"] == ["g/likes.md"]
    assert (tmp_path / "global/likes.md").read_text() == "- Use ruff\n"
    assert (tmp_path / "project/likes.md").read_text() == "- Use tabs\n- Use ruff\n"
    (record,) = session.engine.history.audit(txn=gone.txn)
    assert record.actor == "http:page"
    session.engine.undo.undo(actor=session.options.actor)
    assert (tmp_path / "global/likes.md").read_text() == "- Use tabs\n- Use ruff\n"


def test_nothing_goes_by_words_or_where_a_client_may_not_look(session: Session, tmp_path: Path) -> None:
    for request, code in (
        ({"query": "tabs", "apply": True}, "E_USAGE"),
        ({"query": ""}, "E_QUERY"),
        ({"ids": ["p/likes.md#9@abcdef"], "apply": True}, "E_CONFLICT"),
    ):
        task = done(session, **request)
        assert task.error is not None
        assert task.error[0] == code
    config = Path(session.settings.config_file)
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[access."http:page"]\nglobal = "off"\nproject = "ro"\n', encoding="utf-8")
    assert [one["id"][0] for one in result(done(session, query="tabs"))["items"]] == ["p"]
    assert result(done(session, ids=["g/likes.md"], apply=True))["outcome"] == "found"
    refused = done(session, ids=["p/likes.md"], apply=True)
    assert refused.error is not None
    assert refused.error[0] == "E_ACCESS"
    assert (tmp_path / "project/likes.md").exists()


def test_an_agents_becomes_a_proposal_that_says_what_goes(session: Session, tmp_path: Path) -> None:
    assert result(done(session, "agent:claude", ids=["p/likes.md"], apply=True))["outcome"] == "proposed"
    (waiting,) = session.engine.proposals.all(("open",))
    assert (waiting.kind, waiting.targets, waiting.evidence[0].name) == ("remove", ("p/likes.md",), "p/likes.md")
    assert (tmp_path / "project/likes.md").exists()


def test_what_is_private_is_found_and_told_to_a_person_alone(session: Session, tmp_path: Path) -> None:
    text = "<private>\nzebra\n</private> pangolin\n<private> giraffe"
    (tmp_path / "global/plan.md").write_text(text, encoding="utf-8")
    assert result(done(session, query="zebra"))["items"] == result(done(session, query="giraffe"))["items"] == []
    assert "zebra" not in str(result(done(session, query="pangolin")))
    assert "zebra" not in str(result(done(session, ids=["g/plan.md"])))
    assert len(result(done(session, "cli", query="zebra"))["items"]) == 1


def withhold(session: Session, address: Address) -> None:
    """Withhold a card of a memory."""
    (uid,) = (uid for uid, name in session.engine.roots.names().items() if name == address.root)
    mark = ObservationMark(b"n" * 10, 0, uid, address.path, b"", b"k" * 10, b"", 1)
    session.engine.observations.put(mark, actor="cli")


def test_only_a_person_is_told_of_what_is_withheld(session: Session) -> None:
    name = result(done(session, query="tabs", scope="user"))["items"][0]["id"]
    withhold(session, Address("g", "likes.md"))
    assert result(done(session, query="tabs", scope="user"))["items"] == []
    error = done(session, ids=[name]).error
    assert error is not None
    assert error[0] == "E_NOT_FOUND"
    assert len(result(done(session, "cli", query="tabs", scope="user"))["items"]) == 1
