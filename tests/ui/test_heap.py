"""Telling of memory: to the C library, where there is such a call, and to the collector; and nothing else changes."""

import gc
import sys

import pytest

from memtui.ui import process


def test_memory_is_given_back() -> None:
    process.use_one_heap()
    blocks = [bytes(100_000) for _ in range(100)]
    del blocks
    process.trim()


def test_what_is_kept_is_looked_at_by_the_collector_again_when_it_is_let_go() -> None:
    rows = [[number] for number in range(1_000)]
    try:
        process.freeze()
        assert gc.get_freeze_count() > len(rows)
        assert not any(one is rows for one in gc.get_objects())
    finally:
        process.unfreeze()
    assert gc.get_freeze_count() == 0
    assert any(one is rows for one in gc.get_objects())


@pytest.mark.parametrize("name", ["mallopt_of_another_library", "malloc_trim"])
def test_a_call_that_is_not_there_is_left_out(name: str) -> None:
    process._call(name, 0)


def test_elsewhere_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setitem(sys.modules, "ctypes", None)
    process.use_one_heap()
    process.trim()
