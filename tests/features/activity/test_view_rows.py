"""The audit as steps: each record once, whatever the pages; rows fit and are safe; texts, lines, and one step back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.model import Address, AuditRecord, Operation
from memtui.features.activity.view_rows import (
    TOGETHER_MS,
    ActivityItem,
    PageFilter,
    Steps,
    change_of,
    count,
    heading,
    item_runs,
    load,
    matches,
    show,
    step_state,
    step_words,
    strip,
    strip_records,
    take_back,
)
from memtui.safe_text import cell_width
from memtui.ui.draw.difference import DiffStyle
from memtui.ui.draw.text import RowStyle
from tests.engine.settling import settle
from tests.workbench.views.real import CLAUDE, ME, World, at, write

NOW = 1_767_225_600_000
LOOK = RowStyle(NOW)


def record(seq: int, txn: str = "", **rest: object) -> AuditRecord:
    base = AuditRecord(
        seq, txn, Address("notes", f"{seq}.md"), None, "outside", "modified", "a" * 64, "b" * 64, NOW, "done"
    )
    return base._replace(**rest)  # type: ignore[arg-type]


def steps_of(*records: AuditRecord) -> Steps:
    found = Steps()
    found.extend(records)
    return found


def words(item: ActivityItem, steps: Steps, width: int = 100) -> str:
    return "".join(text for text, _ in item_runs(item, steps, width, LOOK))


def test_one_operation_is_one_row_that_opens() -> None:
    steps = steps_of(record(9, "3"), record(8), record(7, "3"), record(6, "2"))
    assert [[one.seq for one in step.records] for step in steps.steps] == [[9, 7], [8], [6]]
    assert [item.record for item in steps.shown] == [None, None, None]
    steps.set_open(steps.steps[0], wide=True)
    assert [item.record.seq if item.record else None for item in steps.shown] == [None, 9, 7, None, None]
    steps.extend([record(5, "3"), record(4, "1")])
    assert [item.record.seq if item.record else None for item in steps.shown] == [None, 9, 7, 5, None, None, None]
    steps.set_open(steps.steps[0], wide=False)
    assert len(steps.shown) == 4


def test_what_others_did_at_once_is_one_row() -> None:
    apart = NOW - TOGETHER_MS - 1
    steps = steps_of(record(9), record(8), record(7, actor="agent:x"), record(6, at=apart), record(5, at=apart))
    assert [len(step.records) for step in steps.steps] == [2, 1, 2]
    assert step_words(steps.steps[0], None) == "2 changed  in notes"


def test_what_an_operation_says() -> None:
    steps = steps_of(record(2, "1", operation="deleted", after=None), record(1, "1", operation="deleted", after=None))
    operation = Operation("1", "do", "delete 2 memories", 2, undone=False)
    steps.operations = {"1": operation}
    assert "delete 2 memories" in words(steps.shown[0], steps)
    steps.next_undo = "1"
    assert words(steps.shown[0], steps).endswith("  u undo")
    steps.next_undo = None
    steps.operations = {"1": operation._replace(undone=True)}
    assert words(steps.shown[0], steps).endswith("  undone")
    steps.operations = {"1": operation._replace(kind="undo")}
    assert "undo: delete 2 memories" in words(steps.shown[0], steps)


def test_how_it_ended_is_a_word() -> None:
    steps = steps_of(
        record(9, "3", state="conflict"),
        record(8, "2", state="intent"),
        record(7, "1", state="aborted"),
        record(6, "1"),
    )
    assert [step_state(item, None) for item in steps.shown] == ["conflict", "running", "1 aborted"]
    assert "It was refused: somebody else was first." in heading(steps.shown[0], None, NOW)[2]


def test_the_filter_knows_who_what_where_and_how() -> None:
    one = record(1, "1", actor="agent:claude", new_address=Address("notes", "Other.md"), state="conflict")
    for query in (["claude"], ["1.md", "other"], ["conflict"], ["edit"], []):
        assert matches(one, query)
    assert not matches(one, ["claude", "codex"])


def test_a_record_is_a_change_that_can_be_taken_back() -> None:
    kinds = [
        change_of(one).kind
        for one in (
            record(1),
            record(1, before=None),
            record(1, after=None),
            record(1, new_address=Address("notes", "x.md")),
            record(1, operation="restored"),
        )
    ]
    assert kinds == ["modified", "created", "deleted", "renamed", "modified"]


def test_the_strip_says_the_newest_three_as_the_sketch_does() -> None:
    records = [
        record(9, actor="agent:claude", address=Address("project", "retry.md")),
        record(8, "2", actor="tui", operation="renamed", new_address=Address("notes", "todo.md"), after="a" * 64),
        record(7, "1", actor="tui", operation="pin"),
        record(6, "1", actor="tui", operation="pin"),
        record(5),
    ]
    pins = Operation("1", "do", "pin 2 memories", 2, undone=False)
    lines = ["".join(text for text, _ in line) for line in strip(records, [pins], {9: (2, 1)}, "2", LOOK, 100)]
    assert len(lines) == 3
    assert lines[0].split() == ["00:00", "agent", "claude", "edit", "project/retry.md", "+2", "-1"] or ":" in lines[0]
    assert lines[0].endswith("+2 -1")
    assert "rename   notes/8.md -> todo.md" in lines[1]
    assert lines[1].endswith("u undo")
    assert "pin 2 memories" in lines[2]


def test_a_row_says_how_many_lines_only_when_all_of_it_was_counted() -> None:
    records = [record(seq, "1", actor="tui") for seq in (9, 8)]
    pair = Operation("1", "do", "edit 2 memories", 2, undone=False)
    half, whole = (strip(records, [pair], counts, None, LOOK, 100) for counts in ({9: (2, 1)}, {9: (2, 1), 8: (3, 0)}))
    assert "+" not in "".join(text for text, _ in half[0])
    assert "".join(text for text, _ in whole[0]).endswith("+5 -1")


def test_the_strip_counts_the_records_of_three_small_steps() -> None:
    mass = [record(seq, "4", actor="tui") for seq in range(90, 60, -1)]
    rest = [record(8, "3", actor="tui"), record(7, "2", actor="tui"), record(6, "1", actor="tui")]
    assert [one.seq for one in strip_records([*mass, *rest])] == [8, 7]


RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["", "", "1", "2", "3"]),
        st.sampled_from(["outside", "tui", "agent:claude"]),
        st.integers(0, 3_000),
        st.sampled_from(["done", "aborted", "conflict", "intent"]),
        st.sampled_from(["modified", "created", "pin", "odd\x1b[31m"]),
    ),
    max_size=30,
)


def made(parts: list[tuple[str, str, int, str, str]]) -> list[AuditRecord]:
    at = NOW
    found = []
    for number, (txn, actor, gap, state, operation) in enumerate(parts):
        at -= gap
        seq = len(parts) - number
        found.append(record(seq, txn, actor=actor, at=at, state=state, operation=operation))
    return found


@given(RECORDS, st.integers(1, 7), st.sets(st.integers(0, 30)))
def test_pages_make_no_difference_and_each_record_is_there_once(
    parts: list[tuple[str, str, int, str, str]], page: int, opened: set[int]
) -> None:
    records = made(parts)
    whole, paged = steps_of(*records), Steps()
    for start in range(0, len(records), page):
        paged.extend(records[start : start + page])
        for index in opened:
            if index < len(paged.steps):
                paged.set_open(paged.steps[index], wide=True)
    assert paged.steps == whole.steps
    assert sorted(one.seq for step in paged.steps for one in step.records) == list(range(1, len(records) + 1))
    rows = [item.step.key for item in paged.shown if item.record is None]
    assert rows == [step.key for step in paged.steps]
    for item in paged.shown:
        assert item.record is None or paged.is_open(item.step)


@given(RECORDS, RECORDS, st.integers(1, 40))
def test_news_keep_what_was_loaded_and_leave_no_gap(
    old: list[tuple[str, str, int, str, str]], new: list[tuple[str, str, int, str, str]], limit: int
) -> None:
    older = made(old)
    newer = [one._replace(seq=one.seq + len(older), at=one.at + 10_000) for one in made(new)]
    every = [*newer, *older]
    steps = steps_of(*older)
    steps.reached, steps.complete = 1, True
    page = every[:limit]
    kept = steps.renew(page, page[-1].seq if page else None)
    shown = sorted((one.seq for step in steps.steps for one in step.records), reverse=True)
    wanted = [one.seq for one in every] if kept else [one.seq for one in page]
    assert shown == wanted
    assert kept or not older or not page or older[0].seq < page[-1].seq


@example(
    parts=[("1", "outside", 0, state, "modified") for state in ("done", "aborted", "conflict", "intent")],
    width=84,
    plain=False,
)
@given(RECORDS, st.integers(40, 200), st.booleans())
def test_each_row_fits_and_is_safe(parts: list[tuple[str, str, int, str, str]], width: int, plain: bool) -> None:
    steps = steps_of(*made(parts))
    for step in list(steps.steps):
        steps.set_open(step, wide=True)
    for item in steps.shown:
        steps.next_undo = "1"
        runs = item_runs(item, steps, width, RowStyle(NOW, plain))
        text = "".join(words for words, _ in runs)
        assert cell_width(text) <= max(width, 70)
        assert "\x1b" not in text


def test_a_note_names_versions_by_twelve_digits() -> None:
    noted = record(1, "1")._replace(note=f"merge: base none, yours {'c' * 64}, result {'d' * 64}; 2 of YOURS")
    lines = "\n".join(heading(steps_of(noted).shown[0], None, NOW))
    assert f"Note: merge: base none, yours {'c' * 12}, result {'d' * 12}; 2 of YOURS" in lines


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
    return list(steps.shown)


def page(engine: Engine, item: ActivityItem) -> str:
    drawn, _ = show(engine, item, None, "", item.step.at, DiffStyle(70))
    return "\n".join("".join(words for words, _ in line.runs) for line in drawn)


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
    runs = item_runs(item, Steps(), 90, RowStyle(item.step.at))
    row = "".join(words for words, _ in runs)
    assert "set      transcripts.read = off" in row
    text = page(engine, item)
    assert "A setting. No text was changed." in text
    assert "pprov" not in row + text
