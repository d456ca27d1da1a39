"""Votes from a chat: by those the settings name, for exactly the steps that were proposed, decided once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine.ledger.turns import Chat
from memtui.engine.model import Actor, Address, Step, Write
from memtui.engine.proposal import Evidence
from memtui.features.approvals.decide import HOUR_MS
from memtui.features.channels.verbs import say_in_chat
from memtui.features.proposals.apply import revise
from memtui.features.proposals.value import judge_all, proposal
from memtui.wire.session import Options, Session, open_session
from tests.cli.conftest import config

__all__ = ["config"]

AT = Address("memtui:global", "a.md")
MAJORITY = '[approvals.team]\nof = ["team-eng:ann", "team-eng:bob", "team-eng:cy"]\nmajority = true\n'


def opened(config: Path, text: str) -> Session:
    config.write_text(text)
    return open_session(load_settings(read_environment()), Options(), lock_wait=5.0)


def suggested(session: Session, *steps: Step) -> str:
    if not steps:
        known = session.engine.memories.create(AT, b"one\n", actor=Actor("cli"))
        steps = (Write(AT, b"two\n", known.sha256),)
    shown = [Evidence("turn", "s", quote="q")]
    made = proposal(session.engine, kind="replace", steps=steps, by="claude", why="because", evidence=shown)
    return session.engine.proposals.add(judge_all(session.engine, [made]))[0].id


def say(session: Session, text: str, person: str, channel: str = "team-eng", via: str = "bot") -> str:
    fields = {"channel": channel, "chat": "c", "person": person, "name": person.title(), "text": text}
    return str(say_in_chat(session, session.settings, via, fields)["reply"])


def text(session: Session) -> bytes:
    return session.engine.read_bytes(AT)


def test_the_last_vote_a_majority_takes_does_it_as_one_step_of_undo(config: Path) -> None:
    session = opened(config, MAJORITY)
    number = suggested(session)
    assert "0 of 2" in say(session, "/approve", "ann")
    assert "1 of 2: Ann yes" in say(session, f"/approve {number}", "ann")
    assert "1 of 2: Ann yes" in say(session, f"/approve {number}", "ann")  # once, however often it is said
    assert "Nobody asked you" in say(session, f"/approve {number}", "eve")
    assert "Nobody asked you" in say(session, f"/approve {number}", "bob", channel="other")
    assert text(session) == b"one\n"
    assert "is applied" in say(session, f"/approve {number}", "bob")
    assert text(session) == b"two\n"
    assert "applied" in say(session, f"/deny {number}", "cy")
    session.engine.undo.undo(actor=Actor("cli"))
    assert text(session) == b"one\n"
    assert [one.kind for one in session.engine.journal.records(kind="vote")] == ["vote"] * 3
    assert session.engine.journal.verify().head


def test_who_changes_their_mind_counts_once_and_what_cannot_be_reached_is_rejected(config: Path) -> None:
    session = opened(config, MAJORITY)
    number = suggested(session)
    say(session, f"/approve {number}", "ann")
    assert "0 of 2" in say(session, f"/deny {number}", "ann")
    assert "is rejected" in say(session, f"/deny {number}", "bob")
    assert "rejected by Bob" in say(session, f"/approve {number}", "cy")
    assert text(session) == b"one\n"


def test_a_vote_is_for_the_steps_it_was_given_for_and_a_memory_that_moved_on_is_left(config: Path) -> None:
    session = opened(config, MAJORITY)
    number = suggested(session)
    say(session, f"/approve {number}", "ann")
    (step,) = session.engine.proposals.get(number).steps
    assert isinstance(step, Write)
    revise(session.engine, number, [step._replace(data=b"three\n")])
    assert "1 of 2: Bob yes" in say(session, f"/approve {number}", "bob")
    session.engine.save(AT, b"mine\n", expected_sha256=step.expected_sha256, actor=Actor("cli"))
    assert "is stale" in say(session, f"/approve {number}", "cy")
    assert text(session) == b"mine\n"


def test_one_of_a_chat_is_enough_where_the_rule_says_so_and_rules_fit_in_their_order(config: Path) -> None:
    rules = (
        '[approvals.rooms]\nof = ["team-eng:boss"]\nwhat = ["channel"]\n'
        '[approvals.other]\nof = ["team-eng:boss"]\nroots = ["files:*"]\n'
        '[approvals.all]\nof = ["chat:team-eng"]\nhours = 2\n'
    )
    session = opened(config, rules)
    number = suggested(session)
    assert "is applied" in say(session, f"/approve {number}", "anybody")
    late = suggested(session, Write(AT, b"four\n", session.engine.read(AT).sha256))
    now = session.engine.turns.clock()
    session.engine.turns.clock = lambda: now + 3 * HOUR_MS
    assert "in time" in say(session, f"/approve {late}", "anybody")
    assert text(session) == b"two\n"
    none = opened(config, "")
    assert "Nobody asked you" in say(none, f"/approve {late}", "anybody")
    assert "Nothing waits" in say(none, "/approve", "anybody")


def test_a_word_of_a_chat_is_about_one_proposal_and_anything_more_is_refused(config: Path) -> None:
    session = opened(config, MAJORITY)
    number = suggested(session)
    assert "Give one number" in say(session, f"/approve {number} 2", "ann")
    assert "one command at a time" in say(session, f"/approve {number}\n/deny {number}", "ann")
    waits = say(session, "/approve", "ann")
    assert f"{number} replace memtui:global/a.md: 0 of 2\nbecause" in waits
    assert "-one\n+two" in waits, "nobody votes on what they were not shown"


def test_last_votes_at_once_decide_once(config: Path) -> None:
    session = opened(config, MAJORITY.replace("majority = true", "need = 1"))
    number = suggested(session)
    with ThreadPoolExecutor(3) as pool:
        said = [*pool.map(lambda one: say(session, f"/approve {number}", one), ("ann", "bob", "cy"))]
    assert sum("is applied. 1 of 1" in one for one in said) == 1
    assert text(session) == b"two\n"
    assert len(session.engine.history.audit(address=AT)) == 2
    database = apsw.Connection(f"{session.settings.state_dir}/state.db")
    for statement in ("UPDATE votes SET yes = 0", "DELETE FROM votes"):
        with pytest.raises(apsw.ConstraintError):
            database.execute(statement)


def test_a_chat_is_no_person_and_a_name_with_a_colon_is_none_of_two(config: Path) -> None:
    rules = '[approvals.a]\nof = ["chat:team", "a:b:c", "bot:ann"]\n[gateways.bot]\nchannels = ["*"]\n'
    session = opened(config, f'{rules}[channels.team]\nallowed = ["boss"]\n')
    number = suggested(session)
    for person, channel, via in (
        ("team", "x", "chat"),
        ("team", "chat", "bot"),
        ("c", "a:b", "bot"),
        ("ann", "bot", "z"),
    ):
        assert "Nobody asked you" in say(session, f"/approve {number}", person, channel, via)
    assert "is applied" in say(session, f"/approve {number}", "b:c", "a")


@pytest.mark.parametrize(
    ("of", "ways"),
    [('"chat:team", "chat:lobby"', [("team", "bot"), ("lobby", "bot")]),
     ('"one:u7", "two:u7", "chat:team"', [("room", "one"), ("room", "two")])],
)  # fmt: skip
def test_one_person_has_one_vote_in_however_many_chats_and_gateways(
    config: Path, of: str, ways: list[tuple[str, str]]
) -> None:
    session = opened(config, f"[approvals.two]\nof = [{of}]\nneed = 2\n")
    number = suggested(session)
    for channel, via in ways:
        assert "1 of 2: U7 yes" in say(session, f"/approve {number}", "u7", channel, via)
    assert "is applied" in say(session, f"/approve {number}", "u8", "team")


def test_who_asked_in_the_turn_that_proposed_does_not_agree_to_it(config: Path) -> None:
    session = opened(config, '[approvals.one]\nof = ["team:u7", "chat:lobby"]\n')
    known = session.engine.memories.create(AT, b"one\n", actor=Actor("cli"))
    turn = session.engine.turns.request("s", "bot", Chat("team", "c"), person="u7", name="Ann")
    session.engine.turns.begin(turn.id)
    inside = open_session(session.settings, Options(session="s"), lock_wait=5.0)
    number = suggested(inside, Write(AT, b"two\n", known.sha256))
    for channel in ("team", "lobby"):
        assert "asked for that yourself" in say(session, f"/approve {number}", "u7", channel)
    assert "is applied" in say(session, f"/approve {number}", "u8", "lobby")
