"""Exports: bytes, pins, uses and history of memories; what cannot go along is said."""

import os
from pathlib import Path

import pytest

from memtui.errors import NotFoundError
from memtui.features.bundles.bundle import read
from memtui.features.bundles.export import collect
from tests.features.transfer.machines import ME, Machine


def test_what_cannot_go_along_is_said(tmp_path: Path) -> None:
    here = Machine(tmp_path)
    here.write("a.md", b"one\n")
    (here.folder / os.fsdecode(b"b\xff.md")).write_bytes(b"x")
    (here.folder / "big.md").write_bytes(b"x" * 2_000_000)
    found = collect(here.engine, here.engine.rows.list().items, history=True)
    assert [memory.path for memory in found.bundle.memories] == ["a.md"]
    assert len(found.left) == 2


def test_a_redacted_version_does_not_go_along(tmp_path: Path) -> None:
    here = Machine(tmp_path)
    here.write("a.md", b"secret\n")
    here.write("a.md", b"two\n")
    old = here.engine.history.of(here.at("a.md"))[-1].sha256
    here.engine.redaction.redact(here.at("a.md"), old, reason="a token", actor=ME)
    data = here.export(history=True)
    assert b"secret" not in data
    assert [past.data for past in read(data).memories[0].history] == [b"two\n"]


def test_nothing_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        Machine(tmp_path).export()
