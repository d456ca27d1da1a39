"""`/schedule` in a chat: a text for the channel's job, which waits for a person unless the settings name who asks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine.ledger.turns import Chat
from memtui.errors import MemtuiError
from memtui.features.attribution.chat import ChatCommand
from memtui.features.budgets import verbs
from memtui.features.schedules.verbs import answer
from memtui.wire.session import Options, Session, open_session

CONFIG = """
[jobs.standup]
argv = ["/bin/true"]
cwd = "/"
[channels.eng]
job = "standup"
schedule = "allowed"
allowed = ["u1"]
zone = "UTC"
[budgets."channel:*"]
limit = 100
unit = "tokens"
window = "day"
"""


@pytest.fixture
def session(config: Path) -> Iterator[Session]:
    config.write_text(CONFIG)
    found = open_session(load_settings(read_environment()), Options(only_roots=True), lock_wait=5)
    yield found
    found.engine.close()


def typed(session: Session, text: str, *, chat: str = "c1", channel: str = "eng", listed: bool = False) -> str:
    settings = load_settings(read_environment())
    asked = ChatCommand(
        session, settings, "bot", Chat(channel, chat), "u", "Ann", "s", text, allowed=listed, listed=listed
    )
    try:
        return answer(asked).reply
    except MemtuiError as error:
        return f"{error.code} {error.hint}"


def test_a_schedule_of_a_chat_waits_or_is_agreed_to_by_the_settings(session: Session) -> None:
    assert "waits for a person" in typed(session, '"0 9 * * 1-5" Don\'t forget; $(rm -rf /)')
    assert "Next: " in typed(session, "@daily Say hello", listed=True)
    first, second = session.engine.schedules.all()
    assert (first.words, first.waits, first.creator) == (
        ("job", "standup", "Don't forget; $(rm -rf /)"), True, "chat:Ann"
    )  # fmt: skip
    assert (second.waits, typed(session, "list").count("\n"), typed(session, "list", chat="c2")[:7]) == (
        False, 1, "Nothing"
    )  # fmt: skip
    assert "do not name you" in typed(session, f"cancel {first.id}")
    assert "There is no schedule" in typed(session, f"cancel {first.id}", chat="c2", listed=True)
    assert typed(session, f"disable {second.id}", listed=True).endswith("disabled.")
    assert typed(session, f"cancel {first.id}", listed=True).endswith("cancelled.")
    assert [one.paused for one in session.engine.schedules.all()] == ["from the chat"]


@pytest.mark.parametrize("text", ["0 9 * * 1 text", '"60 * * * *" x', '"@daily"', "@daily", '"dream" x', "rm -rf"])
def test_what_is_no_schedule_is_refused(session: Session, text: str) -> None:
    assert typed(session, text).startswith("E_SCHEDULE")
    assert typed(session, "@daily x", channel="other") == "E_SCHEDULE Set job in [channels.other]."
    assert session.engine.schedules.all() == ()


def test_a_gateway_asks_whether_a_prompt_may_begin(session: Session) -> None:
    settings = load_settings(read_environment())
    fields = {"channel": "eng"}
    assert verbs.admit_prompt(session, settings, "bot", fields)["allowed"] is True
    now = session.engine.spend.clock()
    session.engine.spend.debit("channel:eng", "a", 100, real=True, at=now)
    said = verbs.admit_prompt(session, settings, "bot", fields)
    assert (said["allowed"], said["spent_real"], said["limit"]) == (False, 100, 100)
    asked = ChatCommand(session, settings, "bot", Chat("eng", "c"), "u", "Ann", "s", "", allowed=False, listed=False)
    assert "100 real of 100 tokens" in verbs.answer(asked).reply
    with pytest.raises(MemtuiError):
        verbs.admit_prompt(session, settings, "bot", {"channel": "https://x"})
