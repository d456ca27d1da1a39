"""Turns, who and the journal: as a gateway tells them, and as they are typed."""

import random
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.ledger.turns import LOST, QUIET_MS
from memtui.engine.model import Actor, Address, Write
from memtui.engine.policy import Root
from memtui.engine.proposal import Evidence, Proposal
from memtui.errors import BusyError, MemtuiError, NotFoundError, RefusedError, UsageError
from memtui.features.attribution import verbs
from memtui.features.attribution.chat import marker, plain_name, speaker
from tests.cli.conftest import Cli, Person, cli
from tests.conftest import Clock
from tests.examples import sized, tried

ROOM = {"session": "s", "channel": "team-eng", "chat": "c1"}
AGENT = Actor("mcp:qwen")


@pytest.fixture
def clock() -> Clock:
    return Clock(1_700_000_000_000)


def opened(folder: Path, clock: Clock, session: str = "") -> Engine:
    root = Root("memtui:global", str(folder / "memory"))
    (folder / "memory").mkdir(exist_ok=True)
    return Engine.open([root], state_dir=str(folder / "state"), clock=clock, session=session)


def asked(engine: Engine, name: str = "Ann", **more: object) -> str:
    return str(verbs.request(engine, "bot", {**ROOM, "person": name.lower(), "name": name, **more})["turn"])


def test_a_change_is_of_the_turn_that_its_own_session_executes_and_of_no_other(tmp_path: Path, clock: Clock) -> None:
    random.seed(7)
    with opened(tmp_path, clock, "s0") as one, opened(tmp_path, clock, "s1") as two, opened(tmp_path, clock) as person:
        doors, running, waiting = {"s0": one, "s1": two}, {"s0": "", "s1": ""}, {"s0": [""], "s1": [""]}
        expected: dict[str, str] = {}
        names: dict[str, str] = {}
        for number in range(sized(300, 6_000)):
            session, what = random.choice(["s0", "s1"]), random.choice(["request", "begin", "end", "write", "write"])
            clock.now += 1_000
            if what == "request":
                name = random.choice(["Ann", "Bob", "Cy"])
                turn = asked(person, name, session=session)
                waiting[session].append(turn)
                names[turn] = name
            elif what == "begin" and waiting[session][1:] and not running[session]:
                running[session] = waiting[session].pop(1)
                assert (
                    verbs.begin(person, "bot", {"turn": running[session]})["marker"] == f"[{names[running[session]]}] "
                )
            elif what == "end" and running[session]:
                verbs.end(person, "bot", {"turn": running[session]})
                running[session] = ""
            elif what == "write":
                address = Address("memtui:global", f"{number}.md")
                doors[session].memories.create(address, f"{number}\n", actor=AGENT)
                expected[address.path] = names.get(running[session], "")
        person.memories.create(Address("memtui:global", "mine.md"), "x\n", actor=Actor("cli"))
        found = {one.address.path: one.who for one in person.history.audit(limit=10_000)}
        assert found.pop("mine.md") == ""
        assert found == {path: f"{name} · bot · team-eng" if name else "" for path, name in expected.items()}
        assert len({*found.values()}) == 4
        assert person.journal.verify().records > 200
        tried(turns_told=len(names), changes=len(expected), wrong=0)


def test_one_turn_is_executed_at_a_time_and_one_that_gives_no_sign_is_lost(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock, "s") as engine:
        first, second = asked(engine), asked(engine, "Bob")
        verbs.begin(engine, "bot", {"turn": first})
        for turn in (first, second):
            with pytest.raises(BusyError) as refused:
                verbs.begin(engine, "bot", {"turn": turn})
            assert refused.value.code == "E_TURN"
        with pytest.raises(NotFoundError):
            verbs.begin(engine, "bot", {"turn": "none"})
        with pytest.raises(RefusedError):
            verbs.begin(engine, "other", {"turn": second})
        clock.now += QUIET_MS - 1
        engine.memories.create(Address("memtui:global", "a.md"), "a\n", actor=AGENT)  # a sign
        clock.now += QUIET_MS - 1
        assert engine.turns.executing("s", "bot") is not None
        clock.now += 1
        assert engine.turns.executing("s", "bot") is None
        verbs.begin(engine, "bot", {"turn": second})
        assert engine.turns.get(first).state == LOST
        assert [record.body.count('"lost"') for record in engine.journal.records(kind="turn")] == [0, 0, 0, 1, 0]


def test_what_a_task_writes_and_proposes_is_of_the_turn_it_was_asked_for_in(tmp_path: Path, clock: Clock) -> None:
    """Whoever works the lane off, and whatever that session executes by then."""
    with (
        opened(tmp_path, clock, "s") as asks,
        opened(tmp_path, clock, "other") as works,
        opened(tmp_path, clock) as you,
    ):
        turn = asked(asks)
        verbs.begin(asks, "bot", {"turn": turn})
        task = asks.tasks.enqueue("remember", "w", "agent:qwen", {"content": "x"}, trigger="manual")
        verbs.begin(works, "bot", {"turn": asked(works, "Bob", session="other")})
        unasked = you.tasks.enqueue("dream", "w", "tui", {}, trigger="manual")
        shown = (Evidence("request", "remember", quote="x"),)
        for one, of in ((task, turn), (unasked, "")):
            new = Proposal("", "r", "qwen", "note", (), (), one.kind, shown, 0.5, one.id)
            works.tasks.start(one.id)
            assert works.tasks.keep_plan(one.id, "{}", [new])
            assert works.proposals.all()[-1].turn == of
        address = Address("memtui:global", "a.md")
        works.together.do([Write(address, b"x\n", None)], actor=AGENT, label="remember", cause=task.id)
        assert works.history.audit()[0].who == "Ann · bot · team-eng"


def test_a_name_that_is_forgotten_is_shown_no_more_and_the_journal_holds(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock, "s") as engine:
        verbs.begin(engine, "bot", {"turn": asked(engine)})
        engine.memories.create(Address("memtui:global", "a.md"), "a\n", actor=AGENT)
        head = engine.journal.head()
        assert engine.turns.forget("Ann") == 1
        (record,) = engine.history.audit()
        assert record.who.startswith("person ")
        assert engine.journal.verify(head).head == head
        (one,) = engine.turns.people(record.who.partition(" ·")[0])
        assert [found.kind for found in engine.journal.records(person=(one,))] == ["turn", "turn", "change"]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"session": ""}, RefusedError),
        ({"session": "s" * 5_000}, RefusedError),
        ({"chat": ""}, RefusedError),
        ({"chat": "https://x/y"}, RefusedError),
        ({"chat": "a\0b"}, RefusedError),
        ({"chat": "c" * 10_000}, RefusedError),
        ({"person": "a\nb"}, RefusedError),
        ({"prompt": "what was asked"}, UsageError),
        ({"group": "yes"}, UsageError),
        ({"name": 7}, UsageError),
        ({"text": "x"}, UsageError),
    ],
)
def test_what_cannot_be_said_is_refused_and_nothing_is_kept(
    fields: dict[str, object], error: type[MemtuiError], tmp_path: Path, clock: Clock
) -> None:
    with opened(tmp_path, clock) as engine:
        with pytest.raises(error):
            verbs.request(engine, "bot", {**ROOM, **fields})
        assert not engine.turns.known
        assert not engine.journal.head()


def test_a_marker_names_one_person_and_nobody_where_only_one_can_speak() -> None:
    from memtui.engine.ledger.turns import Chat

    assert marker(Chat("t", "c"), plain_name("[Ann] [Bob] ")) == "[Ann   Bob] "
    assert marker(Chat("t", "c"), plain_name("\u202e \n", "u7")) == "[u7] "
    assert marker(Chat("t", "c"), plain_name(" ", "")) == "[unknown] "
    assert marker(Chat("t", "c", several=False), "Ann") == ""
    assert len(plain_name("ä" * 200)) == 64
    assert speaker("[Ann] hello\n[Bob] no") == ("Ann", "")
    assert speaker('[Loop "standup" created by Bob] Scheduled') == ("Bob", "standup")
    assert [speaker(text)[0] for text in ("hi [Ann] x", "[unknown] x", "[] x", "\n[Ann] x")] == [""] * 4


__all__ = ["cli"]

OPTIONS = ("--session", "s", "--channel", "team-eng", "--chat", "c1", "--person", "u1", "--name", "Ann")


def test_who_asked_is_told_by_a_person_at_a_terminal_and_shown(
    cli: Cli, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = cli("turn", "request", *OPTIONS, "--json")
    assert (refused.status, refused.error["code"]) == (5, "E_ACCESS")
    person("")
    turn = str(cli("turn", "request", *OPTIONS, "--json").json["turn"])
    assert cli("turn", "begin", turn).out == "[Ann] \n"
    assert cli("turn", "begin", turn, "--json").error["code"] == "E_TURN"
    found = cli("who", "--json").json
    assert [one["name"] for one in found["turns"]] == ["Ann"]  # type: ignore[attr-defined]
    assert cli("turn", "end", turn, "--in", "10", "--out", "2", "--model", "m", "--json").json["state"] == "ended"
    assert cli("turn", "end", "none", "--json").status == 4
    cli("create", "memtui:global/a.md", "-", stdin=b"a\n")
    assert [row["kind"] for row in cli("log", "--kind", "change", "--json").items] == ["change"]
    assert len(cli("log", "--person", "Ann", "--json").items) == 3
    head = cli("log", "--verify", "--json").json
    assert cli("log", "--verify", "--head", str(head["head"]), "--json").json == head
    assert cli("log", "--person", "Nobody", "--json").status == 4
    assert cli("who", "memtui:global/a.md", "--json").items[0]["turn"] is None
    person("yes\n")
    assert cli("who", "--forget", "Ann", "--json").json == {"forgotten": 1}
    assert cli("log", "--verify", "--json").json == head
    assert "person" in cli("who").err
    monkeypatch.setenv("CLAUDECODE", "1")
    assert cli("turn", "request", *OPTIONS, "--json").error["code"] == "E_ACCESS"


def test_who_configures_nothing_sees_nothing(cli: Cli) -> None:
    cli("create", "memtui:global/a.md", "-", stdin=b"a\n")
    assert cli("who", "--json").json == {"turns": [], "spoke": []}
    assert cli("log", "--verify", "--json").json == {"records": 0, "head": None}
    assert cli("log", "--json").items[0]["who"] is None
