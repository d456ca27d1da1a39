"""A team that agrees: on its server by their logins, for exactly the steps they saw, and decided once."""

from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine.model import Actor, Step, Write
from memtui.errors import MemtuiError
from memtui.features.approvals.decide import HOUR_MS
from memtui.features.approvals.team import begin
from memtui.features.proposals.apply import revise
from memtui.features.team.postgres import TeamServer, outage, store_name, team_server_of
from memtui.wire.session import Options, Session, open_session
from tests.cli.conftest import Cli, Person
from tests.features.approvals import test_decide
from tests.team_server import Server, needed

pytestmark = needed
YES, NO = True, False
AT = test_decide.AT


@pytest.fixture
def session(server: Server, config: Path) -> Session:
    """Ann's machine, which joined; bob and eve are asked about each proposal, and both have to agree."""
    config.write_text(
        f'[team]\nurl = "{server.url("ann")}"\n[approvals.all]\nof = ["team:bob", "team:eve", "team:ann"]\nneed = 2\n'
    )
    found = open_session(load_settings(read_environment()), Options(), lock_wait=5.0)
    found.engine.journal.add("team", {"joined": "x"})
    team_server_of(server.url("ann")).call("join_as", store_name(found.engine, found.settings))
    return found


def suggested(session: Session, *steps: Step) -> str:
    number = test_decide.suggested(session, *steps)
    look(session)
    return number


def look(session: Session) -> None:
    begin(session, session.settings)
    assert outage(session.engine) is None


def member(server: Server, name: str) -> TeamServer:
    return team_server_of(server.url(name))


def waiting(server: Server) -> list[tuple[int, str, str]]:
    return [(row[0], row[7], row[8]) for row in member(server, "eve").call("requests")][::-1]


def test_two_of_three_agree_and_the_machine_with_the_file_does_it_as_one_step(server: Server, session: Session) -> None:
    number = suggested(session)
    ((request, said, state),) = waiting(server)
    assert (said, state) == ("", "")
    title, patch = member(server, "bob").call("request", request)[0]
    assert title == f"replace {AT}: because"
    assert "-one\n+two" in patch
    for outsider in ("ann", "owner"):
        with pytest.raises(MemtuiError, match="E_ACCESS"):
            member(server, outsider).call("cast_vote", request, YES)
    member(server, "bob").call("cast_vote", request, NO)
    look(session)
    member(server, "bob").call("cast_vote", request, YES)  # the newest counts
    look(session)
    assert session.engine.read_bytes(AT) == b"one\n"
    member(server, "eve").call("cast_vote", request, YES)
    look(session)
    look(session)
    assert session.engine.read_bytes(AT) == b"two\n"
    assert session.engine.proposals.get(number).note == "2 of 2: bob yes, eve yes"
    assert waiting(server) == [(request, "bob yes, eve yes", "applied")]
    with pytest.raises(MemtuiError, match=r"E_DECIDED.*applied by now\. 2 of 2"):
        member(server, "bob").call("cast_vote", request, NO)
    session.engine.undo.undo(actor=Actor("cli"))
    assert session.engine.read_bytes(AT) == b"one\n"
    assert [one.kind for one in session.engine.journal.records(kind="vote")] == ["vote"] * 3


def test_whether_a_vote_is_late_is_what_the_servers_clock_says(server: Server, session: Session) -> None:
    suggested(session)
    ((request, *_),) = waiting(server)
    now = session.engine.turns.clock()
    session.engine.turns.clock = lambda: now + 25 * HOUR_MS
    for name in ("bob", "eve"):
        member(server, name).call("cast_vote", request, YES)
    look(session)
    assert session.engine.read_bytes(AT) == b"two\n"


def test_votes_are_for_the_steps_they_were_given_for_and_a_memory_that_moved_on_is_left(
    server: Server, session: Session
) -> None:
    number = suggested(session)
    ((before, *_),) = waiting(server)
    member(server, "bob").call("cast_vote", before, YES)
    (step,) = session.engine.proposals.get(number).steps
    assert isinstance(step, Write)
    revise(session.engine, number, [step._replace(data=b"three\n")])
    look(session)
    look(session)
    (_, (after, said, _)) = waiting(server)
    assert (waiting(server)[0][2], said) == ("superseded", "")
    session.engine.save(AT, b"mine\n", expected_sha256=step.expected_sha256, actor=Actor("cli"))
    for name in ("bob", "eve"):
        member(server, name).call("cast_vote", after, YES)
    look(session)
    look(session)
    assert session.engine.read_bytes(AT) == b"mine\n"
    assert session.engine.proposals.get(number).state == "stale"
    late = suggested(session, Write(AT, b"four\n", session.engine.read(AT).sha256))
    server.sql("UPDATE memtui.request SET until = 0")
    look(session)
    assert session.engine.proposals.get(late).state == "rejected"
    look(session)
    assert waiting(server)[-1][2] == "rejected"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memtui.vote SET answer = true",
        "DELETE FROM memtui.vote",
        "INSERT INTO memtui.vote (request, person, answer) VALUES (1, 'bob', true)",
        "UPDATE memtui.request SET state = 'applied'",
        "UPDATE memtui.journal SET body = '{}'",
        "DELETE FROM memtui.journal",
    ],
)
def test_a_member_changes_no_vote_no_request_and_no_record(server: Server, statement: str) -> None:
    with pytest.raises(Exception, match="permission denied"):
        server.sql(statement, "eve")
    other = member(server, "eve")
    other.call("join_as", "s")
    request = other.value("ask", "s", 1, "x", "t", "p", '["bob"]', 9_999_999_999_999)
    member(server, "bob").call("settle", request, "applied", "")
    assert waiting(server) == [(request, "", "")]


def test_a_member_answers_at_a_terminal_and_no_program_does(
    server: Server, session: Session, cli: Cli, config: Path, person: Person
) -> None:
    suggested(session)
    ((request, *_),) = waiting(server)
    config.write_text(f'[team]\nurl = "{server.url("bob")}"\n')
    assert "E_PERSON" in cli("team", "approve", str(request)).err
    assert waiting(server)[0][1] == ""
    person("yes\n")
    assert cli("team", "approve", str(request)).status == 0
    assert waiting(server)[0][1] == "bob yes"
    assert "bob yes" in cli("team", "requests").out
    assert cli("team", "approve", "99").status == 4
    assert cli("team", "requests", "--json").items[0]["said"] == "bob yes"
