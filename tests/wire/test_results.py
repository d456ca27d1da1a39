"""Answers of changes that half succeed."""

import io

import pytest

from memtui.engine.model import Address, Conflict, Done, Outcome, Saved
from memtui.errors import ConflictError, MemtuiError, RefusedError
from memtui.wire import results
from memtui.wire.output import Output
from tests.cli.conftest import Piped

A, B = Address("r", "a.md"), Address("r", "b.md")
SHA = "ab" * 32
GOOD = Outcome(A, Saved(B, SHA, SHA, "t"), None, B)
BAD = Outcome(B, None, RefusedError("Not this one.", code="E_PROTECTED"))


@pytest.fixture
def out() -> Output:
    return Output(stdout=Piped(io.BytesIO(), "utf-8"), stderr=Piped(io.BytesIO(), "utf-8"))


def test_half_done_has_the_exit_number_of_the_first_failure(out: Output) -> None:
    assert results.done(out, Done("t", "rename", (GOOD, BAD))) == 5
    assert results.done(out, Done("t", "rename", (GOOD,))) == 0


def test_a_single_failure_is_raised(out: Output) -> None:
    with pytest.raises(MemtuiError, match="Not this one"):
        results.done(out, Done("t", "delete", (BAD,)))


def test_a_conflict_tells_how_to_go_on() -> None:
    changed = results.conflict(Conflict(A, SHA, None, SHA, "t"))
    assert changed.hint == f"Compare them with memtui diff r/a.md {SHA[:12]}, then save again with --expect {SHA}."
    assert changed.details["current_sha256"] == SHA
    gone = results.conflict(Conflict(A, None, SHA, SHA, "t"))
    assert "deleted" in gone.message
    assert gone.hint.endswith("--expect absent.")


def test_a_conflict_inside_an_operation_counts_as_failure(out: Output) -> None:
    conflict = Outcome(A, Conflict(A, SHA, SHA, SHA, "t"))
    assert isinstance(results.failure(conflict), ConflictError)
    assert results.done(out, Done("t", "undo", (GOOD, conflict))) == 3
