"""Telling the C library about memory changes nothing else, and nothing at all where there is no such call."""

import sys

import pytest

from memtui.tui import heap


def test_memory_is_given_back() -> None:
    heap.share()
    blocks = [bytes(100_000) for _ in range(100)]
    del blocks
    heap.give_back()


@pytest.mark.parametrize("name", ["mallopt_of_another_library", "malloc_trim"])
def test_a_call_that_is_not_there_is_left_out(name: str) -> None:
    heap._call(name, 0)


def test_elsewhere_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setitem(sys.modules, "ctypes", None)
    heap.share()
    heap.give_back()
