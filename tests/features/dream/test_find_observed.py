"""What observations say and no memory does becomes proposals, once; what a person withholds becomes none."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine.model import Actor
from memtui.engine.proposal import Evidence
from memtui.features.dream.find import _Cards, _corrected, _recurring
from memtui.features.observations.model import Card
from memtui.features.proposals.apply import carry_out, decide
from tests.cli.conftest import Cli, cli, config
from tests.features.dream.test_work import dream, notes, session

__all__ = ["cli", "config", "notes"]
DAY = 24 * 3_600
ME = Actor("cli")


@pytest.fixture
def told(cli: Cli, notes: Path) -> Path:
    """A memory of three weeks ago, and what was noted since."""
    retry = notes / "retry.md"
    retry.write_text("Use `retry_budget` with `pool_pre_ping`.\n\nTODO: measure it.\n")
    old = retry.stat().st_mtime - 21 * DAY
    os.utime(retry, (old, old))
    for words, kind in (
        ("No: `retry_budget` and `pool_pre_ping` are off now.", "correction"),
        ("Never touch `billing_api` without asking.", "constraint"),
        ("Keep <private>a thing</private> of `mars_rover` secret.", "constraint"),
        ("Use pnpm here, not npm.", "correction"),
        ("The build takes long.", "note"),
    ):
        assert cli("observe", words, "--type", kind).status == 0
    with session().engine as engine:
        months = Path(engine.roots.find("memtui:notes").path)
    (months / "2025-01.md").write_text("## 2025-01-02T10:00:00Z correction\n\nUse pnpm here, not npm.\n")
    return notes


def test_what_was_noted_is_proposed_once_and_remembered_when_accepted(told: Path, cli: Cli) -> None:
    _, made = dream()
    assert {(one.by.removeprefix("rule:"), one.kind) for one in made} == {
        *(("corrected", "note"), ("open", "note")),
        *(("said-twice", "add"), ("unkept", "add")),
    }
    found = {one.by.removeprefix("rule:"): one for one in made}
    assert found["corrected"].evidence[0].name == "memtui:global/retry.md"
    assert "billing_api" in found["unkept"].why
    assert (len(found["said-twice"].evidence), all(one.folders for one in made)) == (2, True)
    assert len(dream()[1]) == len(made)
    with session().engine as engine:
        decide(engine, [found["said-twice"].id], "accepted", actor=ME)
        decide(engine, [found["unkept"].id], "rejected", actor=ME)
        carry_out(engine, [found["said-twice"].id, found["unkept"].id], actor=ME)
        texts = [engine.read_bytes(row.address) for row in engine.rows.list(["memtui:global", "memtui:project"]).items]
        assert any(b"Use pnpm here, not npm." in text for text in texts)
        assert engine.undo.undo(actor=ME)
    assert cli("observe", "Another note of this month.").status == 0
    assert {one.state for one in dream()[1] if one.by == "rule:unkept"} == {"rejected"}


def test_what_is_withheld_or_switched_off_is_proposed_by_nobody(
    told: Path, cli: Cli, config: Path, person: Callable[[str], None]
) -> None:
    name = str(cli("obs", "search", "billing_api", "--json").items[0]["name"])
    person("yes\n")
    assert cli("obs", "mark", name, "--as", "private").status == 0
    assert "rule:unkept" not in {one.by for one in dream()[1]}
    config.write_text("[observe]\nenabled = false\n")
    assert cli("dream", "--dry-run", "--json").items == []


CARD = Card(
    *(0, b"", 0, "session", 0, "", "", "codex", "0-1", b"", b"", "change", "Why is CI red?", ""),
    *((), (), (), "", 0, 0, 0, False),
)


def test_what_is_asked_in_three_sessions_on_three_days_is_a_question() -> None:

    def asked(days: list[int]) -> list[str]:
        cards = [CARD._replace(id=day * DAY << 12, path=str(at)) for at, day in enumerate(days)]
        return [one.why for one in _recurring(_Cards((), tuple(cards), lambda one: Evidence("observation", one.word)))]

    assert asked([1, 2, 2]) == asked([1, 2]) == []
    assert asked([1, 2, 3]) == ["You asked this in 3 sessions: Why is CI red? Would a memory help?"]


def test_of_memories_as_near_to_a_correction_the_newest_is_asked_about() -> None:
    about = [CARD._replace(id=at << 12, path=f"{at}.md", concepts=(f"a{at}", "b", "c")) for at in range(9)]
    said = CARD._replace(id=DAY << 12, type="correction", concepts=tuple("bc") + tuple(f"a{at}" for at in range(9)))
    cards = _Cards(tuple(about), (said,), lambda one: Evidence("observation", one.path))
    assert [one.evidence[0].name for one in _corrected(cards)] == ["8.md"]
