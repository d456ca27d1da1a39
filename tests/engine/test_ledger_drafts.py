"""Conflicts that are being decided: kept with every text, as long as their draft, whatever retention does."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Draft, OpenConflict, Retention, Root

ME = Actor("tui")
A, B = Address("notes", "a.md"), Address("notes", "b.md")
BASE, YOURS, AGENT = b"base\n", b"yours\n", b"\xff agent\n"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with opened(tmp_path) as one:
        one.memories.create(A, BASE, actor=ME)
        yield one


def opened(tmp_path: Path) -> Engine:
    (tmp_path / "root").mkdir(exist_ok=True)
    return Engine.open([Root("notes", str(tmp_path / "root"))], state_dir=str(tmp_path / "state"))


def conflict(address: Address = A, decisions: str = "{}") -> OpenConflict:
    return OpenConflict(address, sha256(BASE).hexdigest(), YOURS, AGENT, decisions, 7)


def test_it_comes_back_in_a_later_process(engine: Engine, tmp_path: Path) -> None:
    assert engine.drafts.conflict(A) is None
    engine.drafts.save_conflict(conflict(decisions='{"at": 3}'))
    with opened(tmp_path) as later:
        assert later.drafts.conflict(A) == conflict(decisions='{"at": 3}')
        assert later.drafts.conflict(B) is None


def test_every_text_of_it_is_in_history(engine: Engine) -> None:
    for _ in range(2):
        engine.drafts.save_conflict(conflict())
    versions = engine.history.of(A)
    assert {engine.history.read(A, version.sha256) for version in versions} == {BASE, YOURS, AGENT}
    assert len(versions) == 3


def test_it_ends_with_the_draft(engine: Engine) -> None:
    engine.drafts.save(Draft(A, sha256(BASE).hexdigest(), YOURS.decode(), (0, 0), 1))
    engine.drafts.save_conflict(conflict())
    engine.drafts.drop(A)
    assert engine.drafts.conflict(A) is None


def test_it_follows_a_rename(engine: Engine) -> None:
    engine.drafts.save_conflict(conflict())
    engine.memories.rename(A, B, actor=ME)
    assert engine.drafts.conflict(A) is None
    assert engine.drafts.conflict(B) == conflict(B)


def test_retention_keeps_its_texts(tmp_path: Path) -> None:
    now = [1_000]
    (tmp_path / "root").mkdir()
    roots, keep = [Root("notes", str(tmp_path / "root"))], Retention(versions=1, days=1)
    with Engine.open(roots, state_dir=str(tmp_path / "state"), clock=lambda: now[0], retention=keep) as one:
        one.memories.create(A, BASE, actor=ME)
        one.drafts.save_conflict(conflict())
        for number in range(4):
            one.save(A, f"{number}\n", expected_sha256=one.read(A).sha256, actor=ME)
        for text in ("later\n", "last\n", "last\n\n"):
            now[0] += 24 * 3_600_000
            one.save(A, text, expected_sha256=one.read(A).sha256, actor=ME)
    with Engine.open(roots, state_dir=str(tmp_path / "state"), clock=lambda: now[0]) as one:
        kept = {one.history.read(A, version.sha256) for version in one.history.of(A)}
        assert kept >= {BASE, YOURS, AGENT, b"last\n"}
        assert b"0\n" not in kept
        assert one.drafts.conflict(A) == conflict()


def test_two_windows_with_unsaved_text_lose_neither(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "b.md").write_text("one", "utf-8")
    root, address = Root("notes", str(tmp_path / "notes")), Address("notes", "b.md")
    with (
        Engine.open([root], state_dir=str(tmp_path / "state")) as first,
        Engine.open([root], state_dir=str(tmp_path / "state")) as second,
    ):
        base = first.read(address)
        for engine, text in ((first, "AAA one"), (second, "BBB one"), (first, "AAAA one"), (first, "AAAAA one")):
            engine.drafts.save(Draft(address, base.sha256, text, (0, 0), 1, base.bytes))
        kept = {first.history.read(address, version.sha256) for version in first.history.of(address)}
        assert [draft.text for draft in first.drafts.all()] == ["AAAAA one"]
        assert kept == {b"one", b"AAA one", b"BBB one"}
