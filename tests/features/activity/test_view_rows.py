"""The audit as steps: each record exactly once, whatever the pages; one operation is one row; rows fit and are safe."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from memtui.engine.model import Address, AuditRecord, Operation
from memtui.features.activity.view_rows import (
    TOGETHER_MS,
    ActivityItem,
    Steps,
    change_of,
    heading,
    item_runs,
    matches,
    step_state,
    step_words,
    strip,
    strip_records,
)
from memtui.safe_text import cell_width
from memtui.ui.draw.text import RowStyle

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


def words(item: ActivityItem, steps: Steps, width: int = 100, **rest: object) -> str:
    options = {"next_undo": None, **rest}
    return "".join(text for text, _ in item_runs(item, steps, {}, width, LOOK, **options))  # type: ignore[arg-type]


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
    assert words(steps.shown[0], steps, next_undo="1").endswith("  u undo")
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
        runs = item_runs(item, steps, {}, width, RowStyle(NOW, plain), next_undo="1")
        text = "".join(words for words, _ in runs)
        assert cell_width(text) <= max(width, 70)
        assert "\x1b" not in text


def test_a_note_names_versions_by_twelve_digits() -> None:
    noted = record(1, "1")._replace(note=f"merge: base none, yours {'c' * 64}, result {'d' * 64}; 2 of YOURS")
    lines = "\n".join(heading(steps_of(noted).shown[0], None, NOW))
    assert f"Note: merge: base none, yours {'c' * 12}, result {'d' * 12}; 2 of YOURS" in lines
