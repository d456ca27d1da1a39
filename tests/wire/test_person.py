"""Who acts and who approves, from what is known of the start of the process."""

import pytest

from memtui.config.started import Program, Started
from memtui.engine.model import Actor
from memtui.errors import RefusedError
from memtui.wire.person import acting, approver
from memtui.wire.session import Options

PERSON = Started((), (Program("memtui"), Program("zsh", ("zsh",))), "pts/3")
AGENT = PERSON._replace(environ=(("CLAUDECODE", "1"),))


def options(started: Started, actor: str = "cli") -> Options:
    return Options(actor=Actor(actor), started=lambda: started)


@pytest.mark.parametrize(
    ("started", "given", "front", "name"),
    [
        (PERSON, "cli", "cli", "cli"),
        (PERSON, "cli", "tui", "tui"),
        (PERSON, "nightly", "tui", "nightly"),
        (AGENT, "cli", "tui", "agent:claude-code"),
        (AGENT, "nightly", "cli", "agent:claude-code/nightly"),
    ],
)
def test_whose_name_stands_in_the_records(started: Started, given: str, front: str, name: str) -> None:
    assert acting(options(started, given), front).name == name
    assert approver(options(started, given), front).actor == name


def test_a_person_may_approve_and_it_is_kept_where() -> None:
    found = approver(options(PERSON), "tui")
    found.require("accept a root")
    assert found.note("why") == "why, at pts/3 from zsh"


def test_an_agent_may_not_and_is_told_what_was_seen() -> None:
    with pytest.raises(RefusedError, match=r"claude-code runs this memtui: CLAUDECODE is set") as caught:
        approver(options(AGENT)).require("accept a root", "Elsewhere.")
    assert (caught.value.code, caught.value.hint) == ("E_PERSON", "Elsewhere.")
