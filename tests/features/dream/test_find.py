"""What rules find in real folders; carrying it out does what was said, and one undo brings all back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Address
from memtui.engine.proposal import Proposal
from memtui.features.dream.find import MAX_PER_RULE, Cleanup, find, suggest
from memtui.features.dream.work import suggested
from memtui.features.hygiene.memory_scan import read_all
from memtui.features.proposals.apply import carry_out, decide
from memtui.features.proposals.value import judge_all
from tests.features.transfer.agents import ME, Agents, root

DAY = 86_400_000
FRIDAY = 1_772_793_000_000
"""2026-03-06, noon in most time zones."""
LONG = "Deploys go through staging first because the ferry terminal has no way to roll anything back at night"


@pytest.fixture
def agents(tmp_path: Path) -> Agents:
    return Agents(tmp_path, "memtui", "claude-code", "goose")


@pytest.fixture
def engine(agents: Agents) -> Iterator[Engine]:
    with agents.engine() as opened:
        yield opened


def found(engine: Engine) -> dict[str, Cleanup]:
    """What is found, by rule; each rule finds one thing here."""
    every = list(find(engine, engine.roots.all()))
    assert len({one.rule for one in every}) == len(every)
    return {one.rule: one for one in every}


def made(engine: Engine, one: Cleanup) -> Proposal:
    """Store it as a proposal."""
    (stored,) = engine.proposals.add(judge_all(engine, [suggested(engine, one)]))
    return stored


def accept(engine: Engine, one: Cleanup) -> None:
    """Carry it out as a person would."""
    stored = made(engine, one)
    assert stored.state == "open", stored.note
    decide(engine, [stored.id], "accepted", actor=ME)
    carry_out(engine, [stored.id], actor=ME)
    assert engine.proposals.get(stored.id).state == "applied"


def test_a_double_goes_and_what_named_it_names_the_one_that_stays(agents: Agents, engine: Engine) -> None:
    files: dict[str, str | bytes] = {
        "MEMORY.md": "- [A](a.md) — one\n- [B](b.md) — two\n- [C](c.md) — three\n",
        "a.md": "---\nname: a\ndescription: x\ntype: project\n---\nWe use tabs.\n",
        "b.md": "---\nname: b\ndescription: x\ntype: project\n---\r\nWe use tabs.  \r\n\r\n",
        "c.md": "---\nname: c\ndescription: z\ntype: project\n---\nSee [b](b.md).\n",
    }
    agents.lay("claude-code", files)
    before = agents.everything()
    accept(engine, found(engine)["exact"])
    after = agents.held("claude-code")
    (gone,) = {"a.md", "b.md"} - after.keys()
    (stays,) = {"a.md", "b.md"} & after.keys()
    assert f"({gone})".encode() not in after["MEMORY.md"]
    assert f"({stays}).\n".encode() in after["c.md"]
    engine.undo.undo(actor=ME)
    assert agents.everything() == before


def test_pinned_and_protected_memories_are_left_alone_and_so_is_another_root(agents: Agents, engine: Engine) -> None:
    agents.lay("memtui", {"a.md": "Same words.\n", "b.md": "Same words.\n"})
    agents.lay("claude-code", {"a.md": "Same words.\n", "MEMORY.md": "- [A](a.md)\n"})
    engine.rows.list()
    engine.pins.set([Address("memtui:project", name) for name in ("a.md", "b.md")], pinned=True, actor=ME)
    assert found(engine) == {}


def test_near_doubles_become_one_with_every_line_of_both(agents: Agents, engine: Engine) -> None:
    agents.lay(
        "memtui",
        {"a.md": f"{LONG}.\nSessions last 12 h.\n", "b.md": f"{LONG}.\nSessions last 24 h.\n"},
    )
    one = found(engine)["near"]
    assert (one.kind, len(one.evidence)) == ("merge", 2)
    accept(engine, one)
    (text,) = agents.held("memtui").values()
    assert sorted(text.splitlines()) == [f"{LONG}.".encode(), b"Sessions last 12 h.", b"Sessions last 24 h."]


def test_an_entry_that_stands_twice_goes_once(agents: Agents, engine: Engine) -> None:
    agents.lay("goose", {"development.txt": "Use tabs\n\nUse ruff\n\nUse tabs\n\n"})
    accept(engine, found(engine)["entry-twice"])
    assert agents.held("goose")["development.txt"] == b"Use tabs\n\nUse ruff\n\n"


def test_what_is_wrong_with_an_index_is_proposed_by_kind(agents: Agents, engine: Engine) -> None:
    agents.lay(
        "claude-code",
        {"MEMORY.md": "- [A](a.md)\n- [Gone](gone.md)\n- [A](a.md)\n", "a.md": "A\n", "new.md": "New\n"},
    )
    assert found(engine).keys() == {"dangling", "unnamed", "pointer-twice"}
    for one in found(engine).values():
        if one.rule == "dangling":
            assert one.why == "claude-code:project/MEMORY.md, gone.md: the index names it, and it is not there"
            assert one.evidence[0].quote.startswith("gone.md: ")
            accept(engine, one)
    assert b"gone.md" not in agents.held("claude-code")["MEMORY.md"]


def test_a_day_becomes_absolute_by_the_version_in_which_its_line_came(tmp_path: Path) -> None:
    now = [FRIDAY]
    (tmp_path / "notes").mkdir()
    with Engine.open(
        [root("memtui", str(tmp_path / "notes"))], state_dir=str(tmp_path / "state"), clock=lambda: now[0]
    ) as engine:
        where = Address("memtui:project", "a.md")
        engine.memories.create(where, "Old words.\n", actor=ME)
        for days, line in ((1, "The freeze begins next Friday.\n"), (9, "Ask the person who was here yesterday.\n")):
            now[0] = FRIDAY + days * DAY
            snapshot = engine.read(where)
            engine.save(where, snapshot.text + line, expected_sha256=snapshot.sha256, actor=ME)
        now[0] = FRIDAY + 90 * DAY
        assert engine.history.line_times(where, [b"Old words.\n", b"The freeze begins next Friday.\n"]) == {
            b"Old words.\n": (FRIDAY, True),
            b"The freeze begins next Friday.\n": (FRIDAY + DAY, True),
        }
        (one,) = find(engine, engine.roots.all())
        (step,) = one.steps
        assert one.rule == "date"
        assert step.data == b"Old words.\nThe freeze begins 2026-03-13.\nAsk the person who was here 2026-03-14.\n"  # type: ignore[union-attr]


def test_a_day_of_a_line_that_was_there_before_memtui_looked_stays(agents: Agents, engine: Engine) -> None:
    agents.lay("memtui", {"a.md": "The freeze begins tomorrow.\n"})
    engine.watch.reconcile()
    assert found(engine) == {}
    (at, sure) = engine.history.line_times(
        Address("memtui:project", "a.md"), [b"The freeze begins tomorrow.\n"]
    ).popitem()[1]
    assert (at > 0, sure) == (True, False)


def test_a_memory_without_a_description_gets_its_first_sentence(agents: Agents, engine: Engine) -> None:
    agents.lay("memtui", {"a.md": "---\nname: a\n---\n\n# Tabs, not spaces\n\nEverywhere.\n"})
    accept(engine, found(engine)["describe"])
    assert b"description: Tabs, not spaces\n" in agents.held("memtui")["a.md"]


def test_suggestions_say_something_and_change_nothing(tmp_path: Path) -> None:
    agents = Agents(tmp_path, "memtui", "claude-code")
    (tmp_path / "src").mkdir()
    same = "---\ndescription: How long sessions last\ntype: user\n---\n{}\n"
    agents.lay(
        "memtui",
        {
            "a.md": same.format("12 hours."),
            "b.md": same.format("24 hours."),
            "late.md": "The release freeze begins on 2020-01-31.\n",
            "path.md": "See `src/gone.py` for it.\n",
            "for-now.md": "For now, use the old queue.\n",
            **{f"wip-{n}.md": f"WIP {n}.\n" for n in range(9)},
        },
    )
    agents.lay("claude-code", {"a.md": same.format("12 hours.")})
    with agents.engine() as engine:
        texts, _ = read_all(engine, engine.roots.all())
        notes = suggest(texts, project=str(tmp_path), now=FRIDAY)
        rules = [one.rule for one in notes]
        assert set(rules) == {"conflict", "outdated", "stale-path", "promote", "forget"}
        assert rules.count("forget") == MAX_PER_RULE
        assert all(one.steps == () and one.kind == "note" and one.evidence for one in notes)
        assert made(engine, notes[0]).state == "open"


def test_what_front_matter_says_besides_keeps_a_memory_from_being_a_double(agents: Agents, engine: Engine) -> None:
    same = f"{LONG}, and on weekends the keys lie in the safe of the harbour office.\n"
    head = "---\nname: {}\ndescription: {}\n---\n"
    agents.lay("memtui", {"a.md": head.format("a", "Call 71") + same, "b.md": head.format("b", "Call 72") + same})
    one = found(engine)["near"]
    accept(engine, one)
    (text,) = agents.held("memtui").values()
    assert b"Call 71" in text
    assert b"Call 72" in text


@pytest.mark.parametrize("gone", [True, False])
def test_a_double_does_not_go_when_the_one_that_stays_is_not_as_it_was(
    agents: Agents, engine: Engine, gone: bool
) -> None:
    agents.lay("memtui", {"a.md": "Same words.\n", "b.md": "Same words.\n"})
    one = found(engine)["exact"]
    stored = made(engine, one)
    decide(engine, [stored.id], "accepted", actor=ME)
    stays = agents.base / "memtui" / one.steps[0].address.path
    if gone:
        stays.unlink()
    else:
        stays.write_text("Something else.\n")
    before = agents.everything()
    carry_out(engine, [stored.id], actor=ME)
    assert engine.proposals.get(stored.id).state == "stale"
    assert agents.everything() == before
