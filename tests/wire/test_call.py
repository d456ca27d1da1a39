"""What a command gets."""

import io
import threading

import pytest

from memtui.engine.model import Changes, Notice
from memtui.errors import UsageError
from memtui.wire.call import Call
from memtui.wire.output import Output, standard
from memtui.wire.verb import Arguments
from tests.cli.conftest import Tty


def call(**options: str | bool) -> Call:
    return Call(Arguments({}), Arguments(dict(options)), standard(json=False))


def test_settings_are_read_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTUI_HOME", "not/absolute")
    made = call()
    with pytest.raises(UsageError, match="MEMTUI_HOME"):
        _ = made.settings
    made.close()


def test_options_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(calm=True).settings.calm is True
    assert call(calm=True).settings.origin("calm") == "--calm"
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    assert call().options.calm is True


@pytest.mark.parametrize("name", ["tui", "you", "person", " You ", "TUI", "tui:x", "cli:x", "agent:you"])
def test_no_program_takes_the_name_of_the_person_at_the_keys(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be an actor"):
        _ = call(actor=name).options


def test_a_session_is_opened_once() -> None:
    made = call(actor="me", read_only=True)
    assert made.session is made.session
    assert made.actor.name == "me"
    assert made.session.options.read_only is True
    made.close()


def test_what_the_engine_has_to_say_is_told_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    made = call()
    notice = Notice("late-write", "Another program finished later.")
    made.open()
    made._on_notices(Changes(notices=(notice,)))
    made.close()
    assert capsys.readouterr().err == "memtui: Another program finished later.\n"


def test_whom_a_change_waits_for_is_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    made = call()
    made._on_notices(Changes(notices=(Notice("waiting", "agent (process 7) is writing to this root."),)))
    assert capsys.readouterr().err == "memtui: agent (process 7) is writing to this root.\n"


def test_on_a_terminal_a_change_of_many_says_how_far_it_is() -> None:
    told = io.BytesIO()
    err = Tty(told, "utf-8", write_through=True)
    made = Call(Arguments({}), Arguments({}), Output(stdout=Tty(io.BytesIO(), "utf-8"), stderr=err))
    with made.out.progress(made.engine.pace.progress, every=0.001), made.engine.pace.track(20_500) as progress:
        for _ in range(1_235):
            progress.step()
        while b"1,234 of 20,500 memories" not in told.getvalue():
            threading.Event().wait(0.001)
    assert told.getvalue().endswith(b"\r\x1b[K")
    made.close()
