"""What the activity reads: pages and filters, the texts of a step, its lines, and taking it back alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import AuditRecord
from memtui.features.activity.view_rows import ActivityItem, Steps, item_runs
from memtui.features.activity.view_texts import PageFilter, count, load, show, take_back
from memtui.ui.draw.difference import DiffStyle
from memtui.ui.draw.text import RowStyle
from tests.engine.settling import settle
from tests.workbench.views.real import CLAUDE, ME, World, at, write


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def engine(world: World) -> Iterator[Engine]:
    with world.engine() as engine:
        engine.watch.reconcile()
        yield engine


def items(engine: Engine, only: PageFilter = PageFilter()) -> list[ActivityItem]:  # noqa: B008
    loaded = load(engine, only, None)
    steps = Steps()
    steps.operations = {one.txn: one for one in loaded.operations}
    steps.extend(loaded.records)
    return steps.shown


def page(engine: Engine, item: ActivityItem) -> str:
    drawn = show(engine, item, None, "", item.step.at, DiffStyle(70))
    return "\n".join("".join(words for words, _ in line.runs) for line in drawn.page)


def test_pages_follow_each_other_to_the_end(engine: Engine) -> None:
    for number in range(7):
        engine.memories.create(at(f"{number}.md"), "x\n", actor=ME)
    found: list[AuditRecord] = []
    before, complete = None, False
    while not complete:
        loaded = load(engine, PageFilter(), before, limit=3)
        found += loaded.records
        before, complete = loaded.reached, loaded.complete
    assert tuple(found) == engine.history.audit(limit=100)


def test_a_page_asks_for_no_more_than_it_shows(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        engine.memories.create(at(f"{number}.md"), "x\n", actor=ME)
    asked = []
    audit = engine.history.audit

    def spy(**options: object) -> tuple[AuditRecord, ...]:
        asked.append(options["limit"])
        return audit(**options)  # type: ignore[arg-type]

    monkeypatch.setattr(engine.history, "audit", spy)
    assert len(load(engine, PageFilter(), None, limit=4).records) == 4
    assert asked == [4]


def test_filters_find_what_is_far_back_and_can_be_stopped(engine: Engine) -> None:
    engine.memories.create(at("needle.md"), "x\n", actor=CLAUDE)
    for number in range(9):
        engine.memories.create(at(f"{number}.md"), "x\n", actor=ME)
    for only in (PageFilter(("needle",)), PageFilter(who="claude"), PageFilter(("create", "needle"), "claude")):
        loaded = load(engine, only, None, limit=2)
        assert [one.address.path for one in loaded.records] == ["needle.md"]
        assert loaded.complete
    stopped = load(engine, PageFilter(("needle",)), None, stop=lambda: True)
    assert not stopped.records
    assert not stopped.complete


def test_a_filter_finds_the_words_a_row_shows_of_its_operation(engine: Engine) -> None:
    for name in ("b.md", "c.md"):
        engine.memories.create(at(name), "x\n", actor=ME)
    engine.memories.delete([at("b.md"), at("c.md")], actor=ME)
    engine.undo.undo(actor=ME)

    def found(*words: str) -> list[str]:
        loaded = load(engine, PageFilter(words), None)
        kinds = {one.txn: one.kind for one in loaded.operations}
        return [f"{kinds[record.txn]} {record.address.path}" for record in loaded.records]

    assert found("undo", "you", "c.md") == ["undo c.md", "do c.md"]
    assert found("undone", "c.md") == ["do c.md"]
    assert sorted(found("delete", "2", "memories", "undone")) == ["do b.md", "do c.md"]
    assert not found("undone", "create")


def test_each_kind_of_step_is_shown(engine: Engine, world: World) -> None:
    write(engine, ["one\n", "two\n"], at("a.md"))
    engine.memories.rename(at("a.md"), at("b.md"), actor=ME)
    engine.pins.set([at("b.md")], pinned=True, actor=ME)
    engine.memories.delete([at("b.md")], actor=ME)
    engine.save(at("c.md"), "mine\n", expected_sha256="0" * 64, actor=ME)
    pages = [page(engine, item) for item in items(engine)]
    assert "It was refused: somebody else was first." in pages[0]
    assert "It held:" in pages[1]
    assert "1  two" in pages[1]
    assert "No text was changed." in pages[2]
    assert "Only the name changed." in pages[3]
    assert "1 - one" in pages[4]
    assert "1 + two" in pages[4]
    assert "It was new:" in pages[5]


def test_a_text_that_is_gone_is_said_to_be(engine: Engine) -> None:
    write(engine, ["a key\n", "none\n"], at("a.md"))
    engine.redaction.redact(at("a.md"), engine.history.of(at("a.md"))[1].sha256, reason="it held a key", actor=ME)
    redaction, edit, _ = items(engine)
    assert "it held a key" in page(engine, edit)
    assert "Note: it held a key" in page(engine, redaction)


def test_lines_are_counted_and_binary_ones_are_not(engine: Engine, world: World) -> None:
    write(engine, ["one\ntwo\n", "one\nthree\nfour\n"], at("a.md"))
    engine.memories.create(at("b.md"), b"\x00\x01\n", actor=ME)
    found = count(engine, engine.history.audit())
    assert [found[one.seq] for one in engine.history.audit()] == [(0, 0), (2, 1), (2, 0)]


def test_what_others_did_is_taken_back_alone(engine: Engine, world: World) -> None:
    engine.memories.create(at("a.md"), "one\n", actor=ME)
    engine.changes.mark_seen(None)
    (world.folder / "a.md").write_text("theirs\n")
    settle(engine)
    engine.memories.create(at("b.md"), "later\n", actor=ME)
    outside = next(item for item in items(engine) if item.records[0].actor == "outside")
    assert all(outcome.ok for outcome in take_back(engine, outside, ME).outcomes)
    assert world.disk() == {"a.md": b"one\n", "b.md": b"later\n"}
    engine.undo.undo(actor=ME)
    assert world.disk()["a.md"] == b"theirs\n"


def test_a_setting_is_no_approval(engine: Engine) -> None:
    engine.history.record_setting(at("x").root, "transcripts.read = off", known=False)
    (item,) = items(engine)
    runs = item_runs(item, Steps(), {}, 90, RowStyle(item.step.at), next_undo=None)
    row = "".join(words for words, _ in runs)
    assert "set      transcripts.read = off" in row
    text = page(engine, item)
    assert "A setting. No text was changed." in text
    assert "pprov" not in row + text
